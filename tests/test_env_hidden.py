"""What a seat cannot see never changes what it observes, in any phase, whoever is to act."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gin_sim.env import GinRummyEnv
from gin_sim.env.encode import CARD_PLANES, N_CARD_PLANES, NUMBERS
from gin_sim.rules import Rules
from gin_sim.view import OVER, PHASES
from tests.env_hands import mixed, stages
from tests.oracle.bridge import swap_hidden
from tests.oracle.melds import cards_in
from tests.oracle.strategies import PRESET_NAMES, SEEDS, all_rules, many

ANY_RULES = st.one_of(st.sampled_from(PRESET_NAMES).map(Rules.preset), all_rules())


def observed(env: GinRummyEnv, seat: int) -> bytes:
    seen = env.observe(env.possible_agents[seat])
    return bytes(seen["observation"].tobytes() + seen["action_mask"].tobytes())


def check_hand(env: GinRummyEnv, chosen: int) -> set[str]:
    """Play a hand; at each decision and at the end swap what is hidden; return the phases."""
    dice = random.Random(chosen)
    met = set()
    for state in stages(env, mixed(chosen)):
        phase = PHASES[int(state["phase"])]
        for seat in range(2):
            before = env._hand.desk.state.copy()
            shown = observed(env, seat)
            swap_hidden(state, seat, dice)
            assert observed(env, seat) == shown, (phase, seat)
            env._hand.desk.state[:] = before
        met.add(phase)
    return met


@settings(max_examples=many(60, 8), deadline=None)
@given(ANY_RULES, SEEDS, st.sampled_from(["flat", "planes"]), SEEDS)
def test_an_observation_does_not_read_what_is_hidden(
    rules: Rules, seed: int, form: str, chosen: int
) -> None:
    env = GinRummyEnv(rules, observation=form)
    env.reset(seed=seed)
    check_hand(env, chosen)


def test_nothing_hidden_is_read_in_any_phase() -> None:
    met = set()
    env = GinRummyEnv("openspiel")
    for deal in range(many(40, 2)):
        env.reset(seed=26, options={"deal": deal})
        met |= check_hand(env, deal)
    assert met == set(PHASES)


@settings(max_examples=many(40, 6), deadline=None)
@given(ANY_RULES, SEEDS, SEEDS)
def test_the_planes_say_what_the_table_says(rules: Rules, seed: int, chosen: int) -> None:
    env = GinRummyEnv(rules, observation="flat")
    env.reset(seed=seed)
    for state in stages(env, mixed(chosen)):
        for seat in range(2):
            cells = env.observe(env.possible_agents[seat])["observation"]
            planes = cells[: 52 * N_CARD_PLANES].reshape(N_CARD_PLANES, 52)
            sets = {
                name: set(map(int, np.flatnonzero(plane)))
                for name, plane in zip(CARD_PLANES, planes, strict=True)
            }
            numbers = dict(zip((name for name, _ in NUMBERS), cells[-len(NUMBERS) :], strict=True))
            own = cards_in(int(state["hands"][seat]))
            pile = cards_in(int(state["pile"]))
            taken = cards_in(int(state["known"][1 - seat]))
            assert sets["own hand"] == own
            assert sets["pile, with the upcard"] == pile
            assert sets["cards not seen"] == set(range(52)) - own - pile - taken
            assert sets["upcard"] == {int(state["upcard"])} - {-1}
            assert sets["opponent's cards taken from the pile"] == taken
            to_act = int(state["seat"]) == seat and int(state["phase"]) != OVER
            assert numbers["to act"] == to_act
            assert numbers["dealer"] == seat
            assert numbers["stock left"] == 52 - int(state["place"])
            assert sum(numbers[f"phase is {phase}"] for phase in PHASES) == 1
            if to_act:
                assert numbers[f"phase is {PHASES[int(state['phase'])]}"] == 1


@settings(max_examples=many(30, 4), deadline=None)
@given(st.sampled_from(PRESET_NAMES), SEEDS)
def test_both_forms_hold_the_same(preset: str, seed: int) -> None:
    envs = [GinRummyEnv(preset, observation=form) for form in ("flat", "planes")]
    for env in envs:
        env.reset(seed=seed)
    flat, planes = envs
    choose = mixed(seed)
    while not flat.terminations["player_0"]:
        for name in flat.possible_agents:
            cells = flat.observe(name)["observation"]
            spread = planes.observe(name)["observation"]
            cards = 52 * N_CARD_PLANES
            assert np.array_equal(spread[:N_CARD_PLANES].ravel(), cells[:cards])
            for number, plane in zip(cells[cards:], spread[N_CARD_PLANES:], strict=True):
                assert (plane == number).all()
        action = choose(flat.observe(flat.agent_selection))
        for env in envs:
            env.step(action)
