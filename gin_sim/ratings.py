"""Ratings of many agents at once: Bradley-Terry by maximum likelihood, in Elo.

An agent with rating r is expected to score ``1 / (1 + 10 ** (-(r - s) / 400))`` against one
with rating s [1]_.  All pairings are fitted together, so a rating depends on what was
scored and not on the order of the hands.

The prior is half a win for each side in every pair of agents that met: ratings are finite
at 0 % and 100 %, and for two agents it is the usual correction of a logit's bias [2]_.
Where maximum likelihood without it has no finite answer, that is, where some agents
scored nothing at all against others [3]_, agents are flagged as separated.

Chance is in the deals, and all pairings play the same ones.  So intervals resample blocks
of deals, with all that was scored on them (see :func:`rate`).

References
----------
.. [1] R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I",
   Biometrika 39, 1952.
.. [2] J. B. S. Haldane, "The estimation and significance of the logarithm of a ratio of
   frequencies", Annals of Human Genetics 20, 1956.
.. [3] L. R. Ford, "Solution of a ranking problem from binary comparisons", American
   Mathematical Monthly 64, 1957.
.. [4] T. Hesterberg, "What teachers should know about the bootstrap", The American
   Statistician 69, 2015.
.. [5] T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions", Mathematical
   Programming 178, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.errors import GinSimError
from gin_sim.separation import Separation, reachable, separation
from gin_sim.stats import CONFIDENCE, t_quantile

PRIOR = 0.5
"""Wins that each side is given in every pair of agents that met."""

LEAST_BLOCKS = 20
"""Fewer blocks than these have no interval."""

MAX_AGENTS = 1000

_ELO = 400 / math.log(10)
_NEAR = 1e-9
_MOST_STEPS = 500
_AT_ONCE = 1 << 21

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of n agents, with intervals.

    Attributes
    ----------
    elo : (n,) float array
        Mean 0 over the agents of a component, 0 for an agent that met nobody; rounded to
        a millionth.
    low, high : (n,) float arrays
        Ends of the interval.  Infinite where the data set no bound on that side, NaN
        where there are too few of them.
    separated : (n,) bool array
        The rating owes its being finite to the prior: maximum likelihood has none.
        The ratings of the others in its component are sound against each other, but
        their level is where the prior has put the mean.
    component : (n,) int array
        Agents that are linked by pairings have the same number.  Ratings of different
        components cannot be compared.
    units : (n,) int array
        Blocks in which the agent played.
    note : tuple of n str
        What to say beside the rating; empty where there is nothing to say.
    """

    elo: Floats
    low: Floats
    high: Floats
    separated: NDArray[np.bool_]
    component: Ints
    units: Ints
    note: tuple[str, ...]


@dataclass(frozen=True)
class _Pool:
    """Who met whom: pairs of agents first < second, each once, in ascending order."""

    n_agents: int
    first: Ints
    second: Ints
    component: Ints

    def of(self, met: NDArray[np.bool_]) -> _Pool:
        """Return the pool of the pairs that met, with its components."""
        linked = np.zeros((self.n_agents, self.n_agents), bool)
        linked[self.first[met], self.second[met]] = True
        # Numbered by the lowest member, which has the place of the first True in its row.
        lowest = reachable(linked | linked.T).argmax(axis=1)
        component = np.unique(lowest, return_inverse=True)[1].astype(np.int64)
        return _Pool(self.n_agents, self.first[met], self.second[met], component)

    def beaten(self, wins: Floats, losses: Floats) -> NDArray[np.bool_]:
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
    pool, place, swapped = _merged(n_agents, pairings)
    of_a, of_n = np.asarray(scores, float), np.asarray(played, float)
    if of_a.shape != of_n.shape or of_a.ndim == 0 or of_a.shape[-1] != len(pairings):
        raise GinSimError(
            f"scores and played of shapes {of_a.shape}, {of_n.shape}: allowed are arrays whose "
            f"last axis has the {len(pairings)} pairings"
        )
    _check_scores(of_a, of_n, 1)
    lead = of_a.shape[:-1]
    wins, total = _by_pair(
        of_a.reshape(-1, len(pairings)), of_n.reshape(-1, len(pairings)), pool, place, swapped
    )
    met = np.asarray((total > 0).any(axis=0))
    pool = pool.of(met)
    wins, total = wins[:, met], total[:, met]
    theta = _fit(pool, wins, total - wins, np.zeros(n_agents))
    return np.asarray(theta * _ELO).reshape(*lead, n_agents)


