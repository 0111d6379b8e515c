"""How long `search` takes for a decision, beside what it was given.

    python -m tests.benchmarks.search_budget [--milliseconds 4 20] [--decisions N]

It is asked what it would be asked in hands against `simple`, each question by itself, in two
ways: until its time is up, whatever it has found (a decision then has to take what it was
given), and as it plays, ending as soon as one choice is clearly ahead.  Wall time: what a
player waits for.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from gin_sim import load_agent
from gin_sim.policy import prepare
from tests.benchmarks.decisions import Questions
from tests.helpers import EASED

NEVER_SURE = 1e9


def times(views: list[Any], params: dict[str, float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the milliseconds that each question takes."""
    *functions, values = prepare(load_agent("search").with_params(params))
    taken = []
    for function, view in zip(functions, views, strict=True):
        for i in range(len(view)):
            begun = time.perf_counter()
            function(view[i], values)
            taken.append(1000 * (time.perf_counter() - begun))
    return np.array(taken)


def main() -> None:
    """Measure, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--milliseconds", type=float, nargs="+", default=[4, 20])
    parser.add_argument("--decisions", type=int, default=300)
    args = parser.parse_args()
    asked = Questions(load_agent("search").with_params(EASED["search"]), 40, 1)
    total = sum(asked.counts)
    views = [view[: max(1, len(view) * args.decisions // total)] for view in asked.views]
    times(views, {"worlds": 1})  # compiled, and warm
    for budget in args.milliseconds:
        whole = times(views, {"milliseconds": budget, "sure": NEVER_SURE})
        whole = whole[whole > budget / 2]  # the others had one choice only
        played = times(views, {"milliseconds": budget})
        print(
            f"{budget:g} ms: until the time is up {whole.mean():.2f} on average, half within "
            f"{np.quantile(whole, 0.25):.2f}..{np.quantile(whole, 0.75):.2f}, 95 % at most "
            f"{np.quantile(whole, 0.95):.2f} ({len(whole)} decisions); as it plays "
            f"{played.mean():.2f} on average, {100 * (played > budget).mean():.0f} % to the end"
        )
    rates = []
    for worlds in (100, 400):
        taken = times(views, {"worlds": worlds, "sure": NEVER_SURE})
        rates.append(f"{worlds} worlds in {np.median(taken):.2f} ms")
    print(f"half of the decisions: {', '.join(rates)}")


if __name__ == "__main__":
    main()
