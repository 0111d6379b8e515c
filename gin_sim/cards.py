"""Cards and hands: notation and bit layout.

A card is an integer 0..51, ``13 * suit + rank``, with suits in the order clubs,
diamonds, hearts, spades and ranks from the ace (0) to the king (12).  A set of cards is
an int with bit ``card`` set: 52 bits of a signed 64-bit integer, so that masks pass
between Python and compiled code unchanged.

Examples
--------
>>> format_hand(parse_hand("10h, ah Td 2♣"))
'2c Td Ah Th'
>>> card_name(0), card_name(51)
('Ac', 'Ks')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from gin_sim.errors import CardError

RANKS = "A23456789TJQK"
SUITS = "cdhs"
DECK = (1 << 52) - 1

_SUIT_OF_SYMBOL = {"♣": "c", "♧": "c", "♦": "d", "♢": "d", "♥": "h", "♡": "h", "♠": "s", "♤": "s"}
_ALLOWED = "a rank A23456789TJQK (or 10) followed by a suit c, d, h or s"

Hand = int | str | Iterable[str]
"""A hand as the public functions take it: a mask, a text, or card names."""


def card_name(card: int) -> str:
    """Return the one printed form of a card, rank before suit.

    Parameters
    ----------
    card : int
        0..51.

    Raises
    ------
    CardError
        If the number is no card.
    """
    if not 0 <= card < 52:
        raise CardError(f"card number {card} is not one of 0..51")
    return RANKS[card % 13] + SUITS[card // 13]


def parse_card(text: str) -> int:
    """Read one card; case, ``10`` and suit symbols are accepted.

    Raises
    ------
    CardError
        Naming the text that is no card.
    """
    token = text.strip().replace("️", "")
    rank, suit = token[:-1].upper(), token[-1:]
    rank = "T" if rank == "10" else rank
    suit = _SUIT_OF_SYMBOL.get(suit, suit.lower())
    if len(rank) != 1 or rank not in RANKS or len(suit) != 1 or suit not in SUITS:
        raise CardError(f"'{token}' is not a card: {_ALLOWED}")
    return 13 * SUITS.index(suit) + RANKS.index(rank)


def read_card(card: Any) -> int:
    """Return the number of a card given by its name or its number.

    Raises
    ------
    CardError
        Naming what is no card.
    """
    if isinstance(card, str):
        return parse_card(card)
    if type(card) is not bool and isinstance(card, Integral) and int(card) in range(52):
        return int(card)
    raise CardError(f"{card!r} is not a card: give its name or its number 0..51")


def as_card(card: int | str | None) -> int | None:
    """Read one card given as a number or as text, or None for no card."""
    return None if card is None else read_card(card)


def items_of(many: Any, what: str) -> list[Any]:
    """Return the items of what should be a list of something, but not text."""
    try:
        if not isinstance(many, bytes):
            return list(many)
    except TypeError:
        pass
    raise CardError(f"{what} = {many!r}: give text or a list")


def parse_cards(text: str | Iterable[str]) -> list[int]:
    """Read cards in the order given.

    Parameters
    ----------
    text : str or iterable of str
        Cards separated by spaces, commas, semicolons or bars, or one name per item.

    Raises
    ------
    CardError
        Naming the first token that is no card, or the first card that comes twice.
    """
    if isinstance(text, str):
        tokens = [token for token in re.split(r"[\s,;|]+", text) if token]
    else:
        tokens = items_of(text, "cards")
    cards: list[int] = []
    for token in tokens:
        if not isinstance(token, str):
            raise CardError(f"{token!r} is not a card: {_ALLOWED}")
        card = parse_card(token)
        if card in cards:
            raise CardError(f"{card_name(card)} is there twice")
        cards.append(card)
    return cards


def cards_of(mask: int) -> list[int]:
    """Return the cards of a mask in ascending order of their numbers."""
    return [card for card in range(52) if mask >> card & 1]


def mask_of(cards: Iterable[int]) -> int:
    """Return the mask of card numbers."""
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


def parse_hand(hand: Hand, count: int | tuple[int, ...] | None = None, what: str = "hand") -> int:
    """Read a hand and return its mask.

    Parameters
    ----------
    hand : int, str or iterable of str
        A mask is checked and passed through.
    count : int or tuple of int, optional
        How many cards there must be.
    what : str
        What to call it in an error.

    Returns
    -------
    int
        52-bit mask.

    Raises
    ------
    CardError
        For a bad token, a card twice, a mask beyond 52 bits or a wrong count.
    """
    number: Any = hand
    if isinstance(hand, Iterable):
        mask = mask_of(parse_cards(hand))
    elif isinstance(number, bool) or not isinstance(number, Integral):
        raise CardError(f"{number!r} is not a {what}: give text or a 52-bit mask")
    else:
        mask = int(number)
        if not 0 <= mask <= DECK:
            raise CardError(f"mask {mask:#x} is not a {what}: only bits 0..51 are cards")
    counts = (count,) if isinstance(count, int) else count
    if counts is not None and mask.bit_count() not in counts:
        allowed = " or ".join(str(n) for n in counts)
        shown = f" ({format_hand(mask)})" if mask else ""
        raise CardError(f"the {what} has {mask.bit_count()} cards{shown}; it needs {allowed}")
    return mask


def format_hand(mask: int) -> str:
    """Return the one printed form of a set of cards: by suit, then by rank."""
    mask = parse_hand(mask)
    return " ".join(card_name(card) for card in cards_of(mask))
