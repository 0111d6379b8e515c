"""The first agents do exactly what their docstrings say, in whole hands and by chance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gin_sim import Rules, best_discards, shuffled_deck
from gin_sim.awkward import EVERY_MELD, crowded_cards, make_view, random_cards
from gin_sim.cards import DECK, cards_of
from gin_sim.chance import decision_word
from gin_sim.drive import Player
from gin_sim.play import play_on
from gin_sim.policy import prepare
from gin_sim.view import KNOCK, THREW
from tests.helpers import AGENTS, scaled, table

TRIPLES = [meld for meld in EVERY_MELD if meld.bit_count() == 3]


def own_pairs(state: Any, seat: int) -> list[tuple[int, int]]:
    """Return the (drawn, thrown) pairs of a seat in a finished hand, in order."""
    pairs, drawn = [], -1
    for entry in state["views"][seat]["history"][: int(state["n_events"])].tolist():
        if entry >> 8 == 0:
            if entry >> 6 == THREW:
                pairs.append((drawn, entry & 63))
            else:
                drawn = entry & 63
    return pairs


@pytest.mark.parametrize("name", ["simple", "early_gin"])
@pytest.mark.parametrize("other", ["simple", "random"])
def test_simple_repeats_no_unordered_pair_of_its_own_in_a_hand(name: str, other: str) -> None:
    """Two such players would swap two cards for ever; each gives way."""
    policies = prepare(AGENTS[name]), prepare(AGENTS[other])
    # Cards come back where nobody knocks and the pile is turned over.
    rules = Rules(knock_limit=0, wall="reshuffle")
    barred = 0
    for deal in range(scaled(400, 20)):
        here = table(shuffled_deck(31, deal), rules, key=deal)
        assert play_on(here.desk, *policies)
        for seat in (0, 1) if other == "simple" else (0,):
            pairs = own_pairs(here.state, seat)
            unordered = [frozenset(pair) for pair in pairs]
            assert len(unordered) == len(set(unordered)), (deal, seat)
            # How often the rule had something to forbid: a card comes back that it threw.
            thrown: set[int] = set()
            for drawn, card in pairs:
                barred += drawn in thrown
                thrown.add(card)
    assert barred > scaled(50, 0)


@pytest.mark.parametrize("name", ["simple", "early_gin"])
def test_simple_throws_evenly_among_any_number_of_best_discards(name: str) -> None:
    rng = np.random.default_rng(32)
    player = Player(AGENTS[name], name)
    counts: dict[int, Counter[int]] = {}
    for n in range(scaled(12_000, 900)):
        eleven = random_cards(rng, 11)
        best = cards_of(best_discards(eleven)[1])
        view = make_view(eleven, drawn=cards_of(eleven)[0], word=int(decision_word(32, n)))
        thrown = int(player.ask("discard", view))
        counts.setdefault(len(best), Counter())[best.index(thrown)] += 1
    tested = 0
    for ties, found in counts.items():
        if ties > 1 and found.total() >= 20 * ties:
            tested += 1
            assert stats.chisquare([found[i] for i in range(ties)]).pvalue > 1e-4, ties
    assert tested >= 3


@pytest.mark.parametrize("name", ["greedy", "gin_only"])
def test_greedy_throws_the_highest_rank_with_the_fewest_melds_open(name: str) -> None:
    rng = np.random.default_rng(33)
    player = Player(AGENTS[name], name)
    n_choices = 0
    for i in range(scaled(1500, 60)):
        eleven = (random_cards, crowded_cards)[i % 2](rng, 11)
        pile = random_cards(rng, int(rng.integers(0, 15)), DECK & ~eleven)
        best = cards_of(best_discards(eleven)[1])
        rank = max(card % 13 for card in best)
        highest = [card for card in best if card % 13 == rank]
        dead = eleven | pile
        still_open = {
            card: sum(1 for m in TRIPLES if m >> card & 1 and not (m ^ 1 << card) & dead)
            for card in highest
        }
        thrown = int(player.ask("discard", make_view(eleven, pile=pile)))
        assert thrown in highest
        assert still_open[thrown] == min(still_open.values())
        n_choices += len(set(still_open.values())) > 1
    assert n_choices > scaled(50, 1)


def test_early_gin_is_simple_and_gin_only_is_greedy_but_for_the_knock() -> None:
    rng = np.random.default_rng(34)
    for i in range(scaled(600, 40)):
        eleven = (random_cards, crowded_cards)[i % 2](rng, 11)
        drawn = int(rng.choice(cards_of(eleven)))
        word = int(decision_word(34, i))
        discard = make_view(eleven, taken=drawn if i % 3 else None, drawn=drawn, word=word)
        draw = make_view(eleven ^ 1 << drawn, upcard=drawn, word=word)
        for one, other in (("early_gin", "simple"), ("gin_only", "greedy")):
            pair = Player(AGENTS[one], one), Player(AGENTS[other], other)
            for decision, view in (("discard", discard), ("draw", draw)):
                answers = [player.ask(decision, view) for player in pair]
                assert answers[0] == answers[1]


def test_who_knocks() -> None:
    """At once, never, or in the first turns: whatever the hand and the stock."""
    rng = np.random.default_rng(35)
    players = {name: Player(one, name) for name, one in AGENTS.items()}
    for _ in range(scaled(300, 20)):
        eleven = crowded_cards(rng, 11)
        view = make_view(
            eleven,
            phase=KNOCK,
            candidate=int(rng.choice(cards_of(eleven))),
            own_turn=int(rng.integers(0, 15)),
            stock_left=int(rng.integers(2, 31)),
            word=int(rng.integers((1 << 63) - 1)),
        )
        answers = {name: bool(player.ask("knock", view)) for name, player in players.items()}
        assert answers["simple"]
        assert answers["greedy"]
        assert not answers["gin_only"]
        assert answers["early_gin"] == (int(view["own_turn"]) < 3)
        assert answers["random"] == bool(int(view["word"]) & 1)


@pytest.mark.parametrize("turns", [0, 1, 3, 100])
def test_early_gin_ends_no_hand_by_a_knock_after_its_turns(turns: int) -> None:
    early = AGENTS["early_gin"].with_params({"turns": turns})
    policies = prepare(early), prepare(AGENTS["gin_only"])
    knocks = 0
    for deal in range(scaled(400, 10)):
        here = table(shuffled_deck(36, deal), key=deal)
        assert play_on(here.desk, *policies)
        facts = here.hand.facts()
        if facts["outcome"] in ("knock", "undercut"):
            knocks += 1
            assert facts["ender"] == 0
            assert len(own_pairs(here.state, 0)) <= turns
    assert (knocks > 0) == (turns > 0) or scaled(100) < 100


def test_random_chooses_evenly_among_all_that_is_legal() -> None:
    rng = np.random.default_rng(37)
    player = Player(AGENTS["random"], "random")
    for taken in (False, True):
        places: Counter[int] = Counter()
        yes = 0
        n = scaled(4_400, 1_100)
        for i in range(n):
            eleven = random_cards(rng, 11)
            drawn = int(rng.choice(cards_of(eleven)))
            word = int(decision_word(37 + taken, i))
            view = make_view(eleven, drawn=drawn, taken=drawn if taken else None, word=word)
            legal = cards_of(int(view["legal_discards"]))
            places[legal.index(int(player.ask("discard", view)))] += 1
            view = make_view(eleven ^ 1 << drawn, upcard=drawn, word=word)
            yes += bool(player.ask("draw", view))
        assert stats.chisquare([places[i] for i in range(11 - taken)]).pvalue > 1e-4
        assert stats.binomtest(yes, n).pvalue > 1e-4
