"""What holds after every action of every hand, under all rules."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gin_sim import state as machine
from gin_sim.chance import MAX_SEED
from gin_sim.compiled import records
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.play import DONE, ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.rules import PRESETS, Rules
from gin_sim.scoring import OUTCOMES, rules_record
from gin_sim.view import DISCARD, DRAW, KNOCK, LAST, OVER, UPCARD
from tests.oracle.bridge import dealt, move
from tests.oracle.melds import cards_in
from tests.oracle.players import player
from tests.oracle.strategies import many, random_rules

Places = dict[str, frozenset[int]]


def places(state: Any) -> Places:
    """Return where the cards are."""
    start = int(state["place"])
    stock = [int(card) for card in state["deck"][start:]]
    assert len(stock) == len(set(stock))
    return {
        "non-dealer": cards_in(int(state["hands"][0])),
        "dealer": cards_in(int(state["hands"][1])),
        "pile": cards_in(int(state["pile"])),
        "stock": frozenset(stock),
    }


def check_places(state: Any) -> None:
    """Check that each card is in one place, and that the hands are full."""
    now = places(state)
    assert sum(len(cards) for cards in now.values()) == 52
    assert frozenset().union(*now.values()) == frozenset(range(52))
    sizes = [len(now["non-dealer"]), len(now["dealer"])]
    seat, phase = int(state["seat"]), int(state["phase"])
    full = [10, 10]
    if phase in (DISCARD, KNOCK):
        full[seat] = 11
    if phase == OVER and OUTCOMES[int(state["outcome"])] == "big_gin":
        full[int(state["ender"])] = 11
    assert sizes == full
    upcard = int(state["upcard"])
    assert upcard in now["pile"] or (upcard == -1 and full != [10, 10])
    for holder in (0, 1):
        known = cards_in(int(state["known"][holder]))
        assert known <= now[("non-dealer", "dealer")[holder]]
    assert bool(machine.check_cards(state))


def check_move(before: Places, after: Places, phase: int, turned_over: bool) -> None:
    """Check that nothing but what the decision was about has moved."""
    names = ("non-dealer", "dealer", "pile", "stock")
    gone = {name: before[name] - after[name] for name in names}
    n_gone = sorted(len(cards) for cards in gone.values())
    if turned_over:
        assert len(after["pile"]) == 1
        assert len(after["stock"]) == 31
    elif phase in (UPCARD, DRAW, LAST):
        # One card goes from the pile or the stock into a hand, or nothing moves: a pass.
        assert n_gone in ([0, 0, 0, 1], [0, 0, 0, 0])
        assert not gone["non-dealer"]
        assert not gone["dealer"]
    else:
        # One card goes from a hand onto the pile, or stays there: the knock is asked.
        assert n_gone in ([0, 0, 0, 1], [0, 0, 0, 0])
        assert not gone["pile"]
        assert not gone["stock"]
        assert after["pile"] - before["pile"] == gone["non-dealer"] | gone["dealer"]


def choose(state: Any, dice: random.Random, manner: str) -> Any:
    """Return a legal answer: at random, or as one bent on a long hand."""
    phase = int(state["phase"])
    if phase == DISCARD:
        legal = int(state["legal_discards"])
        best = int(state["best_discards"])
        assert best
        assert best & ~legal == 0
        cards = legal if manner == "random" and dice.random() < 0.3 else best
        return dice.choice(sorted(cards_in(cards)))
    if manner == "long":
        return phase == LAST or dice.random() < 0.2
    return dice.random() < 0.5


def walk(rules: Rules, seed: int, dice: random.Random) -> Any:
    """Play a hand by chance, checking everything after each action; return its end."""
    hand = dealt(rules, seed, 0)
    state = hand.state
    check_places(state)
    manner = dice.choice(["random", "long"])
    while int(state["phase"]) != OVER:
        phase, turn = int(state["phase"]), int(state["turn"])
        before, turned_over = places(state), int(state["reshuffles"])
        answer = choose(state, dice, manner)
        move(hand, answer)
        check_places(state)
        check_move(before, places(state), phase, int(state["reshuffles"]) > turned_over)
        assert int(state["turn"]) - turn in (0, 1)
        assert int(state["turn"]) == sum(int(n) for n in state["own_turns"])
        assert int(state["turn"]) <= rules.turn_limit
    return state


def check_end(state: Any, rules: Rules) -> None:
    """Check what the facts of a finished hand have to do with each other."""
    outcome = OUTCOMES[int(state["outcome"])]
    ender, winner, points = (int(state[name]) for name in ("ender", "winner", "points"))
    knock, before, after = (
        int(state[name]) for name in ("knock_deadwood", "defender_before", "defender_after")
    )
    assert points >= 0
    if outcome == "dead":
        assert (ender, winner, points, knock, before, after) == (-1, -1, 0, -1, -1, -1)
        return
    assert ender in (0, 1)
    assert 0 <= after <= before
    assert 0 <= knock <= int(state["limit"])
    chance = int(state["first_chance"][ender])
    assert chance >= int(machine.stock_left(state)) or int(state["reshuffles"]) > 0
    assert chance >= 0
    if outcome in ("gin", "big_gin"):
        assert (knock, winner, after) == (0, ender, before)
        assert outcome == "gin" or rules.big_gin_bonus is not None
    elif outcome == "undercut":
        assert winner == 1 - ender
        assert 0 < knock >= after
    else:
        assert outcome == "knock"
        assert winner == (ender if after > knock else -1)
        assert 0 < knock <= after


@pytest.mark.parametrize("preset", PRESETS)
def test_every_card_is_in_one_place_under_every_preset(preset: str) -> None:
    dice = random.Random(f"cards {preset}")
    rules = Rules.preset(preset)
    for _ in range(many(40, 6)):
        check_end(walk(rules, dice.randrange(MAX_SEED), dice), rules)


def test_every_card_is_in_one_place_under_random_rules() -> None:
    dice = random.Random("cards")
    ends: dict[str, int] = {}
    for _ in range(many(700, 100)):
        rules = random_rules(dice)
        state = walk(rules, dice.randrange(MAX_SEED), dice)
        check_end(state, rules)
        outcome = OUTCOMES[int(state["outcome"])]
        ends[outcome] = ends.get(outcome, 0) + 1
    assert {"dead", "knock", "undercut", "gin"} <= ends.keys()


def test_every_card_is_in_one_place_when_the_pile_is_turned_over() -> None:
    dice = random.Random("pile")
    rules = Rules(wall="reshuffle", knock_limit=0, pile_draw_limit=100)
    reshuffles = [
        int(walk(rules, dice.randrange(MAX_SEED), dice)["reshuffles"]) for _ in range(many(40, 8))
    ]
    assert max(reshuffles) >= 2


def test_the_check_of_cards_sees_a_card_in_two_places() -> None:
    state = dealt(Rules(), 1, 0).state
    assert machine.check_cards(state)
    for name in ("hands", "pile"):
        kept = state[name].copy() if name == "hands" else int(state[name])
        stock_card = int(state["deck"][40])
        if name == "hands":
            state["hands"][0] = int(state["hands"][0]) | 1 << stock_card
        else:
            state["pile"] = int(state["pile"]) | 1 << stock_card
        assert not machine.check_cards(state)
        state[name] = kept
    assert machine.check_cards(state)


def rows_of(rules: Rules, order: Order, a: str, b: str) -> Any:
    rows = records(2 * order.count - order.mirror, ROW_DTYPE)
    policies = prepare(player(a)), prepare(player(b))
    found = play_hands(new_desk(rules_record(rules)), order, *policies, rows)
    assert tuple(found) == (DONE, rows.size)
    return np.asarray(rows)


@pytest.mark.parametrize("preset", PRESETS)
def test_an_agent_breaks_even_with_itself_in_every_mirrored_deal(preset: str) -> None:
    # `greedy` never looks at its random word, so the seat is all that counts.
    rows = rows_of(Rules.preset(preset), Order(17, 0, many(2000, 10), 0, 0), "greedy", "greedy")
    first, second = rows[0::2], rows[1::2]
    assert (first["points_a"] == -second["points_a"]).all()
    assert (first["dealt_deadwood_a"] == second["dealt_deadwood_b"]).all()
    assert (first["first_chance_a"] == second["first_chance_b"]).all()
    for name in ("deal", "turns", "outcome", "stock_left", "first_upcard", "knock_deadwood"):
        assert (first[name] == second[name]).all(), name


def test_a_hand_does_not_depend_on_what_is_played_with_it() -> None:
    for preset in ("standard", "openspiel"):
        rules = Rules.preset(preset)
        count = many(200, 6)
        whole = rows_of(rules, Order(3, 10, count, 0, 0), "random", "simple")
        half = count // 2
        parts = [
            rows_of(rules, Order(3, 10, half, 0, 0), "random", "simple"),
            rows_of(rules, Order(3, 10 + half, count - half, 0, 0), "random", "simple"),
        ]
        assert (whole == np.concatenate(parts)).all()
        # Taken up again at the second hand of a deal.
        rest = rows_of(rules, Order(3, 10, count, 1, 0), "random", "simple")
        assert (whole[1:] == rest).all()
        # Who sits where is all that differs when the names are exchanged.
        turned = rows_of(rules, Order(3, 10, count, 0, 0), "simple", "random")
        assert (whole["points_a"][0::2] == -turned["points_a"][1::2]).all()
        assert (whole["turns"][1::2] == turned["turns"][0::2]).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_copy_of_a_hand_is_a_fork(preset: str) -> None:
    """What is done to it does not touch the original, and it goes on as that would."""
    rules = Rules.preset(preset)
    dice = random.Random(preset)
    for seed in range(many(8, 3)):
        hand = dealt(rules, seed, 5)
        state = hand.state
        while int(state["phase"]) != OVER:
            fork = hand.fork()
            before = places(state)
            answer = choose(fork.state, dice, "random")
            move(fork, answer)
            assert places(state) == before
            move(hand, answer)
            for name in STATE_DTYPE.names or ():
                if name != "views":  # records with padding between their fields
                    assert np.array_equal(fork.state[name], state[name]), name
