"""What is shown where lay-offs are asked for: observations, planes, and the text for people."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gin_sim import Rules
from gin_sim.cards import card_name, parse_hand
from gin_sim.compiled import JIT_DISABLED
from gin_sim.env import GinRummyEnv
from gin_sim.env.encode import (
    CARD_PLANES,
    LAYOFF_PLANE,
    N_CARD_PLANES,
    N_NUMBERS,
    NUMBERS,
)
from gin_sim.env.layoffs import LAYOFF
from gin_sim.hands import arrange
from gin_sim.view import OVER
from tests.env_hands import mixed, stages
from tests.env_layoffs import (
    KNOCKING,
    asked,
    at_layoff,
    eager,
    melds_of,
    table_of,
)
from tests.helpers import scaled
from tests.oracle.bridge import swap_hidden
from tests.oracle.melds import cards_in, mask

PLANES = (*CARD_PLANES, LAYOFF_PLANE)


def observed(env: GinRummyEnv, seat: int) -> bytes:
    seen = env.observe(env.possible_agents[seat])
    return bytes(seen["observation"].tobytes() + seen["action_mask"].tobytes())


@pytest.mark.parametrize("form", ["flat", "planes"])
def test_nothing_hidden_is_shown(form: str) -> None:
    dice, met = random.Random(3), set()
    for deal in range(scaled(300, 6)):
        env = GinRummyEnv(observation=form, layoff="ask")
        env.reset(seed=2, options={"deal": deal})
        for state in stages(env, eager(deal) if deal % 3 else mixed(deal)):
            phase = int(state["phase"])
            for seat in range(2):
                before, shown = env._hand.desk.state.copy(), observed(env, seat)
                swap_hidden(state, seat, dice, table_of(state))
                if phase == LAYOFF and seat == int(state["ender"]):
                    state["legal_discards"] = dice.randrange(1, 2**52)
                    state["defender_before"] = dice.randrange(100)
                assert observed(env, seat) == shown, (phase, seat)
                env._hand.desk.state[:] = before
                met.add((phase, seat, int(state["ender"])))
    wanted = {(LAYOFF, seat, ender) for seat in range(2) for ender in range(2)}
    assert met >= wanted or JIT_DISABLED


def test_the_knocker_sees_no_card_of_the_defender_that_is_not_on_the_table() -> None:
    questions = 0
    for deal in range(scaled(300, 6)):
        env = GinRummyEnv("openspiel", layoff="ask")
        env.reset(seed=2, options={"deal": deal})
        for state in asked(env, eager(deal)):
            questions += 1
            defender = int(state["seat"])
            open_cards = int(state["known"][defender]) | int(state["laid_off"])
            for card in cards_in(int(state["hands"][defender]) & ~open_cards):
                assert shown_in(env, 1 - defender, card) == {"cards not seen"}
    assert questions or JIT_DISABLED


def shown_in(env: GinRummyEnv, seat: int, card: int) -> set[str]:
    """Return the planes in which a seat sees a card."""
    cells = env.observe(env.possible_agents[seat])["observation"]
    planes = cells[: 52 * len(PLANES)].reshape(len(PLANES), 52)
    return {name for name, plane in zip(PLANES, planes, strict=True) if plane[card]}


@pytest.mark.parametrize("preset", KNOCKING)
def test_the_planes_say_what_lies_on_the_table(preset: str) -> None:
    for deal in range(scaled(100, 3)):
        env = GinRummyEnv(preset, layoff="ask")
        env.reset(seed=6, options={"deal": deal})
        for state in stages(env, eager(deal)):
            phase, laid = int(state["phase"]), int(state["laid_off"])
            melds = cards_in(sum(melds_of(state)))
            for seat in range(2):
                cells = env.observe(env.possible_agents[seat])["observation"]
                planes = cells[: 52 * len(PLANES)].reshape(len(PLANES), 52)
                sets = [set(map(int, np.flatnonzero(plane))) for plane in planes]
                names = [name for name, _ in NUMBERS]
                numbers = dict(zip(names, cells[52 * len(PLANES) :], strict=False))
                held = cards_in(int(state["hands"][seat]) & ~laid)
                known = cards_in(int(state["known"][1 - seat]) & ~laid)
                pile = cards_in(int(state["pile"]))
                assert sets[0] == held
                assert sets[3] == known
                assert sets[4] == cards_in(int(state["known"][seat]) & ~laid)
                assert sets[-1] == melds | cards_in(laid)
                assert sets[11] == set(range(52)) - held - known - pile - sets[-1]
                phases = [numbers[name] for name in names if name.startswith("phase is")]
                assert cells[-1] == (phase == LAYOFF)
                assert sum(phases) + cells[-1] == 1
                if phase == LAYOFF:
                    assert not sets[8] | sets[9] | sets[10]
                    assert numbers["to act"] == (seat == int(state["seat"]))
                if phase in (LAYOFF, OVER) and melds:
                    assert numbers["own deadwood"] == arrange(mask(held)).deadwood


def test_both_forms_hold_the_same() -> None:
    questions = 0
    for deal in range(scaled(60, 3)):
        flat, planes = (GinRummyEnv(observation=f, layoff="ask") for f in ("flat", "planes"))
        for env in (flat, planes):
            env.reset(seed=7, options={"deal": deal})
        choose, cards = eager(deal), 52 * (N_CARD_PLANES + 1)
        while not flat.terminations["player_0"]:
            questions += int(flat._hand.state["phase"]) == LAYOFF
            for name in flat.possible_agents:
                cells = flat.observe(name)["observation"]
                spread = planes.observe(name)["observation"].reshape(-1, 52)
                assert np.array_equal(spread[: N_CARD_PLANES + 1].ravel(), cells[:cards])
                assert (spread[N_CARD_PLANES + 1 :] == cells[cards:, None]).all()
                assert flat.observation_space(name).contains(flat.observe(name))
                assert planes.observation_space(name).contains(planes.observe(name))
            action = choose(flat.observe(flat.agent_selection))
            for env in (flat, planes):
                env.step(action)
    assert questions or JIT_DISABLED


def test_until_a_knock_the_observation_is_the_same_but_for_what_is_added() -> None:
    ask, best = GinRummyEnv(layoff="ask"), GinRummyEnv()
    cards, added = 52 * N_CARD_PLANES, 52 * (N_CARD_PLANES + 1)
    for env in (ask, best):
        env.reset(seed=3)
    choose = eager(3)
    while not best.terminations["player_0"]:
        for name in ask.possible_agents:
            more, less = ask.observe(name)["observation"], best.observe(name)["observation"]
            assert np.array_equal(more[:cards], less[:cards])
            assert np.array_equal(more[added : added + N_NUMBERS], less[cards:])
            assert not more[cards:added].any()
            assert more[-1] == 0
        action = choose(best.observe(best.agent_selection))
        for env in (ask, best):
            env.step(action)


def test_the_text_shows_the_table() -> None:
    env = at_layoff(2, render_mode="ansi")
    card = int(env.observe(env.agent_selection)["action_mask"].argmax())
    assert "phase layoff" in str(env.render())
    assert "on the table " in str(env.render())
    assert "laid off -" in str(env.render())
    env.step(card)
    lines = str(env.render()).splitlines()
    assert any(line.endswith(f"laid off {card_name(card)}") for line in lines)
    assert str(env.render()).count(card_name(card)) == 1  # no longer in the hand


def test_the_knocker_is_shown_with_the_melds_that_lie_on_the_table() -> None:
    """Which of two arrangements lies there says what fits."""
    rules = Rules()
    melds = (parse_hand("Ah 2h 3h"), parse_hand("5c 5h 5s"))
    cards = "Ah 2h 3h 2d 2s 5c 5h 5s Ac 3d"
    held = parse_hand(cards)
    env = GinRummyEnv(rules, layoff="ask")
    assert env._hand._laid_out(held, melds) == "Ah 2h 3h | 5c 5h 5s | Ac 2d 3d 2s  (8)"
    assert "2d 2h 2s" in env._hand._laid_out(held, ())
