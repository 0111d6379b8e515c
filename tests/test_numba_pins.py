"""What is relied on of numba's first-class functions, which it calls experimental.

A release that changes any of this is seen here, and not in somebody's results.
"""

import numba
import numpy as np
import pytest
from numba import types

from gin_sim.compiled import JIT_DISABLED
from gin_sim.play import CARD_DECISION, PARAMS_TYPE, VIEW_DTYPE, VIEW_TYPE

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")

PAIR = types.Tuple([CARD_DECISION, PARAMS_TYPE])


@numba.njit([types.int64(PAIR, VIEW_TYPE[::1])])
def call(pair, views):  # type: ignore[no-untyped-def]
    views[0].turn += 1
    return pair[0](views[0], pair[1])


@numba.njit
def turn(view, params):  # type: ignore[no-untyped-def]
    if view.turn == 3:
        raise ValueError("third")
    return view.turn + np.int64(params[0])


@numba.njit
def as_float(view, params):  # type: ignore[no-untyped-def]
    return 2.5


def views() -> np.ndarray:
    return np.zeros(1, VIEW_DTYPE)


def test_functions_travel_in_plain_tuples_and_see_the_record() -> None:
    turn.compile((VIEW_TYPE, PARAMS_TYPE))
    assert call((turn, np.array([40.0])), views()) == 41


def test_exceptions_come_through_and_the_record_keeps_what_was_written() -> None:
    turn.compile((VIEW_TYPE, PARAMS_TYPE))
    seen = views()
    pair = (turn, np.array([0.0]))
    call(pair, seen)
    call(pair, seen)
    with pytest.raises(ValueError, match="third"):
        call(pair, seen)
    assert seen[0]["turn"] == 3
    assert call(pair, seen) == 4


def test_a_function_of_another_return_type_is_refused() -> None:
    as_float.compile((VIEW_TYPE, PARAMS_TYPE))
    with pytest.raises(TypeError, match=r"mismatch of return type|No matching definition"):
        call((as_float, np.array([0.0])), views())
