"""What commands that play a plan share: options, the run, what is said when it stops."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from gin_sim.checks import MAX_SEED, MAX_UNITS
from gin_sim.cli.common import (
    add_json,
    add_rules,
    add_time_limit,
    add_workers,
    note_no_limit,
    whole,
)
from gin_sim.errors import AgentError, GinSimError, PlayError
from gin_sim.progress import note, progress

if TYPE_CHECKING:
    from gin_sim.folder import RunFolder
    from gin_sim.plan import Plan
    from gin_sim.result import Result
    from gin_sim.workers import Workers


def add_amount(parser: argparse.ArgumentParser) -> None:
    """Add ``--hands`` and ``--games``."""
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


def add_play(parser: argparse.ArgumentParser) -> None:
    """Add what all that play take beside the amount."""
    add_rules(parser)
    parser.add_argument(
        "--seed", metavar="S", type=whole(0, MAX_SEED), help="drawn and printed if not given"
    )
    add_workers(parser)
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.add_argument(
        "--no-hands",
        action="store_true",
        help="keep sums only, no row for each hand: constant memory",
    )
    parser.add_argument(
        "--log",
        action="store_true",
        help="write each hand, move by move, into histories/ as well; some hundred times slower",
    )
    parser.add_argument(
        "--on-illegal",
        choices=("error", "forfeit"),
        help="an illegal action stops the run (error, the default) or loses the hand",
    )
    add_time_limit(parser)
    add_json(parser)


def workers_for(plan: Plan, args: argparse.Namespace) -> Workers:
    """Return the workers asked for, if they can play the plan."""
    from gin_sim.workers import Workers

    workers = Workers.choose(args.jobs, args.backend, args.scheduler, compiled=plan.compiled)
    plan.check_workers(workers)
    note_no_limit(plan)
    return workers


def play(plan: Plan, workers: Workers, take: Callable[[], RunFolder]) -> Result:
    """Play a plan into the folder that `take` takes, and say on the side how it goes."""
    from gin_sim.tournament import run_plan

    what = "games" if plan.games else "hands"
    finished = [0]
    # From the moment that there is a folder, whoever stops the run is told how to go on.
    folder = take()
    where = shlex.quote(str(folder.path))
    try:
        note(
            f"{len(plan.agents)} agents, {2 * plan.units:,} {what} a pairing, seed {plan.seed}, "
            f"results in {folder.path}"
        )
        with progress(what) as show:

            def report(done: int, total: int, found: str = "") -> None:
                finished[0] = done
                show(done, total, found)

            return run_plan(plan, workers, folder, report=report)
    except PlayError as error:
        label = shlex.quote(plan.pairing_labels[error.pairing])
        note(
            f"see it: gin-sim replay {where} --deal {error.deal} "
            f"--mirror {error.mirror} --pairing {label}"
        )
        raise
    except AgentError:
        if not folder.resumed:
            folder.discard()  # an agent that does not compile: nothing was played
        raise
    except (GinSimError, KeyboardInterrupt) as error:
        if isinstance(error, GinSimError) and error.exit_code == 2:
            raise  # something in the folder or in what was asked: it would be so again
        kept = "nothing was played yet"
        if finished[0]:
            kept = f"the {finished[0]:,} {what} played are kept"
        note(f"{kept}; go on with: gin-sim tournament --resume {where}")
        raise
