"""The chance of winning a game from a score, for compiled code.

What a hand brings is taken from 1,000,000 hands between two players of one strength
(``gin-sim tournament improver improver --hands 1000000 --seed 5 --rules eaai``); from there
the table is solved backwards from the target, each score being a mean over those that can
follow.  Who deals is left out: it matters little.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TARGET = 100
"""The target that the table is for; other targets are scaled to it."""

# fmt: off
HANDS_BY_POINTS = (
    1946, 2936, 3616, 4330, 4592, 4964, 5140, 5620, 5758, 5924, 6126, 5858, 5854, 5958, 5930,
    5704, 6006, 5672, 5994, 5998, 6212, 5806, 5864, 5692, 6776, 106264, 81864, 51764, 74736,
    65160, 42294, 55150, 50296, 34536, 34564, 30272, 22698, 21694, 18032, 14450, 13466, 11678,
    9600, 8846, 8232, 6918, 6632, 6212, 5746, 5164, 4798, 4432, 4028, 3544, 3288, 2872, 2664,
    2534, 2222, 1814, 1800, 1534, 1482, 1296, 1092, 916, 844, 686, 624, 538, 504, 412, 332, 286,
    280, 288, 220, 172, 194, 158, 120, 154, 134, 122, 108, 100, 88, 56, 44, 68, 50, 32, 42, 28,
    18, 26, 18, 18, 16, 6, 4, 4, 4, 2, 4, 4, 0, 4, 2, 0, 2,
)
# fmt: on
"""How many of the decided hands brought the winner 1, 2, … points."""


def solve(hands_by_points: tuple[int, ...], target: int) -> NDArray[np.float64]:
    """Return the chance of winning for every pair of scores, between players as good.

    Parameters
    ----------
    hands_by_points : tuple of int
        How many hands brought the winner 1, 2, … points.
    target : int
        The score that ends the game.

    Returns
    -------
    (target + 1, target + 1) array of float
        By the own score and the opponent's; a score at the target is a game won.

    Examples
    --------
    With one point a hand, one more is needed of one each:

    >>> solve((1,), 2).tolist()
    [[0.5, 0.25, 0.0], [0.75, 0.5, 0.0], [1.0, 1.0, 0.5]]
    """
    points = np.arange(1, len(hands_by_points) + 1)
    chances = np.array(hands_by_points) / sum(hands_by_points)
    wins = np.full((target + 1, target + 1), 0.5)
    wins[target, :target] = 1.0
    wins[:target, target] = 0.0
    for own in range(target - 1, -1, -1):
        after_own = np.minimum(own + points, target)
        for other in range(target - 1, -1, -1):
            after_other = np.minimum(other + points, target)
            gained = chances @ wins[after_own, other]
            lost = chances @ wins[own, after_other]
            wins[own, other] = (gained + lost) / 2
    return wins


WINS = solve(HANDS_BY_POINTS, TARGET)
"""The chance of winning a game to 100 by the own score and the opponent's."""
