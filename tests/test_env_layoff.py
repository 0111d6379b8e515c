"""Where lay-offs are asked for: who is asked, what is shown, and what the hand then brings."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from gin_sim import CardError, Rules, RulesError, showdown
from gin_sim.cards import card_name
from gin_sim.compiled import JIT_DISABLED
from gin_sim.env import GinRummyAgainstEnv, GinRummyEnv, VectorEnv
from gin_sim.env.actions import (
    DRAW,
    LAY_OFF_NO_MORE,
    N_ACTIONS,
    N_ASKING,
)
from gin_sim.env.encode import (
    ASKING_SHAPES,
    N_CARD_PLANES,
)
from gin_sim.env.layoffs import LAYOFF
from gin_sim.env.registration import ENV_ID
from gin_sim.hands import arrange
from gin_sim.layoff import lay_off
from gin_sim.rules import NO_LIMIT, PRESETS
from gin_sim.settle import place_layoffs
from tests.env_hands import DICT_WARNINGS, play_out, side_by_side
from tests.env_layoffs import (
    KNOCKING,
    asked,
    at_layoff,
    eager,
    exact,
    longest_of,
    melds_of,
)
from tests.helpers import scaled
from tests.oracle.melds import cards_in, mask
from tests.oracle.strategies import random_rules

pytestmark = [
    pytest.mark.filterwarnings(line)
    for line in (*DICT_WARNINGS, "ignore:options 'options' do nothing:UserWarning")
]


@pytest.mark.parametrize("form", ["flat", "planes"])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_libraries_find_no_fault(preset: str, form: str) -> None:
    def make() -> GinRummyEnv:
        return GinRummyEnv(preset, observation=form, layoff="ask")

    api_test(make(), num_cycles=scaled(300, 40))
    seed_test(make, num_cycles=scaled(300, 40))
    env = gymnasium.make(ENV_ID, opponent="simple", rules=preset, observation=form, layoff="ask")
    check_env(env.unwrapped)
    env.close()


def test_spaces_and_arrays_grow_only_if_asked_for() -> None:
    for layoff, n, flat in (("best", N_ACTIONS, (639,)), ("ask", N_ASKING, (692,))):
        pair = GinRummyEnv(layoff=layoff)
        one = GinRummyAgainstEnv(layoff=layoff)
        many = VectorEnv(3, layoff=layoff)
        assert pair.action_space("player_0").n == one.action_space.n == n
        pair.reset(seed=1)
        for seen in (pair.observe("player_0"), one.reset(seed=1)[0]):
            assert seen["action_mask"].shape == (n,)
            assert seen["observation"].shape == flat
        observations, masks = many.reset(seed=1)
        assert observations is not None
        assert (observations.shape, masks.shape) == ((3, *flat), (3, n))
        assert one.action_masks().shape == (n,)
    many = VectorEnv(3, observation="planes", layoff="ask")
    assert many.reset(seed=1)[0].shape == (3, *ASKING_SHAPES["planes"])  # type: ignore[union-attr]


@pytest.mark.parametrize("preset", PRESETS)
def test_what_may_be_laid_off_is_what_can_be_placed(preset: str) -> None:
    rules, met = Rules.preset(preset), 0
    for deal in range(scaled(150, 3)):
        env = GinRummyEnv(rules, layoff="ask")
        env.reset(seed=3, options={"deal": deal})
        for state in asked(env, eager(deal)):
            seat, laid = int(state["seat"]), int(state["laid_off"])
            assert seat != int(state["ender"])
            hand = int(state["hands"][seat]) & ~laid
            fits = {card for card in cards_in(hand) if placed(laid | 1 << card, state, rules)}
            mine = env.observe(env.possible_agents[seat])["action_mask"]
            assert set(map(int, np.flatnonzero(mine))) == fits | {LAY_OFF_NO_MORE}
            assert fits
            assert not env.observe(env.possible_agents[1 - seat])["action_mask"].any()
            met += 1
        state = env._hand.state
        if int(state["ender"]) >= 0 and env._hand._taken[-1] != LAY_OFF_NO_MORE:
            # Not asked, or no longer: nothing that is left fits.
            laid = int(state["laid_off"])
            rest = cards_in(int(state["hands"][1 - int(state["ender"])]) & ~laid)
            assert not any(placed(laid | 1 << card, state, rules) for card in rest)
    assert met or preset not in KNOCKING or JIT_DISABLED


def placed(cards: int, state: Any, rules: Rules) -> bool:
    """Return whether the slow search finds a place for all cards."""
    melds = melds_of(state)
    try:
        return bool(melds) and bool(place_layoffs(cards, melds, longest_of(rules)))
    except CardError:
        return False


def check_score(env: GinRummyEnv, rules: Rules) -> str | None:
    """Hold a hand's reward against the showdown of its cards; return how it ended."""
    state = env._hand.state
    ender = int(state["ender"])
    if ender < 0 or not melds_of(state):
        return None
    hands = [int(hand) for hand in state["hands"]]
    result = showdown(
        hands[ender],
        hands[1 - ender],
        rules,
        list(melds_of(state)),
        layoffs=int(state["laid_off"]),
        upcard=int(state["first_upcard"]) if rules.oklahoma else None,
    )
    sign = {"knocker": 1, "defender": -1, None: 0}[result.winner]
    paid = list(env.rewards.values())
    assert paid[ender] == sign * result.points == -paid[1 - ender]
    assert env.infos["player_0"]["outcome"] == result.outcome
    assert int(state["defender_after"]) == result.defender_deadwood
    assert int(state["defender_before"]) == result.defender_deadwood_before_layoff
    return result.outcome


