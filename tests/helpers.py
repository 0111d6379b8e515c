"""What several test files need: hands made to order, decks, views, agents at a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from gin_sim import drive
from gin_sim.cards import DECK, card_name, cards_of, mask_of, parse_card, parse_hand
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.hands import all_melds, deadwood
from gin_sim.play import (
    DONE,
    GAME_DTYPE,
    ROW_DTYPE,
    Desk,
    Order,
    new_desk,
    play_games,
    play_hands,
)
from gin_sim.policy import prepare
from gin_sim.registry import Agent, Params, agent, registered
from gin_sim.rules import Rules
from gin_sim.scoring import MAX_GAME_HANDS, rules_record
from gin_sim.state import start_dealt
from gin_sim.table import Hand
from gin_sim.view import DISCARD, DRAW, HISTORY, KNOCK, THREW, VIEW_DTYPE, View

EASED = {"search": {"worlds": 1, "settle": 1, "between": 1, "throws": 2}}
"""Agents that think long, and what makes them play fast, if badly."""

_REGISTERED, PROBLEMS = registered()
AGENTS = {name: one.with_params(EASED.get(name, {})) for name, one in _REGISTERED.items()}

CARELESS = frozenset({"random"})
"""Agents that may throw gin away: their whole point is to choose blindly."""


@agent("passive", source="tests", compiled=False)
class PASSIVE:
    """Never takes the upcard and never knocks; in plain Python."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return False

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return view.best_discards.bit_length() - 1

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return False


EVERY_MELD = tuple(all_melds())
SUIT_ORDERS = tuple(permutations(range(4)))

Rng = np.random.Generator


