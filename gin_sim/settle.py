"""A knock settled for people: who lays down what, who lays off what, who scores.

What is not given is chosen exactly.

Examples
--------
>>> s = showdown("5s 6s 7s Kc Kd Kh Qc Qd Qh 3c", "4s 8s Ad 2d 5h 9d 6c Tc Jh 2h")
>>> s.outcome, s.winner, s.points, s.defender_deadwood
('knock', 'knocker', 42, 45)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gin_sim.cards import Hand, as_card, card_name, cards_of, format_hand, mask_of, parse_hand
from gin_sim.errors import CardError
from gin_sim.hands import arrange, pack_melds, parse_melds
from gin_sim.layoff import lay_off
from gin_sim.melds import least_deadwood, points_of
from gin_sim.rules import NO_LIMIT, Rules, as_rules
from gin_sim.scoring import OUTCOMES, knock_outcome, price_hand, rules_record


@dataclass(frozen=True)
class LayOff:
    """A card of the defender's and the meld (as laid down, a mask) it goes on."""

    card: int
    onto: int


@dataclass(frozen=True)
class Showdown:
    """A settled knock.

    Attributes
    ----------
    outcome : str
        ``knock``, ``undercut``, ``gin`` or ``big_gin``.
    winner : str or None
        ``knocker``, ``defender``, or None where nobody scores.
    points : int
        For the winner, 0 or more.
    knocker_deadwood, defender_deadwood_before_layoff, defender_deadwood : int
        `before_layoff` is what the defender's own melds alone would leave.
    knocker_melds, defender_melds : tuple of int
        Masks.
    layoffs : tuple of LayOff
        In an order in which they can be made.
    """

    outcome: str
    winner: str | None
    points: int
    knocker_deadwood: int
    defender_deadwood_before_layoff: int
    defender_deadwood: int
    knocker_melds: tuple[int, ...]
    defender_melds: tuple[int, ...]
    layoffs: tuple[LayOff, ...]


def showdown(
    knocker: Hand,
    defender: Hand,
    rules: Rules | str | None = None,
    melds: str | list[Hand] | None = None,
    defender_melds: str | list[Hand] | None = None,
    layoffs: Hand | None = None,
    *,
    upcard: int | str | None = None,
    seen: Hand = 0,
) -> Showdown:
    """Settle a knock.

    Parameters
    ----------
    knocker : hand
        Ten cards, the discard already thrown; eleven for big gin.
    defender : hand
        Ten cards.
    rules : Rules, optional
        The standard rules if not given.
    melds, defender_melds : str or list of hands, optional
        Melds as laid down, ``"5s 6s 7s | Kc Kd Kh"``.  The knocker's default is
        :func:`gin_sim.arrange`; the defender's is chosen with the lay-offs.
    layoffs : hand, optional
        The cards laid off (an empty text for none).
    upcard : card, optional
        The first upcard: it sets the limit, and may double the points, under Oklahoma.
    seen : hand, optional
        The discard pile, for the choice among equal arrangements of the knocker's.

    Returns
    -------
    Showdown

    Raises
    ------
    CardError
        For hands that cannot be, cards in both, more deadwood than the limit, melds or
        lay-offs that are not possible.
    """
    rules = as_rules(rules)
    longest = rules.longest_meld or NO_LIMIT
    first = as_card(upcard)
    k_hand = parse_hand(knocker, (10, 11), "knocker's hand")
    d_hand = parse_hand(defender, 10, "defender's hand")
    if both := k_hand & d_hand:
        raise CardError(f"{format_hand(both)} is in both hands")

    k_melds = arrange(k_hand, rules, seen).melds if melds is None else parse_melds(melds, longest)
    melded = mask_of(card for meld in k_melds for card in cards_of(meld))
    if strange := melded & ~k_hand:
        raise CardError(f"{format_hand(strange)} is melded but not in the knocker's hand")
    k_deadwood = int(points_of(k_hand & ~melded))
    big = k_hand.bit_count() == 11
    _check_may_go_out(k_deadwood, big, rules, first)

    before = int(least_deadwood(d_hand))
    if k_deadwood == 0 and not big and layoffs is None:
        laid_off = 0
    elif big or k_deadwood == 0:
        laid_off = parse_hand(0 if layoffs is None else layoffs)
        if laid_off:
            raise CardError(f"{format_hand(laid_off)}: nothing is laid off on gin")
    elif layoffs is None and defender_melds is None:
        laid_off = int(lay_off(d_hand, *pack_melds(k_melds), longest)[1])
    elif layoffs is None:
        own = parse_melds([] if defender_melds is None else defender_melds, longest)
        laid_off = _most_laid_off(
            d_hand & ~mask_of(c for m in own for c in cards_of(m)), k_melds, longest
        )
    else:
        laid_off = parse_hand(layoffs, what="lay-off")
    if strange := laid_off & ~d_hand:
        raise CardError(f"{format_hand(strange)} is laid off but not in the defender's hand")
    placed = place_layoffs(laid_off, k_melds, longest)

    rest = d_hand & ~laid_off
    if defender_melds is None:
        d_melds = arrange(rest, rules).melds
    else:
        d_melds = parse_melds(defender_melds, longest)
    d_melded = mask_of(card for meld in d_melds for card in cards_of(meld))
    if strange := d_melded & ~rest:
        raise CardError(f"{format_hand(strange)} is melded but not left in the defender's hand")
    d_deadwood = int(points_of(rest & ~d_melded))

    if big:
        outcome = "big_gin"
    else:
        outcome = OUTCOMES[knock_outcome(k_deadwood, d_deadwood, rules_record(rules)[0])]
    points = price_hand(outcome, k_deadwood, d_deadwood, rules, first)
    winner: str | None = "defender" if outcome == "undercut" else "knocker"
    if outcome == "knock" and k_deadwood == d_deadwood:
        winner = None
    return Showdown(
        outcome, winner, points, k_deadwood, before, d_deadwood, k_melds, d_melds, placed
    )


