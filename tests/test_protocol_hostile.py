"""Programs that crash, hang, flood, talk rubbish, cheat or dawdle harm nobody else."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

from gin_sim import PlayError, load_agent, play_tournament
from gin_sim.compiled import JIT_DISABLED
from tests.bots import running, write_bot
from tests.command import press_ctrl_c, start, stop
from tests.test_protocol import same_hands

LIMIT = 1.5
LATE = f"took longer than {LIMIT:g} s for "
DUE = "view['turn'] >= 4 and view['decision'] == 'discard'"
SLEEPS = """
child = subprocess.Popen(["sleep", "600"])
note_pid(child.pid)
time.sleep(600)
"""

HOSTILE = {
    "crash": (
        'sys.stderr.write("first\\nno idea\\n"); os._exit(3)',
        "ended with exit code 3 before it answered discard (allowed: ",
    ),
    "signal": ("os.kill(os.getpid(), 11)", "ended by signal 11 before it answered discard"),
    "hang": (SLEEPS, LATE + "discard (allowed: "),
    "slow": (f"time.sleep({2 * LIMIT})\nreturn answer", LATE + "discard (allowed: "),
    "flood": ("while True: sys.stdout.write('x' * 1000)", "a line of more than 65,536 bytes"),
    "flood of lines": ("while True: print('{}')", "answered '{}' to discard; allowed is {"),
    "flood of errors": ("while True: sys.stderr.write('oh\\n')", LATE + "discard (allowed: "),
    "garbage": ("print('Good morning', flush=True)", "answered 'Good morning' to discard; "),
    "illegal": (
        "return next(c for c in ('Ac', '2c') if c not in view['hand'].split()) if "
        "not {'Ac', '2c'} <= set(view['hand'].split()) else 'Xx'",
        "",
    ),
    "two answers": (
        'say({"id": view["id"], "answer": answer}); return answer',
        'allowed is {"id":',
    ),
    "an answer too early": (
        'say({"id": view["id"], "answer": answer})\n'
        'say({"id": view["id"] + 1, "answer": "draw"}); return answer',
        'allowed is {"id":',
    ),
    "closed output": ("os.close(1); time.sleep(600)", "closed its output before it answered"),
    "half a line": ("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(600)", LATE),
    "not text": (
        "sys.stdout.buffer.write(bytes(range(255, -1, -1)))\nsys.stdout.flush()",
        "to discard; allowed is {",
    ),
    "leaves a child": (
        'note_pid(subprocess.Popen(["sleep", "600"]).pid); os._exit(0)',
        "ended with exit code 0 before it answered discard",
    ),
    "deaf": (
        "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)" + SLEEPS,
        LATE,
    ),
}


@pytest.fixture(scope="module")
def alone() -> pd.DataFrame:
    """The hands of the others, where there is no bot."""
    return play_tournament(["greedy", "simple"], hands=2, seed=8, jobs=1).hands


@pytest.mark.parametrize("kind", list(HOSTILE))
def test_a_hostile_bot_loses_its_hands_and_the_others_play_on(
    tmp_path: Path, kind: str, alone: pd.DataFrame
) -> None:
    harm, said = HOSTILE[kind]
    spec = write_bot(tmp_path, harm, DUE)
    label = load_agent(spec).label
    result = play_tournament(
        [spec, "greedy", "simple"],
        hands=2,
        seed=8,
        jobs=1,
        on_illegal="forfeit",
        time_limit=LIMIT,
    )
    assert running(tmp_path) == []
    others = result.hands[result.hands.pairing == "greedy v simple"]
    same_hands(others, alone)
    mine = result.hands[result.hands.pairing != "greedy v simple"]
    assert mine.outcome.eq("forfeit").sum() >= 2
    (fault,) = result.as_dict()["faults"]
    assert fault["agent"] == label
    assert said in fault["what"]
    for part in (f"agent '{label}' ", "[seed 8, deal ", "phase d", "decision "):
        assert part in fault["what"]
    if kind == "crash":
        assert "; its last words on stderr: 'first | no idea'" in fault["what"]
    assert "\n" not in fault["what"]


def test_in_a_strict_run_it_is_named_and_the_run_stops(tmp_path: Path) -> None:
    spec = write_bot(tmp_path, HOSTILE["hang"][0], DUE)
    with pytest.raises(PlayError, match=rf"agent '.*' {LATE}discard .*\[seed 8, deal 0, mirror"):
        play_tournament([spec, "greedy"], hands=4, seed=8, jobs=2, time_limit=LIMIT)
    assert running(tmp_path) == []


def test_the_failure_of_another_agent_leaves_no_bot(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(
        "from gin_sim import agent\n"
        '@agent("other", source="a test", compiled=False)\n'
        "class Other:\n"
        "    def draw(view, params): return False\n"
        "    def discard(view, params): raise ValueError\n"
        "    def knock(view, params): return True\n"
    )
    spec = write_bot(tmp_path)
    for jobs in (1, 2):
        with pytest.raises(PlayError, match="agent 'other' raised ValueError"):
            play_tournament([spec, f"{other}:other"], hands=4, seed=8, jobs=jobs)
    assert running(tmp_path) == []


def test_a_bot_that_ends_after_each_hand_is_started_again(tmp_path: Path) -> None:
    plain, ending = tmp_path / "plain", tmp_path / "ending"
    plain.mkdir()
    ending.mkdir()
    specs = write_bot(plain), write_bot(ending, other="message['type'] == 'hand_over' and exit()")
    hands = [play_tournament([s, "simple"], hands=8, seed=8, jobs=1).hands for s in specs]
    same_hands(*hands)
    assert len((ending / "pids").read_text().split()) > len((plain / "pids").read_text().split())


@pytest.mark.skipif(JIT_DISABLED, reason="compiled")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_bot(
    tmp_path: Path, jobs: str, number: signal.Signals
) -> None:
    """Not even one that hangs, with what it has started."""
    spec = write_bot(tmp_path, SLEEPS, DUE)
    words = ("--time-limit", "600", "--hands", "400", "--jobs", jobs, "--seed", "1")
    run = start("tournament", spec, "greedy", *words, "--out", str(tmp_path / "run"))
    pids = tmp_path / "pids"
    deadline = time.monotonic() + 60
    # One that starts and is tried out, one or two that play, and what hangs.
    while not (pids.exists() and len(pids.read_text().split()) > int(jobs)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    if number == signal.SIGINT:
        press_ctrl_c(run)
    elif number == signal.SIGTERM:
        stop(run, signal.SIGTERM, group=False)
    else:
        os.kill(run.pid, number)
        run.communicate(timeout=60)
    assert running(tmp_path) == []
