"""Deadwood of more cards than a player holds: exact too, and at once."""

import numpy as np

from gin_sim import deadwood, deadwood_many
from gin_sim.awkward import crowded_cards, random_cards
from gin_sim.compiled import JIT_DISABLED
from gin_sim.melds import _deadwood_by_ranks, least_deadwood
from tests.helpers import most_melded, scaled

DECK = (1 << 52) - 1


def test_rank_by_rank_is_the_same_for_hands_of_a_player() -> None:
    rng = np.random.default_rng(1)
    for i in range(scaled(3000)):
        hand = (random_cards, crowded_cards)[i % 2](rng, int(rng.integers(0, 12)))
        assert _deadwood_by_ranks(hand) == least_deadwood(hand)


def test_large_hands_by_trying_all_melds() -> None:
    rng = np.random.default_rng(2)
    for _ in range(scaled(200)):
        hand = crowded_cards(rng, int(rng.integers(12, 17)))
        assert deadwood(hand) == most_melded(hand)


def test_the_whole_deck_and_what_is_left_without_a_few_cards() -> None:
    assert deadwood(DECK) == 0
    rng = np.random.default_rng(3)
    hands = [random_cards(rng, n) for n in range(12, 52, 10 if JIT_DISABLED else 1)]
    assert deadwood_many(np.array(hands)).tolist() == [deadwood(hand) for hand in hands]
    for hand in hands:
        if hand.bit_count() >= 45:
            assert deadwood(hand) <= 30
