"""Many comparisons at once: p values that never become 0, Holm's correction, cycles.

Tests return the logarithm to base 10 of a p value, since a long run's is often below
1e-308, the least that a float can hold to full precision.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim.checks import MAX_UNITS, whole_number
from gin_sim.errors import GinSimError

ALPHA = 0.05
"""The chance to call any difference real where none is, over all comparisons."""

_LEAST_SHOWN = -300
_MOST_TERMS = 10_000

Floats = NDArray[np.float64]
Matrix = NDArray[np.bool_]


def log10_t_test(mean: float, standard_error: float, degrees: float) -> float:
    """Return log10 of the two-sided p value of a mean, by Student's t.

    Parameters
    ----------
    mean, standard_error : float
    degrees : float
        Of freedom; infinite for the normal distribution.

    Returns
    -------
    float
        At most 0; NaN where there is no test: something is NaN, or degrees are less than
        1.  Without a standard error it is 0 for a mean of 0, and minus infinity for any
        other; that the units were all alike is then for :func:`sign_test_log10` to weigh.

    Examples
    --------
    >>> round(10 ** log10_t_test(2.228139, 1, 10), 6)
    0.05
    >>> round(log10_t_test(100, 1, math.inf), 1)
    -2173.6
    """
    from scipy.special import log_ndtr  # noqa: PLC0415 - scipy is not needed to get help

    if standard_error < 0:
        raise GinSimError(f"standard_error = {standard_error:g}: allowed is a number from 0 up")
    if math.isnan(mean) or math.isnan(standard_error) or not degrees >= 1:
        return math.nan
    if mean == 0:
        return 0.0
    if standard_error == 0:
        return -math.inf
    # As a difference of logarithms, a ratio cannot overflow.
    log_t = math.log(abs(mean)) - math.log(standard_error)
    if math.isinf(degrees):
        t = math.exp(min(log_t, 700.0))
        return min(0.0, (math.log(2) + float(log_ndtr(-t))) / math.log(10))
    log_odds = 2 * log_t - math.log(degrees)  # of t squared to the degrees
    log_both = float(np.logaddexp(0.0, log_odds))
    return _log10_beta(degrees / 2, 0.5, -log_both, log_odds - log_both)


def sign_test_log10(wins: int, losses: int) -> float:
    """Return log10 of the two-sided p value of a sign test: binomial with chance 1/2.

    Parameters
    ----------
    wins, losses : int
        Ties are left out.

    Returns
    -------
    float
        Twice the smaller tail, at most 1, as its logarithm; 0 without wins and losses.

    Examples
    --------
    >>> round(10 ** sign_test_log10(9, 1), 6)
    0.021484
    >>> round(sign_test_log10(2000, 0), 2)
    -601.76
    """
    wins = whole_number(wins, "wins", 0, MAX_UNITS)
    losses = whole_number(losses, "losses", 0, MAX_UNITS)
    most, least = max(wins, losses), min(wins, losses)
    if most - least <= 1:
        return 0.0
    # The tail is an incomplete beta function of 1/2.
    half = -math.log(2)
    return min(0.0, math.log10(2) + _log10_beta(most, least + 1, half, half))


def _log10_beta(a: float, b: float, log_x: float, log_rest: float) -> float:
    """Return log10 of the regularised incomplete beta function I_x(a, b).

    Takes log x and log(1 - x), so that neither can vanish.  Where the value is small it is
    the leading factor times a continued fraction (DLMF 8.17.22), which converges fast for
    ``x < (a + 1) / (a + b + 2)``, where small values are.
    """
    from scipy.special import betainc, betaln  # noqa: PLC0415

    x = math.exp(log_x)
    # The function of 1 - x, taken from 1, is the one that is exact where x is near 1.
    plain = float(betainc(a, b, x)) if x < 0.5 else 1 - float(betainc(b, a, math.exp(log_rest)))
    if plain > 0.01 or x >= (a + 1) / (a + b + 2):
        return min(0.0, math.log10(plain))
    factor = a * log_x + b * log_rest - math.log(a) - float(betaln(a, b))
    return (factor + math.log(_fraction(a, b, x))) / math.log(10)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction 1 / (1 + d1 / (1 + d2 / ...)) by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def holm(log10_p: Any) -> Floats:
    """Return p values corrected for their number by Holm's step-down procedure.

    The chance that any true null hypothesis is rejected at level alpha is at most alpha,
    however the tests depend on each other [1]_.

    Parameters
    ----------
    log10_p : (m,) array of float
        At most 0.  NaN is no test, and is not counted.

    Returns
    -------
    (m,) float array
        log10 of the adjusted p values; NaN stays NaN.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> (10 ** holm(np.log10([0.01, 0.04, 0.03]))).round(3)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(log10_p, float)
    if values.ndim != 1:
        raise GinSimError(f"log10_p of shape {values.shape}: allowed is one axis")
    if (values > 0).any():
        raise GinSimError(f"log10_p = {np.nanmax(values):g}: allowed is a number up to 0")
    out = np.full(values.shape, np.nan)
    tests = np.flatnonzero(~np.isnan(values))
    order = tests[np.argsort(values[tests], kind="stable")]
    left = np.arange(order.size, 0, -1)
    out[order] = np.minimum(0.0, np.maximum.accumulate(values[order] + np.log10(left)))
    return out


