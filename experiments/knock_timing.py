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
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gin_sim.checks import MAX_UNITS
from gin_sim.cli.common import Parser, experiment_parser, guarded, print_table
from gin_sim.effects import NEVER, VIEWS, BreakEven, ForkCounts, find_break_even
from gin_sim.errors import GinSimError
from gin_sim.folder import RunFolder, take_folder
from gin_sim.forks import ForkPiece, ForkPlan, play_forks
from gin_sim.knock_figures import TIP
from gin_sim.manifest import SCHEMA_VERSION, git_commit, versions
from gin_sim.progress import Reporter, note, progress
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import Rules
from gin_sim.stops import stops_put_off
from gin_sim.thresholds import THRESHOLDS, ThresholdSums, play_thresholds, threshold_plans
from gin_sim.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

PLAYERS = ("simple", "greedy")
OTHERS_SHARE = 4

Found = ForkCounts | ThresholdSums


@dataclass(frozen=True)
class Definition:
    """A definition, and what is played for it.

    Attributes
    ----------
    name : str
        As in the files.
    plans : tuple of ForkPlan
        One for the first knock of either player; two, one for each seat, where whole
        policies are compared.
    line : int
        Points that a hand won is worth beside its own.
    """

    name: str
    player: str
    opponent: str
    continuation: str
    rules: str
    deals: int
    plans: tuple[ForkPlan, ...]
    line: int = 0

    @property
    def whole(self) -> bool:
        """Whether whole policies are compared."""
        return len(self.plans) > 1


@dataclass(frozen=True)
class Study:
    """Everything that is to be run, fixed by the command line."""

    deals: int
    seed: int
    rules: Rules
    preset: str
    players: tuple[Agent, ...]
    only: tuple[str, ...]
    definitions: tuple[Definition, ...] = ()

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
            "schema": SCHEMA_VERSION,
            "kind": "knock_timing",
            "command": self.command(),
            "seed": self.seed,
            "deals": {one.name: one.deals for one in self.definitions},
            "rules": self.rules.as_dict(),
            "players": [agent.label for agent in self.players],
            "agents_sha256": agents,
            "versions": versions(),
            "git_commit": git_commit(),
        }


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
        For a definition that there is none, or a player twice.
    """
    bases = tuple(load_agent(name) for name in players)
    labels = [agent.label for agent in bases]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise GinSimError(f"--players: '{twice[0]}' is there twice")
    study = Study(deals, seed, Rules.preset(preset), preset, bases, tuple(only))
    found = [one for player in bases for one in _by_forks(study, player)]
    found += _sensitivities(study)
    found += [one for player in bases for one in _by_policies(study, player)]
    known = dict.fromkeys(one.name for one in found)
    for name in only:
        if name not in known:
            raise GinSimError(f"--only {name}: there are: {', '.join(known)}")
    chosen = tuple(one for one in found if not only or one.name in only)
    return dataclasses.replace(study, definitions=chosen)


def _named(study: Study, name: str, player: Agent) -> str:
    return name if player is study.players[0] else f"{name}-{player.label}"


SOON, GIN = "as soon as it may", "gin only"


def _by_forks(study: Study, player: Agent) -> Iterator[Definition]:
    """Yield D1 to D4."""
    continuations: tuple[tuple[str, dict[str, float], dict[str, float], str, str], ...] = (
        ("D1", {}, {}, "at the next legal chance", SOON),
        ("D2", {"knock_most": 5}, {}, "later only at 5 or less", SOON),
        ("D3", {"knock_most": 0}, {}, GIN, SOON),
        ("D4", {"knock_most": 0}, {"knock_most": 0}, GIN, GIN),
    )
    for name, later, other, words, against in continuations:
        branches = (player.with_params(later), player.with_params(other))
        yield Definition(
            name=_named(study, name, player),
            player=player.label,
            opponent=against,
            continuation=words,
            rules=study.preset,
            deals=study.deals if _named(study, name, player) == "D1" else study.other_deals,
            plans=(ForkPlan.of(player, *branches, rules=study.rules, seed=study.seed),),
        )


def _by_policies(study: Study, player: Agent) -> Iterator[Definition]:
    """Yield D5 and D6."""
    policies: tuple[tuple[str, dict[str, float], str], ...] = (
        ("D5", {"knock_most": 0}, GIN),
        ("D5", {}, SOON),
        ("D6", {"knock_stock": TIP}, f"knocks iff stock_left >= {TIP}"),
    )
    for name, other, against in policies:
        opponent = player.with_params(other)
        yield Definition(
            name=_named(study, name, player),
            player=player.label,
            opponent=against,
            continuation="knocks iff stock_left >= T, else gin only",
            rules=study.preset,
            deals=study.other_deals,
            plans=threshold_plans(player, opponent, rules=study.rules, seed=study.seed),
        )


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
            name=f"D1-{name}",
            player=player.label,
            opponent=SOON,
            continuation="at the next legal chance",
            rules=f"{study.preset}{told}{words}",
            deals=study.other_deals,
            plans=(ForkPlan.of(agent, rules=rules, seed=study.seed),),
            line=line,
        )


# --- running -------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A range of deals of a definition, as it travels to a worker."""

    place: int
    line: int
    pieces: tuple[ForkPiece, ...]


