"""Games: the compiled loop, the score sheet and the oracle agree under every game rule."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gin_sim import ScoreSheet
from gin_sim.chance import MAX_SEED
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.play import DONE, FULL, GAME_DTYPE, ROW_DTYPE, Desk, Order, new_desk, play_games
from gin_sim.policy import prepare
from gin_sim.rules import PRESETS, Rules
from gin_sim.scoring import MAX_GAME_HANDS, rules_record
from tests.oracle import game
from tests.oracle.players import answers, player
from tests.oracle.strategies import all_rules, many, random_rules

PAIRS = [
    ("simple", "greedy"),
    ("random", "early_gin"),
    ("digester", "digester"),
    ("gin_only", "simple"),
    ("magpie", "greedy"),
]


def as_dict(record: Any, dtype: Any) -> dict[str, int]:
    return {name: int(record[name]) for name in dtype.names}


def sheet_of(desk: Desk) -> list[dict[str, Any]]:
    """Return the columns on the sheet of the game played last."""
    sheet = desk.sheet[0]
    return [
        {
            "score": [int(n) for n in sheet["score"][c]],
            "boxes": [int(n) for n in sheet["boxes"][c]],
            "closed": bool(sheet["closed"][c]),
        }
        for c in range(int(sheet["n_columns"]))
    ]


def check_games(rules: Rules, order: Order, a: str, b: str) -> list[dict[str, int]]:
    """Hold mirrored games against the oracle's; return the results."""
    desk = new_desk(rules_record(rules))
    policies = prepare(player(a)), prepare(player(b))
    players = answers(player(a)), answers(player(b))
    games = records(2, GAME_DTYPE)
    rows = records(3 * MAX_GAME_HANDS, ROW_DTYPE)
    results = []
    for number in range(order.first, order.first + order.count):
        # One at a time, mirror by mirror, so that the sheet of each can be looked at.
        for mirror in (0, 1):
            one = order._replace(first=number, count=1, mirror=mirror)
            status, n_games, n_rows = play_games(desk, one, *policies, rows, games[mirror:])
            assert (status, n_games) == (DONE, 2 - mirror)
            if mirror == 0:
                first_hands = int(games[0]["hands"])
                seen = [as_dict(row, ROW_DTYPE) for row in rows[:first_hands]]
            else:
                seen = [as_dict(row, ROW_DTYPE) for row in rows[: int(n_rows)]]
            expected_rows, expected, sheet = game.game(rules, order.seed, number, mirror, *players)
            assert seen == expected_rows
            assert as_dict(games[mirror], GAME_DTYPE) == expected
            results.append(expected)
        # The desk's sheet is that of the last game played, which is the mirror 1 above.
        assert sheet_of(desk) == [
            {"score": c.score, "boxes": c.boxes, "closed": c.winner >= 0} for c in sheet.columns
        ]
    return results


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("preset", PRESETS)
def test_games_of_every_preset(preset: str, a: str, b: str) -> None:
    seed = random.Random(f"{preset} {a} {b}").randrange(MAX_SEED)
    number = 1 << 20
    if not JIT_DISABLED or (a, b) == PAIRS[0]:
        results = check_games(Rules.preset(preset), Order(seed, number, 1, 0, 0), a, b)
        assert all(result["winner"] >= 0 for result in results)


@settings(max_examples=many(25, 4), deadline=None)
@given(all_rules(), st.integers(0, MAX_SEED), st.sampled_from(PAIRS))
def test_games_under_any_rules(rules: Rules, seed: int, pair: tuple[str, str]) -> None:
    # Rules under which every hand dies make games of 1,024 hands; those have a test below.
    rules = _that_end(rules)
    check_games(rules, Order(seed, 0, 1, 0, 0), *pair)


def _that_end(rules: Rules) -> Rules:
    changes = rules.as_dict() | {
        "knock_limit": max(rules.knock_limit, 5),
        "turn_limit": max(rules.turn_limit, 60),
        "pile_draw_limit": max(rules.pile_draw_limit, 20),
        "thrown_back_limit": None,
        "gin_bonus": max(rules.gin_bonus, 10),
        "undercut_bonus": max(rules.undercut_bonus, 10),
        "oklahoma_ace": "one",
        "target": min(rules.target, 150),
    }
    return Rules(**changes)


@pytest.mark.parametrize("shutout", ["none", "bonus", "double"])
@pytest.mark.parametrize("line_bonus_when", ["end", "at_once"])
@pytest.mark.parametrize("hollywood", ["no", "next_open", "fixed"])
def test_bonuses(shutout: str, line_bonus_when: str, hollywood: str) -> None:
    rules = Rules(
        shutout=shutout,
        shutout_bonus=77,
        line_bonus_when=line_bonus_when,
        hollywood=hollywood != "no",
        hollywood_late_start="next_open" if hollywood == "no" else hollywood,
        oklahoma=True,
        oklahoma_ace="one",
        oklahoma_spades_double=True,
        double_boxes=True,
        target=60,
    )
    check_games(rules, Order(4, 0, many(3, 1), 0, 0), "simple", "random")


