"""What a seat observes, as numbers: the one place where observations are written.

An observation holds planes of cards and single numbers, all as whole numbers of one byte in
the units of the game.  The *flat* form is the planes one after another and then the numbers;
in the form of *planes* each number fills a plane of its own.

Nothing is read here that the seat cannot know, whether or not it is to act: what the other
seat is doing between its draw and its discard looks the same whatever it holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_sim.bits import lowest
from gin_sim.cards import DECK
from gin_sim.compiled import kernel
from gin_sim.env.actions import N_ACTIONS
from gin_sim.env.layoffs import LAYOFF, melds_on_table
from gin_sim.state import stock_left
from gin_sim.view import DISCARD, KNOCK, OVER, PHASES

CARD_PLANES = (
    "own hand",
    "upcard",
    "pile, with the upcard",
    "opponent's cards taken from the pile",
    "own cards taken from the pile",
    "opponent's discards",
    "own discards",
    "upcards the opponent refused",
    "card drawn this turn",
    "card about to be thrown",
    "best discards",
    "cards not seen",
)
"""Each 1 where the card is one of those, else 0; cell [suit, rank], suits c d h s, ace first."""

NUMBERS = (
    *((f"phase is {phase}", 1) for phase in PHASES),
    ("to act", 1),
    ("dealer", 1),
    ("stock left", 31),
    ("knock limit", 10),
    ("factor of the points", 2),
    ("own deadwood", 110),
    ("turns", 200),
    ("draws from the pile", 100),
    ("turns in a row that threw the card taken", 200),
)
"""Name and highest value of each number."""

LAYOFF_PLANE = "melds on the table, with what has been laid off"
LAYOFF_NUMBER = ("phase is layoff", 1)
"""What comes after the other planes and numbers where lay-offs are asked for."""

N_CARD_PLANES = len(CARD_PLANES)
N_NUMBERS = len(NUMBERS)
FLAT_SHAPE = (52 * N_CARD_PLANES + N_NUMBERS,)
PLANES_SHAPE = (N_CARD_PLANES + N_NUMBERS, 4, 13)
SHAPES = {"flat": FLAT_SHAPE, "planes": PLANES_SHAPE}
ASKING_SHAPES = {"flat": (FLAT_SHAPE[0] + 53,), "planes": (PLANES_SHAPE[0] + 2, 4, 13)}
"""The same where lay-offs are asked for."""

NOTHING = 0
FLAT = 1
PLANES = 2
ASKING = 4
FORMS = {None: NOTHING, "flat": FLAT, "planes": PLANES}
"""What kernels call the forms of an observation; `ASKING` is added where lay-offs are asked for."""

_N_PHASES = len(PHASES)


def highest(form: str, layoff: str = "best") -> Any:
    """Return the highest value of each cell of an observation.

    Parameters
    ----------
    form : str
        ``flat`` or ``planes``.
    layoff : str
        ``best``, or ``ask`` where lay-offs are asked for.

    Returns
    -------
    (639,) or (27, 4, 13) array of uint8; where they are, (692,) or (29, 4, 13)
    """
    asks = layoff == "ask"
    numbers = (*NUMBERS, LAYOFF_NUMBER) if asks else NUMBERS
    tops = np.array([top for _, top in numbers], np.uint8)
    cards = np.ones(52 * (N_CARD_PLANES + asks), np.uint8)
    if form == "planes":
        tops = tops.repeat(52)
    return np.concatenate([cards, tops]).reshape((ASKING_SHAPES if asks else SHAPES)[form])


@kernel
def _bit(card: int) -> int:
    """Return the mask of a card, 0 if there is none."""
    return 1 << card if card >= 0 else 0


@kernel
def _own_deadwood(state: Any, seat: int) -> int:
    """Return the deadwood of a seat's hand, as far as it has got in its turn."""
    deadwood: int = state.deadwood[seat]
    if state.phase == OVER:
        if state.ender == seat and state.knock_deadwood >= 0:
            deadwood = state.knock_deadwood
    elif state.seat == seat:
        if state.phase == DISCARD:
            deadwood = state.best_deadwood
        elif state.phase == KNOCK:
            deadwood = state.candidate_deadwood
    return deadwood


@kernel
def _write_plane(out: Any, plane: int, cards: int) -> None:
    """Write a mask into 52 cells that are 0."""
    start = 52 * plane
    while cards:
        out[start + lowest(cards)] = 1
        cards &= cards - 1


