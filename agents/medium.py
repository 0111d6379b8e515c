"""The medium level: solid gin that looks at its own cards only.

Takes the upcard if it makes a meld, or helps a lot.  Throws the highest card that is
outside its melds and not half of something: a card that stands in a promising pair, two
thirds of a meld whose third card it does not hold, is kept at the price of a few points.
Knocks as soon as it may.
"""

from gin_sim import Params, View, agent
from gin_sim.bits import lowest
from gin_sim.chance import pick
from gin_sim.compiled import kernel
from gin_sim.melds import least_deadwood, least_discards_among, makes_meld
from gin_sim.outs import promising

KEEP, HELP = 0, 1


@kernel
def helps(view: View, points: float) -> bool:
    """Return whether the upcard lowers the deadwood, by so many points if it is no meld."""
    after, _ = least_discards_among(view.hand | 1 << view.upcard, view.hand)
    fall = view.deadwood - after
    return fall > 0 and (fall >= points or makes_meld(view.hand, view.upcard))


@kernel
def throws(view: View, keep: float) -> int:
    """Return the card that leaves least, promising cards being worth `keep` points."""
    kept = promising(view.hand, ~view.hand)
    best = 1000.0
    chosen = 0
    left = view.legal_discards
    while left:
        card = left & -left
        left ^= card
        cost = least_deadwood(view.hand ^ card) + (keep if kept & card else 0.0)
        if cost < best:
            best = cost
            chosen = 0
        if cost == best:
            chosen |= card
    return pick(chosen, view.word)


@agent("medium", source="the medium level of web games: a solid player", keep=2, help=8)
class Medium:
    """Takes what helps, throws high but keeps promising pairs, knocks whenever it may."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return helps(view, params[HELP])

    @staticmethod
    def discard(view: View, params: Params) -> int:
        # Whoever holds gin sees it.
        if view.deadwood == 0:
            return lowest(view.best_discards)
        return throws(view, params[KEEP])

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return True