def rate(
    n_agents: int,
    pairings: Sequence[tuple[int, int]],
    block_scores: Any,
    block_played: Any,
    seed: int,
    resamples: int = 1000,
    confidence: float = CONFIDENCE,
) -> Ratings:
    """Return ratings with intervals that take deals as the unit of chance.

    The interval is the percentile interval of a bootstrap over blocks, with the tails'
    share a that makes it as wide as Student's t would have it for a mean of G blocks:
    ``a = Phi(-sqrt(G / (G - 1)) t)`` [4]_.  In replicates where an agent is separated its
    rating counts as infinite, as its maximum likelihood is.

    An agent that is separated above the others has no upper end.  Its lower end is where
    its sweep would just not be expected: Wilson's bound of the score, extended to many
    opponents; all it won counts as one pairing's mirrored pairs, as the others had the
    same deals.  Likewise below.

    Parameters
    ----------
    n_agents : int
    pairings : sequence of (a, b)
        As for :func:`fit_ratings`.
    block_scores : (G, K) array of int
        Twice the score of a in each block and pairing: 2 a win, 1 a draw.
    block_played : (G, K) array of int
        Hands or games.
    seed : int
        Of the resampling.
    resamples : int
    confidence : float

    Returns
    -------
    Ratings
        The same bytes for the same input, in whatever order the pairings come, whichever
        side is called a, and whether what a pair played is given as one pairing or more.

    Raises
    ------
    GinSimError
        Naming what cannot be.
    """
    pool, place, swapped = _merged(n_agents, pairings)
    doubled, played = _blocks(block_scores, block_played, len(pairings))
    seed = whole_number(seed, "seed", 0, MAX_SEED)
    resamples = whole_number(resamples, "resamples", 100, 100_000)
    if not 0.5 <= confidence <= 0.999:
        raise GinSimError(f"confidence = {confidence!r}: allowed is a number 0.5..0.999")
    wins, total = _by_pair(doubled, 2 * played, pool, place, swapped)
    met = np.asarray((total > 0).any(axis=0))
    pool = pool.of(met)
    # In wins, not half wins.  Still exact: halves of whole numbers.
    wins, losses = wins[:, met] / 2, (total - wins)[:, met] / 2
    all_wins, all_losses = wins.sum(axis=0), losses.sum(axis=0)

    theta = _fit(pool, all_wins[None], all_losses[None], np.zeros(n_agents))[0]
    split = separation(pool.beaten(all_wins, all_losses), pool.component)
    units = _units(pool, wins + losses)
    low, high = np.full(n_agents, np.nan), np.full(n_agents, np.nan)
    enough = units >= LEAST_BLOCKS
    if enough.any():
        least, most = _resampled(pool, wins, losses, theta, seed, resamples)
        for agent in np.flatnonzero(enough):
            tail = _tail(int(units[agent]), confidence)
            cut = max(0, math.floor(tail * (resamples + 1)) - 1)
            low[agent] = least[cut, agent]
            high[agent] = most[resamples - 1 - cut, agent]
            _unbounded(pool, all_wins + all_losses, theta, split, int(agent), confidence, low, high)
    elo = _rounded(theta)
    low, high = _rounded(low), _rounded(high)
    note = tuple(
        split.note(agent) if enough[agent] else ("too few data" if units[agent] else "did not play")
        for agent in range(n_agents)
    )
    note = tuple(
        said or _nearly(float(down), float(up))
        for said, down, up in zip(note, low, high, strict=True)
    )
    return Ratings(elo, low, high, split.separated, pool.component, units, note)


