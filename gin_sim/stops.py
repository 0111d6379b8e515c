"""Ctrl-C and SIGTERM: how a process is asked to stop, and when it does.

Both end a run in the same way, with the rows that are there kept.  Schedulers (Slurm,
Kubernetes) send SIGTERM before they kill, and ``timeout`` sends it twice: to the process
and to its group.
"""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM)

SAME_STOP_SECONDS = 1.0
"""What comes again within this time is the same stop, sent twice."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: whatever is done at Ctrl-C is done at this as well."""


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


_swallowed: list[type[KeyboardInterrupt]] = []
"""The stop that was raised last, if one was: an agent may catch everything."""


@contextmanager
def _handlers(handlers: dict[signal.Signals, signal._HANDLER]) -> Iterator[None]:
    """Lend signals other handlers; only the main thread can, elsewhere nothing happens."""
    before: dict[signal.Signals, signal._HANDLER] = {}
    try:
        if _in_main_thread():
            for number, handler in handlers.items():
                before[number] = signal.getsignal(number)
                signal.signal(number, handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stops_raised() -> Iterator[None]:
    """Let SIGTERM raise `Terminated`, as Ctrl-C raises KeyboardInterrupt.

    Signals that are ignored, or that somebody deals with already, are left alone.
    """
    came = -SAME_STOP_SECONDS
    _swallowed.clear()

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal came
        now = time.monotonic()
        if now - came >= SAME_STOP_SECONDS:
            came = now
            kind = Terminated if number == signal.SIGTERM else KeyboardInterrupt
            _swallowed[:] = [kind]
            raise kind

    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    ours = {number: stop for number in STOPS if signal.getsignal(number) == usual[number]}
    try:
        with _handlers(ours):  # type: ignore[arg-type]
            yield
    finally:
        _swallowed.clear()  # it was for this block: who plays on in this process was not stopped


def raise_swallowed() -> None:
    """Raise a stop that came while somebody else's code ran, whatever that made of it."""
    if _swallowed:
        raise _swallowed[0]


@contextmanager
def stops_ignored() -> Iterator[None]:
    """Let a block that cleans up after a stop come to its end, whatever comes."""
    # Not SIG_IGN: processes started meanwhile would ignore them as well.
    with _handlers(dict.fromkeys(STOPS, lambda number, frame: None)):
        yield


@contextmanager
def stops_put_off() -> Iterator[None]:
    """Let a block come to its end before a stop takes effect; a second one takes effect."""
    if not _in_main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in STOPS}
    came: dict[int, float] = {}

    def put_off(number: int, frame: FrameType | None) -> None:
        first = came.setdefault(number, time.monotonic())
        handler = before[signal.Signals(number)]
        if time.monotonic() - first >= SAME_STOP_SECONDS and callable(handler):
            handler(number, frame)

    # What is ignored, left to the system or to a library in C stays so.
    ours = {number: put_off for number, handler in before.items() if callable(handler)}
    with _handlers(ours):  # type: ignore[arg-type]
        yield
    for number in came:
        signal.raise_signal(number)


@contextmanager
def stops_blocked() -> Iterator[None]:
    """Block stops for this thread and the processes it starts; they come afterwards.

    Workers are told to stop by their parent, which the signal reaches as well.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Helpers of loky's and Python's, whose start would unblock the signals again: they have
    # to run already.
    for name in (
        "joblib.externals.loky.backend.resource_tracker",
        "multiprocessing.resource_tracker",
    ):
        with suppress(ImportError, AttributeError):
            importlib.import_module(name).ensure_running()
    # Put off as well: a signal that another thread takes is told to the main thread.
    with stops_put_off():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def stops_left_to_parent() -> None:
    """In a worker process, take stops and do nothing, in place of having them blocked.

    Programs that an agent starts would inherit the block, and could not be terminated;
    and a worker that joblib starts later has nothing blocked.
    """
    # A process of the user's own keeps its handlers.
    ours = "loky" in type(multiprocessing.current_process()).__module__
    if not ours or not _in_main_thread():
        return
    for number in STOPS:
        signal.signal(number, lambda number, frame: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
