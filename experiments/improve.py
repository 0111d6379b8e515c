"""An agent's weights, improved by playing both ways of its choices on.

    python -m experiments.improve --rounds 4 --forks 800000 --seed 7

A choice between two answers (two throws; to take the upcard or not; to knock or not) has a
lead: the weighted sum of what is counted about the one, less that of the other.  Here such
choices are played on in both ways, with the same hidden cards and the agent in both, and the
points gained by the first answer are set beside what was counted.  A regression says by how
much each weight should be larger or smaller for the lead to be nearest to what was gained;
that is the next round's player.  It is policy iteration [1]_ with the values of play-outs.

* What is forked: of the throws the best and one other, drawn by how near it is; of take and
  knock the two answers.  Only where the lead is small, and the nearer to nought the more a
  fork counts in the regression: there the choice is open.
* Half of the forks (``--itself``) are in hands against itself as it is in that round, the
  others in hands against the agents of the pool, each as many; one that is named three
  times, three times as many.  Both seats are played.
* After a choice to knock the agent waits three times of ten, so that later choices are seen.
* The weights of the last round are the result, with three digits.  Before and after, the
  agent plays every agent of the pool, and the one before, on deals that no round saw.

It begins with the weights that ``experiments/tune.py`` found; what is counted now and was
not counted there (:mod:`gin_sim.wide_features`) begins with nought.

References
----------
.. [1] M. Lagoudakis and R. Parr, "Reinforcement Learning as Classification: Leveraging
   Modern Classifiers", ICML 2003: policy iteration with rollouts.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from experiments.tune import POOL, rounded
from gin_sim import Rules, load_agent
from gin_sim.choices import BLOCK, CHOICES, FIRST, NEAR, compile_forks, fork_choices
from gin_sim.cli.common import Parser, experiment_parser, guarded, print_table, whole
from gin_sim.compiled import records
from gin_sim.errors import AgentError, PlayError
from gin_sim.folder import take_folder
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.manifest import git_commit, versions
from gin_sim.play import DONE, PlainPolicy
from gin_sim.policy import prepare
from gin_sim.progress import note, progress
from gin_sim.registry import Agent
from gin_sim.scoring import rules_record
from gin_sim.tournament import play_tournament
from gin_sim.wide_features import WIDE_NAMES
from gin_sim.workers import Workers

SCHEMA_VERSION = 1
BEGIN = Path(__file__).resolve().parent.parent / "results" / "tune" / "params.json"

PRIOR = 10_000
"""So many more forks are thought to have shown that there is nothing to change."""


# --- rounds --------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """What is improved, against whom, and from how many forks.

    Attributes
    ----------
    agent : Agent
        Of the weights of :mod:`gin_sim.wide_features`, as it begins.
    forks : int
        Of each choice, in each round.
    itself : float
        The share of them in hands against itself.
    deals : int
        Mirrored deals against each opponent, before and after.
    """

    agent: Agent
    pool: tuple[Agent, ...]
    preset: str
    rounds: int
    forks: int
    itself: float
    deals: int
    seed: int
    begin: str

    def command(self) -> str:
        """Return the command that does it again."""
        return (
            f"python -m experiments.improve --rounds {self.rounds} --forks {self.forks} "
            f"--itself {self.itself:g} --deals {self.deals} --seed {self.seed} "
            f"--rules {self.preset} --begin {self.begin} "
            f"--pool {' '.join(one.label for one in self.pool)}"
        )

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the tables."""
        return {
            "schema": SCHEMA_VERSION,
            "kind": "improve",
            "command": self.command(),
            "seeds": {"forks": self.seed, "check": self.seed + 1},
            "rules": Rules.preset(self.preset).as_dict(),
            "begin": self.agent.params,
            "agents_sha256": {one.label: one.source_hash() for one in self.pool},
            "versions": versions(),
            "git_commit": git_commit(),
        }


