"""Masks of legal actions over a million random decisions: none is empty, points only move.

python -m tests.benchmarks.masks [--decisions N] [--seed S]
"""

from __future__ import annotations

import argparse

from gin_sim.env import VectorEnv
from gin_sim.rules import PRESETS

HANDS = 1000


def main() -> None:
    """Play under each preset, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decisions", type=int, default=1_000_000, help="under all presets")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    steps = -(-args.decisions // (HANDS * len(PRESETS)))
    for preset in PRESETS:
        env = VectorEnv(HANDS, preset)
        _, masks = env.reset(args.seed)
        ended = scored = empty = unequal = 0
        for _ in range(steps):
            empty += int((~masks.any(axis=1)).sum())
            _, rewards, done, masks = env.step(env.random_actions())
            unequal += int((rewards.sum(axis=1) != 0).sum() + rewards[~done].any(axis=1).sum())
            ended += int(done.sum())
            scored += int(rewards.any(axis=1).sum())
        print(
            f"{preset:12} {steps * HANDS:9,} decisions, {ended:6,} hands ended, "
            f"{scored:6,} scored: {empty} empty masks, {unequal} rewards that do not cancel"
        )
        if empty or unequal:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
