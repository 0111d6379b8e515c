"""What a player may know at a decision.

A :class:`View` is the whole of an agent's world.  Compiled agents get it as a record,
Python agents as the named tuple below; the fields and their order are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gin_sim.cards import card_name

# What is being decided (`View.phase`).
UPCARD = 0
DRAW = 1
DISCARD = 2
KNOCK = 3
LAST = 4
OVER = 5

PHASES = ("upcard", "draw", "discard", "knock", "last", "over")

# What happened (bits 6 and 7 of an entry of `View.history`).
PASSED = 0
TOOK = 1
DREW = 2
THREW = 3

HIDDEN_CARD = 63
MAX_TURNS = 200
HISTORY = 2 * MAX_TURNS + 2


class View(NamedTuple):
    """Everything a seat knows at a decision; all cards as numbers, sets as masks.

    Attributes
    ----------
    phase : int
        `UPCARD`: take the opening upcard or pass (both seats are asked in turn).
        `DRAW`: take the upcard, or draw from the stock.  `DISCARD`: which card to
        throw.  `KNOCK`: knock with `candidate` thrown, or play on?  `LAST`: two cards
        are left in the stock; take the upcard to knock, or let the hand die.
    hand : int
        The seat's own cards: ten, or eleven at `DISCARD` and `KNOCK`.
    upcard : int
        The top of the discard pile, -1 while it has been taken.
    drawn, taken : int
        The card drawn this turn, and the same if it came from the pile; else -1.
    candidate : int
        At `KNOCK` the card about to be thrown, else -1.
    legal_discards : int
        At `DISCARD` the cards that may be thrown, else 0.
    best_discards : int
        At `DISCARD` the legal discards that leave the least deadwood, else 0.
    deadwood : int
        Of the hand before a draw; at `DISCARD` after a best discard; at `KNOCK` what
        would be knocked with.
    stock_left : int
        Cards left in the stock now, so after the draw of this turn.
    turn, own_turn : int
        Turns (draw and discard) finished in this hand by both seats, and by this one.
    is_dealer : int
        1 for the dealer.
    knock_limit, gin_bonus, undercut_bonus : int
        The rules in force for this hand.
    big_gin_bonus : int
        -1 where there is no big gin.
    multiplier : int
        What the hand's points are multiplied by: 1, or 2 in a doubled hand.
    score, opponent_score, target : int
        Of the game being played; 0, 0 and the target where hands stand alone.
    pile : int
        All cards of the discard pile, with the upcard.
    seen : int
        Own hand, pile and the opponent's known cards: the rest is hidden.
    opponent_known : int
        Cards that the opponent took from the pile and still holds.
    opponent_discards, own_discards : int
        All that was thrown in this hand so far.
    opponent_refused : int
        Upcards that the opponent passed or left lying.
    word : int
        A non-negative random number of 63 bits, fresh for every decision.
    history_len : int
        How many entries `history` has.
    history : array or tuple of int
        What this seat saw, in order: ``actor << 8 | what << 6 | card`` with actor 0 for
        this seat and 1 for the opponent, what one of `PASSED`, `TOOK`, `DREW`, `THREW`,
        and card `HIDDEN_CARD` for the opponent's draws from the stock.
    """

    phase: int
    hand: int
    upcard: int
    drawn: int
    taken: int
    candidate: int
    legal_discards: int
    best_discards: int
    deadwood: int
    stock_left: int
    turn: int
    own_turn: int
    is_dealer: int
    knock_limit: int
    gin_bonus: int
    undercut_bonus: int
    big_gin_bonus: int
    multiplier: int
    score: int
    opponent_score: int
    target: int
    pile: int
    seen: int
    opponent_known: int
    opponent_discards: int
    own_discards: int
    opponent_refused: int
    word: int
    history_len: int
    history: tuple[int, ...]


VIEW_DTYPE = np.dtype(
    [(name, "i8") for name in View._fields[:-1]] + [("history", "i2", (HISTORY,))], align=True
)
"""The record that compiled agents get: the fields of :class:`View`."""


def as_view(record: Any) -> View:
    """Return the named tuple of a view record; the history is cut to its length."""
    values: list[Any] = [int(record[name]) for name in View._fields[:-1]]
    history = record["history"][: values[-1]]
    return View._make([*values, tuple(int(entry) for entry in history)])


def describe_history(view: View) -> list[tuple[str, str, str]]:
    """Return the history in words: who (you, opponent), what, which card."""
    rows = []
    for entry in list(view.history)[: view.history_len]:
        card = int(entry) & 63
        what = ("passes", "takes", "draws", "throws")[int(entry) >> 6 & 3]
        name = "a hidden card" if card == HIDDEN_CARD else card_name(card)
        rows.append(("opponent" if int(entry) >> 8 else "you", what, name))
    return rows
