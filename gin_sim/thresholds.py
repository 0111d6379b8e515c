"""Whole policies by threshold: knock while T or more cards are left, else go for gin.

The stock only shrinks: such a player knocks at its first chance, if T or more cards are
left there, or goes for gin to the end.  So the two branches at a player's first chance are
all that any T can come to, and one fork a seat stands for all of them on the same deals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim.forks import ForkPiece, ForkPlan, play_forks
from gin_sim.registry import Agent
from gin_sim.rules import Rules
from gin_sim.stats import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = tuple(range(2, 33))
"""The T's that there are: 2 knocks always, 32 never with deadwood."""


def threshold_plans(
    player: Agent, opponent: Agent, *, rules: Rules, seed: int
) -> tuple[ForkPlan, ForkPlan]:
    """Return what to fork, for each seat of the player."""
    gin_only = player.with_params({"knock_most": 0})
    first, second = (
        ForkPlan.of(player, gin_only, opponent, rules=rules, seed=seed, asked=seat)
        for seat in (0, 1)
    )
    return first, second


@dataclass
class ThresholdSums:
    """Points of each T over mirrored deals, and their products: all that pairs need.

    Attributes
    ----------
    points : (T,) array of int64
    products : (T, T) array of int64
    """

    n: int = 0
    points: Any = 0
    products: Any = 0

    def add(self, other: ThresholdSums) -> None:
        """Add other deals."""
        self.n += other.n
        self.points = self.points + other.points
        self.products = self.products + other.products

    def table(self) -> pd.DataFrame:
        """Return how each T does, and which the best one excludes.

        Returns
        -------
        DataFrame
            ``T``; ``n``, mirrored deals; ``points`` a hand from the side of the player
            with the T, with their error ``se``; ``behind``, how much less that is than
            the best T's on the same deals, with its error; and ``excluded`` (Bonferroni
            over the T's, 95 %).  Empty for fewer than two deals.
        """
        import pandas as pd  # noqa: PLC0415 - not needed to get help
        from scipy.special import ndtri  # noqa: PLC0415

        sure = float(ndtri(1 - (1 - CONFIDENCE) / (len(THRESHOLDS) - 1)))
        n, totals, products = self.n, self.points, self.products
        rows = []
        for t, threshold in enumerate(THRESHOLDS if n > 1 else ()):
            best = int(np.argmax(totals))
            gap = int(totals[best] - totals[t])
            squares = int(products[best, best] - 2 * products[best, t] + products[t, t])
            # Two hands a deal: points are a hand.
            gap_se = math.sqrt(max(squares - gap * gap / n, 0) / (n - 1) / n) / 2
            spread = max(int(products[t, t]) - int(totals[t]) ** 2 / n, 0) / (n - 1)
            points, behind = int(totals[t]) / n / 2, gap / n / 2
            se, excluded = math.sqrt(spread / n) / 2, behind > sure * gap_se
            rows.append((threshold, n, points, se, behind, gap_se, excluded))
        names = ("T", "n", "points", "se", "behind", "behind_se", "excluded")
        return pd.DataFrame(rows, columns=list(names))


def play_thresholds(pieces: Sequence[ForkPiece]) -> ThresholdSums:
    """Play a range of deals with every T: a piece of forks for each seat."""
    points = np.zeros((len(THRESHOLDS), pieces[0].count), np.int64)
    for piece in pieces:
        rows = play_forks(piece)
        knocks = rows["stock_left"] >= np.array(THRESHOLDS)[:, None]
        points += np.where(knocks, rows["knock_points"], rows["wait_points"])
    return ThresholdSums(pieces[0].count, points.sum(axis=1), points @ points.T)
