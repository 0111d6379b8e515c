"""Melds by brute force: every set of disjoint melds of a hand is looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import combinations

Cards = frozenset[int]
Melds = tuple[Cards, ...]

NO_CARDS: Cards = frozenset()
POINTS = [min(card % 13 + 1, 10) for card in range(52)]
"""What each card counts: ace 1, pictures 10."""


def rank(card: int) -> int:
    return card % 13


def suit(card: int) -> int:
    return card // 13


def value(cards: Iterable[int]) -> int:
    """Return the points of cards."""
    return sum(map(POINTS.__getitem__, cards))


def mask(cards: Iterable[int]) -> int:
    return sum(1 << card for card in set(cards))


def cards_in(number: int) -> Cards:
    """Return the cards of a mask."""
    return frozenset(card for card in range(64) if number >> card & 1)


def is_set(meld: Collection[int]) -> bool:
    return len(meld) >= 3 and len({rank(card) for card in meld}) == 1


def is_run(meld: Collection[int]) -> bool:
    return (
        len(meld) >= 3
        and len({suit(card) for card in meld}) == 1
        and max(meld) - min(meld) == len(meld) - 1
    )


def melds_in(hand: Iterable[int], longest: int | None = None) -> list[Cards]:
    """Return every meld that the cards of a hand can form."""
    cards = set(hand)
    found: list[Cards] = []
    for ace in range(13):
        alike = [card for card in range(ace, 52, 13) if card in cards]
        found += [frozenset(some) for n in (3, 4) for some in combinations(alike, n)]
    for card in cards:
        run = [card]
        while rank(run[-1]) < 12 and run[-1] + 1 in cards and len(run) < (longest or 13):
            run.append(run[-1] + 1)
            if len(run) >= 3:
                found.append(frozenset(run))
    return found


def families(melds: list[Cards]) -> Iterator[Melds]:
    """Yield every selection of melds that share no card."""
    if not melds:
        yield ()
        return
    first, rest = melds[0], melds[1:]
    yield from families(rest)
    for more in families([meld for meld in rest if not meld & first]):
        yield (first, *more)


def arrangements(hand: Iterable[int], longest: int | None = None) -> list[Melds]:
    """Return every way to lay out a hand."""
    return list(families(melds_in(hand, longest)))


@lru_cache(maxsize=100_000)
def deadwood(hand: Cards, longest: int | None = None) -> int:
    """Return the fewest points that any way to lay out a hand leaves."""
    return min(value(hand) - value(NO_CARDS.union(*way)) for way in arrangements(hand, longest))


def after_throws(hand: Cards, allowed: Iterable[int], longest: int | None = None) -> dict[int, int]:
    """Return for each card that may be thrown the deadwood of the cards that stay."""
    melded = {NO_CARDS.union(*way) for way in arrangements(hand, longest)}
    worth = {cards: value(cards) for cards in melded}
    total = value(hand)
    return {
        card: total - value([card]) - max(worth[m] for m in melded if card not in m)
        for card in sorted(allowed)
    }
