"""The showdown agrees with a search through every arrangement and every lay-off."""

from __future__ import annotations

import random
from itertools import chain, combinations, permutations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import gin_sim
from gin_sim.cards import parse_cards
from gin_sim.hands import pack_melds
from gin_sim.layoff import fitting_too, lay_off
from gin_sim.rules import Rules
from tests.oracle.layoff import best_layoff, fits, lay_down, layoffs, open_cards
from tests.oracle.melds import (
    NO_CARDS,
    Cards,
    Melds,
    arrangements,
    cards_in,
    deadwood,
    is_run,
    is_set,
    mask,
    value,
)
from tests.oracle.strategies import (
    hands,
    many,
    melded_hand,
    random_hand,
    random_showdown,
    showdowns,
)

HYPOTHESIS = settings(max_examples=many(300, 40), deadline=None)
LONGEST = st.sampled_from([None, None, 5, 6, 7, 8, 9, 10, 11, 12, 13])


def library_melds(hand: Cards, seen: Cards, longest: int | None) -> set[Cards]:
    found = gin_sim.arrange(mask(hand), Rules(longest_meld=longest), mask(seen))
    return {cards_in(meld) for meld in found.melds}


def library_layoff(hand: Cards, melds: Melds, longest: int | None) -> tuple[int, Cards]:
    packed = pack_melds(tuple(mask(meld) for meld in melds))
    left, laid = lay_off(mask(hand), *packed, longest or 13)
    return int(left), cards_in(int(laid))


def check_layoff(hand: Cards, melds: Melds, longest: int | None) -> None:
    left, laid = library_layoff(hand, melds, longest)
    assert (left, len(laid)) == best_layoff(hand, melds, longest)
    assert laid in layoffs(hand, melds, longest)
    assert deadwood(hand - laid, longest) == left


def one_by_one(hand: Cards, melds: Melds, longest: int | None) -> set[Cards]:
    """Return every set of cards that a defender can come to who is asked card by card."""
    packed = pack_melds(tuple(mask(meld) for meld in melds))
    reached, fresh = {NO_CARDS}, [NO_CARDS]
    while fresh:
        laid = fresh.pop()
        more = fitting_too(mask(hand), mask(laid), *packed, longest or 13)
        for then in (laid | {card} for card in cards_in(int(more))):
            if then not in reached:
                reached.add(then)
                fresh.append(then)
    return reached


@HYPOTHESIS
@given(showdowns(), LONGEST)
def test_card_by_card_everything_that_can_be_laid_off_is_reached_and_nothing_else(
    cards: tuple[Cards, Cards], longest: int | None
) -> None:
    knocker, defender = cards
    melds = lay_down(knocker, knocker, longest)
    assert one_by_one(defender, melds, longest) == layoffs(defender, melds, longest)


def test_a_card_on_a_set_or_on_a_run_lies_where_the_next_one_needs_it() -> None:
    melds = pack_melds(tuple(map(mask_of_text, ("7c 7d 7s", "3h 4h 5h 6h"))))
    hand = mask_of_text("2h 7h 8h")

    def next_to(laid: str, longest: int) -> int:
        return int(fitting_too(hand, mask_of_text(laid), *melds, longest))

    assert next_to("", 13) == mask_of_text("2h 7h")
    assert next_to("7h", 13) == mask_of_text("2h 8h")  # on the run, then
    # Of five cards at most the run takes one more: 7h makes room for 2h, on the set.
    assert next_to("7h", 5) == mask_of_text("2h")
    assert next_to("2h", 5) == mask_of_text("7h")
    assert next_to("2h 7h", 5) == 0


def mask_of_text(cards: str) -> int:
    return mask(parse_cards(cards))


@HYPOTHESIS
@given(hands(), st.sets(st.integers(0, 51)), LONGEST)
def test_the_arrangement_laid_down(hand: Cards, pile: set[int], longest: int | None) -> None:
    seen = frozenset(pile - hand)
    assert library_melds(hand, seen, longest) == set(lay_down(hand, seen, longest))


