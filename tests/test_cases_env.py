"""Faults that public environments for learning programs have had, each as a test of its kind."""

from __future__ import annotations

import random
from collections import ChainMap, OrderedDict, UserDict
from collections.abc import Callable
from functools import partial
from math import comb
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from gin_sim import Rules, RulesError, agent, load_agent
from gin_sim.chance import next_word
from gin_sim.env import ACTION_NAMES, GinRummyAgainstEnv, GinRummyEnv, VectorEnv
from gin_sim.env.actions import KNOCK, phase_of
from gin_sim.env.encode import N_CARD_PLANES, highest
from gin_sim.rules import PRESETS
from gin_sim.scoring import OUTCOMES
from gin_sim.view import OVER, PHASES
from gin_sim.worlds import sample_world
from tests.env_hands import mixed, play_out, stages
from tests.helpers import scaled
from tests.oracle.bridge import look, swap_hidden, view_record


def shown_phase(seen: Any) -> str:
    """Return the phase that an observation tells of."""
    numbers = seen["observation"][52 * N_CARD_PLANES :]
    return PHASES[int(np.flatnonzero(numbers[: len(PHASES)])[0])]


@pytest.mark.parametrize("preset", ["openspiel", "standard"])
def test_g01_a_knock_shows_neither_seat_the_other_hand(preset: str) -> None:
    """The knocker was shown the defender's whole hand while lay-offs were made."""
    knocks = 0
    for deal in range(scaled(150, 6)):
        env = GinRummyEnv(preset)
        env.reset(seed=2, options={"deal": deal})
        play_out(env, mixed(deal))
        state = env._hand.state
        knocks += int(state["ender"]) >= 0
        for seat, name in enumerate(env.possible_agents):
            other = int(state["hands"][1 - seat]) & ~int(state["known"][1 - seat])
            shown = env.observe(name)["observation"]
            planes = shown[: 52 * N_CARD_PLANES].reshape(N_CARD_PLANES, 52)
            # Hidden cards are in the last plane, "cards not seen", and in no other.
            for card in range(52):
                if other >> card & 1:
                    assert planes[:, card].tolist() == [0] * (N_CARD_PLANES - 1) + [1]
    assert knocks


def worlds_of(state: Any, n: int) -> list[int]:
    """Return the opponent's hands in worlds drawn, as search draws them, for the seat to act."""
    word, hands = look(state).word, []
    view = view_record(state, int(state["seat"]))
    for _ in range(n):
        hands.append(int(sample_world(view, word).opponent))
        word = next_word(word)
    return hands


@pytest.mark.parametrize("preset", ["standard", "openspiel"])
def test_g02_worlds_vary_in_every_phase_and_do_not_read_the_true_one(preset: str) -> None:
    """Resampling for the knocker gave the true state back."""
    env, dice, met = GinRummyEnv(preset), random.Random(6), set()
    n = scaled(200, 20)
    for deal in range(scaled(30, 4)):
        env.reset(seed=6, options={"deal": deal})
        for state in stages(env, mixed(deal)):
            phase = PHASES[int(state["phase"])]
            if phase == "over" or (phase in met and dice.random() < 0.9):
                continue
            met.add(phase)
            seat, before = int(state["seat"]), env._hand.desk.state.copy()
            worlds = worlds_of(state, n)
            env._hand.desk.state[:] = before
            swap_hidden(state, seat, dice)
            assert worlds_of(state, n) == worlds
            env._hand.desk.state[:] = before
            known = int(state["known"][1 - seat])
            seen = int(state["hands"][seat]) | int(state["pile"]) | known
            ways = comb(52 - seen.bit_count(), 10 - known.bit_count())
            assert all(hand.bit_count() == 10 and hand & seen == known for hand in worlds)
            # Of so many ways, all as likely, so many are met, give or take a few.
            assert len(set(worlds)) >= 0.75 * ways * (1 - (1 - 1 / ways) ** n)
    assert met == set(PHASES) - {"over"} - ({"last"} if preset == "standard" else set())


def test_g03_worlds_of_a_fresh_deal_differ_and_so_do_the_first_ones_of_every_deal() -> None:
    """Every resampling began with the seed 0, so that all gave the same world."""
    env, firsts = GinRummyEnv(), set()
    for deal in range(20):
        env.reset(seed=1, options={"deal": deal})
        worlds = worlds_of(env._hand.state, 20)
        assert len(set(worlds)) == 20
        # Places among the unseen cards, since these are others in every deal.
        seen = int(env._hand.state["hands"][0]) | int(env._hand.state["pile"])
        unseen = [card for card in range(52) if not seen >> card & 1]
        firsts.add(tuple(worlds[0] >> card & 1 for card in unseen))
    assert len(firsts) == 20


