"""The hard level: as `medium`, and it watches the other player.

It counts what is dead: a pair whose third card is gone is worth nothing to it, and a card
that the opponent can no longer use is thrown first.  It remembers what the opponent took,
threw and left lying, and does not feed its melds.  It knocks early, while the stock is
high, and later holds out for gin.
"""

from agents.medium import helps
from gin_sim import Params, View, agent
from gin_sim.belief import read_opponent
from gin_sim.bits import lowest
from gin_sim.compiled import kernel
from gin_sim.danger import danger
from gin_sim.melds import least_deadwood
from gin_sim.outs import promising

KEEP, HELP, CAUTION, MORE, LESS, STOCK = range(6)


@kernel
def throws(view: View, params: Params) -> int:
    """Return the card that costs least: what is left, what is given up, whom it helps."""
    belief = read_opponent(view, params[MORE], params[LESS])
    kept = promising(view.hand, belief.unseen)
    best = 1e9
    chosen = -1
    left = view.legal_discards
    while left:
        card = lowest(left)
        left &= left - 1
        cost = least_deadwood(view.hand ^ 1 << card) + params[CAUTION] * danger(belief, card).melds
        if kept >> card & 1:
            cost += params[KEEP]
        if cost < best:
            best = cost
            chosen = card
    return chosen


@agent(
    "hard",
    source="the hard level of web games: one who watches the opponent",
    keep=2,
    help=8,
    caution=3,
    more=1.5,
    less=0.5,
    stock=25,
)
class Hard:
    """As `medium`, but counts cards, feeds no melds, and knocks early or goes for gin."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return helps(view, params[HELP])

    @staticmethod
    def discard(view: View, params: Params) -> int:
        # Whoever holds gin sees it.
        if view.deadwood == 0:
            return lowest(view.best_discards)
        return throws(view, params)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return bool(view.stock_left >= params[STOCK])
