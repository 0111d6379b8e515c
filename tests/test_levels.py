"""The levels `easy`, `medium` and `hard`, and `improver`, do what their docstrings say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from agents.improver import SPARED
from gin_sim import best_discards, parse_hand
from gin_sim.awkward import EVERY_MELD, Event, Rng, crowded_cards, make_view, points, random_cards
from gin_sim.cards import DECK, cards_of, mask_of, parse_card
from gin_sim.chance import decision_word
from gin_sim.compiled import JIT_DISABLED
from gin_sim.drive import Player
from gin_sim.hands import deadwood
from gin_sim.view import KNOCK, THREW
from tests.helpers import AGENTS, ask, scaled

TRIPLES = [meld for meld in EVERY_MELD if meld.bit_count() == 3]

# Three melds but for a card, and two loose cards of one value: 9c and 9d.
EVEN = "Ac 2c 3c Kd Kh Ks 5h 6h 7h 9c 9d"


def some_hand(rng: Rng, i: int, count: int) -> int:
    """Return a hand of one of two kinds."""
    return (random_cards, crowded_cards)[i % 2](rng, count)


def in_a_meld(hand: int, card: int) -> bool:
    """Return whether a card makes a meld with a hand."""
    return any(m >> card & 1 and m & (hand | 1 << card) == m for m in TRIPLES)


def half_melds(hand: int, live: int) -> int:
    """Return the cards that are two thirds of a meld whose third is among `live`."""
    found = 0
    for meld in TRIPLES:
        if (meld & hand).bit_count() == 2 and meld & ~hand & live:
            found |= meld & hand
    return found


@pytest.mark.parametrize("name", ["easy", "medium"])
def test_who_forgets_answers_alike_whatever_was_played(name: str) -> None:
    rng = np.random.default_rng(1)
    player = Player(AGENTS[name], name)
    for i in range(scaled(200, 10)):
        eleven = some_hand(rng, i, 11)
        word = int(decision_word(41, i))
        drawn = int(rng.choice(cards_of(eleven)))
        rest = DECK & ~eleven
        known = random_cards(rng, 3, rest)
        thrown = random_cards(rng, 4, rest & ~known)
        answers = []
        for memory in ({}, {"opponent_known": known, "opponent_discards": thrown}):
            for decision, view in (
                ("discard", make_view(eleven, drawn=drawn, word=word)),
                ("draw", make_view(eleven ^ 1 << drawn, upcard=drawn, word=word)),
            ):
                for field, value in memory.items():
                    view[field] = value
                view["seen"] |= known | thrown if memory else 0
                answers.append(player.ask(decision, view))
        assert answers[:2] == answers[2:]


def test_easy_throws_any_card_outside_its_melds() -> None:
    rng = np.random.default_rng(2)
    careless = Player(AGENTS["easy"].with_params({"careless": 1}), "easy")
    careful = Player(AGENTS["easy"].with_params({"careless": 0}), "easy")
    for i in range(scaled(300, 20)):
        eleven = some_hand(rng, i, 11)
        view = make_view(eleven, drawn=cards_of(eleven)[0], word=int(decision_word(42, i)))
        best, discards = best_discards(eleven)
        assert discards >> int(careful.ask("discard", view)) & 1
        thrown = int(careless.ask("discard", view))
        before = deadwood(eleven)
        loose = [
            card
            for card in cards_of(eleven)
            if deadwood(eleven ^ 1 << card) == before - points(1 << card)
        ]
        assert thrown in (loose if loose and best else cards_of(discards))


def test_easy_is_careless_as_often_as_it_says_and_evenly() -> None:
    loose = cards_of(parse_hand("2c 4d 5h 7s 8d"))  # and Tc, the best
    hand = "Kc Kd Kh Qc Jc Tc 2c 4d 5h 7s 8d"
    best = cards_of(best_discards(hand)[1])
    assert len(best) == 1
    player = Player(AGENTS["easy"], "easy")
    n = scaled(6000, 600)
    thrown = Counter(
        int(player.ask("discard", make_view(hand, word=int(decision_word(43, i)))))
        for i in range(n)
    )
    share = AGENTS["easy"].params["careless"] / len(loose)
    expected = dict.fromkeys(loose, share)
    expected[best[0]] = expected.get(best[0], 0.0) + 1 - AGENTS["easy"].params["careless"]
    assert set(thrown) <= set(expected)
    found = [thrown[card] for card in expected]
    assert stats.chisquare(found, [n * p for p in expected.values()]).pvalue > 1e-4


@pytest.mark.parametrize("keep", [0.0, 2.0, 50.0])
def test_medium_throws_what_leaves_least_but_keeps_promising_pairs(keep: float) -> None:
    rng = np.random.default_rng(3)
    player = Player(AGENTS["medium"].with_params({"keep": keep}), "medium")
    for i in range(scaled(300, 20)):
        eleven = some_hand(rng, i, 11)
        kept = half_melds(eleven, DECK & ~eleven)
        cost = {c: deadwood(eleven ^ 1 << c) + keep * (kept >> c & 1) for c in cards_of(eleven)}
        thrown = int(player.ask("discard", make_view(eleven, word=int(decision_word(44, i)))))
        if best_discards(eleven)[0] == 0:
            assert deadwood(eleven ^ 1 << thrown) == 0
        else:
            assert cost[thrown] == min(cost.values())


@pytest.mark.parametrize("name", ["medium", "hard"])
def test_medium_and_hard_take_what_melds_or_helps_a_lot(name: str) -> None:
    rng = np.random.default_rng(4)
    player = Player(AGENTS[name], name)
    taken = Counter[tuple[bool, bool]]()
    for i in range(scaled(600, 30)):
        hand = some_hand(rng, i, 10)
        upcard = int(rng.choice(cards_of(DECK & ~hand)))
        both = hand | 1 << upcard
        fall = deadwood(hand) - min(deadwood(both ^ 1 << card) for card in cards_of(hand))
        melds = in_a_meld(hand, upcard)
        expected = fall >= AGENTS[name].params["help"] or (melds and fall > 0)
        assert bool(player.ask("draw", make_view(hand, upcard=upcard))) == expected
        taken[melds, expected] += 1
    assert len(taken) == 4 or JIT_DISABLED


@pytest.mark.parametrize("name", ["hard", "improver"])
def test_who_watches_throws_the_card_that_the_opponent_can_use_less(name: str) -> None:
    one = AGENTS[name]
    for safe, fed, around in (("9c", "9d", "8d Td"), ("9d", "9c", "8c Tc")):
        view = make_view(EVEN, opponent_known=around)
        assert ask(one, "discard", view) == parse_card(safe), "feeds a run that it knows of"
        # Near what was thrown the opponent has less use for a card.
        thrown = [Event(1, THREW, card) for card in cards_of(parse_hand(around))]
        view = make_view(EVEN, pile=around, history=thrown)
        assert ask(one, "discard", view) == parse_card(fed)


@pytest.mark.parametrize("name", ["hard", "improver"])
def test_who_counts_keeps_no_pair_whose_other_cards_are_gone(name: str) -> None:
    # Two pairs, nines and tens; what would make a set of one of them is dead.
    hand = "Ac 2c 3c Kd Kh Ks 2h 9c 9d Td Ts"
    dead = "9h 9s 8d Jd 8c Tc"
    assert ask(AGENTS[name], "discard", make_view(hand, pile=dead)) in cards_of(parse_hand("9c 9d"))


def test_hard_throws_the_least_of_what_it_weighs() -> None:
    """With no caution it is deadwood and live pairs, which can be counted."""
    rng = np.random.default_rng(5)
    one = AGENTS["hard"].with_params({"caution": 0})
    player, keep = Player(one, "hard"), one.params["keep"]
    for i in range(scaled(300, 20)):
        eleven = some_hand(rng, i, 11)
        pile = random_cards(rng, int(rng.integers(0, 20)), DECK & ~eleven)
        kept = half_melds(eleven, DECK & ~eleven & ~pile)
        cost = {c: deadwood(eleven ^ 1 << c) + keep * (kept >> c & 1) for c in cards_of(eleven)}
        thrown = int(player.ask("discard", make_view(eleven, pile=pile)))
        assert cost[thrown] == min(cost.values()) or best_discards(eleven)[0] == 0


@pytest.mark.parametrize("name", ["easy", "medium", "hard", "improver"])
def test_when_the_levels_knock(name: str) -> None:
    rng = np.random.default_rng(6)
    one = AGENTS[name]
    for stock in range(2, 31):
        eleven = crowded_cards(rng, 11)
        card = int(rng.choice(cards_of(eleven)))
        view = make_view(eleven, phase=KNOCK, candidate=card, stock_left=stock)
        assert ask(one, "knock", view) == (stock >= one.params.get("stock", 0))
        if "stock" in one.params:
            assert ask(one.with_params({"stock": stock}), "knock", view)
            assert not ask(one.with_params({"stock": stock + 1}), "knock", view)


def hand_cost(hand: int, unseen: int, params: dict[str, float], turn: int) -> float:
    """Return what `improver` thinks of ten cards, from every card that may come."""
    before = deadwood(hand)
    gains, gin = [], 0
    for card in cards_of(unseen):
        after = best_discards(hand | 1 << card)[0]
        gains.append(before - after)
        gin += after == 0 < before
    few = int(params["few"])
    best = sum(sorted(gains)[::-1][:few]) / few
    shrink = max(1 - params["shrink"] * turn, 0.1)
    mean = sum(gains) / max(len(gains), 1)
    return before - params["hope"] * shrink * best - params["mass"] * mean - params["gin"] * gin


def improver_views(rng: Rng, count: int) -> Any:
    """Yield hands of eleven with a pile and a turn."""
    for i in range(count):
        eleven = some_hand(rng, i, 11)
        pile = random_cards(rng, int(rng.integers(0, 20)), DECK & ~eleven)
        yield eleven, pile, int(rng.integers(0, 14))


@pytest.mark.parametrize("turns_on", [{}, {"mass": 1.5, "few": 2, "gin": 0.3}])
def test_improver_throws_what_costs_its_future_least(turns_on: dict[str, float]) -> None:
    one = AGENTS["improver"].with_params({"caution": 0, **turns_on})
    player = Player(one, "improver")
    for eleven, pile, turn in improver_views(np.random.default_rng(7), scaled(60, 4)):
        least, discards = best_discards(eleven)
        thrown = int(player.ask("discard", make_view(eleven, pile=pile, own_turn=turn)))
        if least == 0:
            assert discards >> thrown & 1
            continue
        unseen = DECK & ~eleven & ~pile
        cost = {
            card: hand_cost(eleven ^ 1 << card, unseen, one.params, turn)
            for card in cards_of(eleven)
            if deadwood(eleven ^ 1 << card) <= least + SPARED
        }
        assert cost[thrown] == pytest.approx(min(cost.values()))


def test_improver_takes_a_meld_that_makes_gin_or_costs_less() -> None:
    one = AGENTS["improver"]
    player, taken = Player(one, "improver"), Counter[bool]()
    for eleven, pile, turn in improver_views(np.random.default_rng(8), scaled(120, 6)):
        melding = [c for c in cards_of(eleven) if in_a_meld(eleven ^ 1 << c, c)]
        upcard = (melding or cards_of(eleven))[0]
        ten = eleven ^ 1 << upcard
        view = make_view(ten, upcard=upcard, pile=mask_of([upcard, *cards_of(pile)]))
        view["own_turn"] = turn
        unseen = DECK & ~eleven & ~pile
        after = {c: deadwood(eleven ^ 1 << c) for c in cards_of(ten)}
        costs = [
            hand_cost(eleven ^ 1 << c, unseen, one.params, turn)
            for c in cards_of(ten)
            if after[c] <= min(after.values()) + SPARED
        ]
        now = hand_cost(ten, unseen, one.params, turn) - one.params["margin"]
        # Equal costs are rounded one way or the other.
        expected = bool(melding) and (min(after.values()) == 0 or min(costs) < now)
        if abs(min(costs) - now) > 1e-9:
            assert bool(player.ask("draw", view)) == expected
            taken[expected] += 1
    assert len(taken) == 2 or JIT_DISABLED


@pytest.mark.skipif(JIT_DISABLED, reason="takes a million decisions")
@pytest.mark.parametrize(
    ("name", "opponent", "least"),
    [
        ("medium", "simple", 0.53),
        ("hard", "simple", 0.70),
        ("hard", "early_gin", 0.54),
        ("improver", "simple", 0.75),
        ("improver", "early_gin", 0.65),
        ("simple", "easy", 0.80),
    ],
)
def test_the_ladder_goes_up(name: str, opponent: str, least: float) -> None:
    from gin_sim import play_tournament

    games = play_tournament([name, opponent], games=6000, seed=31, rules="eaai")
    share = {row["agent"]: row["game_share"] for row in games.as_dict()["ranking"]}
    assert share[name] > least - 0.012