def _play(task: Task) -> tuple[int, int, Any]:
    """Do a worker's work: return where it belongs, how many deals, and what came of it."""
    count = task.pieces[0].count
    if len(task.pieces) > 1:
        return task.place, count, play_thresholds(task.pieces)
    return task.place, count, ForkCounts.of(count, play_forks(task.pieces[0]), task.line)


def _tasks(study: Study) -> Iterator[Task]:
    for place, one in enumerate(study.definitions):
        for pieces in zip(*(plan.pieces(one.deals) for plan in one.plans), strict=True):
            yield Task(place, one.line, pieces)


def run_study(study: Study, workers: Workers, report: Reporter | None = None) -> list[Found]:
    """Play all deals; return what was found for each definition, in their order."""
    with stops_put_off():
        for one in study.definitions:
            for plan in one.plans:
                plan.prepare()
    sums: list[Any] = [ThresholdSums() if d.whole else ForkCounts() for d in study.definitions]
    total, done = sum(one.deals for one in study.definitions), 0
    with closing(workers.run(_play, _tasks(study))) as finished:
        for place, n, found in finished:
            sums[place].add(found)
            done += n
            if report is not None:
                report(done, total)
    return sums


# --- tables --------------------------------------------------------------------------


def effects_table(study: Study, found: Sequence[Found]) -> pd.DataFrame:
    """Return ``knock_timing.csv``: the effect by stock_left for each definition by forks."""
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    frames = []
    for one, counted in zip(study.definitions, found, strict=True):
        if isinstance(counted, ForkCounts):
            frame = counted.effects()
            frame.insert(0, "definition", one.name)
            frame["player"] = one.player
            frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else ForkCounts().effects()


def threshold_table(study: Study, found: Sequence[Found]) -> pd.DataFrame:
    """Return ``thresholds.csv``: every T under each definition by whole policies."""
    import pandas as pd  # noqa: PLC0415

    frames = [ThresholdSums().table()]
    for one, sums in zip(study.definitions, found, strict=True):
        if isinstance(sums, ThresholdSums) and sums.n > 1:
            frame = sums.table()
            frame.insert(0, "definition", one.name)
            frame.insert(1, "player", one.player)
            frame.insert(2, "opponent", one.opponent)
            frames.append(frame)
    return pd.concat(frames[1:], ignore_index=True) if frames[1:] else frames[0]


def verdict(found: BreakEven | None) -> str:
    """Say whether a break-even (or best T) reproduces the tip."""
    if found is None:
        return "no data"
    if found.break_even == NEVER:
        return "never pays"
    if found.break_even == TIP:
        return "reproduced"
    return "allowed" if found.ci_low <= TIP <= found.ci_high else "not reproduced"


