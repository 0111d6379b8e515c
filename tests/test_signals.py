"""SIGTERM: a run that a scheduler stops ends as one that is stopped by Ctrl-C."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gin_sim import load_agent, shuffled_deck
from gin_sim.cli.common import Parser, guarded
from gin_sim.compiled import JIT_DISABLED
from gin_sim.stops import (
    Terminated,
    raise_swallowed,
    stops_blocked,
    stops_ignored,
    stops_put_off,
    stops_raised,
)
from tests.command import check_rows, start, stop
from tests.helpers import table
from tests.test_runs import write_agent

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Unix's signals")
compiled = pytest.mark.skipif(JIT_DISABLED, reason="compiled")

TERM, INT = signal.SIGTERM, signal.SIGINT
HANDLERS = {number: signal.getsignal(number) for number in (TERM, INT)}


@pytest.fixture(autouse=True)
def _handlers_are_restored() -> Any:
    yield
    assert {number: signal.getsignal(number) for number in HANDLERS} == HANDLERS
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []).isdisjoint(HANDLERS)


# --- in this process -----------------------------------------------------------------


def run_guarded(run: Callable[[Namespace], Any]) -> int:
    parser = Parser()
    parser.set_defaults(run=run)
    return guarded(parser, [])


@pytest.mark.parametrize(
    ("number", "code", "word"), [(TERM, 143, "terminated"), (INT, 130, "interrupted")]
)
def test_a_command_says_how_it_ended(
    capsys: pytest.CaptureFixture[str], number: signal.Signals, code: int, word: str
) -> None:
    assert run_guarded(lambda _: signal.raise_signal(number)) == code
    assert capsys.readouterr().err == f"gin-sim: {word}\n"


def test_what_catches_ctrl_c_catches_sigterm() -> None:
    with stops_raised(), pytest.raises(KeyboardInterrupt) as came:
        signal.raise_signal(TERM)
    assert came.type is Terminated


@pytest.mark.parametrize("number", [INT, TERM])
def test_a_stop_that_was_swallowed_is_forgotten_after_its_block(number: signal.Signals) -> None:
    """Whoever plays on in this process afterwards was not stopped."""
    with stops_raised():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt):
            raise_swallowed()
    raise_swallowed()
    table(shuffled_deck(1, 0)).play(load_agent("simple"), load_agent("greedy"))


def test_a_signal_that_comes_twice_is_one_stop() -> None:
    """As from ``timeout``, which sends it to the process and then to its group."""
    cleaned = False
    with stops_raised(), pytest.raises(Terminated):
        try:
            signal.raise_signal(TERM)
        finally:
            signal.raise_signal(TERM)
            cleaned = True
    assert cleaned


def test_a_stop_that_was_swallowed_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("gin_sim.stops.time.monotonic", lambda: now[0])
    with stops_raised():
        with pytest.raises(Terminated):
            signal.raise_signal(TERM)
        now[0] += 2
        with pytest.raises(Terminated):
            signal.raise_signal(TERM)


@pytest.mark.parametrize("number", [TERM, INT])
@pytest.mark.parametrize("put_off", [stops_put_off, stops_blocked])
def test_a_block_comes_to_its_end_before_a_stop(put_off: Any, number: signal.Signals) -> None:
    done = []
    with stops_raised(), pytest.raises(KeyboardInterrupt) as came:
        with put_off():
            signal.raise_signal(number)
            signal.raise_signal(number)
            done.append("block")
        done.append("too far")
    assert done == ["block"]
    assert (came.type is Terminated) == (number == TERM)


def test_a_stop_that_is_asked_for_again_takes_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("gin_sim.stops.time.monotonic", lambda: now[0])
    with stops_raised(), pytest.raises(Terminated), stops_put_off():
        signal.raise_signal(TERM)
        now[0] += 2
        signal.raise_signal(TERM)
        pytest.fail("went on")


def test_what_is_ignored_or_taken_stays_so() -> None:
    taken = []
    for handler in (signal.SIG_IGN, lambda *_: taken.append(True)):
        before = signal.signal(TERM, handler)
        try:
            with stops_raised(), stops_put_off():
                signal.raise_signal(TERM)
            assert signal.getsignal(TERM) == handler
        finally:
            signal.signal(TERM, before)
    assert taken == [True]
    with stops_ignored():
        for number in (TERM, INT):
            signal.raise_signal(number)


def test_other_threads_leave_signals_alone() -> None:
    seen = []

    def look() -> None:
        with stops_raised(), stops_put_off(), stops_ignored():
            seen.append({number: signal.getsignal(number) for number in HANDLERS})

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [HANDLERS]


# --- runs ----------------------------------------------------------------------------


def until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not there() and time.monotonic() < deadline:
        time.sleep(0.02)


DICE = random.Random(143)
MOMENTS = [(DICE.uniform(0, 3), group) for group in (False, True) for _ in range(2)]


@compiled
@pytest.mark.parametrize(("seconds", "group"), MOMENTS)
def test_a_run_that_is_terminated_keeps_the_rows_it_says_it_keeps(
    tmp_path: Path, seconds: float, group: bool
) -> None:
    """While workers start, while they play, and while parts are written."""
    out = tmp_path / "run"
    backend = "loky" if group else "threads"
    players = ("simple", "greedy")
    if group:
        players = (write_agent(tmp_path, "import time; time.sleep(0.0005)"), "greedy")
    running = start(
        *("tournament", *players, "--hands", "1e9"),
        *("--seed", "1", "--backend", backend, "--out", str(out)),
    )
    until(out.exists)
    time.sleep(seconds)
    check_rows(out, stop(running, TERM, group=group, times=2))


@compiled
def test_behind_a_progress_bar_it_is_the_same(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    out = tmp_path / "run"
    running = start(
        *("tournament", "simple", "greedy", "--hands", "1e9", "--out", str(out)), stderr=theirs
    )
    os.close(theirs)
    seen = bytearray()

    def read() -> None:
        try:
            while part := os.read(ours, 4096):
                seen.extend(part)
        except OSError:
            pass  # a terminal's end

    reader = threading.Thread(target=read)
    reader.start()
    until(lambda: b"playing" in seen)
    os.killpg(running.pid, TERM)
    running.communicate(timeout=60)
    assert running.returncode == 143
    reader.join()
    os.close(ours)
    text = seen.decode()
    assert text.endswith("gin-sim: terminated\r\n")
    assert "Traceback" not in text
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l")  # the cursor is there again


@compiled
def test_a_comparison_that_is_terminated_is_no_decision(tmp_path: Path) -> None:
    running = start(
        *("compare", "simple", "simple", "--seed", "1"),
        *("--points0", "-0.0005", "--points1", "0.0005", "--max-hands", "9e15"),
    )
    assert running.stderr is not None
    assert "at most" in running.stderr.readline()
    assert " of 9,000,000,000,000,000 hands" in running.stderr.readline()
    said = "\n".join(stop(running, TERM))
    assert "stopped by hand: no decision" in said
    assert "LLR" in said
    assert "accepted" not in said


@compiled
def test_an_experiment_that_is_terminated_says_so(tmp_path: Path) -> None:
    out = tmp_path / "run"
    running = start(
        *("--deals", "1e6", "--backend", "loky", "--out", str(out)),
        module="experiments.knock_timing",
    )
    until(out.exists)
    stop(running, TERM)


STARTS_A_PROGRAM = """
import subprocess
program = subprocess.Popen(['sleep', '60'])
program.terminate()
if program.wait(30) != -15:
    raise RuntimeError('still there')