class Forks(NamedTuple):
    """Forks of one choice: what was counted, how far the first led, what it gained."""

    rows: NDArray[np.float64]
    leads: NDArray[np.float64]
    gains: NDArray[np.float64]


def with_weights(agent: Agent, weights: NDArray[np.float64]) -> Agent:
    """Return an agent with other weights."""
    return agent.with_params(dict(zip(WIDE_NAMES, weights.tolist(), strict=True)))


def gather(
    study: Study, weights: NDArray[np.float64], choice: int, round_: int, parallel: Parallel
) -> Forks:
    """Return the forks of one choice, in hands against itself and against the pool."""
    compile_forks()
    agent = prepare(with_weights(study.agent, weights))
    of_pool = round((1 - study.itself) * study.forks / len(study.pool))
    opponents = [(agent, study.forks - of_pool * len(study.pool))]
    opponents += [(prepare(one), of_pool) for one in study.pool]

    def fork(number: int, other: PlainPolicy, n: int) -> Forks:
        task = (round_ * len(CHOICES) + choice) * len(opponents) + number
        rows, leads, gains = np.zeros((n, FIRST[choice + 1] - FIRST[choice])), *np.zeros((2, n))
        states, rules = records(2, STATE_DTYPE), rules_record(Rules.preset(study.preset))
        where = (study.seed, task * BLOCK, choice)
        if fork_choices(states, rules, *where, agent, other, rows, leads, gains) != DONE:
            deal = int(states[0]["deal"])
            raise PlayError(f"an illegal card on deal {deal} of seed {study.seed}")
        return Forks(rows, leads, gains)

    # The hands against itself are most of them: cut in two, so that two can play them.
    half = opponents[0][1] // 2
    opponents = [(agent, half), (agent, opponents[0][1] - half), *opponents[1:]]
    some = parallel(delayed(fork)(i, other, n) for i, (other, n) in enumerate(opponents) if n)
    return Forks(*(np.concatenate(parts) for parts in zip(*some, strict=True)))


def better(weights: NDArray[np.float64], forks: Forks) -> tuple[NDArray[np.float64], float]:
    """Return the weights of a choice after one round, and what a unit of the lead gains.

    First the leads are made into points, by one factor; then all weights are changed so
    that the squares of what is left are least, forks of small leads counting most.
    """
    counts = np.exp(-np.abs(forks.leads) / NEAR)
    along = counts * forks.leads
    unit = float(along @ forks.gains / (along @ forks.leads))
    left = forks.gains - unit * forks.leads
    weighted = forks.rows * counts[:, None]
    squares = weighted.T @ forks.rows
    squares += PRIOR * np.diag(np.mean(forks.rows**2, axis=0))
    change = np.linalg.lstsq(squares, weighted.T @ left, rcond=None)[0]
    return weights + change / unit, unit


def improve(study: Study, workers: Workers) -> tuple[NDArray[np.float64], pd.DataFrame]:
    """Return the weights of the last round, and a row for each round and choice.

    Returns
    -------
    weights : (N_WIDE,) array of float
    rounds : DataFrame
        ``round``, ``choice``, ``forks``; ``unit``: points that a unit of the lead gained;
        ``changed``: the share of forks whose answer is another one after the round.
    """
    weights = study.agent.param_values.copy()
    told = []
    with Parallel(workers.jobs, backend="threading") as parallel, progress("choices") as say:
        for round_ in range(study.rounds):
            new = weights.copy()
            for choice, name in enumerate(CHOICES):
                own = slice(FIRST[choice], FIRST[choice + 1])
                forks = gather(study, weights, choice, round_, parallel)
                new[own], unit = better(weights[own], forks)
                changed = float(np.mean((forks.rows @ new[own] > 0) != (forks.leads > 0)))
                row = {"round": round_ + 1, "choice": name, "forks": len(forks.leads)}
                told.append(row | {"unit": unit, "changed": changed})
                say(len(told), study.rounds * len(CHOICES))
            weights = new
    return rounded(weights), pd.DataFrame(told)


