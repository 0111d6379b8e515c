"""The environments are what PettingZoo and Gymnasium ask of an environment."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import api_test, seed_test

import gin_sim.env
from gin_sim import Rules
from gin_sim.env import ACTION_NAMES, GinRummyAgainstEnv, GinRummyEnv, VectorEnv
from gin_sim.env.registration import ENV_ID, register_envs
from gin_sim.rules import PRESETS
from tests.env_hands import DICT_WARNINGS, mixed, play_out, stages
from tests.helpers import scaled

# PettingZoo's own test passes an option that no environment has.
pytestmark = [
    pytest.mark.filterwarnings(line)
    for line in (*DICT_WARNINGS, "ignore:options 'options' do nothing:UserWarning")
]

FORMS = ("flat", "planes")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("preset", PRESETS)
def test_pettingzoo_finds_no_fault(preset: str, form: str) -> None:
    api_test(GinRummyEnv(preset, observation=form), num_cycles=scaled(500, 60))
    seed_test(lambda: GinRummyEnv(preset, observation=form), num_cycles=scaled(500, 60))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("preset", PRESETS)
def test_gymnasium_finds_no_fault(preset: str, form: str) -> None:
    env = gymnasium.make(ENV_ID, opponent="simple", rules=preset, observation=form)
    check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_observation_of_both_is_in_the_space(preset: str) -> None:
    for form in FORMS:
        env = GinRummyEnv(preset, observation=form)
        for deal in range(scaled(20, 2)):
            env.reset(seed=4, options={"deal": deal})
            for _ in stages(env, mixed(deal)):
                for name in env.possible_agents:
                    assert env.observation_space(name).contains(env.observe(name))


def test_a_hand_in_a_wrapped_environment_ends_with_a_reward() -> None:
    env = gymnasium.make("gin_sim.env:gin_sim/GinRummy-v0", opponent="simple", seat="dealer")
    choose, rewards = mixed(1), []
    for deal in range(12):
        seen, info = env.reset(seed=2, options={"deal": deal})
        assert info["seat"] == "dealer"
        terminated = False
        while not terminated:
            masks = env.get_wrapper_attr("action_masks")()
            assert np.array_equal(masks, seen["action_mask"])
            seen, reward, terminated, truncated, info = env.step(choose(seen))
            assert not truncated
            assert terminated or reward == 0
        rewards.append(reward)
        assert info["outcome"] in ("knock", "gin", "undercut", "dead")
    assert len(set(rewards)) > 1
    env.close()


def test_the_learner_sits_where_it_is_told_to() -> None:
    found = {
        seat: [_seat(GinRummyAgainstEnv(seat=seat), deal) for deal in range(4)]
        for seat in ("non-dealer", "dealer", "alternate")
    }
    assert found["non-dealer"] == ["non-dealer"] * 4
    assert found["dealer"] == ["dealer"] * 4
    assert found["alternate"] == ["non-dealer", "dealer"] * 2


def _seat(env: GinRummyAgainstEnv, deal: int) -> Any:
    return env.reset(seed=1, options={"deal": deal})[1]["seat"]


@pytest.mark.parametrize("autoreset", list(AutoresetMode)[:2])
def test_many_at_once_under_gymnasium_are_each_by_itself(autoreset: AutoresetMode) -> None:
    n = 3
    settings = {"autoreset_mode": autoreset}
    envs = gymnasium.make_vec(ENV_ID, n, "sync", vector_kwargs=settings, seat="dealer")
    ones = [GinRummyAgainstEnv(seat="dealer") for _ in range(n)]
    seen, info = envs.reset(seed=5)
    assert info["seed"].tolist() == [5, 6, 7]
    shown = [one.reset(seed=5 + i)[0] for i, one in enumerate(ones)]
    over = np.zeros(n, bool)
    for _ in range(scaled(100, 20)):
        for i in range(n):
            for part, array in shown[i].items():
                assert np.array_equal(seen[part][i], array)
        actions = [int(mask.argmax()) for mask in seen["action_mask"]]
        seen, rewards, ended, _, _ = envs.step(np.array(actions))
        for i, one in enumerate(ones):
            if over[i]:  # a step of its own for the reset
                shown[i], reward, over[i] = one.reset()[0], 0.0, False
            else:
                shown[i], reward, over[i] = one.step(actions[i])[:3]
            assert (rewards[i], ended[i]) == (reward, over[i])
            if over[i] and autoreset == AutoresetMode.SAME_STEP:
                shown[i], over[i] = one.reset()[0], False
    envs.close()


def test_a_second_import_registers_nothing_twice() -> None:
    register_envs()
    assert ENV_ID in gymnasium.registry


def test_the_package_loads_nothing_for_learning_by_itself() -> None:
    heavy = ("gymnasium", "pettingzoo")
    code = f"import gin_sim, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_many_hands_need_neither_library() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = sys.modules['pettingzoo'] = None\n"
        "from gin_sim.env import VectorEnv; VectorEnv(2).reset(seed=1)\n"
        "try: from gin_sim.env import GinRummyEnv\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "GinRummyEnv needs the extra: pip install 'gin-sim[rl]'"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gin_sim.env.nothing


def test_settings_and_rewards_survive_a_seeded_reset() -> None:
    chosen = Rules(gin_bonus=7)
    paid = 0.0
    env = GinRummyEnv(chosen, observation="planes", reward_scale=0.5)
    for seed in range(scaled(40, 8)):
        env.reset(seed=seed)
        assert env._hand.rules == chosen
        play_out(env, mixed(seed))
        points = int(env._hand.state["points"])
        assert max(env.rewards.values()) == 0.5 * points
        paid += points
        assert env.observe("player_0")["observation"].shape == (27, 4, 13)
    assert paid > 0


def test_a_copy_goes_on_by_itself() -> None:
    env = GinRummyEnv()
    env.reset(seed=5)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):  # noqa: S301
        first = play_out(twin, mixed(1))
        env.reset(seed=5)
        assert play_out(env, mixed(1)) == first
        env.reset(seed=5)


def test_the_text_shows_what_may_be_seen() -> None:
    env = GinRummyEnv(render_mode="ansi")
    env.reset(seed=1)
    shown = env.render()
    assert shown is not None
    assert "player_0 (non-dealer)" in shown
    assert "?" not in shown
    against = GinRummyAgainstEnv(render_mode="ansi")
    seen, _ = against.reset(seed=1)
    assert "simple (dealer): ?" in str(against.render())
    terminated, choose = False, mixed(0)
    while not terminated:
        seen, _, terminated, _, info = against.step(choose(seen))
    assert "?" not in str(against.render())
    assert f"over: {info['outcome']}" in str(against.render())


def test_the_text_is_printed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    env = GinRummyEnv(render_mode="human")
    env.reset(seed=1)
    assert env.render() is None
    assert "phase upcard" in capsys.readouterr().out
    assert GinRummyEnv().render() is None


def test_the_actions_have_names_of_their_own() -> None:
    assert len(ACTION_NAMES) == len(set(ACTION_NAMES)) == 60


def test_an_episode_that_the_opponent_ends_at_once_is_skipped() -> None:
    # With a limit of ten and both hands dealt by chance, one deal in some hundred ends in
    # the non-dealer's first turn.
    env = GinRummyAgainstEnv("simple", seat="dealer")
    skipped = 0
    for deal in range(scaled(3000, 0)):
        seen, info = env.reset(seed=0, options={"deal": deal})
        assert seen["action_mask"].any()
        skipped += info["skipped"]
        assert info["deal"] == deal + info["skipped"]
        if skipped:
            break
    assert skipped or scaled(100) == 1


def test_the_numbers_of_many_hands_can_be_read_by_seat() -> None:
    env = VectorEnv(6, "oklahoma")
    env.reset(seed=3)
    assert env.deals.tolist() == list(range(6))
    assert env.seats.tolist() == [0] * 6
    assert np.array_equal(env.masks.sum(axis=1), [2] * 6)
