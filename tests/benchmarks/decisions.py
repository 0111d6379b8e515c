"""How long a decision of each agent takes, in microseconds and as a ratio to `simple`.

    python -m tests.benchmarks.decisions [AGENT ...] [--hands N] [--rounds R] [--seed S]

Each agent first plays some hands against `simple`; then it is asked again, in a compiled
loop, everything that it was asked in them.  So the mix of draws, discards and knocks is
its own, and neither the engine nor the making of views is in the figures.  Machines
differ and are noisy: only the process's own time is counted, rounds go over all agents in
turn, and medians are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

import numba
import numpy as np

from gin_sim import load_agent, shuffled_deck
from gin_sim.compiled import JIT_DISABLED, kernel
from gin_sim.play import BOOL_DECISION, CARD_DECISION, PARAMS_TYPE
from gin_sim.policy import prepare
from gin_sim.registry import DECISIONS, Agent, registered
from gin_sim.view import VIEW_DTYPE
from tests.helpers import table

ASKED_FOR_ONE = 20_000
SECONDS = 0.2
"""An agent that thinks for long is asked so many seconds of each kind, in each round."""


@kernel
def ask_all(views: Any, decide: Any, params: Any, times: int) -> int:
    """Ask for a decision on all views, several times over."""
    total = 0
    for _ in range(times):
        for i in range(views.shape[0]):
            total += int(decide(views[i], params))
    return total


def compile_loops() -> None:
    """Compile the loop for both kinds of decisions, as the engine's loops are."""
    if JIT_DISABLED:
        return
    loop: Any = ask_all
    views = numba.from_dtype(VIEW_DTYPE)[::1]
    for decision in (BOOL_DECISION, CARD_DECISION):
        loop.compile((views, decision, PARAMS_TYPE, numba.types.int64))
    loop.disable_compile()


def few(views: Any, function: Any, params: Any) -> Any:
    """Return as many of the questions as are answered in `SECONDS`, 20 at least."""
    ask_all(views[:1], function, params, 1)
    start = time.process_time()
    ask_all(views[:20], function, params, 1)
    each = (time.process_time() - start) / max(len(views[:20]), 1)
    most = max(int(SECONDS / max(each, 1e-9)), 20)
    return np.ascontiguousarray(views[:: max(-(-len(views) // most), 1)])


class Questions:
    """What an agent was asked in some hands, and its compiled answers."""

    def __init__(self, one: Agent, hands: int, seed: int) -> None:
        *self.functions, self.params = prepare(one)
        seen: dict[str, list[Any]] = {decision: [] for decision in DECISIONS}
        simple = load_agent("simple")
        for deal in range(hands):
            seat = deal % 2
            pair = (one, simple) if seat == 0 else (simple, one)
            for asked in table(shuffled_deck(seed, deal), key=deal).play(*pair):
                if asked.seat == seat:
                    seen[asked.name].append(asked.view)
        self.views = [np.array(seen[decision], VIEW_DTYPE) for decision in DECISIONS]
        self.counts = [len(views) for views in self.views]
        both = zip(self.views, self.functions, strict=True)
        self.shown = [few(views, function, self.params) for views, function in both]

    def microseconds(self) -> list[float]:
        """Return how long one decision of each kind takes now."""
        out = []
        some = zip(self.shown, self.counts, self.functions, strict=True)
        for views, asked, function in some:
            times = 1 if len(views) < asked else max(ASKED_FOR_ONE // max(asked, 1), 1)
            start = time.process_time()
            ask_all(views, function, self.params, times)
            spent = time.process_time() - start
            out.append(spent / max(len(views) * times, 1) * 1e6)
        return out

    def mean(self, by_kind: list[float]) -> float:
        """Return the time of a decision on average, each kind as often as it was asked."""
        return float(np.average(by_kind, weights=self.counts))


def main() -> None:
    """Time all agents, or those named, on one core."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", nargs="*", help="default: all compiled ones")
    parser.add_argument("--hands", type=int, default=200, help="that each agent plays before")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    compile_loops()
    names = args.agents or [name for name, one in registered()[0].items() if one.compiled]
    names = ["simple", *(name for name in names if name != "simple")]
    questions = {name: Questions(load_agent(name), args.hands, args.seed) for name in names}
    for asked in questions.values():
        asked.microseconds()
    rounds = [
        {name: asked.microseconds() for name, asked in questions.items()}
        for _ in range(args.rounds)
    ]
    print(f"{'':<12}{'draw':>9}{'discard':>9}{'knock':>9}{'mean':>9}   times simple (by round)")
    for name, asked in questions.items():
        kinds = [statistics.median(r[name][i] for r in rounds) for i in range(3)]
        ratios = sorted(asked.mean(r[name]) / questions["simple"].mean(r["simple"]) for r in rounds)
        print(
            f"{name:<12}"
            + "".join(f"{value:9.3f}" for value in [*kinds, asked.mean(kinds)])
            + f"   {statistics.median(ratios):6.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})"
        )


if __name__ == "__main__":
    main()
