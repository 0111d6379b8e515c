"""What a user of the environments gets wrong is said in one clear line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gin_sim import AgentError, PlayError, Rules, RulesError
from gin_sim.env import GinRummyAgainstEnv, GinRummyEnv, VectorEnv
from gin_sim.env.actions import DRAW, KNOCK, PASS_FIRST, TAKE_FIRST
from tests.env_hands import mixed, play_out
from tests.helpers import PASSIVE


def test_an_illegal_action_is_named_with_what_is_legal_and_how_to_replay_it() -> None:
    env = GinRummyEnv()
    env.reset(seed=9, options={"deal": 4})
    env.step(PASS_FIRST)
    with pytest.raises(RulesError) as caught:
        env.step(DRAW)
    assert str(caught.value) == (
        "action 55 (draw from the stock) is not legal in phase upcard; legal: 52 (take the "
        "first upcard), 53 (pass the first upcard) [to replay: reset(seed=9, "
        "options={'deal': 4}), actions 53]"
    )
    env.step(TAKE_FIRST)  # the hand stands where it stood
    assert env._hand.where().endswith("actions 53 52")


@pytest.mark.parametrize(
    "action", [-1, 60, 53.0, "53", None, True, [53], 10**30, np.True_, np.array([53]), np.nan]
)
@pytest.mark.parametrize("on_illegal", ["error", "forfeit"])
def test_what_is_no_action_is_refused_and_costs_nothing(action: Any, on_illegal: str) -> None:
    for env in (GinRummyEnv(on_illegal=on_illegal), GinRummyAgainstEnv(on_illegal=on_illegal)):
        env.reset(seed=1)
        with pytest.raises(RulesError, match=r"action .* is not legal in phase upcard; legal: 52"):
            env.step(action)
        env.step(PASS_FIRST)  # the hand stands where it stood


def test_a_hand_that_is_not_there_is_said_to_be() -> None:
    env = GinRummyEnv()
    with pytest.raises(RulesError, match="no hand is being played: reset"):
        env.step(0)
    with pytest.raises(RulesError, match="no hand is being played: reset"):
        env.last()
    shown = [GinRummyEnv(render_mode="ansi"), GinRummyAgainstEnv(render_mode="human")]
    for call in (lambda: env.observe("player_0"), *(one.render for one in shown)):
        with pytest.raises(RulesError, match="no hand has been dealt: reset"):
            call()
    many = VectorEnv(2)
    for call in (many.random_actions, lambda: many.step([53, 53])):
        with pytest.raises(RulesError, match="no hands have been dealt: reset"):
            call()


def test_a_hand_that_is_over_takes_no_action() -> None:
    env = GinRummyAgainstEnv(on_illegal="error")
    seen, _ = env.reset(seed=1)
    terminated, choose = False, mixed(1)
    while not terminated:
        seen, _, terminated, _, _ = env.step(choose(seen))
    assert not seen["action_mask"].any()
    with pytest.raises(RulesError, match="legal: none, the hand is over: reset"):
        env.step(DRAW)


def test_a_hand_that_is_over_is_left_with_none_alone() -> None:
    env = GinRummyEnv()
    env.reset(seed=1)
    play_out(env, mixed(1))
    with pytest.raises(RulesError, match=r"action 5: the hand is over, and only None is taken"):
        env.step(5)
    for _ in env.agent_iter():
        assert env.last()[2]
        env.step(None)
    for call in (env.last, lambda: env.step(None)):
        with pytest.raises(RulesError, match=r"no hand is being played: reset \[to replay"):
            call()
    env.reset()
    env.step(PASS_FIRST)


def test_an_illegal_action_may_lose_the_hand_instead() -> None:
    env = GinRummyAgainstEnv(reward_scale=0.1)
    env.reset(seed=3)
    seen, reward, terminated, _, info = env.step(KNOCK)
    assert terminated
    assert info["outcome"] == "forfeit"
    assert "action 56 (knock) is not legal in phase upcard" in info["illegal"]
    # As if the opponent had gone gin: its bonus and the learner's 39 points.
    assert reward == pytest.approx(-0.1 * (25 + 39))
    assert not seen["action_mask"].any()
    env.reset(seed=3)
    assert "illegal" not in env.step(PASS_FIRST)[4]
    pair = GinRummyEnv(on_illegal="forfeit")
    pair.reset(seed=3)
    pair.step(KNOCK)
    assert pair.rewards == {"player_0": -64.0, "player_1": 64.0}


def test_an_illegal_action_among_many_touches_no_hand() -> None:
    env = VectorEnv(3)
    env.reset(seed=7)
    env.step([53, 52, 53])
    before = env._hands.states.tobytes()
    with pytest.raises(RulesError) as caught:
        env.step([53, 55, 53])
    assert "action 55 (draw from the stock) is not legal in phase discard" in str(caught.value)
    assert "[hand 1 of 3, seat 0: deal 1 of seed 7, after 1 actions]" in str(caught.value)
    assert env._hands.states.tobytes() == before


@pytest.mark.parametrize(
    "actions", [[53], [53.0, 53.0], "ab", [[53, 53]], [True, False], [None, 53], [[53], 53]]
)
def test_actions_of_many_hands_are_whole_numbers_one_for_each(actions: Any) -> None:
    env = VectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(RulesError, match="give 2 whole numbers, one for each hand"):
        env.step(actions)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"rules": "standrad"}, r"did you mean 'standard'"),
        ({"observation": "flta"}, r"observation = 'flta': allowed is 'flat' or 'planes'"),
        ({"reward_scale": 0}, r"reward_scale = 0: allowed is a number"),
        ({"reward_scale": float("nan")}, r"reward_scale = nan: allowed is a number"),
        ({"on_illegal": "lose"}, r"on_illegal = 'lose': allowed is 'error' or 'forfeit'"),
        ({"observation": np.array(["flat", "planes"])}, r"observation = array.*: allowed is"),
        ({"on_illegal": np.zeros(2)}, r"on_illegal = array.*: allowed is 'error' or 'forfeit'"),
        ({"render_mode": "rgb_array"}, r"render_mode = 'rgb_array': allowed is None or 'ansi'"),
        ({"layoff": "none"}, r"layoff = 'none': allowed is 'best' or 'ask'"),
        ({"layoff": True}, r"layoff = True: allowed is 'best' or 'ask'"),
        ({"layoff": None}, r"layoff = None: allowed is 'best' or 'ask'"),
        ({"layoff": np.array(["ask", "best"])}, r"layoff = array.*: allowed is 'best' or 'ask'"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings: Any, line: str) -> None:
    for kind in (GinRummyEnv, GinRummyAgainstEnv):
        with pytest.raises(RulesError, match=line):
            kind(**settings)


def test_settings_of_one_environment_alone() -> None:
    with pytest.raises(RulesError, match="seat = 'south': allowed is 'non-dealer' or"):
        GinRummyAgainstEnv(seat="south")
    with pytest.raises(AgentError, match="no agent 'simpel'"):
        GinRummyAgainstEnv("simpel")
    for n in (0, -1, 1.5, 2**21):
        with pytest.raises(RulesError, match="n = "):
            VectorEnv(n)  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="observation = 'all': allowed is 'flat' or 'planes'"):
        VectorEnv(2, observation="all")
    for layoff in ("none", True, None, np.array(["ask", "best"])):
        with pytest.raises(RulesError, match=r"layoff = .*: allowed is 'best' or 'ask'"):
            VectorEnv(2, layoff=layoff)  # type: ignore[arg-type]
    env = GinRummyEnv()
    for name in ("player_2", 0, None, np.array(["player_0", "player_1"])):
        for call in (env.observation_space, env.action_space, env.observe):
            with pytest.raises(RulesError, match=r"agent = .*: allowed is player_0 or player_1"):
                call(name)  # type: ignore[operator]


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(3, np.int64),
        np.zeros(2, np.int32),
        [0, 0],
        np.ma.zeros(2, np.int64),
        np.zeros(4, np.int64)[::2],
        np.broadcast_to(np.int64(0), 2),
    ],
)
def test_memory_for_actions_is_an_ordinary_array_of_the_right_size(out: Any) -> None:
    env = VectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(RulesError, match="out: give an array of 2 int64, in one piece and"):
        env.random_actions(out)


def test_what_is_legal_cannot_be_written() -> None:
    env = VectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="read-only"):
        env.legal[:] = -1
    env.masks[:] = 1  # a copy for the caller: actions are not judged by it
    with pytest.raises(RulesError, match="is not legal in phase upcard"):
        env.step([0, 0])


def test_options_are_a_mapping() -> None:
    with pytest.raises(RulesError, match=r"options = 5: give a dict, such as \{'deal': 3\}"):
        GinRummyEnv().reset(seed=1, options=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"dael": 3}, {"deal": 3, 5: 0}])
def test_an_option_that_does_nothing_is_warned_of(options: Any) -> None:
    for env in (GinRummyEnv(), GinRummyAgainstEnv()):
        with pytest.warns(UserWarning, match=r"options ('dael'|5) do nothing: 'deal' does"):
            env.reset(seed=1, options=options)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", 2**63])
def test_seeds_and_deals_are_whole_numbers(seed: Any) -> None:
    for env in (GinRummyEnv(), GinRummyAgainstEnv(), VectorEnv(1)):
        with pytest.raises(RulesError, match=r"seed = .*: allowed is a whole number 0"):
            env.reset(seed=seed)
    with pytest.raises(RulesError, match=r"deal = .*: allowed is a whole number 0"):
        GinRummyEnv().reset(seed=1, options={"deal": seed})


def test_a_reset_that_is_refused_changes_nothing() -> None:
    env = GinRummyEnv()
    env.reset(seed=1, options={"deal": 2})
    for seed, deal in ((5, -1), (-5, 1)):
        with pytest.raises(RulesError):
            env.reset(seed=seed, options={"deal": deal})
    env.reset()
    assert (env.infos["player_0"]["seed"], env.infos["player_0"]["deal"]) == (1, 3)


def test_an_opponent_that_plays_illegally_is_named() -> None:
    cheat = replace(PASSIVE, name="cheat", discard=lambda view, params: -1)
    env = GinRummyAgainstEnv(cheat, seat="dealer")
    env_seed = 12
    env.reset(seed=env_seed)
    with pytest.raises(PlayError, match=r"agent 'cheat' threw -1; .*seed 12, deal 0"):
        env.step(PASS_FIRST)


@pytest.mark.parametrize("what", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("first", [True, False])
def test_a_learner_never_plays_the_cards_of_an_opponent_that_failed(
    what: type[BaseException], first: bool
) -> None:
    asked: list[int] = []

    def draw(view: Any, params: Any) -> bool:
        asked.append(1)
        if len(asked) == 2 - first:
            raise what
        return False

    failing = replace(PASSIVE, name="failing", draw=draw)
    env = GinRummyAgainstEnv(failing, seat="dealer" if first else "non-dealer")
    choose = mixed(1)
    with pytest.raises((PlayError, KeyboardInterrupt)):
        seen, _ = env.reset(seed=1)
        while True:
            seen, *_ = env.step(choose(seen))
    taken = list(env._hand._taken)
    for action in range(60):
        with pytest.raises(RulesError, match="the opponent was to act and did not: reset"):
            env.step(action)
    assert env._hand._taken == taken
    assert not env._hand.over
    env.reset(seed=1)
    assert env.action_masks().any()


def test_a_reset_gives_up_where_the_learner_is_never_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gin_sim.env.against.MOST_SKIPPED", 20)

    taker = replace(PASSIVE, name="taker", draw=lambda view, params: True)
    env = GinRummyAgainstEnv(taker, Rules(turn_limit=1, knock_limit=0), seat="dealer")
    with pytest.raises(RulesError, match="20 hands in a row ended before the learner"):
        env.reset(seed=1)


def test_actions_with_some_masked_out_are_no_actions() -> None:
    env = VectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(RulesError, match="a masked array"):
        env.step(np.ma.masked_array([PASS_FIRST, PASS_FIRST], [False, True]))


def test_a_long_hand_can_be_replayed_from_its_message() -> None:
    rules = Rules(wall="reshuffle", thrown_back_limit=None, pile_draw_limit=100)
    env = GinRummyEnv(rules)
    longest = ""
    for deal in range(6):
        env.reset(seed=3, options={"deal": deal})
        choose = mixed(deal)
        while not env.terminations["player_0"]:
            with pytest.raises(RulesError) as caught:
                env.step(PASS_FIRST if env._hand.state["turn"] else KNOCK)
            longest = max(longest, str(caught.value), key=len)
            seen = env.observe(env.agent_selection)
            legal = seen["action_mask"]
            env.step(57 if legal[57] else choose(seen))  # plays on, whenever it may
    assert longest.endswith("]")
    assert len(longest) > 800
