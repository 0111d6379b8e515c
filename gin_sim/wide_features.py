"""A wider view of a choice: what :mod:`gin_sim.features` counts, and what goes with the turns.

What a card is to the opponent, and what the own hand hopes for, weigh differently early and
late, and once more where the stock ends; and an opponent that throws low cards has few points
left.  A decision's weights are
those of its features and then of what is added here; they begin at 0, :data:`WIDE_TAKES`
and :data:`WIDE_KNOCKS`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gin_sim import features
from gin_sim.bits import lowest
from gin_sim.compiled import kernel
from gin_sim.danger import points_at
from gin_sim.features import Knock, Take, Throw, about_throw, knock_after, lateness, weigh
from gin_sim.view import THREW


class ThrowLater(NamedTuple):
    """What is added about a throw: some of its features, times the turns played.

    Attributes
    ----------
    late_melds, late_points, late_best, late_may_knock : float
        As :class:`gin_sim.features.Throw` has them without the turns.
    ending_deadwood, ending_may_knock : float
        The same times how near the stock is to its end (:func:`ending`).
    """

    late_melds: float
    late_points: float
    late_best: float
    late_may_knock: float
    ending_deadwood: float
    ending_may_knock: float


class KnockLater(NamedTuple):
    """What is added about knocking; points in tens, turns in twenties.

    Attributes
    ----------
    thrown, least_thrown : float
        The value of the card that the opponent threw last, and the less of its last two;
        ten points for what it has not thrown yet.
    late_thrown, late_hope, late_late : float
        The first, the hope and the turns, times the turns played.
    ending, ending_deadwood, ending_gin_outs : float
        How near the stock is to its end (:func:`ending`), and deadwood and outs times that.
    """

    thrown: float
    least_thrown: float
    late_thrown: float
    late_hope: float
    late_late: float
    ending: float
    ending_deadwood: float
    ending_gin_outs: float


_THROW = len(Throw._fields)
_LATER = len(ThrowLater._fields)
_KNOCK = len(Knock._fields)
WIDE_TAKES = _THROW + len(ThrowLater._fields)
WIDE_KNOCKS = WIDE_TAKES + len(Take._fields)
N_WIDE = WIDE_KNOCKS + _KNOCK + len(KnockLater._fields)
"""Where the weights of the three decisions begin, and how many there are."""

WIDE_NAMES = (
    *(f"throw_{name}" for name in Throw._fields + ThrowLater._fields),
    *(f"take_{name}" for name in Take._fields),
    *(f"knock_{name}" for name in Knock._fields + KnockLater._fields),
)
"""What each weight is called as a parameter of an agent."""


@kernel
def ending(view: Any) -> float:
    """Return 0 while more than a dozen cards are in the stock, growing to 1 at the last two."""
    return float(min(max(12 - view.stock_left, 0), 10) / 10)


@kernel
def last_two_thrown(view: Any) -> tuple[int, int]:
    """Return the values of the opponent's last throw and of the one before, 10 for none."""
    last = -1
    for i in range(view.history_len - 1, -1, -1):
        event = int(view.history[i])
        if event >> 8 == 1 and event >> 6 & 3 == THREW:
            value = points_at((event & 63) % 13)
            if last >= 0:
                return last, value
            last = value
    return (last, 10) if last >= 0 else (10, 10)


@kernel
def throw_later(view: Any, about: Throw) -> ThrowLater:
    """Return what is added to the features of a throw."""
    late = lateness(view)
    near_end = ending(view)
    return ThrowLater(
        late * about.melds,
        late * about.points,
        late * about.best,
        late * about.may_knock,
        near_end * about.deadwood,
        near_end * about.may_knock,
    )


@kernel
def knock_later(view: Any, about: Knock) -> KnockLater:
    """Return what is added to the features of a knock."""
    late = lateness(view)
    last, before = last_two_thrown(view)
    near_end = ending(view)
    return KnockLater(
        last / 10,
        min(last, before) / 10,
        late * last / 10,
        late * about.hope,
        late * late,
        near_end,
        near_end * about.deadwood,
        near_end * about.gin_outs,
    )


@kernel
def throw_score(view: Any, card: int, weights: Any) -> float:
    """Return the weighted sum of what is counted about throwing a card of eleven."""
    about = about_throw(view, card)
    return weigh(about, weights, 0) + weigh(throw_later(view, about), weights, _THROW)


@kernel
def take_score(view: Any, weights: Any) -> float:
    """Return the weighted sum of what is counted about taking the upcard."""
    return weigh(features.about_take(view), weights, WIDE_TAKES)


@kernel
def knock_score(view: Any, thrown: int, weights: Any) -> float:
    """Return the weighted sum of what is counted about knocking with a card thrown."""
    about = knock_after(view, thrown)
    score = weigh(about, weights, WIDE_KNOCKS)
    return score + weigh(knock_later(view, about), weights, WIDE_KNOCKS + _KNOCK)


@kernel
def takes_by(view: Any, weights: Any) -> bool:
    """Return whether the upcard is taken by a player of such weights."""
    return features.takes_by(view, weights[_LATER:])


@kernel
def throws_by(view: Any, weights: Any) -> int:
    """Return the card that a player of such weights throws."""
    chosen = -1
    best = 0.0
    left = view.best_discards if view.deadwood == 0 else view.legal_discards
    while left:
        card = lowest(left)
        left &= left - 1
        score = throw_score(view, card, weights)
        if chosen < 0 or score > best:
            chosen = card
            best = score
    return chosen


@kernel
def knocks_by(view: Any, weights: Any) -> bool:
    """Return whether a player of such weights knocks."""
    return knock_score(view, view.candidate, weights) > 0
