"""``gin-sim export``: hands as a training set, a row for each decision."""

from __future__ import annotations

import argparse
import secrets
from typing import Any

from gin_sim.checks import MAX_SEED, MAX_UNITS
from gin_sim.cli.common import add_json, add_rules, read_rules, whole
from gin_sim.progress import note, progress


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "export",
        help="write decisions of two agents as a training set",
        description="Play two agents against each other on mirrored deals and write what each "
        "saw, did and got, a row for each decision, into a parquet file (docs/data.md).",
    )
    parser.add_argument("a", metavar="A", help="an agent, as for gin-sim tournament")
    parser.add_argument("b", metavar="B", help="its opponent")
    parser.add_argument(
        "--hands",
        metavar="N",
        type=whole(1, MAX_UNITS),
        default=1000,
        help="made even (default 1,000)",
    )
    add_rules(parser)
    parser.add_argument(
        "--seed", metavar="S", type=whole(0, MAX_SEED), help="drawn and printed if not given"
    )
    parser.add_argument("--out", metavar="FILE", required=True, help="a new file, FILE.parquet")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.dataset import export_decisions

    rules = read_rules(args)
    seed = secrets.randbelow(1 << 32) if args.seed is None else args.seed
    with progress("hands") as show:

        def report(done: int, total: int, found: str = "") -> None:
            if not done:  # nothing was refused
                note(f"{total:,} hands, seed {seed}, into {args.out}")
            show(done, total, found)

        document = export_decisions(
            args.a, args.b, args.out, hands=args.hands, seed=seed, rules=rules, report=report
        )
    if not args.json:
        print(f"{document['decisions']:,} decisions of {document['hands']:,} hands: {args.out}")
    return document
