"""All environments play the same hands, and pay what the scorer says."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

from gin_sim import drive, load_agent
from gin_sim.compiled import JIT_DISABLED, readable
from gin_sim.env import GinRummyAgainstEnv, GinRummyEnv, VectorEnv
from gin_sim.env.actions import KNOCK, N_ACTIONS, PLAY_ON, TAKE, TAKE_FIRST, TAKE_LAST
from gin_sim.env.encode import SHAPES
from gin_sim.env.vector import _first_illegal, _step_all
from gin_sim.rules import PRESETS, Rules
from gin_sim.show import fill_view
from gin_sim.table import Hand
from gin_sim.view import DISCARD
from gin_sim.view import KNOCK as KNOCK_PHASE
from tests.env_hands import mixed, play_out, retell, side_by_side
from tests.helpers import scaled


@pytest.mark.parametrize("form", ["flat", "planes", None])
@pytest.mark.parametrize("preset", PRESETS)
def test_hands_side_by_side_are_hands_one_by_one(preset: str, form: str | None) -> None:
    side_by_side(preset, form, [mixed(i) for i in range(scaled(5, 2))], scaled(300, 40))


@pytest.mark.parametrize("preset", PRESETS)
def test_rewards_are_what_the_table_says(preset: str) -> None:
    env = GinRummyEnv(preset, reward_scale=3)
    outcomes = set()
    for deal in range(scaled(60, 3)):
        env.reset(seed=21, options={"deal": deal})
        actions = play_out(env, mixed(deal))
        facts = retell(Hand.dealt(21, deal, preset), actions).facts()
        outcomes.add(facts["outcome"])
        signs = {None: (0, 0), 0: (1, -1), 1: (-1, 1)}[facts["winner"]]
        assert list(env.rewards.values()) == [3.0 * sign * facts["points"] for sign in signs]
        assert env.infos["player_0"]["outcome"] == facts["outcome"]
    assert len(outcomes) > 1 or JIT_DISABLED


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seat", ["non-dealer", "dealer"])
def test_a_learner_that_plays_as_an_agent_earns_what_the_agent_does(preset: str, seat: str) -> None:
    env = GinRummyAgainstEnv("greedy", preset, seat=seat)
    agent = load_agent("simple")
    player = drive.Player(agent, agent.label)
    for number in range(scaled(10, 1)):
        _, info = env.reset(seed=8, options={"deal": number})
        terminated = False
        while not terminated:
            action = answer(env, player)
            _, reward, terminated, _, _ = env.step(action)
        names = ("simple", "greedy") if seat == "non-dealer" else ("greedy", "simple")
        hand = Hand.dealt(8, info["deal"], preset)
        hand.play_on(*names)
        facts = hand.facts()
        mine = 0 if seat == "non-dealer" else 1
        sign = {None: 0, mine: 1}.get(facts["winner"], -1)
        assert reward == sign * facts["points"]


def answer(env: GinRummyAgainstEnv, player: drive.Player) -> int:
    """Return the action that an agent takes in the learner's seat."""
    state = readable(env._hand.desk.state.copy())[0]
    view = readable(state["views"])[int(state["seat"])]
    fill_view(state, view)
    phase = int(state["phase"])
    if phase == DISCARD:
        return int(player.ask("discard", view))
    if phase == KNOCK_PHASE:
        return KNOCK if player.ask("knock", view) else PLAY_ON
    take = {0: TAKE_FIRST, 1: TAKE, 4: TAKE_LAST}[phase]
    return take if player.ask("draw", view) else take + 1


@pytest.mark.parametrize("preset", PRESETS)
def test_masks_are_never_empty_and_points_only_change_hands(preset: str) -> None:
    n = scaled(500, 5)
    many = VectorEnv(n, preset, observation=None)
    _, masks = many.reset(seed=31)
    ended = 0
    for _ in range(scaled(300, 6)):
        assert masks.any(axis=1).all()
        bits = (many.legal[:, None] >> np.arange(N_ACTIONS)) & 1
        assert np.array_equal(masks, bits)
        _, rewards, done, masks = many.step(many.random_actions())
        assert not rewards.sum(axis=1).any()
        assert not rewards[~done].any()
        ended += int(done.sum())
    assert ended or JIT_DISABLED


def test_random_actions_are_of_the_hand_and_all_legal_ones_come_up() -> None:
    few, many = VectorEnv(2, observation=None), VectorEnv(scaled(400, 4), observation=None)
    few.reset(seed=5)
    many.reset(seed=5)
    for _ in range(30):
        chosen = many.random_actions()
        assert np.array_equal(few.random_actions(), chosen[:2])
        assert many.masks[np.arange(many.n), chosen].all()
        if few.done.any():
            break
        few.step(chosen[:2])
        many.step(chosen)
    counts = np.bincount(many.random_actions(), minlength=N_ACTIONS)
    assert (counts > 0).sum() > scaled(20, 1)


def test_a_seed_is_the_same_play_whatever_else_is_drawn() -> None:
    def tale(disturb: bool) -> list[list[float]]:
        env = VectorEnv(7, observation=None)
        env.reset(seed=2)
        found = []
        for _ in range(60):
            if disturb:
                random.random()
                np.random.default_rng().random()
                np.random.seed(random.randrange(1000))  # noqa: NPY002
            found.append(env.step(env.random_actions())[1].ravel().tolist())
        return [*found, env.legal.tolist()]

    assert tale(True) == tale(False)


def test_arrays_are_written_in_place() -> None:
    env = VectorEnv(3, Rules())
    observations, masks = env.reset(seed=1)
    after = env.step(np.full(3, 53, np.int32))
    assert observations is not None
    assert after[0] is not None
    assert np.shares_memory(after[0], observations)
    assert after[1] is env.rewards
    assert after[2] is env.done
    assert after[3] is masks is env.masks
    assert observations.shape == (3, *SHAPES["flat"])


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    "made",
    [
        lambda a: np.broadcast_to(a, a.shape),  # read-only
        lambda a: np.frombuffer(b"x" + a.tobytes(), np.int64, offset=1),  # not aligned
        lambda a: np.repeat(a, 2)[::2],
        lambda a: a.astype(">i2"),
        list,
    ],
)
def test_no_kind_of_array_is_compiled_for_anew(made: Any) -> None:
    env = VectorEnv(3)
    env.reset(seed=1)
    env.step(env.random_actions())
    known = list(_step_all.signatures), list(_first_illegal.signatures)
    env.step(made(env.random_actions()))
    assert (list(_step_all.signatures), list(_first_illegal.signatures)) == known


def test_a_copy_of_many_hands_goes_on_by_itself() -> None:
    env = VectorEnv(3, "casual", observation="planes")
    env.reset(seed=1)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301
    for _ in range(50):
        env.step(env.random_actions())
    for twin in twins:
        for _ in range(50):
            observations, rewards, _, masks = twin.step(twin.random_actions())
        assert observations is not None
        assert env.observations is not None
        assert np.array_equal(observations, env.observations)
        assert np.array_equal(masks, env.masks)
        assert np.array_equal(rewards, env.rewards)
        assert np.array_equal(twin.deals, env.deals)