@pytest.mark.parametrize("preset", PRESETS)
def test_the_scorer_prices_what_was_chosen(preset: str) -> None:
    rules, met = Rules.preset(preset), set()
    for deal in range(scaled(200, 3)):
        env = GinRummyEnv(rules, layoff="ask")
        env.reset(seed=5, options={"deal": deal})
        play_out(env, eager(deal))
        met.add(check_score(env, rules))
    assert len(met) > 1 or preset not in KNOCKING or JIT_DISABLED


def test_the_scorer_prices_it_under_any_rules() -> None:
    dice, met = random.Random(8), set()
    for number in range(scaled(1500, 6)):
        rules = random_rules(dice)
        env = GinRummyEnv(rules, layoff="ask")
        env.reset(seed=number)
        play_out(env, eager(number))
        met.add(check_score(env, rules))
    assert met >= {"knock", "undercut"} or JIT_DISABLED


@pytest.mark.parametrize("preset", PRESETS)
def test_who_lays_off_exactly_gets_what_the_engine_gives(preset: str) -> None:
    rules, questions = Rules.preset(preset), 0
    same = ("outcome", "ender", "winner", "points", "knock_deadwood", "defender_before",
            "defender_after", "laid_off", "knock_sets", "knock_runs", "hands", "seat", "turn",
            "pile", "place")  # fmt: skip
    ask, best = GinRummyEnv(rules, layoff="ask"), GinRummyEnv(rules)
    for deal in range(scaled(300, 3)):
        for env in (ask, best):
            env.reset(seed=9, options={"deal": deal})
        choose = eager(deal)
        while not ask.terminations["player_0"]:
            if int(ask._hand.state["phase"]) == LAYOFF:
                questions += 1
                ask.step(exact(ask, rules))
            else:
                action = choose(ask.observe(ask.agent_selection))
                ask.step(action)
                best.step(action)
        assert best.terminations["player_0"]
        assert ask.rewards == best.rewards
        for name in same:
            assert np.array_equal(ask._hand.state[name], best._hand.state[name]), name
    assert questions or preset not in KNOCKING or JIT_DISABLED


@pytest.mark.parametrize("form", ["flat", "planes", None])
@pytest.mark.parametrize("preset", PRESETS)
def test_hands_side_by_side_are_hands_one_by_one(preset: str, form: str | None) -> None:
    choosers = [eager(i) for i in range(scaled(8, 2))]
    questions = side_by_side(preset, form, choosers, scaled(300, 40), layoff="ask")
    assert questions or preset not in KNOCKING or JIT_DISABLED


def test_random_actions_lay_off_and_stop() -> None:
    env, met = VectorEnv(scaled(2000, 20), "casual", observation=None, layoff="ask"), set()
    env.reset(seed=4)
    for _ in range(scaled(200, 3)):
        actions = env.random_actions()
        assert env.masks[np.arange(env.n), actions].all()
        at = env.masks[:, LAY_OFF_NO_MORE] == 1
        met |= set((actions[at] == LAY_OFF_NO_MORE).tolist())
        _, rewards, done, _ = env.step(actions)
        assert not rewards[~done].any()
    assert met == {True, False} or JIT_DISABLED


