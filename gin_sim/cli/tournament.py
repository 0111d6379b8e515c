"""``gin-sim tournament``: agents ranked over real hands, with intervals."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim.cli.common import add_json, add_rules, print_json, print_table, read_rules

if TYPE_CHECKING:
    from gin_sim.plan import Plan
    from gin_sim.tournament import Reporter

NOTE_SECONDS = 5.0


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "tournament",
        help="play agents against each other and rank them",
        description="Play a round robin of agents on mirrored deals (two agents: a match).",
        epilog="an agent is a name (see gin-sim agents), name:param=value,... or "
        "path/to/file.py:name",
    )
    parser.add_argument(
        "agents", metavar="AGENT", nargs="*", help="who plays; none named: a ladder of five"
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "--hands", metavar="N", type=_count, help="hands a pairing, made even (default 20,000)"
    )
    amount.add_argument("--games", metavar="N", type=_count, help="games a pairing, made even")
    add_rules(parser)
    parser.add_argument("--seed", metavar="S", type=int, help="drawn and printed if not given")
    parser.add_argument("--jobs", metavar="J", type=int, help="workers (default: all cores)")
    parser.add_argument(
        "--backend",
        choices=("threads", "loky"),
        help="threads where all agents are compiled, else loky (processes)",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="a new folder (default: one in results/)"
    )
    parser.add_argument("--no-hands", action="store_true", help="keep no row for each hand")
    parser.add_argument(
        "--on-illegal",
        choices=("error", "forfeit"),
        default="error",
        help="an illegal action stops the run (default) or loses the hand",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    """Read an amount; 1_000_000 and 1,000,000 are understood."""
    try:
        return int(text.replace(",", "_"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.plan import default_folder, make_plan
    from gin_sim.tournament import run_plan

    plan = make_plan(
        args.agents,
        hands=args.hands,
        games=args.games,
        rules=read_rules(args),
        seed=args.seed,
        on_illegal=args.on_illegal,
        keep_hands=not args.no_hands,
    )
    out = args.out or default_folder(plan)
    what = "games" if plan.games else "hands"
    _note(
        f"{len(plan.agents)} agents, {2 * plan.units:,} {what} a pairing, seed {plan.seed}, "
        f"results in {out}"
    )
    try:
        with _progress(plan) as report:
            result = run_plan(plan, jobs=args.jobs, backend=args.backend, out=out, report=report)
    except KeyboardInterrupt:
        _note(f"what was finished is in {out}")
        raise
    document = result.as_dict()
    if args.json:
        print_json(document)
    else:
        _print_result(plan, document)


def _note(text: str) -> None:
    print(f"gin-sim: {text}", file=sys.stderr, flush=True)


@contextmanager
def _progress(plan: Plan) -> Iterator[Reporter]:
    """Show how far a run is: a bar on a terminal, a line now and then elsewhere."""
    what = "games" if plan.games else "hands"
    if not sys.stderr.isatty():
        last = [time.monotonic()]

        def note(done: int, total: int) -> None:
            now = time.monotonic()
            if now - last[0] >= NOTE_SECONDS and done < total:
                last[0] = now
                _note(f"{done:,} of {total:,} {what}")

        yield note
        return

    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=None)

        def move(done: int, total: int) -> None:
            bar.update(task, description="playing", completed=done, total=total)

        yield move


def _print_result(plan: Plan, document: dict[str, Any]) -> None:
    rows = []
    for pairing in document["pairings"]:
        hands = pairing["hands"]
        rows.append(
            [
                f"{pairing['a']} v {pairing['b']}",
                f"{hands:,}",
                _with_interval(pairing["points_per_hand"], pairing["ci95"]),
                f"{pairing['a_hand_wins'] / hands:.1%}",
                f"{pairing['b_hand_wins'] / hands:.1%}",
                f"{pairing['dead_hands'] / hands:.1%}",
                f"{(pairing['gins'] + pairing['big_gins']) / hands:.1%}",
                f"{pairing['undercuts'] / hands:.1%}",
                *([f"{pairing['a_game_wins']:,}-{pairing['b_game_wins']:,}"] * plan.games),
            ]
        )
    columns = ["pairing", "hands", "points a hand of the first (95 %)", "first won"]
    columns += ["second won", "dead", "gin", "undercut", *(["games"] * plan.games)]
    print_table("", columns, rows)

    ranking = []
    for place, row in enumerate(document["ranking"], start=1):
        share = _with_interval(row["game_share"], row["game_share_ci95"], percent=True)
        ranking.append(
            [
                f"{place}. {row['agent']}",
                _with_interval(row["points_per_hand"], row["ci95"]),
                *([share] * plan.games),
            ]
        )
    print_table(
        "",
        ["ranking", "points a hand (95 %)", *(["games won (95 %)"] * plan.games)],
        ranking,
    )
    illegal = sum(p["a_illegal"] + p["b_illegal"] for p in document["pairings"])
    if illegal:
        print(f"hands forfeited by illegal actions: {illegal:,}")
    print("intervals from whole mirrored deals (each deal played twice, seats swapped)")
    print(f"results: {document['out']}")
    print(f"again:   {document['command']}")


def _with_interval(mean: float | None, interval: list[float] | None, percent: bool = False) -> str:
    if mean is None:
        return "no data"
    scale, unit = (100, " %") if percent else (1, "")
    text = f"{scale * mean:.1f}" if percent else f"{mean:+.3f}"
    if interval is None:
        return f"{text}{unit} (too few deals)"
    half = scale * (interval[1] - interval[0]) / 2
    return f"{text} ± {half:.2f}{unit}" if percent else f"{text} ± {half:.3f}{unit}"
