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
  others in hands against the agents of the pool, each as many.  Both seats are played.
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
from typing import Any

import numba
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from experiments.tune import POOL, rounded
from gin_sim import Rules, load_agent
from gin_sim.bits import lowest
from gin_sim.chance import deal_key, next_word
from gin_sim.cli.common import Parser, experiment_parser, guarded, print_table, whole
from gin_sim.compiled import JIT_DISABLED, kernel, once, records
from gin_sim.errors import AgentError
from gin_sim.features import about_take, about_throw, gin_says, knock_after
from gin_sim.folder import take_folder
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.manifest import git_commit, versions
from gin_sim.play import POLICY_TYPE, STATES_TYPE, PlainPolicy, as_policy, play_until, points_for
from gin_sim.playouts import act
from gin_sim.policy import prepare
from gin_sim.progress import note, progress
from gin_sim.registry import Agent
from gin_sim.scoring import RULES_DTYPE, rules_record
from gin_sim.show import fill_view
from gin_sim.state import deal, decide_discard
from gin_sim.tournament import play_tournament
from gin_sim.view import DISCARD, DRAW, KNOCK, OVER, UPCARD
from gin_sim.wide_features import (
    N_WIDE,
    WIDE_KNOCKS,
    WIDE_NAMES,
    WIDE_TAKES,
    knock_later,
    knock_score,
    take_score,
    throw_later,
    throw_score,
)
from gin_sim.workers import Workers

SCHEMA_VERSION = 1
BEGIN = Path(__file__).resolve().parent.parent / "results" / "tune" / "params.json"

THROWS, TAKES, KNOCKS = range(3)
CHOICES = ("throw", "take", "knock")
FIRST = (0, WIDE_TAKES, WIDE_KNOCKS, N_WIDE)
"""Where the weights of each choice begin, and where the last ends."""

OPEN = (25.0, 25.0, 40.0)
"""Forked are leads up to these, in units of the score."""

NEAR = 10.0
"""A fork counts the less, by a factor e, for so much of a lead."""

SPREAD = 6.0
"""So much worse, a throw is drawn by a factor e less often as the other one."""

FORKED = 0.6
"""The share of open choices that are forked."""

WAITS = 0.3
PRIOR = 10_000
BLOCK = 1 << 36
"""The deals of a task: more than it can need."""


# --- forks, compiled -----------------------------------------------------------------


@kernel
def write(counted: Any, row: Any, first: int, sign: float) -> int:
    """Add what was counted to a row from a place on; return the place after it."""
    for i in range(len(counted)):
        row[first + i] += sign * counted[i]
    return first + len(counted)


@kernel
def write_throw(view: Any, card: int, row: Any, sign: float) -> None:
    """Add what is counted about a throw to a row."""
    about = about_throw(view, card)
    write(throw_later(view, about), row, write(about, row, 0, sign), sign)


@kernel
def chance_of(word: int) -> float:
    """Return a random word as a number from 0 to below 1."""
    return float(word) / 2.0**63


@kernel
def two_throws(view: Any, weights: Any, dice: float) -> tuple[int, int, float]:
    """Return the best throw, another that is drawn, and the lead; -1 if there is none."""
    cards, scores = np.empty(11, np.int64), np.empty(11)
    left = view.legal_discards
    n = best = 0
    while left:
        cards[n] = lowest(left)
        left &= left - 1
        scores[n] = throw_score(view, cards[n], weights)
        if scores[n] > scores[best]:
            best = n
        n += 1
    total = 0.0
    for i in range(n):
        total += np.exp((scores[i] - scores[best]) / SPREAD) if i != best else 0.0
    dice *= total
    other = -1
    for i in range(n):
        if i != best:
            other = i
            dice -= np.exp((scores[i] - scores[best]) / SPREAD)
            if dice < 0:
                break
    if other < 0:
        return cards[best], -1, 0.0
    return cards[best], cards[other], scores[best] - scores[other]


@kernel
def is_due(view: Any, choice: int) -> bool:
    """Return whether a choice is to be made, and not one that gin makes by itself."""
    if choice == THROWS:
        return bool(view.phase == DISCARD and view.deadwood > 0)
    if choice == KNOCKS:
        return bool(view.phase == KNOCK and view.deadwood > 0)
    return (view.phase == DRAW or view.phase == UPCARD) and gin_says(view) == 0


@kernel
def act_as_said(state: Any, rules: Any, said: int) -> None:
    """Do what was said; a throw alone is no knock yet."""
    if state.phase == DISCARD:
        decide_discard(state, rules, said)
    else:
        act(state, rules, said)


