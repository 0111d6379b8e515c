"""How often to knock against a player who knows how often one does.

    python -m experiments.knock_equilibrium --deals 400000 --seed 6 --jobs 2 --out DIR

Both players draw and throw as `simple`.  A strategy is a table: the probability of
knocking at a legal chance, by ``stock_left`` (after the draw, 2..31) and deadwood (1..10).
Looked for is the table to which no other table is a good answer: the equilibrium within
this family.

Forks
-----
`simple` draws and throws without asking what anybody's table says.  So if nobody knocks, a
deal runs on along one line to gin or a dead hand, and *wait* at any chance goes on along
that line, with the same hands, order of the stock and random streams.  Each deal is played
once in this way, and at every chance a copy of the hand is knocked with.  The points of
these branches and of the end are all that any two tables can come to: what they score
against each other is the mean over their own dice, worked out along the line and not
diced for.  It is taken over both seats, as in mirrored deals.

Search
------
Fictitious play [1]_: the table starts as knock-as-soon-as-one-may; the best response to it
is mixed in with weight 2 / (round + 2), so that later responses count more, until it gains
less than 0.05 points a hand.  For a response a cell is changed only if knock minus wait is
clear of zero by its standard error.  First cells are weighed as if the player had always
waited before, until nothing changes, since what waiting is worth depends on the later
cells; then by how often the player gets there, as long as that gains points.  A table
forgets what came before, so the hill may have other tops: the climb starts from the former
response, with and without the first step, and before the search may stop from other
tables too.

Fictitious play creeps at the end.  From where it stops the table is *polished* by regret
matching [2]_: step by step each cell knocks in proportion to how much more always knocking
there would have gained against itself so far, and never less than nothing.  It is measured
in the same way every ten steps; what is kept is the table whose response gains least on
the learning deals.

Who is measured where
---------------------
The deals are in three parts of N each.  Responses are *learned* on the first.  What a
response gains against the table, its *exploitability*, is measured on the second part,
and for the final figures on the third, whose deals nothing was chosen by.  The gain on
the learning deals comes out too large and that on fresh deals too small (no response
gains more than the best), so the truth is between them.  Errors are over deals.

References
----------
.. [1] G. W. Brown, "Iterative Solution of Games by Fictitious Play", 1951.
.. [2] O. Tammelin, "Solving Large Imperfect Information Games Using CFR+", 2014.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gin_sim.cli.common import Parser, experiment_parser, guarded, whole
from gin_sim.folder import take_folder
from gin_sim.knock_figures import TIP, equilibrium, exploitability
from gin_sim.knock_tables import CELLS, PARTS, Part, Sums, Table, play_parts
from gin_sim.manifest import SCHEMA_VERSION, git_commit, versions
from gin_sim.progress import note, progress
from gin_sim.registry import load_agent
from gin_sim.rules import Rules
from gin_sim.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

PLAYER = "simple"
MAX_DEALS = 20_000_000
"""In a part: all that they can come to is kept in memory."""
TARGET = 0.05
"""Points a hand: an exploitability at which fictitious play may stop."""
POLISH, MEASURED = 60, 10
"""Steps of polishing, and after how many each the table is measured."""
TRUST = 5.0
"""Points a chance with which the regrets of polishing start, for the table as it is."""
CLIMB = 40
"""The most steps of a climb; it takes three to ten."""

ALWAYS: Table = np.ones(CELLS)
NEVER: Table = np.zeros(CELLS)
BY_THE_TIP: Table = np.where(np.arange(CELLS) >= 11 * TIP, 1.0, 0.0)


# --- the search ---------------------------------------------------------------------


def settled(part: Part, theirs: Table, table: Table) -> Table:
    """Change a table until nothing is clear any more, as if it had always waited before."""
    for _ in range(CLIMB):
        better = part.scan(table, theirs, by_own=False).improved(table)
        if (better == table).all():
            break
        table = better
    return table


def climbed(part: Part, theirs: Table, table: Table) -> tuple[Table, Sums]:
    """Change a table where that is clear as long as it gains points."""
    found = part.scan(table, theirs)
    for _ in range(CLIMB):
        better = found.improved(table)
        changed = np.flatnonzero(better != table)
        changed = changed[np.argsort(-np.abs(found.cells[2][changed]), kind="stable")]
        size = changed.size
        # Changes that are good one by one may spoil each other: then fewer at once.
        while size:
            trial = table.copy()
            trial[changed[:size]] = better[changed[:size]]
            tried = part.scan(trial, theirs)
            if tried.total > found.total:
                table, found = trial, tried
                break
            size //= 2
        if not size:
            break
    return table, found


def best_response(part: Part, theirs: Table, *starts: Table) -> tuple[Table, Sums]:
    """Return the best that is climbed to from each start, settled and as it is.

    It scores no less than any of the starts.

    Parameters
    ----------
    starts : (CELLS,) arrays of 0 and 1
    """
    found = [
        climbed(part, theirs, table)
        for start in starts
        for table in (settled(part, theirs, start), start)
    ]
    return max(found, key=lambda pair: pair[1].total)


@dataclass(frozen=True)
class Round:
    """A table measured: the gain of the response to it, on fresh deals and as learned."""

    number: int
    search: str
    fresh: Sums
    learned: Sums


def find_equilibrium(
    learning: Part, testing: Part, rounds: int, target: float = TARGET
) -> tuple[Table, Table, list[Round]]:
    """Run fictitious play until the exploitability is surely below the target.

    Parameters
    ----------
    rounds : int
        The most responses that are mixed in.

    Returns
    -------
    table, response : (CELLS,) arrays
        The mixture, and the response to it: of the last round if it is below the target,
        else of the round in which the response gained least on the learning deals.
    history : list of Round
        Round 0 is that of the table at the start.
    """
    table = response = ALWAYS
    history: list[Round] = []
    best: tuple[float, Table, Table] = (math.inf, table, response)
    for number in range(rounds + 1):
        response, learned = best_response(learning, table, response)
        fresh = testing.scan(response, table)
        if max(fresh.high, learned.mean) < target:
            response, learned = best_response(learning, table, response, *elsewhere(table))
            fresh = testing.scan(response, table)
        history.append(Round(number, "fictitious play", fresh, learned))
        _tell(history)
        if max(fresh.high, learned.mean) < target:
            return table, response, history
        best = min(best, (learned.mean, table, response), key=lambda found: found[0])
        table = table + 2.0 / (number + 2) * (response - table)
    return *best[1:], history


def polish(
    learning: Part, testing: Part, table: Table, response: Table, history: list[Round]
) -> tuple[Table, Table]:
    """Go on by regret matching; return the best table, maybe the first, and its response.

    Parameters
    ----------
    history : list of Round
        Gets a round for each table that is measured, numbered on.
    """
    best = (learning.scan(response, table).total, table, response)
    started = learning.scan(table, table)
    regrets = np.array([table, 1.0 - table]) * started.cells[1] * TRUST
    for step in range(1, POLISH + 1):
        gains = learning.scan(table, table).cells[2]
        regrets = np.maximum(regrets + np.array([gains * (1.0 - table), -gains * table]), 0.0)
        both = regrets.sum(axis=0)
        table = np.where(both > 0.0, regrets[0] / np.where(both > 0.0, both, 1.0), table)
        if step % MEASURED == 0:
            response, learned = best_response(learning, table, response, np.round(table))
            fresh = testing.scan(response, table)
            history.append(Round(history[-1].number + 1, "regret matching", fresh, learned))
            _tell(history)
            best = min(best, (learned.total, table, response), key=lambda found: found[0])
    return best[1:]


def _tell(history: Sequence[Round]) -> None:
    last = history[-1]
    note(
        f"round {last.number}, {last.search}: exploitability {last.fresh.mean:.4f} "
        f"(standard error {last.fresh.se:.4f})"
    )


def elsewhere(table: Table) -> tuple[Table, ...]:
    """Return where else to climb from to a response to a table."""
    return ALWAYS, NEVER, BY_THE_TIP, np.round(table)


@dataclass(frozen=True)
class Standing:
    """How a strategy stands: what can be gained against it, and what it scores itself."""

    name: str
    exploitability: Sums
    learned: Sums
    against_equilibrium: Sums


def standings(learning: Part, final: Part, table: Table, response: Table) -> list[Standing]:
    """Measure the equilibrium and what it is compared with on the final deals."""
    starts = (response, *elsewhere(table))
    found = []
    for name, one in (
        ("the equilibrium", table),
        ("as soon as it may", ALWAYS),
        (f"the tip: from {TIP} on", BY_THE_TIP),
        ("gin only", NEVER),
    ):
        answer, learned = best_response(learning, one, *starts)
        fresh = final.scan(answer, one)
        found.append(Standing(name, fresh, learned, final.scan(one, table)))
    return found


# --- what is written -----------------------------------------------------------------


def cell_frame(table: Table, sums: Sums | None) -> pd.DataFrame:
    """Return ``equilibrium.csv``.

    Returns
    -------
    DataFrame
        A row for each cell: ``knock_probability``; ``n``, the chances there that play
        gets to at all; ``reach``, how often it does, a hand; ``effect``, knock minus wait
        in points when the table plays itself, and its standard error ``se``.  Empty where
        play does not get, or for the error where it got only once.
    """
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    cells = np.zeros((6, CELLS)) if sums is None else sums.cells
    n, w, g, ww, gg, wg = cells
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = g / w
        se = np.sqrt(np.maximum(gg - 2 * effect * wg + effect**2 * ww, 0.0)) / w
    at = np.array([11 * stock + points for stock in range(2, 32) for points in range(1, 11)])
    return pd.DataFrame(
        {
            "stock_left": at // 11,
            "deadwood": at % 11,
            "knock_probability": np.where(n > 0, table, np.nan)[at],
            "n": n[at].astype(np.int64),
            "reach": w[at] / (2 * sums.deals if sums else 1),
            "effect": effect[at],
            "se": np.where(n > 1, se, np.nan)[at],
        }
    )


def round_frame(history: Sequence[Round]) -> pd.DataFrame:
    """Return ``exploitability.csv``: measured on fresh deals, and as learned, by round."""
    import pandas as pd  # noqa: PLC0415

    rows = [
        (one.number, one.search, one.fresh.mean, one.fresh.se, one.fresh.deals, one.learned.mean)
        for one in history
    ]
    names = ("round", "search", "exploitability", "se", "deals", "learned")
    return pd.DataFrame(rows, columns=list(names))


def standing_frame(found: Sequence[Standing]) -> pd.DataFrame:
    """Return ``standings.csv``: each strategy's exploitability and points, a hand."""
    import pandas as pd  # noqa: PLC0415

    rows = []
    for one in found:
        gain, own = one.exploitability, one.against_equilibrium
        rows.append((one.name, gain.mean, gain.se, one.learned.mean, own.mean, own.se, gain.deals))
    names = ("strategy", "exploitability", "se", "learned", "points", "points_se", "deals")
    return pd.DataFrame(rows, columns=list(names))


