"""The library's side of a comparison: its state machine, driven decision by decision."""

from __future__ import annotations

from typing import Any, NamedTuple

from gin_sim import View
from gin_sim import state as machine
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.rules import Rules
from gin_sim.scoring import rules_record
from gin_sim.show import fill_view
from gin_sim.view import DISCARD, KNOCK, as_view


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
