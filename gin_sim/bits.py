"""Bit operations that numba lacks, as single machine instructions.

Under ``NUMBA_DISABLE_JIT=1`` the same names are plain Python.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from gin_sim.compiled import JIT_DISABLED, kernel

if JIT_DISABLED:

    def popcount(mask: int) -> int:
        """Return the number of cards in a mask."""
        return int(mask).bit_count()

    def lowest(mask: int) -> int:
        """Return the lowest card of a mask that has one."""
        mask = int(mask)
        return (mask & -mask).bit_length() - 1

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def popcount(typingctx: Any, mask: Any) -> Any:
        """Return the number of cards in a mask."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.int64), build

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest(typingctx: Any, mask: Any) -> Any:
        """Return the lowest card of a mask that has one."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], context.get_constant(types.boolean, False))

        return types.int64(types.int64), build


@kernel
def nth_card(mask: int, n: int) -> int:
    """Return the n-th card of a mask, counted from 0 and from the lowest."""
    for _ in range(n):
        mask &= mask - 1
    return lowest(mask)


@kernel
def highest_value_cards(mask: int) -> int:
    """Return the cards of a mask whose rank is the highest in it, as a mask."""
    best = -1
    kept = 0
    while mask:
        card = lowest(mask)
        mask &= mask - 1
        if card % 13 > best:
            best = card % 13
            kept = 0
        if card % 13 == best:
            kept |= 1 << card
    return kept
