"""Sequential probability ratio tests, from counts of results.

Results are counted by game (win, draw, loss) or, better, by mirrored pair: the two hands
of a pair share their cards, so a pair is one observation, with the score of both as one of
five values (pentanomial [1]_).  Two scales are in use, and each has its name:

``logistic``
    Elo: an expected score s is ``400 log10(s / (1 - s))``.
``normalized``
    nElo: the mean score less one half, in standard deviations of a game, times
    ``800 / ln 10`` [2]_.  A given nElo takes the same number of games to prove whatever
    the share of draws.

The log-likelihood ratio is that of the generalised test in its normal approximation
[1]_: with n observations whose mean is m and variance v, and the means m0 and m1 of the
hypotheses, ``n (m1 - m0) (2 m - m0 - m1) / (2 v)``.  On the normalized scale m is in
standard deviations, which are estimated from the same results, so that v is
``1 - g t + (k - 1) t**2 / 4`` for a mean of t, with the skewness g and the kurtosis k of the
results [4]_; in the ratio t is halfway between the hypotheses.  Categories that did not occur
count a thousandth, so that one-sided results have a finite ratio.

References
----------
.. [1] M. Van den Bergh, "A practical introduction to the GSPRT",
   https://www.cantate.be/Fishtest/GSPRT_approximation.pdf, approximation (2.1).
.. [2] M. Van den Bergh, "Comments on normalized Elo",
   https://www.cantate.be/Fishtest/normalized_elo_practical.pdf.
.. [3] E. B. Wilson, "Probable inference, the law of succession, and statistical
   inference", JASA 22, 1927.
.. [4] A. W. Lo, "The statistics of Sharpe ratios", Financial Analysts Journal 58, 2002, for
   normal results; for others by the same delta method.
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
from gin_sim.stats import CONFIDENCE

MODELS = ("logistic", "normalized")
SCALES = {"logistic": "Elo (logistic)", "normalized": "nElo (normalized)"}
LEAST = 10
"""Fewer observations than these decide nothing."""

_N_ELO = 800 / math.log(10)
_LITTLE = 1e-3
_LEAST_VARIANCE = 0.5

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Sprt:
    """A test of H0, strength `elo0`, against H1, strength `elo1`.

    Attributes
    ----------
    elo0, elo1 : float
        On the scale of the model, elo0 < elo1.
    alpha, beta : float
        Chances to accept H1 where H0 holds, and H0 where H1 holds.
    model : str
        ``logistic`` or ``normalized``.

    Raises
    ------
    GinSimError
        Naming the value that cannot be.
    """

    elo0: float = 0.0
    elo1: float = 5.0
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "logistic"

    def __post_init__(self) -> None:
        check_hypotheses(self.elo0, self.elo1, "elo0", "elo1", 2000)
        check_errors(self.alpha, self.beta)
        if self.model not in MODELS:
            raise GinSimError(f"model = {self.model!r}: allowed is {' or '.join(MODELS)}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at and beyond which H0 and H1 are accepted."""
        return wald_bounds(self.alpha, self.beta)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of counts, worst result first.

        Parameters
        ----------
        counts : sequence of 3 or 5 int
            Losses, draws, wins; or pairs by the score of both: LL, LD, LW or DD, WD, WW.
        """
        n = _distribution(counts)[0]
        low, high, shown = self.standardized(counts)
        return n * (high - low) * (2 * shown - low - high) / 2

    def standardized(self, counts: Sequence[int]) -> tuple[float, float, float]:
        """Return H0, H1 and the score seen, less one half, in standard deviations.

        Of a result, or on the normalized scale of a result's part in the score seen.

        Parameters
        ----------
        counts : sequence of 3 or 5 int
            As for :meth:`llr`.
        """
        _, values, chances = _distribution(counts)
        mean = float(chances @ values)
        sigma = math.sqrt(chances @ (values - mean) ** 2)
        shown = (mean - 0.5) / sigma
        if self.model == "logistic":
            low, high = ((expected_score(elo) - 0.5) / sigma for elo in (self.elo0, self.elo1))
            return low, high, shown
        spread = self._spread(counts)
        low, high = self._hypotheses(counts)
        return low / spread, high / spread, shown / spread

    def widening(self, counts: Sequence[int]) -> float:
        """Return the standard deviation at the score seen, for one of :meth:`standardized`.

        It is 1 but on the normalized scale, where the spread of the score seen depends on
        where it is.
        """
        if self.model == "logistic":
            return 1.0
        _, values, chances = _distribution(counts)
        mean = float(chances @ values)
        shown = (mean - 0.5) / math.sqrt(chances @ (values - mean) ** 2)
        return math.sqrt(normalized_variance(counts, shown)) / self._spread(counts)

    def _hypotheses(self, counts: Sequence[int]) -> tuple[float, float]:
        # A pair's standard deviation is that of a game over the square root of two.
        per_game = math.sqrt(len(counts) // 2)
        return self.elo0 / _N_ELO * per_game, self.elo1 / _N_ELO * per_game

    def _spread(self, counts: Sequence[int]) -> float:
        """Return the standard deviation of a normalized score halfway between H0 and H1."""
        return math.sqrt(normalized_variance(counts, sum(self._hypotheses(counts)) / 2))

    def from_standardized(self, drift: float, counts: Sequence[int]) -> float:
        """Return a score less one half, in standard deviations, on the scale of the test."""
        if self.model == "normalized":
            return drift * self._spread(counts) * _N_ELO / math.sqrt(len(counts) // 2)
        _, values, chances = _distribution(counts)
        sigma = math.sqrt(chances @ (values - chances @ values) ** 2)
        return elo_of(0.5 + drift * sigma)

    def decide(self, llr: float, n: int) -> str:
        """Return ``H0``, ``H1`` or ``continue``."""
        return decide(llr, n, self.bounds)


def normalized_variance(counts: Sequence[int], at: float) -> float:
    """Return the variance of a mean in standard deviations, times the number of results.

    Parameters
    ----------
    counts : sequence of 3 or 5 int
        As for :meth:`Sprt.llr`; their skewness and kurtosis are what is taken of them.
    at : float
        The mean score less one half, in standard deviations of a result.
    """
    _, values, chances = _distribution(counts)
    z = values - chances @ values
    z = z / math.sqrt(chances @ z**2)
    # That of a result's part in the ratio.  A few can be so skewed that nothing seems left.
    part = z - at / 2 * (z**2 - 1)
    return max(float(chances @ part**2), _LEAST_VARIANCE)


def decide(llr: float, n: int, bounds: tuple[float, float]) -> str:
    """Return what a log-likelihood ratio of n observations decides."""
    if n < LEAST:
        return "continue"
    return "H1" if llr >= bounds[1] else ("H0" if llr <= bounds[0] else "continue")


def wald_bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Return Wald's bounds of a log-likelihood ratio."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def check_hypotheses(low: Any, high: Any, name_low: str, name_high: str, most: float) -> None:
    """Refuse hypotheses that are no numbers, out of range, or in the wrong order."""
    for name, value in ((name_low, low), (name_high, high)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= most:
            raise GinSimError(f"{name} = {value!r}: allowed is a number -{most:g}..{most:g}")
    if not low < high:
        raise GinSimError(f"{name_low} = {low:g}, {name_high} = {high:g}: the first is the smaller")


def check_errors(alpha: Any, beta: Any) -> None:
    """Refuse error rates that are none."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, float) or not 1e-6 <= value <= 0.49:
            raise GinSimError(f"{name} = {value!r}: allowed is a number 0.000001..0.49")


