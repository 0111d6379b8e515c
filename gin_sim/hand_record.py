"""What is kept of a hand: the one record that the state machine works on.

Copying the record forks the hand.
"""

from __future__ import annotations

import numpy as np

from gin_sim.view import VIEW_DTYPE

_SCALARS = (
    "phase",
    "seat",
    "turn",
    # Written by the loops, so that after an exception one knows how far they came.
    "deal",
    "mirror",
    "dealer",
    "rows_done",
    "games_done",
    "lazy",  # places from `place` on are still to be shuffled
    "place",  # of the next stock card
    "pile",
    "upcard",
    "first_upcard",
    "limit",
    "multiplier",
    "passes",
    "pile_draws",
    "thrown_back",  # turns in a row that threw the card they had taken
    "reshuffles",
    "last_chance",  # the turn began in the phase LAST
    "drawn",
    "taken",
    "candidate",
    "candidate_deadwood",
    "legal_discards",
    "best_discards",
    "best_deadwood",
    "n_events",
    # Facts of a finished hand; -1 where there is none.
    "outcome",
    "ender",
    "winner",
    "points",
    "knock_deadwood",
    "defender_before",
    "defender_after",
    "laid_off",
    "knock_sets",
    "knock_runs",
)
_PER_SEAT = (
    "hands",
    "known",  # cards of the seat that the other one has seen it take
    "discards",
    "refused",
    "deadwood",  # of the ten cards, after the last turn
    "dealt_deadwood",
    "first_chance",
    "own_turns",
    "decisions",
    "scores",
)
STATE_DTYPE = np.dtype(
    [("key", "u8"), ("stock_key", "u8"), ("seat_keys", "u8", (2,))]
    + [(name, "i8") for name in _SCALARS]
    + [(name, "i8", (2,)) for name in _PER_SEAT]
    + [("deck", "i8", (52,)), ("views", VIEW_DTYPE, (2,))],
    align=True,
)
"""A hand.  ``views[seat]`` is what that seat is shown; the machine writes there and never
reads it back, since an agent might have written into it."""
