"""How far a run is: a bar on a terminal, a line now and then elsewhere, all on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Reporter = Callable[[int, int], None]
"""Told, now and then, how much is finished and how much there will be."""

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

        def say(done: int, total: int) -> None:
            now = time.monotonic()
            if now - last[0] >= NOTE_SECONDS and done < total:
                last[0] = now
                note(f"{done:,} of {total:,} {what}")

        yield say
        return

    from rich.console import Console  # noqa: PLC0415 - not needed to get help
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=None)

        def move(done: int, total: int) -> None:
            bar.update(task, description="playing", completed=done, total=total)

        yield move
