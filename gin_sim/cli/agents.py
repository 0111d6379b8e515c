"""``gin-sim agents``: what there is to play with."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from gin_sim.cli.common import add_json, print_json


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "agents", help="list the agents", description="List the agents: what they do, from where."
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.registry import registered

    agents, problems = registered()
    for problem in problems:
        print(f"gin-sim: note: {problem}", file=sys.stderr)
    if args.json:
        rows = [
            {
                "name": one.name,
                "summary": one.summary,
                "source": one.source,
                "params": one.params,
                "compiled": one.compiled,
                "file": one.file,
            }
            for one in agents.values()
        ]
        print_json(rows)
        return
    width = max((len(name) for name in agents), default=0)
    for one in agents.values():
        print(f"{one.name:<{width}}  {one.summary}")
        print(f"{'':<{width}}    source: {one.source}")
        if one.params:
            shown = ", ".join(f"{key}={value:g}" for key, value in one.params.items())
            print(f"{'':<{width}}    parameters: {shown}")
