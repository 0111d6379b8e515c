"""What commands share: reading options and numbers, errors in one line, JSON, tables."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NoReturn

from gin_sim.checks import MAX_JOBS, MAX_SEED
from gin_sim.errors import GinSimError, RulesError
from gin_sim.progress import note
from gin_sim.stops import Terminated, stops_ignored, stops_raised

if TYPE_CHECKING:
    from gin_sim.plan import Plan
    from gin_sim.rules import Rules


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and where help is, and exit with 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add ``--jobs``, ``--backend`` and ``--scheduler``."""
    parser.add_argument(
        "--jobs",
        metavar="J",
        type=whole(-1, MAX_JOBS),
        help="workers (default: all cores, or all of the cluster)",
    )
    parser.add_argument(
        "--backend",
        choices=("threads", "loky", "dask", "ray"),
        help="default: threads where all agents are compiled, else loky (processes); "
        "dask and ray are clusters",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of the cluster: tcp://HOST:8786 (dask), HOST:6379 (ray)",
    )


def add_time_limit(parser: argparse.ArgumentParser) -> None:
    """Add ``--time-limit``."""
    parser.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=real,
        help="an illegal action is also a decision of a Python agent or a program (cmd:) that "
        "takes longer (0.001..3600; programs: 10 if not given); results then depend on the "
        "machine. Compiled agents cannot be interrupted and have no limit",
    )


def note_no_limit(plan: Plan) -> None:
    """Say so where a time limit limits nobody."""
    if plan.decision_seconds is not None and plan.compiled:
        note("note: compiled agents have no time limit, and all agents are compiled")


def experiment_parser(
    name: str, description: str, *, deals: int, most_deals: int, seed: int
) -> Parser:
    """Return the parser of an experiment, with what they all take.

    Parameters
    ----------
    name : str
        Of its module.
    deals, seed : int
        What is played if nothing else is asked for.
    most_deals : int
    """
    parser = Parser(prog=f"python -m experiments.{name}", description=description)
    parser.add_argument(
        "--deals",
        metavar="N",
        type=whole(1, most_deals),
        default=deals,
        help=f"how many (default {deals:,})",
    )
    parser.add_argument("--seed", metavar="S", type=whole(0, MAX_SEED), default=seed)
    add_workers(parser)
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.add_argument("--rules", metavar="PRESET", default="poozee", help="default: poozee")
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document and nothing else"
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add ``--rules`` and ``--set``."""
    parser.add_argument(
        "--rules",
        metavar="PRESET",
        help="standard (default), poozee, casual, eaai, openspiel, oklahoma, straight, "
        "big-gin, hollywood, classic",
    )
    parser.add_argument(
        "--set",
        metavar="FIELD=VALUE",
        action="append",
        default=[],
        help="change one rule, for example knock_limit=9; may be repeated",
    )


def read_rules(args: argparse.Namespace) -> Rules:
    """Return the rules that ``--rules`` and ``--set`` ask for."""
    from gin_sim.rules import Rules

    settings = {}
    for text in args.set:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise RulesError(f"--set {text}: write FIELD=VALUE")
        if name in settings:
            raise RulesError(f"--set {text}: '{name}' is set twice")
        settings[name] = value
    return Rules.preset(args.rules or "standard").with_settings(settings)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers; 1_000_000, 1,000,000 and 1e6 are understood."""

    def read(text: str) -> int:
        plain = text.strip()
        if re.fullmatch(r"\d{1,3}(,\d{3})+", plain):
            plain = plain.replace(",", "")
        try:
            value = Decimal(plain)
            if low <= value <= high and value == int(value):
                return int(value)
        except (InvalidOperation, OverflowError):
            pass
        raise argparse.ArgumentTypeError(f"'{text}': allowed is a whole number {low}..{high}")

    return read


def real(text: str) -> float:
    """Read a number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}': allowed is a number")
    return value


def _print_json(value: Any) -> None:
    """Print a JSON document without NaN or Infinity."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def _nothing_on_stdout() -> Iterator[None]:
    """Send to stderr whatever is printed meanwhile, by agents in other processes too."""
    with redirect_stdout(sys.stderr):
        try:
            out, err = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
            kept = os.dup(out)
        except (AttributeError, OSError, ValueError):
            yield  # there is no such file, as in a notebook or with stdout closed
            return
        try:
            os.dup2(err, out)
            yield
        finally:
            os.dup2(kept, out)
            os.close(kept)


def guarded(parser: Parser, argv: Sequence[str] | None = None) -> int:
    """Read a command line and run what it asks for; return the exit code.

    The parser's defaults hold `run`, which gets the arguments.  Errors of the user's
    become one line, and under ``--json`` what `run` returns is printed and nothing else.
    """
    # Closed by whoever started us: what is said then goes nowhere.
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            _open_nowhere(number, name)
    args = parser.parse_args(argv)
    with stops_raised():
        return _run(args)


def _open_nowhere(number: int, name: str) -> None:
    """Open a stream that leads nowhere, for the processes started later as well."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    os.set_inheritable(number, True)
    stream = os.fdopen(number, "w", closefd=False)
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def _run(args: argparse.Namespace) -> int:
    try:
        if getattr(args, "json", False):
            with _nothing_on_stdout():
                document = args.run(args)
            _print_json(document)
        else:
            args.run(args)
        sys.stdout.flush()
        return int(getattr(args, "exit_code", 0))
    except GinSimError as error:
        for more in getattr(error, "__notes__", ()):
            note(more)
        note(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt as stop:
        with stops_ignored():
            _kill_children()
            note("terminated" if isinstance(stop, Terminated) else "interrupted")
            # Where the stop came out of a text that was being executed (a named tuple, what
            # numba makes), Python holds it for unhandled and would end by the signal itself,
            # until another text has been executed.
            eval("0")  # noqa: S307
        return 143 if isinstance(stop, Terminated) else 130
    except OSError as error:
        # Results folders have errors of their own: this is the output that failed.
        _drop_stdout()
        if not isinstance(error, BrokenPipeError):  # whoever read it has gone: no mistake
            reason = error.strerror or type(error).__name__
            note(f"error: the output cannot be written: {reason}")
        return 1


def _kill_children() -> None:
    """End what is still starting: it would tell of its broken pipe when we are gone."""
    for child in multiprocessing.active_children():
        if child.pid is not None:
            # Not child.kill(): processes of loky's have no such method on Unix.
            with suppress(ProcessLookupError):
                os.kill(child.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        child.join(5)


def _drop_stdout() -> None:
    """Point stdout at nothing, so that what is left in its buffer raises no second error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column to the left, the others to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    # As wide as it has to be: a narrow terminal breaks lines, but no number is cut.
    wide = Console(width=10_000)
    width = max(1, wide.measure(table).maximum)
    # Without markup: an interval such as "[open, +3]" would be taken for a style, and vanish.
    Console(width=width, highlight=False, soft_wrap=True, markup=False).print(table)
