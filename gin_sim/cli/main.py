"""``gin-sim``: reading the command line and turning errors into one line.

Exit codes: 0 done, 1 a run that failed, 2 a user's mistake, 130 Ctrl-C, 143 SIGTERM.
Each command is a module beside this one with ``add(commands)`` and ``run(args)``; what is
heavy is imported by `run`, so that help comes at once.  Under ``--json`` what `run` returns
is the document, and nothing else that is printed meanwhile reaches stdout.
"""

from __future__ import annotations

from collections.abc import Sequence

from gin_sim import __version__
from gin_sim.cli import (
    agents,
    cache,
    check_agent,
    compare,
    export,
    hand,
    replay,
    report,
    showdown,
    sprt,
    sweep,
    tournament,
)
from gin_sim.cli.common import Parser, guarded


def build_parser() -> Parser:
    """Return the parser with all commands."""
    parser = Parser(
        prog="gin-sim",
        description="A Gin Rummy laboratory: tournaments of agents, hands, showdowns.",
    )
    parser.add_argument("--version", action="version", version=f"gin-sim {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (
        *(tournament, sweep, compare, report, agents, check_agent, hand, showdown, replay, export),
        *(sprt, cache),
    ):
        module.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    return guarded(build_parser(), argv)
