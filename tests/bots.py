"""Bots for tests: the examples, compiled with what there is, and some that do harm."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.command import ROOT, in_group

EXAMPLES = ROOT / "docs" / "bots"
PYTHON_BOT = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES / 'greedy_bot.py'))}"

LANGUAGES = {
    "c++": next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), ""),
    "java": "javac" if shutil.which("javac") and shutil.which("java") else "",
}
"""The compiler of each example that has to be compiled; empty where there is none."""


@cache
def compiled_bot(language: str) -> str:
    """Compile an example; return what names it on the command line."""
    folder = Path(mkdtemp(prefix="gin-sim-bot-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if language == "java":
        words = ["javac", "-d", str(folder), str(EXAMPLES / "SimpleBot.java")]
        command = f"java -cp {shlex.quote(str(folder))} SimpleBot"
    else:
        program = folder / "simple_bot"
        words = [LANGUAGES["c++"], "-O2", "-o", str(program), str(EXAMPLES / "simple_bot.cpp")]
        command = shlex.quote(str(program))
    subprocess.run(words, check=True, timeout=300)
    return f"cmd:{command}"


BOT = """
import json, os, subprocess, sys, time

PIDS = os.path.join(os.path.dirname(__file__), "pids")

def note_pid(pid):
    with open(PIDS, "a") as file:
        file.write(f"{{pid}}\\n")

def say(message):
    print(json.dumps(message), flush=True)

def due(view):
    return {due}

def harm(view):
{harm}

note_pid(os.getpid())
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({{"protocol": 1}})
    elif message["type"] == "decide":
        view = message
        answer = view["allowed"].split()[-1]
        if view["decision"] == "discard":
            answer = view["best_discards"].split()[0]
        if view["decision"] == "knock":
            answer = "knock"
        if due(view):
            answer = harm(view)
        if answer is not None:
            say({{"id": view["id"], "answer": answer}})
    else:
        {other}
"""


def write_bot(folder: Path, harm: str = "return None", due: str = "False", other: str = "") -> str:
    """Write a bot that does harm where it is due; return what names it.

    The numbers of its processes are in `pids` in the folder.
    """
    body = "\n".join(f"    {line}" for line in harm.strip().splitlines())
    file = folder / "bot.py"
    file.write_text(BOT.format(due=due, harm=body, other=other or "pass"))
    return f"cmd:{shlex.join((sys.executable, str(file)))}"


def running(folder: Path, seconds: float = 10) -> list[str]:
    """Return what of a bot's processes runs on when some time has passed; none at best."""
    pids = [int(line) for line in (folder / "pids").read_text().split()]
    deadline = time.monotonic() + seconds
    while True:
        left = [line for pid in pids for line in in_group(pid)]
        left += [str(pid) for pid in pids if _is_there(pid)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
