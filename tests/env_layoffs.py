"""What the tests of lay-offs share: hands that come to one, and what lies on the table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from gin_sim import Rules
from gin_sim.env import GinRummyEnv
from gin_sim.env.actions import (
    DRAW,
    KNOCK,
    LAY_OFF_NO_MORE,
    TAKE,
)
from gin_sim.env.layoffs import LAYOFF
from gin_sim.hands import unpack_melds
from gin_sim.layoff import lay_off
from gin_sim.rules import NO_LIMIT, PRESETS
from gin_sim.settle import place_layoffs
from tests.env_hands import BEST, Chooser, stages

# Only gin ends a hand of the others.
KNOCKING = [name for name in PRESETS if Rules.preset(name).knock_limit]


def eager(seed: int) -> Chooser:
    """Return a way to act that comes to a knock: best discards, and any lay-off by chance."""
    dice = random.Random(seed)

    def choose(seen: Any) -> int:
        legal = [int(action) for action in np.flatnonzero(seen["action_mask"])]
        if KNOCK in legal:
            return KNOCK
        if DRAW in legal:
            return dice.choice((DRAW, DRAW, TAKE))
        best = np.flatnonzero(seen["observation"].ravel()[52 * BEST : 52 * BEST + 52])
        return dice.choice([int(card) for card in best if card in legal] or legal)

    return choose


def longest_of(rules: Rules) -> int:
    return rules.longest_meld or NO_LIMIT


def melds_of(state: Any) -> tuple[int, ...]:
    return unpack_melds(int(state["knock_sets"]), int(state["knock_runs"]))


def table_of(state: Any) -> int:
    """Return all cards that lie open: melds, and what has been laid off on them."""
    return sum(melds_of(state)) | int(state["laid_off"])


def exact(env: GinRummyEnv, rules: Rules) -> int:
    """Return the next lay-off of one that is best, or that it is done."""
    state = env._hand.state
    packed = int(state["knock_sets"]), int(state["knock_runs"])
    hand = int(state["hands"][int(state["seat"])])
    _, best = lay_off(hand, *packed, longest_of(rules))
    order = place_layoffs(int(best), melds_of(state), longest_of(rules))
    left = (one.card for one in order if not int(state["laid_off"]) >> one.card & 1)
    return next(left, LAY_OFF_NO_MORE)


def asked(env: GinRummyEnv, choose: Chooser) -> Iterator[Any]:
    """Play a hand that has been dealt; yield its state at each question for a lay-off."""
    for state in stages(env, choose):
        if int(state["phase"]) == LAYOFF:
            yield state


@cache
def deal_with_layoff(at_least: int = 1) -> tuple[int, list[int]]:
    """Return a deal, and actions that lead to a question with so many cards that fit."""
    for deal in range(5000):
        env = GinRummyEnv(layoff="ask")
        env.reset(seed=1, options={"deal": deal})
        choose, actions = eager(deal), []
        while not env.terminations["player_0"]:
            seen = env.observe(env.agent_selection)
            if int(env._hand.state["phase"]) == LAYOFF:
                if seen["action_mask"][:52].sum() < at_least:
                    break
                return deal, actions
            actions.append(choose(seen))
            env.step(actions[-1])
    raise AssertionError("no hand came to a lay-off")


def at_layoff(at_least: int = 1, **settings: Any) -> GinRummyEnv:
    """Return an environment at its first question for a lay-off."""
    deal, actions = deal_with_layoff(at_least)
    env = GinRummyEnv(layoff="ask", **settings)
    env.reset(seed=1, options={"deal": deal})
    for action in actions:
        env.step(action)
    return env
