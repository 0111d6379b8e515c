"""Faults that other programs had in finding melds and counting deadwood.

Each test names what went wrong in public and holds for the whole kind of fault, not for
the one hand with which it was reported.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from gin_sim.awkward import EVERY_MELD, crowded_cards, melded_cards, points, random_cards
from gin_sim.cards import RANKS, SUITS, cards_of, format_hand, mask_of, parse_hand
from gin_sim.hands import (
    Arrangement,
    all_melds,
    arrange,
    best_discards,
    deadwood,
    deadwood_many,
    legal_knocks,
)
from gin_sim.rules import PRESETS, Rules
from tests.helpers import (
    AGENTS,
    CARELESS,
    SUIT_ORDERS,
    dealt_to,
    most_melded,
    move_suits,
    scaled,
    shuffled_texts,
)

# id, what the report's program did, hand, deadwood, melds (where they are unique).
REPORTED = [
    ("A01", "took a set first", "6d 7d 7c 7h 8d 8c 9c Th", 17, "7c 8c 9c | 6d 7d 8d"),
    (
        "A02a",
        "missed gin",
        "6h Qh Qc 5h Kd Kh 7h Kc 4h Qd",
        0,
        "4h 5h 6h 7h | Qc Qd Qh | Kc Kd Kh",
    ),
    ("A02b", "missed gin", "Kc 3s 3c 9c Kh 3h 9h 3d 9d Kd", 0, None),
    ("A02c", "missed gin", "Tc 2h 3h 2s Td 5h 3s 4h 4s Ts", 0, None),
    (
        "A02d",
        "missed gin",
        "5s 4h 6s Th 3h Jh 5h 9h 2h 4s",
        0,
        "2h 3h 4h 5h | 9h Th Jh | 4s 5s 6s",
    ),
    ("A05", "broke a set twice", "5c 6c 7c 5d 6d 7h 7s 7d 2s 3h", 16, None),
    ("A06a", "capped melds at four", "5h 6h 7h 8h 9h Kc Kd Ks 2c 3d", 5, None),
    ("A06b", "capped melds at four", "2c 3c 4c 5c 6c 8d 9d Td Jd Qd", 0, None),
    ("A06c", "capped melds at four", "Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc", 0, None),
    ("A07", "wanted a run of four", "2c 3c 4c 9c Kd Qh Js 7d 5h 8s", 59, "2c 3c 4c"),
    (
        "A08",
        "found one run a suit",
        "2c 3c 4c 7c 8c 9c Jc Qc Kc 5d",
        5,
        "2c 3c 4c | 7c 8c 9c | Jc Qc Kc",
    ),
    ("A09", "found no run at all", "5h 6h 7h", 0, "5h 6h 7h"),
    ("A11", "counted a king 13", "Kc Qd 2h", 22, ""),
    ("A12", "died without a meld", "Ac 3d 5h 7s 9c Jd Kh 2s 4c 6d", 57, ""),
    ("A17", "ran from king to ace", "Qc Kc Ad 4s 5s 6s 8h 9h Th 3c", 24, "8h 9h Th | 4s 5s 6s"),
    ("A18", "made a set of K K A", "Kc Kd Ad 4s 5s 6s 8h 9h Th 2c", 23, "8h 9h Th | 4s 5s 6s"),
    ("A19", "preferred low suits", "5s 6s 7s 6c 6d", 12, None),
]
IDS = [f"{case[0]} {case[1]}" for case in REPORTED]

Shape = list[tuple[str, int, int]]


def shape(laid_out: Arrangement) -> Shape:
    """Return the melds without their suits: kind, lowest rank, length."""
    out = []
    for meld in laid_out.melds:
        cards = cards_of(meld)
        kind = "set" if cards[0] % 13 == cards[1] % 13 else "run"
        out.append((kind, cards[0] % 13, len(cards)))
    return sorted(out)


def check_arrangement(hand: int, laid_out: Arrangement) -> None:
    """Check that an arrangement is made of the hand's cards, each used once."""
    assert all(meld in EVERY_MELD for meld in laid_out.melds)
    assert sum(meld.bit_count() for meld in laid_out.melds) + laid_out.unmatched.bit_count() == (
        hand.bit_count()
    )
    assert mask_of(c for m in (*laid_out.melds, laid_out.unmatched) for c in cards_of(m)) == hand
    assert laid_out.deadwood == points(laid_out.unmatched) == deadwood(hand)


