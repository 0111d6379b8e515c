"""The actions of the environments: one number for each, and for each phase its own.

An action below 52 throws the card with that number.  The others are answers to a question
that only one phase asks, so that a number alone says which phase it belongs to.
"""

from __future__ import annotations

import operator
from typing import Any

from gin_sim.cards import card_name
from gin_sim.compiled import kernel
from gin_sim.errors import RulesError
from gin_sim.state import decide_discard, decide_draw, decide_knock
from gin_sim.view import DISCARD, OVER, PHASES

TAKE_FIRST = 52
PASS_FIRST = 53
TAKE = 54
DRAW = 55
KNOCK = 56
PLAY_ON = 57
TAKE_LAST = 58
LET_DIE = 59

N_ACTIONS = 60

ACTION_NAMES = (
    *(f"throw {card_name(card)}" for card in range(52)),
    "take the first upcard",
    "pass the first upcard",
    "take the upcard",
    "draw from the stock",
    "knock",
    "play on",
    "take the last upcard",
    "let the hand die",
)
"""What each action does, in words."""

_ANSWERS: dict[str, tuple[int, ...]] = {
    "upcard": (TAKE_FIRST, PASS_FIRST),
    "draw": (TAKE, DRAW),
    "discard": (),
    "knock": (KNOCK, PLAY_ON),
    "last": (TAKE_LAST, LET_DIE),
    "over": (),
}
_PHASE_MASKS = tuple(sum(1 << action for action in _ANSWERS[phase]) for phase in PHASES)


def phase_of(action: int) -> str:
    """Return the phase in which an action can be taken.

    Examples
    --------
    >>> phase_of(7), phase_of(KNOCK)
    ('discard', 'knock')
    """
    return next((phase for phase, found in _ANSWERS.items() if action in found), "discard")


@kernel
def legal_actions(state: Any) -> int:
    """Return the legal actions of the seat to act as a mask; 0 once the hand is over."""
    legal: int = _PHASE_MASKS[state.phase]
    if state.phase == DISCARD:
        legal = state.legal_discards
    return legal


@kernel
def act(state: Any, rules: Any, action: int) -> None:
    """Take an action that is legal."""
    state.decisions[state.seat] += 1
    if action < TAKE_FIRST:
        decide_discard(state, rules, action)
    elif action == KNOCK or action == PLAY_ON:
        decide_knock(state, rules, action == KNOCK)
    else:
        decide_draw(state, rules, action == TAKE_FIRST or action == TAKE or action == TAKE_LAST)


def action_for(phase: int, answer: int) -> int:
    """Return the action that an agent's answer is: a card, or whether it says yes.

    Examples
    --------
    >>> ACTION_NAMES[action_for(PHASES.index("draw"), True)]
    'take the upcard'
    """
    answers = _ANSWERS[PHASES[phase]]
    return answers[0 if answer else 1] if answers else int(answer)


def describe(actions: int) -> str:
    """Return actions, given as a mask, with their numbers and in words."""
    return ", ".join(f"{a} ({ACTION_NAMES[a]})" for a in range(N_ACTIONS) if actions >> a & 1)


def read_action(action: Any) -> int:
    """Return the number of an action given by any kind of whole number, or -1."""
    if isinstance(action, bool):
        return -1
    try:
        number = operator.index(action)
    except TypeError:
        return -1
    return number if 0 <= number < N_ACTIONS else -1


def illegal(action: Any, legal: int, phase: int, where: str) -> RulesError:
    """Return the error for an action that is not legal.

    Parameters
    ----------
    action : Any
        What was given.
    legal : int
        The legal actions as a mask.
    phase : int
        Of the hand.
    where : str
        How to come to this decision again.
    """
    number = read_action(action)
    shown = repr(action) if number < 0 else f"{number} ({ACTION_NAMES[number]})"
    allowed = describe(legal) if phase != OVER else "none, the hand is over: reset"
    return RulesError(
        f"action {shown} is not legal in phase {PHASES[phase]}; legal: {allowed} [{where}]"
    )
