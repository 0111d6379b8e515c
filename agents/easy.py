"""The easy level of a card game for everybody: plays its cards, but does not think.

Takes what makes a meld and knocks as soon as it may.  It throws a card that it is rid of
best only now and then; otherwise any card outside its melds.  What has been played it
forgets at once.
"""

from gin_sim import Params, View, agent
from gin_sim.bits import lowest
from gin_sim.chance import below, next_word, pick
from gin_sim.compiled import kernel
from gin_sim.melds import least_deadwood, makes_meld

CARELESS = 0


@kernel
def outside_melds(view: View) -> int:
    """Return the legal discards whose throw breaks no meld: the deadwood only falls."""
    before = least_deadwood(view.hand)
    cards = 0
    left = view.legal_discards
    while left:
        card = left & -left
        left ^= card
        if least_deadwood(view.hand ^ card) == before - min(lowest(card) % 13 + 1, 10):
            cards |= card
    return cards


@agent("easy", source="the easy level of web games: a beginner who forgets", careless=0.75)
class Easy:
    """Takes what melds, throws carelessly, knocks whenever it may, remembers nothing."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return makes_meld(view.hand, view.upcard)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        any_card = outside_melds(view)
        careless = below(view.word, 1 << 20) < params[CARELESS] * (1 << 20)
        # Whoever holds gin sees it.
        if careless and any_card and view.deadwood > 0:
            return pick(any_card, next_word(view.word))
        return pick(view.best_discards, next_word(view.word))

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return True
