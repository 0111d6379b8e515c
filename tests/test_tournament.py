"""Tournaments: the same bytes however they are run, and sums that add up."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gin_sim import GinSimError, Rules, play_sweep, play_tournament, price_hand
from gin_sim.compiled import JIT_DISABLED
from gin_sim.errors import AgentError, ResultsError, RulesError
from gin_sim.folder import RunFolder
from gin_sim.manifest import read_manifest
from gin_sim.plan import Plan, make_plan
from gin_sim.records import read_rows
from gin_sim.result import Result
from gin_sim.rules import PRESETS
from gin_sim.stats import t_quantile
from gin_sim.tournament import FIRST_UNITS, run_plan
from gin_sim.workers import Workers
from tests.helpers import scaled

HANDS = 8 if JIT_DISABLED else 6_000
GAMES = 2 if JIT_DISABLED else 200


PAIR = ["simple", "greedy"]


def play(
    plan: Plan,
    out: Path,
    jobs: int | None = None,
    backend: str | None = None,
    piece_units: int | None = None,
) -> Result:
    workers = Workers.choose(jobs, backend, compiled=plan.compiled)
    return run_plan(plan, workers, RunFolder.create(out, plan.manifest()), piece_units=piece_units)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("amount", [{"hands": HANDS}, {"games": GAMES}], ids=["hands", "games"])
def test_the_bytes_depend_on_neither_jobs_nor_backend_nor_pieces(
    tmp_path: Path, amount: dict[str, int]
) -> None:
    plan = make_plan(["simple", "greedy", "random"], seed=7, **amount)
    ways = [
        {"jobs": 1},
        {"jobs": 2},
        {"jobs": 8, "piece_units": 7},
        {"jobs": 1, "piece_units": plan.units},
        {"jobs": 3, "piece_units": 1 if JIT_DISABLED else 311},
        {"jobs": 2, "backend": "loky"},
    ]
    results = []
    for i, way in enumerate(ways):
        play(plan, tmp_path / str(i), **way)
        results.append(contents(tmp_path / str(i)))
    assert len(results[0]) >= 4
    for way, result in zip(ways[1:], results[1:], strict=True):
        assert result == results[0], way


def test_a_run_of_several_parts_has_each_deal_once_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gin_sim.records.PART_ROWS", 200)
    plan = make_plan(["simple", "greedy", "gin_only"], hands=HANDS, seed=3)
    result = play(plan, tmp_path / "run", jobs=2, piece_units=13)
    assert len(list((tmp_path / "run" / "hands").iterdir())) == -(-plan.units // plan.part_units)
    for _, rows in result.hands.groupby("pairing", observed=True):
        assert list(rows.deal) == sorted(2 * list(range(plan.units)))
        assert list(rows.mirror) == [0, 1] * plan.units


def test_another_seed_gives_other_hands() -> None:
    one, two = (play_tournament(["simple", "greedy"], hands=20, seed=s) for s in (1, 2))
    assert not one.hands.first_upcard.equals(two.hands.first_upcard)


def test_a_longer_run_begins_with_the_shorter_one() -> None:
    short, long = (
        play_tournament(["simple", "random"], hands=n, seed=5).hands for n in (HANDS // 2, HANDS)
    )
    pd.testing.assert_frame_equal(short, long.head(len(short)), check_categorical=False)


@pytest.mark.parametrize("name", ["greedy", "gin_only"])
def test_two_equal_deterministic_agents_come_out_at_exactly_zero(name: str) -> None:
    result = play_tournament([name, name], hands=HANDS, seed=11)
    per_deal = result.hands.groupby("deal").points_a.sum()
    assert (per_deal == 0).all()
    row = result.as_dict()["pairings"][0]
    assert (row["points_per_hand"], row["ci95"]) == (0.0, [0.0, 0.0])
    assert (row["a"], row["b"]) == (name, f"{name}#2")


@pytest.mark.parametrize("rules", ["standard", "casual", "openspiel", "big-gin", "classic"])
def test_the_summary_is_a_recount_of_the_rows(rules: str) -> None:
    agents = ["simple", "early_gin", "random"]
    result = play_tournament(agents, hands=HANDS, seed=2, rules=rules)
    document, hands = result.as_dict(), result.hands
    totals = dict.fromkeys(agents, 0)
    for row in document["pairings"]:
        mine = hands[hands.pairing == f"{row['a']} v {row['b']}"]
        assert row["hands"] == len(mine) == 2 * row["deals"]
        assert row["a_hand_wins"] == (mine.winner == "a").sum()
        assert row["b_hand_wins"] == (mine.winner == "b").sum()
        assert row["dead_hands"] == (mine.outcome == "dead").sum()
        assert row["undercuts"] == (mine.outcome == "undercut").sum()
        assert row["points_per_hand"] == pytest.approx(mine.points_a.mean())
        per_deal = mine.groupby("deal").points_a.mean()
        error = per_deal.std(ddof=1) / np.sqrt(len(per_deal))
        low, high = row["ci95"]
        assert (high - low) / 2 == pytest.approx(error * t_quantile(0.975, len(per_deal) - 1))
        totals[row["a"]] += mine.points_a.sum()
        totals[row["b"]] -= mine.points_a.sum()
    for row in document["ranking"]:
        assert row["points_per_hand"] == pytest.approx(totals[row["agent"]] / row["hands"])
    points = [row["points_per_hand"] for row in document["ranking"]]
    assert points == sorted(points, reverse=True)


@pytest.mark.parametrize("rules", list(PRESETS))
def test_points_are_the_price_of_the_facts(rules: str) -> None:
    preset = Rules.preset(rules)
    hands = play_tournament(["simple", "gin_only"], hands=HANDS, seed=4, rules=preset).hands
    for row in hands.head(500).itertuples():
        if row.outcome == "dead":
            assert row.points_a == 0
            assert pd.isna(row.winner)
            continue
        points = price_hand(row.outcome, row.knock_deadwood, row.defender_deadwood, preset)
        assert row.points_a == (points if row.winner == "a" else -points)
        undercut = row.outcome == "undercut"
        if pd.isna(row.winner):  # a tie that pays nothing
            assert (row.outcome, row.knock_deadwood) == ("knock", row.defender_deadwood)
        else:
            assert (row.winner == row.ender) == (not undercut)
        assert row.defender_deadwood <= row.defender_deadwood_before_layoff
        assert row.knock_deadwood <= row.knock_limit


def test_games_are_counted_apart_from_hands() -> None:
    result = play_tournament(["simple", "early_gin"], games=GAMES, seed=1, rules="eaai")
    row = result.as_dict()["pairings"][0]
    games, hands = result.games, result.hands
    assert row["games"] == len(games) == GAMES
    assert row["a_game_wins"] == (games.winner == "a").sum()
    assert row["b_game_wins"] + row["a_game_wins"] + row["undecided_games"] == GAMES
    counted = hands.groupby(["game", "mirror"]).agg(
        points=("points_a", "sum"), hands=("hand", "size"), last=("hand", "max")
    )
    for game in games.itertuples():
        mine = counted.loc[(game.game, game.mirror)]
        assert (mine.points, mine.hands, mine["last"]) == (
            game.points_a,
            game.hands,
            game.hands - 1,
        )
        # Without bonuses the margin is what the hands add up to.
        assert game.margin_a == game.points_a
    first = hands[hands.hand == 0]
    assert (first.dealer == np.where(first.mirror == 0, "b", "a")).all()
    assert (hands.deal == 1024 * hands.game + hands.hand).all()


def test_amounts_are_rounded_up_to_whole_mirrored_deals() -> None:
    assert len(play_tournament(["greedy", "random"], hands=3, seed=1).hands) == 4
    assert len(play_tournament(["greedy", "random"], games=1, seed=1).games) == 2


def test_one_deal_has_no_interval() -> None:
    row = play_tournament(["greedy", "random"], hands=2, seed=1).as_dict()["pairings"][0]
    assert row["ci95"] is None


def test_without_rows_the_summary_is_the_same(tmp_path: Path) -> None:
    plans = [
        make_plan(["simple", "random"], hands=HANDS, seed=9, keep_hands=k) for k in (True, False)
    ]
    kept, dropped = (play(plan, tmp_path / str(i)) for i, plan in enumerate(plans))
    assert kept.as_dict()["pairings"] == dropped.as_dict()["pairings"]
    assert not (tmp_path / "1" / "hands").exists()
    with pytest.raises(ResultsError, match="no rows of hands"):
        _ = dropped.hands


def test_the_manifest_tells_how_to_do_it_again(tmp_path: Path) -> None:
    rules = Rules.preset("casual").with_settings({"gin_bonus": "31"})
    result = play_tournament(
        ["early_gin:turns=2", "simple"], hands=10, seed=6, rules=rules, out=tmp_path / "run"
    )
    manifest = read_manifest(tmp_path / "run")
    assert Rules(**manifest["rules"]) == rules
    assert manifest["agents"][0]["params"] == {"turns": 2.0}
    assert len(manifest["agents"][0]["source_sha256"]) == 64
    assert manifest["seed"] == 6
    assert "--set gin_bonus=31" in manifest["command"]
    assert "early_gin:turns=2" in manifest["command"]
    pd.testing.assert_frame_equal(read_rows(tmp_path / "run"), result.hands)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["pairings"] == json.loads(json.dumps(result.as_dict()["pairings"]))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(ResultsError, match="is not empty"):
        play_tournament(["greedy", "random"], hands=2, out=tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "kept"


def test_what_cannot_be_is_refused_by_name() -> None:
    cases = [
        (lambda: make_plan(["simple"]), AgentError, "alone has no opponent"),
        (lambda: make_plan([]), AgentError, "two names or agents, or more"),
        (lambda: make_plan(["simple", "simpel"]), AgentError, "did you mean 'simple'"),
        (lambda: make_plan(["early_gin:turn=2", "simple"]), AgentError, "it has: turns"),
        (lambda: make_plan(["early_gin:turns=x", "simple"]), AgentError, "not param=number"),
        (lambda: make_plan(["early_gin:turns=nan", "simple"]), AgentError, "not a finite number"),
        (lambda: make_plan(PAIR, hands=0), GinSimError, "hands = 0: allowed is a whole number 1"),
        (lambda: make_plan(PAIR, games=-1), GinSimError, "games = -1"),
        (lambda: make_plan(PAIR, hands=2, games=2), GinSimError, "not both"),
        (lambda: make_plan(PAIR, seed=-1), GinSimError, "seed = -1: allowed is a whole number 0"),
        (lambda: make_plan(PAIR, seed=2**63), GinSimError, "allowed is a whole number 0"),
        (lambda: make_plan(PAIR, rules="poozy"), RulesError, "did you mean 'poozee'"),
        (lambda: Workers.choose(backend="slurm"), GinSimError, "threads, loky, dask or ray"),
        (lambda: Workers.choose(jobs=0), GinSimError, "jobs = 0"),
    ]
    for attempt, kind, message in cases:
        with pytest.raises(kind, match=message):
            attempt()


def test_the_table_has_the_same_columns_for_hands_and_games() -> None:
    hands, games = (
        play_tournament(["greedy", "random"], seed=1, jobs=1, **amount).summary
        for amount in ({"hands": 80}, {"games": 2})
    )
    assert list(hands.columns) == list(games.columns)
    assert 0 <= hands.hand_share_low[0] <= hands.hand_share[0] <= hands.hand_share_high[0] <= 1
    assert games.game_share[0] == 1 - games.b_game_wins[0] / 2


@pytest.mark.parametrize("values", [[[1], [2]], [10**400, 1], [1, 1], [1], "12", None, [1, "2"]])
def test_values_of_a_sweep_that_cannot_be(values: Any) -> None:
    with pytest.raises((GinSimError, AgentError), match=r"values = |finite number"):
        play_sweep("simple", "knock_most", values, ["greedy"], hands=2)


def test_pieces_begin_small_and_grow() -> None:
    """An agent may take seconds for a hand: a stop soon after the start loses little."""
    plan = make_plan(["random", "simple"], hands=scaled(40_000, 60), seed=1, keep_hands=False)
    reported: list[int] = []
    run_plan(plan, Workers(1, "threads"), report=lambda done, *_: reported.append(done))
    both = 2 * len(plan.pairings)
    assert reported[0] == both * FIRST_UNITS
    sizes = np.diff([0, *reported])
    assert sizes.sum() == both * plan.units
    if not JIT_DISABLED:
        assert sizes.max() > 100 * sizes[0]
        assert len(sizes) < 100