@pytest.mark.parametrize("seat", ["non-dealer", "dealer"])
def test_a_learner_is_asked_and_its_opponent_lays_off_exactly(seat: str) -> None:
    rules = Rules()
    ask = GinRummyAgainstEnv("simple", rules, seat=seat, layoff="ask")
    best = GinRummyAgainstEnv("simple", rules, seat=seat)
    questions, knocks = 0, 0
    for deal in range(scaled(150, 3)):
        seen, info = ask.reset(seed=13, options={"deal": deal})
        choose, terminated, expected = eager(deal), False, None
        deals = [best.reset(seed=13, options={"deal": deal})[1]["deal"], info["deal"]]
        follows = deals[0] == deals[1]  # no hand that was only played for its lay-offs
        while not terminated:
            state = ask._hand.state
            if int(state["phase"]) == LAYOFF:
                assert int(state["seat"]) == ask._seat
                questions += 1
                action = exact(ask, rules)  # type: ignore[arg-type]
            else:
                action = choose(seen)
                if follows:
                    expected = best.step(action)[1]
            seen, reward, terminated, _, _ = ask.step(action)
        state = ask._hand.state
        if follows:
            assert reward == expected
        if int(state["ender"]) == ask._seat and melds_of(state):
            knocks += 1
            hand = int(state["hands"][1 - ask._seat])
            packed = int(state["knock_sets"]), int(state["knock_runs"])
            assert int(state["laid_off"]) == lay_off(hand, *packed, NO_LIMIT)[1]
    assert (questions and knocks) or JIT_DISABLED


def test_a_lay_off_that_is_not_legal_is_named() -> None:
    env = at_layoff()
    mask_now = env.observe(env.agent_selection)["action_mask"]
    card = int(np.flatnonzero(mask_now[:52] == 0)[0])
    fits = int(mask_now.argmax())
    before = env._hand.desk.state.tobytes()
    with pytest.raises(RulesError) as caught:
        env.step(card)
    text = str(caught.value)
    assert f"action {card} (lay off {card_name(card)}) is not legal in phase layoff" in text
    assert f"{fits} (lay off {card_name(fits)})" in text
    assert ", 60 (lay off no more) [to replay: reset(seed=1, " in text
    with pytest.raises(
        RulesError, match=r"action 55 \(draw from the stock\) is not legal in phase"
    ):
        env.step(DRAW)
    for strange in (61, 60.0, "60", -1):
        with pytest.raises(RulesError, match="is not legal in phase layoff"):
            env.step(strange)  # type: ignore[arg-type]
    assert env._hand.desk.state.tobytes() == before
    env.step(LAY_OFF_NO_MORE)
    assert env.terminations["player_0"]
    assert env._hand.where().endswith(" 60")


def test_who_is_done_elsewhere_is_told_that_there_is_nothing_to_lay_off() -> None:
    env = GinRummyEnv(layoff="ask")
    env.reset(seed=1)
    with pytest.raises(RulesError, match=r"action 60 \(lay off no more\) is not legal in phase up"):
        env.step(60)
    many = VectorEnv(2, layoff="ask")
    many.reset(seed=1)
    with pytest.raises(RulesError, match=r"action 60 \(lay off no more\) is not legal in phase up"):
        many.step([53, 60])
    plain = VectorEnv(2)
    plain.reset(seed=1)
    with pytest.raises(RulesError, match="action 60 is not legal in phase upcard"):
        plain.step([53, 60])
    with pytest.raises(RulesError, match="action 61 is not legal in phase upcard"):
        many.step([53, 61])


def test_an_illegal_lay_off_may_lose_the_hand_as_by_gin() -> None:
    env = at_layoff(2, on_illegal="forfeit")
    state = env._hand.state
    seat = int(state["seat"])
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert int(env._hand.state["laid_off"])
    env.step(DRAW)
    hand = int(env._hand.state["hands"][seat])
    lost = 25 + arrange(hand).deadwood  # nothing is laid off on gin
    paid = list(env.rewards.values())
    assert (paid[seat], paid[1 - seat]) == (-lost, lost)
    assert env.infos["player_0"]["outcome"] == "forfeit"
    assert "is not legal in phase layoff" in env.infos["player_0"]["illegal"]
    cells = env.observe(env.possible_agents[seat])["observation"]
    assert mask(np.flatnonzero(cells[:52]).tolist()) == hand
    for name in env.possible_agents:
        assert not env.observe(name)["observation"][52 * N_CARD_PLANES :][:52].any()
