"""The command line, run from tests: in this process, or apart in a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gin_sim.cli import main

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


def start(*words: str) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "gin_sim", *words],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def press_ctrl_c(running: subprocess.Popen[str]) -> list[str]:
    """Interrupt a command and its workers, as a terminal does; return what it said."""
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=100)
    assert (running.returncode, stdout) == (130, ""), (running.returncode, stdout, stderr)
    for word in ("Traceback", "Warning", "Fatal"):
        assert word not in stderr
    said = stderr.splitlines()
    assert said[-1] == "gin-sim: interrupted"
    return said
