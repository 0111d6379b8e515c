"""Actions compared by playing on, in the same worlds, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gin_sim import clock
from gin_sim.chance import next_word
from gin_sim.compiled import kernel
from gin_sim.play import points_for
from gin_sim.playouts import (
    KNOCKING,
    act,
    new_rules,
    new_states,
    play_out,
    rules_of,
    set_view,
    set_world,
)
from gin_sim.view import KNOCK, OVER
from gin_sim.win_probability import TARGET, WINS
from gin_sim.worlds import first_world, gather, likely_world

MOST_ACTIONS = 8
STAKE = 25
"""Points that a hand is about."""

AT_FIRST = WINS[STAKE, 0] - WINS[0, STAKE]
BATCH = 16
FIRST_LOOK = 2 * BATCH
"""Worlds played before an action may be seen to be behind; looked again after each batch."""


class Effort(NamedTuple):
    """How much is looked at, and what is thought beforehand.

    Attributes
    ----------
    worlds : int
        At most so many.
    seconds : float
        At most so long; 0 for no such limit.
    sure : float
        An action is not played on any more once it is so many standard errors behind.
    settle, between : int
        Steps of the walk to the first world, and from one to the next.
    bold : float
        How often the opponent knocks whenever it may, in worlds where it could not have
        knocked so far.
    trust : float
        For as many worlds counts what is believed of the actions beforehand.
    haste : float
        Added to the chance of winning by a knock: the hands of likely worlds are a little
        better than those that opponents have.
    score : float
        1 if what counts is the chance of winning the game, 0 if points, whatever the score.
    """

    worlds: int
    seconds: float
    sure: float
    settle: int
    between: int
    bold: float
    trust: float
    haste: float
    score: float


@kernel
def worth(view: Any, points: int) -> float:
    """Return the chance of winning the game once a hand has brought so many points."""
    scale = TARGET / max(view.target, 1)
    own = (view.score + max(points, 0)) * scale
    other = (view.opponent_score + max(-points, 0)) * scale
    return float(WINS[min(int(own), TARGET), min(int(other), TARGET)])


@kernel
def value_of(view: Any, points: int, score: float) -> float:
    """Return what points are worth by the score, or as they are worth at the beginning."""
    return worth(view, points) if score > 0 else 0.5 + points * AT_FIRST / (2 * STAKE)


@kernel
def stake(view: Any) -> float:
    """Return what points are worth at a score, compared with the beginning of a game."""
    return float((worth(view, STAKE) - worth(view, -STAKE)) / AT_FIRST)


@kernel
def is_knock(view: Any, action: int) -> bool:
    """Return whether an action is a knock."""
    return bool(action == 1 if view.phase == KNOCK else action >= KNOCKING)


@kernel
def best_of(sums: Any, beliefs: Any, in_play: Any, n: int, trust: float) -> int:
    """Return the place of the best action: what was played, and what was believed before."""
    best = -1
    for i in range(n):
        if in_play[i]:
            if best < 0 or sums[i] + trust * beliefs[i] > sums[best] + trust * beliefs[best]:
                best = i
    return best


@kernel
def drop_losers(
    sums: Any, squares: Any, beliefs: Any, in_play: Any, n: int, done: int, effort: Effort
) -> int:
    """Take actions out that are so many standard errors behind; return how many are left."""
    trust, sure = effort.trust, effort.sure
    best = best_of(sums, beliefs, in_play, n, trust)
    left = 1
    for i in range(n):
        if i == best or not in_play[i]:
            continue
        mean = (sums[best] - sums[i]) / done
        variance = max(squares[best, i] / done - mean * mean, 1e-12) / (done + trust)
        lead = sums[best] - sums[i] + trust * (beliefs[best] - beliefs[i])
        lead /= done + trust
        if lead * lead < sure * sure * variance:
            left += 1
        else:
            in_play[i] = False
    return left


@kernel
def play_worlds(
    states: Any,
    limits: Any,
    view: Any,
    actions: Any,
    beliefs: Any,
    n: int,
    effort: Effort,
    weights: Any,
    sums: Any,
    in_play: Any,
) -> int:
    """Do what :func:`play_on` says, in the memory of two states and one record of rules."""
    begun = clock.seconds() if effort.seconds > 0 else 0.0
    start, state, rules = states[0], states[1], limits[0]
    rules_of(view, rules)
    set_view(start, rules, view)
    evidence = gather(view)
    world = likely_world(evidence, first_world(evidence, view.word), effort.settle)
    seat = view.is_dealer & 1
    haste = effort.haste * (stake(view) if effort.score > 0 else 1.0)
    sums[:] = 0.0
    in_play[:] = True
    squares = np.zeros((MOST_ACTIONS, MOST_ACTIONS))
    values = np.zeros(MOST_ACTIONS)
    done = 0
    while done < effort.worlds:
        world = likely_world(evidence, world, effort.between)
        set_world(start, evidence.unseen, world)
        # Who could have knocked before and did not is not bold.
        waits = start.deadwood[1 - seat] <= view.knock_limit and start.own_turns[1 - seat] > 0
        bold = -1 if waits or next_word(world.word) >= effort.bold * 2.0**63 else 1 - seat
        for i in range(n):
            if not in_play[i]:
                continue
            states[1] = states[0]
            act(state, rules, actions[i])
            if state.phase != OVER:
                play_out(state, rules, weights, bold)
            values[i] = value_of(view, points_for(state, seat), effort.score)
            if is_knock(view, actions[i]):
                values[i] += haste
            sums[i] += values[i]
            for j in range(i):
                squares[i, j] += (values[i] - values[j]) ** 2
                squares[j, i] = squares[i, j]
        done += 1
        if done % BATCH == 0:
            if done >= FIRST_LOOK:
                if drop_losers(sums, squares, beliefs, in_play, n, done, effort) == 1:
                    break
            if effort.seconds > 0 and clock.seconds() - begun > effort.seconds:
                break
    return done


@kernel
def play_on(
    view: Any,
    actions: Any,
    beliefs: Any,
    n: int,
    effort: Effort,
    weights: Any,
    sums: Any,
    in_play: Any,
) -> int:
    """Play actions on in likely worlds; return in how many.

    An action that is clearly behind is not played any more.

    Parameters
    ----------
    actions : (>= n,) array of int
        As :func:`gin_sim.playouts.act` takes them; at most `MOST_ACTIONS`.
    beliefs : (>= n,) array of float
        The chance of winning with each, up to a constant, as believed beforehand.
    weights : (N_WIDE,) array of float
        By which both throw and knock in the play-outs; see :mod:`gin_sim.wide_features`.
    sums : (MOST_ACTIONS,) array of float
        Written: the chances of winning with each action, summed over the worlds.
    in_play : (MOST_ACTIONS,) array of bool
        Written: whether an action was played in all worlds.
    """
    # What makes an array hands it on, and takes no record out of it: numba lets an array go
    # after its last use, and a record does not keep it.
    states = new_states(2)
    limits = new_rules()
    return play_worlds(states, limits, view, actions, beliefs, n, effort, weights, sums, in_play)


@kernel
def best_action(
    view: Any,
    actions: Any,
    beliefs: Any,
    n: int,
    effort: Effort,
    weights: Any,
) -> int:
    """Return the action that wins most games when played on; see :func:`play_on`."""
    if n == 1:
        return int(actions[0])
    sums, in_play = np.empty(MOST_ACTIONS), np.empty(MOST_ACTIONS, np.bool_)
    play_on(view, actions, beliefs, n, effort, weights, sums, in_play)
    return int(actions[best_of(sums, beliefs, in_play, n, effort.trust)])
