"""What knocking is worth at each count of the stock, from forks: tables and break-even.

Forks are counted, not kept: a :class:`ForkCounts` has a fixed size, can be added up in
any order, and holds all that the tables, the errors and the bootstrap need.  There is
one fork a deal, so forks are independent and a resampling of forks is one of deals.

Terms
-----
effect
    The mean over forks of the points of knocking minus those of waiting.
break-even
    The smallest ``stock_left`` from which the effect is positive, there and at every
    larger count that occurs.
zero
    Where a non-decreasing fit of the effect over ``stock_left`` (weighted least squares
    [1]_) crosses zero, linearly between the counts.

References
----------
.. [1] Barlow, Bartholomew, Bremner and Brunk, "Statistical Inference under Order
   Restrictions", 1972.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim.scoring import OUTCOMES
from gin_sim.stats import CONFIDENCE, t_quantile

if TYPE_CHECKING:
    import pandas as pd

VIEWS = (
    *("all", "stock before the draw", "non-dealer", "dealer"),
    *(f"deadwood {n}" for n in range(1, 11)),
)
"""The ways in which differences are counted by the stock."""

STOCKS = 33
"""Counts of the stock: 0..32; the last is one before a draw from 31."""
SPAN = 511
_TURNS = 128
_SHAPE = (STOCKS, 11, 2)
_FIELDS = ("n", "knock", "wait", "squares", "undercuts")
NEVER = math.inf
"""The break-even where knocking does not pay at the largest count."""


def _sums(cell: Any, cells: int, knock: Any, wait: Any, undercut: Any) -> Any:
    """Return the sums of :data:`_FIELDS` by cell as a (fields, cells) array of int64."""
    difference = knock - wait
    weights = (None, knock, wait, difference * difference, undercut)
    sums = [np.bincount(cell, weights=w, minlength=cells) for w in weights]
    return np.array(sums).astype(np.int64)


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.int64)


@dataclass
class ForkCounts:
    """Forks, counted.

    Attributes
    ----------
    deals : int
        Deals played, with a fork or without.
    cells : (5, 33, 11, 2) array
        Sums by stock_left, deadwood and seat.
    turns : (5, 128) array
        Sums by turns ended before.
    differences : (14, 33, 1023) array
        How often each difference came at each count of the stock, for each of
        :data:`VIEWS`.
    """

    deals: int = 0
    cells: Any = field(default_factory=lambda: _zeros(len(_FIELDS), *_SHAPE))
    turns: Any = field(default_factory=lambda: _zeros(len(_FIELDS), _TURNS))
    differences: Any = field(default_factory=lambda: _zeros(len(VIEWS), STOCKS, 2 * SPAN + 1))

    @classmethod
    def of(cls, deals: int, rows: Any, line: int = 0) -> ForkCounts:
        """Count forks.

        Parameters
        ----------
        deals : int
            Deals they come from.
        rows : array of FORK_DTYPE
        line : int
            Points that a hand won is worth beside its own, as a line bonus gives.
        """
        knock, wait = (
            rows[name].astype(np.int64) + line * np.sign(rows[name])
            for name in ("knock_points", "wait_points")
        )
        undercut = rows["knock_outcome"] == OUTCOMES.index("undercut")
        stock = rows["stock_left"].astype(np.int64)
        cell = np.ravel_multi_index((stock, rows["deadwood"], rows["seat"]), _SHAPE)
        counted = cls(deals)
        counted.cells += _sums(cell, int(np.prod(_SHAPE)), knock, wait, undercut).reshape(
            counted.cells.shape
        )
        counted.turns += _sums(rows["turn"], _TURNS, knock, wait, undercut)
        shifted = np.clip(knock - wait, -SPAN, SPAN) + SPAN
        seat, deadwood = rows["seat"].astype(np.int64), rows["deadwood"].astype(np.int64)
        for view, count in (
            (0, stock),
            (1, stock + rows["drew"]),
            (2 + seat, stock),
            (3 + deadwood, stock),
        ):
            np.add.at(counted.differences, (view, count, shifted), 1)
        return counted

    def add(self, other: ForkCounts) -> None:
        """Add the forks of other deals."""
        self.deals += other.deals
        self.cells += other.cells
        self.turns += other.turns
        self.differences += other.differences

    @property
    def forks(self) -> int:
        """How many forks there are."""
        return int(self.cells[0].sum())

    def effects(self) -> pd.DataFrame:
        """Return the effect by stock_left; see :func:`effect_table` for the columns."""
        return effect_table("stock_left", self.cells.sum(axis=(2, 3)))

    def by_turn(self) -> pd.DataFrame:
        """Return the effect by the number of turns ended before the fork."""
        return effect_table("turn", self.turns)

    def by_seat(self, seat: int) -> pd.DataFrame:
        """Return the effect by stock_left for a seat: 0 the non-dealer, 1 the dealer."""
        return effect_table("stock_left", self.cells[..., seat].sum(axis=2))

    def by_deadwood(self, deadwood: int) -> pd.DataFrame:
        """Return the effect by stock_left for one deadwood at the fork."""
        return effect_table("stock_left", self.cells[:, :, deadwood].sum(axis=2))

    def cell_table(self) -> pd.DataFrame:
        """Return the effect by stock_left and deadwood, a row for each that occurs."""
        import pandas as pd  # noqa: PLC0415 - not needed to get help

        frames = []
        for deadwood in range(1, 11):
            frame = self.by_deadwood(deadwood)
            frame.insert(1, "deadwood", deadwood)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)


def effect_table(name: str, sums: Any) -> pd.DataFrame:
    """Return effects and their errors from sums.

    Returns
    -------
    DataFrame
        One row for each count that occurs: ``n``, ``knock_points``, ``wait_points``,
        ``difference`` (points a hand), ``se`` (its standard error, none for one fork),
        ``undercut_rate`` (of the knocks), and ``band_low``, ``band_high``: 95 % bands
        that hold for all rows at once (Šidák, since rows share no deal).
    """
    import pandas as pd  # noqa: PLC0415

    places = np.flatnonzero(sums[0])
    n, knock, wait, squares, undercuts = (part[places].astype(float) for part in sums)
    difference = (knock - wait) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(squares - n * difference**2, 0.0) / (n - 1)
        se = np.where(n > 1, np.sqrt(variance / n), np.nan)
    sure = (1 + CONFIDENCE ** (1 / max(len(places), 1))) / 2
    half = np.array(
        [t_quantile(sure, int(k) - 1) * e if k > 1 else np.nan for k, e in zip(n, se, strict=True)]
    )
    return pd.DataFrame(
        {
            name: places,
            "n": n.astype(np.int64),
            "knock_points": knock / n,
            "wait_points": wait / n,
            "difference": difference,
            "se": se,
            "undercut_rate": undercuts / n,
            "band_low": difference - half,
            "band_high": difference + half,
        }
    )


def break_even(stock: Any, effect: Any) -> float:
    """Return the smallest count from which the effect is positive; NEVER if it never is.

    Parameters
    ----------
    stock, effect : (k,) arrays
        Counts in ascending order, and the effect at each.

    Examples
    --------
    >>> break_even([20, 21, 22, 23], [0.5, -1.0, 0.1, 0.2])
    22.0
    """
    paying = np.asarray(effect) > 0
    if paying.size == 0 or not paying[-1]:
        return NEVER
    losing = np.flatnonzero(~paying)
    return float(np.asarray(stock)[losing[-1] + 1 if losing.size else 0])


def monotone_zero(stock: Any, effect: Any, n: Any) -> float:
    """Return where a non-decreasing fit crosses zero.

    Parameters
    ----------
    stock, effect, n : (k,) arrays
        Counts in ascending order, the effect at each and the forks it comes from.

    Returns
    -------
    float
        The first count if the fit is positive everywhere, NEVER if nowhere.
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415

    stock, effect = np.asarray(stock, float), np.asarray(effect, float)
    if stock.size == 0:
        return NEVER
    fit = isotonic_regression(effect, weights=np.asarray(n, float)).x
    positive = np.flatnonzero(fit > 0)
    if positive.size == 0:
        return NEVER
    i = int(positive[0])
    if i == 0:
        return float(stock[0])
    share = -fit[i - 1] / (fit[i] - fit[i - 1])
    return float(stock[i - 1] + share * (stock[i] - stock[i - 1]))