@HYPOTHESIS
@given(hands(), st.sets(st.integers(0, 51)), LONGEST)
def test_an_arrangement_is_made_of_melds(hand: Cards, pile: set[int], longest: int | None) -> None:
    found = gin_sim.arrange(mask(hand), Rules(longest_meld=longest), mask(pile))
    melds = [cards_in(meld) for meld in found.melds]
    assert all(is_set(meld) or is_run(meld) for meld in melds)
    assert all(len(meld) <= (longest or 13) for meld in melds)
    assert sorted([*chain(*melds), *cards_in(found.unmatched)]) == sorted(hand)
    assert found.deadwood == value(cards_in(found.unmatched)) == deadwood(hand)


@HYPOTHESIS
@given(hands(least=10), st.permutations(range(4)), LONGEST)
def test_the_choice_of_an_arrangement_does_not_look_at_suits(
    hand: Cards, suits: list[int], longest: int | None
) -> None:
    """Only arrangements that are alike but for suits are told apart by suit."""
    renamed = frozenset(13 * suits[card // 13] + card % 13 for card in hand)

    def shape(cards: Cards) -> list[list[int]]:
        melds = library_melds(cards, NO_CARDS, longest)
        return sorted(sorted(card % 13 for card in meld) for meld in melds)

    def n_open(cards: Cards) -> int:
        melds = tuple(library_melds(cards, NO_CARDS, longest))
        return len(open_cards(melds, cards, longest))

    assert n_open(hand) == n_open(renamed)
    in_sets, in_sets_renamed = (
        [meld for meld in shape(cards) if len(set(meld)) == 1] for cards in (hand, renamed)
    )
    assert in_sets == in_sets_renamed


@HYPOTHESIS
@given(showdowns(), LONGEST)
def test_layoffs_on_what_the_knocker_lays_down(
    hands_of_both: tuple[Cards, Cards], longest: int | None
) -> None:
    knocker, defender = hands_of_both
    check_layoff(defender, lay_down(knocker, NO_CARDS, longest), longest)


@HYPOTHESIS
@given(showdowns(), LONGEST, st.data())
def test_layoffs_on_any_arrangement(
    hands_of_both: tuple[Cards, Cards], longest: int | None, data: st.DataObject
) -> None:
    knocker, defender = hands_of_both
    ways = [way for way in arrangements(knocker, longest) if way]
    assume(ways)
    check_layoff(defender, data.draw(st.sampled_from(ways)), longest)


def can_be_laid_off(cards: Cards, melds: Melds, longest: int | None) -> bool:
    """Return whether some order of laying off, onto some melds, disposes of all cards."""

    def place(order: tuple[int, ...], now: Melds) -> bool:
        if not order:
            return True
        return any(
            place(order[1:], (*now[:i], meld | {order[0]}, *now[i + 1 :]))
            for i, meld in enumerate(now)
            if fits(order[0], meld, longest)
        )

    return any(place(order, melds) for order in permutations(cards))


@settings(max_examples=many(80, 8), deadline=None)
@given(showdowns(), LONGEST)
def test_layoffs_are_the_best_of_every_subset(
    hands_of_both: tuple[Cards, Cards], longest: int | None
) -> None:
    """The oracle's own short cut, and with it the library, against no short cut at all."""
    knocker, defender = hands_of_both
    melds = lay_down(knocker, NO_CARDS, longest)
    # A card of no suit or rank of the melds' can never be laid off.
    reach = [card for card in defender if any(_may_reach(card, meld) for meld in melds)]
    subsets = [
        frozenset(some) for n in range(min(len(reach), 5) + 1) for some in combinations(reach, n)
    ]
    possible = [some for some in subsets if can_be_laid_off(some, melds, longest)]
    found = layoffs(defender, melds, longest)
    assert {some for some in found if len(some) <= 5} == set(possible)
    left, laid = library_layoff(defender, melds, longest)
    assert left == min(deadwood(defender - some, longest) for some in found)
    assert laid in found


def _may_reach(card: int, meld: Cards) -> bool:
    some = min(meld)
    return card // 13 == some // 13 if is_run(meld) else card % 13 == some % 13


@HYPOTHESIS
@given(
    showdowns(),
    st.sampled_from(["standard", "casual", "openspiel", "classic", "oklahoma"]),
    st.sets(st.integers(0, 51)),
)
# The defender does best to break a run of its own, and lays off two on one end of a run.
@example(
    (
        frozenset(parse_cards("5s 6s 7s Kc Kd Kh Qc Qd Qh 3c")),
        frozenset(parse_cards("4s 8s 9s Ad 2d 5h 9d 6c Tc Jh")),
    ),
    "standard",
    set(),
)
def test_a_knock_settled(hands_of_both: tuple[Cards, Cards], preset: str, pile: set[int]) -> None:
    knocker, defender = hands_of_both
    rules = Rules.preset(preset)
    seen = frozenset(pile - knocker - defender)
    upcard = 12 if rules.oklahoma else None
    count = deadwood(knocker)
    limit = 10 if rules.oklahoma else rules.knock_limit
    if count > limit:
        with pytest.raises(gin_sim.CardError):
            gin_sim.showdown(mask(knocker), mask(defender), rules, upcard=upcard)
        return
    found = gin_sim.showdown(mask(knocker), mask(defender), rules, upcard=upcard, seen=mask(seen))
    before = deadwood(defender)
    melds = lay_down(knocker, seen, rules.longest_meld)
    after = before if count == 0 else best_layoff(defender, melds, rules.longest_meld)[0]
    assert {cards_in(meld) for meld in found.knocker_melds} == set(melds)
    assert found.knocker_deadwood == count
    assert found.defender_deadwood_before_layoff == before
    assert found.defender_deadwood == after
    expected: tuple[str, str | None, int]
    if count == 0:
        expected = ("gin", "knocker", rules.gin_bonus + after)
    elif after > count:
        expected = ("knock", "knocker", after - count)
    elif after < count or rules.undercut_on_tie:
        expected = ("undercut", "defender", count - after + rules.undercut_bonus)
    else:
        expected = ("knock", None, 0)
    assert (found.outcome, found.winner, found.points) == expected
    check_shown_layoffs(found, defender, rules.longest_meld)


def check_shown_layoffs(found: gin_sim.Showdown, defender: Cards, longest: int | None) -> None:
    """Check that what a showdown shows can be done in the order shown, and adds up."""
    grown = {cards_in(meld): cards_in(meld) for meld in found.knocker_melds}
    for one in found.layoffs:
        onto = cards_in(one.onto)
        assert fits(one.card, grown[onto], longest)
        grown[onto] |= {one.card}
    laid = frozenset(one.card for one in found.layoffs)
    melds = [cards_in(meld) for meld in found.defender_melds]
    assert all(is_set(meld) or is_run(meld) for meld in melds)
    rest = defender - laid - NO_CARDS.union(*melds)
    assert value(rest) == found.defender_deadwood
    assert len(rest) + len(laid) + sum(map(len, melds)) == 10


def test_random_showdowns_in_bulk() -> None:
    dice = random.Random(2024)
    met = 0
    for _ in range(many(1500, 200)):
        knocker, defender = random_showdown(dice)
        if dice.random() < 0.2:
            knocker = melded_hand(dice, 10)
            defender = random_hand(dice, 10, knocker)
        longest = dice.choice([None, None, 5, 6, 7])
        seen = random_hand(dice, dice.randrange(12), knocker | defender)
        melds = lay_down(knocker, seen, longest)
        assert library_melds(knocker, seen, longest) == set(melds), sorted(knocker)
        check_layoff(defender, melds, longest)
        met += len(layoffs(defender, melds, longest)) > 4
    assert met > many(110, 12)  # the hands are such that there is something to choose
