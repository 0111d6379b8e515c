"""Millions of random masked decisions in both environments, side by side, and their rewards.

    python -m tests.benchmarks.masks [--decisions N] [--seed S] [--layoff best|ask]

`VectorEnv` plays random legal actions, and a `GinRummyEnv` for each of its hands the same
ones.  In every second hand all legal actions are as likely; since such hands seldom come to
a knock, the others lean to good throws and to knocking.  Counted are masks that are empty,
decisions at which the two differ in anything that they show, rewards that do not cancel, and
hands whose rewards are not what the scorer says of the cards that lie on the table at the
end.  Any of these makes the exit code 1.  With `--layoff ask` the defender is asked, and the
scorer is told what it laid off.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Any

import numpy as np

from gin_sim import showdown
from gin_sim.env import GinRummyEnv, VectorEnv
from gin_sim.env.actions import LAY_OFF_NO_MORE
from gin_sim.env.layoffs import LAYOFFS
from gin_sim.rules import PRESETS, Rules
from tests.env_hands import mixed

HANDS = 50


def scored(state: Any, rules: Rules, layoff: str) -> list[float]:
    """Return what a finished hand brings both seats, settled from the cards alone."""
    ender = int(state["ender"])
    if ender < 0:
        return [0.0, 0.0]
    hands = [int(hand) for hand in state["hands"]]
    upcard = int(state["first_upcard"]) if rules.oklahoma else None
    asked = layoff == "ask" and int(state["knock_deadwood"]) > 0
    result = showdown(
        hands[ender],
        hands[1 - ender],
        rules,
        layoffs=int(state["laid_off"]) if asked else None,
        upcard=upcard,
        seen=int(state["pile"]),
    )
    points = {"knocker": result.points, "defender": -result.points, None: 0}[result.winner]
    return [float(points), float(-points)] if ender == 0 else [float(-points), float(points)]


def differ(one: GinRummyEnv, many: VectorEnv, i: int) -> bool:
    """Return whether a hand is shown otherwise by itself than among many."""
    seen = one.observe(one.agent_selection)
    assert many.observations is not None
    return not (
        one.agent_selection == f"player_{many.seats[i]}"
        and one.infos["player_0"]["deal"] == many.deals[i]
        and np.array_equal(seen["action_mask"], many.masks[i])
        and np.array_equal(seen["observation"], many.observations[i])
    )


def play(preset: str, steps: int, seed: int, layoff: str) -> Counter[str]:
    """Play so many steps of `HANDS` hands in both environments; return what was counted."""
    rules = Rules.preset(preset)
    many = VectorEnv(HANDS, preset, layoff=layoff)
    many.reset(seed)
    ones = [GinRummyEnv(preset, layoff=layoff) for _ in range(HANDS)]
    for i, one in enumerate(ones):
        one.reset(seed, {"deal": i})
    choosers = [mixed(i) for i in range(HANDS)]
    count: Counter[str] = Counter()
    for _ in range(steps):
        count["empty"] += int((~many.masks.any(axis=1)).sum())
        count["asked"] += int(many.masks[:, LAY_OFF_NO_MORE:].sum())
        count["different"] += sum(differ(one, many, i) for i, one in enumerate(ones))
        actions = many.random_actions()
        for i in range(1, HANDS, 2):
            actions[i] = choosers[i](ones[i].observe(ones[i].agent_selection))
        _, rewards, done, _ = many.step(actions)
        count["unequal"] += int((rewards.sum(axis=1) != 0).sum())
        for i, one in enumerate(ones):
            one.step(int(actions[i]))
            paid = [one.rewards[name] for name in one.possible_agents]
            over = one.terminations["player_0"]
            count["different"] += over != done[i] or paid != rewards[i].tolist()
            if over:
                count["ended"] += 1
                count["scored"] += any(paid)
                count["wrong"] += paid != scored(one._hand.state, rules, layoff)
                one.reset(options={"deal": int(many.deals[i])})
            else:
                count["wrong"] += any(paid)
    return count


def main() -> None:
    """Play under each preset, and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--decisions", type=int, default=2_000_000, help="in each environment, of all presets"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layoff", choices=LAYOFFS, default="best")
    args = parser.parse_args()
    steps = -(-args.decisions // (HANDS * len(PRESETS)))
    start, total = time.perf_counter(), Counter[str]()
    for preset in PRESETS:
        count = play(preset, steps, args.seed, args.layoff)
        total += count
        print(
            f"{preset:12} {steps * HANDS:9,} decisions in each, {count['ended']:6,} hands ended, "
            f"{count['scored']:6,} scored, {count['asked']:6,} lay-offs asked for: "
            f"{count['empty']} empty masks, "
            f"{count['different']} differences, {count['unequal']} rewards that do not cancel, "
            f"{count['wrong']} not the scorer's",
            flush=True,
        )
    decisions = steps * HANDS * len(PRESETS)
    print(f"{decisions:,} decisions in each in {time.perf_counter() - start:.0f} seconds")
    if any(total[fault] for fault in ("empty", "different", "unequal", "wrong")):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