def _best_threshold(sums: ThresholdSums) -> BreakEven | None:
    """Return the best T and the span of those that it does not exclude."""
    table = sums.table()
    left = table[~table["excluded"].astype(bool)]["T"]
    if table.empty or len(left) == len(THRESHOLDS):
        return None  # nothing tells any T apart
    best = float(table["T"].to_numpy()[table["points"].to_numpy().argmax()])
    return BreakEven(best, float(left.min()), float(left.max()), math.nan, math.nan, math.nan)


def break_even_table(study: Study, found: Sequence[Found]) -> pd.DataFrame:
    """Return ``break_even.csv``: where knocking begins to pay, for each definition."""
    import pandas as pd  # noqa: PLC0415

    rows = []
    for one, sums in zip(study.definitions, found, strict=True):
        if isinstance(sums, ThresholdSums):
            rows.append(_even_row(one, one.name, 0, _best_threshold(sums)))
            continue
        for name, differences in zip(VIEWS, sums.differences, strict=True):
            if name == VIEWS[0] or one.name == "D1":
                label = one.name if name == VIEWS[0] else f"{one.name}-{name.replace(' ', '-')}"
                even = find_break_even(differences, seed=study.seed)
                rows.append(_even_row(one, label, int(differences.sum()), even))
    return pd.DataFrame(rows)


def _even_row(one: Definition, label: str, forks: int, found: BreakEven | None) -> dict[str, Any]:
    numbers = dataclasses.asdict(found or BreakEven(*[math.nan] * 6))
    return {
        "definition": label,
        "player": one.player,
        "opponent": one.opponent,
        "continuation": one.continuation,
        "rules": one.rules,
        "deals": one.deals,
        "forks": forks,
        **{key: math.nan if value == NEVER else value for key, value in numbers.items()},
        "verdict": verdict(found),
    }


def write_study(study: Study, folder: RunFolder, found: Sequence[Found]) -> pd.DataFrame:
    """Write all tables; return that of the break-evens."""
    tables = {
        "knock_timing": effects_table(study, found),
        "break_even": break_even_table(study, found),
        "thresholds": threshold_table(study, found),
    }
    first = found[0]
    if study.definitions[0].name == "D1" and isinstance(first, ForkCounts):
        tables["cells"] = first.cell_table()
        tables["by_turn"] = first.by_turn()
    for name, table in tables.items():
        folder.write_text(f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    return tables["break_even"]


# --- the command line ----------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.report import write_report  # noqa: PLC0415

    players, only = args.players or PLAYERS, args.only or ()
    study = make_study(args.deals, args.seed, args.rules, players, only)
    workers = Workers.choose(args.jobs, args.backend, args.scheduler)
    folder = take_folder(args.out, "knock_timing", study.manifest())
    note(f"{study.deals:,} deals, seed {study.seed}, results in {folder.path}")
    with progress("deals") as report:
        found = run_study(study, workers, report)
    evens = write_study(study, folder, found)
    page = write_report(folder.path)
    whole_policies = {one.name for one in study.definitions if one.whole}
    shown = []
    for row in json.loads(evens.to_json(orient="records")):
        by_policy = row["definition"] in whole_policies
        shown.append(
            [
                f"{row['definition']} v {row['opponent']}" if by_policy else row["definition"],
                f"{row['deals' if by_policy else 'forks']:,}",
                _number(row["break_even"], 0),
                f"{_number(row['ci_low'], 0)}..{_number(row['ci_high'], 0)}",
                f"{_number(row['zero'], 2)} [{_number(row['zero_low'], 2)}, "
                f"{_number(row['zero_high'], 2)}]",
                str(row["verdict"]),
            ]
        )
    columns = ["definition", "forks (deals)", "break-even", "95 %", "zero of a monotone fit"]
    print_table("", [*columns, "the tip"], shown)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"report:  {page}")  # noqa: T201
    print(f"again:   {study.command()}")  # noqa: T201


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def build_parser() -> Parser:
    """Return the parser."""
    parser = experiment_parser(
        "knock_timing",
        "Find out when knocking at the first chance pays, and on what it depends.",
        deals=400_000,
        most_deals=MAX_UNITS,
        seed=5,
    )
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