@pytest.mark.parametrize(("case", "fault", "text", "count", "melds"), REPORTED, ids=IDS)
def test_reported_hand(case: str, fault: str, text: str, count: int, melds: str | None) -> None:
    hand = parse_hand(text)
    rng = np.random.default_rng(1)
    first = arrange(text)
    check_arrangement(hand, first)
    assert deadwood(text) == most_melded(hand) == count
    if melds is not None:
        assert " | ".join(first.meld_texts()) == melds
    # The order of the cards says nothing, whether as text, as names or as a mask.
    for other in shuffled_texts(text, rng, 50):
        assert deadwood(other) == deadwood(other.split()) == count
        assert arrange(other) == first
    # Nor do the suits: the same deadwood, and melds of the same kind.
    for order in SUIT_ORDERS:
        moved = arrange(move_suits(hand, order))
        check_arrangement(move_suits(hand, order), moved)
        assert moved.deadwood == count
        assert shape(moved) == shape(first)


@pytest.mark.parametrize("rules", [Rules.preset(name) for name in PRESETS], ids=list(PRESETS))
def test_reported_deadwood_is_the_same_under_every_preset(rules: Rules) -> None:
    # There is no high ace and no shorter or longer meld that would change a count.
    for _, _, text, count, _ in REPORTED:
        assert arrange(text, rules).deadwood == count


def test_the_reported_hand_with_two_best_arrangements_has_exactly_two() -> None:
    hand = parse_hand("5c 6c 7c 5d 6d 7h 7s 7d 2s 3h")
    melds = all_melds(hand)
    best = [
        chosen
        for size in range(4)
        for chosen in combinations(melds, size)
        if sum(m.bit_count() for m in chosen)
        == mask_of(c for m in chosen for c in cards_of(m)).bit_count()
        and points(hand & ~sum(chosen)) == 16
    ]
    assert len(best) == 2
    assert set(arrange(hand).melds) in [set(one) for one in best]


def test_crowded_hands_are_arranged_best() -> None:
    """Sets and runs that share cards: no greedy order finds the best of all of these."""
    rng = np.random.default_rng(2)
    for _ in range(scaled(2000, 60)):
        hand = crowded_cards(rng, int(rng.integers(8, 12)))
        laid_out = arrange(hand)
        check_arrangement(hand, laid_out)
        assert laid_out.deadwood == most_melded(hand), format_hand(hand)


def test_crowded_hands_are_arranged_alike_in_all_suits() -> None:
    """Which of two equal arrangements is laid down never depends on which suit is low."""
    rng = np.random.default_rng(3)
    for _ in range(scaled(400, 20)):
        hand = crowded_cards(rng, 10)
        one = shape(arrange(hand))
        for order in SUIT_ORDERS:
            assert shape(arrange(move_suits(hand, order))) == one, format_hand(hand)


def test_melded_hands_have_no_deadwood() -> None:
    """Gin is seen as gin, whatever melds it is made of (fours, fives, longer runs)."""
    rng = np.random.default_rng(4)
    for _ in range(scaled(1000, 50)):
        count = int(rng.integers(6, 12))
        hand = melded_cards(rng, count)
        laid_out = arrange(hand)
        check_arrangement(hand, laid_out)
        assert laid_out.deadwood == 0
        assert sum(laid_out.melds) == hand


@pytest.mark.parametrize("name", sorted(AGENTS))
@pytest.mark.parametrize("seat", [0, 1], ids=["non-dealer", "dealer"])
def test_no_agent_overlooks_a_dealt_gin(name: str, seat: int) -> None:
    """A bot held gin, its own sorter found fewer melds, and the game refused its knock."""
    for case, _, text, count, _ in REPORTED:
        if count or len(text.split()) != 10:
            continue
        facts = dealt_to(AGENTS[name], text, seat).hand.facts()
        if name not in CARELESS:
            assert (facts["outcome"], facts["winner"]) == ("gin", seat), case
            assert facts["turns"] == 1 + seat


def test_every_hand_of_one_suit() -> None:
    """Runs of any length, several to a suit, at either end: all 8192 hands of each suit."""

    def loose(cards: int) -> int:
        total, length = 0, 0
        for rank in range(14):
            if cards >> rank & 1:
                length += 1
                continue
            if length < 3:
                total += points(cards & ((1 << rank) - (1 << rank - length)))
            length = 0
        return total

    masks = np.arange(0, 1 << 13, 1 if scaled(100) == 100 else 37, dtype=np.int64)
    expected = np.array([loose(int(mask)) for mask in masks])
    for suit in range(4):
        np.testing.assert_array_equal(deadwood_many(masks << 13 * suit), expected)