def _most_laid_off(loose: int, melds: tuple[int, ...], longest: int) -> int:
    """Return the dearest of all sets of loose cards that can be laid off, then the smallest."""
    best, best_key = 0, (0, 0)
    part = loose
    while part:
        key = (-int(points_of(part)), part.bit_count())
        if key < best_key and _place(part, melds, longest) is not None:
            best, best_key = part, key
        part = (part - 1) & loose
    return best


def _check_may_go_out(deadwood: int, big: bool, rules: Rules, upcard: int | None) -> None:
    if big:
        if deadwood:
            raise CardError(
                f"eleven cards are big gin only if all are melded; {deadwood} points are not: "
                "give the ten cards left after the discard"
            )
        if rules.big_gin_bonus is None:
            raise CardError("big_gin_bonus = None: these rules know no big gin; give ten cards")
        return
    limit = rules.limit_for(upcard)
    if deadwood > limit:
        raise CardError(f"the knocker has {deadwood} points; the limit is {limit}")


def place_layoffs(cards: int, melds: Iterable[int], longest: int = NO_LIMIT) -> tuple[LayOff, ...]:
    """Say on which meld each laid-off card goes, in an order in which it can be done.

    Raises
    ------
    CardError
        Naming the cards that fit nowhere.
    """
    tables = list(melds)
    found = _place(cards, tuple(tables), longest)
    if found is None:
        raise CardError(f"{format_hand(cards)} cannot all be laid off on the knocker's melds")
    return tuple(LayOff(card, tables[i]) for card, i in found)


def _place(cards: int, melds: tuple[int, ...], longest: int) -> list[tuple[int, int]] | None:
    """Search for a way to lay off all cards; (card, place of the meld), or None."""
    if cards == 0:
        return []
    for card in cards_of(cards):
        for i, meld in enumerate(melds):
            if _fits(card, meld, longest):
                grown = (*melds[:i], meld | 1 << card, *melds[i + 1 :])
                rest = _place(cards ^ 1 << card, grown, longest)
                if rest is not None:
                    return [(card, i), *rest]
    return None


def _fits(card: int, meld: int, longest: int) -> bool:
    cards = cards_of(meld)
    if cards[0] % 13 == cards[1] % 13:
        return card % 13 == cards[0] % 13
    if len(cards) >= longest or card // 13 != cards[0] // 13:
        return False
    return card in (cards[0] - 1, cards[-1] + 1)


def describe_layoff(one: LayOff) -> dict[str, str]:
    """Return a lay-off in words, as the command line prints it."""
    return {"card": card_name(one.card), "onto": format_hand(one.onto)}
