"""When does knocking at the first chance pay?  The published tip says: from 23 cards on.

    python -m experiments.knock_timing --deals 400000 --seed 5 --jobs 2 --out DIR

The question, as it was defined before it was run
-------------------------------------------------
A *first chance* is the first moment of a hand at which either player, having drawn, may
legally knock with a deadwood of 1 to 10 after its discard (gin is no choice and ends the
hand).  ``stock_left`` is counted then, after the draw: 31 after the deal, 30 after the
non-dealer's first draw from the stock.  There the hand is forked, with the same hands,
the same order of the stock and the same random streams:

* *knock*: the player knocks at once; lay-offs are exact;
* *wait*: the player throws the same discard without knocking, and the hand is played out
  by the continuation below against the opponent below.

The effect is knock minus wait in points of the hand for that player.  There is one fork
a deal.  The break-even is the smallest ``stock_left`` from which the effect is positive,
there and at every larger count.

==========  ==================================================  ==========================
definition  continuation after waiting                          opponent
==========  ==================================================  ==========================
D1          knocks at the next legal chance                     knocks as soon as it may
D2          knocks later only at 5 or less                      as soon as it may
D3          gin only                                            as soon as it may
D4          gin only                                            gin only
D5          knocks iff stock_left >= T, else gin only: best T   gin only; as soon as it may
D6          as D5                                               a player with T = 23
==========  ==================================================  ==========================

D5 and D6 compare whole policies on mirrored deals: they give the best T and the T's that
its error does not exclude (paired differences on the same deals, Bonferroni over the
T's).  The rules are ``poozee``.  Base players are `simple` and `greedy`.  D1 with `simple`
is also run with other bonuses (20/10 and 25 for each hand won), with ties that are no
undercut, under Oklahoma rules, with the card taken from the pile allowed to go back, and
with another way to discard; and is counted by the stock before the draw, by seat, by
deadwood and by turn.

A definition *reproduces* the tip if its break-even (best T) is 23, *allows* it if 23 is
in its 95 % interval (among the T's not excluded), and does *not* otherwise.

D1 with `simple` gets all the deals, every other definition a quarter of them.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim import records
from gin_sim.checks import MAX_JOBS, MAX_SEED, MAX_UNITS
from gin_sim.cli.common import Parser, guarded, print_table, whole
from gin_sim.effects import NEVER, VIEWS, BreakEven, ForkCounts, find_break_even
from gin_sim.errors import GinSimError
from gin_sim.forks import ForkPiece, ForkPlan, play_forks
from gin_sim.progress import Reporter, note, progress
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import Rules
from gin_sim.stats import CONFIDENCE
from gin_sim.workers import Workers, ctrl_c_put_off

if TYPE_CHECKING:
    import pandas as pd

TIP = 23
PLAYERS = ("simple", "greedy")
OTHERS_SHARE = 4
THRESHOLDS = tuple(range(2, 33))
"""The T's of D5 and D6: 2 knocks always, 32 never with deadwood."""


@dataclass(frozen=True)
class Definition:
    """A definition by forks.

    Attributes
    ----------
    name : str
        As in the files.
    line : int
        Points that a hand won is worth beside its own.
    """

    name: str
    player: str
    plan: ForkPlan
    deals: int
    continuation: str
    opponent: str
    rules: str
    line: int = 0


@dataclass(frozen=True)
class ThresholdDefinition:
    """A definition by whole policies: every T against one opponent."""

    name: str
    player: str
    plans: tuple[ForkPlan, ForkPlan]
    opponent: str


