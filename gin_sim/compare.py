"""Two agents compared until it is decided: a sequential test on mirrored deals.

Deals are played in batches of a fixed size and looked at in their order, whatever the
number of workers, so that the decision is a function of agents, rules, seed and test.

An estimate made when a test stops is biased by the stopping.  What is reported is that of
:mod:`gin_sim.stopping`, which is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from gin_sim.bot import quit_idle
from gin_sim.errors import GinSimError, PlayError
from gin_sim.plan import Plan
from gin_sim.policy import make_ready
from gin_sim.progress import Reporter
from gin_sim.runner import Entry, Piece, Played, try_piece
from gin_sim.sprt import (
    Sprt,
    check_errors,
    check_hypotheses,
    decide,
    finite,
    wald_bounds,
)
from gin_sim.stats import RatioSums
from gin_sim.stopping import after_stopping
from gin_sim.sums import Sums
from gin_sim.workers import Workers

BATCH_DEALS = 512
SLOW_BATCH_DEALS = 16
MAX_POINTS = 200.0


@dataclass(frozen=True)
class PointsTest:
    """A test of H0, `points0` a hand, against H1, `points1` a hand."""

    points0: float = 0.0
    points1: float = 0.5
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        check_hypotheses(self.points0, self.points1, "points0", "points1", MAX_POINTS)
        check_errors(self.alpha, self.beta)

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at and beyond which H0 and H1 are accepted."""
        return wald_bounds(self.alpha, self.beta)


@dataclass(frozen=True)
class Tally:
    """What is looked at of the deals, by a's results.

    Attributes
    ----------
    pairs : list of 5 int
        Deals by the results of both hands: LL, LD, LW or DD, WD, WW (a dead hand is a
        draw).
    points : RatioSums
        Points of a by deal.
    """

    pairs: list[int] = field(default_factory=lambda: [0] * 5)
    points: RatioSums = field(default_factory=RatioSums)

    @classmethod
    def of(cls, sums: Sums) -> Tally:
        """Return what sums say of their only pairing."""
        return cls([int(n) for n in sums.pairings[0]["pairs"]], sums.of("points", 0))

    @property
    def deals(self) -> int:
        """How many deals there are."""
        return self.points.n


def walk_of(test: Sprt | PointsTest, tally: Tally) -> tuple[float, float, float]:
    """Return hypotheses in standard deviations of a deal, and the mean seen, as a walk.

    Returns
    -------
    low, high, shown : float
        H0, H1 and the mean, each divided by the standard deviation seen.
    """
    if isinstance(test, PointsTest):
        n, sums = tally.deals, tally.points
        mean = sums.x / n / 2
        variance = max(sums.xx - sums.x * sums.x / n, 0.0) / n / 4
        # As with counts: a little of everything, so that no spread is none.
        sigma = math.sqrt(variance + 1e-3 / n)
        return test.points0 / sigma, test.points1 / sigma, mean / sigma
    return test.standardized(tally.pairs)


def llr_of(test: Sprt | PointsTest, tally: Tally) -> float:
    """Return the log-likelihood ratio of what was counted; 0 of nothing."""
    if tally.deals == 0:
        return 0.0
    low, high, shown = walk_of(test, tally)
    return tally.deals * (high - low) * (2 * shown - low - high) / 2


