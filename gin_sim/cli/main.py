"""``gin-sim``: reading the command line and turning errors into one line.

Exit codes: 0 done, 1 a run that failed, 2 a user's mistake, 130 Ctrl-C.  Each command is
a module beside this one with ``add(commands)`` and ``run(args)``; what is heavy is
imported by `run`, so that help comes at once.  Under ``--json`` what `run` returns is the
document, and nothing else that is printed meanwhile reaches stdout.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from gin_sim import __version__
from gin_sim.cli import agents, cache, hand, replay, showdown, tournament
from gin_sim.cli.common import note, nothing_on_stdout, print_json
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
    # Closed by whoever started us: what is said then goes nowhere.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    args = build_parser().parse_args(argv)
    try:
        if getattr(args, "json", False):
            with nothing_on_stdout():
                document = args.run(args)
            print_json(document)
        else:
            args.run(args)
        sys.stdout.flush()
    except GinSimError as error:
        for more in getattr(error, "__notes__", ()):
            note(more)
        note(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        note("interrupted")
        return 130
    except OSError as error:
        # Results folders have errors of their own: this is the output that failed.
        _drop_stdout()
        if not isinstance(error, BrokenPipeError):  # whoever read it has gone: no mistake
            reason = error.strerror or type(error).__name__
            note(f"error: the output cannot be written: {reason}")
        return 1
    return 0


def _drop_stdout() -> None:
    """Point stdout at nothing, so that what is left in its buffer raises no second error."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
