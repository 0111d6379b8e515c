"""Lowers its deadwood at every step, and knocks as soon as it may.

Takes the upcard only if that lowers the deadwood left after the best discard.  Among the
discards that leave the least it throws the highest rank, and of equal ranks the card
with the fewest melds open to the opponent: melds of which no card is in its own hand or
in the pile.
"""

from gin_sim import Params, View, agent
from gin_sim.bits import highest_value_cards, lowest, popcount
from gin_sim.compiled import kernel
from gin_sim.melds import RANK_0, least_discards_among


@kernel
def melds_open(card: int, dead: int) -> int:
    """Return how many melds of three hold a card and none of the dead cards."""
    others = (RANK_0 << card % 13) & ~(1 << card)
    live = popcount(others & ~dead)
    n = live * (live - 1) // 2
    rank = card % 13
    for low in range(max(rank - 2, 0), min(rank, 10) + 1):
        run = 7 << (card - rank + low)
        if run & ~(1 << card) & dead == 0:
            n += 1
    return n


@kernel
def takes(view: View) -> bool:
    """Return whether taking the upcard lowers the deadwood after the best discard."""
    after, _ = least_discards_among(view.hand | 1 << view.upcard, view.hand)
    return after < view.deadwood


@kernel
def throws(view: View) -> int:
    """Return the best discard: highest rank, then least useful to the opponent."""
    best = highest_value_cards(view.best_discards)
    dead = view.hand | view.pile
    chosen, fewest = -1, 1000
    while best:
        card = lowest(best)
        best &= best - 1
        n = melds_open(card, dead)
        if n < fewest:
            chosen, fewest = card, n
    return chosen


@agent("greedy", source="the usual first program of everyone who writes one")
class Greedy:
    """Takes only what lowers its deadwood, throws high, knocks whenever it may."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes(view)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return True
