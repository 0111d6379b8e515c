"""``gin-sim``: reading the command line and turning errors into one line.

Exit codes: 0 done, 1 a run that failed, 2 a user's mistake, 130 Ctrl-C.  Each command is
a module beside this one with ``add(commands)`` and ``run(args)``; what is heavy is
imported by `run`, so that help comes at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from gin_sim import __version__
from gin_sim.cli import agents, cache, hand, replay, showdown, tournament
from gin_sim.errors import GinSimError


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and where help is, and exit with 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def build_parser() -> Parser:
    """Return the parser with all commands."""
    parser = Parser(
        prog="gin-sim",
        description="A Gin Rummy laboratory: tournaments of agents, hands, showdowns.",
    )
    parser.add_argument("--version", action="version", version=f"gin-sim {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (tournament, agents, hand, showdown, replay, cache):
        module.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    args = build_parser().parse_args(argv)
    try:
        args.run(args)
        sys.stdout.flush()
    except GinSimError as error:
        print(f"gin-sim: error: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("gin-sim: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0
