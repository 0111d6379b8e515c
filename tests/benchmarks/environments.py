"""How fast the environments are: decisions a second under random masked play, on one core.

    python -m tests.benchmarks.environments [--hands N] [--seconds S] [--rounds R]

All are measured in turns in one run, by the processor's time of this process, and the medians
of the rounds are compared: machines differ, and are noisy.  What chooses the actions is in the
time of all of them.  Others' are measured if they are installed (``pip install -e
'.[rl,benchmark]'``); PettingZoo had its gin_rummy, a wrapper of RLCard's, up to version 1.26.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gin_sim.env import GinRummyAgainstEnv, GinRummyEnv, VectorEnv

Play = Callable[[], int]
"""Plays for a while and returns how many decisions were made."""


def side_by_side(n: int, form: str | None) -> Play:
    """Many hands at once; a step of all of them at each call."""
    env = VectorEnv(n, observation=form)
    env.reset(seed=1)
    actions = np.zeros(n, np.int64)

    def play() -> int:
        for _ in range(20):
            env.step(env.random_actions(actions))
        return 20 * n

    return play


def legal_choice(mask: Any, dice: random.Random) -> int:
    """Return a random legal action of a mask."""
    return int(dice.choice(np.flatnonzero(mask)))


def in_turn(env: Any) -> Play:
    """A PettingZoo environment; a hand at each call."""
    dice = random.Random(1)
    env.reset(seed=1)

    def play() -> int:
        count = 0
        env.reset()
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else legal_choice(seen["action_mask"], dice))
            count += not over
        return count

    return play


def against_simple() -> Play:
    """The Gymnasium environment; decisions of the learner alone are counted."""
    env = GinRummyAgainstEnv("simple")
    dice = random.Random(1)
    env.reset(seed=1)

    def play() -> int:
        seen, _ = env.reset()
        count, terminated = 0, False
        while not terminated:
            seen, _, terminated, _, _ = env.step(legal_choice(seen["action_mask"], dice))
            count += 1
        return count

    return play


def openspiel(observed: bool) -> Play:
    """OpenSpiel's game, with or without the player's observation at each decision."""
    pyspiel = importlib.import_module("pyspiel")
    game, dice = pyspiel.load_game("gin_rummy"), random.Random(1)

    def play() -> int:
        state, count = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(dice.choices(outcomes, weights)[0])
                continue
            if observed:
                state.observation_tensor(state.current_player())
            state.apply_action(dice.choice(state.legal_actions()))
            count += 1
        return count

    return play


def rlcard_env() -> Play:
    """RLCard's own environment, which observes at each step."""
    rlcard = importlib.import_module("rlcard")
    env, dice = rlcard.make("gin-rummy", config={"seed": 1}), random.Random(1)

    def play() -> int:
        state, _ = env.reset()
        count = 0
        while not env.is_over():
            state, _ = env.step(dice.choice(list(state["legal_actions"])))
            count += 1
        return count

    return play


def pettingzoo_env() -> Play:
    """PettingZoo's gin_rummy, without its wrappers."""
    return in_turn(importlib.import_module("pettingzoo.classic.gin_rummy_v4").raw_env())


def rate(play: Play, seconds: float) -> float:
    """Return decisions a second of the processor's time, which others on the core do not use up."""
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        count += play()
    return count / spent


def contenders(hands: int) -> dict[str, Play]:
    """Return what is compared, by name; what is not installed is said and left out."""
    makers: dict[str, Callable[[], Play]] = {
        f"VectorEnv, {hands} hands, no observations": lambda: side_by_side(hands, None),
        f"VectorEnv, {hands} hands, flat": lambda: side_by_side(hands, "flat"),
        f"VectorEnv, {hands} hands, planes": lambda: side_by_side(hands, "planes"),
        "GinRummyEnv (AEC), flat": lambda: in_turn(GinRummyEnv()),
        "gin_sim/GinRummy-v0 against simple, flat": against_simple,
        "PettingZoo gin_rummy_v4": pettingzoo_env,
        "OpenSpiel, no observations": lambda: openspiel(False),
        "OpenSpiel, observation tensors": lambda: openspiel(True),
        "RLCard": rlcard_env,
    }
    found = {}
    for name, make in makers.items():
        try:
            found[name] = make()
        except ImportError as error:
            print(f"left out: {name} ({error})")
    return found


def main() -> None:
    """Measure all, and print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=1024, help="side by side")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each, a round")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    plays = contenders(args.hands)
    rates: dict[str, list[float]] = {name: [] for name in plays}
    for play in plays.values():
        play()  # compiled, before it counts
    for _ in range(args.rounds):
        for name, play in plays.items():
            rates[name].append(rate(play, args.seconds))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    best = {name: value for name, value in medians.items() if name.startswith("VectorEnv")}
    flat = next(value for name, value in best.items() if name.endswith("flat"))
    in_turns = medians["GinRummyEnv (AEC), flat"]
    print(f"{'decisions a second':44} {'median':>12} {'lowest':>12} {'highest':>12}"
          f"  {'VectorEnv flat':>14}  {'AEC':>8}")  # fmt: skip
    for name, value in medians.items():
        low, high = min(rates[name]), max(rates[name])
        print(f"{name:44} {value:12,.0f} {low:12,.0f} {high:12,.0f}"
              f"  {flat / value:13,.1f}x  {in_turns / value:7,.1f}x")  # fmt: skip


if __name__ == "__main__":
    main()
