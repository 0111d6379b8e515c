"""Tables over the 8,192 sets of ranks that one suit can hold.

Everything about runs is looked up here.  A suit's ranks are a 13-bit mask, bit 0 the
ace.  Within one suit nothing has to be chosen: every card counts at least one point, so
all maximal runs of three or more are melded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

N_MASKS = 1 << 13
POINTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)

NO_CARD = -128
"""The fall that stands for a suit with no card to throw."""


def run_ranks(mask: int) -> int:
    """Return the ranks of `mask` that stand in a run of three or more."""
    centres = mask & mask << 1 & mask >> 1
    return (centres | centres << 1 | centres >> 1) & mask


def points(mask: int) -> int:
    """Return the value of all ranks of a suit mask."""
    return sum(value for rank, value in enumerate(POINTS) if mask >> rank & 1)


def _loose_points() -> NDArray[np.int32]:
    return np.array([points(m & ~run_ranks(m)) for m in range(N_MASKS)], dtype=np.int32)


def _suit_entries(loose: NDArray[np.int32]) -> NDArray[np.int32]:
    """Pack, for each suit mask, what the best discard from it does.

    Bits 0..12: the ranks whose throw makes the suit's loose points fall most; bits
    13..20: that fall + 128 (negative where every throw breaks a run); bits 21..27: the
    loose points before the throw.
    """
    entries = np.zeros(N_MASKS, dtype=np.int32)
    for mask in range(N_MASKS):
        falls = {
            rank: int(loose[mask]) - int(loose[mask ^ 1 << rank])
            for rank in range(13)
            if mask >> rank & 1
        }
        fall = max(falls.values(), default=NO_CARD)
        ranks = sum(1 << rank for rank, f in falls.items() if f == fall)
        entries[mask] = ranks | fall + 128 << 13 | int(loose[mask]) << 21
    return entries


def _set_options() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the ways to use a rank in a set, for each of the 16 sets of its suits.

    Returns
    -------
    options : (16, 6) array
        Masks of the cards in the set if the rank were the ace (shift left by the rank);
        the first is always 0, no set.
    counts : (16,) array
    """
    options = np.zeros((16, 6), dtype=np.int64)
    counts = np.ones(16, dtype=np.int64)
    for present in range(16):
        suits = [m for m in range(16) if m & present == m and m.bit_count() >= 3]
        for i, chosen in enumerate(suits, start=1):
            options[present, i] = sum(1 << 13 * suit for suit in range(4) if chosen >> suit & 1)
        counts[present] = 1 + len(suits)
    return options, counts


LOOSE = _loose_points()
"""(8192,) points of a suit's cards outside runs."""

ENTRIES = _suit_entries(LOOSE)
"""(8192,) packed facts on the best discard from a suit; see :func:`_suit_entries`."""

SET_OPTIONS, N_SET_OPTIONS = _set_options()
