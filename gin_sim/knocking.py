"""What a knock would pay, asked of hands that the opponent may hold, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

from gin_sim.compiled import kernel
from gin_sim.layoff import lay_down, lay_off
from gin_sim.melds import least_deadwood
from gin_sim.rules import NO_LIMIT
from gin_sim.worlds import first_world, gather, likely_world


class Knock(NamedTuple):
    """What a knock is expected to do.

    Attributes
    ----------
    points : float
        Those it brings, an undercut counting against it.
    undercut : float
        The chance of an undercut.
    deadwood : float
        The opponent's, before lay-offs.
    """

    points: float
    undercut: float
    deadwood: float


@kernel
def knock_now(view: Any, worlds: int, settle: int, between: int) -> Knock:
    """Return what the knock that a view asks about would do, in worlds of a short walk.

    Parameters
    ----------
    view : record
        Of the phase KNOCK.
    worlds : int
        How many hands of the opponent's are looked at, at least one.
    settle, between : int
        Steps of the walk to the first of them, and from one to the next.
    """
    hand = view.hand ^ 1 << view.candidate
    pile = view.pile | 1 << view.candidate
    sets, runs = lay_down(hand, hand | pile, NO_LIMIT)
    evidence = gather(view)
    world = likely_world(evidence, first_world(evidence, view.word), settle)
    points = undercuts = total = 0
    n = max(worlds, 1)
    for _ in range(n):
        world = likely_world(evidence, world, between)
        left, _ = lay_off(world.opponent, sets, runs, NO_LIMIT)
        total += least_deadwood(world.opponent)
        difference = left - view.deadwood
        if difference > 0:
            points += difference
        else:
            points += difference - view.undercut_bonus
            undercuts += 1
    return Knock(view.multiplier * points / n, undercuts / n, total / n)
