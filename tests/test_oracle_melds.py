"""Deadwood, discards and knocks agree with a search through all sets of disjoint melds."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gin_sim
from gin_sim.hands import all_melds, best_discards_many, deadwood_many
from gin_sim.melds import knock_discards, least_discards_among, makes_meld
from gin_sim.rules import Rules
from tests.oracle.melds import (
    Cards,
    after_throws,
    cards_in,
    deadwood,
    is_run,
    is_set,
    mask,
    melds_in,
)
from tests.oracle.strategies import all_rules, hands, many, melded_hand, random_hand

HYPOTHESIS = settings(max_examples=many(200, 60), deadline=None)
CARDS = st.integers(0, 51)


def library_deadwood(hand: Cards) -> int:
    return gin_sim.deadwood(mask(hand))


@HYPOTHESIS
@given(hands())
def test_deadwood_is_the_least_of_all_arrangements(hand: Cards) -> None:
    assert library_deadwood(hand) == deadwood(hand)


@HYPOTHESIS
@given(hands(), st.integers(5, 13))
def test_no_longest_meld_of_five_or_more_changes_deadwood(hand: Cards, longest: int) -> None:
    assert library_deadwood(hand) == deadwood(hand, longest)


@HYPOTHESIS
@given(hands(least=11))
def test_best_discards_are_all_that_leave_least(hand: Cards) -> None:
    left = after_throws(hand, hand)
    least = min(left.values())
    best = mask(card for card in left if left[card] == least)
    assert gin_sim.best_discards(mask(hand)) == (least, best)


@HYPOTHESIS
@given(hands(least=1, most=11), st.data())
def test_best_discards_among_some_cards(hand: Cards, data: st.DataObject) -> None:
    allowed = data.draw(st.sets(st.sampled_from(sorted(hand)), min_size=1))
    left = after_throws(hand, allowed)
    least = min(left.values())
    best = mask(card for card in left if left[card] == least)
    found = least_discards_among(mask(hand), mask(allowed))
    assert tuple(int(number) for number in found) == (least, best)


@HYPOTHESIS
@given(hands(least=11), all_rules(), st.data())
def test_legal_knocks_are_all_throws_within_the_limit(
    hand: Cards, rules: Rules, data: st.DataObject
) -> None:
    upcard = data.draw(CARDS)
    taken = data.draw(st.none() | st.sampled_from(sorted(hand)))
    allowed = hand if rules.may_throw_taken else hand - {taken}
    left = after_throws(hand, allowed)
    limit = rules.knock_limit
    if rules.oklahoma:
        limit = min(upcard % 13 + 1, 10)
        limit = 0 if limit == 1 and rules.oklahoma_ace == "gin" else limit
    expected = {card: left[card] for card in left if left[card] <= limit}
    assert gin_sim.legal_knocks(mask(hand), rules, taken=taken, upcard=upcard) == expected


@HYPOTHESIS
@given(hands(least=11), st.integers(0, 10))
def test_knock_discards(hand: Cards, limit: int) -> None:
    left = after_throws(hand, hand)
    expected = {card for card in hand if left[card] <= limit}
    assert cards_in(int(knock_discards(mask(hand), mask(hand), limit))) == expected


@HYPOTHESIS
@given(hands(most=10), CARDS)
def test_a_card_makes_a_meld_if_any_meld_holds_it(hand: Cards, card: int) -> None:
    expected = any(card in meld for meld in melds_in(hand | {card}))
    assert bool(makes_meld(mask(hand), card)) == expected


def test_every_meld_of_the_deck() -> None:
    found = [cards_in(meld) for meld in all_melds()]
    assert all(is_set(meld) or is_run(meld) for meld in found)
    assert len(found) == len(set(found))
    assert set(found) == set(melds_in(range(52)))


@HYPOTHESIS
@given(hands(), st.permutations(range(4)))
def test_the_names_of_the_suits_do_not_matter(hand: Cards, suits: list[int]) -> None:
    renamed = frozenset(13 * suits[card // 13] + card % 13 for card in hand)
    assert library_deadwood(renamed) == library_deadwood(hand)


@pytest.mark.parametrize("size", range(12))
def test_random_hands_of_every_size(size: int) -> None:
    dice = random.Random(size)
    some = [random_hand(dice, size) for _ in range(many(400, 60))]
    masks = [mask(hand) for hand in some]
    assert deadwood_many(masks).tolist() == [deadwood(hand) for hand in some]


def test_random_hands_of_eleven_in_bulk() -> None:
    dice = random.Random(11)
    some = [random_hand(dice, 11) for _ in range(many(3000, 100))]
    some += [melded_hand(dice, 11) for _ in range(many(3000, 300))]
    least, discards = best_discards_many([mask(hand) for hand in some])
    for hand, points, best in zip(some, least.tolist(), discards.tolist(), strict=True):
        left = after_throws(hand, hand)
        assert points == min(left.values()), sorted(hand)
        assert cards_in(best) == {card for card in hand if left[card] == points}, sorted(hand)


def test_hands_of_three_crossing_ranks() -> None:
    # Eleven of the twelve cards of three adjacent ranks: the most melds a hand can have.
    for low in range(11):
        block = [13 * suit + low + i for suit in range(4) for i in range(3)]
        for gone in block:
            hand = frozenset(block) - {gone}
            left = after_throws(hand, hand)
            least = min(left.values())
            best = mask(card for card in hand if left[card] == least)
            assert library_deadwood(hand) == deadwood(hand)
            assert gin_sim.best_discards(mask(hand)) == (least, best)