def show_p(log10_p: float) -> str:
    """Return a p value as text of two figures, given its logarithm; never 0.

    Examples
    --------
    >>> show_p(math.log10(0.0312)), show_p(-6.68), show_p(-601.76), show_p(math.nan)
    ('0.031', '2.1e-07', '<1e-300 (10^-601.8)', '-')
    """
    if math.isnan(log10_p):
        return "-"
    if log10_p == -math.inf:
        return "<1e-300"
    if log10_p < _LEAST_SHOWN:
        return f"<1e-300 (10^{log10_p:.1f})"
    return f"{10**log10_p:.2g}"


def beats(
    n_agents: int,
    pairings: Sequence[tuple[int, int]],
    points_mean: Any,
    log10_p_adjusted: Any,
    alpha: float = ALPHA,
) -> Matrix:
    """Return who is significantly better than whom.

    Parameters
    ----------
    n_agents : int
    pairings : sequence of (a, b)
    points_mean : (K,) array of float
        Of a; what is above 0 is in its favour.
    log10_p_adjusted : (K,) array of float
        Corrected for their number, see :func:`holm`; NaN is never significant.
    alpha : float

    Returns
    -------
    (n_agents, n_agents) bool array
        Whether the first beats the second.  Where two pairings of the same agents
        significantly contradict each other, neither does.
    """
    means, log_p = np.asarray(points_mean, float), np.asarray(log10_p_adjusted, float)
    if means.shape != (len(pairings),) or log_p.shape != means.shape:
        raise GinSimError(
            f"means and p values of shapes {means.shape}, {log_p.shape}: allowed is one for each "
            f"of the {len(pairings)} pairings"
        )
    if not 0 < alpha < 1:
        raise GinSimError(f"alpha = {alpha!r}: allowed is a number between 0 and 1")
    better = np.zeros((n_agents, n_agents), bool)
    for (a, b), mean, value in zip(pairings, means, log_p, strict=True):
        first, second = (whole_number(agent, "agent", 0, n_agents - 1) for agent in (a, b))
        if value <= math.log10(alpha) and mean != 0:
            better[(first, second) if mean > 0 else (second, first)] = True
    return np.asarray(better & ~better.T)


def find_cycle(matrix: Any) -> list[int] | None:
    """Return a shortest cycle of a relation, None where it has none.

    Parameters
    ----------
    matrix : (n, n) bool array
        Whether the first beats the second; the diagonal is not looked at.

    Returns
    -------
    list of int or None
        Each beats the next and the last the first.  It begins with its lowest number; of
        several as short, it is the one with the lowest beginning.

    Examples
    --------
    >>> find_cycle([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    [0, 1, 2]
    """
    links = np.asarray(matrix, bool)
    if links.ndim != 2 or links.shape[0] != links.shape[1]:
        raise GinSimError(f"matrix of shape {links.shape}: allowed is a square")
    next_to = [[int(j) for j in np.flatnonzero(row) if j != i] for i, row in enumerate(links)]
    best: list[int] | None = None
    for start in range(len(links)):
        found = _way_back(next_to, start)
        if found is not None and (best is None or len(found) < len(best)):
            best = found
    return best


def _way_back(next_to: list[list[int]], start: int) -> list[int] | None:
    """Return a shortest cycle through an agent, by breadth-first search."""
    before: dict[int, int] = {}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        for other in next_to[at]:
            if other == start:
                way = [at]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if other not in before:
                before[other] = at
                queue.append(other)
    return None
