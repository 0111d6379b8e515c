"""Faults that other programs had in deciding who may knock, go gin or big gin, and with what.

Each test names what went wrong in public and holds for the whole kind of fault.
"""

from __future__ import annotations

import numpy as np
import pytest

from gin_sim.awkward import crowded_cards, make_view, melded_cards, points, stack_deck
from gin_sim.cards import cards_of, format_hand, mask_of, parse_card, parse_hand
from gin_sim.errors import CardError
from gin_sim.hands import best_discards, deadwood, legal_knocks
from gin_sim.rules import PRESETS, Rules
from gin_sim.scoring import OUTCOMES
from gin_sim.settle import showdown
from gin_sim.table import Hand
from gin_sim.view import KNOCK
from tests.helpers import (
    AGENTS,
    CARELESS,
    SUIT_ORDERS,
    ask,
    dealt_to,
    move_suits,
    play_rows,
    scaled,
    shuffled_texts,
    table,
)

CAREFUL = sorted(set(AGENTS) - CARELESS)
KNOCKS_AT_ONCE = ("greedy", "simple")
STRAIGHT = Rules.preset("straight")
BIG_GIN = Rules.preset("big-gin")
PINNED_DEAL = 9

# id, what the report's program did, eleven cards, every legal knock and what it leaves.
REPORTED = [
    ("B01", "listed what stays", "Js Jh Jd 8c 7s 7h 7d 4s 3d 2s Ac", {"8c": 10}),
    (
        "B02",
        "counted eleven cards",
        "Ac 2c 4c 5c Ad 4d Ah 3h 4h As 2s",
        {"5c": 7, "3h": 9, "2c": 10, "2s": 10},
    ),
    ("B03", "threw the worse card", "As 2s 3s 7h 8h 9h Kc Kd Kh 5c 6c", {"6c": 5, "5c": 6}),
]
ALL_MELDED = [
    ("B08", "5h 6h 7h 8h 9h Kc Kd Ks 2c 2d 2h", "5h 9h"),
    ("B10", "Ac 2c 3c 7c 7d 7h 7s Th Jh Qh Kh", "7c 7d 7h 7s Th Kh"),
]


@pytest.mark.parametrize(
    ("case", "fault", "text", "expected"), REPORTED, ids=[f"{c[0]} {c[1]}" for c in REPORTED]
)
def test_reported_knocks(case: str, fault: str, text: str, expected: dict[str, int]) -> None:
    knocks = {parse_card(card): left for card, left in expected.items()}
    rng = np.random.default_rng(1)
    for other in shuffled_texts(text, rng, 50):
        assert legal_knocks(other) == knocks
    for order in SUIT_ORDERS:
        moved = {cards_of(move_suits(1 << c, order))[0]: left for c, left in knocks.items()}
        assert legal_knocks(move_suits(parse_hand(text), order)) == moved
    for limit in range(11):
        at_most = {card: left for card, left in knocks.items() if left <= limit}
        assert legal_knocks(text, Rules(knock_limit=limit)) == at_most
    # The card just taken from the pile may not be thrown, unless the rules allow it.
    for card in cards_of(parse_hand(text)):
        without = {c: left for c, left in knocks.items() if c != card}
        assert legal_knocks(text, taken=card) == without
        assert legal_knocks(text, Rules(may_throw_taken=True), taken=card) == knocks


def test_knocks_are_judged_on_the_ten_cards_left() -> None:
    """For any hand, limit and card taken: exactly the throws that leave few enough."""
    rng = np.random.default_rng(2)
    n_knocks = 0
    for _ in range(scaled(2000, 60)):
        hand = crowded_cards(rng, 11)
        limit = int(rng.integers(0, 11))
        rules = Rules(knock_limit=limit)
        left = {card: deadwood(hand ^ 1 << card) for card in cards_of(hand)}
        expected = {card: points for card, points in left.items() if points <= limit}
        assert legal_knocks(hand, rules) == expected, format_hand(hand)
        taken = int(rng.choice(cards_of(hand)))
        expected.pop(taken, None)
        assert legal_knocks(hand, rules, taken=taken) == expected
        least, best = best_discards(hand)
        assert least == min(left.values())
        assert best == mask_of(card for card in left if left[card] == least)
        n_knocks += bool(expected)
    assert n_knocks > 10


