"""Which ratings the data cannot bound: agents that swept others, alone or as a group.

Maximum likelihood of the Bradley-Terry model has a finite answer if and only if everyone
is reached from everyone in the graph of who scored something against whom [1]_.

References
----------
.. [1] L. R. Ford, "Solution of a ranking problem from binary comparisons", American
   Mathematical Monthly 64, 1957.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Separation:
    """Who is separated from the main group of its component.

    The main group is the largest of those within which everyone is reached from everyone.
    Where two are as large there is none, and the group that nobody beat is above, the one
    that beat nobody is below.

    Attributes
    ----------
    above, below : (n,) bool arrays
        The rating could be as high, as low as one likes; both for an agent that is
        between groups, or beside them.
    swept, lost : (n,) bool arrays
        The agent won, lost everything it played.
    reach : (n, n) bool array
        Whether the first scored against the second, or against one who did, and so on.
    """

    above: Matrix
    below: Matrix
    swept: Matrix
    lost: Matrix
    reach: Matrix

    @property
    def separated(self) -> Matrix:
        """Either above or below, or both."""
        return self.above | self.below

    def note(self, agent: int) -> str:
        """Return what to say of an agent's rating; empty where it is bounded."""
        above, below = bool(self.above[agent]), bool(self.below[agent])
        if above and below:
            return "swept some and was swept by others: no bounds"
        if above:
            who = "won everything" if self.swept[agent] else "in a group that lost nothing"
            return f"{who}: at least"
        if below:
            who = "lost everything" if self.lost[agent] else "in a group that won nothing"
            return f"{who}: at most"
        return ""


def reachable(links: Matrix) -> Matrix:
    """Return the (n, n) matrix of who is reached from whom in any number of links.

    Examples
    --------
    >>> reachable(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)).astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    reach = links | np.eye(len(links), dtype=bool)
    while True:
        # Each round doubles the length of the ways; counts up to n are exact in float32.
        steps = reach.astype(np.float32)
        further = steps @ steps > 0
        if (further == reach).all():
            return reach
        reach = further


def separation(beaten: Matrix, component: NDArray[np.int64]) -> Separation:
    """Return who is separated.

    Parameters
    ----------
    beaten : (n, n) bool array
        Whether the first scored something against the second.
    component : (n,) int array
        Numbers of the components; those linked by `beaten` share one.
    """
    reach = reachable(beaten)
    mutual = reach & reach.T
    size = mutual.sum(axis=1)
    above, below = np.zeros((2, len(beaten)), bool)
    for number in np.unique(component):
        inside = component == number
        main = inside & (size == size[inside].max())
        some = int(np.flatnonzero(main)[0])
        if main.sum() == size[some]:
            over, under = reach[:, some], reach[some]
            above |= inside & ~under
            below |= inside & ~over
        else:
            # Reached by nobody else, reaching nobody else.
            top = ~(reach & ~mutual).any(axis=0)
            bottom = ~(reach & ~mutual).any(axis=1)
            above |= inside & ~bottom
            below |= inside & ~top
    some_won: Matrix = np.asarray(beaten.any(axis=1))
    some_lost: Matrix = np.asarray(beaten.any(axis=0))
    return Separation(above, below, some_won & ~some_lost, some_lost & ~some_won, reach)
