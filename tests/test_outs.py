"""Outs against brute force: every unseen card drawn, every card thrown."""

from __future__ import annotations

import numpy as np
import pytest

from gin_sim import parse_hand
from gin_sim.awkward import EVERY_MELD, Rng, crowded_cards, melded_cards, random_cards
from gin_sim.cards import DECK, cards_of, mask_of, parse_card
from gin_sim.hands import deadwood
from gin_sim.outs import (
    MOST_FEW,
    completing,
    expected_deadwood,
    next_down,
    next_up,
    outs,
    promising,
)
from tests.helpers import scaled

TRIPLES = [meld for meld in EVERY_MELD if meld.bit_count() == 3]


def hand_of_ten(rng: Rng, i: int) -> int:
    """Return a hand of one of three kinds, so that all sorts of outs come up."""
    if i % 3 == 2:  # three or four melds, and one card too few or too many
        eleven = melded_cards(rng, 11)
        return eleven ^ 1 << int(rng.choice(cards_of(eleven)))
    return (random_cards, crowded_cards)[i % 3](rng, 10)


def gains_one_by_one(hand: int, unseen: int) -> tuple[list[int], int]:
    """Return by how much each unseen card lowers the deadwood, and how many make gin."""
    before = deadwood(hand)
    gains, gin = [], 0
    for card in cards_of(unseen):
        eleven = hand | 1 << card
        after = min(deadwood(eleven ^ 1 << thrown) for thrown in cards_of(eleven))
        gains.append(before - after)
        gin += after == 0 < before
    return gains, gin


def test_outs_are_those_of_drawing_every_card() -> None:
    rng = np.random.default_rng(1)
    for i in range(scaled(300, 9)):
        hand = hand_of_ten(rng, i)
        unseen = random_cards(rng, int(rng.integers(0, 33)), DECK & ~hand)
        gains, gin = gains_one_by_one(hand, unseen)
        few = int(rng.integers(1, MOST_FEW + 1))
        found = outs(hand, unseen, few)
        assert found.deadwood == deadwood(hand)
        assert found.cards == sum(gain > 0 for gain in gains)
        assert found.gin == gin
        assert found.total == sum(gains)
        assert found.best == pytest.approx(sum(sorted(gains)[::-1][:few]) / few)
        expected = found.deadwood - (np.mean(gains) if gains else 0)
        assert expected_deadwood(hand, unseen) == pytest.approx(expected)


def test_outs_of_a_hand_counted_by_hand() -> None:
    # 8c and Kc go with a run, and 9s goes: gin.  Ah in place of 9s saves 8 points, 2d 7.
    hand = parse_hand("Tc Jc Qc 3d 3h 3s 5c 6c 7c 9s")
    found = outs(hand, parse_hand("8c Kc Ah 2d 9d Kd"), 2)
    assert found == (9, 4, 2, 9 + 9 + 8 + 7, 9.0)
    assert outs(hand, 0, 2) == (9, 0, 0, 0, 0.0)
    assert expected_deadwood(hand, 0) == 9


def test_a_number_of_best_gains_that_cannot_be_is_the_nearest_that_can() -> None:
    hand = parse_hand("Tc Jc Qc 3d 3h 3s 5c 6c 7c 9s")
    for few, nearest in ((-5, 1), (0, 1), (8, MOST_FEW), (1000, MOST_FEW)):
        assert outs(hand, DECK & ~hand, few) == outs(hand, DECK & ~hand, nearest)


def test_neighbours_stay_in_their_suit() -> None:
    for card in range(52):
        above = [] if card % 13 == 12 else [card + 1]
        below = [] if card % 13 == 0 else [card - 1]
        assert cards_of(next_up(1 << card)) == above
        assert cards_of(next_down(1 << card)) == below
    assert next_up(DECK) | next_down(DECK) == DECK


def test_completing_and_promising_are_those_of_all_melds_of_three() -> None:
    rng = np.random.default_rng(2)
    for i in range(scaled(600, 30)):
        hand = (random_cards, crowded_cards)[i % 2](rng, int(rng.integers(1, 12)))
        fits = mask_of(
            card
            for card in cards_of(DECK & ~hand)
            if any(m >> card & 1 and (m & hand).bit_count() == 2 for m in TRIPLES)
        )
        assert completing(hand) == fits
        live = random_cards(rng, int(rng.integers(0, 30)), DECK & ~hand)
        promise = 0
        for meld in TRIPLES:
            if (meld & hand).bit_count() == 2 and (meld & live).bit_count() == 1:
                promise |= meld & hand
        assert promising(hand, live) == promise


def test_a_pair_whose_other_cards_are_dead_promises_nothing() -> None:
    hand = parse_hand("Kc Kd 2h 5s")
    kings = parse_hand("Kh Ks")
    assert promising(hand, DECK & ~hand) == parse_hand("Kc Kd")
    assert promising(hand, DECK & ~hand & ~kings) == 0
    assert promising(hand, 1 << parse_card("Kh")) == parse_hand("Kc Kd")
