"""Faults that public programs have had in laying off and in the knocker's arrangement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gin_sim import CardError, Rules, arrange, deadwood, parse_hand, showdown
from gin_sim.awkward import EVERY_MELD, crowded_cards, melded_cards, points, random_cards
from gin_sim.cards import DECK, cards_of, format_hand, parse_cards
from gin_sim.compiled import JIT_DISABLED
from gin_sim.hands import all_melds, pack_melds, parse_melds
from gin_sim.layoff import lay_off
from gin_sim.rules import NO_LIMIT, PRESETS
from tests.helpers import SUIT_ORDERS, move_suits, scaled, shuffled_texts


@dataclass(frozen=True)
class Case:
    """A public report: both hands, and what is right."""

    knocker: str
    defender: str
    deadwood: int
    points: int
    winner: str = "knocker"
    laid_off: str | None = None
    melds: str | None = None
    rules: str = ""


CASES = {
    # Defender melds first, then lays off; breaking the own set gives the undercut.
    "C01": Case(
        "5s 6s 7s Ks 9c Tc Jc Kc Jd Kd",
        "2s 8s 9s Ac 2c 7c 8c 2d 8d 2h",
        9,
        21,
        "defender",
        "8s 9s 8c 7c",
        rules="undercut_bonus=20",
    ),
    # The knocker's arrangement decides: three sets rather than three runs.
    "C02": Case("As 5s 6s 7s 5c 6c 7c 5d 6d 7d", "3s 4s 8s 4c 8c 4d 8d 5h 6h 7h", 3, 2),
    "C02 as runs": Case(
        "As 5s 6s 7s 5c 6c 7c 5d 6d 7d",
        "3s 4s 8s 4c 8c 4d 8d 5h 6h 7h",
        0,
        26,
        "defender",
        melds="5s 6s 7s | 5c 6c 7c | 5d 6d 7d",
    ),
    # A card fits a set and a run, but only the run lets the next card follow.
    "C03": Case(
        "As Ac Ad Tc Td Th Js Qs Ks 2h",
        "4s 5s 4c 5c 4d 5d 4h 5h 9s Ts",
        0,
        27,
        "defender",
        "9s Ts",
    ),
    # A greedy lay-off takes a card out of the defender's own run.
    "C04": Case(
        "5c 5d 5h 9h Th Jh Kc Kd Kh 7c", "5s 6s 7s 2d 3d 4d 8c 9c Tc Qd", 10, 3, laid_off=""
    ),
    # The defender's own melds were counted as deadwood.
    "C05": Case(
        "As 2s 3s 7h 8h 9h Kc Kd Kh 5c",
        "4s 6h Ks Td Jd Qd 2d 3d 4d 2c",
        2,
        28,
        "defender",
        "4s 6h Ks",
    ),
    # A run did not grow after the first lay-off.
    "C06": Case(
        "4h 5h 6h 9c 9d 9h 2s 3s 4s 5c", "8h 7h Kc Kd Qs Js Td 2d 3c Ac", 56, 51, laid_off="7h 8h"
    ),
    # Only one card a meld could be laid off.
    "C07": Case(
        "5s 6s 7s Kc Kd Kh Qc Qd Qh 3c", "4s 8s Ad 2d 5h 9d 6c Tc Jh 2h", 45, 42, laid_off="4s 8s"
    ),
    # Ranks were compared and suits were not.
    "C08": Case(
        "5s 6s 7s Kc Kd Kh Qc Qd Qh 3c", "8h 4h 8d 4d Ac 2d 6c 9c Tc Jh", 62, 59, laid_off=""
    ),
    # First fit: the card goes to the first meld listed and blocks the chain.
    "C10": Case(
        "7c 7d 7h 4s 5s 6s Kc Kd Kh 3c",
        "7s 8s Ad 2d 4h 6c 9d Tc Qh Jh",
        52,
        49,
        laid_off="7s 8s",
        melds="7c 7d 7h | 4s 5s 6s | Kc Kd Kh",
    ),
    # Cards were laid off on the knocker's loose cards.
    "C11": Case(
        "Ac 2c 3c 7d 8d 9d Jh Qh Kh 5s", "5c 5d 2h 4h 6c 8s Tc Td Ks Js", 60, 55, laid_off="Td"
    ),
}
BY_MELDS = {
    # Everything that fits was laid off before melding; the knocker's tenth card is not told.
    "C13": ("3c 3h 3s|2c 2d 2h|5c 5h 5s", "Kc 3d 4d 5d 6d Kd Kh As 2s Ks", 1, "2s"),
    # No chain; meld first.
    "C14a": ("6c 6d 6h|Ad 2d 3d|4c 4h 4s", "2c 5c 4d 5d 8d Ah 2h 7h 2s 7s", 28, None),
    "C14b": ("5d 5h 5s|6c 6h 6s|3d 3h 3s", "2c 3c 4c 5c 7c 7d 4h As 4s 8s", 25, None),
}


def rules_of(case: Case) -> Rules:
    return Rules().with_settings(dict([case.rules.split("=")]) if case.rules else {})


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_reported_knock_is_settled_right(case: Case) -> None:
    found = showdown(case.knocker, case.defender, rules_of(case), case.melds)
    assert (found.defender_deadwood, found.points, found.winner) == (
        case.deadwood,
        case.points,
        case.winner,
    )
    if case.laid_off is not None:
        assert {one.card for one in found.layoffs} == set(parse_cards(case.laid_off))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_order_of_the_cards_changes_nothing(case: Case) -> None:
    rng = np.random.default_rng(1)
    first = showdown(case.knocker, case.defender, rules_of(case), case.melds)
    orders = zip(
        shuffled_texts(case.knocker, rng, 20), shuffled_texts(case.defender, rng, 20), strict=True
    )
    for knocker, defender in orders:
        assert showdown(knocker, defender, rules_of(case), case.melds) == first
    if case.melds:
        parts = case.melds.split("|")
        for i in range(len(parts)):
            melds = "|".join(parts[i:] + parts[:i])
            other = showdown(case.knocker, case.defender, rules_of(case), melds)
            assert (other.points, other.winner) == (first.points, first.winner)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_other_suits_change_nothing(case: Case) -> None:
    hands = parse_hand(case.knocker), parse_hand(case.defender)
    melds = parse_melds(case.melds) if case.melds else None
    for order in SUIT_ORDERS:
        moved = [move_suits(hand, order) for hand in hands]
        moved_melds = [move_suits(meld, order) for meld in melds] if melds else None
        found = showdown(*moved, rules_of(case), moved_melds)
        assert (found.defender_deadwood, found.points, found.winner) == (
            case.deadwood,
            case.points,
            case.winner,
        )


@pytest.mark.parametrize(("melds", "defender", "left", "laid"), BY_MELDS.values(), ids=BY_MELDS)
def test_lay_offs_on_reported_melds(melds: str, defender: str, left: int, laid: str | None) -> None:
    points, cards = lay_off(parse_hand(defender), *pack_melds(parse_melds(melds)), NO_LIMIT)
    assert points == left
    if laid is not None:
        assert format_hand(int(cards)) == laid


def test_laying_off_never_costs_and_a_lay_off_always_fits() -> None:
    rng = np.random.default_rng(3)
    for _ in range(scaled(3000)):
        knocker = crowded_cards(rng, 10)
        defender = random_cards(rng, 10, ((1 << 52) - 1) & ~knocker)
        try:
            found = showdown(knocker, defender)
        except ValueError:
            continue  # too much deadwood to knock with
        assert found.defender_deadwood <= found.defender_deadwood_before_layoff
        used = [card for meld in found.knocker_melds for card in cards_of(meld)]
        used += [card for meld in found.defender_melds for card in cards_of(meld)]
        used += [one.card for one in found.layoffs]
        assert len(used) == len(set(used)), "a card stands in two places"
        if found.outcome == "gin":
            assert not found.layoffs


@pytest.mark.parametrize("preset", list(PRESETS))
def test_cards_go_on_the_knockers_melds_one_by_one(preset: str) -> None:
    """Never on loose cards, never across suits, and on a run only next to what lies there."""
    rng = np.random.default_rng(4)
    rules = Rules.preset(preset)
    n_laid, n_worse = 0, np.zeros(2, np.int64)
    for _ in range(scaled(1500, 40)):
        knocker, defender = crowded_pair(rng)
        try:
            found = showdown(knocker, defender, rules, upcard="Td")
        except CardError:
            continue  # too much deadwood to knock with
        grown = {meld: meld for meld in found.knocker_melds}
        for one in found.layoffs:
            before = cards_of(grown[one.onto])
            grown[one.onto] |= 1 << one.card
            assert grown[one.onto] in EVERY_MELD
            if before[0] % 13 != before[1] % 13:
                assert one.card in (before[0] - 1, before[-1] + 1)
                assert len(before) < (rules.longest_meld or 13)
        laid = sum(1 << one.card for one in found.layoffs)
        assert found.defender_deadwood == deadwood(defender & ~laid)
        n_laid += len(found.layoffs)
        if found.outcome == "gin":
            assert not found.layoffs
            continue
        # Neither all that fits first, nor own melds first, is ever better; either may be worse.
        longest = rules.longest_meld or 13
        loose = arrange(defender, rules).unmatched
        greedy = [lay_off_all(hand, found.knocker_melds, longest) for hand in (defender, loose)]
        assert found.defender_deadwood <= min(greedy)
        n_worse += [found.defender_deadwood < left for left in greedy]
    if preset != "straight":
        assert n_laid > 0
        assert (n_worse > 0).all() or JIT_DISABLED


def crowded_pair(rng: np.random.Generator) -> tuple[int, int]:
    """Return two hands out of a few ranks, the first of them mostly melded."""
    knocker = melded_cards(rng, int(rng.integers(8, 11)))
    rest = DECK & ~knocker
    knocker |= random_cards(rng, 10 - knocker.bit_count(), rest)
    while True:
        both = knocker | crowded_cards(rng, 11) | random_cards(rng, 4)
        if (both & ~knocker).bit_count() >= 10:
            return knocker, random_cards(rng, 10, both & ~knocker)


def lay_off_all(hand: int, melds: tuple[int, ...], longest: int) -> int:
    """Return what is left by one who lays off all that fits and then melds."""
    tables = list(melds)
    found = True
    while found:
        found = False
        for card in cards_of(hand):
            for i, meld in enumerate(tables):
                grown = meld | 1 << card
                if hand >> card & 1 and grown in EVERY_MELD and grown.bit_count() <= longest:
                    tables[i] = grown
                    hand &= ~(1 << card)
                    found = True
    return deadwood(hand)


@pytest.mark.parametrize("suit", range(4), ids=["clubs", "diamonds", "hearts", "spades"])
def test_a_run_grows_at_both_ends_as_far_as_cards_go(suit: int) -> None:
    """One card a meld, or one pass over the hand, was not enough; a wrong suit was."""
    rng = np.random.default_rng(5)
    for low in range(11):
        run = 7 << 13 * suit + low
        for below in range(min(low, 2) + 1):
            for above in range(min(10 - low, 2) + 1):
                first, last = low - below, low + 3 + above
                chain = (((1 << last - first) - 1) << 13 * suit + first) ^ run
                far = DECK & ~(0x1FFF << 13 * suit)
                # Loose cards of other suits only: no meld, nothing that fits.
                others = 0
                while not others or all_melds(others | chain):
                    others = random_cards(rng, 10 - below - above, far & ~(0x49 << low))
                left, laid = lay_off(others | chain, *pack_melds((run,)), NO_LIMIT)
                assert (left, laid) == (points(others), chain)
                for turn in (1, 2, 3):
                    order = [(s + turn) % 4 for s in range(4)]
                    moved = move_suits(others | chain, order) & ~run
                    left, laid = lay_off(moved, *pack_melds((run,)), NO_LIMIT)
                    assert laid & ~(0x1FFF << 13 * suit) == 0
                    assert left == deadwood(moved & ~int(laid))


def test_a_longest_meld_of_five_ends_laying_off() -> None:
    knocker, defender = "2h 3h 4h 5h 6h Kc Kd Kh Ac As", "Ah 7h 8h 2c 4c 6c 9d Jd 3s 5s"
    assert len(showdown(knocker, defender).layoffs) == 3
    assert len(showdown(knocker, defender, Rules(longest_meld=5)).layoffs) == 0
    four = knocker.replace("2h ", "") + " 2d"
    assert len(showdown(four, defender, Rules(longest_meld=5)).layoffs) == 1
    # A run of six is laid down as three and three, and both may grow.
    six = "3h 4h 5h 6h 7h 8h Kc Kd Kh Ac"
    other = "Ah 2h 9h Th 2c 4c 6c 9d Jd 3s"
    assert len(showdown(six, other, Rules(longest_meld=5)).layoffs) == 4
