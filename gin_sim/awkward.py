"""Hands, decks and views made to order: rare and awkward ones, for tests and checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gin_sim.cards import DECK, card_name, cards_of, mask_of, parse_card, parse_hand
from gin_sim.compiled import records
from gin_sim.hands import all_melds, deadwood
from gin_sim.rules import Rules
from gin_sim.table import Hand
from gin_sim.view import DISCARD, DRAW, HISTORY, KNOCK, LAST, THREW, VIEW_DTYPE

EVERY_MELD = tuple(all_melds())

Rng = np.random.Generator


def points(mask: int) -> int:
    """Return the value of all cards, added up card by card."""
    return sum(min(card % 13 + 1, 10) for card in cards_of(mask))


def random_cards(rng: Rng, count: int, among: int = DECK) -> int:
    """Return a random hand."""
    return mask_of(rng.choice(cards_of(among), count, replace=False))


def crowded_cards(rng: Rng, count: int) -> int:
    """Return a random hand out of a few neighbouring ranks: full of rival melds."""
    width = int(rng.integers(4, 8))
    low = int(rng.integers(0, 14 - width))
    ranks = ((1 << width) - 1) << low
    return random_cards(rng, count, ranks | ranks << 13 | ranks << 26 | ranks << 39)


def melded_cards(rng: Rng, count: int) -> int:
    """Return a random hand all of which is melded."""
    while True:
        hand = 0
        while hand.bit_count() < count:
            room = count - hand.bit_count()
            fitting = [m for m in EVERY_MELD if not m & hand and m.bit_count() <= room]
            if not fitting:
                break
            # Long runs are many; a length is chosen first, so that all kinds come up.
            sizes = sorted({m.bit_count() for m in fitting})
            size = int(rng.choice(sizes))
            of_size = [m for m in fitting if m.bit_count() == size]
            hand |= of_size[int(rng.integers(len(of_size)))]
        if hand.bit_count() == count:
            return hand


def harmless_cards(rng: Rng, used: int, count: int = 10) -> int:
    """Return a hand without a meld, too heavy to be knocked with after one draw."""
    while True:
        hand = random_cards(rng, count, DECK & ~used)
        if points(hand) >= 6 * count and not any(m & hand == m for m in EVERY_MELD):
            return hand


class Event(NamedTuple):
    """An entry of a view's history."""

    actor: int
    what: int
    card: int


def make_view(
    hand: int | str,
    *,
    phase: int | None = None,
    rules: Rules | None = None,
    upcard: int | str | None = None,
    drawn: int | str | None = None,
    taken: int | str | None = None,
    candidate: int | str | None = None,
    legal: int | None = None,
    stock_left: int = 20,
    own_turn: int = 0,
    pile: int | str = 0,
    opponent_known: int | str = 0,
    history: Sequence[Event] = (),
    word: int = 0x123456789ABCDEF,
    **fields: int,
) -> Any:
    """Return the record an agent gets, for a hand of ten (DRAW) or eleven (DISCARD).

    What follows from the hand (legal and best discards, deadwood, seen cards, what was
    thrown) is filled in as the engine would.
    """
    rules = rules or Rules()
    mask = parse_hand(hand, (10, 11))
    if phase is None:
        phase = DISCARD if mask.bit_count() == 11 else DRAW

    def number(card: int | str | None) -> int:
        return -1 if card is None else parse_card(card) if isinstance(card, str) else card

    view = records(1, VIEW_DTYPE)[0]
    view["phase"] = phase
    view["hand"] = mask
    view["upcard"] = number(upcard)
    view["taken"] = number(taken)
    view["drawn"] = number(taken if drawn is None else drawn)
    view["candidate"] = number(candidate)
    if phase == DISCARD:
        allowed = mask if legal is None else legal
        if taken is not None and not rules.may_throw_taken:
            allowed &= ~(1 << number(taken))
        after = {card: deadwood(mask ^ 1 << card) for card in cards_of(allowed)}
        least = min(after.values())
        view["legal_discards"] = allowed
        view["best_discards"] = mask_of(c for c, d in after.items() if d == least)
        view["deadwood"] = least
    else:
        thrown = 1 << number(candidate) if phase == KNOCK else 0
        view["deadwood"] = deadwood(mask & ~thrown)
    on_pile = parse_hand(pile) | (0 if upcard is None else 1 << number(upcard))
    known = parse_hand(opponent_known)
    view["stock_left"] = stock_left
    view["own_turn"] = own_turn
    view["turn"] = 2 * own_turn
    view["knock_limit"] = rules.knock_limit
    view["gin_bonus"] = rules.gin_bonus
    view["undercut_bonus"] = rules.undercut_bonus
    view["big_gin_bonus"] = -1 if rules.big_gin_bonus is None else rules.big_gin_bonus
    view["multiplier"] = 1
    view["target"] = rules.target
    view["pile"] = on_pile
    view["opponent_known"] = known
    view["seen"] = mask | on_pile | known
    view["own_discards"] = mask_of(e.card for e in history if e[:2] == (0, THREW))
    view["opponent_discards"] = mask_of(e.card for e in history if e[:2] == (1, THREW))
    view["word"] = word
    view["history_len"] = len(history)
    for i, event in enumerate(history[:HISTORY]):
        view["history"][i] = event.actor << 8 | event.what << 6 | event.card
    for name, value in fields.items():
        view[name] = value
    return view


