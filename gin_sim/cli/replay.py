"""``gin-sim replay``: one hand of a run, move by move."""

from __future__ import annotations

import argparse
from typing import Any

from gin_sim.checks import MAX_SEED
from gin_sim.cli.common import whole
from gin_sim.progress import note


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="tell one hand of a run, move by move",
        description="Play one hand of a run again and tell it move by move.",
    )
    parser.add_argument("dir", metavar="DIR", help="the folder of the run")
    parser.add_argument(
        "--deal", metavar="N", type=whole(0, MAX_SEED), required=True, help="as in the rows"
    )
    parser.add_argument(
        "--mirror", metavar="0|1", type=whole(0, 1), help="one of its two hands only"
    )
    parser.add_argument(
        "--pairing", metavar="'A v B'", help="as in the rows; the first if not given"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.replay import replay
    from gin_sim.run import Run

    opened = Run.open(args.dir)
    for label in opened.changed_agents():
        note(f"note: agent '{label}' has changed since the run; it may play otherwise now")
    for mirror in (0, 1) if args.mirror is None else (args.mirror,):
        for line in replay(opened, args.deal, mirror, args.pairing):
            print(line)
        print()
