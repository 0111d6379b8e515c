"""Throws what its own future can spare, and what the opponent can use least.

What ten cards are worth is their deadwood less the hope in them: the mean of the best few
improvements that one unseen card can bring (this shrinks with the turns) and the cards
that would make gin; with `mass` also what an unseen card brings on average, which did not
help.  A throw costs what it leaves and what it is to the opponent, judged by the cards
dead, unseen and known around it.  The upcard is taken if it makes a meld that brings gin
or leaves a hand of less cost.  Knocks in the first turns only; then it goes for gin.
"""

from gin_sim import Params, View, agent
from gin_sim.belief import read_opponent
from gin_sim.bits import lowest, popcount
from gin_sim.cards import DECK
from gin_sim.compiled import kernel
from gin_sim.danger import danger
from gin_sim.melds import least_deadwood, least_discards_among
from gin_sim.outs import completing, outs

FEW, HOPE, MASS, GIN, SHRINK, CAUTION, TEMPO, MORE, LESS, MARGIN, STOCK = range(11)

LEAST_HOPE = 0.1
"""What is left of the hope in the best few cards, however late it is."""

SPARED = 5
"""A throw that leaves more than so many points over the best is not looked into: it saves
half of the time, and in 16,000 games nothing was lost by it."""


@kernel
def cost(hand: int, unseen: int, turn: int, params: Params) -> float:
    """Return the deadwood of ten cards less the hope in them."""
    found = outs(hand, unseen, int(params[FEW]))
    hope = params[HOPE] * max(1 - params[SHRINK] * turn, LEAST_HOPE) * found.best
    hope += params[MASS] * found.total / max(popcount(unseen), 1) + params[GIN] * found.gin
    return float(found.deadwood - hope)


@kernel
def least_cost(view: View, params: Params) -> float:
    """Return the cost of the best ten cards that taking the upcard can lead to."""
    hand = view.hand | 1 << view.upcard
    unseen = DECK & ~view.seen
    deadwood, _ = least_discards_among(hand, view.hand)
    if deadwood == 0:  # gin, to which no hope compares
        return -1e9
    best = 1e9
    left = view.hand
    while left:
        card = left & -left
        left ^= card
        if least_deadwood(hand ^ card) <= deadwood + SPARED:
            best = min(best, cost(hand ^ card, unseen, view.own_turn, params))
    return best


@kernel
def throws(view: View, params: Params) -> int:
    """Return the card that costs its own future and the safety of its throw least."""
    if view.deadwood == 0:  # whoever holds gin sees it
        return lowest(view.best_discards)
    unseen = DECK & ~view.seen
    belief = read_opponent(view, params[MORE], params[LESS])
    best = 1e9
    chosen = -1
    left = view.legal_discards
    while left:
        card = lowest(left)
        left &= left - 1
        rest = view.hand ^ 1 << card
        if least_deadwood(rest) > view.deadwood + SPARED:
            continue
        feared = danger(belief, card)
        feeds = params[CAUTION] * (params[TEMPO] * feared.melds + feared.points)
        costs = cost(rest, unseen, view.own_turn, params) + feeds
        if costs < best:
            best = costs
            chosen = card
    return chosen


@kernel
def wants(view: View, params: Params) -> bool:
    """Return whether the upcard makes a meld that leaves a hand of less cost."""
    if not completing(view.hand) >> view.upcard & 1:
        return False
    now = cost(view.hand, DECK & ~view.seen, view.own_turn, params)
    return bool(least_cost(view, params) < now - params[MARGIN])


@agent(
    "improver",
    source="after the idea of the strongest public bots: expected improvement against danger",
    few=4,
    hope=0.6,
    mass=0,
    gin=1,
    shrink=0.025,
    caution=0.05,
    tempo=14,
    more=2,
    less=0.8,
    margin=1.5,
    stock=26,
)
class Improver:
    """Weighs its next improvements against what it gives away; knocks early or not at all."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return wants(view, params)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view, params)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return bool(view.stock_left >= params[STOCK])
