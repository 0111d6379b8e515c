"""Plays its choices on in worlds that fit what it has seen, and takes the one that wins most.

A world deals the hidden cards out as they may lie, those that explain the opponent's play
more often; a play-out finishes the hand there by quick players who throw and knock as `tuned`
would.  What counts is the chance of winning the game from the score that comes of it.  All
choices are played in the same worlds, none is the default; one that is clearly behind is
dropped, and the search ends as soon as a single one is left.

It does not begin from nothing: `tuned` has an opinion of every choice, and that counts for
so many worlds (`trust`) at so much chance of winning for a point of its scores (`by_throw`,
`by_take`, `by_knock`).  Of the throws only those are looked at that `tuned` likes best.

With so many `worlds` a decision it is a function of what it sees; with `milliseconds` it
plays as many as it can in that time, and no two runs need be the same.
"""

import numpy as np
from numpy.typing import NDArray

from agents.tuned import WEIGHTS
from gin_sim import Params, View, agent
from gin_sim.bits import lowest
from gin_sim.compiled import kernel
from gin_sim.features import gin_says
from gin_sim.lookahead import MOST_ACTIONS, Effort, best_action, stake
from gin_sim.playouts import KNOCKING
from gin_sim.wide_features import knock_score, take_score, throw_score

(
    WORLDS, MILLISECONDS, SURE, SETTLE, BETWEEN, BOLD, TRUST, HASTE, SCORE, BY_THROW, BY_TAKE,
    BY_KNOCK, THROWS,
) = range(13)  # fmt: skip

MOST_THROWS = MOST_ACTIONS - 1  # one place is for knocking
WHILE_TIME_LASTS = 1 << 40


@kernel
def decide(
    view: View, params: Params, actions: NDArray[np.int64], beliefs: NDArray[np.float64], n: int
) -> int:
    """Return the best of `n` actions."""
    seconds = params[MILLISECONDS] / 1000
    effort = Effort(
        int(params[WORLDS]) if seconds <= 0 else WHILE_TIME_LASTS,
        seconds,
        params[SURE],
        int(params[SETTLE]),
        int(params[BETWEEN]),
        params[BOLD],
        params[TRUST],
        params[HASTE],
        params[SCORE],
    )
    if effort.score > 0:
        beliefs = beliefs * stake(view)
    return best_action(view, actions, beliefs, n, effort, WEIGHTS)


@kernel
def yes_or_no(view: View, params: Params, belief: float) -> bool:
    """Return whether yes is better, of which so much is believed beforehand."""
    return decide(view, params, np.array([0, 1]), np.array([0.0, belief]), 2) == 1


@kernel
def few_throws(
    view: View, params: Params, actions: NDArray[np.int64], beliefs: NDArray[np.float64]
) -> int:
    """Write the throws to look at and what is believed of them; return how many they are."""
    most = min(max(int(params[THROWS]), 1), MOST_THROWS)
    n = 0
    left = view.legal_discards
    while left:
        card = lowest(left)
        left &= left - 1
        belief = params[BY_THROW] * throw_score(view, card, WEIGHTS)
        # Put it in its place among the best.
        for i in range(n):
            if belief > beliefs[i]:
                beliefs[i], belief = belief, beliefs[i]
                actions[i], card = card, actions[i]
        if n < most:
            beliefs[n] = belief
            actions[n] = card
            n += 1
    return n


@agent(
    "search",
    source="determinised Monte Carlo search, as of the strongest public engines",
    worlds=50,
    milliseconds=0,
    sure=3,
    settle=100,
    between=16,
    bold=0.5,
    trust=200,
    haste=0.008,
    score=1,
    by_throw=0.0006,
    by_take=0.0007,
    by_knock=0.0021,
    throws=4,
)
class Search:
    """Plays its choices on in likely worlds and takes the one that wins most games."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        said = gin_says(view)
        if said != 0:  # gin is taken, and kept
            return said > 0
        belief = params[BY_TAKE] * take_score(view, WEIGHTS)
        return yes_or_no(view, params, belief)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        # Whoever holds gin sees it.
        if view.deadwood == 0:
            return lowest(view.best_discards)
        actions = np.zeros(MOST_ACTIONS, np.int64)
        beliefs = np.zeros(MOST_ACTIONS)
        n = few_throws(view, params, actions, beliefs)
        if view.deadwood <= view.knock_limit:
            card = lowest(view.best_discards)
            actions[n] = card + KNOCKING
            beliefs[n] = params[BY_THROW] * throw_score(view, card, WEIGHTS)
            beliefs[n] += params[BY_KNOCK] * knock_score(view, card, WEIGHTS)
            n += 1
        return decide(view, params, actions, beliefs, n) & (KNOCKING - 1)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        belief = params[BY_KNOCK] * knock_score(view, view.candidate, WEIGHTS)
        return yes_or_no(view, params, belief)