@pytest.mark.parametrize("next_dealer", ["alternate", "winner", "loser"])
@pytest.mark.parametrize("dead_hand", ["same_dealer", "alternate"])
def test_who_deals(next_dealer: str, dead_hand: str) -> None:
    rules = Rules(
        next_dealer=next_dealer,
        dead_hand=dead_hand,
        turn_limit=21,
        undercut_on_tie=False,
        may_throw_taken=True,
    )
    check_games(rules, Order(8, 5, many(3, 1), 0, 0), "simple", "greedy")


def test_a_game_that_nobody_wins_is_undecided() -> None:
    results = check_games(Rules(turn_limit=1), Order(0, 0, 1, 0, 0), "waiter", "waiter")
    assert all(result["hands"] == 1024 and result["winner"] == -1 for result in results)


def test_mirrored_games_come_one_after_the_other() -> None:
    rules = Rules()
    desk = new_desk(rules_record(rules))
    policies = prepare(player("simple")), prepare(player("greedy"))
    players = answers(player("simple")), answers(player("greedy"))
    count = many(6, 1)
    games = records(2 * count, GAME_DTYPE)
    rows = records(40 * count + MAX_GAME_HANDS, ROW_DTYPE)
    found = play_games(desk, Order(6, 3, count, 0, 0), *policies, rows, games)
    expected = [
        game.game(rules, 6, number, mirror, *players)
        for number in range(3, 3 + count)
        for mirror in (0, 1)
    ]
    all_rows = [row for some, _, _ in expected for row in some]
    assert found == (DONE, 2 * count, len(all_rows))
    assert [as_dict(row, ROW_DTYPE) for row in rows[: len(all_rows)]] == all_rows
    assert [as_dict(one, GAME_DTYPE) for one in games] == [one for _, one, _ in expected]

    # With too little room for all, the games that are done are whole.
    few = records(MAX_GAME_HANDS + 1, ROW_DTYPE)
    status, n_games, n_rows = play_games(desk, Order(6, 3, count, 0, 0), *policies, few, games)
    assert status == FULL
    assert n_rows == sum(int(one["hands"]) for one in games[:n_games])
    assert [as_dict(row, ROW_DTYPE) for row in few[:n_rows]] == all_rows[:n_rows]


def hands_won() -> st.SearchStrategy[list[tuple[int | None, int, bool]]]:
    """Return hands as they are entered: who won, how many points, whether doubled."""
    winner = st.sampled_from([0, 0, 0, 1, 1, None])
    # A hand can be won with nothing, where the rules give no bonus; it is a box all the same.
    points = st.sampled_from([0, 0, 1]) | st.integers(0, 60)
    return st.lists(st.tuples(winner, points, st.booleans()), max_size=40)


@settings(max_examples=many(400, 100), deadline=None)
@given(all_rules(), hands_won())
def test_score_sheets(rules: Rules, entries: list[tuple[int | None, int, bool]]) -> None:
    library, oracle = ScoreSheet(rules), game.Sheet(rules)
    for winner, points, doubled in entries:
        if oracle.over:
            break
        library.add(winner, points if winner is not None else 0, doubled)
        if winner is not None:
            oracle.enter(winner, points, 2 if doubled and rules.double_boxes else 1)
        assert library.over == oracle.over
        for shown, column in zip(library.columns, oracle.columns, strict=True):
            assert list(shown.score) == column.score
            assert list(shown.boxes) == column.boxes
            assert shown.winner == (None if column.winner < 0 else column.winner)
            assert shown.closed == (column.winner >= 0)
            assert shown.totals == (oracle.total(column, 0), oracle.total(column, 1))
        assert [column.margin for column in library.columns] == oracle.margins()
        assert library.margin == sum(oracle.margins())


@pytest.mark.parametrize("shutout", ["none", "bonus", "double"])
def test_who_has_won_a_hand_is_not_shut_out(shutout: str) -> None:
    rules = Rules(shutout=shutout, line_bonus=0)
    for first_winner in (0, 1):
        library, oracle = ScoreSheet(rules), game.Sheet(rules)
        for winner, points in ((first_winner, 0), (0, 120)):
            library.add(winner, points)
            oracle.enter(winner, points, 1)
        assert library.margin == sum(oracle.margins())
        alone = {"none": 220, "bonus": 320, "double": 440}[shutout]
        assert library.margin == (alone if first_winner == 0 else 220)


def test_random_rules_in_bulk() -> None:
    dice = random.Random(99)
    for _ in range(many(25, 3)):
        rules = _that_end(random_rules(dice))
        check_games(rules, Order(dice.randrange(MAX_SEED), 0, 1, 0, 0), *dice.choice(PAIRS))
