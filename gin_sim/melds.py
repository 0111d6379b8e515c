"""Deadwood and discards on bitmasks, compiled.

These are the functions that agents and the engine call; for text, arrays and error
messages see :mod:`gin_sim.hands`.  All take and return 64-bit integers.

Runs come from a table per suit.  Sets tie the suits together: a rank with three or four
cards is the only choice point, used not at all, whole, or (of four) as one of four
triples.  Every combination is looked at, so the results are exact.  For hands of up to
eleven cards there are at most three such ranks, and most hands have none.
"""

from __future__ import annotations

import numpy as np

from gin_sim.bits import lowest, popcount
from gin_sim.compiled import kernel
from gin_sim.tables import ENTRIES, LOOSE, N_SET_OPTIONS, POINTS, SET_OPTIONS

SUIT = 0x1FFF
RANK_0 = 1 | 1 << 13 | 1 << 26 | 1 << 39
"""The four aces; shifted left by a rank, all cards of that rank."""

HAND_AND_ONE = 11
_MUCH = 1 << 30
DEADWOOD_SHIFT = 52
_NOT_ACES = ((1 << 52) - 1) & ~RANK_0


@kernel
def set_ranks(hand: int) -> int:
    """Return the ranks of which a hand holds three or four cards, as a 13-bit mask."""
    c, d, h, s = hand & SUIT, hand >> 13 & SUIT, hand >> 26 & SUIT, hand >> 39
    return (c & d & (h | s)) | (h & s & (c | d))


@kernel
def run_cards(hand: int) -> int:
    """Return the cards of a hand that stand in runs, sets not used."""
    second = hand & hand << 1 & _NOT_ACES
    third = second & second << 1 & _NOT_ACES
    return third | third >> 1 | third >> 2


@kernel
def ranks_of(cards: int) -> int:
    """Return the ranks that occur in a set of cards, as a 13-bit mask."""
    return (cards | cards >> 13 | cards >> 26 | cards >> 39) & SUIT


@kernel
def cards_of_ranks(ranks: int) -> int:
    """Return all cards of the ranks in a 13-bit mask."""
    return ranks | ranks << 13 | ranks << 26 | ranks << 39


@kernel
def _loose(hand: int) -> int:
    """Return the points outside runs, sets not used."""
    return (
        int(LOOSE[hand & SUIT])
        + int(LOOSE[hand >> 13 & SUIT])
        + int(LOOSE[hand >> 26 & SUIT])
        + int(LOOSE[hand >> 39])
    )


@kernel
def _suits_of_rank(hand: int, rank: int) -> int:
    """Return the suits in which a hand holds a rank, as a 4-bit mask."""
    aces = hand >> rank
    return (aces & 1) | (aces >> 12 & 2) | (aces >> 24 & 4) | (aces >> 36 & 8)


@kernel
def n_set_choices(hand: int, ranks: int) -> int:
    """Return in how many ways `ranks`, as :func:`set_ranks` gives them, can be used."""
    n = 1
    while ranks:
        n *= N_SET_OPTIONS[_suits_of_rank(hand, lowest(ranks))]
        ranks &= ranks - 1
    return n


@kernel
def set_choice(hand: int, ranks: int, index: int) -> int:
    """Return the cards that the index-th way of using `ranks` puts into sets."""
    chosen = 0
    while ranks:
        rank = lowest(ranks)
        ranks &= ranks - 1
        present = _suits_of_rank(hand, rank)
        n = N_SET_OPTIONS[present]
        chosen |= SET_OPTIONS[present, index % n] << rank
        index //= n
    return chosen


@kernel
def _three_ranks(hand: int, ranks: int) -> tuple[int, int, int, int, int, int]:
    """Return the suits and ranks of up to three set ranks.

    A rank that is not there has no suits, and so one option: no set.
    """
    p1 = p2 = p3 = r1 = r2 = r3 = 0
    r1 = lowest(ranks)
    p1 = _suits_of_rank(hand, r1)
    ranks &= ranks - 1
    if ranks:
        r2 = lowest(ranks)
        p2 = _suits_of_rank(hand, r2)
        ranks &= ranks - 1
        if ranks:
            r3 = lowest(ranks)
            p3 = _suits_of_rank(hand, r3)
    return p1, r1, p2, r2, p3, r3


