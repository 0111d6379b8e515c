"""Danger: what a card thrown is to the opponent, compiled.

A card is of use to it if it holds two others that make a meld of three with it (a longer
meld contains one of three).  There are at most six such pairs, three of its rank and three
of its suit.
"""

from __future__ import annotations

from typing import NamedTuple

from gin_sim.belief import Belief, both_held
from gin_sim.compiled import kernel


class Danger(NamedTuple):
    """What a card is to the opponent.

    Attributes
    ----------
    melds : float
        How many melds of three it is expected to be able to make with the card; for small
        numbers the chance that it can use the card, which it is never less than.
    points : float
        The points of those melds, added up: what the opponent would get rid of or save.
    """

    melds: float
    points: float


@kernel
def points_at(rank: int) -> int:
    """Return the value of a rank: 1 for rank 0, the ace; 10 for a picture."""
    return min(rank + 1, 10)


@kernel
def danger(belief: Belief, card: int) -> Danger:
    """Return what throwing a card would be to the opponent.

    Examples
    --------
    Nothing known, 31 cards unseen and all of the card's neighbours among them:

    >>> from gin_sim.belief import Belief
    >>> one, two = 10 / 31, 10 * 9 / (31 * 30)
    >>> middle = Belief(0, (1 << 52) - 1, 0, 0, one, two, 1.0, 1.0)
    >>> [round(danger(middle, card).melds, 3) for card in (0, 1, 5)]  # Ac, 2c, 6c
    [0.387, 0.484, 0.581]
    """
    rank = card % 13
    base = card - rank
    melds = points = 0.0
    value = 3 * points_at(rank)
    suit = card // 13
    a = rank + 13 * (0 if suit > 0 else 1)
    b = rank + 13 * (1 if suit > 1 else 2)
    c = rank + 13 * (2 if suit > 2 else 3)
    of_rank = both_held(belief, a, b) + both_held(belief, a, c) + both_held(belief, b, c)
    melds += of_rank
    points += of_rank * value
    for low in range(max(rank - 2, 0), min(rank, 10) + 1):
        first = low if low < rank else low + 1
        last = low + 2 if low + 2 > rank else low + 1
        chance = both_held(belief, base + first, base + last)
        melds += chance
        points += chance * (points_at(low) + points_at(low + 1) + points_at(low + 2))
    return Danger(melds, points)
