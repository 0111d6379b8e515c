"""Tuning: steps, a search that climbs, and a result that comes out again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.tune import (
    FAR,
    FARTHER,
    PARTS,
    Study,
    build_parser,
    check,
    choose,
    on_the_way,
    rounded,
    scales,
    search,
)
from gin_sim import load_agent
from gin_sim.cli.common import guarded
from gin_sim.workers import Workers
from tests.helpers import scaled


def study(generations: int, deals: int) -> Study:
    """Return one that has something to find: knocks in the first turns only, how many?"""
    agent = load_agent("early_gin:turns=0.5")
    return Study(agent, (load_agent("simple"),), "eaai", deals, generations, 4)


def test_steps_are_shares_of_what_parameters_begin_with() -> None:
    steps = scales({"a": 2.0, "a_late": 0.0, "b": -1.0, "c": 0.0})
    assert steps == pytest.approx([0.6, 0.6, 0.3, 0.15])


def test_numbers_are_committed_with_three_digits() -> None:
    assert rounded(np.array([0.123456, -12.3456, 0.0])).tolist() == [0.123, -12.3, 0.0]


def test_the_same_seed_finds_the_same_whatever_the_workers() -> None:
    one, two = (
        search(study(2, scaled(100, 2)), Workers.choose(jobs, "threads")) for jobs in (1, 2)
    )
    assert one[0].tolist() == two[0].tolist()
    pd.testing.assert_frame_equal(one[1], two[1])
    assert list(one[1]["generation"]) == [0, 1]


def test_no_generation_is_begun_when_time_is_up() -> None:
    values, generations = search(study(5, 1), Workers.choose(1, "threads"), minutes=0)
    assert values.tolist() == [0.5]
    assert len(generations) == 0


def test_parts_of_the_way_are_checked_on_deals_of_their_own() -> None:
    asked = study(1, scaled(100, 1))
    found = np.array([100.5])
    assert [on_the_way(asked, found, part).tolist() for part in (0, 0.5, 1)] == [
        [0.5],
        [50.5],
        [100.0],  # three digits: as they are committed
    ]
    workers = Workers.choose(1, "threads")
    checked, others = (check(asked, found, (0, 1), first, workers) for first in (FAR, FARTHER))
    assert list(checked["part"]) == [0, 1]
    began, tuned = checked["points_per_hand"]
    if scaled(100) == 100:
        assert tuned < began - 1  # to knock whenever one may is worse
    assert (checked["ci_low"] <= checked["points_per_hand"]).all()
    assert list(checked["points_per_hand"]) != list(others["points_per_hand"])


def test_the_part_is_chosen_that_beats_all_and_loses_to_none() -> None:
    points = {0.0: (4.0, 0.0), 0.5: (5.0, -0.2), 1.0: (5.5, -1.0)}
    rows = [
        {"opponent": opponent, "part": part, "points_per_hand": value}
        for part, values in points.items()
        for opponent, value in zip(("weak", "itself"), values, strict=True)
    ]
    assert choose(pd.DataFrame(rows)) == 0.5
    rows[3]["points_per_hand"] = -0.8  # what it wins of the weak it loses twice
    assert choose(pd.DataFrame(rows)) == 0.0


def test_the_command_writes_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = ["--agent", "early_gin", "--pool", "simple", "--generations", "1", "--deals", "2"]
    assert guarded(build_parser(), [*words, "--jobs", "1", "--out", str(out)]) == 0
    assert set(json.loads((out / "params.json").read_text())) == {"turns"}
    assert set(json.loads((out / "found.json").read_text())) == {"turns"}
    assert len(pd.read_csv(out / "generations.csv")) == 1
    assert len(pd.read_csv(out / "parts.csv")) == len(PARTS)
    assert set(pd.read_csv(out / "check.csv")["opponent"]) == {"simple"}
    assert "again:   python -m experiments.tune" in capsys.readouterr().out
    assert guarded(build_parser(), ["--agent", "simple", "--out", str(tmp_path / "no")]) == 2
    assert "must be compiled and have parameters" in capsys.readouterr().err


def test_the_committed_run_took_the_part_that_it_says() -> None:
    result = Path(__file__).resolve().parent.parent / "results" / "tune"
    params = json.loads((result / "params.json").read_text())
    parts = pd.read_csv(result / "parts.csv")
    begun = load_agent("learned").param_values
    found = np.array(list(json.loads((result / "found.json").read_text()).values()))
    tuned = begun + choose(parts) * (found - begun)
    assert list(params.values()) == pytest.approx(tuned.tolist(), rel=0.01, abs=0.01)