def settled(state: Any, rules: Rules) -> int:
    """Return the points of a finished hand, from its facts and the rules alone."""
    difference = int(state["defender_after"]) - int(state["knock_deadwood"])
    by_outcome = {
        "dead": 0,
        "knock": difference,
        "undercut": rules.undercut_bonus - difference,
        "gin": difference + rules.gin_bonus,
    }
    return by_outcome[OUTCOMES[int(state["outcome"])]]


def test_g05_rewards_chosen_by_the_user_survive_a_seeded_reset() -> None:
    """Rewards fell back to the library's after reset(seed=…)."""
    rules = Rules(gin_bonus=3, undercut_bonus=1)
    env = GinRummyEnv(rules, reward_scale=0.5)
    vector = VectorEnv(1, rules, observation=None, reward_scale=0.5)
    outcomes = set()
    for seed in range(scaled(400, 20)):
        env.reset(seed=7 + seed)
        vector.reset(seed=7 + seed)
        done = np.array([False])
        while not done[0]:
            # Both throw one of the best; they knock as soon as they may, or never.
            legal = int(vector.legal[0])
            legal = legal & int(env._hand.state["best_discards"]) or legal
            action = (legal if seed % 2 else legal & -legal).bit_length() - 1
            env.step(action)
            _, paid, done, _ = vector.step([action])
        expected = 0.5 * settled(env._hand.state, rules)
        assert max(env.rewards.values()) == paid.max() == expected
        outcomes.add(int(env._hand.state["outcome"]))
    assert len(outcomes) > 2 or scaled(100) == 1
    against = GinRummyAgainstEnv(reward_scale=0.5)
    against.reset(seed=7)
    lost = against.step(KNOCK)[1]
    whole = GinRummyAgainstEnv()
    whole.reset(seed=7)
    assert whole.step(KNOCK)[1] == 2 * lost < 0


@pytest.mark.parametrize("preset", PRESETS)
def test_g07_no_moment_of_a_hand_overflows_an_observation(preset: str) -> None:
    """A stock of 32 cards overflowed a field of 31 before the upcard was turned."""
    env = GinRummyEnv(preset)
    top = highest("flat")
    for deal in range(scaled(20, 2)):
        env.reset(seed=5, options={"deal": deal})
        for _ in stages(env, mixed(deal)):
            for name in env.possible_agents:
                assert (env.observe(name)["observation"] <= top).all()


def test_g07_the_longest_hands_overflow_nothing() -> None:
    rules = Rules(
        knock_limit=0, wall="reshuffle", thrown_back_limit=None, may_throw_taken=True,
        pile_draw_limit=100, turn_limit=200,
    )  # fmt: skip
    for pick in (max, min):
        env = GinRummyEnv(rules)
        env.reset(seed=1)
        for _ in stages(env, partial(pick_legal, pick)):
            for name in env.possible_agents:
                assert env.observation_space(name).contains(env.observe(name))
        assert int(env._hand.state["turn"]) > 10


def pick_legal(pick: Callable[[Any], Any], seen: Any) -> int:
    """Return the legal action that `pick` picks."""
    return int(pick(np.flatnonzero(seen["action_mask"])))


@pytest.mark.parametrize("settings", [{"hand_size": 7}, {"players": 3}, {"hand_size": 0}])
def test_g07_sizes_that_cannot_be_are_refused_with_a_message(settings: Any) -> None:
    with pytest.raises(RulesError, match=f"{next(iter(settings))} = .*allowed is"):
        GinRummyEnv(Rules(**settings))


