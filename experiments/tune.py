"""An agent's parameters, set by playing against all others.

    python -m experiments.tune --agent learned --generations 60 --deals 1000 --seed 4

Looked for are the parameters with which an agent scores most points a hand, on average over
a pool of opponents: every fast agent of the ladder, itself with the parameters it begins
with among them.  The search is CMA-ES [1]_: each generation draws some sets of parameters
around the best so far, and moves there and changes the shape of what it draws by which of
them scored most.

* Every set of a generation plays the same mirrored deals, so that luck is shared; every
  generation plays deals of its own, so that nothing is learnt of single deals.
* A parameter is moved in steps of what it begins with; one that begins with nought in those
  of the parameter whose late part it is, or else of one half.
* What comes out is the mean of the last generation's distribution, not its luckiest draw.
* Then agents play every opponent, the agent as it began among them, on deals that the search
  never saw: the agent as it began, and with its parameters moved a quarter of the way, half,
  three quarters and all of it.  Who beats the weak by more may lose to a strong one, so the
  part is taken whose mean and least over the opponents are most in sum.
* That part plays all of them once more, on deals that played no part in choosing it.  That is
  the result, with intervals over deals.

References
----------
.. [1] N. Hansen, "The CMA Evolution Strategy: A Tutorial", 2016; package `cma`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from gin_sim import Agent, Rules, load_agent
from gin_sim.cli.common import Parser, experiment_parser, guarded, print_table, whole
from gin_sim.compiled import records
from gin_sim.errors import AgentError, PlayError
from gin_sim.folder import RunFolder, take_folder
from gin_sim.manifest import git_commit, versions
from gin_sim.play import DONE, ROW_DTYPE, Order, PlainPolicy, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.progress import note, progress
from gin_sim.scoring import rules_record
from gin_sim.stats import RatioSums
from gin_sim.workers import Workers

POOL = (
    *("easy", "medium", "hard", "simple", "greedy", "gin_only", "early_gin"),
    *("equilibrium", "improver", "bayes", "learned"),
)
"""Every agent of the ladder that is compiled and decides in microseconds."""

SCHEMA_VERSION = 1
STEP = 0.3
"""The first steps, as a share of what a parameter begins with."""

STEP_OF_NOUGHT = 0.5
CHECK_FACTOR = 50
"""The check plays so many times the deals of a generation."""

FAR, FARTHER = 1 << 40, 1 << 41
"""The deals of the choice, and of the result: after all those that any search can have seen."""

PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The parts of the way that are looked at."""


@dataclass(frozen=True)
class Study:
    """What is tuned, against whom, and for how long.

    Attributes
    ----------
    deals : int
        Mirrored deals against each opponent, for each set of parameters.
    """

    agent: Agent
    pool: tuple[Agent, ...]
    preset: str
    deals: int
    generations: int
    seed: int

    def command(self) -> str:
        """Return the command that does it again."""
        return (
            f"python -m experiments.tune --agent {self.agent.label} "
            f"--generations {self.generations} --deals {self.deals} --seed {self.seed} "
            f"--rules {self.preset} --pool {' '.join(one.label for one in self.pool)}"
        )

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the tables."""
        return {
            "schema": SCHEMA_VERSION,
            "kind": "tune",
            "command": self.command(),
            "seed": self.seed,
            "deals": self.deals,
            "generations": self.generations,
            "rules": Rules.preset(self.preset).as_dict(),
            "agents_sha256": {one.label: one.source_hash() for one in (self.agent, *self.pool)},
            "versions": versions(),
            "git_commit": git_commit(),
        }


def scales(params: dict[str, float]) -> NDArray[np.float64]:
    """Return the step of every parameter."""
    steps = []
    for name, value in params.items():
        partner = params.get(name.removesuffix("_late"), 0.0)
        steps.append(STEP * (abs(value) or abs(partner) or STEP_OF_NOUGHT))
    return np.array(steps)


def score(study: Study, one: PlainPolicy, other: PlainPolicy, first: int, deals: int) -> RatioSums:
    """Return the points of one policy against another on so many mirrored deals."""
    desk = new_desk(rules_record(Rules.preset(study.preset)))
    rows = records(2 * deals, ROW_DTYPE)
    status, done = play_hands(desk, Order(study.seed, first, deals, 0, 0), one, other, rows)
    if (status, done) != (DONE, 2 * deals):
        raise PlayError(f"an illegal card on deal {first + done // 2} of seed {study.seed}")
    sums = RatioSums()
    both = rows["points_a"].reshape(-1, 2).sum(axis=1)
    sums.add(both, np.full(deals, 2))
    return sums


def search(
    study: Study, workers: Workers, minutes: float | None = None
) -> tuple[NDArray[np.float64], pd.DataFrame]:
    """Return the parameters found, and a row for every generation.

    Parameters
    ----------
    minutes : float, optional
        No generation is begun after so long.
    """
    import cma  # noqa: PLC0415 - an extra

    policy = prepare(study.agent)
    pool = [prepare(one) for one in study.pool]
    begun = study.agent.param_values
    steps = scales(study.agent.params)
    options = {"seed": study.seed % (1 << 31) + 1, "verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(np.zeros(len(begun)), 1.0, options)
    told = []
    until = None if minutes is None else time.monotonic() + 60 * minutes

    def of(values: NDArray[np.float64], generation: int) -> float:
        first = generation * study.deals
        one = (*policy[:3], values)
        means = [score(study, one, other, first, study.deals).mean or 0.0 for other in pool]
        return float(np.mean(means))

    with Parallel(workers.jobs, backend="threading") as parallel, progress("generations") as say:
        for generation in range(study.generations):
            if until is not None and time.monotonic() > until:
                break
            drawn = [begun + steps * np.asarray(x) for x in strategy.ask()]
            tried = parallel(delayed(of)(values, generation) for values in [*drawn, begun])
            strategy.tell([(values - begun) / steps for values in drawn], [-x for x in tried[:-1]])
            told.append(
                {
                    "generation": generation,
                    "best": max(tried[:-1]),
                    "mean": float(np.mean(tried[:-1])),
                    "as_begun": tried[-1],
                    "sigma": float(strategy.sigma),
                }
            )
            say(generation + 1, study.generations, f"{told[-1]['mean']:+.3f} points a hand")
    found = begun + steps * np.asarray(strategy.result.xfavorite)
    return found, pd.DataFrame(told)


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return parameters as they are committed: three digits each."""
    return np.array([float(f"{value:.3g}") for value in values])


