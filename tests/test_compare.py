"""Two agents compared until it is decided: the same for any jobs, unbiased, named."""

from __future__ import annotations

import json
import math
import os
import time
from typing import Any

import numpy as np
import pytest

from gin_sim import GinSimError, play_tournament
from gin_sim.cli import main
from gin_sim.compare import (
    BATCH_DEALS,
    Comparison,
    PointsTest,
    Tally,
    compare_plan,
    llr_of,
)
from gin_sim.compiled import JIT_DISABLED
from gin_sim.plan import make_plan
from gin_sim.sprt import Sprt, wald_bounds
from gin_sim.stats import RatioSums
from gin_sim.stopping import after_stopping
from gin_sim.workers import Workers
from tests.command import press_ctrl_c, refused, start
from tests.helpers import scaled

BOUNDS = wald_bounds(0.05, 0.05)


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["compare", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.skipif(JIT_DISABLED, reason="a batch of hands takes long without compilation")
@pytest.mark.parametrize(
    ("agents", "options", "decision"),
    [
        (("gin_only", "simple"), ("--points0", "0", "--points1", "1"), "H1"),
        (("simple", "gin_only"), ("--points0", "0", "--points1", "1"), "H0"),
        (("simple", "gin_only"), ("--elo0", "0", "--elo1", "10"), "H1"),
        (("simple", "gin_only"), ("--elo1", "10", "--model", "normalized"), "H1"),
        (("greedy", "greedy"), ("--max-hands", "3000"), "H0"),  # 0 on every deal
        (("simple", "greedy"), ("--max-hands", "1000", "--points1", "0.01"), "none"),
    ],
)
def test_a_decision_is_the_same_for_any_jobs(
    capsys: pytest.CaptureFixture[str],
    agents: tuple[str, str],
    options: tuple[str, ...],
    decision: str,
) -> None:
    ways = [["--jobs", "1"], ["--jobs", "2"]]
    if options[0] == "--points0":
        ways.append(["--jobs", "2", "--backend", "loky"])
    found = [run_json(capsys, *agents, *options, "--seed", "4", *way) for way in ways]
    assert all(one == found[0] for one in found)
    assert found[0]["decision"] == decision
    assert sum(found[0]["pairs"]) == found[0]["deals"] == found[0]["hands"] // 2
    played = play_tournament(agents, hands=found[0]["hands"], seed=4).as_dict()["pairings"][0]
    assert played["points_per_hand"] == found[0]["points_per_hand"]
    low, high = found[0]["ci95"]
    assert low <= found[0]["estimate"] <= high


@pytest.mark.skipif(JIT_DISABLED, reason="a batch of hands takes long without compilation")
def test_no_batch_after_the_decision_is_counted() -> None:
    plan = make_plan(["gin_only", "simple"], hands=400_000, seed=4)
    found = compare_plan(plan, PointsTest(3.2, 4.2), Workers(2))
    assert found.looks > 1
    assert found.tally.deals == found.looks * BATCH_DEALS
    for looks, deals in ((1, found.tally.deals), (0, found.tally.deals - BATCH_DEALS)):
        played = play_tournament(["gin_only", "simple"], hands=2 * deals, seed=4)
        llr = llr_of(found.test, Tally.of(played.sums))
        assert (abs(llr) >= found.test.bounds[1]) == bool(looks)


def tally_of(points: Any) -> Tally:
    """Return what is looked at of deals, from the points of their two hands."""
    sums = RatioSums()
    sums.add(points.sum(axis=1), np.full(len(points), 2))
    won = (1 + np.sign(points)).sum(axis=1)
    return Tally([int(n) for n in np.bincount(won, minlength=5)], sums)


def test_the_points_test_is_that_of_a_normal_mean() -> None:
    rng = np.random.default_rng(2)
    points = rng.integers(-60, 70, (200, 2))
    tally = tally_of(points)
    x = points.mean(axis=1)
    test = PointsTest(-1, 2)
    expected = x.size * 3 * (2 * x.mean() - 1) / (2 * x.var())
    assert llr_of(test, tally) == pytest.approx(expected, rel=1e-4)
    assert llr_of(test, Tally()) == 0
    assert sum(tally.pairs) == 200
    assert math.isfinite(llr_of(test, tally_of(np.zeros((40, 2), int))))


@pytest.mark.parametrize("truth", [-0.02, 0.04, 0.1])
def test_the_estimate_is_unbiased_by_the_stopping(truth: float) -> None:
    """In standard deviations: H0 0, H1 0.08; the plain mean is off, the reported one is not."""
    rng = np.random.default_rng(round(1000 * truth) + 100)
    low, high, batch, runs = 0.0, 0.08, 64, scaled(300, 60)
    above = covered = plain_above = 0
    for _ in range(runs):
        total, looks = 0.0, 0
        while True:
            total += rng.normal(truth * batch, math.sqrt(batch))
            looks += 1
            n = looks * batch
            shown = total / n
            llr = n * (high - low) * (2 * shown - low - high) / 2
            if not BOUNDS[0] < llr < BOUNDS[1]:
                break
        at, left, right = after_stopping(low, high, shown, looks, batch, BOUNDS)
        above += at > truth
        plain_above += shown > truth
        covered += left <= truth <= right
    sd = math.sqrt(0.25 / runs)
    assert abs(above / runs - 0.5) < 3.5 * sd
    assert covered / runs > 0.95 - 3.5 * math.sqrt(0.05 * 0.95 / runs)
    if (
        truth != 0.04 and not JIT_DISABLED
    ):  # with more than a few runs; far from the middle the plain mean is biased outwards
        assert abs(plain_above / runs - 0.5) > abs(above / runs - 0.5)


def test_without_a_bound_the_estimate_is_nearly_the_mean() -> None:
    at, left, right = after_stopping(0.0, 1e-4, 0.03, 10, 100, BOUNDS)
    assert at == pytest.approx(0.03, abs=1e-4)
    half = 1.96 / math.sqrt(1000)
    assert (left, right) == (
        pytest.approx(0.03 - half, abs=1e-3),
        pytest.approx(0.03 + half, abs=1e-3),
    )


@pytest.mark.parametrize(("shown", "looks"), [(0.05, 12), (0.02, 30), (-0.04, 9), (0.03, 120)])
def test_sides_exchanged_turn_the_estimate_over(shown: float, looks: int) -> None:
    found = after_stopping(0.0, 0.03, shown, looks, 500, BOUNDS)
    other = after_stopping(-0.03, 0.0, -shown, looks, 500, BOUNDS)
    assert found == pytest.approx([-other[0], -other[2], -other[1]], abs=1e-6)


def test_a_short_last_batch_counts_for_what_it_is() -> None:
    rng = np.random.default_rng(5)
    points = rng.integers(-60, 70, (100, 2))
    plan = make_plan(["simple", "greedy"], hands=200, seed=1)
    found = Comparison(plan, PointsTest(0.0, 0.01), tally_of(points), "none", 1).estimate()
    x = points.mean(axis=1)
    half = 1.96 * x.std() / 10
    assert found == pytest.approx([x.mean(), x.mean() - half, x.mean() + half], abs=0.01)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simple"], "the following arguments are required: AGENT"),
        (["simple", "nobody"], "no agent 'nobody'"),
        (["simple", "greedy", "--elo0", "1", "--points0", "1"], "not both"),
        (["simple", "greedy", "--points0", "1"], "points0 = 1, points1 = 0.5: the first is"),
        (["simple", "greedy", "--points1", "900"], "allowed is a number -200..200"),
        (["simple", "greedy", "--max-hands", "1"], "'1': allowed is a whole number 2.."),
        (["simple", "greedy", "--beta", "0.9"], "beta = 0.9: allowed is"),
        (["simple", "greedy", "--jobs", "0"], "jobs = 0"),
    ],
)
def test_mistakes_get_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert message in refused(capsys, "compare", *words)


def test_only_two_agents_over_hands_are_compared() -> None:
    for plan in (
        make_plan(["simple", "greedy", "random"], hands=2, seed=1),
        make_plan(["simple", "greedy"], games=2, seed=1),
    ):
        with pytest.raises(GinSimError, match="of two agents, over hands"):
            compare_plan(plan, Sprt())


@pytest.mark.skipif(os.name == "nt" or JIT_DISABLED, reason="compiled, with Unix's signals")
def test_a_test_stopped_by_hand_is_no_decision() -> None:
    running = start(
        *("compare", "simple", "simple", "--seed", "1"),
        *("--points0", "-0.0005", "--points1", "0.0005", "--max-hands", "9e15"),
    )
    assert running.stderr is not None
    assert "at most" in running.stderr.readline()
    time.sleep(5)
    said = "\n".join(press_ctrl_c(running))
    if "LLR" in said:
        assert "stopped by hand: no decision" in said
    assert "accepted" not in said


@pytest.mark.parametrize("model", ["logistic", "normalized"])
def test_a_scale_of_elo_does_not_go_with_points(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    line = refused(capsys, "compare", "simple", "greedy", "--model", model, "--points1", "1")
    assert f"--model {model} is a scale of Elo" in line
