"""``gin-sim tournament``: agents ranked over real hands, with intervals."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from gin_sim.checks import MAX_SEED, MAX_UNITS
from gin_sim.cli.common import (
    add_json,
    add_rules,
    add_workers,
    print_table,
    read_rules,
    whole,
)
from gin_sim.progress import note, progress

if TYPE_CHECKING:
    from gin_sim.plan import Plan


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
        "--hands",
        metavar="N",
        type=whole(1, MAX_UNITS),
        help="hands a pairing, made even (default 20,000)",
    )
    amount.add_argument(
        "--games", metavar="N", type=whole(1, MAX_UNITS), help="games a pairing, made even"
    )
    add_rules(parser)
    parser.add_argument(
        "--seed", metavar="S", type=whole(0, MAX_SEED), help="drawn and printed if not given"
    )
    add_workers(parser)
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.add_argument("--no-hands", action="store_true", help="keep no row for each hand")
    parser.add_argument(
        "--on-illegal",
        choices=("error", "forfeit"),
        default="error",
        help="an illegal action stops the run (default) or loses the hand",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.errors import AgentError, PlayError
    from gin_sim.plan import LADDER, make_plan
    from gin_sim.records import take_folder
    from gin_sim.tournament import run_plan
    from gin_sim.workers import Workers

    plan = make_plan(
        args.agents or LADDER,
        hands=args.hands,
        games=args.games,
        rules=read_rules(args),
        seed=args.seed,
        on_illegal=args.on_illegal,
        keep_hands=not args.no_hands,
    )
    workers = Workers.choose(args.jobs, args.backend, args.scheduler, compiled=plan.compiled)
    folder = take_folder(args.out, plan.name, plan.manifest())
    what = "games" if plan.games else "hands"
    note(
        f"{len(plan.agents)} agents, {2 * plan.units:,} {what} a pairing, seed {plan.seed}, "
        f"results in {folder.path}"
    )
    finished = [0]
    try:
        with progress(what) as show:

            def report(done: int, total: int) -> None:
                finished[0] = done
                show(done, total)

            result = run_plan(plan, workers, folder, report=report)
    except PlayError as error:
        label = shlex.quote(plan.pairing_labels[error.pairing])
        note(
            f"see it: gin-sim replay {shlex.quote(str(folder.path))} --deal {error.deal} "
            f"--mirror {error.mirror} --pairing {label}"
        )
        raise
    except AgentError:
        folder.discard()  # an agent that does not compile: nothing was played
        raise
    except KeyboardInterrupt:
        if finished[0] and plan.keep_hands:
            note(f"the rows of {finished[0]:,} {what} are in {folder.path}")
        else:
            note(f"nothing was kept of the run in {folder.path}")
        raise
    document = result.as_dict()
    if not args.json:
        _print_result(plan, document)
    return document


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
    undecided = sum(p["undecided_games"] for p in document["pairings"])
    if undecided:
        print(f"games that nobody won, counted as half a win for each: {undecided:,}")
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