def check(
    study: Study, found: NDArray[np.float64], parts: Sequence[float], first: int, workers: Workers
) -> pd.DataFrame:
    """Return what parts of the way score on deals that the search never saw, from `first`."""
    policy = prepare(study.agent)
    others = {one.label: prepare(one) for one in study.pool}
    deals = CHECK_FACTOR * study.deals
    tasks = [
        (label, part, (*policy[:3], on_the_way(study, found, part)), other)
        for label, other in others.items()
        for part in parts
    ]

    def play(label: str, part: float, one: PlainPolicy, other: PlainPolicy) -> dict[str, Any]:
        sums = score(study, one, other, first, deals)
        low, high = sums.interval() or (math.nan, math.nan)
        told = {"opponent": label, "part": part, "deals": deals}
        return told | {"points_per_hand": sums.mean, "ci_low": low, "ci_high": high}

    rows = Parallel(workers.jobs, backend="threading")(delayed(play)(*task) for task in tasks)
    return pd.DataFrame(rows)


def on_the_way(study: Study, found: NDArray[np.float64], part: float) -> NDArray[np.float64]:
    """Return the parameters a part of the way from those that the agent began with."""
    begun = study.agent.param_values
    return begun if part == 0 else rounded(begun + part * (found - begun))


def choose(checked: pd.DataFrame) -> float:
    """Return the part of the way whose mean and least over the opponents are most in sum."""
    by_part = checked.groupby("part")["points_per_hand"].agg(["mean", "min"])
    return float(by_part.index.to_numpy()[np.argmax(by_part.sum(axis=1))])


def save(
    study: Study, folder: RunFolder, found: NDArray[np.float64], workers: Workers
) -> pd.DataFrame:
    """Choose the part of the way, and write it and what was measured; return the result."""
    parts = check(study, found, PARTS, FAR, workers)
    part = choose(parts)
    result = check(study, found, sorted({0.0, part}), FARTHER, workers)
    for name, values in (("found", rounded(found)), ("params", on_the_way(study, found, part))):
        params = dict(zip(study.agent.params, values.tolist(), strict=True))
        folder.write_text(f"{name}.json", json.dumps(params, indent=2) + "\n")
    for name, table in (("parts", parts), ("check", result)):
        folder.write_text(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    return result


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    agent = load_agent(args.agent)
    if not agent.compiled or not agent.params:
        raise AgentError(f"--agent {args.agent}: must be compiled and have parameters")
    names = args.pool or (POOL if args.agent in POOL else (*POOL, args.agent))
    pool = tuple(load_agent(name) for name in names)
    Rules.preset(args.rules)  # refused now, not after the search
    study = Study(agent, pool, args.rules, args.deals, args.generations, args.seed)
    workers = Workers.choose(args.jobs, "threads")
    folder = take_folder(args.out, "tune", study.manifest())
    note(f"{len(agent.params)} parameters, seed {study.seed}, results in {folder.path}")
    values, generations = search(study, workers, args.minutes)
    # What does it again is so many generations, not so many minutes.
    study = dataclasses.replace(study, generations=len(generations))
    folder.write_text("generations.csv", generations.to_csv(index=False, lineterminator="\n"))
    checked = save(study, folder, values, workers)
    shown = [
        [
            row["opponent"],
            f"{100 * row['part']:.0f} %",
            f"{row['points_per_hand']:+.3f}",
            f"{row['ci_low']:+.3f}..{row['ci_high']:+.3f}",
        ]
        for row in checked.to_dict("records")
    ]
    print_table("", ["opponent", "of the way", "points a hand", "95 %"], shown)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {study.command()}")  # noqa: T201


def build_parser() -> Parser:
    """Return the parser."""
    parser = experiment_parser(
        "tune",
        "Set an agent's parameters by playing against a pool of opponents.",
        deals=1000,
        most_deals=1_000_000,
        seed=4,
    )
    parser.set_defaults(run=run, rules="eaai")
    parser.add_argument("--agent", metavar="AGENT", default="learned", help="default: learned")
    parser.add_argument("--generations", metavar="N", type=whole(1, 100_000), default=60)
    parser.add_argument(
        "--minutes", metavar="M", type=float, help="begin no generation after so long"
    )
    parser.add_argument(
        "--pool", metavar="AGENT", nargs="+", help="default: all fast agents, and itself"
    )
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
