"""The best fast agent found so far: every weight set by self-play.

It judges ten cards by what is left in them, by what the next card can do for them and by
what the throw is to the opponent, as `improver` does, but leaves it to its parameters how
much each counts, early and late.  It knocks like `bayes`.  The parameters come from
``experiments/tune.py``; results/tune says how.
"""

from agents.bayes import knocks_by
from gin_sim import Params, View, agent
from gin_sim.belief import read_opponent
from gin_sim.bits import lowest, popcount
from gin_sim.cards import DECK
from gin_sim.compiled import kernel
from gin_sim.danger import Danger, danger
from gin_sim.melds import least_deadwood, least_discards_among
from gin_sim.outs import completing, outs, promising

# Each counts for the first parameter in the first turn; the second is added by the tenth.
LEFT, BEST, GIN, MEAN, CARDS, PAIRS, FEEDS, POINTS = range(0, 16, 2)
MARGIN = 16
MORE, LESS, WAITING, PER_OUT, PER_CARD, THEIRS = range(18, 24)

FEW = 4
LATE = 10
SPARED = 6
"""A throw that leaves more than so many points over the best is not looked into."""

WORLDS, SETTLE, BETWEEN = 8, 24, 4


@kernel
def weight(params: Params, which: int, turn: int) -> float:
    """Return what something counts for by now."""
    return float(params[which] + params[which + 1] * min(turn, LATE) / LATE)


@kernel
def cost(hand: int, unseen: int, turn: int, params: Params) -> float:
    """Return what ten cards have to be rid of, less what may come."""
    found = outs(hand, unseen, FEW)
    n = max(popcount(unseen), 1)
    return (
        (1 + weight(params, LEFT, turn)) * found.deadwood
        - weight(params, BEST, turn) * found.best
        - weight(params, GIN, turn) * found.gin
        - weight(params, MEAN, turn) * found.total / n
        - weight(params, CARDS, turn) * found.cards / n
        - weight(params, PAIRS, turn) * popcount(promising(hand, unseen))
    )


@kernel
def fed(feared: Danger, turn: int, params: Params) -> float:
    """Return what a throw costs by what it is to the opponent."""
    return weight(params, FEEDS, turn) * feared.melds + weight(params, POINTS, turn) * feared.points


@kernel
def wants(view: View, params: Params) -> bool:
    """Return whether the upcard makes a meld that leaves a hand of less cost."""
    if not completing(view.hand) >> view.upcard & 1:
        return False
    hand = view.hand | 1 << view.upcard
    unseen = DECK & ~view.seen
    deadwood, _ = least_discards_among(hand, view.hand)
    if deadwood == 0:  # gin
        return True
    limit = cost(view.hand, unseen, view.own_turn, params)
    limit -= weight(params, MARGIN, view.own_turn)
    left = view.hand
    while left:
        card = left & -left
        left ^= card
        rest = hand ^ card
        if least_deadwood(rest) <= deadwood + SPARED:
            if cost(rest, unseen, view.own_turn, params) < limit:
                return True
    return False


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
        costs = cost(rest, unseen, view.own_turn, params)
        costs += fed(danger(belief, card), view.own_turn, params)
        if costs < best:
            best = costs
            chosen = card
    return chosen


@agent(
    "tuned",
    source="experiments/tune.py: CMA-ES against all fast agents",
    left=0,
    left_late=0,
    best=0.6,
    best_late=-0.15,
    gin=1,
    gin_late=0,
    mean=0,
    mean_late=0,
    cards=0,
    cards_late=0,
    pairs=0,
    pairs_late=0,
    feeds=0.7,
    feeds_late=0,
    points=0.05,
    points_late=0,
    margin=1.5,
    margin_late=0,
    more=2,
    less=0.8,
    waiting=20,
    per_out=2,
    per_card=0,
    theirs=0,
)
class Tuned:
    """As `improver` and `bayes`, with weights found by playing against all fast agents."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return wants(view, params)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view, params)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return knocks_by(view, params[WAITING:], WORLDS, SETTLE, BETWEEN)
