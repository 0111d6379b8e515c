"""Hands for people: text or masks in, plain Python out, and the same for arrays.

Examples
--------
>>> deadwood("6d 7d 8d 7c 7h Th")
24
>>> [format_hand(m) for m in arrange("6d 7d 8d 8c 9c 7c").melds]
['7c 8c 9c', '6d 7d 8d']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_sim.cards import DECK, Hand, as_card, cards_of, format_hand, items_of, mask_of, parse_hand
from gin_sim.compiled import kernel
from gin_sim.errors import CardError
from gin_sim.layoff import lay_down
from gin_sim.melds import (
    RANK_0,
    knock_discards,
    least_deadwood,
    least_discards,
    least_discards_among,
    points_of,
)
from gin_sim.rules import NO_LIMIT, Rules, as_rules


@dataclass(frozen=True)
class Arrangement:
    """A hand laid out.

    Attributes
    ----------
    melds : tuple of int
        Masks: runs by suit and rank, then sets by rank.
    unmatched : int
        Mask of the cards left.
    deadwood : int
        Their points.
    """

    melds: tuple[int, ...]
    unmatched: int
    deadwood: int

    def meld_texts(self) -> list[str]:
        """Return each meld in the printed form."""
        return [format_hand(meld) for meld in self.melds]


def unpack_melds(sets: int, runs: int) -> tuple[int, ...]:
    """Return the melds of a packed arrangement as masks: runs, then sets."""
    melds = []
    while runs:
        melds.append(((1 << (runs >> 6 & 15)) - 1) << (runs & 63))
        runs >>= 10
    of_ranks = (sets & (RANK_0 << rank) for rank in range(13))
    return *sorted(melds), *(meld for meld in of_ranks if meld)


def deadwood(hand: Hand) -> int:
    """Return the points that the best arrangement of a hand leaves unmelded.

    Parameters
    ----------
    hand : int, str or iterable of str
        Any number of cards: a 52-bit mask, text such as ``"Ah Td 2c"``, or names.

    Raises
    ------
    CardError
        For a bad card or a card twice.
    """
    return int(least_deadwood(parse_hand(hand)))


def arrange(hand: Hand, rules: Rules | str | None = None, seen: Hand = 0) -> Arrangement:
    """Return the arrangement a player would lay down.

    Least deadwood; then the one on which the fewest unseen cards could be laid off; then
    more cards of high rank in sets, in runs, longer runs, none of which looks at suits.

    Parameters
    ----------
    hand : hand
        Up to eleven cards.
    rules : Rules, optional
        For the longest meld.
    seen : hand, optional
        Cards that nobody can lay off any more, such as the discard pile.
    """
    mask = parse_hand(hand)
    if mask.bit_count() > 11:
        parse_hand(mask, tuple(range(12)))
    longest = as_rules(rules).longest_meld or NO_LIMIT
    melds = unpack_melds(*lay_down(mask, mask | parse_hand(seen), longest))
    unmatched = mask & ~sum(melds)
    return Arrangement(melds, unmatched, int(points_of(unmatched)))


def best_discards(
    hand11: Hand, rules: Rules | str | None = None, taken: int | str | None = None
) -> tuple[int, int]:
    """Return the least deadwood after a discard, and the mask of all that reach it.

    Parameters
    ----------
    hand11 : hand
        Eleven cards.
    rules, taken
        As for :func:`legal_knocks`: the card just taken from the pile may not be thrown
        where the rules say so.
    """
    mask = parse_hand(hand11, 11)
    points, discards = least_discards_among(mask, _allowed(mask, as_rules(rules), taken))
    return int(points), int(discards)


def _allowed(mask: int, rules: Rules, taken: int | str | None) -> int:
    """Return the cards of a hand that may be thrown."""
    card = as_card(taken)
    if card is None:
        return mask
    if not mask >> card & 1:
        raise CardError(f"the card taken, {format_hand(1 << card)}, is not in the hand")
    return mask if rules.may_throw_taken else mask ^ 1 << card


def legal_knocks(
    hand11: Hand,
    rules: Rules | str | None = None,
    taken: int | str | None = None,
    upcard: int | str | None = None,
) -> dict[int, int]:
    """Return each card that may be thrown to go out, and the deadwood it leaves.

    Parameters
    ----------
    hand11 : hand
        Eleven cards.
    rules : Rules, optional
        The standard rules if not given.
    taken : card, optional
        The card just taken from the pile, which may not be thrown where the rules say so.
    upcard : card, optional
        The first upcard, which sets the limit under Oklahoma rules.

    Returns
    -------
    dict of int to int
        Card number to deadwood, in the order of the cards; a deadwood of 0 is gin.
    """
    rules = as_rules(rules)
    mask = parse_hand(hand11, 11)
    limit = rules.limit_for(as_card(upcard))
    allowed = _allowed(mask, rules, taken)
    cards = cards_of(int(knock_discards(mask, allowed, limit)))
    return {card: int(least_deadwood(mask ^ 1 << card)) for card in cards}


def all_melds(hand: Hand = DECK) -> list[int]:
    """Return every meld that can be made of a hand's cards, of any length, as masks.

    Examples
    --------
    >>> len(all_melds())
    329
    """
    mask = parse_hand(hand)
    return [meld for meld in _possible_melds() if meld & mask == meld]


def _possible_melds() -> Iterator[int]:
    for rank in range(13):
        of_rank = RANK_0 << rank
        yield of_rank
        for suit in range(4):
            yield of_rank & ~(1 << 13 * suit + rank)
    for length in range(3, 14):
        for suit in range(4):
            for low in range(14 - length):
                yield ((1 << length) - 1) << (13 * suit + low)


def masks_of(
    hands: ArrayLike | list[str], counts: tuple[int, ...] | None = None
) -> NDArray[np.int64]:
    """Return hands as a (n,) array of masks, checked.

    Parameters
    ----------
    hands : array of int, or list of hands
        Masks are taken as they are; text and names are read.
    counts : tuple of int, optional
        How many cards each hand may have.

    Raises
    ------
    CardError
        Naming the first hand (by its place) that cannot be.
    """
    if type(hands) is np.ndarray and hands.dtype.kind in "iu" and hands.ndim:
        masks: NDArray[Any] = hands
        bad = np.flatnonzero((masks < 0) | (masks > DECK))
        if bad.size:
            raise CardError(
                f"hand {bad[0]}: mask {int(masks.flat[bad[0]]):#x} has bits beyond 0..51"
            )
        masks = np.ascontiguousarray(masks, dtype=np.int64)
    else:
        if isinstance(hands, str | np.ma.MaskedArray):
            raise CardError(f"hands = {hands!r}: give an array of masks or a list of hands")
        items = items_of(hands, "hands")
        masks = np.array([parse_hand(h, what=f"hand {i}") for i, h in enumerate(items)], np.int64)
    if counts is not None:
        sizes = np.bitwise_count(masks)
        bad = np.flatnonzero(~np.isin(sizes, counts))
        if bad.size:
            parse_hand(int(masks.flat[bad[0]]), counts, what=f"hand {bad[0]}")
    return masks


@kernel
def _fill_deadwood(masks: Any, out: Any) -> None:
    for i in range(masks.size):
        out[i] = least_deadwood(masks[i])


@kernel
def _fill_discards(masks: Any, out: Any, discards: Any) -> None:
    for i in range(masks.size):
        out[i], discards[i] = least_discards(masks[i])


def deadwood_many(hands: ArrayLike | list[str]) -> NDArray[np.int64]:
    """Return the deadwood of each of many hands.

    Parameters
    ----------
    hands : (n,) array of int masks, or list of hands
        Any number of cards each.

    Returns
    -------
    (n,) array of int64
    """
    masks = masks_of(hands)
    out = np.empty(masks.shape, np.int64)
    _fill_deadwood(masks.ravel(), out.ravel())
    return out


def best_discards_many(
    hands11: ArrayLike | list[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each of many hands of eleven, the deadwood and the mask of best discards.

    Returns
    -------
    deadwood, discards : (n,) arrays of int64
    """
    masks = masks_of(hands11, (11,))
    out, discards = np.empty(masks.shape, np.int64), np.empty(masks.shape, np.int64)
    _fill_discards(masks.ravel(), out.ravel(), discards.ravel())
    return out, discards