def check(study: Study, agent: Agent, workers: Workers) -> pd.DataFrame:
    """Return what an agent scores against the pool and the one before, on fresh deals."""
    pool = {one.label: one for one in study.pool}
    against = [*pool.values(), study.agent]
    played = play_tournament(
        [agent, *against],
        format="gauntlet",
        hands=2 * study.deals,
        seed=study.seed + 1,
        rules=study.preset,
        jobs=workers.jobs,
        keep_hands=False,
    ).summary
    found = played[["points_per_hand", "ci_low", "ci_high"]].copy()
    found.insert(0, "opponent", [*pool, "as it began"])
    found.insert(1, "deals", study.deals)
    return found


# --- the command line ----------------------------------------------------------------


def begin_with(path: str) -> Agent:
    """Return the agent `tuned` with the weights of a file, and nought for those not there.

    Raises
    ------
    AgentError
        For a file that does not hold such weights.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AgentError(f"--begin {path}: {error}; it takes a JSON file of weights") from error
    if not isinstance(found, dict) or not found or set(found) - set(WIDE_NAMES):
        raise AgentError(f"--begin {path}: must hold weights by name, as results/tune/params.json")
    return load_agent("tuned").with_params(dict.fromkeys(WIDE_NAMES, 0.0) | found)


def share(text: str) -> float:
    """Return a number from 0 to 1, as argparse types do."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not '{text}'")
    return value


def in_words(row: Any) -> str:
    """Return points a hand and half of their interval as text."""
    return f"{row.points_per_hand:+.2f} ± {(row.ci_high - row.ci_low) / 2:.2f}"


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    agent = begin_with(args.begin)
    pool = tuple(load_agent(name) for name in args.pool)
    for one in pool:
        if not one.compiled:
            raise AgentError(f"--pool: agent '{one.label}' is plain Python; must be compiled")
    Rules.preset(args.rules)  # refused now, not after the rounds
    shown = Path(args.begin).resolve()
    home = BEGIN.parent.parent.parent
    begin = str(shown.relative_to(home) if shown.is_relative_to(home) else shown)
    sizes = (args.rounds, args.forks, args.itself, args.deals, args.seed)
    study = Study(agent, pool, args.rules, *sizes, begin)
    workers = Workers.choose(args.jobs, "threads")
    folder = take_folder(args.out, "improve", study.manifest())
    note(f"{args.rounds} rounds, seed {args.seed}, results in {folder.path}")
    weights, rounds = improve(study, workers)
    params = dict(zip(WIDE_NAMES, weights.tolist(), strict=True))
    folder.write_text("params.json", json.dumps(params, indent=2) + "\n")
    before, after = (check(study, one, workers) for one in (agent, with_weights(agent, weights)))
    for name, table in (("rounds", rounds), ("before", before), ("after", after)):
        folder.write_text(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    both = zip(before.itertuples(), after.itertuples(), strict=True)
    lines = [[str(new.opponent), in_words(old), in_words(new)] for old, new in both]
    print_table("points a hand, 95 %", ["against", "before", "after"], lines)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {study.command()}")  # noqa: T201


def build_parser() -> Parser:
    """Return the parser."""
    parser = experiment_parser(
        "improve",
        "Improve an agent's weights by playing both ways of its choices on.",
        deals=25_000,
        most_deals=10_000_000,
        seed=7,
    )
    parser.set_defaults(run=run, rules="eaai")
    parser.add_argument("--rounds", metavar="N", type=whole(1, 1000), default=4)
    parser.add_argument(
        "--forks",
        metavar="N",
        type=whole(10, 100_000_000),
        default=800_000,
        help="of each choice in each round (default 800,000)",
    )
    parser.add_argument(
        "--itself",
        metavar="SHARE",
        type=share,
        default=0.5,
        help="of the forks, in hands against itself (default 0.5)",
    )
    parser.add_argument("--begin", metavar="FILE", default=str(BEGIN), help="the first weights")
    parser.add_argument("--pool", metavar="AGENT", nargs="+", default=POOL)
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