class Number:
    """A whole number of another library's."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint32, np.array, Number])
def test_g09_any_kind_of_whole_number_is_an_action(kind: Any) -> None:
    """An agent tested for one exact type and failed on another."""
    env = GinRummyEnv()
    env.reset(seed=1)
    env.step(kind(53))
    assert env.agent_selection == "player_1"


def test_g09_parameters_and_settings_are_taken_from_any_mapping() -> None:
    early = load_agent("early_gin")
    for kind in (dict, OrderedDict, UserDict, MappingProxyType, ChainMap):
        assert early.with_params(kind({"turns": 3.0})).params["turns"] == 3
        assert Rules().with_settings(kind({"knock_limit": "9"})).knock_limit == 9


@pytest.mark.parametrize("yes", [bool, np.bool_])
@pytest.mark.parametrize("card", [int, np.int8, np.uint64])
def test_g09_an_agent_answers_with_any_kind_of_number(yes: Any, card: Any) -> None:
    @agent(f"answers_{yes.__name__}_{card.__name__}", source="a test", compiled=False)
    class Answers:
        """Draws from the stock and throws the first of the best discards."""

        @staticmethod
        def draw(view: Any, params: Any) -> Any:
            return yes(False)

        @staticmethod
        def discard(view: Any, params: Any) -> Any:
            return card((view.best_discards & -view.best_discards).bit_length() - 1)

        @staticmethod
        def knock(view: Any, params: Any) -> Any:
            return yes(True)

    env = GinRummyAgainstEnv(Answers)
    seen, _ = env.reset(seed=1)
    terminated, choose = False, mixed(1)
    while not terminated:
        seen, _, terminated, _, info = env.step(choose(seen))
    assert info["outcome"] != "forfeit"


@pytest.mark.parametrize("kind", [dict, OrderedDict, UserDict])
def test_g09_any_mapping_holds_the_options(kind: Any) -> None:
    env = GinRummyEnv()
    env.reset(seed=1, options=kind({"deal": 3}))
    assert env.infos["player_0"]["deal"] == 3


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda a: np.array(a, np.uint8)])
def test_g09_any_array_holds_the_actions(kind: Any) -> None:
    env = VectorEnv(2)
    env.reset(seed=1)
    env.step(kind([53, 53]))
    assert env.seats.tolist() == [1, 1]


@pytest.mark.parametrize("form", ["flat", "planes"])
def test_g10_a_batch_of_one_has_the_shapes_of_any_batch(form: str) -> None:
    """Squeezing broke batches of one; the label is tested in test_dataset.py."""
    found = []
    for n in (1, 2, 32):
        env = VectorEnv(n, observation=form)
        arrays = [*env.reset(seed=1), *env.step(env.random_actions()), env.legal, env.seats]
        assert all(array is not None and len(array) == n for array in arrays)
        found.append([(array.shape[1:], array.dtype) for array in arrays if array is not None])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("preset", PRESETS)
def test_g11_the_phase_is_observed_and_no_action_belongs_to_two(preset: str) -> None:
    """The wall and the lay-off offered actions that looked the same."""
    met: dict[str, set[int]] = {}
    for deal in range(scaled(30, 3)):
        env = GinRummyEnv(preset)
        env.reset(seed=3, options={"deal": deal})
        for state in stages(env, mixed(deal)):
            phase = int(state["phase"])
            seen = env.observe(env.agent_selection)
            assert shown_phase(seen) == PHASES[phase]
            legal = {int(action) for action in np.flatnonzero(seen["action_mask"])}
            assert bool(legal) == (phase != OVER)
            assert {phase_of(action) for action in legal} <= {PHASES[phase]}
            met.setdefault(PHASES[phase], set()).update(legal)
    names = [{ACTION_NAMES[action] for action in actions} for actions in met.values()]
    assert sum(map(len, names)) == len(set().union(*names))


def test_g11_the_phase_of_the_other_turn_does_not_tell_that_it_may_knock() -> None:
    for deal in range(scaled(60, 20)):
        env = GinRummyEnv()
        env.reset(seed=4, options={"deal": deal})
        for state in stages(env, mixed(deal)):
            if PHASES[int(state["phase"])] == "knock":
                waiting = env.possible_agents[1 - int(state["seat"])]
                assert shown_phase(env.observe(waiting)) == "discard"
                return
    pytest.fail("no hand came to a knock")


@pytest.mark.parametrize("kind", [GinRummyEnv, GinRummyAgainstEnv])
def test_h08_draws_in_between_change_no_deal(kind: Any) -> None:
    """An environment drew its deals from the global generator."""

    def hands(disturb: bool) -> list[bytes]:
        env, found = kind(), []
        for i in range(6):
            if disturb:
                random.seed(i)
                np.random.seed(i)  # noqa: NPY002
                np.random.rand(3)  # noqa: NPY002
            env.reset(seed=12 if i == 0 else None)
            if disturb:
                random.random()
            found.append(env._hand.state["hands"].tobytes() + env._hand.state["deck"].tobytes())
        return found

    plain = hands(False)
    assert hands(True) == plain
    assert len(set(plain)) == 6
