"""Search: what it compares, when it stops, and that it is a function of what it sees."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from agents.tuned import WEIGHTS
from gin_sim import Rules, load_agent, shuffled_deck
from gin_sim.awkward import make_view
from gin_sim.cards import DECK, parse_card
from gin_sim.compiled import JIT_DISABLED
from gin_sim.lookahead import (
    MOST_ACTIONS,
    Effort,
    best_action,
    best_of,
    drop_losers,
    play_on,
    stake,
    value_of,
    worth,
)
from gin_sim.play import points_for
from gin_sim.playouts import (
    KNOCKING,
    act,
    new_rules,
    new_states,
    play_out,
    rules_of,
    set_view,
    set_world,
)
from gin_sim.view import KNOCK, OVER
from gin_sim.wide_features import throw_score
from gin_sim.win_probability import HANDS_BY_POINTS, TARGET, WINS, solve
from gin_sim.worlds import sample_world
from tests.helpers import ask, play_rows, scaled, table

SOON = {"worlds": 64, "sure": 100}


def test_the_table_is_the_chance_of_winning_by_simulation() -> None:
    rng = np.random.default_rng(5)
    points = rng.choice(
        np.arange(1, len(HANDS_BY_POINTS) + 1),
        (4000, 60),
        p=np.array(HANDS_BY_POINTS) / sum(HANDS_BY_POINTS),
    )
    mine = rng.random((4000, 60)) < 0.5
    for own, other in ((0, 0), (70, 20), (30, 95)):
        totals = own + np.cumsum(points * mine, 1), other + np.cumsum(points * ~mine, 1)
        first = [np.argmax(total >= TARGET, 1) for total in totals]
        reached = [total[:, -1] >= TARGET for total in totals]
        won = reached[0] & (~reached[1] | (first[0] < first[1]))
        assert WINS[own, other] == pytest.approx(won.mean(), abs=0.03)


def test_the_table_is_fair_and_grows_with_the_own_score() -> None:
    assert pytest.approx(1) == WINS + WINS.T
    assert (np.diff(WINS[:, :TARGET], axis=0) >= 0).all()
    assert solve((0, 1), 2)[0, 0] == 0.5


def test_what_a_hand_is_worth_is_read_off_the_scores_after_it() -> None:
    view = make_view("Ac 2c 3c 7d 8d 9d Th Jh Qh Kh", upcard="2h", score=40, opponent_score=10)
    assert worth(view, 30) == WINS[70, 10]
    assert worth(view, -30) == WINS[40, 40]
    assert worth(view, 90) == 1
    view["target"] = 200  # half way is half way
    assert worth(view, 0) == WINS[20, 5]


def effort(**fields: float) -> Effort:
    asked = Effort(
        worlds=400, seconds=0, sure=3, settle=100, between=16, bold=0, trust=0, haste=0, score=1
    )
    return asked._replace(**fields)  # type: ignore[arg-type]


def left_of(sums: Any, squares: Any, beliefs: Any, asked: Effort) -> list[bool]:
    in_play = np.ones(3, bool)
    n = drop_losers(sums, squares, beliefs, in_play, 3, 100, asked)
    assert n == in_play.sum()
    return list(in_play)


def test_actions_are_dropped_once_they_are_clearly_behind() -> None:
    sums = np.array([60.0, 50.0, 20.0])
    squares = np.full((3, 3), 2.0)
    nothing = np.zeros(3)
    assert left_of(sums, squares, nothing, effort()) == [True, False, False]
    squares[0, 1] = squares[1, 0] = 40.0  # so unsteady that it may be luck
    assert left_of(sums, squares, nothing, effort()) == [True, True, False]
    assert left_of(sums, squares, nothing, effort(sure=1)) == [True, False, False]
    # A belief that counts for a hundred worlds: with it, or against it.
    with_it, against = np.array([0.2, 0, 0]), np.array([-0.2, 0, 0])
    assert left_of(sums, squares, with_it, effort(trust=100)) == [True, False, False]
    assert left_of(sums, squares, against, effort(trust=100)) == [True, True, False]


def test_what_was_dropped_is_not_the_best_any_more() -> None:
    sums, beliefs = np.array([60.0, 90.0, 20.0]), np.zeros(3)
    assert best_of(sums, beliefs, np.array([True, True, True]), 3, 0) == 1
    assert best_of(sums, beliefs, np.array([True, False, True]), 3, 0) == 0


def test_a_belief_counts_for_so_many_worlds() -> None:
    sums, beliefs, both = np.array([60.0, 55.0]), np.array([0.0, 0.06]), np.array([True, True])
    assert [best_of(sums, beliefs, both, 2, trust) for trust in (0, 80, 90)] == [0, 0, 1]
    view = make_view("2c 3c 4c 8d 8h 8s Ah 9h Jc 6d Kh", drawn="Kh", stock_left=31)
    throws = np.array([parse_card("Kh"), parse_card("8s")])
    for sure_of in (0, 1):
        beliefs = np.array([0.0, 100.0 * sure_of])
        found = best_action(view, throws, beliefs, 2, effort(worlds=64, trust=1), WEIGHTS)
        assert found == throws[sure_of]


def test_haste_is_added_to_knocks_only_and_to_each_world() -> None:
    ten = "2c 3c 4c 8d 8h 8s Th Jh Qh 5d"
    asked = make_view(f"{ten} Kh", phase=KNOCK, candidate="Kh", drawn="Kh", stock_left=31)
    throws = make_view(f"{ten} Kh", drawn="Kh", stock_left=31)
    king = parse_card("Kh")
    for view, actions in ((asked, [0, 1]), (throws, [king, king + KNOCKING])):
        sums = np.zeros((2, MOST_ACTIONS))
        for row, haste in zip(sums, (0.0, 0.25), strict=True):
            asked_for = effort(worlds=32, sure=1e9, haste=haste)
            arguments = (np.array(actions), np.zeros(2), 2, asked_for, WEIGHTS)
            assert play_on(view, *arguments, row, np.ones(MOST_ACTIONS, bool)) == 32
        assert sums[1, 0] == sums[0, 0]
        assert sums[1, 1] == pytest.approx(sums[0, 1] + 32 * 0.25 * stake(view))


@pytest.mark.parametrize(
    ("known", "turn", "differs"),
    [
        ("Ac 2c 3c 4c Ad 2d 3d 4d 7s 2s", 13, False),  # 9 points: it could have knocked
        ("Ac 2c 3c 4c Ad 2d 3d 4d 7s 9s", 13, True),  # 16 points
        ("Ac 2c 3c 4c Ad 2d 3d 4d 7s 2s", 6, True),  # it has not been to move yet
    ],
)
def test_only_who_has_not_passed_a_knock_by_is_bold(known: str, turn: int, differs: bool) -> None:
    hand = "5h 6h 9h Tc Jc Kc 8d Qd 8s Ks Qh"
    view = make_view(hand, drawn="Qh", stock_left=24, own_turn=6, opponent_known=known, turn=turn)
    throws = np.array([parse_card("Kc"), parse_card("5h")])
    found = []
    for bold in (0.0, 1.0):
        asked, sums = effort(worlds=scaled(200, 40), sure=1e9, bold=bold), np.zeros(MOST_ACTIONS)
        play_on(view, throws, np.zeros(2), 2, asked, WEIGHTS, sums, np.ones(MOST_ACTIONS, bool))
        found.append(list(sums[:2]))
    assert (found[0] != found[1]) == differs


def test_every_world_is_another() -> None:
    view = make_view("2c 3c 4c 8d 8h 8s Ah 9h Jc 6d Kh", drawn="Kh", stock_left=31)
    throws = np.array([parse_card("Kh"), parse_card("Jc")])
    values = set()
    sums, before = np.zeros(MOST_ACTIONS), 0.0
    for worlds in range(1, scaled(30, 8)):
        asked = effort(worlds=worlds, sure=1e9)
        play_on(view, throws, np.zeros(2), 2, asked, WEIGHTS, sums, np.ones(MOST_ACTIONS, bool))
        values.add(round(float(sums[0]) - before, 9))  # what the last world added
        before = float(sums[0])
    assert len(values) > scaled(10, 3)


def test_points_are_worth_more_where_the_game_is_at_stake() -> None:
    even, near, far = (make_view("2c 3c 4c 8d 8h 8s Th Jh Qh 5d", upcard="Kc") for _ in "123")
    near["score"] = near["opponent_score"] = 80
    far["score"] = 90
    assert stake(even) == pytest.approx(1)
    assert stake(near) > 1.5
    assert stake(far) < 1


def test_a_play_out_ends_legally_whoever_is_to_act() -> None:
    for phase in ("upcard", "draw", "discard", "knock"):
        for dealer in (0, 1):
            ten = "2c 3c 4c 8d 8h 8s Ah 3s 5d 6d"
            view = {
                "upcard": make_view(ten, phase=0, upcard="Kc", stock_left=31),
                "draw": make_view(ten, upcard="Kc"),
                "discard": make_view(ten + " Kh", drawn="Kh"),
                "knock": make_view(ten + " Kh", phase=KNOCK, candidate="Kh", drawn="Kh"),
            }[phase]
            view["is_dealer"] = dealer
            if phase in ("discard", "knock"):
                view["stock_left"] = 52 - 11 - 10 - int(view["pile"]).bit_count()
            else:
                view["stock_left"] = 52 - 20 - int(view["pile"]).bit_count()
            for number in range(scaled(50, 5)):
                state, rules = new_states(1)[0], new_rules()[0]
                rules_of(view, rules)
                set_view(state, rules, view)
                set_world(state, DECK & ~int(view["seen"]), sample_world(view, number))
                act(state, rules, parse_card("Kh") if phase == "discard" else number % 2)
                if state["phase"] != OVER:
                    play_out(state, rules, WEIGHTS, number % 3 - 1)
                assert state["phase"] == OVER
                assert abs(points_for(state, 0)) == state["points"]


def test_a_throw_with_knocking_added_knocks() -> None:
    view = make_view("2c 3c 4c 8d 8h 8s Ah 3s As 4d Kh", drawn="Kh", stock_left=31)
    state, rules = new_states(1)[0], new_rules()[0]
    rules_of(view, rules)
    set_view(state, rules, view)
    set_world(state, DECK & ~int(view["seen"]), sample_world(view, 1))
    act(state, rules, parse_card("Kh") + KNOCKING)
    assert [state[name] for name in ("phase", "ender", "knock_deadwood")] == [OVER, 0, 9]


def test_search_plays_what_any_player_would() -> None:
    search = load_agent("search").with_params(SOON)
    # A king that fits nothing goes before a card of a meld.
    lone = make_view("2c 3c 4c 8d 8h 8s Ah 2h 3h 6d Kh", drawn="Kh", stock_left=31)
    assert ask(search, "discard", lone) == parse_card("Kh")
    # The card that makes gin is taken, one that is of no use is not.
    nine = "2c 3c 4c 8d 8h 8s Ah 2h 3h Ad"
    assert ask(search, "draw", make_view(nine, upcard="4h", stock_left=31))
    assert not ask(
        search, "draw", make_view("2c 3c 4c 8d 8h 8s Ah 2h 9s 7d", upcard="Kd", stock_left=31)
    )
    # One point and hardly a card left to draw: the play-outs say knock.
    low = make_view(
        "2c 3c 4c 8d 8h 8s Th Jh Qh Ad Kh",
        phase=KNOCK,
        candidate="Kh",
        drawn="Kh",
        turn=28,
        own_turn=14,
        stock_left=3,
    )
    assert ask(search.with_params({"trust": 0}), "knock", low)


def test_who_trusts_tuned_alone_plays_as_it_does() -> None:
    tuned = load_agent("tuned")
    trusting = {"trust": 1e9, "worlds": 1, "settle": 1, "between": 1}
    search = load_agent("search").with_params(trusting)
    compared = 0
    for deal in range(scaled(60, 3)):
        for asked in table(shuffled_deck(21, deal), key=deal).play(tuned, tuned):
            view = asked.view
            answer = ask(search, asked.name, view)
            if asked.name != "discard":
                assert answer == asked.answer
            elif view["deadwood"] > view["knock_limit"]:  # else a knock is a choice as well
                scores = [throw_score(view, one, WEIGHTS) for one in (answer, asked.answer)]
                assert scores[0] == scores[1]  # of suits that are alike either may go
            compared += 1
    assert compared > scaled(1200, 40)


def test_search_looks_at_the_score() -> None:
    search = load_agent("search").with_params(SOON)
    # Five points do it at 95 to 0: knock, though gin may be near.
    view = make_view(
        "2c 3c 4c 8d 8h 8s Th Jh Qh 5d Kh",
        phase=KNOCK,
        candidate="Kh",
        drawn="Kh",
        stock_left=31,
        score=95,
        opponent_score=0,
    )
    assert ask(search, "knock", view)


def test_points_count_as_they_are_where_the_score_does_not() -> None:
    far = make_view("2c 3c 4c 8d 8h 8s Th Jh Qh 5d", upcard="Kc", score=90, opponent_score=5)
    level = make_view("2c 3c 4c 8d 8h 8s Th Jh Qh 5d", upcard="Kc")
    assert value_of(far, 10, 1) == worth(far, 10) == 1
    for points in (-40, 0, 10, 25):
        assert value_of(far, points, 0) == value_of(level, points, 0)
    assert value_of(far, 20, 0) - 0.5 == pytest.approx(2 * (value_of(far, 10, 0) - 0.5))
    assert value_of(level, 25, 0) == pytest.approx(worth(level, 25), abs=0.02)


def test_a_number_of_worlds_makes_search_a_function() -> None:
    search = load_agent("search").with_params({"worlds": scaled(16, 1), "settle": 4, "between": 2})
    simple = load_agent("simple")
    one, two = (play_rows(search, simple, Rules(), 3, scaled(10, 1)) for _ in "12")
    assert (one == two).all()


@pytest.mark.skipif(JIT_DISABLED, reason="asks how long compiled code takes")
def test_milliseconds_end_a_search() -> None:
    search = load_agent("search").with_params({"milliseconds": 30, "sure": 1e9})
    view = make_view("2c 3c 4c 8d 8h 8s Ah 9h Jc 6d Kh", drawn="Kh", stock_left=31)
    ask(search, "discard", view)
    begun = time.perf_counter()
    ask(search, "discard", view)
    taken = time.perf_counter() - begun
    # It cannot have ended sooner, whatever else the machine does.
    assert taken >= 0.03
