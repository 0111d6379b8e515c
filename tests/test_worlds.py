"""Worlds: those drawn fit the view, all come up, and as often as they should."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from gin_sim import Hand, View
from gin_sim.awkward import make_view
from gin_sim.cards import DECK, cards_of
from gin_sim.chance import next_word
from gin_sim.compiled import records
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.hands import deadwood
from gin_sim.playouts import rules_of, set_view, set_world
from gin_sim.scoring import RULES_DTYPE
from gin_sim.state import check_cards
from gin_sim.view import VIEW_DTYPE
from gin_sim.worlds import gather, likely_world, sample_world, weigh
from tests.helpers import scaled


def a_view(hidden: int, stock_left: int) -> Any:
    """Return a view late in a hand in which so many cards of the opponent are hidden."""
    cards = list(range(52))
    np.random.default_rng(3).shuffle(cards)
    own, known = cards[:11], cards[11 : 21 - hidden]
    pile = cards[21 : 52 - stock_left]
    view = make_view(sum(1 << card for card in own), drawn=own[0], stock_left=stock_left)
    mask = sum(1 << card for card in known)
    view["opponent_known"] = mask
    view["pile"] = sum(1 << card for card in pile)
    view["seen"] = view["hand"] | view["pile"] | mask
    view["own_turn"] = 6
    return view


def words(count: int) -> list[int]:
    """Return random words, one from the other."""
    drawn = [12345]
    for _ in range(count - 1):
        drawn.append(next_word(drawn[-1]))
    return drawn


def test_every_world_late_in_a_hand_comes_up_as_often_as_the_next() -> None:
    view = a_view(hidden=3, stock_left=4)
    unseen = DECK & ~int(view["seen"])
    assert unseen.bit_count() == 7
    known = int(view["opponent_known"])
    possible = [known | sum(1 << c for c in few) for few in combinations(cards_of(unseen), 3)]
    drawn = Counter(sample_world(view, word).opponent for word in words(scaled(35_000, 3500)))
    assert set(drawn) == set(possible)
    assert chisquare([drawn[hand] for hand in possible]).pvalue > 1e-4


def test_a_walk_comes_to_every_world_as_often_as_it_explains_what_was_played() -> None:
    view = a_view(hidden=2, stock_left=5)
    thrown = cards_of(int(view["pile"]))[:4]
    view["opponent_discards"] = sum(1 << card for card in thrown)
    evidence = gather(view)
    possible = [
        int(view["opponent_known"]) | sum(1 << c for c in few)
        for few in combinations(cards_of(DECK & ~int(view["seen"])), 2)
    ]
    weights = np.exp([weigh(evidence, hand) for hand in possible])
    assert weights.max() > 2 * weights.min()
    world = sample_world(view, 99)
    drawn: Counter[int] = Counter()
    n = scaled(20_000, 2000)
    for _ in range(n):
        world = likely_world(evidence, world, 30)
        assert world.weight == pytest.approx(weigh(evidence, world.opponent))
        drawn[world.opponent] += 1
    expected = n * weights / weights.sum()
    assert chisquare([drawn[hand] for hand in possible], expected).pvalue > 1e-4


def as_record(view: View) -> Any:
    """Return the record of a view."""
    record = records(1, VIEW_DTYPE)[0]
    for name in view._fields[:-1]:
        record[name] = getattr(view, name)
    return record


@pytest.mark.parametrize("rules", ["standard", "big-gin", "oklahoma"])
def test_a_world_under_a_view_is_a_whole_hand_with_all_that_was_seen(rules: str) -> None:
    rng = np.random.default_rng(8)
    asked = 0
    limits = records(1, RULES_DTYPE)[0]
    for number in range(scaled(40, 4)):
        here = Hand.dealt(4, number, rules)
        while here.phase != "over":
            view = as_record(here.view())
            state = records(1, STATE_DTYPE)[0]
            rules_of(view, limits)
            set_view(state, limits, view)
            world = sample_world(view, number)
            set_world(state, DECK & ~int(view["seen"]), world)
            assert check_cards(state)
            assert state["deadwood"][1 - state["seat"]] == deadwood(world.opponent)
            assert world.opponent & view["opponent_known"] == view["opponent_known"]
            asked += 1
            verb, *card = str(rng.choice(here.legal_moves())).split()
            getattr(here, {"pass": "pass_"}.get(verb, verb))(*card)
    assert asked > 10


def test_two_hundred_worlds_of_a_fresh_deal_are_all_different() -> None:
    view = make_view(0b1111111111, upcard=20)
    assert len({sample_world(view, word).opponent for word in words(200)}) == 200


def test_the_walk_stands_still_where_there_is_nothing_to_swap() -> None:
    for hidden, stock_left in ((0, 5), (4, 0)):
        view = a_view(hidden, stock_left)
        world = sample_world(view, 7)
        after = likely_world(gather(view), world, 10)
        assert after.opponent == world.opponent
        assert after.word != world.word
        assert math.isfinite(after.weight)
