"""The study of the ladder: what is read off its hands, and its files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from experiments.ladder import QUICK, RULES, SLOW, build_parser, ways
from gin_sim import play_tournament
from gin_sim.cli.common import guarded
from tests.helpers import AGENTS


def test_it_asks_all_agents_that_there_are() -> None:
    assert sorted((*QUICK, *SLOW)) == sorted(AGENTS)


def test_ways_are_counted_for_both_sides_of_a_pairing() -> None:
    rows = [
        ("x v y", "a", "a", "knock", 20, 5),
        ("x v y", "b", "a", "undercut", 10, 9),
        ("x v y", "b", "b", "gin", 12, 0),
        ("y v z", "a", "a", "knock", 30, 7),
        ("y v z", None, None, "dead", 2, None),
    ]
    columns = ["pairing", "ender", "winner", "outcome", "stock_left", "knock_deadwood"]
    hands = pd.DataFrame(rows, columns=columns).assign(turns=9)
    found = {row["agent"]: row for row in ways(hands, rules="eaai")}
    assert list(found) == ["x", "y", "z"]
    x, y, z = found["x"], found["y"], found["z"]
    assert (x["hands"], y["hands"], z["hands"]) == (3, 5, 2)
    assert (x["won_by_knock"], x["won_by_undercut"]) == (1 / 3, 1 / 3)
    assert (y["won_by_gin"], y["lost_by_undercut"], y["dead"]) == (1 / 5, 1 / 5, 1 / 5)
    assert (y["knocks"], y["knocks_undercut"], y["knock_deadwood"]) == (2, 0.5, 8.0)
    assert y["knock_stock_50"] == 20
    assert z["knocks"] == 0


def test_ways_add_up_to_what_a_tournament_counts() -> None:
    found = play_tournament(["simple", "early_gin"], hands=400, seed=2, jobs=1)
    pairing = found.as_dict()["pairings"][0]
    one, two = ways(found.hands)
    for kind, total in (("won_by_knock", "knocks"), ("won_by_gin", "gins")):
        assert (one[kind] + two[kind]) * 400 == pytest.approx(pairing[total])
    assert one["won_by_undercut"] == two["lost_by_undercut"]
    won = sum(one[kind] for kind in ("won_by_knock", "won_by_gin", "won_by_undercut"))
    assert won * 400 == pytest.approx(pairing["a_hand_wins"])


def test_it_writes_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--games", "4", "--few-games", "2", "--quick", "simple", "greedy", "--slow", "medium"]
    out = tmp_path / "ladder"
    assert guarded(build_parser(), [*asked, "--out", str(out)]) == 0
    assert "again:   python -m experiments.ladder --games 4" in capsys.readouterr().out
    pairings = pd.read_csv(out / "pairings.csv")
    assert len(pairings) == len(RULES) * 2 * (1 + 3)
    assert len(pd.read_csv(out / "ratings.csv")) == len(RULES) * 2 * 3
    assert len(pd.read_csv(out / "ways.csv")) == len(RULES) * 3
    figures = {path.name for path in (out / "figures").iterdir()}
    kinds = ("ratings", "superiority")
    assert figures == {f"{preset}_{kind}.png" for preset in RULES for kind in kinds}
    # Again, with the tournaments kept: half of them are there already, and nothing changes.
    runs = tmp_path / "runs"
    kept = [*asked, "--runs", str(runs)]
    tables = [pairings]
    for again in ("first", "second"):
        assert guarded(build_parser(), [*kept, "--out", str(tmp_path / again)]) == 0
        tables.append(pd.read_csv(tmp_path / again / "pairings.csv"))
        assert len(list(runs.iterdir())) == 4 * len(RULES)
        shutil.rmtree(runs / "eaai-all-games")
    assert all(table.equals(pairings) for table in tables)
    of_games = pairings[pairings["of"] == "games"]
    assert set(of_games["games"]) == {2, 4}


def test_rules_can_be_chosen_and_wrong_ones_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--games", "2", "--few-games", "2", "--quick", "simple", "greedy", "--slow", "medium"]
    out = tmp_path / "one"
    assert guarded(build_parser(), [*asked, "--rules", "straight", "--out", str(out)]) == 0
    assert "--rules straight" in capsys.readouterr().out
    for name in ("pairings", "ratings", "ways"):
        assert set(pd.read_csv(out / f"{name}.csv")["rules"]) == {"straight"}
    assert guarded(build_parser(), [*asked, "--rules", "whist", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "whist" in said
    assert "eaai" in said
    assert len(said.strip().splitlines()) == 1
