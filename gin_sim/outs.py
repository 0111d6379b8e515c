"""Outs: what one more card can do for a hand, compiled.

A card drawn can help in two ways only.  It makes a meld with the hand (`completing`:
a handful of cards, found by shifts), or it is thrown in place of nothing and a dearer
card goes: then only its value counts.  So the best throw is looked for a dozen times, not
for each of some forty unseen cards.
"""

from __future__ import annotations

from typing import NamedTuple

from gin_sim.bits import popcount
from gin_sim.compiled import kernel
from gin_sim.melds import (
    DEADWOOD_SHIFT,
    RANK_0,
    SUIT,
    cards_of_ranks,
    least_deadwood,
    packed_discards,
    ranks_of,
)

MOST_FEW = 7
_DECK = (1 << 52) - 1
_NOT_ACES = _DECK & ~RANK_0
_NOT_KINGS = _DECK & ~(RANK_0 << 12)


class Outs(NamedTuple):
    """What the next card can do for ten cards, the best card thrown after it.

    Attributes
    ----------
    deadwood : int
        Of the ten cards now.
    cards : int
        How many unseen cards lower the deadwood.
    gin : int
        How many of them bring it to nought.
    total : int
        Points by which all of them together lower it.
    best : float
        Points by which the best few lower it, on average; where there are fewer, the
        others count nothing.
    """

    deadwood: int
    cards: int
    gin: int
    total: int
    best: float


@kernel
def next_up(cards: int) -> int:
    """Return the cards one rank above those of a mask, in their suits."""
    return (cards & _NOT_KINGS) << 1


@kernel
def next_down(cards: int) -> int:
    """Return the cards one rank below those of a mask, in their suits."""
    return (cards & _NOT_ACES) >> 1


@kernel
def completing(hand: int) -> int:
    """Return the cards outside a hand that would stand in a meld with it."""
    c, d, h, s = hand & SUIT, hand >> 13 & SUIT, hand >> 26 & SUIT, hand >> 39
    paired = (c & d) | (h & s) | ((c | d) & (h | s))
    up, down = next_up(hand), next_down(hand)
    runs = (up & down) | (up & next_up(up)) | (down & next_down(down))
    return (cards_of_ranks(paired) | runs) & ~hand


@kernel
def promising(hand: int, live: int) -> int:
    """Return the cards of a hand that are two thirds of a meld whose third is in `live`."""
    c, d, h, s = hand & SUIT, hand >> 13 & SUIT, hand >> 26 & SUIT, hand >> 39
    paired = (c & d) | (h & s) | ((c | d) & (h | s))
    of_rank = cards_of_ranks(paired & ranks_of(live))
    side = hand & next_down(hand) & (next_down(next_down(live)) | next_up(live))
    gap = hand & next_down(next_down(hand) & live)
    return hand & (of_rank | side | next_up(side) | gap | next_up(next_up(gap)))


@kernel
def _put(best: int, gain: int, few: int) -> int:
    """Insert a gain into `few` of them, packed a byte each, the largest lowest."""
    for i in range(few):
        there = best >> (8 * i) & 255
        if gain > there:
            best ^= (there ^ gain) << (8 * i)
            gain = there
    return best


@kernel
def outs(hand: int, unseen: int, few: int) -> Outs:
    """Return what one card out of `unseen` can do for a hand.

    Parameters
    ----------
    hand : int
        Ten cards.
    unseen : int
        The cards that may come; none of the hand.
    few : int
        How many gains `best` is the mean of, 1 to 7; taken as the nearest of these.
    """
    few = min(max(few, 1), MOST_FEW)
    last = 8 * (few - 1)
    deadwood = least_deadwood(hand)
    fits = completing(hand) & unseen
    rest = unseen & ~fits
    cards = gin = total = best = 0
    while fits:
        card = fits & -fits
        fits ^= card
        left = packed_discards(hand | card) >> DEADWOOD_SHIFT
        gain = deadwood - left
        if gain > 0:
            cards += 1
            total += gain
            if left == 0:
                gin += 1
            if gain > best >> last & 255:
                best = _put(best, gain, few)
    # A card that makes no meld replaces the card whose loss helps most.
    room = deadwood - (packed_discards(hand) >> DEADWOOD_SHIFT)
    for rank in range(min(room - 1, 9)):  # a ten is below nothing
        gain = room - rank - 1
        n = popcount(rest & RANK_0 << rank)
        cards += n
        total += n * gain
        if gain > best >> last & 255:
            for _ in range(n):
                best = _put(best, gain, few)
    of_best = 0
    for i in range(few):
        of_best += best >> (8 * i) & 255
    return Outs(deadwood, cards, gin, total, of_best / few)


@kernel
def expected_deadwood(hand: int, unseen: int) -> float:
    """Return the deadwood to expect after one more card, each unseen one as likely.

    With nothing unseen it stays as it is.
    """
    found = outs(hand, unseen, 1)
    return found.deadwood - found.total / max(popcount(unseen), 1)