@kernel
def fork_choices(
    states: Any,
    rules: Any,
    seed: int,
    first_deal: int,
    choice: int,
    agent: PlainPolicy,
    other: PlainPolicy,
    rows: Any,
    leads: Any,
    gains: Any,
) -> None:
    """Play hands and fork choices of an agent in them, until the tables are full.

    Parameters
    ----------
    states : (2,) array of STATE_DTYPE
        To work in.
    choice : int
        `THROWS`, `TAKES` or `KNOCKS`.
    agent, other : policy
        They change seats from deal to deal.
    rows : (n, N_WIDE) array of float, zeroed
        Written: what is counted about the first answer less what is about the second.
    leads, gains : (n,) arrays of float
        Written: the first answer's lead, and the points that it gained.
    """
    state, branch, rule = states[0], states[1], rules[0]
    own, opponent = as_policy(agent), as_policy(other)
    weights = own.params
    word = next_word(seed ^ first_deal)  # a stream of its own, whatever the cards
    n = 0
    number = first_deal
    while n < gains.shape[0]:
        state.deal = number
        state.mirror = 0
        state.dealer = 1
        state.scores[0] = 0
        state.scores[1] = 0
        deal(state, rule, deal_key(seed, number))
        me = number & 1
        non_dealer, dealer = (own, opponent) if me == 0 else (opponent, own)
        number += 1
        while state.phase != OVER and n < gains.shape[0]:
            mover = non_dealer if state.seat == 0 else dealer
            view = state.views[state.seat]
            fill_view(state, view)
            if state.phase == DISCARD:
                said = mover.discard(view, mover.params)
            elif state.phase == KNOCK:
                said = 1 if mover.knock(view, mover.params) else 0
            else:
                said = 1 if mover.draw(view, mover.params) else 0
            if state.seat == me and is_due(view, choice):
                one, two, lead = 1, 0, 0.0
                row = rows[n]
                word = next_word(word)
                if choice == THROWS:
                    one, two, lead = two_throws(view, weights, chance_of(word))
                elif choice == TAKES:
                    lead = take_score(view, weights)
                else:
                    lead = knock_score(view, view.candidate, weights)
                word = next_word(word)
                if two >= 0 and abs(lead) < OPEN[choice] and chance_of(word) < FORKED:
                    if choice == THROWS:
                        write_throw(view, one, row, 1.0)
                        write_throw(view, two, row, -1.0)
                    elif choice == TAKES:
                        write(about_take(view), row, WIDE_TAKES, 1.0)
                    else:
                        about = knock_after(view, view.candidate)
                        place = write(about, row, WIDE_KNOCKS, 1.0)
                        write(knock_later(view, about), row, place, 1.0)
                    leads[n] = lead
                    for answer in (one, two):
                        states[1] = states[0]
                        act(branch, rule, answer)
                        play_until(branch, rule, OVER, non_dealer, dealer)
                        points = points_for(branch, me)
                        gains[n] += points if answer == one else -points
                    n += 1
                if choice == KNOCKS:
                    word = next_word(word)
                    if chance_of(word) < WAITS:
                        said = 0
            act_as_said(state, rule, said)


@once
def compile_forks() -> None:
    """Compile the loop for all agents."""
    if not JIT_DISABLED:
        loop: Any = fork_choices
        rules = numba.from_dtype(RULES_DTYPE)[::1]
        numbers = numba.float64[::1]
        asked = (*[numba.int64] * 3, POLICY_TYPE, POLICY_TYPE)
        loop.compile((STATES_TYPE, rules, *asked, numba.float64[:, ::1], numbers, numbers))
        loop.disable_compile()


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


@dataclass(frozen=True)
class Forks:
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
        rows, leads, gains = np.zeros((n, N_WIDE)), np.zeros(n), np.zeros(n)
        rules = rules_record(Rules.preset(study.preset))
        where = (study.seed, task * BLOCK, choice)
        fork_choices(records(2, STATE_DTYPE), rules, *where, agent, other, rows, leads, gains)
        return Forks(rows[:, FIRST[choice] : FIRST[choice + 1]], leads, gains)

    # The hands against itself are most of them: cut in two, so that two can play them.
    half = opponents[0][1] // 2
    opponents = [(agent, half), (agent, opponents[0][1] - half), *opponents[1:]]
    some = parallel(delayed(fork)(i, other, n) for i, (other, n) in enumerate(opponents) if n)
    return Forks(*(np.concatenate(parts) for parts in zip(*map(_parts, some), strict=True)))


def _parts(forks: Forks) -> tuple[NDArray[np.float64], ...]:
    return forks.rows, forks.leads, forks.gains


def better(weights: NDArray[np.float64], forks: Forks) -> tuple[NDArray[np.float64], float]:
    """Return the weights of a choice after one round, and what a unit of the lead gains.

    First the leads are made into points, by one factor; then all weights are changed so
    that the squares of what is left are least, forks of small leads counting most.  So many
    more forks as `PRIOR` are thought to have shown that there is nothing to change.
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


def check(study: Study, agent: Agent) -> pd.DataFrame:
    """Return what an agent scores against the pool and the one before, on fresh deals."""
    against = [*study.pool, study.agent]
    played = play_tournament(
        [agent, *against],
        format="gauntlet",
        hands=2 * study.deals,
        seed=study.seed + 1,
        rules=study.preset,
        keep_hands=False,
    ).summary
    found = played[["points_per_hand", "ci_low", "ci_high"]].copy()
    found.insert(0, "opponent", [*(one.label for one in study.pool), "as it began"])
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
    before, after = (check(study, one) for one in (agent, with_weights(agent, weights)))
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