@dataclass(frozen=True)
class Comparison:
    """What a comparison has come to.

    Attributes
    ----------
    decision : str
        ``H0``, ``H1``, or ``none`` where it was stopped by the cap or by hand.
    looks : int
        How often the counts were looked at.
    """

    plan: Plan
    test: Sprt | PointsTest
    tally: Tally
    decision: str
    looks: int

    @property
    def hands(self) -> int:
        """How many hands were counted."""
        return 2 * self.tally.deals

    @property
    def llr(self) -> float:
        """The log-likelihood ratio at the end."""
        return llr_of(self.test, self.tally)

    def estimate(self) -> tuple[float, float, float] | None:
        """Return the median-unbiased estimate and its 95 % interval, on the test's scale.

        Points a hand, Elo or nElo; infinite at a score of 0 or 1.  None without deals.
        """
        if self.tally.deals < 2:
            return None
        low, high, shown = walk_of(self.test, self.tally)
        # The last batch before a cap may be a short one, so not the size it should have had.
        batch = self.tally.deals / self.looks
        wide = 1.0 if isinstance(self.test, PointsTest) else self.test.widening(self.tally.pairs)
        # In standard deviations at the mean seen the ratio's steps are smaller, and its bounds.
        lower, upper = (bound / wide**2 for bound in self.test.bounds)
        drifts = after_stopping(
            low / wide, high / wide, shown / wide, self.looks, batch, (lower, upper)
        )
        return tuple(self._on_scale(drift * wide) for drift in drifts)  # type: ignore[return-value]

    def _on_scale(self, drift: float) -> float:
        if isinstance(self.test, PointsTest):
            low, high, _ = walk_of(self.test, self.tally)
            return drift * (self.test.points1 - self.test.points0) / (high - low)
        return self.test.from_standardized(drift, self.tally.pairs)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON."""
        lower, upper = self.test.bounds
        found, sums = self.estimate(), self.tally.points
        interval = sums.interval()
        points = isinstance(self.test, PointsTest)
        out: dict[str, Any] = {
            "a": self.plan.labels[0],
            "b": self.plan.labels[1],
            "decision": self.decision,
            "llr": self.llr,
            "lower": lower,
            "upper": upper,
            "scale": "points a hand" if points else f"{self.test.model} Elo",  # type: ignore[union-attr]
            "h0": self.test.points0 if points else self.test.elo0,  # type: ignore[union-attr]
            "h1": self.test.points1 if points else self.test.elo1,  # type: ignore[union-attr]
            "estimate": finite(found[0]) if found else None,
            "ci95": [finite(found[1]), finite(found[2])] if found else None,
            "points_per_hand": sums.mean,
            "points_ci95_unadjusted": list(interval) if interval else None,
            "pairs": list(self.tally.pairs),
            "deals": self.tally.deals,
            "hands": self.hands,
            "seed": self.plan.seed,
            "rules": self.plan.rules.as_dict(),
        }
        return out


def compare_plan(
    plan: Plan,
    test: Sprt | PointsTest,
    workers: Workers | None = None,
    report: Reporter | None = None,
    progress: list[Comparison] | None = None,
) -> Comparison:
    """Play a plan's two agents until the test decides or the plan's hands are played.

    Parameters
    ----------
    plan : Plan
        Of two agents and an amount of hands, which is the cap.
    progress : list, optional
        Gets the comparison as it stands after each look, in place of the one before: what
        there is to say if the run is stopped by hand.

    Raises
    ------
    PlayError
        For an agent that failed in a batch before the decision.
    """
    if len(plan.agents) != 2 or plan.games:
        raise GinSimError("a comparison is of two agents, over hands")
    workers = workers or Workers.choose(compiled=plan.compiled)
    plan.check_workers(workers)
    make_ready(plan.agents)
    batch = BATCH_DEALS if plan.compiled else SLOW_BATCH_DEALS
    found = Comparison(plan, test, Tally(), "none", 0)
    try:
        with closing(workers.run(try_piece, _batches(plan, batch))) as finished:
            for found in follow(plan, test, _tallies(plan, finished)):
                if progress is not None:
                    progress[:] = [found]
                if report is not None:
                    report(found.hands, 2 * plan.units, f"LLR {found.llr:+.2f}")
    finally:
        quit_idle()
    return found


def follow(plan: Plan, test: Sprt | PointsTest, tallies: Iterable[Tally]) -> Iterator[Comparison]:
    """Yield a comparison as it stands after each look, up to the one that decides.

    Parameters
    ----------
    tallies : iterable of Tally
        What there is to look at: all deals by then, each time a batch more.
    """
    for looks, tally in enumerate(tallies, 1):
        said = decide(llr_of(test, tally), tally.deals, test.bounds)
        yield Comparison(plan, test, tally, "none" if said == "continue" else said, looks)
        if said != "continue":
            return


def _tallies(plan: Plan, finished: Iterable[tuple[Piece, Played | PlayError]]) -> Iterator[Tally]:
    """Yield what there is to look at, batch by batch in the order of the deals."""
    sums = Sums(plan.pairings, 2, games=False, block=plan.block_units)
    waiting: dict[int, Played | PlayError] = {}
    looks = 0
    for piece, played in finished:
        waiting[piece.number] = played
        while looks in waiting:
            due = waiting.pop(looks)
            if isinstance(due, PlayError):
                raise due
            sums.add(due.sums)
            looks += 1
            yield Tally.of(sums)


def _batches(plan: Plan, batch: int) -> Iterator[Piece]:
    entries = tuple(
        Entry.of(agent, label) for agent, label in zip(plan.agents, plan.labels, strict=True)
    )
    for number, first in enumerate(range(0, plan.units, batch)):
        yield Piece(
            number=number,
            first=first,
            count=min(batch, plan.units - first),
            entries=entries,
            pairings=plan.pairings,
            rules=plan.rules,
            seed=plan.seed,
            games=False,
            forgiving=plan.forgiving,
            block=plan.block_units,
            keep=False,
            decision_seconds=plan.decision_seconds,
        )
