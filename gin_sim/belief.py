"""What the opponent may hold, as far as its play shows, compiled.

A card is dead (in the own hand or in the pile), known (taken from the pile and still
held) or unseen.  An unseen card is one of the opponent's hidden cards with a chance that
is the same for all of them at first; its play then makes some likelier: those that go
with a card it took.  Others become less likely: those that would have gone with a card
that it threw or left lying.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gin_sim.bits import popcount
from gin_sim.compiled import kernel
from gin_sim.melds import cards_of_ranks, ranks_of
from gin_sim.outs import next_down, next_up

_DECK = (1 << 52) - 1
HAND = 10


class Belief(NamedTuple):
    """What is known and thought about the opponent's ten cards.

    Attributes
    ----------
    known, unseen : int
        Cards that it holds for sure, and those of which nobody knows.
    liked, disliked : int
        Unseen cards that go with one that it took, and unseen cards that go with one that
        it threw or refused but with none that it took.
    one, two : float
        The chance that it holds a certain unseen card, and that it holds two certain ones.
    more, less : float
        What the chance is multiplied by for cards liked and disliked.
    """

    known: int
    unseen: int
    liked: int
    disliked: int
    one: float
    two: float
    more: float
    less: float


@kernel
def around(cards: int) -> int:
    """Return the cards of the same ranks as those of a mask, or next to them in suit."""
    return (cards_of_ranks(ranks_of(cards)) | next_up(cards) | next_down(cards)) & ~cards


@kernel
def read_opponent(view: Any, more: float, less: float) -> Belief:
    """Return what a view says of the opponent's hand.

    Parameters
    ----------
    more, less : float
        How many times likelier a liked card is, and a disliked one; 1 and 1 for a player
        that looks at nothing but what is dead.
    """
    known = view.opponent_known
    unseen = _DECK & ~view.seen
    hidden = HAND - popcount(known)
    n = popcount(unseen)
    liked = (around(known) | next_up(next_up(known)) | next_down(next_down(known))) & unseen
    disliked = around(view.opponent_discards | view.opponent_refused) & unseen & ~liked
    one = hidden / n if n > hidden else 1.0
    two = one * (hidden - 1) / (n - 1) if n > hidden else 1.0
    return Belief(known, unseen, liked, disliked, one, two, max(more, 0.0), max(less, 0.0))


@kernel
def leaning(belief: Belief, card: int) -> float:
    """Return how many times likelier than another unseen card this one is held.

    0 for a dead card and for no card (a number out of 0..51).
    """
    if not belief.unseen >> card & 1:
        return 0.0
    if belief.liked >> card & 1:
        return belief.more
    return belief.less if belief.disliked >> card & 1 else 1.0


@kernel
def held(belief: Belief, card: int) -> float:
    """Return the chance that the opponent holds a card."""
    if belief.known >> card & 1:
        return 1.0
    return min(belief.one * leaning(belief, card), 1.0)


@kernel
def both_held(belief: Belief, a: int, b: int) -> float:
    """Return the chance that the opponent holds two different cards."""
    if belief.known >> a & 1:
        return held(belief, b)
    if belief.known >> b & 1:
        return held(belief, a)
    return min(belief.two * leaning(belief, a) * leaning(belief, b), 1.0)
