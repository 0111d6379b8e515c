"""The phase in which the defender lays off, for environments that ask for it.

The engine settles a knock at once, the lay-offs at best.  An environment that asks opens
such a knock again: the defender lays off card by card, until it says that it is done or
nothing fits any more, and the same scorer then prices what is left.

Only the set of cards laid off counts, and a card may be added whenever all of them
together can be laid off.  On which meld a card lies that fits both a set and a run is
therefore never asked for, and no choice of it can be regretted.
"""

from __future__ import annotations

from typing import Any

from gin_sim.compiled import kernel
from gin_sim.layoff import fitting, fitting_too
from gin_sim.melds import least_deadwood
from gin_sim.scoring import DEAD, KNOCKED, UNDERCUT, knock_outcome
from gin_sim.state import close_hand
from gin_sim.view import OVER, PHASES

LAYOFF = len(PHASES)
"""The phase, which no agent's view ever shows."""

ALL_PHASES = (*PHASES, "layoff")

LAYOFFS = ("best", "ask")
"""How the cards to be laid off are chosen: by the engine, or by the defender."""

BOTH_SEATS = 0b11


@kernel
def ask_for_layoffs(state: Any, rules: Any, asked: int) -> None:
    """Open a knock that has just been settled, if its defender is to be asked.

    Parameters
    ----------
    asked : int
        The seats that are asked, as bits.  Who holds nothing that fits is not.
    """
    if state.phase != OVER or (state.outcome != KNOCKED and state.outcome != UNDERCUT):
        return
    ender = state.ender
    seat = 1 - ender
    if not asked >> seat & 1:
        return
    fits = fitting(state.knock_sets, state.knock_runs, rules.longest_meld) & state.hands[seat]
    if fits == 0:
        return
    state.phase = LAYOFF
    state.seat = seat
    state.legal_discards = fits
    state.laid_off = 0
    state.deadwood[ender] = state.knock_deadwood
    # What the knocker drew is not for the defender, and nobody has scored yet.
    state.drawn = -1
    state.taken = -1
    state.candidate = -1
    state.outcome = DEAD
    state.winner = -1
    state.points = 0
    state.defender_after = -1


@kernel
def decide_layoff(state: Any, rules: Any, card: int) -> None:
    """Lay off a card that fits; with a number above 51 lay off no more."""
    seat = state.seat
    hand = state.hands[seat]
    sets, runs = state.knock_sets, state.knock_runs
    fits = 0
    if card < 52:
        laid = state.laid_off | 1 << card
        fits = fitting_too(hand, laid, sets, runs, rules.longest_meld)
        state.laid_off = laid
        state.deadwood[seat] = least_deadwood(hand & ~laid)
    state.legal_discards = fits
    if fits == 0:
        state.seat = state.ender
        after = state.deadwood[seat]
        close_hand(state, rules, knock_outcome(state.knock_deadwood, after, rules), after)


@kernel
def take_back(state: Any) -> None:
    """Undo the lay-offs of a hand that the defender is about to forfeit."""
    state.deadwood[state.seat] = state.defender_before
    state.laid_off = 0
    state.knock_sets = 0
    state.knock_runs = 0


@kernel
def melds_on_table(state: Any) -> int:
    """Return the knocker's melds as laid down, all cards in one mask; 0 before a knock."""
    cards: int = state.knock_sets
    runs = state.knock_runs
    while runs:
        cards |= ((1 << (runs >> 6 & 15)) - 1) << (runs & 63)
        runs >>= 10
    return cards