@dataclass
class Study:
    """Everything that is to be run, fixed by the command line."""

    deals: int
    seed: int
    rules: Rules
    preset: str
    players: tuple[Agent, ...]
    only: tuple[str, ...]
    forks: list[Definition] = field(default_factory=list)
    thresholds: list[ThresholdDefinition] = field(default_factory=list)

    @property
    def other_deals(self) -> int:
        """Deals of the definitions other than D1 with the first player."""
        return max(1, self.deals // OTHERS_SHARE)

    def command(self) -> str:
        """Return the command that makes the result again."""
        words = [f"python -m experiments.knock_timing --deals {self.deals} --seed {self.seed}"]
        if self.preset != "poozee":
            words.append(f"--rules {self.preset}")
        specs = [agent.label_with_place for agent in self.players]
        if specs != list(PLAYERS):
            words.append(f"--players {shlex.join(specs)}")
        if self.only:
            words.append(f"--only {' '.join(self.only)}")
        return " ".join(words)

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the tables."""
        agents = {agent.label: agent.source_hash() for agent in self.players}
        return {
            "schema": records.SCHEMA_VERSION,
            "kind": "knock_timing",
            "command": self.command(),
            "seed": self.seed,
            "deals": self.deals_of(),
            "rules": self.rules.as_dict(),
            "players": [agent.label for agent in self.players],
            "agents_sha256": agents,
            "versions": records.versions(),
            "git_commit": records.git_commit(),
        }

    def deals_of(self) -> dict[str, int]:
        """Return how many deals each definition gets, by name."""
        of_forks = {one.name: one.deals for one in self.forks}
        return of_forks | {one.name: self.other_deals for one in self.thresholds}


def _named(name: str, player: Agent, players: Sequence[Agent]) -> str:
    return name if player is players[0] else f"{name}-{player.label}"


def _with(agent: Agent, changes: Mapping[str, float]) -> Agent:
    return agent.with_params(changes) if changes else agent


def make_study(
    deals: int,
    seed: int,
    preset: str = "poozee",
    players: Sequence[str] = PLAYERS,
    only: Sequence[str] = (),
) -> Study:
    """Return all definitions, or the ones that are named.

    Raises
    ------
    GinSimError
        For a definition that there is none.
    """
    rules = Rules.preset(preset)
    bases = tuple(load_agent(name) for name in players)
    labels = [agent.label for agent in bases]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise GinSimError(f"--players: '{twice[0]}' is there twice")
    study = Study(deals, seed, rules, preset, bases, tuple(only))
    soon, gin = "as soon as it may", "gin only"
    continuations: tuple[tuple[str, dict[str, float], dict[str, float], str, str], ...] = (
        ("D1", {}, {}, "at the next legal chance", soon),
        ("D2", {"knock_most": 5}, {}, "later only at 5 or less", soon),
        ("D3", {"knock_most": 0}, {}, gin, soon),
        ("D4", {"knock_most": 0}, {"knock_most": 0}, gin, gin),
    )
    for player in bases:
        for name, later, other, words, against in continuations:
            branches = (_with(player, later), _with(player, other))
            plan = ForkPlan.of(player, *branches, rules=rules, seed=seed)
            first = name == "D1" and player is bases[0]
            study.forks.append(
                Definition(
                    _named(name, player, bases),
                    player.label,
                    plan,
                    deals if first else study.other_deals,
                    words,
                    against,
                    preset,
                )
            )
        policies: tuple[tuple[str, dict[str, float], str], ...] = (
            ("D5", {"knock_most": 0}, gin),
            ("D5", {}, soon),
            ("D6", {"knock_stock": TIP}, f"knocks iff stock_left >= {TIP}"),
        )
        for name, other, against in policies:
            plans = tuple(
                ForkPlan.of(
                    *(player, player.with_params({"knock_most": 0}), _with(player, other)),
                    rules=rules,
                    seed=seed,
                    asked=seat,
                )
                for seat in (0, 1)
            )
            study.thresholds.append(
                ThresholdDefinition(
                    _named(name, player, bases), player.label, (plans[0], plans[1]), against
                )
            )
    study.forks.extend(_sensitivities(study))
    if only:
        known = study.deals_of()
        for name in only:
            if name not in known:
                raise GinSimError(f"--only {name}: there are: {', '.join(known)}")
        study.forks = [one for one in study.forks if one.name in only]
        study.thresholds = [one for one in study.thresholds if one.name in only]
    return study


def _sensitivities(study: Study) -> Iterator[Definition]:
    """Yield D1 under other rules and with another discard."""
    player = study.players[0]
    other = load_agent(next(name for name in ("greedy", "simple") if name != player.name))
    mixed = dataclasses.replace(player, discard=other.discard, spec="")
    changes: tuple[tuple[str, dict[str, Any], int, Agent, str], ...] = (
        ("bonuses-20-10", {"gin_bonus": 20, "undercut_bonus": 10}, 25, player, ", 25 a hand won"),
        ("tie-no-undercut", {"undercut_on_tie": False}, 0, player, ""),
        ("oklahoma", {"oklahoma": True}, 0, player, ""),
        ("throw-back", {"may_throw_taken": True}, 0, player, ""),
        (f"discards-as-{other.name}", {}, 0, mixed, f", discards as {other.name}"),
    )
    for name, change, line, agent, words in changes:
        rules = dataclasses.replace(study.rules, **change)
        told = "".join(f", {key}={value}" for key, value in change.items())
        yield Definition(
            f"D1-{name}",
            player.label,
            ForkPlan.of(agent, rules=rules, seed=study.seed),
            study.other_deals,
            "at the next legal chance",
            "as soon as it may",
            f"{study.preset}{told}{words}",
            line,
        )


# --- running -------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A piece of a definition by forks, as it travels to a worker."""

    place: int
    line: int
    piece: ForkPiece


@dataclass(frozen=True)
class PolicyTask:
    """A range of deals of a definition by policies: forks asked of each seat.

    A player that knocks iff stock_left >= T knocks at its first chance or, since the
    stock only shrinks, goes for gin to the end.  So the two branches at its first chance
    are all that any T can come to.
    """

    place: int
    pieces: tuple[ForkPiece, ForkPiece]


@dataclass
class PolicySums:
    """Points of each T over mirrored deals, and their products: all that pairs need.

    Attributes
    ----------
    points : (T,) array of int64
    products : (T, T) array of int64
    """

    n: int = 0
    points: Any = 0
    products: Any = 0

    def add(self, other: PolicySums) -> None:
        """Add other deals."""
        self.n += other.n
        self.points = self.points + other.points
        self.products = self.products + other.products


def _play(task: Task | PolicyTask) -> tuple[int, int, ForkCounts | PolicySums]:
    """Do a worker's work: return where it belongs, how many deals, and what came of it."""
    if isinstance(task, Task):
        count = task.piece.count
        return task.place, count, ForkCounts.of(count, play_forks(task.piece), task.line)
    both = [play_forks(piece) for piece in task.pieces]
    count = task.pieces[0].count
    points = np.zeros((len(THRESHOLDS), count), np.int64)
    for rows in both:
        knocks = rows["stock_left"] >= np.array(THRESHOLDS)[:, None]
        points += np.where(knocks, rows["knock_points"], rows["wait_points"])
    return task.place, count, PolicySums(count, points.sum(axis=1), points @ points.T)


def _tasks(study: Study) -> Iterator[Task | PolicyTask]:
    for place, one in enumerate(study.forks):
        for piece in one.plan.pieces(one.deals):
            yield Task(place, one.line, piece)
    for place, policy in enumerate(study.thresholds):
        first, second = (plan.pieces(study.other_deals) for plan in policy.plans)
        for pair in zip(first, second, strict=True):
            yield PolicyTask(place, pair)


def run_study(
    study: Study, workers: Workers, report: Reporter | None = None
) -> tuple[list[ForkCounts], list[PolicySums]]:
    """Play all deals; return the counts of each definition by forks, the sums of the others."""
    with ctrl_c_put_off():
        for one in study.forks:
            one.plan.prepare()
        for policy in study.thresholds:
            for plan in policy.plans:
                plan.prepare()
    counts = [ForkCounts() for _ in study.forks]
    policies = [PolicySums() for _ in study.thresholds]
    total = sum(one.deals for one in study.forks) + study.other_deals * len(policies)
    done = 0
    with closing(workers.run(_play, _tasks(study))) as finished:
        for place, n, found in finished:
            if isinstance(found, ForkCounts):
                counts[place].add(found)
            else:
                policies[place].add(found)
            done += n
            if report is not None:
                report(done, total)
    return counts, policies


# --- tables --------------------------------------------------------------------------


def effects_table(study: Study, counts: Sequence[ForkCounts]) -> pd.DataFrame:
    """Return ``knock_timing.csv``: the effect by stock_left for each definition by forks."""
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    frames = []
    for one, counted in zip(study.forks, counts, strict=True):
        frame = counted.effects()
        frame.insert(0, "definition", one.name)
        frame["player"] = one.player
        frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else ForkCounts().effects()


def verdict(at: float, low: float, high: float) -> str:
    """Say whether a break-even (or best T) reproduces the tip."""
    if math.isnan(at):
        return "no data"
    if at == TIP:
        return "reproduced"
    return "allowed" if low <= TIP <= high else "not reproduced"


def break_even_table(
    study: Study, counts: Sequence[ForkCounts], thresholds: pd.DataFrame
) -> pd.DataFrame:
    """Return ``break_even.csv``: where knocking begins to pay, for each definition."""
    import pandas as pd  # noqa: PLC0415

    rows = []
    for i, (one, counted) in enumerate(zip(study.forks, counts, strict=True)):
        for view, name in enumerate(VIEWS):
            if view > 0 and not (i == 0 and one.name == "D1"):
                continue
            label = one.name if view == 0 else f"{one.name}-{name.replace(' ', '-')}"
            found = find_break_even(counted.differences[view], seed=study.seed)
            rows.append(_fork_row(one, label, found, counted.deals, counted.differences[view]))
    for policy in study.thresholds:
        some = thresholds[
            (thresholds["definition"] == policy.name) & (thresholds["opponent"] == policy.opponent)
        ]
        best, low, high = math.nan, math.nan, math.nan
        if len(some):
            best = float(some["T"].to_numpy()[some["points"].to_numpy().argmax()])
            left = some["T"].to_numpy()[~some["excluded"].to_numpy(bool)]
            low, high = float(left.min()), float(left.max())
            if (low, high) == (THRESHOLDS[0], THRESHOLDS[-1]):
                best, low, high = math.nan, math.nan, math.nan  # nothing tells any T apart
        rows.append(
            {
                "definition": policy.name,
                "player": policy.player,
                "opponent": policy.opponent,
                "continuation": "knocks iff stock_left >= T, else gin only",
                "rules": study.preset,
                "deals": int(some["n"].max()) if len(some) else 0,
                "forks": 0,
                "break_even": best,
                "ci_low": low,
                "ci_high": high,
                "zero": math.nan,
                "zero_low": math.nan,
                "zero_high": math.nan,
                "verdict": verdict(best, low, high),
            }
        )
    return pd.DataFrame(rows)


def _fork_row(
    one: Definition, label: str, found: BreakEven | None, deals: int, differences: Any
) -> dict[str, Any]:
    values = dataclasses.asdict(found) if found else {}

    def number(key: str) -> float:
        value = float(values.get(key, math.nan))
        return math.nan if value == NEVER else value

    at = values.get("break_even", math.nan)
    said = verdict(at, values.get("ci_low", math.nan), values.get("ci_high", math.nan))
    return {
        "definition": label,
        "player": one.player,
        "opponent": one.opponent,
        "continuation": one.continuation,
        "rules": one.rules,
        "deals": deals,
        "forks": int(differences.sum()),
        "break_even": number("break_even"),
        "ci_low": number("ci_low"),
        "ci_high": number("ci_high"),
        "zero": number("zero"),
        "zero_low": number("zero_low"),
        "zero_high": number("zero_high"),
        "verdict": "never pays" if at == NEVER else said,
    }


def threshold_table(study: Study, policies: Sequence[PolicySums]) -> pd.DataFrame:
    """Return ``thresholds.csv``: points of each T, and which T's the best excludes.

    ``points`` are a hand, from the side of the player with the T; ``behind`` is how much
    less that is than the best T's, on the same deals, with its error.
    """
    import pandas as pd  # noqa: PLC0415
    from scipy.special import ndtri  # noqa: PLC0415

    sure = float(ndtri(1 - (1 - CONFIDENCE) / (len(THRESHOLDS) - 1)))
    rows = []
    for one, sums in zip(study.thresholds, policies, strict=True):
        if sums.n < 2:
            continue
        n, totals, products = sums.n, sums.points, sums.products
        best = int(np.argmax(totals))
        for t, threshold in enumerate(THRESHOLDS):
            gap = int(totals[best] - totals[t])
            squares = int(products[best, best] - 2 * products[best, t] + products[t, t])
            # Two hands a deal: points are a hand.
            se = math.sqrt(max(squares - gap * gap / n, 0) / (n - 1) / n) / 2
            spread = max(int(products[t, t]) - int(totals[t]) ** 2 / n, 0) / (n - 1)
            rows.append(
                {
                    "definition": one.name,
                    "player": one.player,
                    "opponent": one.opponent,
                    "T": threshold,
                    "n": n,
                    "points": int(totals[t]) / n / 2,
                    "se": math.sqrt(spread / n) / 2,
                    "behind": gap / n / 2,
                    "behind_se": se,
                    "excluded": gap / n / 2 > sure * se,
                }
            )
    names = ["definition", "player", "opponent", "T", "n", "points", "se"]
    return pd.DataFrame(rows, columns=[*names, "behind", "behind_se", "excluded"])


def write_study(
    study: Study,
    folder: records.RunFolder,
    counts: Sequence[ForkCounts],
    policies: Sequence[PolicySums],
) -> pd.DataFrame:
    """Write all tables; return that of the break-evens."""
    thresholds = threshold_table(study, policies)
    evens = break_even_table(study, counts, thresholds)
    tables = {
        "knock_timing": effects_table(study, counts),
        "break_even": evens,
        "thresholds": thresholds,
    }
    if study.forks and study.forks[0].name == "D1":
        tables["cells"] = counts[0].cell_table()
        tables["by_turn"] = counts[0].by_turn()
    for name, table in tables.items():
        folder.write_text(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    return evens


# --- the command line ----------------------------------------------------------------


def run(args: argparse.Namespace) -> Any:
    """Run the command."""
    from gin_sim.report import write_report  # noqa: PLC0415

    players, only = args.players or PLAYERS, args.only or ()
    study = make_study(args.deals, args.seed, args.rules, players, only)
    workers = Workers.choose(args.jobs, args.backend)
    folder = records.take_folder(args.out, "knock_timing", study.manifest())
    note(f"{study.deals:,} deals, seed {study.seed}, results in {folder.path}")
    with progress("deals") as report:
        counts, policies = run_study(study, workers, report)
    evens = write_study(study, folder, counts, policies)
    page = write_report(folder.path)
    shown = [
        [
            f"{row['definition']} v {row['opponent']}" if whole_policy(row) else row["definition"],
            f"{row['deals' if whole_policy(row) else 'forks']:,}",
            _number(row["break_even"], 0),
            f"{_number(row['ci_low'], 0)}..{_number(row['ci_high'], 0)}",
            f"{_number(row['zero'], 2)} [{_number(row['zero_low'], 2)}, "
            f"{_number(row['zero_high'], 2)}]",
            str(row["verdict"]),
        ]
        for row in json.loads(evens.to_json(orient="records"))
    ]
    columns = [
        "definition",
        "forks (deals)",
        "break-even",
        "95 %",
        "zero of a monotone fit",
        "the tip",
    ]
    print_table("", columns, shown)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"report:  {page}")  # noqa: T201
    print(f"again:   {study.command()}")  # noqa: T201


def whole_policy(row: dict[str, Any]) -> bool:
    """Return whether a row is of a definition by whole policies."""
    return str(row["definition"]).split("-")[0] in ("D5", "D6")


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def build_parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        prog="python -m experiments.knock_timing",
        description="Find out when knocking at the first chance pays, and on what it depends.",
    )
    parser.add_argument(
        "--deals", metavar="N", type=whole(1, MAX_UNITS), default=400_000, help="default 400,000"
    )
    parser.add_argument("--seed", metavar="S", type=whole(0, MAX_SEED), default=5)
    parser.add_argument("--jobs", metavar="J", type=whole(-1, MAX_JOBS), help="default: all cores")
    parser.add_argument("--backend", choices=("threads", "loky"), help="default: threads")
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.add_argument("--rules", metavar="PRESET", default="poozee", help="default: poozee")
    parser.add_argument(
        "--players", metavar="AGENT", nargs="+", action="extend", help="default: simple greedy"
    )
    parser.add_argument(
        "--only", metavar="D", nargs="+", action="extend", help="only these, such as D1"
    )
    parser.set_defaults(run=run)
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