def scaled(amount: int, least: int = 1) -> int:
    """Return an amount of work, a hundredth of it where nothing is compiled."""
    return max(amount // 100, least) if JIT_DISABLED else amount


# Cards


def points(mask: int) -> int:
    """Return the value of all cards, added up card by card."""
    return sum(min(card % 13 + 1, 10) for card in cards_of(mask))


def move_suits(mask: int, order: Sequence[int]) -> int:
    """Return a hand with suit i turned into suit ``order[i]``."""
    return mask_of(13 * order[card // 13] + card % 13 for card in cards_of(mask))


def shuffled_texts(text: str, rng: Rng, count: int) -> Iterator[str]:
    """Yield the cards of a text in random orders."""
    cards = text.split()
    for _ in range(count):
        yield " ".join(rng.permutation(cards))


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


def most_melded(hand: int) -> int:
    """Return the least deadwood by trying every way to choose melds."""

    @cache
    def search(left: int, first: int) -> int:
        best = points(left)
        for i in range(first, len(melds)):
            if melds[i] & left == melds[i]:
                best = min(best, search(left & ~melds[i], i + 1))
        return best

    melds = [m for m in EVERY_MELD if m & hand == m]
    return search(hand, 0)


# Views


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


def ask(one: Agent, decision: str, view: Any) -> Any:
    """Return what an agent answers to a view: a bool, or a card number."""
    answer = drive.Player(one, one.name).ask(decision, view)
    return int(answer) if decision == "discard" else bool(answer)


# Tables


class Decision(NamedTuple):
    """One question put to an agent: who, which of the three, what it saw and answered."""

    seat: int
    name: str
    view: Any
    answer: Any


@dataclass
class Table:
    """A hand that people (`hand`) and agents (`play`) can go on with in turn."""

    desk: Desk
    hand: Hand

    @property
    def state(self) -> Any:
        """The hand's record."""
        return self.desk.state[0]

    def play(self, non_dealer: Agent, dealer: Agent) -> list[Decision]:
        """Let two agents play the hand to its end; return what they were asked."""
        asked: list[Decision] = []
        players = _Recorded(non_dealer, 0, asked), _Recorded(dealer, 1, asked)
        drive.drive_hand(self.desk, players, 0)
        return asked


class _Recorded(drive.Player):
    """A player that keeps what it was shown and what it answered."""

    def __init__(self, one: Agent, seat: int, asked: list[Decision]) -> None:
        super().__init__(one, one.label)
        self.seat = seat
        self.asked = asked

    def ask(self, decision: str, record: Any, blame: drive.Blame | None = None) -> Any:
        answer = super().ask(decision, record, blame)
        self.asked.append(Decision(self.seat, decision, record.copy(), answer))
        return answer


def table(deck: Sequence[int], rules: Rules | None = None, key: int = 1) -> Table:
    """Return the start of a hand with a given deck; `key` is that of the decisions."""
    rules = rules or Rules()
    assert sorted(deck) == list(range(52))
    desk = new_desk(rules_record(rules))
    state = desk.state[0]
    state["deck"][:] = deck
    state["key"] = key
    start_dealt(state, desk.rules[0])
    return Table(desk, Hand(rules, desk))


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


def at_wall(actor: int | str, other: int | str, upcard: str, rules: Rules) -> Table:
    """Return a hand of which two stock cards are left, the dealer to act on the upcard.

    Both pass the opening upcard, and throw what they draw until then.
    """
    fillers = stack_deck(other, actor, seed=1)[20:]
    fillers.remove(parse_card(upcard))
    # A card that would make big gin for the one who draws it goes to the bottom.
    melds_all = [c for c in fillers if not deadwood(parse_hand(other) | 1 << c)]
    melds_all += [c for c in fillers if not deadwood(parse_hand(actor) | 1 << c)]
    fillers.sort(key=lambda card: card in melds_all)
    fillers.insert(29, parse_card(upcard))  # the 29th card of the stock, thrown last
    deck = cards_of(parse_hand(other, 10)) + cards_of(parse_hand(actor, 10)) + fillers
    here = table(deck, rules)
    hand = here.hand
    hand.pass_()
    hand.pass_()
    for card in deck[21:50]:
        if hand.phase == "draw":
            hand.draw()
        hand.throw(card)
    return here


def dealt_to(one: Agent, cards: int | str, seat: int, rules: Rules | None = None) -> Table:
    """Deal a hand to an agent and play it against `PASSIVE`; return the finished hand.

    Before its first turn the agent is offered nothing but a card that makes no meld with
    its own.  As the dealer it comes to its turn after one of the other seat's.
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
    here = table(stack_deck(*((mask, other) if seat == 0 else (other, mask)), upcard), rules)
    if seat == 0:
        here.play(one, PASSIVE)
    else:
        here.hand.take()
        here.hand.throw(thrown[0])
        here.play(PASSIVE, one)
    return here


# Runs


def play_rows(a: Agent, b: Agent, rules: Rules, seed: int, count: int, first: int = 0) -> Any:
    """Return the rows of `count` mirrored deals, in which every action must be legal."""
    rows = records(2 * count, ROW_DTYPE)
    desk = new_desk(rules_record(rules))
    order = Order(seed, first, count, 0, 0)
    if a.compiled and b.compiled:
        status, done = play_hands(desk, order, prepare(a), prepare(b), rows)
        assert (status, done) == (DONE, 2 * count), (a.label, b.label, done)
    else:
        players = drive.Player(a, a.label), drive.Player(b, b.label)
        for i in range(2 * count):
            drive.drive_mirror(desk, order, first + i // 2, i % 2, players, rows[i])
    return rows


def play_game_rows(a: Agent, b: Agent, rules: Rules, seed: int, count: int) -> tuple[Any, Any]:
    """Return the rows of hands and of games of `count` mirrored games."""
    rows = records(2 * count * MAX_GAME_HANDS, ROW_DTYPE)
    games = records(2 * count, GAME_DTYPE)
    desk = new_desk(rules_record(rules))
    order = Order(seed, 0, count, 0, 0)
    status, n_games, n = play_games(desk, order, prepare(a), prepare(b), rows, games)
    assert (status, n_games) == (DONE, 2 * count)
    return rows[:n], games
