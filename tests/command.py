"""The command line, run from tests: in this process, or apart in a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gin_sim.cli import main
from gin_sim.records import read_rows

ROOT = Path(__file__).resolve().parent.parent


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """Run a command that must fail; return its one line of error."""
    try:
        assert main(words) == code
    except SystemExit as stopped:
        assert stopped.code == code
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line for line in captured.err.splitlines() if ": error: " in line]
    assert len(lines) == 1
    assert "Traceback" not in captured.err
    return lines[0]


def start(*words: str, module: str = "gin_sim", **options: Any) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        text=True,
        start_new_session=True,
        **(pipes | options),
    )


def press_ctrl_c(running: subprocess.Popen[str]) -> list[str]:
    """Interrupt a command and its workers, as a terminal does; return what it said."""
    return stop(running, signal.SIGINT)


def stop(
    running: subprocess.Popen[str], number: signal.Signals, *, group: bool = True, times: int = 1
) -> list[str]:
    """Stop a command by a signal, to its whole group or to it alone; return what it said.

    What it must do in any case is checked: say so in its last line, and leave nothing.
    """
    for _ in range(times):
        (os.killpg if group else os.kill)(running.pid, number)
    stdout, stderr = running.communicate(timeout=100)
    code, last = STOPPED[number]
    assert (running.returncode, stdout) == (code, ""), stderr
    for word in ("Traceback", "Warning", "Fatal", "ignored", "leaked"):
        assert word not in stderr
    said = stderr.splitlines()
    assert said[-1] == f"gin-sim: {last}"
    # What watches over shared resources ends when the last process that has some is gone.
    deadline = time.monotonic() + 10
    while (left := in_group(running.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
    return said


STOPPED = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}
"""Exit code and last word."""


def in_group(group: int) -> list[str]:
    """Return the processes of a group that run."""
    done = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,args="], check=True, capture_output=True, text=True
    )
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    return [line[-1] for line in lines if line[0] == str(group) and "Z" not in line[1]]


def check_rows(out: Path, said: list[str]) -> None:
    """See that the rows are there which a stopped run says it has kept."""
    line = said[-2]
    if "nothing was played" in line:
        assert not (out / "hands").exists()
    else:
        count = int(line.split("the ")[1].split(" ")[0].replace(",", ""))
        assert len(read_rows(out)) == count > 0
