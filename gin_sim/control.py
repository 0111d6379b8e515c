"""A mirrored deal's points, corrected for what was dealt: a control variate.

What is dealt is known before play, and so is its mean over a fair shuffle.  A deal in which
both hands are poor can be expected to go a little better, or worse, for player a than the
average deal; that part of its points is luck and can be taken out [1]_: with y the points of
a over both hands of a deal, x the controls and E x their exact means, the corrected points
are ``y - b.(x - E x)``.  Their mean is that of y whatever b is, as long as b does not depend
on the same deals.  So b is fitted (least squares) on the deals of the other fold, and nothing
is biased, in the smallest run.

Two controls are used, with d the deadwood dealt to a seat minus 57:

* the sum of d over both seats;
* the sum of d squared over both seats.

There is little to gain.  Mirroring has already taken out the luck of the deal: whoever is
dealt the better hand has it once, and so has the other.  Over 200,000 deals of seed 1, with
the standard rules, in per cent of the variance:

====================  ============  ==============  ==============  ==============
a v b                 mirroring     the control,    more controls,  a control, on
                      leaves, of    on mirrored     on mirrored     single hands,
                      single hands  deals, saves    deals, save     saves
====================  ============  ==============  ==============  ==============
simple v greedy                 59            0.01             0.2             9.0
early_gin v simple              28            0.30             0.4             6.4
gin_only v simple               70            0.14             0.4             5.3
random v simple                102            1.00             1.5             0.9
====================  ============  ==============  ==============  ==============

"Single hands" are hands of different deals, a dealing half of them, and their controls the
deadwood dealt to a and to b and the points of the first upcard.  "More controls" are these
three and their products up to the third power, or a table of 225 cells of both deadwoods
beside the upcard, whichever came to more, fitted and judged on the same deals.

The two coefficients, each fitted on half of n deals, add about 4/n to the variance: what
saves 0.1 % pays from 4,000 deals on, and with 64 deals the variance is 7 to 9 % larger than
without.

References
----------
.. [1] A. B. Owen, "Monte Carlo theory, methods and examples", 2013, section 8.9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim.errors import GinSimError

# All hands of ten cards by their deadwood, counted one by one:
# python -m tests.benchmarks.dealt_deadwood
N_HANDS = 15_820_024_220
DEADWOOD_SUM = 894_929_816_444
DEADWOOD_SQUARES = 53_634_592_897_256

MEAN_DEADWOOD = Fraction(DEADWOOD_SUM, N_HANDS)
"""Of ten random cards: 56.569.  No rule changes it: nothing that rules know is asked
before the upcard lies on the table, and a run longer than any `longest_meld` allowed can
be laid down in pieces of three and more."""

ORIGIN = 57
"""What deadwood is counted from, so that sums of its squares stay small."""

N_CONTROLS = 2
EXPECTED = (
    2 * (MEAN_DEADWOOD - ORIGIN),
    2 * (Fraction(DEADWOOD_SQUARES, N_HANDS) - 2 * ORIGIN * MEAN_DEADWOOD + ORIGIN**2),
)
"""The means of the controls over a fair shuffle."""

FOLDS = 2
"""A deal is in fold ``deal & 1``."""

MIN_DEALS = 30
"""The fewest deals of a fold to fit on; below, fitting costs more than it can save."""

FOLD_DTYPE = np.dtype(
    [
        ("n", "i8"),
        ("y", "i8"),
        ("yy", "i8"),
        ("x", "i8", (N_CONTROLS,)),
        ("xx", "i8", (N_CONTROLS, N_CONTROLS)),
        ("xy", "i8", (N_CONTROLS,)),
    ]
)
"""Sums over the deals of a fold; see :class:`ControlSums`."""

_SAME = 1e-9
"""Controls as close to each other as this (1 minus their correlation) count as one."""


def _no_sums() -> NDArray[Any]:
    return np.zeros(FOLDS, FOLD_DTYPE)


@dataclass(eq=False)
class ControlSums:
    """Sums over mirrored deals of points, controls and their products; additive.

    Attributes
    ----------
    folds : (2,) array of FOLD_DTYPE
        ``folds[deal & 1]`` holds, over the deals of that parity: ``n``, their number; ``y``,
        the sum of y, the points of player a over both hands of a deal; ``yy``, of y squared;
        ``x[i]``, of control i; ``xx[i, j]``, of control i times control j, both triangles
        filled; ``xy[i]``, of control i times y.  Control 0 is ``d0 + d1`` and control 1
        ``d0 * d0 + d1 * d1``, where d0 and d1 are the deadwood dealt to the non-dealer and
        the dealer, each minus 57 (:data:`ORIGIN`); they are the same in both hands of a
        deal.  All are int64 without gaps, so ``folds.view(np.int64).reshape(2, 11)`` holds
        the same numbers in the order n, y, yy, x 0-1, xx 00-01-10-11, xy 0-1.

    Examples
    --------
    >>> from gin_sim.play import ROW_DTYPE
    >>> rows = np.zeros(2, ROW_DTYPE)
    >>> rows["game"], rows["mirror"], rows["points_a"] = -1, [0, 1], [30, -12]
    >>> rows["dealt_deadwood_a"], rows["dealt_deadwood_b"] = [60, 50], [50, 60]
    >>> sums = ControlSums()
    >>> sums.add(rows)
    >>> sums.folds.view(np.int64).reshape(2, 11)[0].tolist()
    [1, 18, 324, -4, 58, 16, -232, -232, 3364, -72, 1044]
    """

    folds: NDArray[Any] = field(default_factory=_no_sums)

    __hash__ = None  # type: ignore[assignment]

    @property
    def deals(self) -> int:
        """How many deals there are."""
        return int(self.folds["n"].sum())

    def add(self, rows: Any) -> None:
        """Add mirrored deals.

        Parameters
        ----------
        rows : array of ROW_DTYPE
            Both hands of each deal, one after the other, as they are played.

        Raises
        ------
        GinSimError
            For rows that are not whole mirrored deals, in this order; so for rows of games,
            in which the play decides what is dealt.
        """
        _check(rows)
        first, second = rows[0::2], rows[1::2]
        y = first["points_a"].astype(np.int64) + second["points_a"]
        seats = [first[name].astype(np.int64) for name in ("dealt_deadwood_a", "dealt_deadwood_b")]
        d = np.array(seats) - ORIGIN
        x = np.array([d.sum(axis=0), (d * d).sum(axis=0)])
        for parity, sums in enumerate(self.folds):
            here = first["deal"] % FOLDS == parity
            y_here, x_here = y[here], x[:, here]
            sums["n"] += y_here.size
            sums["y"] += y_here.sum()
            sums["yy"] += y_here @ y_here
            sums["x"] += x_here.sum(axis=1)
            sums["xx"] += x_here @ x_here.T
            sums["xy"] += x_here @ y_here

    def __add__(self, other: ControlSums) -> ControlSums:
        """Return the sums over the deals of both."""
        if not isinstance(other, ControlSums):
            return NotImplemented
        plain = self.folds.view(np.int64) + other.folds.view(np.int64)
        return ControlSums(plain.view(FOLD_DTYPE))

    def __eq__(self, other: object) -> bool:
        """Return whether all sums are the same."""
        return isinstance(other, ControlSums) and bool((self.folds == other.folds).all())


def _check(rows: Any) -> None:
    """Refuse rows that are not both hands of each deal, one after the other."""
    names = getattr(getattr(rows, "dtype", None), "names", None) or ()
    if "mirror" not in names:
        raise GinSimError(f"rows = a {type(rows).__name__}: give an array of ROW_DTYPE")
    if rows.size % 2:
        raise GinSimError(f"{rows.size} rows: a mirrored deal has 2")
    first, second = rows[0::2], rows[1::2]
    torn = (first["deal"] != second["deal"]) | (first["mirror"] != 0) | (second["mirror"] != 1)
    torn |= (first["game"] >= 0) | (second["game"] >= 0)
    if torn.any():
        row = first[int(np.argmax(torn))]
        raise GinSimError(
            f"rows of deal {row['deal']}, mirror {row['mirror']}, game {row['game']}: "
            "give hands of whole mirrored deals, 0 before 1, that are not of games"
        )


@dataclass(frozen=True)
class Corrected:
    """The points of a, corrected for what was dealt.

    Attributes
    ----------
    points_per_hand, standard_error : float
    ci95 : (float, float)
        Student's t interval over deals.
    coefficients : tuple of 2 tuples of 2 floats
        For each fold, the points (of both hands of a deal) for a unit of each control by
        which it was corrected; fitted on the other fold.
    saving : float
        1 minus the variance of the corrected mean over that of the plain one: the share of
        the deals that could be saved.  Below 0 where fitting cost more than it gained.
    """

    points_per_hand: float
    standard_error: float
    ci95: tuple[float, float]
    coefficients: tuple[tuple[float, ...], ...]
    saving: float


@dataclass(frozen=True)
class _Moments:
    """Of deals: means, the controls' measured from what is expected, and centred sums."""

    n: int
    y: float
    x: NDArray[np.float64]
    yy: float
    xx: NDArray[np.float64]
    xy: NDArray[np.float64]

    @classmethod
    def of(cls, sums: Any) -> _Moments:
        # In whole numbers of any size up to the last division: nothing cancels, and points
        # that are all the same have exactly no spread.
        n, y, yy = (int(sums[name]) for name in ("n", "y", "yy"))
        x, xx, xy = (sums[name].astype(object) for name in ("x", "xx", "xy"))
        off = [float(Fraction(s, n) - mean) for s, mean in zip(x, EXPECTED, strict=True)]
        return cls(
            n=n,
            y=y / n,
            x=np.array(off),
            yy=(n * yy - y * y) / n,
            xx=((n * xx - np.outer(x, x)) / n).astype(np.float64),
            xy=((n * xy - x * y) / n).astype(np.float64),
        )

    def fit(self) -> NDArray[np.float64]:
        """Return the least-squares coefficients; the shortest of them where many fit."""
        spread = np.sqrt(np.diag(self.xx))
        spread[spread == 0] = 1.0
        correlations = self.xx / np.outer(spread, spread)
        solution = np.linalg.lstsq(correlations, self.xy / spread, rcond=_SAME)[0]
        coefficients: NDArray[np.float64] = solution / spread
        return coefficients

    def residual(self, coefficients: NDArray[np.float64]) -> float:
        """Return the variance of y corrected by `coefficients`, about its own mean."""
        left = self.yy - 2 * coefficients @ self.xy + coefficients @ self.xx @ coefficients
        return max(float(left), 0.0) / (self.n - 1)


