"""How often what is stated holds, in tournaments and tests drawn from known populations.

Each study is a function of a :class:`Task` alone, so that tasks can be done anywhere and in
any order; the seed of each tournament is its number.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim.compare import Comparison, PointsTest, Tally, follow
from gin_sim.plan import make_plan
from gin_sim.sprt import MODELS, Sprt
from gin_sim.standings import superiority
from gin_sim.stats import RatioSums
from tests.population import CREW, TWINS, Population

STUDIES = ("hands", "games", "equals", "tests")
SCALES = ("points", *MODELS)


@dataclass(frozen=True)
class Walk:
    """A sequential test of the first pairing.

    Attributes
    ----------
    scale : str
        ``points``, or a model of :class:`gin_sim.sprt.Sprt`.
    holds : str
        Which hypothesis is the truth.
    apart : float
        The hypotheses' distance in standard deviations of a deal.
    batch : int
        Deals between two looks.
    cap : int
        Deals at which it stops in any case; 0 for none.
    """

    scale: str
    holds: str
    apart: float
    batch: int
    cap: int = 0

    @property
    def key(self) -> list[int]:
        """The same as whole numbers."""
        scale, apart = SCALES.index(self.scale), round(1e6 * self.apart)
        return [scale, int(self.holds == "H1"), apart, self.batch, self.cap]


@dataclass(frozen=True)
class Task:
    """Some tournaments of a study.

    Attributes
    ----------
    study : str
        One of `STUDIES`.
    units : int
        Deals (pairs of games) of each tournament; 0 for sequential tests.
    first, count : int
        Which tournaments.
    seed : int
    size : int
        Of the population.
    walk : Walk or None
        The sequential test, where it is one.
    """

    study: str
    units: int
    first: int
    count: int
    seed: int
    size: int
    walk: Walk | None = None

    def generators(self) -> Iterator[np.random.Generator]:
        """Yield chance for each of its tournaments."""
        key = [self.seed, STUDIES.index(self.study), self.units]
        if self.walk is not None:
            key += self.walk.key
        for number in range(self.first, self.first + self.count):
            yield np.random.default_rng([*key, number])


Counts = dict[str, NDArray[np.int64]]


@cache
def population(study: str, size: int, seed: int) -> Population:
    """Return the population of a study, played once in each process."""
    if study == "equals":
        return Population.play(TWINS, size, seed, False).with_sides_exchanged()
    return Population.play(CREW, size, seed, study == "games")


@cache
def truth(study: str, size: int, seed: int) -> dict[str, list[float]]:
    """Return what is true of it."""
    return population(study, size, seed).truth()


def count(task: Task) -> tuple[Task, Counts]:
    """Do a task; return it and what it counted."""
    how = {"hands": covered, "games": covered, "equals": called_better, "tests": walked}
    return task, how[task.study](task)


def covered(task: Task) -> Counts:
    """Count how often each interval holds the truth, by kind, for each pairing or agent."""
    here = (task.study, task.size, task.seed)
    drawn_from, true = population(*here), truth(*here)
    out = {kind: np.zeros(len(values), np.int64) for kind, values in true.items()}
    for rng in task.generators():
        sums = drawn_from.draw(task.units, rng)
        for kind, some in drawn_from.stated(sums, int(rng.integers(1 << 32))).items():
            out[kind] += [
                low <= value <= high for (_, low, high), value in zip(some, true[kind], strict=True)
            ]
    return out


def called_better(task: Task) -> Counts:
    """Count in how many tournaments of equal agents any is called better than another."""
    equal = population(task.study, task.size, task.seed)
    out = np.zeros(2, np.int64)
    for rng in task.generators():
        found = superiority(equal.plan.labels, equal.draw(task.units, rng))["pairings"]
        plain = min(row["log10_p"] for row in found) <= math.log10(0.05)
        out += [any(row["significant"] for row in found), plain]
    return {"with Holm's correction": out[:1], "without": out[1:]}


def walked(task: Task) -> Counts:
    """Count what sequential tests decide, how long they take and what they estimate."""
    assert task.walk is not None
    walk = task.walk
    pairs, points = by_deal(population("hands", task.size, task.seed))
    test, true = test_of(walk, pairs, points)
    plan = make_plan(CREW[:2], hands=2, seed=0)
    wrong = "H1" if walk.holds == "H0" else "H0"
    out = {name: np.zeros(1, np.int64) for name in ("wrong", "none", "deals", "above", "covered")}
    for rng in task.generators():
        found = Comparison(plan, test, Tally(), "none", 0)
        for found in follow(plan, test, tallies(walk, pairs, points, rng)):  # noqa: B007
            pass
        shown = found.estimate()
        assert shown is not None
        out["wrong"] += found.decision == wrong
        out["none"] += found.decision == "none"
        out["deals"] += found.tally.deals
        out["above"] += shown[0] > true
        out["covered"] += shown[1] <= true <= shown[2]
    return out


def by_deal(played: Population) -> tuple[Any, Any]:
    """Return for each deal a's score in half wins and its points, of the first pairing."""
    won = 1 + (played.rows[0]["winner"] == 0) - (played.rows[0]["winner"] == 1)
    points = played.rows[0]["points_a"].astype(np.int64)
    return won.reshape(-1, 2).sum(axis=1), points.reshape(-1, 2).sum(axis=1)


def test_of(walk: Walk, pairs: Any, points: Any) -> tuple[Sprt | PointsTest, float]:
    """Return a test of which one hypothesis is the truth, and the truth."""
    sign = 1 if walk.holds == "H0" else -1
    if walk.scale == "points":
        true = float(points.mean() / 2)
        low, high = sorted((true, true + sign * walk.apart * float(points.std() / 2)))
        return PointsTest(low, high), true
    counts = np.bincount(pairs, minlength=5).tolist()
    scale = Sprt(model=walk.scale)
    drift = scale.standardized(counts)[2]
    true, other = (
        scale.from_standardized(some, counts) for some in (drift, drift + sign * walk.apart)
    )
    low, high = sorted((true, other))
    return Sprt(low, high, model=walk.scale), true


test_of.__test__ = False  # type: ignore[attr-defined] - a test of strength, not of pytest


def tallies(walk: Walk, pairs: Any, points: Any, rng: np.random.Generator) -> Iterator[Tally]:
    """Yield what there is to look at after each batch of deals drawn."""
    results, sums = np.zeros(5, np.int64), RatioSums()
    while not walk.cap or sums.n < walk.cap:
        size = min(walk.batch, walk.cap - sums.n) if walk.cap else walk.batch
        chosen = rng.integers(len(pairs), size=size)
        results += np.bincount(pairs[chosen], minlength=5)
        sums.add(points[chosen], np.full(size, 2))
        yield Tally(results.tolist(), dataclasses.replace(sums))
