"""The actions of the environments: one number for each, and for each phase its own.

An action below 52 throws the card with that number.  The others are answers to a question
that only one phase asks, so that a number alone says which phase it belongs to.

Environments that ask for lay-offs have one action more, and in that phase a number below 52
lays the card off: numbers of their own would not fit into the bits of one whole number.
"""

from __future__ import annotations

import operator
from typing import Any

from gin_sim.cards import card_name
from gin_sim.compiled import kernel
from gin_sim.env.layoffs import ALL_PHASES, LAYOFF, ask_for_layoffs, decide_layoff
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
LAY_OFF_NO_MORE = 60

N_ACTIONS = 60
N_ASKING = 61
"""How many actions there are where lay-offs are asked for."""

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

LAYOFF_NAMES = {
    **{card: f"lay off {card_name(card)}" for card in range(52)},
    LAY_OFF_NO_MORE: "lay off no more",
}
"""The same in the phase of lay-offs."""

_ANSWERS: dict[str, tuple[int, ...]] = {
    "upcard": (TAKE_FIRST, PASS_FIRST),
    "draw": (TAKE, DRAW),
    "discard": (),
    "knock": (KNOCK, PLAY_ON),
    "last": (TAKE_LAST, LET_DIE),
    "over": (),
    "layoff": (LAY_OFF_NO_MORE,),
}
_PHASE_MASKS = tuple(sum(1 << action for action in _ANSWERS[phase]) for phase in ALL_PHASES)


def n_actions(layoff: str) -> int:
    """Return how many actions there are, by how lay-offs are chosen."""
    return N_ASKING if layoff == "ask" else N_ACTIONS


def phase_of(action: int) -> str:
    """Return the phase in which an action can be taken; of a card, that in which it is thrown.

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
    if state.phase == DISCARD or state.phase == LAYOFF:
        legal |= state.legal_discards
    return legal


@kernel
def act(state: Any, rules: Any, action: int) -> None:
    """Take an action that is legal; lay-offs are settled."""
    state.decisions[state.seat] += 1
    if action < TAKE_FIRST:
        decide_discard(state, rules, action)
    elif action == KNOCK or action == PLAY_ON:
        decide_knock(state, rules, action == KNOCK)
    else:
        decide_draw(state, rules, action == TAKE_FIRST or action == TAKE or action == TAKE_LAST)


@kernel
def act_where_asked(state: Any, rules: Any, action: int, asked: int) -> None:
    """Take an action that is legal; the seats `asked`, as bits, choose what they lay off."""
    if state.phase == LAYOFF:
        state.decisions[state.seat] += 1
        decide_layoff(state, rules, action)
    else:
        act(state, rules, action)
        ask_for_layoffs(state, rules, asked)


def action_for(phase: int, answer: int) -> int:
    """Return the action that an agent's answer is: a card, or whether it says yes.

    Examples
    --------
    >>> ACTION_NAMES[action_for(PHASES.index("draw"), True)]
    'take the upcard'
    """
    answers = _ANSWERS[PHASES[phase]]
    return answers[0 if answer else 1] if answers else int(answer)


def describe(actions: int, phase: int) -> str:
    """Return actions, given as a mask, with their numbers and in the words of a phase."""
    return ", ".join(_named(action, phase) for action in range(N_ASKING) if actions >> action & 1)


def _named(action: int, phase: int) -> str:
    if action >= N_ACTIONS or (phase == LAYOFF and action in LAYOFF_NAMES):
        return f"{action} ({LAYOFF_NAMES[action]})"
    return f"{action} ({ACTION_NAMES[action]})"


def read_action(action: Any, size: int = N_ACTIONS) -> int:
    """Return the number of an action given by any kind of whole number, or -1."""
    if isinstance(action, bool):
        return -1
    try:
        number = operator.index(action)
    except TypeError:
        return -1
    return number if 0 <= number < size else -1


def illegal(action: Any, legal: int, phase: int, where: str, size: int = N_ACTIONS) -> RulesError:
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
    size : int
        Of the space of actions.
    """
    number = read_action(action, size)
    shown = repr(action) if number < 0 else _named(number, phase)
    allowed = describe(legal, phase) if phase != OVER else "none, the hand is over: reset"
    return RulesError(
        f"action {shown} is not legal in phase {ALL_PHASES[phase]}; legal: {allowed} [{where}]"
    )