@kernel
def _deadwood_with_sets(hand: int, ranks: int) -> int:
    """Return the least deadwood when `ranks`, one to three, may be used in sets."""
    p1, r1, p2, r2, p3, r3 = _three_ranks(hand, ranks)
    best = 1000
    for i1 in range(N_SET_OPTIONS[p1]):
        hand_1 = hand ^ (SET_OPTIONS[p1, i1] << r1)
        for i2 in range(N_SET_OPTIONS[p2]):
            hand_2 = hand_1 ^ (SET_OPTIONS[p2, i2] << r2)
            for i3 in range(N_SET_OPTIONS[p3]):
                best = min(best, _loose(hand_2 ^ (SET_OPTIONS[p3, i3] << r3)))
    return best


@kernel
def _deadwood_by_ranks(hand: int) -> int:
    """Return the least deadwood of any number of cards, rank by rank from the ace.

    What is carried on is, for each suit, how long the run is that the next rank could
    go on with: 0, 1, 2 (these cards are not melded yet) or 3 and more.
    """
    costs = np.full(256, _MUCH, np.int64)
    costs[0] = 0
    for rank in range(14):  # the last, with no cards, ends all runs
        present = _suits_of_rank(hand, rank) if rank < 13 else 0
        one, two = 0, 0
        if rank >= 1:
            one = POINTS[rank - 1]
            two = one + POINTS[rank - 2] if rank >= 2 else one
        after = np.full(256, _MUCH, np.int64)
        for lengths in range(256):
            if costs[lengths] >= _MUCH:
                continue
            for i in range(N_SET_OPTIONS[present]):
                in_set = _suits_of_rank(SET_OPTIONS[present, i], 0)
                cost = costs[lengths]
                longer = 0
                for suit in range(4):
                    length = lengths >> (2 * suit) & 3
                    if (present & ~in_set) >> suit & 1:
                        longer |= min(length + 1, 3) << (2 * suit)
                    elif length == 1:
                        cost += one
                    elif length == 2:
                        cost += two
                after[longer] = min(after[longer], cost)
        costs = after
    return int(costs[0])


@kernel
def least_deadwood(hand: int) -> int:
    """Return the points of a hand that the best arrangement leaves unmelded."""
    ranks = set_ranks(hand)
    if ranks == 0:
        return _loose(hand)
    # A set none of whose cards can stand in a run is always used.
    torn = ranks & ranks_of(run_cards(hand))
    hand &= ~cards_of_ranks(ranks ^ torn)
    if torn == 0:
        return _loose(hand)
    if popcount(torn) > 3:
        return _deadwood_by_ranks(hand)
    return _deadwood_with_sets(hand, torn)


@kernel
def _merge(a: int, b: int) -> int:
    """Return the better of two packed results, or both masks where they are equal."""
    if a >> DEADWOOD_SHIFT == b >> DEADWOOD_SHIFT:
        return a | b
    return min(a, b)


@kernel
def _best_throw(hand: int) -> int:
    """Return deadwood << 52 | discards for one throw, sets not used."""
    c = int(ENTRIES[hand & SUIT])
    d = int(ENTRIES[hand >> 13 & SUIT])
    h = int(ENTRIES[hand >> 26 & SUIT])
    s = int(ENTRIES[hand >> 39])
    fall_c, fall_d = c >> 13 & 255, d >> 13 & 255
    fall_h, fall_s = h >> 13 & 255, s >> 13 & 255
    fall = max(fall_c, fall_d, fall_h, fall_s)
    loose = (c >> 21) + (d >> 21) + (h >> 21) + (s >> 21)
    throws = 0
    if fall_c == fall:
        throws |= c & SUIT
    if fall_d == fall:
        throws |= (d & SUIT) << 13
    if fall_h == fall:
        throws |= (h & SUIT) << 26
    if fall_s == fall:
        throws |= (s & SUIT) << 39
    return (loose + 128 - fall) << DEADWOOD_SHIFT | throws


