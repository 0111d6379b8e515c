"""What numbers a tournament states, from sums that can be added in any order.

Points are whole numbers, so all sums are exact and the result does not depend on how the
work was cut.  The unit of chance is a mirrored deal (or a mirrored pair of games): its
two hands share the cards, so they are one observation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

CONFIDENCE = 0.95


@dataclass
class RatioSums:
    """Sums over units of a value x and the hands h it came from; additive.

    The estimate is the sum of x over the sum of h; its standard error is that of the
    ratio (delta method), which for units of two hands each is the plain one of a mean.
    """

    n: int = 0
    x: int = 0
    xx: int = 0
    h: int = 0
    hh: int = 0
    xh: int = 0

    def add(self, x: Any, h: Any) -> None:
        """Add units: arrays of integers of one length."""
        x = np.asarray(x, dtype=np.int64)
        h = np.asarray(h, dtype=np.int64)
        self.n += int(x.size)
        self.x += int(x.sum())
        self.xx += int((x * x).sum())
        self.h += int(h.sum())
        self.hh += int((h * h).sum())
        self.xh += int((x * h).sum())

    @property
    def mean(self) -> float | None:
        """The sum of x for each h; None without data."""
        return self.x / self.h if self.h else None

    @property
    def standard_error(self) -> float | None:
        """Of the mean; None for fewer than two units."""
        if self.n < 2 or self.h == 0:
            return None
        ratio = self.x / self.h
        residual = self.xx - 2 * ratio * self.xh + ratio * ratio * self.hh
        variance = max(residual, 0.0) / (self.n - 1)
        return math.sqrt(variance / self.n) / (self.h / self.n)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Return the t interval of the mean over units; None for fewer than two."""
        error, mean = self.standard_error, self.mean
        if error is None or mean is None:
            return None
        half = t_quantile(0.5 + confidence / 2, self.n - 1) * error
        return mean - half, mean + half


def t_quantile(p: float, degrees: int) -> float:
    """Return a quantile of Student's t distribution."""
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy is not needed to get help

    return float(stdtrit(degrees, p))
