"""Intervals hold the truth and tests err as often as they say; in full: benchmarks/coverage.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gin_sim.compare import Tally
from gin_sim.compiled import JIT_DISABLED
from tests.coverage_study import SCALES, Task, Walk, by_deal, count, population

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="a population takes long without compilation")

SIZE = {"hands": 10_000, "games": 1_000, "equals": 2_000, "tests": 10_000}
SEED = 3


def counted(
    study: str, units: int, tournaments: int, walk: Walk | None = None
) -> dict[str, np.ndarray]:
    """Return the shares that a study finds."""
    found = count(Task(study, units, 0, tournaments, SEED, SIZE[study], walk))[1]
    return {name: counts / tournaments for name, counts in found.items()}


def off(share: float, tournaments: int) -> float:
    """Return how far a share may be off by chance: 3.5 standard errors."""
    return 3.5 * math.sqrt(share * (1 - share) / tournaments)


@pytest.mark.parametrize("study", ["hands", "games"])
def test_all_units_drawn_once_are_what_was_played(study: str) -> None:
    played = population(study, SIZE[study], SEED)
    again = played.count(np.arange(played.plan.units))
    assert again.as_dict() == played.sums.as_dict()


def test_the_order_of_drawn_units_is_nothing_to_points_and_pairs() -> None:
    played = population("games", SIZE["games"], SEED)
    order = np.random.default_rng(1).permutation(played.plan.units)
    again = played.count(order)
    assert (again.pairings == played.sums.pairings).all()
    assert (again.agents == played.sums.agents).all()


def test_with_sides_exchanged_nobody_is_better() -> None:
    equal = population("equals", SIZE["equals"], SEED)
    for p, tally in enumerate(equal.sums.pairings):
        points, score = equal.sums.of("points", p), equal.sums.of("score", p)
        assert points.x == 0 and points.xx > 0
        assert 2 * score.x == score.h
        assert (tally["pairs"] == tally["pairs"][::-1]).all()
        endings = tally["endings"]
        assert (endings == endings[::-1][:, [0, 2, 1]][:, :, [0, 2, 1]]).all()
        assert tally["seats"][0].tolist() == [-tally["seats"][1, 0], tally["seats"][1, 1]]


def test_what_a_walk_looks_at_is_what_is_counted_of_a_run() -> None:
    played = population("hands", SIZE["hands"], SEED)
    pairs, points = by_deal(played)
    tally = Tally.of(played.sums)
    assert np.bincount(pairs, minlength=5).tolist() == tally.pairs
    assert (points.sum(), points @ points, 2 * points.size) == (
        tally.points.x,
        tally.points.xx,
        tally.points.h,
    )


@pytest.mark.parametrize(("study", "units", "tournaments"), [("hands", 200, 80), ("games", 60, 50)])
def test_intervals_hold_the_truth(study: str, units: int, tournaments: int) -> None:
    found = counted(study, units, tournaments)
    assert {"points a hand of a pairing", "share of hands", "rating in Elo"} <= found.keys()
    for kind, shares in found.items():
        assert (shares >= 0.95 - off(0.95, tournaments)).all(), (kind, shares)
        assert shares.mean() < 1, kind


def test_equal_agents_are_seldom_called_better() -> None:
    found = counted("equals", 200, 200)
    assert found["with Holm's correction"] <= 0.05 + off(0.05, 200)
    assert found["without"] > 0.1  # six comparisons, each at 5 %


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("holds", ["H0", "H1"])
def test_sequential_tests_err_as_seldom_as_they_say(scale: str, holds: str) -> None:
    found = counted("tests", 0, 80, Walk(scale, holds, 0.123, 16))
    assert found["none"] == 0
    assert found["wrong"] <= 0.05 + off(0.05, 80)
    assert found["covered"] >= 0.95 - off(0.95, 80)
    assert abs(found["above"] - 0.5) <= off(0.5, 80)


@pytest.mark.parametrize("cap", [100, 5_000])
def test_what_the_cap_stops_is_estimated_as_well(cap: int) -> None:
    found = counted("tests", 0, 80, Walk("points", "H0", 0.0217, 512, cap))
    assert found["deals"] <= cap
    assert found["covered"] >= 0.95 - off(0.95, 80)
    assert abs(found["above"] - 0.5) <= off(0.5, 80)