@kernel
def _throw_with_sets(hand: int, ranks: int) -> int:
    """Return deadwood << 52 | discards when `ranks`, one to three, may be used in sets."""
    of_rank = hand & cards_of_ranks(ranks)
    if popcount(of_rank) == 3:
        return _merge(_best_throw(hand), _best_throw(hand ^ of_rank))
    p1, r1, p2, r2, p3, r3 = _three_ranks(hand, ranks)
    best = 1000 << DEADWOOD_SHIFT
    for i1 in range(N_SET_OPTIONS[p1]):
        hand_1 = hand ^ (SET_OPTIONS[p1, i1] << r1)
        for i2 in range(N_SET_OPTIONS[p2]):
            hand_2 = hand_1 ^ (SET_OPTIONS[p2, i2] << r2)
            for i3 in range(N_SET_OPTIONS[p3]):
                best = _merge(best, _best_throw(hand_2 ^ (SET_OPTIONS[p3, i3] << r3)))
    return best


@kernel
def packed_discards(hand: int) -> int:
    """Return ``deadwood << 52 | mask`` of the best discards from a hand.

    The deadwood is what the cards left have after the best throw; the mask holds every
    card whose throw reaches it.
    """
    ranks = set_ranks(hand)
    if ranks == 0:
        return _best_throw(hand)
    # A set none of whose cards can stand in a run is used and not thrown from as long as
    # another card is loose.  Eleven cards that all stand in melds have a meld of four or
    # more; if that is not one of these sets, throwing from it leaves 0.
    torn = ranks & ranks_of(run_cards(hand))
    whole = hand & cards_of_ranks(ranks ^ torn)
    rest = hand ^ whole
    best = _best_throw(rest) if torn == 0 else _throw_with_sets(rest, torn)
    if (
        best >> DEADWOOD_SHIFT > 0
        and popcount(hand) == HAND_AND_ONE
        and popcount(whole) == 3 * popcount(ranks ^ torn)
    ):
        return best
    return _throw_with_sets(hand, ranks)


@kernel
def least_discards(hand: int) -> tuple[int, int]:
    """Return the deadwood after the best discard, and the mask of all best discards."""
    packed = packed_discards(hand)
    return packed >> DEADWOOD_SHIFT, packed & ((1 << DEADWOOD_SHIFT) - 1)


@kernel
def least_discards_among(hand: int, allowed: int) -> tuple[int, int]:
    """Return the same as :func:`least_discards` when only `allowed` may be thrown."""
    deadwood, discards = least_discards(hand)
    if discards & allowed:
        return deadwood, discards & allowed
    deadwood = 1000
    discards = 0
    left = allowed
    while left:
        card = left & -left
        left ^= card
        after = least_deadwood(hand ^ card)
        if after < deadwood:
            deadwood = after
            discards = 0
        if after == deadwood:
            discards |= card
    return deadwood, discards


@kernel
def knock_discards(hand: int, allowed: int, limit: int) -> int:
    """Return the cards among `allowed` whose throw leaves at most `limit` points."""
    knocks = 0
    left = allowed
    while left:
        card = left & -left
        left ^= card
        if least_deadwood(hand ^ card) <= limit:
            knocks |= card
    return knocks


@kernel
def makes_meld(hand: int, card: int) -> bool:
    """Return whether `hand` and `card` together contain a meld that holds `card`."""
    rank = card % 13
    if popcount(hand & (RANK_0 << rank)) >= 2 + (hand >> card & 1):
        return True
    return run_cards(hand | 1 << card) >> card & 1 == 1


@kernel
def points_of(cards: int) -> int:
    """Return the value of all cards of a mask: ace 1, pictures 10."""
    total = 0
    while cards:
        total += min(lowest(cards) % 13 + 1, 10)
        cards &= cards - 1
    return total