"""


@compiled
def test_programs_that_agents_start_in_workers_can_be_terminated(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, STARTS_A_PROGRAM.strip().replace("\n", "\n        "))
    out = tmp_path / "run"
    words = ("tournament", spec, "greedy", "--hands", "4", "--jobs", "2", "--out", str(out))
    running = start(*words)
    stdout, stderr = running.communicate(timeout=100)
    assert running.returncode == 0, stderr
    assert "results:" in stdout


def test_an_agent_cannot_swallow_a_stop(tmp_path: Path) -> None:
    from gin_sim import play_tournament
    from tests.test_runs import write_agent

    body = "signal.raise_signal(signal.SIGTERM) if view.turn == 3 else None"
    swallow = f"import signal\n        try: {body}\n        except BaseException: pass"
    spec = write_agent(tmp_path, swallow)
    with stops_raised(), pytest.raises(Terminated):
        play_tournament([spec, "greedy"], hands=200, seed=1, jobs=1)
    raising = swallow.replace("pass", "raise ValueError from None")
    spec = write_agent(tmp_path, raising)
    with stops_raised(), pytest.raises(Terminated):
        play_tournament([spec, "greedy"], hands=200, seed=1, jobs=1, on_illegal="forfeit")


def test_a_stop_inside_a_text_that_is_executed_has_the_same_exit_code(tmp_path: Path) -> None:
    """Python ended the process by the signal, after all had been said: it was seen in numba."""
    file = tmp_path / "texts.py"
    file.write_text("exec('import signal; signal.raise_signal(signal.SIGINT)')\n")
    running = start("tournament", f"{file}:texts", "simple", "--hands", "2")
    _, stderr = running.communicate(timeout=100)
    assert (running.returncode, stderr) == (130, "gin-sim: interrupted\n")
