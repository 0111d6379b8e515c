"""Actions compared by playing on, in the same worlds, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gin_sim import clock
from gin_sim.chance import next_word
from gin_sim.compiled import kernel
from gin_sim.play import points_for
from gin_sim.playouts import (
    FROM,
    act,
    new_rules,
    new_states,
    play_out,
    rules_of,
    set_view,
    set_world,
)
from gin_sim.view import OVER
from gin_sim.win_probability import TARGET, WINS
from gin_sim.worlds import first_world, gather, likely_world

MOST_ACTIONS = 8
BATCH = 16
FIRST_LOOK = 2 * BATCH
"""Worlds played before one action may be seen to be ahead; looked again after each batch."""


class Effort(NamedTuple):
    """How much is looked at, and whom the play-outs are between.

    Attributes
    ----------
    worlds : int
        At most so many.
    seconds : float
        At most so long; 0 for no such limit.
    sure : float
        How many standard errors ahead of every other an action ends the search.
    settle, between : int
        Steps of the walk to the first world, and from one to the next.
    bold : float
        The share of worlds whose opponent knocks whenever it may.
    """

    worlds: int
    seconds: float
    sure: float
    settle: int
    between: int
    bold: float


@kernel
def worth(view: Any, points: int) -> float:
    """Return the chance of winning the game once a hand has brought so many points."""
    scale = TARGET / max(view.target, 1)
    own = (view.score + max(points, 0)) * scale
    other = (view.opponent_score + max(-points, 0)) * scale
    return float(WINS[min(int(own), TARGET), min(int(other), TARGET)])


@kernel
def ahead(sums: Any, squares: Any, n: int, done: int, sure: float) -> bool:
    """Return whether the best action is so many standard errors ahead of all others."""
    best = int(np.argmax(sums[:n]))
    for i in range(n):
        if i == best:
            continue
        mean = (sums[best] - sums[i]) / done
        variance = max(squares[best, i] / done - mean * mean, 1e-12) / done
        if mean * mean < sure * sure * variance:
            return False
    return True


@kernel
def best_action(
    view: Any, actions: Any, n: int, effort: Effort, own_params: Any, other_params: Any
) -> int:
    """Return the action that wins most games when played on in likely worlds.

    Parameters
    ----------
    actions : (>= n,) array of int
        As :func:`gin_sim.playouts.act` takes them; at most `MOST_ACTIONS`.
    own_params, other_params : (3,) arrays of float
        Of the two players of the play-outs.
    """
    if n == 1:
        return int(actions[0])
    begun = clock.seconds() if effort.seconds > 0 else 0.0
    states = new_states(2)
    rules = new_rules()[0]
    start, state = states[0], states[1]
    rules_of(view, rules)
    set_view(start, rules, view)
    evidence = gather(view)
    world = likely_world(evidence, first_world(evidence, view.word), effort.settle)
    params = np.empty((2, len(own_params)))
    seat = view.is_dealer & 1
    params[seat] = own_params
    other = params[1 - seat]
    other[:] = other_params
    sums = np.zeros(MOST_ACTIONS)
    squares = np.zeros((MOST_ACTIONS, MOST_ACTIONS))
    values = np.zeros(MOST_ACTIONS)
    done = 0
    while done < effort.worlds:
        world = likely_world(evidence, world, effort.between)
        set_world(start, evidence.unseen, world)
        bold = next_word(world.word) < effort.bold * 2.0**63
        other[FROM] = 0.0 if bold else other_params[FROM]
        for i in range(n):
            states[1] = states[0]
            act(state, rules, actions[i])
            if state.phase != OVER:
                play_out(state, rules, params)
            values[i] = worth(view, points_for(state, seat))
            sums[i] += values[i]
            for j in range(i):
                squares[i, j] += (values[i] - values[j]) ** 2
                squares[j, i] = squares[i, j]
        done += 1
        if done % BATCH == 0:
            if done >= FIRST_LOOK and ahead(sums, squares, n, done, effort.sure):
                break
            if effort.seconds > 0 and clock.seconds() - begun > effort.seconds:
                break
    return int(actions[np.argmax(sums[:n])])
