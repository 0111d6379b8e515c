"""What the tests of the environments share: hands played in them, and in `Hand` beside them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gin_sim.env import GinRummyEnv, VectorEnv
from gin_sim.env.actions import (
    DRAW,
    KNOCK,
    LAY_OFF_NO_MORE,
    LET_DIE,
    PASS_FIRST,
    PLAY_ON,
    TAKE,
    TAKE_FIRST,
    TAKE_LAST,
)
from gin_sim.env.encode import CARD_PLANES
from gin_sim.table import Hand

BEST = CARD_PLANES.index("best discards")

Chooser = Callable[[Any], int]

# What PettingZoo's own test says of any environment whose observations are dictionaries.
DICT_WARNINGS = (
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
)


def mixed(seed: int) -> Chooser:
    """Return a way to act: mostly by the stock and by a best discard, else anything legal.

    By the seed it knocks never, now and then, or mostly: a hand that waits comes to the wall.
    """
    dice = random.Random(seed)
    gladly = dice.choice((0.0, 0.5, 0.9))

    def choose(seen: Any) -> int:
        legal = [int(action) for action in np.flatnonzero(seen["action_mask"])]
        if KNOCK in legal:
            return KNOCK if dice.random() < gladly else PLAY_ON
        if DRAW in legal and dice.random() < 0.6:
            return DRAW
        best = np.flatnonzero(seen["observation"].ravel()[52 * BEST : 52 * BEST + 52])
        fitting = [int(action) for action in best if action in legal]
        return dice.choice(fitting if fitting and dice.random() < 0.8 else legal)

    return choose


def play_out(env: GinRummyEnv, choose: Chooser) -> list[int]:
    """Play the hand that has been dealt; return the actions."""
    actions = []
    while not env.terminations[env.agent_selection]:
        actions.append(choose(env.observe(env.agent_selection)))
        env.step(actions[-1])
    return actions


def stages(env: GinRummyEnv, choose: Chooser) -> Iterator[Any]:
    """Play the hand that has been dealt; yield its state at each decision and at the end."""
    while not env.terminations[env.agent_selection]:
        yield env._hand.state
        env.step(choose(env.observe(env.agent_selection)))
    yield env._hand.state


def retell(hand: Hand, actions: list[int]) -> Hand:
    """Play the actions of an environment in a `Hand`, which knows no phase to knock in."""
    thrown = -1
    for i, action in enumerate(actions):
        if action < 52:
            asked = i + 1 < len(actions) and actions[i + 1] in (KNOCK, PLAY_ON)
            if asked:
                thrown = action
            elif i + 1 == len(actions) and action in hand.legal_knocks():
                hand.knock(action)
            else:
                hand.throw(action)
        elif action == KNOCK:
            hand.knock(thrown)
        elif action == PLAY_ON:
            hand.throw(thrown)
        elif action == DRAW:
            hand.draw()
        elif action in (PASS_FIRST, LET_DIE):
            hand.pass_()
        else:
            assert action in (TAKE_FIRST, TAKE, TAKE_LAST)
            hand.take()
    return hand


def side_by_side(
    preset: str, form: str | None, choosers: list[Chooser], steps: int, layoff: str = "best"
) -> int:
    """Play hands in one `VectorEnv` and each by itself, alike; return how many lay-offs were asked.

    What both show, allow and pay is compared at every step.
    """
    n, questions = len(choosers), 0
    many = VectorEnv(n, preset, observation=form, layoff=layoff)
    observations, masks = many.reset(seed=11)
    ones = [GinRummyEnv(preset, observation=form or "flat", layoff=layoff) for _ in range(n)]
    for i, one in enumerate(ones):
        one.reset(seed=11, options={"deal": i})
    for _ in range(steps):
        actions = []
        assert masks.any(axis=1).all()
        assert np.array_equal(masks, many.legal[:, None] >> np.arange(masks.shape[1]) & 1)
        questions += int(masks[:, LAY_OFF_NO_MORE:].sum())
        for i, one in enumerate(ones):
            assert one.agent_selection == f"player_{many.seats[i]}"
            assert one.infos["player_0"]["deal"] == many.deals[i]
            seen = one.observe(one.agent_selection)
            assert np.array_equal(seen["action_mask"], masks[i])
            if observations is not None:
                assert np.array_equal(seen["observation"], observations[i])
            actions.append(choosers[i](seen))
        observations, rewards, done, masks = many.step(actions)
        assert not rewards.sum(axis=1).any()
        for i, one in enumerate(ones):
            one.step(actions[i])
            assert done[i] == one.terminations["player_0"]
            assert not np.signbit(rewards[i, rewards[i] == 0]).any()
            assert rewards[i].tolist() == [one.rewards["player_0"], one.rewards["player_1"]]
            if done[i]:
                one.reset(options={"deal": one.infos["player_0"]["deal"] + n})
    return questions
