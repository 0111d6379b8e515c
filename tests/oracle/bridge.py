"""The library's side of a comparison: its state machine, driven decision by decision."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from gin_sim import View
from gin_sim import state as machine
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.rules import Rules
from gin_sim.scoring import rules_record
from gin_sim.show import fill_view
from gin_sim.view import DISCARD, KNOCK, as_view
from tests.oracle.melds import cards_in, mask


class Machine(NamedTuple):
    """A hand in the state machine: its record (in an array of one) and its rules'."""

    array: Any
    rules: Any

    @property
    def state(self) -> Any:
        return self.array[0]

    def fork(self) -> Machine:
        return Machine(self.array.copy(), self.rules)


def blank(rules: Rules, scores: tuple[int, int] = (0, 0)) -> Machine:
    """Return a machine in which nothing has been dealt."""
    array = records(1, STATE_DTYPE)
    array[0]["scores"][:] = scores
    return Machine(array, rules_record(rules)[0])


def dealt(rules: Rules, seed: int, deal: int, scores: tuple[int, int] = (0, 0)) -> Machine:
    """Return the start of a numbered deal."""
    hand = blank(rules, scores)
    machine.deal_number(hand.state, hand.rules, seed, deal)
    return hand


def view_record(state: Any, seat: int) -> Any:
    """Return the record that a seat is shown; plain Python kernels need its attributes."""
    return state.views[seat] if JIT_DISABLED else state["views"][seat]


def look(state: Any) -> View:
    """Return what the seat to act is shown; this counts as a decision."""
    record = view_record(state, int(state["seat"]))
    fill_view(state, record)
    return as_view(record)


def move(hand: Machine, answer: Any) -> None:
    """Make the decision that is due."""
    state, rules = hand.state, hand.rules
    phase = int(state["phase"])
    if phase == DISCARD:
        assert machine.decide_discard(state, rules, answer)
    elif phase == KNOCK:
        machine.decide_knock(state, rules, bool(answer))
    else:
        machine.decide_draw(state, rules, bool(answer))


def swap_hidden(state: Any, seat: int, dice: random.Random, table: int = 0) -> None:
    """Exchange all that a seat cannot know, in a state as it stands.

    `table` is what lies open: melds laid down, and cards laid off.
    """
    other, place = 1 - seat, int(state["place"])
    known = int(state["known"][other]) | (table & int(state["hands"][other]))
    held = [card for card in cards_in(int(state["hands"][other])) if not known >> card & 1]
    hidden = held + [int(card) for card in state["deck"][place:]]
    dice.shuffle(hidden)
    state["hands"][other] = known | mask(hidden[: len(held)])
    state["deck"][place:] = hidden[len(held) :]
    for name in ("deadwood", "dealt_deadwood", "first_chance", "decisions"):
        state[name][other] = dice.randrange(100)
    for name in ("key", "stock_key"):
        state[name] = dice.randrange(2**63)
    state["seat_keys"][other] = dice.randrange(2**63)
    if int(state["seat"]) == other and int(state["phase"]) in (DISCARD, KNOCK):
        # The other one's turn: what it has drawn and what it thinks of throwing.
        if int(state["taken"]) < 0:
            state["drawn"] = dice.randrange(52)
        state["phase"] = dice.choice((DISCARD, KNOCK))
        state["candidate"] = dice.randrange(-1, 52)
        for name in ("candidate_deadwood", "best_deadwood"):
            state[name] = dice.randrange(100)
        for name in ("legal_discards", "best_discards"):
            state[name] = dice.randrange(1, 2**52)