def spans(numbers: Sequence[int]) -> str:
    """Return ascending numbers in words.

    Examples
    --------
    >>> spans([3, 19, 20, 21])
    '3, 19..21'
    """
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b != a + 1]
    cuts = [0, *breaks, len(numbers)]
    runs = [numbers[a:b] for a, b in pairwise(cuts) if a < b]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def verdict(cells: pd.DataFrame, found: Sequence[Standing], target: float) -> str:
    """Say in words what was found; "no data" if nothing was."""
    if not found:
        return "no data: too few deals, or no chance to knock in a part of them\n"
    best, soon, tip, gin = found

    def number(sums: Sums, sign: int = 1) -> str:
        return f"{sign * sums.mean:.3f} ± {1.96 * sums.se:.3f}"

    reached = "below" if best.exploitability.high < target else "not surely below"
    lines = [
        f"points a hand, ± for 95 %, on {best.exploitability.deals:,} deals of their own",
        f"the equilibrium can be exploited by {number(best.exploitability)} "
        f"({reached} the target, {target:g})",
    ]
    lines += [
        f"{one.name}: can be exploited by {number(one.exploitability)}, "
        f"scores {number(one.against_equilibrium)} against the equilibrium"
        for one in (soon, tip, gin)
    ]
    lines.append("the equilibrium knocks more often than not with")
    for points, some in cells[cells["knock_probability"] >= 0.5].groupby("deadwood"):
        lines.append(f"  {points:>2} at a stock of {spans([*some['stock_left']])}")
    early = cells["stock_left"] >= TIP
    shares = []
    for some in (cells[early], cells[~early]):
        often = float(some["reach"].sum())
        knocks = float((some["reach"] * some["knock_probability"].fillna(0.0)).sum())
        shares.append(f"{knocks / often:.0%}" if often else "none")
    good = "is as good as" if tip.exploitability.high < target else "is not"
    lines.append(
        f"of the chances it gets it takes {shares[0]} while {TIP} or more cards are left and "
        f"{shares[1]} later; the tip takes all and none, and {good} an equilibrium: it gives "
        f"away {tip.exploitability.mean / max(soon.exploitability.mean, 1e-9):.0%} of what "
        "knocking as soon as one may gives away"
    )
    return "\n".join(lines) + "\n"


