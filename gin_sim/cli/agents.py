"""``gin-sim agents``: what there is to play with."""

from __future__ import annotations

import argparse
from typing import Any

from gin_sim.cli.common import add_json
from gin_sim.progress import note


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "agents", help="list the agents", description="List the agents: what they do, from where."
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.registry import registered

    agents, problems = registered()
    for problem in problems:
        note(f"note: {problem}")
    if args.json:
        return [
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
    width = max((len(name) for name in agents), default=0)
    for one in agents.values():
        print(f"{one.name:<{width}}  {one.summary}")
        print(f"{'':<{width}}    source: {one.source}")
        if one.params:
            shown = ", ".join(f"{key}={value:g}" for key, value in one.params.items())
            print(f"{'':<{width}}    parameters: {shown}")
    return None