def parse_melds(melds: str | list[Hand], longest: int = NO_LIMIT) -> tuple[int, ...]:
    """Read melds, ``"5s 6s 7s | Kc Kd Kh"`` or a list of hands, and check each.

    Raises
    ------
    CardError
        For what is no set or run, is longer than `longest`, or shares a card.
    """
    if isinstance(melds, str):
        parts: list[Any] = [part for part in melds.split("|") if part.strip()]
    else:
        parts = items_of(melds, "melds")
    out: list[int] = []
    for part in parts:
        mask = parse_hand(part, what="meld")
        _check_meld(mask, longest)
        if shared := mask & mask_of(c for m in out for c in cards_of(m)):
            raise CardError(f"{format_hand(shared)} stands in two melds")
        out.append(mask)
    return tuple(out)


def _check_meld(mask: int, longest: int) -> None:
    cards = cards_of(mask)
    name = format_hand(mask) or "nothing"
    if len(cards) < 3:
        raise CardError(f"'{name}' is not a meld: it takes three cards or more")
    is_set = len({card % 13 for card in cards}) == 1
    is_run = cards[0] // 13 == cards[-1] // 13 and cards[-1] - cards[0] == len(cards) - 1
    if not is_set and not is_run:
        raise CardError(f"'{name}' is not a meld: neither one rank nor a run in one suit")
    if is_run and len(cards) > longest:
        raise CardError(f"'{name}' has {len(cards)} cards; longest_meld = {longest}")


def pack_melds(melds: tuple[int, ...]) -> tuple[int, int]:
    """Return melds as kernels take them: cards in sets, packed runs."""
    sets, runs = 0, 0
    for meld in melds:
        low = cards_of(meld)[0]
        if meld & ~(RANK_0 << low % 13) == 0:
            sets |= meld
        else:
            runs = runs << 10 | meld.bit_count() << 6 | low
    return sets, runs
