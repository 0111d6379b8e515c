"""The time, for compiled code that has a budget."""

from __future__ import annotations

from time import perf_counter

import numba

from gin_sim.compiled import JIT_DISABLED, compile_lazily


def _seconds() -> float:
    with numba.objmode(now="float64"):
        now = perf_counter()
    return now  # noqa: RET504 - numba wants it named


seconds = perf_counter if JIT_DISABLED else compile_lazily(_seconds, nogil=False)
"""Return seconds since some moment, as ``time.perf_counter`` does.

Python is asked, for which its lock is taken: a few microseconds, so ask seldom.
"""