@dataclass(frozen=True)
class BreakEven:
    """A break-even and a zero, each with a 95 % interval; NEVER (infinity) is possible."""

    break_even: float
    ci_low: float
    ci_high: float
    zero: float
    zero_low: float
    zero_high: float


def find_break_even(differences: Any, *, resamples: int = 1000, seed: int = 0) -> BreakEven | None:
    """Return where knocking begins to pay, with bootstrap intervals over deals.

    Parameters
    ----------
    differences : (33, 1023) array
        How often each difference came at each count: one of
        :attr:`ForkCounts.differences`.
    resamples : int
        Bootstrap samples: forks drawn anew, with replacement, from all forks.
    seed : int
        Of the bootstrap.

    Returns
    -------
    BreakEven or None
        None without a fork.
    """
    total = int(differences.sum())
    if total == 0:
        return None
    stock, place = np.nonzero(differences)
    chance = differences[stock, place] / total
    values = place - SPAN
    rng = np.random.default_rng(seed)

    def both(counts: Any) -> tuple[float, float]:
        n = np.bincount(stock, weights=counts, minlength=STOCKS)
        sums = np.bincount(stock, weights=counts * values, minlength=STOCKS)
        there = np.flatnonzero(n)
        effect = sums[there] / n[there]
        return break_even(there, effect), monotone_zero(there, effect, n[there])

    found = both(differences[stock, place])
    again = np.sort([both(rng.multinomial(total, chance)) for _ in range(resamples)], axis=0)
    tail = (1 - CONFIDENCE) / 2 * (resamples - 1)
    low, high = again[math.floor(tail)], again[resamples - 1 - math.floor(tail)]
    return BreakEven(
        found[0], float(low[0]), float(high[0]), found[1], float(low[1]), float(high[1])
    )