@pytest.mark.parametrize("preset", list(PRESETS))
def test_the_table_offers_the_same_knocks(preset: str) -> None:
    """In play the list of knocks is the one above, with the hand's own limit."""
    rules = Rules.preset(preset)
    rng = np.random.default_rng(3)
    for deal in range(scaled(60, 10)):
        hand = Hand.dealt(3, deal, rules)
        upcard = hand.upcard
        for _ in range(40):
            moves = hand.legal_moves()
            if hand.phase == "over":
                break
            if hand.phase == "discard":
                cards = hand.cards(hand.seat)
                view = hand.view()
                taken = None if view.taken < 0 else view.taken
                knocks = legal_knocks(cards, rules, taken=taken, upcard=upcard)
                assert hand.legal_knocks() == list(knocks)
                least = min(deadwood(cards ^ 1 << card) for card in hand.legal_discards())
                good = [c for c in hand.legal_discards() if deadwood(cards ^ 1 << c) == least]
                assert mask_of(good) == view.best_discards
                assert least == view.deadwood
                # Play on as long as there is anything to throw without knocking.
                throws = [card for card in good if f"throw {format_hand(1 << card)}" in moves]
                if not throws:
                    break
                hand.throw(int(rng.choice(throws)))
            elif hand.phase == "draw" and rng.integers(2):
                hand.draw()
            elif hand.phase in ("draw", "last") or rng.integers(2):
                hand.take()
            else:
                hand.pass_()


@pytest.mark.parametrize("name", KNOCKS_AT_ONCE)
@pytest.mark.parametrize("order", SUIT_ORDERS[::5], ids=str)
def test_knockers_throw_the_best_card_and_knock(name: str, order: tuple[int, ...]) -> None:
    """A bot held a knock, did not use it at once, and threw a worse card when it did."""
    for _, _, text, _ in REPORTED:
        eleven = move_suits(parse_hand(text), order)
        best, discards = best_discards(eleven)
        for drawn in cards_of(eleven):
            card = ask(AGENTS[name], "discard", make_view(eleven, drawn=drawn))
            assert discards >> card & 1
            view = make_view(eleven, drawn=drawn, phase=KNOCK, candidate=card)
            assert ask(AGENTS[name], "knock", view)
            # The same at a table, the eleventh card coming from the stock.
            ten = eleven ^ 1 << drawn
            here = table(stack_deck(ten, 0, stock=format_hand(1 << drawn)))
            here.hand.pass_()
            here.hand.pass_()
            here.play(AGENTS[name], AGENTS["greedy"])
            facts = here.hand.facts()
            assert (facts["ender"], facts["turns"], facts["knock_deadwood"]) == (0, 1, best)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_greedy_knocks_at_its_first_chance_in_every_hand(preset: str) -> None:
    rules = Rules.preset(preset)
    rows = play_rows(AGENTS["greedy"], AGENTS["simple"], rules, 4, scaled(2000, 20))
    had_chance = rows["first_chance_a"] >= 0
    assert had_chance.any()
    assert (rows["ender"][had_chance] == 0).all()
    assert (rows["first_chance_a"] == rows["stock_left"])[had_chance].all()


@pytest.mark.parametrize("name", sorted(AGENTS))
@pytest.mark.parametrize("seat", [0, 1], ids=["non-dealer", "dealer"])
def test_dealt_gin(name: str, seat: int) -> None:
    """A bot crashed when it was dealt gin: it still takes a card and throws one."""
    rng = np.random.default_rng(5)
    hands = [parse_hand("Ac 2c 3c 7d 8d 9d Th Jh Qh Kh")]
    hands += [melded_cards(rng, 10) for _ in range(scaled(40, 5))]
    for hand in hands:
        assert deadwood(hand) == 0
        here = dealt_to(AGENTS[name], hand, seat)
        facts = here.hand.facts()
        assert int(here.state["dealt_deadwood"][seat]) == 0
        if name in CARELESS:
            continue
        assert (facts["outcome"], facts["winner"], facts["turns"]) == ("gin", seat, 1 + seat)
        other = here.hand.cards(1 - seat)
        assert facts["points"] == 25 + deadwood(other)
        assert here.hand.cards(seat).bit_count() == 10


