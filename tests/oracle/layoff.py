"""The showdown by brute force: every order of laying cards off, every arrangement."""

from __future__ import annotations

from typing import Any

from tests.oracle.melds import (
    NO_CARDS,
    Cards,
    Melds,
    arrangements,
    deadwood,
    is_run,
    is_set,
    mask,
    rank,
    value,
)


def fits(card: int, meld: Cards, longest: int | None = None) -> bool:
    """Return whether a card may be laid off on a meld."""
    grown = meld | {card}
    if card in meld:
        return False
    return is_set(grown) or (is_run(grown) and len(grown) <= (longest or 13))


def layoffs(hand: Cards, melds: Melds, longest: int | None = None) -> set[Cards]:
    """Return every set of a hand's cards that can be laid off, card by card."""
    reached = {melds}
    fresh = [melds]
    while fresh:
        now = fresh.pop()
        laid = NO_CARDS.union(*now)
        for card in hand - laid:
            for i, meld in enumerate(now):
                if fits(card, meld, longest):
                    then = (*now[:i], meld | {card}, *now[i + 1 :])
                    if then not in reached:
                        reached.add(then)
                        fresh.append(then)
    return {NO_CARDS.union(*then) & hand for then in reached}


def best_layoff(hand: Cards, melds: Melds, longest: int | None = None) -> tuple[int, int]:
    """Return the defender's least deadwood, and with how few cards laid off it is had."""
    return min(
        (deadwood(hand - laid, longest), len(laid)) for laid in layoffs(hand, melds, longest)
    )


def open_cards(melds: Melds, seen: Cards, longest: int | None = None) -> Cards:
    """Return the unseen cards that would fit on an arrangement as it lies."""
    return frozenset(
        card for card in set(range(52)) - seen if any(fits(card, meld, longest) for meld in melds)
    )


def _by_rank(melds: list[Cards]) -> tuple[int, ...]:
    """Return how many cards of each rank melds hold, kings first."""
    ranks = [rank(card) for meld in melds for card in meld]
    return tuple(ranks.count(r) for r in range(12, -1, -1))


def _place(way: Melds, seen: Cards, longest: int | None) -> tuple[Any, ...]:
    """Return what arrangements of equal deadwood are ordered by; the least is laid down."""
    sets = [meld for meld in way if is_set(meld)]
    runs = sorted((meld for meld in way if is_run(meld)), key=min)
    return (
        len(open_cards(way, seen, longest)),
        [-n for n in _by_rank(sets)],
        [-n for n in _by_rank(runs)],
        sorted(-len(run) for run in runs),
        # Alike but for suits: any fixed order would do, and this is the one that is fixed.
        mask(NO_CARDS.union(*sets)),
        [(min(run), -len(run)) for run in runs],
    )


def lay_down(hand: Cards, seen: Cards, longest: int | None = None) -> Melds:
    """Return the arrangement that a knocker lays down.

    `seen` are the cards that nobody can lay off: the pile, beside the hand itself.
    """
    ways = arrangements(hand, longest)
    most = max(value(NO_CARDS.union(*way)) for way in ways)
    best = [way for way in ways if value(NO_CARDS.union(*way)) == most]
    return min(best, key=lambda way: _place(way, seen | hand, longest))
