"""What a seat is shown of a hand: its view is written here, and nowhere read back.

An agent may write into its view; the machine never looks there, so it can only deceive
itself.
"""

from __future__ import annotations

from typing import Any

from gin_sim.chance import decision_word
from gin_sim.compiled import kernel
from gin_sim.view import DISCARD, DREW, HIDDEN_CARD, HISTORY, KNOCK


@kernel
def open_view(state: Any, rules: Any, seat: int) -> None:
    """Write into a seat's view what holds for the whole hand, and wipe its history."""
    view = state.views[seat]
    view.is_dealer = seat
    view.knock_limit = state.limit
    view.gin_bonus = rules.gin_bonus
    view.undercut_bonus = rules.undercut_bonus
    view.big_gin_bonus = rules.big_gin_bonus
    view.multiplier = state.multiplier
    view.score = state.scores[seat]
    view.opponent_score = state.scores[1 - seat]
    view.target = rules.target
    for i in range(HISTORY):
        view.history[i] = 0


@kernel
def note(state: Any, what: int, card: int) -> None:
    """Show both seats what the seat to act has done."""
    n = state.n_events
    state.n_events = n + 1
    event = what << 6 | card
    shown = DREW << 6 | HIDDEN_CARD if what == DREW else event
    if state.seat == 0:
        state.views[0].history[n] = event
        state.views[1].history[n] = 1 << 8 | shown
    else:
        state.views[0].history[n] = 1 << 8 | shown
        state.views[1].history[n] = event


@kernel
def fill_view(state: Any, view: Any) -> None:
    """Write into an open view what the seat to act may know now; draw its random word."""
    seat = state.seat & 1
    other = seat ^ 1
    phase = state.phase
    hand = state.hands[seat]
    known = state.known[other]
    pile = state.pile
    view.phase = phase
    view.hand = hand
    view.upcard = state.upcard
    view.drawn = state.drawn
    view.taken = state.taken
    view.candidate = state.candidate
    if phase == DISCARD:
        view.legal_discards = state.legal_discards
        view.best_discards = state.best_discards
        view.deadwood = state.best_deadwood
    else:
        view.legal_discards = 0
        view.best_discards = 0
        view.deadwood = state.candidate_deadwood if phase == KNOCK else state.deadwood[seat]
    view.stock_left = 52 - state.place
    view.turn = state.turn
    view.own_turn = state.own_turns[seat]
    view.pile = pile
    view.seen = hand | pile | known
    view.opponent_known = known
    view.opponent_discards = state.discards[other]
    view.own_discards = state.discards[seat]
    view.opponent_refused = state.refused[other]
    n = state.decisions[seat]
    state.decisions[seat] = n + 1
    view.word = decision_word(state.seat_keys[seat], n)
    view.history_len = state.n_events