def _distribution(counts: Sequence[int]) -> tuple[float, Vector, Vector]:
    """Return the number, the scores and the shares of counts, with a little of everything."""
    if len(counts) not in (3, 5):
        raise GinSimError(f"counts = {counts!r}: give 3 (loss, draw, win) or 5 (pairs)")
    whole = [whole_number(count, "count", 0, MAX_SEED) for count in counts]
    some = np.array([count or _LITTLE for count in whole], float)
    n = float(some.sum())
    return n, np.linspace(0, 1, len(counts)), some / n


def expected_score(elo: float) -> float:
    """Return the expected score of an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float:
    """Return the Elo difference of an expected score; infinite for 0 and 1."""
    if score <= 0:
        return -math.inf
    return math.inf if score >= 1 else 400 * math.log10(score / (1 - score))


def finite(value: float) -> float | None:
    """Return a number as JSON takes it: None for what is infinite."""
    return value if math.isfinite(value) else None


def wilson(score: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's interval of a share of n; the whole range for n = 0."""
    from scipy.special import ndtri  # noqa: PLC0415

    if n == 0:
        return 0.0, 1.0
    z2 = float(ndtri(0.5 + confidence / 2)) ** 2
    centre = (score + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2) / (1 + z2 / n) * math.sqrt(score * (1 - score) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def score_interval(counts: Sequence[int]) -> tuple[float, float, float] | None:
    """Return the mean score of counts and its 95 % interval, each count one observation.

    The normal interval of the mean; Wilson's where all results were wins, or losses, and
    there is no spread to go by.  None without results.
    """
    from scipy.special import ndtri  # noqa: PLC0415

    n = sum(counts)
    if n == 0:
        return None
    values = np.linspace(0, 1, len(counts))
    shares = np.array(counts, float) / n
    mean = float(shares @ values)
    if mean in (0.0, 1.0):
        # Each game of a pair is its own trial only if nothing ties it to the other.
        return mean, *wilson(mean, n)
    half = float(ndtri(0.5 + CONFIDENCE / 2)) * math.sqrt(shares @ (values - mean) ** 2 / n)
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def estimate(counts: Sequence[int], model: str = "logistic") -> tuple[float, float, float] | None:
    """Return the strength that counts show, and its 95 % interval, on a scale.

    Returns
    -------
    (estimate, low, high) or None
        Infinite at a score of 0 or 1; None without results, and for ``normalized`` also
        where all results were the same.
    """
    found = score_interval(counts)
    if found is None:
        return None
    if model == "logistic":
        return elo_of(found[0]), elo_of(found[1]), elo_of(found[2])
    values = np.linspace(0, 1, len(counts))
    n = sum(counts)
    shares = np.array(counts, float) / n
    sigma = math.sqrt(shares @ (values - found[0]) ** 2)
    if sigma == 0:
        return None
    per_game = math.sqrt(len(counts) // 2)
    from scipy.special import ndtri  # noqa: PLC0415

    at = (found[0] - 0.5) / sigma / per_game * _N_ELO
    spread = math.sqrt(normalized_variance(counts, (found[0] - 0.5) / sigma))
    half = float(ndtri(0.5 + CONFIDENCE / 2)) * spread / math.sqrt(n) / per_game * _N_ELO
    return at, at - half, at + half