def stack_deck(
    non_dealer: int | str = 0,
    dealer: int | str = 0,
    upcard: str = "",
    stock: str = "",
    seed: int = 0,
) -> list[int]:
    """Return a deck with these hands, upcard and first stock cards.

    A hand not given is a harmless one; the rest of the stock is random.
    """
    rng = np.random.default_rng(seed)
    hands = [parse_hand(non_dealer, (0, 10)), parse_hand(dealer, (0, 10))]
    given = [parse_card(c) for c in stock.split()]
    top = [parse_card(upcard)] if upcard else []
    used = hands[0] | hands[1] | mask_of(given + top)
    for i in range(2):
        hands[i] = hands[i] or harmless_cards(rng, used)
        used |= hands[i]
    rest = [int(c) for c in rng.permutation(cards_of(DECK & ~used))]
    if not top:
        top = [rest.pop()]
    return [*cards_of(hands[0]), *cards_of(hands[1]), *top, *given, *rest]


def wall_deck(actor: int | str, other: int | str, upcard: str) -> list[int]:
    """Return a deck after which the dealer acts at the wall, if both throw what they draw.

    Both have to pass the opening upcard.

    Parameters
    ----------
    actor, other : int or str
        The hands of the dealer and of the non-dealer.
    upcard : str
        What the dealer is offered when two cards are left in the stock.
    """
    fillers = stack_deck(other, actor, seed=1)[20:]
    fillers.remove(parse_card(upcard))
    # A card that would make big gin for the one who draws it goes to the bottom.
    melds_all = [c for c in fillers if not deadwood(parse_hand(other) | 1 << c)]
    melds_all += [c for c in fillers if not deadwood(parse_hand(actor) | 1 << c)]
    fillers.sort(key=lambda card: card in melds_all)
    fillers.insert(29, parse_card(upcard))  # the 29th card of the stock, thrown last
    return cards_of(parse_hand(other, 10)) + cards_of(parse_hand(actor, 10)) + fillers


def go_to_wall(hand: Hand, deck: Sequence[int]) -> None:
    """Pass and throw what is drawn, as a deck of :func:`wall_deck` asks for."""
    hand.pass_()
    hand.pass_()
    for card in deck[21:50]:
        if hand.phase == "draw":
            hand.draw()
        hand.throw(card)


def quiet_deck(cards: int | str, seat: int) -> tuple[list[int], int]:
    """Return a deck that deals a hand to a seat and offers it nothing before its first turn.

    Returns
    -------
    deck : list of int
    thrown : int
        A card of the other seat's that makes no meld with the hand either: what the
        non-dealer may throw before the dealer comes to its turn.
    """
    rng = np.random.default_rng(0)
    mask = parse_hand(cards, 10)
    useless = [
        card
        for card in cards_of(DECK & ~mask)
        if not any(m >> card & 1 and m & (mask | 1 << card) == m for m in EVERY_MELD)
    ]
    other = 0
    while not (thrown := [card for card in useless if other >> card & 1]):
        other = harmless_cards(rng, mask)
    upcard = next(card_name(card) for card in useless if not other >> card & 1)
    return stack_deck(*((mask, other) if seat == 0 else (other, mask)), upcard), thrown[0]


def awkward_views(count: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield decisions to take, each with its view, on random and on awkward hands."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        eleven = (random_cards, crowded_cards, melded_cards)[i % 3](rng, 11)
        drawn = int(rng.choice(cards_of(eleven)))
        word = int(rng.integers((1 << 63) - 1))
        taken = drawn if i % 2 else None
        yield "discard", make_view(eleven, drawn=drawn, taken=taken, word=word)
        ten = eleven ^ 1 << drawn
        yield "draw", make_view(ten, upcard=drawn, word=word)
        yield "draw", make_view(ten, phase=LAST, upcard=drawn, word=word, stock_left=2)
        yield "knock", make_view(eleven, phase=KNOCK, candidate=drawn, drawn=drawn, word=word)
        no_limit = Rules(knock_limit=0)
        yield "discard", make_view(eleven, drawn=drawn, rules=no_limit, stock_left=2, word=word)
        only = 1 << int(rng.choice(cards_of(ten)))
        yield "discard", make_view(eleven, drawn=drawn, legal=only, word=word)
