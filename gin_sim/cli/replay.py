"""``gin-sim replay``: one hand of a run, or the hands of a file, move by move."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gin_sim.checks import MAX_SEED
from gin_sim.cli.common import whole
from gin_sim.errors import GinSimError
from gin_sim.progress import note


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="tell one hand of a run, or of a file, move by move",
        description="Play one hand of a run again, or those of a file of histories, and tell "
        "it move by move.",
    )
    parser.add_argument(
        "place", metavar="DIR|FILE", help="the folder of the run, or a file of hand histories"
    )
    parser.add_argument(
        "--deal",
        metavar="N",
        type=whole(0, MAX_SEED),
        help="as in the rows; of a file, only the hands of this deal",
    )
    parser.add_argument(
        "--mirror", metavar="0|1", type=whole(0, 1), help="one of its two hands only"
    )
    parser.add_argument(
        "--pairing", metavar="'A v B'", help="as in the rows; the first of the run if not given"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.replay import replay
    from gin_sim.run import Run

    if Path(args.place).is_file():
        _tell_file(args)
        return
    if args.deal is None:
        raise GinSimError(f"'{args.place}' is no file of histories; of a run, say which --deal")
    opened = Run.open(args.place)
    for label in opened.changed_agents():
        note(f"note: agent '{label}' has changed since the run; it may play otherwise now")
    for mirror in (0, 1) if args.mirror is None else (args.mirror,):
        for line in replay(opened, args.deal, mirror, args.pairing):
            print(line)
        print()


def _tell_file(args: argparse.Namespace) -> None:
    """Tell the hands of a file that are asked for."""
    from gin_sim.history_lines import read_histories
    from gin_sim.replay import tell

    told = False
    asked = (args.deal, args.mirror, args.pairing)
    for history in read_histories(args.place):
        found = (history.deal, history.mirror, " v ".join(history.agents))
        if all(one is None or one == other for one, other in zip(asked, found, strict=True)):
            told = True
            for line in tell(history):
                print(line)
            print()
    if not told:
        such = "hands" if asked == (None, None, None) else "such hand"
        raise GinSimError(f"'{args.place}' holds no {such}")
