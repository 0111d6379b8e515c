"""The baseline of the EAAI-2021 Gin Rummy challenge, as its authors wrote it.

Takes the upcard iff hand and card together contain any meld that holds it, whether or
not the deadwood falls.  Throws, evenly at random, a card that leaves the least deadwood
in the other ten; never the card just taken from the pile, and never one that would
repeat, as an unordered pair with the card it drew, a (drawn, thrown) pair of its own from
earlier in the hand: that is what breaks endless swaps.  Knocks whenever it may.
"""

from gin_sim import Params, View, agent
from gin_sim.chance import pick
from gin_sim.compiled import kernel
from gin_sim.melds import least_discards_among, makes_meld
from gin_sim.view import THREW


@kernel
def repeats(view: View) -> int:
    """Return the cards that would repeat a (drawn, thrown) pair of the seat's own."""
    barred = 0
    drawn_then = -1
    for i in range(view.history_len):
        event = int(view.history[i])
        if event >> 8 == 0:
            card = event & 63
            if event >> 6 == THREW:
                if drawn_then == view.drawn:
                    barred |= 1 << card
                elif card == view.drawn:
                    barred |= 1 << drawn_then
            else:
                drawn_then = card
    return barred


@kernel
def takes(view: View) -> bool:
    """Return whether the upcard would stand in a meld of the hand."""
    return makes_meld(view.hand, view.upcard)


@kernel
def throws(view: View) -> int:
    """Return a discard that leaves the least deadwood and repeats no earlier swap."""
    best = view.best_discards
    # A pair can only come again if the card drawn now was thrown by this seat before.
    if view.own_discards >> view.drawn & 1:
        allowed = view.legal_discards & ~repeats(view)
        if allowed:
            _, best = least_discards_among(view.hand, allowed)
    return pick(best, view.word)


@agent("simple", source="SimpleGinRummyPlayer of the EAAI-2021 Gin Rummy challenge (T. Neller)")
class Simple:
    """Takes what melds, throws what counts most, knocks whenever it may."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes(view)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return True
