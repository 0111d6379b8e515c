"""What several test files need: hands made to order, decks, views, agents at a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

from gin_sim import drive
from gin_sim.awkward import EVERY_MELD, Rng, go_to_wall, points, quiet_deck, wall_deck
from gin_sim.cards import cards_of, mask_of
from gin_sim.compiled import JIT_DISABLED, records
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
from gin_sim.view import View

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


SUIT_ORDERS = tuple(permutations(range(4)))


def scaled(amount: int, least: int = 1) -> int:
    """Return an amount of work, a hundredth of it where nothing is compiled."""
    return max(amount // 100, least) if JIT_DISABLED else amount


# Cards


def move_suits(mask: int, order: Sequence[int]) -> int:
    """Return a hand with suit i turned into suit ``order[i]``."""
    return mask_of(13 * order[card // 13] + card % 13 for card in cards_of(mask))


def shuffled_texts(text: str, rng: Rng, count: int) -> Iterator[str]:
    """Yield the cards of a text in random orders."""
    cards = text.split()
    for _ in range(count):
        yield " ".join(rng.permutation(cards))


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


def at_wall(actor: int | str, other: int | str, upcard: str, rules: Rules) -> Table:
    """Return a hand of which two stock cards are left, the dealer to act on the upcard.

    Both pass the opening upcard, and throw what they draw until then.
    """
    deck = wall_deck(actor, other, upcard)
    here = table(deck, rules)
    go_to_wall(here.hand, deck)
    return here


def dealt_to(one: Agent, cards: int | str, seat: int, rules: Rules | None = None) -> Table:
    """Deal a hand to an agent and play it against `PASSIVE`; return the finished hand.

    Before its first turn the agent is offered nothing but a card that makes no meld with
    its own.  As the dealer it comes to its turn after one of the other seat's.
    """
    deck, thrown = quiet_deck(cards, seat)
    here = table(deck, rules)
    if seat == 0:
        here.play(one, PASSIVE)
    else:
        here.hand.take()
        here.hand.throw(thrown)
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