def _nearly(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "too little won and lost: no bounds"
    if math.isinf(high):
        return "won nearly everything: at least"
    return "lost nearly everything: at most" if math.isinf(low) else ""


def _rounded(theta: Floats) -> Floats:
    """Return Elo without the last digits, which another machine's library may round otherwise."""
    # Adding 0 makes -0 the same bytes as 0.
    return np.asarray(np.round(theta * _ELO, 6) + 0.0)


def _merged(
    n_agents: int, pairings: Sequence[tuple[int, int]]
) -> tuple[_Pool, Ints, NDArray[np.bool_]]:
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
    pool = _Pool(n_agents, pairs // n_agents, pairs % n_agents, nobody)
    return pool, place, both[:, 0] > both[:, 1]


def _by_pair(
    score: Floats, total: Floats, pool: _Pool, place: Ints, swapped: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return what the first of each pair scored and what there was to score, by row."""
    score = np.where(swapped, total - score, score)
    wins, most = np.zeros((2, len(score), pool.first.size))
    for k, pair in enumerate(place):
        wins[:, pair] += score[:, k]
        most[:, pair] += total[:, k]
    return wins, most


def _check_scores(score: Floats, played: Floats, unit: int) -> None:
    wrong = ~((score >= 0) & (score <= unit * played) & np.isfinite(played))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise GinSimError(
            f"score {score[at]:g} of {played[at]:g} played: allowed is 0..{unit} for each played"
        )


def _blocks(block_scores: Any, block_played: Any, n_pairings: int) -> tuple[Floats, Floats]:
    scores, played = np.asarray(block_scores), np.asarray(block_played)
    if scores.ndim != 2 or scores.shape != played.shape or scores.shape[1] != n_pairings:
        raise GinSimError(
            f"blocks of shapes {scores.shape}, {played.shape}: allowed are two arrays "
            f"(blocks, {n_pairings} pairings)"
        )
    for values in (scores, played):
        if values.size and values.dtype.kind not in "iu":
            raise GinSimError(f"blocks of {values.dtype}: allowed are whole numbers")
    # Whole numbers below 2**53 add up exactly in any order, also as floats.
    scores, played = scores.astype(float), played.astype(float)
    _check_scores(scores, played, 2)
    return scores, played


def _units(pool: _Pool, played: Floats) -> Ints:
    """Return in how many blocks each agent played."""
    took_part = np.zeros((len(played), pool.n_agents), bool)
    for pair, (a, b) in enumerate(zip(pool.first, pool.second, strict=True)):
        took_part[:, a] |= played[:, pair] > 0
        took_part[:, b] |= played[:, pair] > 0
    return np.asarray(took_part.sum(axis=0), np.int64)


def _tail(blocks: int, confidence: float) -> float:
    """Return the share of replicates to leave out at each end."""
    from scipy.special import ndtr  # noqa: PLC0415 - scipy is not needed to get help

    t = t_quantile(0.5 + confidence / 2, blocks - 1)
    return float(ndtr(-math.sqrt(blocks / (blocks - 1)) * t))


def _resampled(
    pool: _Pool, wins: Floats, losses: Floats, theta: Floats, seed: int, resamples: int
) -> tuple[Floats, Floats]:
    """Return ratings of replicates, each agent's in ascending order.

    Twice, as where an agent is separated its rating may count as minus infinity for the
    low end and as infinity for the high one.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    blocks = len(wins)
    even = np.full(blocks, 1 / blocks)
    least = np.empty((resamples, pool.n_agents))
    most = np.empty_like(least)
    known: dict[bytes, Separation] = {}
    step = max(1, _AT_ONCE // blocks)
    for start in range(0, resamples, step):
        rows = slice(start, min(start + step, resamples))
        weight = rng.multinomial(blocks, even, size=rows.stop - rows.start).astype(float)
        some_wins, some_losses = weight @ wins, weight @ losses
        least[rows] = most[rows] = _fit(pool, some_wins, some_losses, theta)
        pattern = np.packbits(np.hstack([some_wins > 0, some_losses > 0]), axis=1)
        for i, key in enumerate(map(bytes, pattern)):
            if key not in known:
                beaten = pool.beaten(some_wins[i], some_losses[i])
                known[key] = separation(beaten, pool.component)
            least[start + i, known[key].below] = -np.inf
            most[start + i, known[key].above] = np.inf
    return np.sort(least, axis=0), np.sort(most, axis=0)


def _unbounded(
    pool: _Pool,
    played: Floats,
    theta: Floats,
    split: Separation,
    agent: int,
    confidence: float,
    low: Floats,
    high: Floats,
) -> None:
    """Set the ends of an agent that is separated."""
    if split.above[agent]:
        high[agent] = np.inf
    if split.below[agent]:
        low[agent] = -np.inf
    if split.above[agent] == split.below[agent]:
        return
    # Those who reach it have lost nothing to those who do not; or the other way round.
    sign = 1.0 if split.above[agent] else -1.0
    group = split.reach[:, agent] if split.above[agent] else split.reach[agent]
    inside = pool.component == pool.component[agent]
    shift = _sweep_bound(pool, played, sign * theta, group, confidence)
    # Mean 0 over the component moves along with the group.
    end = theta[agent] - sign * max(shift, 0.0) * (1 - group.sum() / inside.sum())
    if split.above[agent]:
        low[agent] = min(low[agent], end)
    else:
        high[agent] = max(high[agent], end)


def _sweep_bound(
    pool: _Pool, played: Floats, theta: Floats, group: NDArray[np.bool_], confidence: float
) -> float:
    """Return by how much to lower a group until its sweep is z standard errors off."""
    from scipy.optimize import brentq  # noqa: PLC0415
    from scipy.special import expit, ndtri  # noqa: PLC0415

    cross = group[pool.first] != group[pool.second]
    number = played[cross]
    number = number * (number.max() / 2 / number.sum())
    ahead = np.where(group[pool.first], 1, -1) * (theta[pool.first] - theta[pool.second])
    ahead = ahead[cross]
    z = float(ndtri(0.5 + confidence / 2))

    def excess(shift: float) -> float:
        lost = expit(shift - ahead)
        return float(number @ lost - z * math.sqrt(number @ (lost * expit(ahead - shift))))

    # Below, all have a loss expected that is too small to be missed; above, one too large.
    return float(brentq(excess, ahead.min() - 100, ahead.max() + 100, xtol=1e-10))


def _fit(pool: _Pool, wins: Floats, losses: Floats, start: Floats) -> Floats:
    """Return the maximum of each row's likelihood with the prior, as logits.

    Newton's method.  Along a step whose largest change of a difference between two that
    met is d, the curvature changes by a factor of exp(d) at most, so the part
    ``log(1 + d) / d`` of a step always gains [5]_; it is the whole step in the limit.
    """
    theta = np.tile(start, (len(wins), 1))
    if pool.first.size == 0:
        return theta
    rows = max(1, _AT_ONCE // (pool.n_agents**2 + pool.first.size))
    for at in range(0, len(wins), rows):
        part = slice(at, at + rows)
        _climb(pool, wins[part] + PRIOR, losses[part] + PRIOR, theta[part])
    return theta


def _climb(pool: _Pool, wins: Floats, losses: Floats, theta: Floats) -> None:
    """Take Newton's steps until none is left to take, in place."""
    from scipy.special import expit  # noqa: PLC0415

    first, second, n = pool.first, pool.second, pool.n_agents
    ends = np.zeros((first.size, n))
    ends[np.arange(first.size), first] = 1
    ends[np.arange(first.size), second] = -1
    together = (pool.component[:, None] == pool.component).astype(float)
    centre = together / together.sum(axis=1)
    diagonal = np.arange(n)
    left = np.arange(len(theta))
    for _ in range(_MOST_STEPS):
        ahead = theta[left][:, first] - theta[left][:, second]
        p, q = expit(ahead), expit(-ahead)
        # Not wins less expected wins, which would cancel where nearly all was won.
        gradient = (wins[left] * q - losses[left] * p) @ ends
        weight = (wins[left] + losses[left]) * p * q
        curvature = np.zeros((len(left), n, n))
        curvature[:, first, second] = curvature[:, second, first] = -weight
        curvature[:, diagonal, diagonal] = -curvature.sum(axis=2)
        # Nothing tells the level of a component, so a weight holds it where it is.
        level = curvature[:, diagonal, diagonal].max(axis=1) / n
        curvature += level[:, None, None] * together
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        size = np.abs(step[:, first] - step[:, second]).max(axis=1)
        part = np.log1p(size) / np.maximum(size, 1e-300)
        theta[left] += np.where(size > _NEAR, part, 1.0)[:, None] * step
        theta[left] -= theta[left] @ centre
        left = left[size > _NEAR]
        if left.size == 0:
            return
