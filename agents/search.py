"""Plays every choice on in worlds that fit what it has seen, and takes the best.

A world deals the hidden cards out as they may lie, those that explain the opponent's play
more often; a play-out finishes the hand there by quick players.  What counts is the chance
of winning the game from the score that comes of it.  All choices are played in the same
worlds, none is the default, and the search ends as soon as one is clearly ahead.  Of the
throws only a few are looked at: those that leave least, pairs that promise a meld being
worth some points.

With so many `worlds` a decision it is a function of what it sees; with `milliseconds` it
plays as many as it can in that time, and no two runs need be the same.
"""

import numpy as np
from numpy.typing import NDArray

from gin_sim import Params, View, agent
from gin_sim.bits import lowest
from gin_sim.cards import DECK
from gin_sim.compiled import kernel
from gin_sim.lookahead import MOST_ACTIONS, Effort, best_action
from gin_sim.melds import least_deadwood, least_discards_among
from gin_sim.outs import promising
from gin_sim.playouts import KNOCKING

(
    WORLDS, MILLISECONDS, SURE, SETTLE, BETWEEN, BOLD,
    FROM, KEEP, CAUTION, OTHER_FROM, OTHER_KEEP, OTHER_CAUTION, THROWS, PROMISE,
) = range(14)  # fmt: skip

MOST_THROWS = MOST_ACTIONS - 1  # one place is for knocking
WHILE_TIME_LASTS = 1 << 40


@kernel
def decide(view: View, params: Params, actions: NDArray[np.int64], n: int) -> int:
    """Return the best of `n` actions."""
    seconds = params[MILLISECONDS] / 1000
    effort = Effort(
        int(params[WORLDS]) if seconds <= 0 else WHILE_TIME_LASTS,
        seconds,
        params[SURE],
        int(params[SETTLE]),
        int(params[BETWEEN]),
        params[BOLD],
    )
    return best_action(view, actions, n, effort, params[FROM:OTHER_FROM], params[OTHER_FROM:THROWS])


@kernel
def yes_or_no(view: View, params: Params) -> bool:
    """Return whether yes is better."""
    return decide(view, params, np.array([0, 1]), 2) == 1


@kernel
def few_throws(view: View, params: Params, actions: NDArray[np.int64]) -> int:
    """Write the throws to look at; return how many they are."""
    kept = promising(view.hand, DECK & ~view.seen)
    costs = np.full(min(max(int(params[THROWS]), 1), MOST_THROWS), 1e9)
    left = view.legal_discards
    while left:
        card = lowest(left)
        left &= left - 1
        cost = least_deadwood(view.hand ^ 1 << card) + params[PROMISE] * (kept >> card & 1)
        # Put it in its place among the cheapest.
        for i in range(len(costs)):
            if cost < costs[i]:
                costs[i], cost = cost, costs[i]
                actions[i], card = card, actions[i]
    n = 0
    while n < len(costs) and costs[n] < 1e9:
        n += 1
    return n


@agent(
    "search",
    source="determinised Monte Carlo search, as of the strongest public engines",
    worlds=200,
    milliseconds=0,
    sure=3,
    settle=100,
    between=16,
    bold=0.5,
    own_from=26,
    own_keep=3,
    own_caution=2,
    other_from=25,
    other_keep=3,
    other_caution=2,
    throws=4,
    promise=3,
)
class Search:
    """Plays its choices on in likely worlds and takes the one that wins most games."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        if view.deadwood == 0:  # gin already: only the throw is missing
            after, _ = least_discards_among(view.hand | 1 << view.upcard, view.hand)
            return after == 0
        return yes_or_no(view, params)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        # Whoever holds gin sees it.
        if view.deadwood == 0:
            return lowest(view.best_discards)
        actions = np.zeros(MOST_ACTIONS, np.int64)
        n = few_throws(view, params, actions)
        if view.deadwood <= view.knock_limit:
            actions[n] = lowest(view.best_discards) + KNOCKING
            n += 1
        return decide(view, params, actions, n) & (KNOCKING - 1)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return yes_or_no(view, params)