def corrected(sums: ControlSums) -> Corrected | None:
    """Return the points of a hand corrected for what was dealt.

    The standard error is that of each fold's corrected points as they are spread under the
    coefficients of the other, so it holds what it costs that these are not known.

    Parameters
    ----------
    sums : ControlSums

    Returns
    -------
    Corrected or None
        None where a fold has fewer than 30 deals (:data:`MIN_DEALS`).

    Examples
    --------
    >>> corrected(ControlSums()) is None
    True
    """
    from gin_sim.stats import CONFIDENCE, t_quantile  # noqa: PLC0415 - which may hold such sums

    if int(sums.folds["n"].min()) < MIN_DEALS:
        return None
    folds = [_Moments.of(fold) for fold in sums.folds]
    coefficients = [fold.fit() for fold in reversed(folds)]
    n = sums.deals
    total, spread = 0.0, 0.0
    for fold, b in zip(folds, coefficients, strict=True):
        total += fold.n * (fold.y - float(b @ fold.x))
        spread += fold.n * fold.residual(b)
    # A deal is two hands.
    mean, error = total / n / 2, math.sqrt(spread) / n / 2
    y, yy = (int(sums.folds[name].sum()) for name in ("y", "yy"))
    plain = (n * yy - y * y) / (n - 1)
    half = t_quantile(0.5 + CONFIDENCE / 2, n - FOLDS) * error
    return Corrected(
        points_per_hand=mean,
        standard_error=error,
        ci95=(mean - half, mean + half),
        coefficients=tuple(tuple(float(value) for value in b) for b in coefficients),
        saving=1 - spread / plain if plain > 0 else 0.0,
    )
