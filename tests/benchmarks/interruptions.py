"""Runs stopped at random moments and resumed: every folder must end as the same bytes.

``python -m tests.benchmarks.interruptions --times 40 --seed 1`` stops compiled and Python
agents, in threads and in processes, by SIGINT and SIGTERM to the command and its workers,
by SIGKILL of the command, and by SIGKILL of one worker; looks at the exit code and at what
is left running; resumes, and compares with a run that was left alone.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SLOW = '''
from gin_sim import agent
from gin_sim.chance import pick

@agent("slow", source="a benchmark", compiled=False)
class Slow:
    """Plain Python."""
    def draw(view, params):
        return False
    def discard(view, params):
        return pick(view.best_discards, view.word)
    def knock(view, params):
        return True
'''
RUNS = {
    "compiled, threads": ("simple greedy --hands 2000000", "threads"),
    "compiled, processes": ("simple greedy --hands 2000000", "loky"),
    "compiled, sums only": ("simple greedy random --hands 1500000 --no-hands", "threads"),
    "whole games": ("simple early_gin --games 40000", "loky"),
    "plain Python": ("{slow}:slow greedy --hands 1200", "loky"),
}
WAYS = ("SIGINT", "SIGTERM", "SIGKILL", "SIGKILL of a worker")
CODES = {"SIGINT": {130}, "SIGTERM": {143}, "SIGKILL": {-9}, "SIGKILL of a worker": {1}}


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a run."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def start(words: list[str]) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "gin_sim", *words],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def members(session: int) -> list[tuple[int, str]]:
    """Return process numbers and command lines of a session."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,sess=,stat=,args="], check=True, text=True, capture_output=True
    ).stdout
    out = []
    for line in listed.splitlines():
        pid, sess, stat, args = line.split(None, 3)
        if int(sess) == session and not stat.startswith("Z"):
            out.append((int(pid), args))
    return out


def stop(running: subprocess.Popen[str], way: str) -> bool:
    """Stop a run in a way; return whether there was something to stop."""
    if running.poll() is not None:
        return False
    if way == "SIGKILL of a worker":
        workers = [
            pid
            for pid, args in members(running.pid)
            if pid != running.pid and "loky" in args and "tracker" not in args
        ]
        if not workers:
            return False
        os.kill(random.choice(workers), signal.SIGKILL)
    elif way == "SIGKILL":
        os.kill(running.pid, signal.SIGKILL)
    else:
        os.killpg(running.pid, getattr(signal, way))
    return True


def trial(number: int, rng: random.Random, folder: Path, clean: dict[str, dict[str, bytes]]) -> str:
    """Stop and resume one run; return what was wrong, or nothing."""
    kind = list(RUNS)[number % len(RUNS)]
    way = WAYS[(number // len(RUNS)) % len(WAYS)]
    words, backend = RUNS[kind]
    if way == "SIGKILL of a worker" and backend == "threads":
        backend = "loky"  # threads are not killed one by one
    out = folder / f"run-{number}"
    command = words.format(slow=folder / "slow.py").split()
    running = start(
        [
            "tournament",
            *command,
            "--seed",
            "7",
            "--jobs",
            "2",
            "--backend",
            backend,
            "--out",
            str(out),
        ]
    )
    while not (out / "manifest.json").exists() and running.poll() is None:
        time.sleep(0.01)
    seconds = rng.uniform(0.0, 5.0)
    time.sleep(seconds)
    stopped = stop(running, way)
    if way == "SIGKILL of a worker" and not stopped:  # none had started yet
        time.sleep(2)
        stopped = stop(running, way)
    _, said = running.communicate(timeout=120)
    code = running.returncode
    problems = []
    if stopped and code not in CODES[way] | {0}:
        problems.append(f"exit code {code}: {said[-400:]!r}")
    # Whoever outlives a command that was killed may tell what it left behind.
    if "Traceback" in said or ("Warning" in said and way != "SIGKILL"):
        problems.append(f"said {said[-600:]!r}")
    deadline = time.monotonic() + 10
    while members(running.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    if left := members(running.pid):
        problems.append(f"left running: {left}")
    before = (out / "summary.json").exists()
    again = start(["tournament", "--resume", str(out), "--jobs", "2"])
    _, said = again.communicate(timeout=300)
    if again.returncode != 0:
        problems.append(f"resume: exit code {again.returncode}: {said[-400:]!r}")
    found = contents(out)
    if found != clean[kind]:
        names = {n for n in found.keys() | clean[kind].keys() if found.get(n) != clean[kind].get(n)}
        problems.append(f"differs in {sorted(names)[:5]}")
    how = "was finished" if before else f"exit {code}"
    print(
        f"{number:3d}  {kind:20s} {way:20s} after {seconds:4.1f} s  {how:12s}  "
        f"{'; '.join(problems) or 'same bytes'}",
        flush=True,
    )
    return "; ".join(problems)


def main() -> int:
    """Run all trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    random.seed(args.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "slow.py").write_text(SLOW)
        clean = {}
        for kind, (words, _) in RUNS.items():
            out = folder / f"clean-{len(clean)}"
            begun = time.monotonic()
            command = words.format(slow=folder / "slow.py").split()
            running = start(["tournament", *command, "--seed", "7", "--out", str(out)])
            running.communicate()
            clean[kind] = contents(out)
            print(f"     {kind}: {time.monotonic() - begun:.1f} s left alone", flush=True)
        wrong = [problem for n in range(args.times) if (problem := trial(n, rng, folder, clean))]
    print(f"{args.times - len(wrong)} of {args.times} ended as the same bytes")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