@pytest.mark.parametrize(("case", "text", "expected"), ALL_MELDED, ids=["B08", "B10"])
def test_eleven_melded_cards_are_no_trap(case: str, text: str, expected: str) -> None:
    """The discard rule looked among loose cards only, and found none."""
    assert legal_knocks(text, STRAIGHT) == dict.fromkeys(cards_of(parse_hand(expected)), 0)
    assert best_discards(text) == (0, parse_hand(expected))


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_agent_throws_from_eleven_melded_cards(name: str) -> None:
    """Every agent finds a legal card in any such hand; the careful ones one that keeps gin."""
    rng = np.random.default_rng(6)
    hands = [parse_hand(text) for _, text, _ in ALL_MELDED]
    hands += [melded_cards(rng, 11) for _ in range(scaled(200, 20))]
    for hand in hands:
        drawn = int(rng.choice(cards_of(hand)))
        for taken in (None, drawn):
            view = make_view(hand, drawn=drawn, taken=taken)
            card = ask(AGENTS[name], "discard", view)
            assert int(view["legal_discards"]) >> card & 1
            if name not in CARELESS:
                assert deadwood(hand ^ 1 << card) == int(view["deadwood"])


@pytest.mark.parametrize("name", CAREFUL)
def test_eleven_melded_cards_without_big_gin_win_by_gin(name: str) -> None:
    rng = np.random.default_rng(7)
    hands = [parse_hand(text) for _, text, _ in ALL_MELDED]
    hands += [melded_cards(rng, 11) for _ in range(scaled(60, 6))]
    for eleven in hands:
        drawn = int(rng.choice(cards_of(eleven)))
        for rules, outcome in ((Rules(), "gin"), (BIG_GIN, "big_gin")):
            deck = stack_deck(eleven ^ 1 << drawn, 0, stock=format_hand(1 << drawn))
            here = table(deck, rules)
            here.hand.pass_()
            here.hand.pass_()
            here.play(AGENTS[name], AGENTS["greedy"])
            facts = here.hand.facts()
            assert (facts["outcome"], facts["winner"]) == (outcome, 0), format_hand(eleven)
            bonus = 25 if outcome == "gin" else 31
            assert facts["points"] == bonus + deadwood(here.hand.cards(1))


def test_big_gin_is_eleven_melded_cards_whatever_the_melds() -> None:
    """A test for big gin missed runs of five."""
    good, bad = "5h 6h 7h 8h 9h Kc Kd Ks 2c 2d 2h", "As 2s 3s 4s 7h 8h 9h Kc Kd Kh 2c"
    other = "Qc Td 8c Jc 6d 4d Ad 3c Jd 9d"
    assert showdown(good, other, BIG_GIN).outcome == "big_gin"
    assert deadwood(bad) == 2
    with pytest.raises(CardError, match="2 points are not"):
        showdown(bad, other.replace("Ad", "Ac"), BIG_GIN)
    with pytest.raises(CardError, match="big_gin_bonus"):
        showdown(good, other)
    rng = np.random.default_rng(8)
    for _ in range(scaled(200, 20)):
        melded, loose = melded_cards(rng, 11), crowded_cards(rng, 11)
        for eleven in (melded, loose):
            drawn = int(rng.choice(cards_of(eleven)))
            deck = stack_deck(eleven ^ 1 << drawn, 0, stock=format_hand(1 << drawn))
            hand = Hand.from_deck(deck, BIG_GIN)
            hand.pass_()
            hand.pass_()
            over = hand.phase == "over"
            assert over == (deadwood(eleven) == 0)
            if over:
                facts = hand.facts()
                assert (facts["outcome"], facts["winner"]) == ("big_gin", 0)
                assert facts["points"] == 31 + points(hand.cards(1))


def test_pinned_hand_that_ends_in_big_gin() -> None:
    """So rare that nobody saw that it was never declared: one seeded hand in which it is."""
    rows = play_rows(AGENTS["gin_only"], AGENTS["gin_only"], BIG_GIN, 1, 1, first=PINNED_DEAL)
    outcomes = [OUTCOMES[int(code)] for code in rows["outcome"]]
    assert outcomes == ["big_gin", "big_gin"]
    assert int(rows["points_a"].sum()) == 0
    assert (np.abs(rows["points_a"]) == 31 + rows["defender_deadwood"]).all()