# --- the command line ----------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.drawing import save  # noqa: PLC0415 - not needed to get help

    rules = Rules.preset(args.rules)
    workers = Workers.choose(args.jobs, args.backend, args.scheduler)
    command = f"python -m experiments.knock_equilibrium --deals {args.deals} --seed {args.seed}"
    command += f" --rounds {args.rounds}"
    command += f" --target {args.target:g}" if args.target != TARGET else ""
    command += f" --rules {args.rules}" if args.rules != "poozee" else ""
    manifest = {
        "schema": SCHEMA_VERSION,
        "kind": "knock_equilibrium",
        "command": command,
        "seed": args.seed,
        "deals": args.deals,
        "parts": ["learning", "testing", "final"],
        "rounds": args.rounds,
        "target": args.target,
        "rules": rules.as_dict(),
        "agents_sha256": {PLAYER: load_agent(PLAYER).source_hash()},
        "versions": versions(),
        "git_commit": git_commit(),
    }
    folder = take_folder(args.out, "knock_equilibrium", manifest)
    note(f"{PARTS} x {args.deals:,} deals, seed {args.seed}, results in {folder.path}")
    with progress("deals") as report:
        parts = play_parts(args.deals, args.seed, rules, workers, report, player=PLAYER)
    table, history, found, own = ALWAYS, list[Round](), list[Standing](), None
    if not any(part.empty for part in parts):
        learning, testing, final = parts
        table, response, history = find_equilibrium(learning, testing, args.rounds, args.target)
        table, response = polish(learning, testing, table, response, history)
        found = standings(learning, final, table, response)
        own = final.scan(table, table)
    cells, rounds, compared = cell_frame(table, own), round_frame(history), standing_frame(found)
    tables = {"equilibrium": cells, "exploitability": rounds, "standings": compared}
    for name, frame in tables.items():
        folder.write_text(f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    text = verdict(cells, found, args.target)
    folder.write_text("verdict.txt", text)
    if found:
        figures = folder.path / "figures"
        save(partial(equilibrium, cells), figures / "equilibrium.png")
        draw = partial(exploitability, rounds, target=args.target)
        save(draw, figures / "exploitability.png")
    print(text, end="")  # noqa: T201
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {command}")  # noqa: T201


def points(text: str) -> float:
    """Read a positive number of points."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1000.0:
        raise argparse.ArgumentTypeError(f"'{text}': allowed is a number above 0 and below 1000")
    return value


def build_parser() -> Parser:
    """Return the parser."""
    parser = experiment_parser(
        "knock_equilibrium",
        "Find the table of knocking probabilities that no other table exploits. The deals "
        "are those of each of three parts.",
        deals=400_000,
        most_deals=MAX_DEALS,
        seed=6,
    )
    parser.add_argument(
        "--rounds", metavar="R", type=whole(0, 10_000), default=40, help="at most; default 40"
    )
    parser.add_argument(
        "--target",
        metavar="POINTS",
        type=points,
        default=TARGET,
        help=f"fictitious play stops below this exploitability, a hand; default {TARGET:g}",
    )
    parser.set_defaults(run=run)
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
