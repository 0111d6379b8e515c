"""The battery that every agent of the package `agents` has to pass, and what each does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from gin_sim import Agent, Rules, agent, parse_hand
from gin_sim.awkward import (
    EVERY_MELD,
    Event,
    awkward_views,
    crowded_cards,
    make_view,
    random_cards,
)
from gin_sim.battery import check_agent
from gin_sim.cards import cards_of, parse_card
from gin_sim.compiled import JIT_DISABLED
from gin_sim.hands import deadwood
from gin_sim.registry import load_agent
from gin_sim.view import DREW, KNOCK, THREW
from tests.helpers import AGENTS, EASED, ask, dealt_to, play_rows, scaled

DECK = (1 << 52) - 1
QUICK = {"simple", "greedy"}
"""Agents for which the battery takes seconds, not minutes, where nothing is compiled."""

everyone = pytest.mark.parametrize("one", AGENTS.values(), ids=list(AGENTS))


@everyone
def test_stands_the_battery(one: Agent) -> None:
    """Legal under all presets and odd rules, thousands of hands each; the same twice; no state."""
    if JIT_DISABLED and one.name not in QUICK:
        pytest.skip("takes minutes where nothing is compiled; its own tests run there")
    deals = 300 if one.name in EASED else 1300
    checked = check_agent(one, deals=scaled(deals, 1), seconds=0.5 if JIT_DISABLED else 30)
    assert [finding for finding in checked.findings if not finding.passed] == []


@everyone
def test_declares_gin_that_it_was_dealt(one: Agent) -> None:
    for seat in (0, 1):
        facts = dealt_to(one, "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh", seat).hand.facts()
        if one.name != "random":
            assert (facts["outcome"], facts["winner"]) == ("gin", seat)


@everyone
def test_says_what_it_is(one: Agent) -> None:
    assert one.summary
    assert one.source
    as_registered = load_agent(one.name)
    assert as_registered.with_params(EASED.get(one.name, {})) == one
    for key, value in as_registered.params.items():
        varied = as_registered.with_params({key: value + 1})
        assert varied.label.startswith(f"{one.name}:{key}=")
        assert load_agent(varied.label) == varied  # a label is a spelling, to the last digit
    for key, value in one.params.items():
        if JIT_DISABLED and one.name in EASED:
            continue
        play_rows(one.with_params({key: value + 1}), AGENTS["simple"], Rules(), 1, 2)


def test_simple_takes_the_upcard_iff_it_melds() -> None:
    rng = np.random.default_rng(2)
    for i in range(scaled(600, 30)):
        hand = (random_cards, crowded_cards)[i % 2](rng, 10)
        upcard = int(rng.choice(cards_of(DECK & ~hand)))
        both = hand | 1 << upcard
        melds = any(meld >> upcard & 1 and meld & both == meld for meld in EVERY_MELD)
        assert ask(AGENTS["simple"], "draw", make_view(hand, upcard=upcard)) == melds


def test_simple_throws_evenly_among_the_best() -> None:
    hand = "Kc Kd Qh Qs Js 9h 7c 5d 3s 2h Ac"
    rng = np.random.default_rng(3)
    n = scaled(4000, 400)
    thrown = [
        ask(AGENTS["simple"], "discard", make_view(hand, drawn="Ac", word=int(word)))
        for word in rng.integers((1 << 63) - 1, size=n)
    ]
    best = cards_of(parse_hand("Kc Kd Qh Qs Js"))
    counts = [thrown.count(card) for card in best]
    assert sum(counts) == n
    assert stats.chisquare(counts).pvalue > 1e-4


def test_simple_repeats_no_pair_of_its_own() -> None:
    hand = "Kc Kd Qh Js 9h 7c 5d 3s 2h Ac 4s"
    names = {"kc": parse_card("Kc"), "4s": parse_card("4s"), "kd": parse_card("Kd")}
    swaps = [  # it once drew Kc and threw 4s; now it has drawn 4s again
        Event(0, DREW, names["kc"]),
        Event(0, THREW, names["4s"]),
        Event(1, DREW, 63),
        Event(1, THREW, parse_card("2c")),
    ]
    view = make_view(hand, taken="4s", history=swaps, own_turn=1)
    for word in range(0, 1 << 63, 1 << 57):
        view["word"] = word
        assert ask(AGENTS["simple"], "discard", view) != names["kc"]
    # The pair of the other seat is no pair of its own.
    theirs = [Event(1 - e.actor, e.what, e.card) for e in swaps]
    view = make_view(hand, taken="4s", history=theirs, own_turn=1)
    thrown = set()
    for word in range(0, 1 << 63, 1 << 57):
        view["word"] = word
        thrown.add(ask(AGENTS["simple"], "discard", view))
    assert names["kc"] in thrown


def test_simple_never_swaps_in_circles() -> None:
    rows = play_rows(
        AGENTS["simple"], AGENTS["simple"], Rules(pile_draw_limit=100), 4, scaled(5000, 3)
    )
    assert rows["turns"].max() < 100


def test_early_gin_knocks_in_its_first_turns_only() -> None:
    early = AGENTS["early_gin"]
    hand = "As 2s 3s 7h 8h 9h Kc Kd Kh 5c 6c"
    for turn in range(6):
        view = make_view(hand, phase=KNOCK, candidate="6c", own_turn=turn)
        assert ask(early, "knock", view) == (turn < 3)
        assert ask(early.with_params({"turns": 5}), "knock", view) == (turn < 5)


def test_greedy_takes_only_what_lowers_its_deadwood() -> None:
    rng = np.random.default_rng(5)
    for i in range(scaled(600, 30)):
        hand = (random_cards, crowded_cards)[i % 2](rng, 10)
        upcard = int(rng.choice(cards_of(DECK & ~hand)))
        both = hand | 1 << upcard
        after = min(deadwood(both ^ 1 << card) for card in cards_of(hand))
        expected = after < deadwood(hand)
        assert ask(AGENTS["greedy"], "draw", make_view(hand, upcard=upcard)) == expected


def test_greedy_throws_the_highest_then_the_least_useful() -> None:
    hand = "Kc Qd Ts 9h 7c 5d 3s 2h Ac 4s 8d"
    assert ask(AGENTS["greedy"], "discard", make_view(hand)) == parse_card("Kc")
    two = "Kc Kd Ts 9h 7c 5d 3s 2h Ac 4s 8d"
    # Without Jc and Qc in play nobody wants Kc for a run.
    assert ask(AGENTS["greedy"], "discard", make_view(two, pile="Qc")) == parse_card("Kc")
    assert ask(AGENTS["greedy"], "discard", make_view(two, pile="Qd")) == parse_card("Kd")


def test_gin_only_never_knocks_with_deadwood_and_plays_like_greedy() -> None:
    rows = play_rows(AGENTS["gin_only"], AGENTS["gin_only"], Rules(), 6, scaled(2000, 3))
    assert set(rows["outcome"].tolist()) <= {0, 3}
    for decision, view in awkward_views(scaled(40, 5), 7):
        if decision != "knock":
            answers = [ask(AGENTS[name], decision, view) for name in ("greedy", "gin_only")]
            assert answers[0] == answers[1]


@pytest.mark.skipif(JIT_DISABLED, reason="takes a million hands")
def test_the_yardsticks_are_as_strong_as_published() -> None:
    """From 513,008 hands of the Java original, with its errors; see also docs."""
    from gin_sim import play_tournament

    hands = play_tournament(
        ["simple", "simple"], hands=600_000, seed=21, rules="eaai", keep_hands=True
    ).hands
    # Two players of one kind play mirrored hands alike: half of them are independent.
    n = len(hands) / 2
    for name, found, published, error in (
        ("turns", hands.turns.mean(), 12.54, 0.008),
        ("gin", (hands.outcome == "gin").mean(), 0.0209, 0.0002),
        ("dead", (hands.outcome == "dead").mean(), 0.0017, 0.00006),
    ):
        spread = hands.turns.std() if name == "turns" else (published * (1 - published)) ** 0.5
        assert abs(found - published) < 3.5 * np.hypot(error, spread / n**0.5), name
    games = play_tournament(["early_gin", "simple"], games=20_000, seed=22, rules="eaai")
    share = games.as_dict()["ranking"][0]["game_share"]
    assert abs(share - 0.683) < 0.012


def test_the_battery_catches_a_bad_agent() -> None:
    @agent("bad", source="a test")
    class Bad:
        """Throws what it has just taken."""

        def draw(view: Any, params: Any) -> bool:  # noqa: N805
            return True

        def discard(view: Any, params: Any) -> int:  # noqa: N805
            return int(view.drawn)

        def knock(view: Any, params: Any) -> bool:  # noqa: N805
            return True

    failed = {
        one.check: one for one in check_agent(Bad, deals=2, seconds=1).findings if not one.passed
    }
    assert {"rules standard", "awkward views", "whole games"} <= failed.keys()
    assert "just taken from the pile" in failed["rules standard"].detail
