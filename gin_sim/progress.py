"""How far a run is: a bar on a terminal, a line now and then elsewhere, all on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol


class Reporter(Protocol):
    """Told, now and then, how much is finished, how much there will be, and what it says."""

    def __call__(self, done: int, total: int, found: str = "") -> None:
        """Take note of it."""


NOTE_SECONDS = 5.0


def note(text: str) -> None:
    """Say something on the side: progress and notes go to stderr."""
    with suppress(OSError):  # a stderr that is full must not stop a run
        print(f"gin-sim: {text}", file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def progress(what: str) -> Iterator[Reporter]:
    """Lend somebody a reporter.

    Parameters
    ----------
    what : str
        What is counted: hands, games, deals.
    """
    if not sys.stderr.isatty():
        last = [time.monotonic()]

        def say(done: int, total: int, found: str = "") -> None:
            now = time.monotonic()
            if now - last[0] >= NOTE_SECONDS and done < total:
                last[0] = now
                note(f"{done:,} of {total:,} {what}{': ' if found else ''}{found}")

        yield say
        return

    from rich.console import Console  # noqa: PLC0415 - not needed to get help
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text  # noqa: PLC0415

    class Rate(ProgressColumn):
        """How much is done in a second."""

        def render(self, task: Task) -> Text:
            """Return the rate in words."""
            rate = task.finished_speed or task.speed
            return Text("" if rate is None else f"{rate:,.0f} a second")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[found]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=None, found="")

        def move(done: int, total: int, found: str = "") -> None:
            bar.update(task, description="playing", completed=done, total=total, found=found)

        yield move