def test_every_run_in_every_order() -> None:
    for suit in SUITS:
        for low in range(11):
            cards = [RANKS[low + i] + suit for i in range(3)]
            for order in permutations(cards):
                assert deadwood(" ".join(order)) == 0
                assert len(arrange(" ".join(order)).melds) == 1


def test_a_fourth_card_does_not_hide_a_run_of_three() -> None:
    """Of four cards in order, or three and a gap, the three are still a run."""
    for suit in range(4):
        for low in range(11):
            run = 7 << 13 * suit + low
            for other in range(13):
                card = 1 << 13 * suit + other
                touching = other in (low - 1, low + 3)
                expected = 0 if touching or card & run else points(card)
                assert deadwood(run | card) == expected


@pytest.mark.parametrize(
    "suit", range(3), ids=["clubs-diamonds", "diamonds-hearts", "hearts-spades"]
)
def test_no_run_crosses_a_suit_border(suit: int) -> None:
    """King of one suit and ace of the next are neighbours as numbers only."""
    border = 13 * (suit + 1)
    for above in range(6):
        for below in range(6):
            high = ((1 << below) - 1) << (border - below)
            low = ((1 << above) - 1) << border
            expected = (points(high) if below < 3 else 0) + (points(low) if above < 3 else 0)
            assert deadwood(high | low) == expected
            assert sum(arrange(high | low).melds) == (
                (high if below >= 3 else 0) | (low if above >= 3 else 0)
            )
    # The reported hand, its leak moved to each border; the fourth is spades to clubs.
    for order in SUIT_ORDERS:
        hand = move_suits(parse_hand("Qc Kc Ad 4s 5s 6s 8h 9h Th 3c"), order)
        assert deadwood(hand) == 24
        rest = next(c for c in cards_of(~hand & (1 << 52) - 1) if deadwood(hand | 1 << c) > 24)
        assert rest not in legal_knocks(hand | 1 << rest)


def test_an_ace_is_low_in_runs_and_no_king_in_sets() -> None:
    for suit in SUITS:
        assert deadwood(f"Q{suit} K{suit} A{suit}") == 21
        assert deadwood(f"K{suit} A{suit} 2{suit}") == 13
        assert deadwood(f"A{suit} 2{suit} 3{suit}") == 0
    for pair in combinations("cdhs", 2):
        for ace in "cdhs":
            assert deadwood(f"K{pair[0]} K{pair[1]} A{ace}") == 21
            assert deadwood(f"A{pair[0]} A{pair[1]} K{ace}") == 12


def test_every_card_counts_its_value() -> None:
    for card in range(52):
        assert deadwood(1 << card) == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)[card % 13]


def test_hands_without_a_meld() -> None:
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(scaled(2000, 100)):
        hand = random_cards(rng, int(rng.integers(0, 12)))
        if all_melds(hand):
            continue
        seen += 1
        assert arrange(hand) == Arrangement((), hand, points(hand))
        if hand.bit_count() == 11:
            least, discards = best_discards(hand)
            highest = max(points(1 << c) for c in cards_of(hand))
            assert least == points(hand) - highest
            assert discards == mask_of(c for c in cards_of(hand) if points(1 << c) == highest)
    assert seen > 20
    assert arrange("") == Arrangement((), 0, 0)


@pytest.mark.parametrize(
    ("text", "count"),
    [("As 2s 3s Ac Ad Ah", 6), ("4s 5s 6s 4c 5c 6c 4d 5d 6d 4h 5h", 14)],
    ids=["A14 aces", "A14 fours to sixes"],
)
def test_melds_are_listed_once(text: str, count: int) -> None:
    for order in SUIT_ORDERS:
        melds = all_melds(move_suits(parse_hand(text), order))
        assert len(melds) == len(set(melds)) == count


def test_the_deck_has_329_melds() -> None:
    assert len(set(EVERY_MELD)) == len(EVERY_MELD) == 329
    kinds: dict[Any, int] = {}
    for meld in EVERY_MELD:
        cards = cards_of(meld)
        kind = "set" if cards[0] % 13 == cards[1] % 13 else "run"
        kinds[kind] = kinds.get(kind, 0) + 1
    assert kinds == {"set": 13 * 5, "run": 4 * sum(range(1, 12))}
    rng = np.random.default_rng(6)
    for _ in range(50):
        hand = crowded_cards(rng, 11)
        assert set(all_melds(hand)) == {m for m in EVERY_MELD if m & hand == m}
