"""What is laid down after a knock, and what is laid off on it: exact, compiled.

The knocker lays down an arrangement of least deadwood; among those, the one on which
the fewest unseen cards could be laid off (the fourth card of a set of three, the cards
next to either end of a run); then the one with more cards of high rank in sets, then
with more cards of high rank in runs, then with longer runs, which are all blind to
suits; only what is still equal is decided by suit.  :func:`lay_down` decides it for
everyone.

The defender chooses own melds and lay-offs together: every set of cards that can be laid
off is tried, and what is left is arranged best.  Of equal results the one that lays off
fewest cards is taken.

Arrangements are two integers: the cards in sets (at most one set a rank), and the runs,
packed ten bits each as ``length << 6 | lowest card``.
"""

from __future__ import annotations

from gin_sim.bits import lowest, popcount
from gin_sim.compiled import kernel
from gin_sim.melds import (
    RANK_0,
    cards_of_ranks,
    least_deadwood,
    n_set_choices,
    points_of,
    ranks_of,
    run_cards,
    set_choice,
    set_ranks,
)

_CARDS = (1 << 52) - 1


@kernel
def _add_run(runs: int, low: int, length: int, longest: int, seen: int) -> int:
    """Add one maximal run to packed runs, split where it exceeds the longest meld.

    The first and the last piece are chosen so that the fewest unseen cards fit, then so
    that the first and the last are as long as can be.
    """
    if length <= longest:
        return runs << 10 | length << 6 | low
    open_below = low % 13 > 0 and not seen >> (low - 1) & 1
    open_above = (low + length) % 13 > 0 and not seen >> (low + length) & 1
    first, last, fewest = 0, 0, 3
    for a in range(longest, 2, -1):
        for b in range(longest, 2, -1):
            between = length - a - b
            n_open = (open_below and a < longest) + (open_above and b < longest)
            if (between == 0 or between >= 3) and n_open < fewest:
                first, last, fewest = a, b, n_open
    runs = runs << 10 | first << 6 | low
    low += first
    between = length - first - last
    while between > 0:
        piece = between if between <= longest else min(longest, between - 3)
        runs = runs << 10 | piece << 6 | low
        low += piece
        between -= piece
    return runs << 10 | last << 6 | low


@kernel
def packed_runs(cards: int, longest: int, seen: int) -> int:
    """Return the runs that `cards` (all of them in runs) form, ten bits each."""
    runs = 0
    while cards:
        low = lowest(cards)
        length = 0
        while cards >> (low + length) & 1 and (length == 0 or (low + length) % 13 > 0):
            length += 1
        cards &= ~(((1 << length) - 1) << low)
        runs = _add_run(runs, low, length, longest, seen)
    return runs


@kernel
def fourth_cards(sets: int) -> int:
    """Return the cards that would be the fourth of a set of three."""
    fourths = 0
    left = sets
    while left:
        of_rank = RANK_0 << (lowest(left) % 13)
        if popcount(sets & of_rank) == 3:
            fourths |= of_rank & ~sets
        left &= ~of_rank
    return fourths


@kernel
def fitting(sets: int, runs: int, longest: int) -> int:
    """Return all cards that could be laid off at once on an arrangement."""
    fits: int = fourth_cards(sets)
    while runs:
        low, length = runs & 63, runs >> 6 & 15
        runs >>= 10
        if length < longest:
            if low % 13 > 0:
                fits |= 1 << (low - 1)
            if (low + length) % 13 > 0:
                fits |= 1 << (low + length)
    return fits


@kernel
def _profile(hand: int, sets: int) -> tuple[int, int, int]:
    """Return what of an arrangement is blind to suits, to break ties by."""
    runs = run_cards(hand ^ sets)
    in_sets = 0
    in_runs = 0
    for rank in range(13):
        of_rank = RANK_0 << rank
        in_sets |= popcount(sets & of_rank) << (3 * rank)
        in_runs |= popcount(runs & of_rank) << (3 * rank)
    lengths = 0
    packed = packed_runs(runs, 13, 0)
    while packed:
        lengths += (packed >> 6 & 15) ** 2
        packed >>= 10
    return in_sets, in_runs, lengths


