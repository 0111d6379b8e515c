"""A limit on the time that a Python agent takes for a decision.

In the main thread of a process, where workers and a run of one job play, a timer of the
system's interrupts the agent: its endless loops, and its waits too.  In other threads (of
a Dask worker), and where there is no such timer (Windows) or somebody else uses it, the
agent decides in a thread of its own, in which an exception is set; a wait in the system
cannot be interrupted there, so that it is left behind.

Neither reaches code in C that runs on without a look at signals.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from gin_sim.checks import real_number

LEAST_SECONDS, MOST_SECONDS = 0.001, 3600.0

REPEAT_SECONDS = 0.1
"""An agent that goes on is interrupted again after so long."""
REPEATS = 10
"""After so many times more, its process is ended."""

Decide = Callable[[Any, Any], Any]
Blame = Callable[[str], Any]
"""Says in a line what an agent did, and where."""


class OutOfTimeError(BaseException):
    """A decision that took too long; it never leaves the package.

    Agents that catch `Exception` do not catch it.
    """


def decision_limit(seconds: Any) -> float | None:
    """Return a limit as given by a user, in seconds; None for none.

    Raises
    ------
    GinSimError
        Naming what is not allowed and what is.
    """
    if seconds is None:
        return None
    return real_number(seconds, "seconds for a decision", LEAST_SECONDS, MOST_SECONDS)


def took_longer(seconds: float) -> str:
    """Say in words what an agent did."""
    return f"took longer than {seconds:g} s"


def ask_in_time(
    seconds: float, decide: Decide, view: Any, params: Any, blame: Blame | None = None
) -> Any:
    """Return what a decision answers, if it does so in time.

    Parameters
    ----------
    seconds : float
        The limit.
    decide : callable
        A decision, with what it gets.
    blame : callable, optional
        Gets to say what happened if an agent cannot be stopped and its process is ended.

    Raises
    ------
    OutOfTimeError
        If it took longer, whatever it came to then.
    """
    way = _by_alarm if _alarm_is_free() else _by_thread
    return way(seconds, decide, view, params, blame)


def _alarm_is_free() -> bool:
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
        and signal.getsignal(signal.SIGALRM) is not None
    )


def _agent_frame(decide: Decide, view: Any, params: Any) -> Any:
    """Ask: this frame and all above it are the agent's."""
    return decide(view, params)


def _by_alarm(seconds: float, decide: Decide, view: Any, params: Any, blame: Blame | None) -> Any:
    fired = 0

    def on_alarm(number: int, frame: FrameType | None) -> None:
        # Raises in the agent's frames only: an alarm that comes between them and the end
        # of the timer is counted, and cannot be lost or escape.
        nonlocal fired
        fired += 1
        at = frame
        while at is not None and at.f_code is not _by_alarm.__code__:
            if at.f_code is on_alarm.__code__:
                return  # so late that the one before is not done yet
            at = at.f_back
        if at is None:
            signal.setitimer(signal.ITIMER_REAL, 0)  # a stop came before the end of the timer
        elif at is not frame:
            if fired > REPEATS:
                _end_process(seconds, blame)
            raise OutOfTimeError

    before = signal.getsignal(signal.SIGALRM)
    answer, raised = None, None
    try:
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_SECONDS)
        answer = _agent_frame(decide, view, params)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raised = error
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            # This lets an alarm that has come already take effect first.
            signal.signal(signal.SIGALRM, before)
    if fired:
        raise OutOfTimeError from None
    if raised is not None:
        raise raised
    return answer


class _Decision:
    """A decision in a thread of its own."""

    def __init__(self, decide: Decide, view: Any, params: Any) -> None:
        self.asked = (decide, view, params)
        self.answer: Any = None
        self.raised: BaseException | None = None
        self.started, self.answered = threading.Event(), threading.Event()
        self.since = 0.0
        self.over = False
        self.lock = threading.Lock()
        self.noticed = 0
        self.thread = threading.Thread(target=self._run, name="gin-sim decision", daemon=True)

    def _run(self) -> None:
        while True:
            try:
                if not self.started.is_set():
                    self.since = time.monotonic()
                    self.started.set()
                    self._decide()
                # From here on nothing is sent, and what was sent is taken back.
                with self.lock:
                    self.over = True
                    _set_exception(threading.get_ident(), None)
                return
            except OutOfTimeError:
                continue

    def _decide(self) -> None:
        try:
            self.answer = _agent_frame(*self.asked)
        except BaseException as error:
            self.raised = error
        self.answered.set()

    def interrupt(self) -> None:
        """Raise `OutOfTimeError` in the thread, when it next runs Python."""

        class NoticedError(OutOfTimeError):
            def __init__(_, *args: Any) -> None:  # noqa: N805 - `self` is the decision
                self.noticed += 1

        with self.lock:
            if not self.over and self.thread.ident is not None:
                _set_exception(self.thread.ident, NoticedError)


def _set_exception(thread: int, kind: type[BaseException] | None) -> None:
    value = ctypes.py_object(kind) if kind is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), value)


def _by_thread(seconds: float, decide: Decide, view: Any, params: Any, blame: Blame | None) -> Any:
    decision = _Decision(decide, view, params)
    decision.thread.start()
    try:
        decision.started.wait()
        # Whoever asks may come to run again long after the agent has started.
        left = decision.since + seconds - time.monotonic()
        in_time = decision.answered.wait(max(left, 0.0))
    except BaseException:
        decision.interrupt()  # a stop, which is not to be waited for
        raise
    if in_time:
        decision.thread.join()
        if decision.raised is not None:
            raise decision.raised
        return decision.answer
    for _ in range(1 + REPEATS):
        decision.interrupt()
        decision.thread.join(REPEAT_SECONDS)
        if not decision.thread.is_alive():
            raise OutOfTimeError
    if decision.noticed:
        _end_process(seconds, blame)
    raise OutOfTimeError  # it waits in the system, and ends when that does


def _end_process(seconds: float, blame: Blame | None) -> NoReturn:
    """End this process, as there is no other way to stop an agent; say so in one line."""
    text = f"{took_longer(seconds)} and cannot be stopped"
    line = str(blame(text)) if blame is not None else f"a decision {text}"
    if multiprocessing.parent_process() is None:
        line = f"error: {line}"  # in a worker, its parent has the last word
    # Not print: the agent may be in the middle of one.  A progress bar hides the cursor.
    cursor = "\x1b[?25h\n" if os.isatty(2) else ""
    os.write(2, f"{cursor}gin-sim: {line}\n".encode(errors="replace"))
    os._exit(1)
