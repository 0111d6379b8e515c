"""The Bradley-Terry model, fitted by maximum likelihood to all pairings at once.

An agent with rating r is expected to score ``1 / (1 + 10 ** (-(r - s) / 400))`` against one
with rating s [1]_.  A rating depends on what was scored and not on the order of the hands.

The prior is half a win for each side in every pair of agents that met: ratings are finite
at 0 % and 100 %, and for two agents it is the usual correction of a logit's bias [2]_.

References
----------
.. [1] R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I",
   Biometrika 39, 1952.
.. [2] J. B. S. Haldane, "The estimation and significance of the logarithm of a ratio of
   frequencies", Annals of Human Genetics 20, 1956.
.. [3] T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions", Mathematical
   Programming 178, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim.checks import whole_number
from gin_sim.errors import GinSimError
from gin_sim.separation import reachable

PRIOR = 0.5
"""Wins that each side is given in every pair of agents that met."""

MAX_AGENTS = 500

ELO = 400 / math.log(10)
"""Elo of a logit."""

_NEAR = 1e-6
_MOST_STEPS = 500
_AT_ONCE = 1 << 19

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    """Who met whom: pairs of agents first < second, each once, in ascending order."""

    n_agents: int
    first: Ints
    second: Ints
    component: Ints

    def of(self, met: Flags) -> Pool:
        """Return the pool of the pairs that met, with its components."""
        linked = np.zeros((self.n_agents, self.n_agents), bool)
        linked[self.first[met], self.second[met]] = True
        # Numbered by the lowest member, which has the place of the first True in its row.
        lowest = reachable(linked | linked.T).argmax(axis=1)
        component = np.unique(lowest, return_inverse=True)[1].astype(np.int64)
        return Pool(self.n_agents, self.first[met], self.second[met], component)

    def beaten(self, wins: Floats, losses: Floats) -> Flags:
        """Return the (n, n) matrix of who scored something against whom."""
        out = np.zeros((self.n_agents, self.n_agents), bool)
        out[self.first, self.second] = wins > 0
        out[self.second, self.first] = losses > 0
        return out


def fit_ratings(
    n_agents: int, pairings: Sequence[tuple[int, int]], scores: Any, played: Any
) -> Floats:
    """Return the Bradley-Terry ratings of agents in Elo.

    The maximum of the likelihood with half a win for each side added in every pair of
    agents that met, whether in one pairing or in several.

    Parameters
    ----------
    n_agents : int
    pairings : sequence of (a, b)
        Two different agents, as numbers from 0; a pair may come more than once, and
        either way round.
    scores : (..., K) array of float
        Score of a: 1 a win, 1/2 a draw.  Leading axes are fitted each on its own.
    played : (..., K) array of float
        Hands or games.

    Returns
    -------
    (..., n_agents) float array
        Mean 0 over the agents of each component, that is, of those linked by pairs that
        met in any of the leading axes' data; only within one can ratings be compared.
        An agent that met nobody has 0.

    Raises
    ------
    GinSimError
        Naming what cannot be.

    Examples
    --------
    >>> fit_ratings(3, [(0, 1), (1, 2)], [75, 50], [100, 100]).round()
    array([126., -63., -63.])
    """
    pool, place, swapped = merge(n_agents, pairings)
    of_a, of_n = np.asarray(scores, float), np.asarray(played, float)
    if of_a.shape != of_n.shape or of_a.ndim == 0 or of_a.shape[-1] != len(pairings):
        raise GinSimError(
            f"scores and played of shapes {of_a.shape}, {of_n.shape}: allowed are arrays whose "
            f"last axis has the {len(pairings)} pairings"
        )
    check_scores(of_a, of_n, 1)
    lead = of_a.shape[:-1]
    wins, total = by_pair(
        of_a.reshape(-1, len(pairings)), of_n.reshape(-1, len(pairings)), pool, place, swapped
    )
    met = np.asarray((total > 0).any(axis=0))
    pool = pool.of(met)
    wins, total = wins[:, met], total[:, met]
    theta = fit_logits(pool, wins, total - wins, np.zeros(n_agents))
    return np.asarray(theta * ELO).reshape(*lead, n_agents)


def merge(n_agents: int, pairings: Sequence[tuple[int, int]]) -> tuple[Pool, Ints, Flags]:
    """Return the pairs of agents, and for each pairing its pair and whether sides swap."""
    n_agents = whole_number(n_agents, "n_agents", 1, MAX_AGENTS)
    both = np.empty((len(pairings), 2), np.int64)
    for k, pairing in enumerate(pairings):
        a, b = (whole_number(x, "agent", 0, n_agents - 1) for x in pairing)
        if a == b:
            raise GinSimError(f"pairing {k} = ({a}, {b}): allowed are two different agents")
        both[k] = a, b
    code = both.min(axis=1) * n_agents + both.max(axis=1)
    pairs, place = np.unique(code, return_inverse=True)
    nobody = np.arange(n_agents)
    pool = Pool(n_agents, pairs // n_agents, pairs % n_agents, nobody)
    return pool, place, both[:, 0] > both[:, 1]


def by_pair(
    score: Floats, total: Floats, pool: Pool, place: Ints, swapped: Flags
) -> tuple[Floats, Floats]:
    """Return what the first of each pair scored and what there was to score, by row."""
    score = np.where(swapped, total - score, score)
    wins, most = np.zeros((2, len(score), pool.first.size))
    for k, pair in enumerate(place):
        wins[:, pair] += score[:, k]
        most[:, pair] += total[:, k]
    return wins, most


def check_scores(score: Floats, played: Floats, unit: int) -> None:
    """Refuse scores that are not 0..unit for each hand played."""
    wrong = ~((score >= 0) & (score <= unit * played) & np.isfinite(played))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise GinSimError(
            f"score {score[at]:g} of {played[at]:g} played: allowed is 0..{unit} for each played"
        )


def fit_logits(pool: Pool, wins: Floats, losses: Floats, start: Floats) -> Floats:
    """Return the maximum of each row's likelihood with the prior, as logits.

    Newton's method.  Along a step whose largest change of a difference between two that
    met is d, the curvature changes by a factor of exp(d) at most, so the part
    ``log(1 + d) / d`` of a step always gains [3]_; it is the whole step in the limit.
    """
    theta = np.tile(start[:, None], (1, len(wins)))
    if pool.first.size == 0:
        return theta.T
    rows = max(1, _AT_ONCE // (pool.n_agents**2 + pool.first.size))
    for at in range(0, len(wins), rows):
        part = slice(at, at + rows)
        _climb(pool, wins[part].T + PRIOR, losses[part].T + PRIOR, theta[:, part])
    return theta.T


def _climb(pool: Pool, wins: Floats, losses: Floats, theta: Floats) -> None:
    """Take Newton's steps until none is left to take; rows are the last axis, in place."""
    from scipy.special import expit  # noqa: PLC0415 - scipy is not needed to get help

    first, second, n = pool.first, pool.second, pool.n_agents
    ends = np.zeros((n, first.size))
    ends[first, np.arange(first.size)] = 1
    ends[second, np.arange(first.size)] = -1
    together = (pool.component[:, None] == pool.component).astype(float)
    centre = together / together.sum(axis=1)
    diagonal = np.arange(n)
    left = np.arange(theta.shape[1])
    for _ in range(_MOST_STEPS):
        ahead = theta[first][:, left] - theta[second][:, left]
        p, q = expit(ahead), expit(-ahead)
        # Not wins less expected wins, which would cancel where nearly all was won.
        gradient = ends @ (wins[:, left] * q - losses[:, left] * p)
        weight = (wins[:, left] + losses[:, left]) * p * q
        curvature = np.zeros((n, n, left.size))
        curvature[first, second] = curvature[second, first] = -weight
        curvature[diagonal, diagonal] = np.abs(ends) @ weight
        # Nothing tells the level of a component, so a weight holds it where it is.
        level = curvature[diagonal, diagonal].max(axis=0) / n
        curvature += together[:, :, None] * level
        step = _solve(curvature, gradient)
        size = np.abs(step[first] - step[second]).max(axis=0)
        part = np.log1p(size) / np.maximum(size, 1e-300)
        moved = theta[:, left] + np.where(size > _NEAR, part, 1.0) * step
        theta[:, left] = moved - centre @ moved
        left = left[size > _NEAR]
        if left.size == 0:
            return


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve (n, n, rows) symmetric positive definite systems; changes what it is given.

    By elimination, which needs no pivots for such a matrix.  A library would be called for
    each row, and takes longer to start its threads than to solve a small system.
    """
    n = len(right)
    for k in range(n - 1):
        factor = matrix[k + 1 :, k] / matrix[k, k]
        matrix[k + 1 :, k + 1 :] -= factor[:, None] * matrix[k, k + 1 :]
        right[k + 1 :] -= factor * right[k]
    for k in reversed(range(n)):
        right[k] -= (matrix[k, k + 1 :] * right[k + 1 :]).sum(axis=0)
        right[k] /= matrix[k, k]
    return right