@kernel
def lay_down(hand: int, seen: int, longest: int) -> tuple[int, int]:
    """Return the arrangement a player lays down: cards in sets, packed runs.

    Parameters
    ----------
    hand : int
        All of the player's cards.
    seen : int
        Cards that the defender cannot hold as far as the player knows: the own hand
        and the discard pile.
    longest : int
        The longest meld the rules allow (13: no limit).
    """
    ranks = set_ranks(hand)
    torn = ranks & ranks_of(run_cards(hand))
    # Sets none of whose cards can stand in a run are part of every best arrangement.
    whole = hand & cards_of_ranks(ranks ^ torn)
    if torn == 0:
        return whole, packed_runs(run_cards(hand ^ whole), longest, seen)
    n = n_set_choices(hand, torn)
    best_sets, best_runs, best_points, best_open = 0, 0, 1000, 0
    for index in range(n):
        sets = whole | set_choice(hand, torn, index)
        rest = hand ^ sets
        in_runs = run_cards(rest)
        points = points_of(rest ^ in_runs)
        if points > best_points:
            continue
        runs = packed_runs(in_runs, longest, seen)
        n_open = popcount(fitting(sets, runs, longest) & ~seen)
        better = points < best_points or n_open < best_open
        if not better and n_open == best_open:
            a, b = _profile(hand, sets), _profile(hand, best_sets)
            better = a > b or (a == b and sets < best_sets)
        if better:
            best_sets, best_runs, best_points, best_open = sets, runs, points, n_open
    return best_sets, best_runs


@kernel
def _run_chain(hand: int, run: int) -> tuple[int, int]:
    """Return how many cards of a hand extend a run below it and above it, one by one."""
    low = run & 63
    end = low + (run >> 6 & 15)
    below = 0
    while (low - below) % 13 > 0 and hand >> (low - below - 1) & 1:
        below += 1
    above = 0
    while (end + above) % 13 > 0 and hand >> (end + above) & 1:
        above += 1
    return below, above


@kernel
def _n_run_options(hand: int, run: int) -> int:
    """Return in how many ways cards of a hand can extend a run, none of them included."""
    if run == 0:
        return 1
    below, above = _run_chain(hand, run)
    return (below + 1) * (above + 1)


@kernel
def _run_option(hand: int, run: int, longest: int, index: int) -> int:
    """Return the cards that the index-th way of extending a run lays off.

    Where the meld would be too long, 0: the same as laying nothing off.
    """
    if run == 0 or index == 0:
        return 0
    low, length = run & 63, run >> 6 & 15
    _, above = _run_chain(hand, run)
    n_below, n_above = index // (above + 1), index % (above + 1)
    if length + n_below + n_above > longest:
        return 0
    return ((1 << n_below) - 1) << (low - n_below) | ((1 << n_above) - 1) << (low + length)


@kernel
def _try_layoffs(hand: int, fourths: int, runs: int, longest: int) -> int:
    """Return the best of all lay-offs, as ``deadwood << 56 | how many << 52 | cards``.

    A card counted on two melds is laid off on one of them, which is as legal.
    """
    run_1, run_2, run_3 = runs & 1023, runs >> 10 & 1023, runs >> 20 & 1023
    n_1, n_2, n_3 = (
        _n_run_options(hand, run_1),
        _n_run_options(hand, run_2),
        _n_run_options(hand, run_3),
    )
    best = least_deadwood(hand) << 56
    on_sets = fourths
    while True:
        for i_1 in range(n_1):
            on_1 = on_sets | _run_option(hand, run_1, longest, i_1)
            for i_2 in range(n_2):
                on_2 = on_1 | _run_option(hand, run_2, longest, i_2)
                for i_3 in range(n_3):
                    laid = on_2 | _run_option(hand, run_3, longest, i_3)
                    if laid:
                        deadwood = least_deadwood(hand ^ laid)
                        best = min(best, deadwood << 56 | popcount(laid) << 52 | laid)
        if on_sets == 0:
            return best
        on_sets = (on_sets - 1) & fourths


@kernel
def lay_off(hand: int, sets: int, runs: int, longest: int) -> tuple[int, int]:
    """Return the defender's least deadwood after lay-offs, and the cards laid off."""
    if fitting(sets, runs, longest) & hand == 0:
        return least_deadwood(hand), 0
    packed = _try_layoffs(hand, fourth_cards(sets) & hand, runs, longest)
    return packed >> 56, packed & _CARDS


@kernel
def can_lie(cards: int, sets: int, runs: int, longest: int) -> bool:
    """Return whether all of `cards` together can be laid off on an arrangement."""
    run_1, run_2, run_3 = runs & 1023, runs >> 10 & 1023, runs >> 20 & 1023
    off_sets = cards & ~fourth_cards(sets)
    for i_1 in range(_n_run_options(cards, run_1)):
        left_1 = off_sets & ~_run_option(cards, run_1, longest, i_1)
        for i_2 in range(_n_run_options(cards, run_2)):
            left_2 = left_1 & ~_run_option(cards, run_2, longest, i_2)
            for i_3 in range(_n_run_options(cards, run_3)):
                if left_2 & ~_run_option(cards, run_3, longest, i_3) == 0:
                    return True
    return False


@kernel
def fitting_too(hand: int, laid: int, sets: int, runs: int, longest: int) -> int:
    """Return the cards of a hand that can each be laid off together with those laid off."""
    fits = 0
    left = hand & ~laid
    while left:
        bit = 1 << lowest(left)
        left &= ~bit
        if can_lie(laid | bit, sets, runs, longest):
            fits |= bit
    return fits
