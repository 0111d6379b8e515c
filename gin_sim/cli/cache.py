"""``gin-sim cache``: the compiled code."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "cache", help="the compiled code", description="Look after the compiled code."
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    clear = actions.add_parser(
        "clear",
        help="drop all compiled code",
        description="Drop all compiled code; it is made again when it is needed.",
    )
    clear.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.compiled import cache_root, clear_cache

    gone = clear_cache()
    for folder in gone:
        print(f"dropped {folder}")
    if not gone:
        print(f"nothing to drop in {cache_root()}")