@kernel
def _write_cards(out: Any, state: Any, seat: int) -> None:
    """Write the planes of cards."""
    out[: 52 * N_CARD_PLANES] = 0
    other = 1 - seat
    hand = state.hands[seat]
    pile = state.pile
    known = state.known[other]
    drawn = candidate = best = 0
    if state.seat == seat and state.phase != OVER:
        drawn = _bit(state.drawn)
        candidate = _bit(state.candidate)
        if state.phase == DISCARD:
            best = state.best_discards
    _write_plane(out, 0, hand)
    _write_plane(out, 1, _bit(state.upcard))
    _write_plane(out, 2, pile)
    _write_plane(out, 3, known)
    _write_plane(out, 4, state.known[seat])
    _write_plane(out, 5, state.discards[other])
    _write_plane(out, 6, state.discards[seat])
    _write_plane(out, 7, state.refused[other])
    _write_plane(out, 8, drawn)
    _write_plane(out, 9, candidate)
    _write_plane(out, 10, best)
    _write_plane(out, 11, DECK & ~(hand | pile | known))


@kernel
def _write_numbers(out: Any, state: Any, seat: int) -> None:
    """Write the numbers from place 0 on."""
    to_act = state.seat == seat and state.phase != OVER
    phase = state.phase
    if phase == KNOCK and not to_act:
        phase = DISCARD  # that the other one may knock is not to be seen
    for i in range(_N_PHASES):
        out[i] = phase == i
    out[_N_PHASES] = to_act
    out[_N_PHASES + 1] = seat
    out[_N_PHASES + 2] = stock_left(state)
    out[_N_PHASES + 3] = state.limit
    out[_N_PHASES + 4] = state.multiplier
    out[_N_PHASES + 5] = _own_deadwood(state, seat)
    out[_N_PHASES + 6] = state.turn
    out[_N_PHASES + 7] = state.pile_draws
    out[_N_PHASES + 8] = state.thrown_back


@kernel
def _take_out(out: Any, plane: int, cards: int) -> None:
    """Write 0 where a plane has cards of a mask."""
    start = 52 * plane
    while cards:
        out[start + lowest(cards)] = 0
        cards &= cards - 1


@kernel
def _write_asking(out: Any, state: Any, seat: int, form: int) -> None:
    """Write what a seat observes where lay-offs are asked for."""
    start = 52 * (N_CARD_PLANES + 1)
    _write_cards(out, state, seat)
    _write_table(out, state)
    _write_numbers(out[start:], state, seat)
    out[start + N_NUMBERS] = state.phase == LAYOFF
    if form == ASKING + FLAT:
        return
    for number in range(N_NUMBERS, -1, -1):
        cell = start + 52 * number
        out[cell : cell + 52] = out[start + number]


@kernel
def _write_table(out: Any, state: Any) -> None:
    """Write the plane of the cards on the table, and take them out of where they are no more."""
    out[52 * N_CARD_PLANES : 52 * (N_CARD_PLANES + 1)] = 0
    melds = melds_on_table(state)
    laid = state.laid_off
    _write_plane(out, N_CARD_PLANES, melds | laid)
    _take_out(out, 0, laid)
    _take_out(out, 3, laid)
    _take_out(out, 4, laid)
    _take_out(out, 11, melds | laid)


@kernel
def write_observation(out: Any, state: Any, seat: int, form: int) -> None:
    """Write what a seat observes into a row of as many cells as the form has."""
    if form == NOTHING or form == ASKING + NOTHING:
        return
    if form > ASKING:
        _write_asking(out, state, seat, form)
        return
    start = 52 * N_CARD_PLANES
    _write_cards(out, state, seat)
    _write_numbers(out[start:], state, seat)
    if form == FLAT:
        return
    for number in range(N_NUMBERS - 1, -1, -1):  # from the back: a number is read, then spread
        cell = start + 52 * number
        out[cell : cell + 52] = out[start + number]


@kernel
def write_mask(out: Any, legal: int) -> None:
    """Write legal actions, given as a mask, into a row of `N_ACTIONS` cells or of one more."""
    for action in range(N_ACTIONS):
        out[action] = legal >> action & 1
    if out.shape[0] > N_ACTIONS:
        out[N_ACTIONS] = legal >> N_ACTIONS & 1
