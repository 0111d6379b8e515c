"""What a number given by a user may be, checked and said in one way."""

from __future__ import annotations

from contextlib import suppress
from numbers import Real
from typing import Any

from gin_sim.errors import GinSimError

MAX_SEED = 2**63 - 1
"""The highest seed, and the highest number of a deal."""

MAX_UNITS = 2**53 - 1
"""The most deals or games in a run: each hand of each game has a deal number of its own."""

MAX_JOBS = 4096


def _is_in(value: Any, low: float, high: float) -> bool:
    """Return whether a value is a number of a range; NaN is in none, True is no number."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    with suppress(TypeError):  # numpy counts time spans among the integers
        return bool(real and low <= value <= high)
    return False


def whole_number(
    value: Any, name: str, low: int, high: int, error: type[GinSimError] = GinSimError
) -> int:
    """Return a whole number of a range as an int.

    Parameters
    ----------
    value : Any
        Python's and numpy's whole numbers pass, floats such as 1e6 too; True, 2.5 and
        "2" do not.
    name : str
        What to call it in an error.
    low, high : int
        The range, both ends allowed.
    error : type of GinSimError
        What to raise.

    Raises
    ------
    GinSimError
        Naming the value and what is allowed.
    """
    if _is_in(value, low, high) and value == int(value):
        return int(value)
    raise error(f"{name} = {value!r}: allowed is a whole number {low}..{high}")


def real_number(
    value: Any, name: str, low: float, high: float, error: type[GinSimError] = GinSimError
) -> float:
    """Return a number of a range as a float.

    Parameters
    ----------
    value : Any
        Python's and numpy's numbers pass; True and "2" do not.
    name : str
        What to call it in an error.
    low, high : float
        The range, both ends allowed.
    error : type of GinSimError
        What to raise.

    Raises
    ------
    GinSimError
        Naming the value and what is allowed.
    """
    if _is_in(value, low, high):
        return float(value)
    raise error(f"{name} = {value!r}: allowed is a number {low:g}..{high:g}")
