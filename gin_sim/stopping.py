"""What strength a sequential test has shown: an estimate that knows of the stopping.

An estimate made when a test stops is biased by the stopping.  This one is median-unbiased,
by the stagewise ordering of the outcomes [1]_: with the strength that is reported, the
outcome seen and all that speak more clearly for H1 have together a chance of one half
(2.5 % and 97.5 % at the ends of the interval).  The chances are those of a random walk with
normal steps between the bounds, worked out look by look [2]_.

References
----------
.. [1] D. Siegmund, "Estimation following sequential tests", Biometrika 65, 1978.
.. [2] Armitage, McPherson and Rowe, "Repeated significance tests on accumulating data",
   JRSS A 132, 1969.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gin_sim.stats import CONFIDENCE

Vector = NDArray[np.float64]

_MOST_LOOKS = 400
_FINE = 3
"""Nodes for each standard deviation of a step."""
_MOST_NODES = 400


def after_stopping(
    low: float,
    high: float,
    shown: float,
    looks: int,
    batch: float,
    bounds: tuple[float, float],
) -> tuple[float, float, float]:
    """Return the drift that is median-unbiased after stopping, and its 95 % interval.

    Parameters
    ----------
    low, high, shown : float
        H0, H1 and the mean seen, in standard deviations of an observation.
    looks : int
        Looks taken.
    batch : float
        Observations for each, so that the product is their number.
    bounds : (float, float)
        Of the log-likelihood ratio.

    Returns
    -------
    estimate, low, high : float
        In standard deviations of an observation.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - scipy is not needed to get help

    n = looks * batch
    # Looks between which the walk hardly moves are nearly one: fewer stand for them.
    step = (bounds[1] - bounds[0]) * _FINE / _MOST_NODES
    merged = max(math.ceil(looks / _MOST_LOOKS), math.ceil((step / (high - low)) ** 2 / batch))
    looks = max(1, looks // merged)
    batch = n / looks
    ended = n * (high - low) * (2 * shown - low - high) / 2
    width = 40 / math.sqrt(n) + abs(shown)

    def solve(chance: float) -> float:
        def gap(drift: float) -> float:
            walk = _Walk(low, high, drift, batch, bounds)
            return walk.at_least(ended, looks) - chance

        left, right = shown - width, shown + width
        if gap(left) > 0 or gap(right) < 0:
            return math.nan
        return float(brentq(gap, left, right, xtol=1e-6 * width))

    tail = (1 - CONFIDENCE) / 2
    return solve(0.5), solve(tail), solve(1 - tail)


class _Walk:
    """The log-likelihood ratio as a random walk between its bounds."""

    def __init__(
        self, low: float, high: float, drift: float, batch: float, bounds: tuple[float, float]
    ) -> None:
        self.step = batch * (high - low) * (drift - (low + high) / 2)
        self.spread = math.sqrt(batch) * (high - low)
        self.bounds = bounds
        fine = math.ceil(_FINE * (bounds[1] - bounds[0]) / self.spread)
        self.grid, self.weight = _nodes(*bounds, min(max(20, fine), _MOST_NODES))

    def at_least(self, ended: float, looks: int) -> float:
        """Return the chance of an outcome that speaks for H1 as clearly, or more."""
        over, under, start, mass = self._before(looks)
        if ended > self.bounds[0]:
            return over + float(mass @ self._beyond(ended, start))
        # All but the outcomes that speak for H0 as clearly, or more.
        return 1 - under - float(mass @ (1 - self._beyond(ended, start)))

    def _before(self, looks: int) -> tuple[float, float, Vector, Vector]:
        """Return the chances to have ended above and below before a look, and where it goes on.

        The last two are places between the bounds, and the chance to be there.
        """
        lower, upper = self.bounds
        start, mass = np.zeros(1), np.ones(1)
        if looks == 1:
            return 0.0, 0.0, start, mass
        over = float(self._beyond(upper, start)[0])
        under = 1 - float(self._beyond(lower, start)[0])
        mass = self._moved(start)[:, 0] * self.weight
        moved = self._moved(self.grid) * self.weight[:, None]
        passed = np.zeros_like(self.grid)
        for _ in range(2, looks):
            passed += mass
            mass = moved @ mass
        over += float(passed @ self._beyond(upper, self.grid))
        under += float(passed @ (1 - self._beyond(lower, self.grid)))
        return over, under, self.grid, mass

    def _beyond(self, level: float, start: Vector) -> Vector:
        """Return the chances of a step from each start to a level, or beyond."""
        from scipy.special import ndtr  # noqa: PLC0415

        return np.asarray(ndtr((start + self.step - level) / self.spread))

    def _moved(self, start: Vector) -> Vector:
        """Return the densities at the nodes after a step from each start."""
        z = (self.grid[:, None] - start - self.step) / self.spread
        return np.asarray(np.exp(-z * z / 2) / (math.sqrt(2 * math.pi) * self.spread))


def _nodes(low: float, high: float, count: int) -> tuple[Vector, Vector]:
    """Return the nodes and weights of Gauss and Legendre's quadrature between two bounds.

    The densities are smooth between the bounds and not 0 at them, where equal steps err.
    """
    nodes, weights = _unit_nodes(count)
    half = (high - low) / 2
    return low + half * (nodes + 1), half * weights


@cache
def _unit_nodes(count: int) -> tuple[Vector, Vector]:
    return np.polynomial.legendre.leggauss(count)
