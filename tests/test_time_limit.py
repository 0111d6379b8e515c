"""Python agents that take too long: each decision has its limit, and nothing else has."""

from __future__ import annotations

import gc
import json
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gin_sim import GinSimError, PlayError, agent, play_tournament
from gin_sim.chance import pick
from gin_sim.cli import main
from gin_sim.limits import OutOfTimeError, _by_thread, ask_in_time
from gin_sim.plan import make_plan
from gin_sim.replay import Run, replay
from gin_sim.tournament import run_plan
from gin_sim.workers import Workers
from tests.command import ROOT, refused

LIMIT = 0.2
ALARM = hasattr(signal, "setitimer")
RUN: dict[str, Any] = {"hands": 8, "seed": 3}


@pytest.fixture(autouse=True)
def _nothing_called_at_collections() -> Iterator[None]:
    """Let no library be called when garbage is collected.

    Python swallows what is raised there and says so.  An alarm that struck there is sent
    again, but the note would fail a test.
    """
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks


SLOW = """
import time
from gin_sim import agent
from gin_sim.chance import pick

@agent("slow", source="a test", compiled=False)
class Slow:
    def draw(view, params):
        return False
    def discard(view, params):
        if view.word == {word}:
{body}
        return pick(view.legal_discards, view.word)
    def knock(view, params):
        return True
"""

FAILS = "raise ValueError"
LOOPS = "while True: pass"
SLEEPS = "time.sleep(60)"
CATCHES = """
while True:
    try:
        time.sleep(60)
    except Exception:
        pass
"""
CATCHES_A_FEW = """
for _ in range(3):
    try:
        while True: time.monotonic()
    except BaseException:
        pass
"""
CATCHES_AND_RAISES = """
try:
    while True: time.monotonic()
except BaseException:
    raise ValueError("as if that were the matter")
"""
CATCHES_ALL = """
while True:
    try:
        time.sleep(60)
    except BaseException:
        continue
"""
HOSTILE = [LOOPS, SLEEPS, CATCHES, CATCHES_A_FEW, CATCHES_AND_RAISES]
NAMES = ["loops", "sleeps", "catches", "catches a few", "catches and raises"]


def write(folder: Path, body: str, word: int) -> str:
    file = folder / "slow.py"
    file.write_text(SLOW.format(word=word, body=textwrap.indent(body.strip(), " " * 12)))
    return f"{file}:slow"


@pytest.fixture(scope="module")
def word() -> int:
    """What only one decision of the run sees, neither the first nor in the first deal."""
    words = []

    @agent("recorder", source="a test", compiled=False)
    class Recorder:
        @staticmethod
        def draw(view: Any, params: Any) -> bool:
            return False

        @staticmethod
        def discard(view: Any, params: Any) -> int:
            words.append(int(view.word))
            return int(pick(view.legal_discards, view.word))

        @staticmethod
        def knock(view: Any, params: Any) -> bool:
            return True

    play_tournament([Recorder, "greedy"], jobs=1, **RUN)  # type: ignore[list-item]
    assert len(words) == len(set(words))
    return words[len(words) * 5 // 8]


@pytest.fixture(scope="module")
def failed(word: int, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said where the same decision raises."""
    spec = write(tmp_path_factory.mktemp("fails"), FAILS, word)
    with pytest.raises(PlayError) as error:
        play_tournament([spec, "greedy"], jobs=1, **RUN)
    text = str(error.value)
    assert "deal 0," not in text
    assert "raised ValueError" in text
    return text


@pytest.fixture(scope="module")
def forfeited(word: int, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The hands where the same decision raises, and loses its hand."""
    spec = write(tmp_path_factory.mktemp("forfeits"), FAILS, word)
    result = play_tournament([spec, "greedy"], jobs=1, on_illegal="forfeit", **RUN)
    assert list(result.hands.outcome).count("forfeit") == 1
    return result.hands


@pytest.mark.skipif(not ALARM, reason="waits cannot be interrupted without an alarm")
@pytest.mark.parametrize("body", HOSTILE, ids=NAMES)
def test_the_decision_that_took_too_long_is_named(
    tmp_path: Path, word: int, failed: str, body: str
) -> None:
    spec = write(tmp_path, body, word)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(PlayError) as error:
        play_tournament([spec, "greedy"], jobs=1, time_limit=LIMIT, **RUN)
    assert str(error.value) == failed.replace("raised ValueError", "took longer than 0.2 s")
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) == before


@pytest.mark.skipif(not ALARM, reason="waits cannot be interrupted without an alarm")
@pytest.mark.parametrize("body", HOSTILE, ids=NAMES)
def test_it_loses_that_hand_and_no_other(
    tmp_path: Path, word: int, forfeited: Any, body: str
) -> None:
    spec = write(tmp_path, body, word)
    result = play_tournament(
        [spec, "greedy"], jobs=1, on_illegal="forfeit", time_limit=LIMIT, **RUN
    )
    assert result.hands.equals(forfeited)
    assert result.as_dict()["pairings"][0]["a_illegal"] == 1


@pytest.mark.parametrize("body", [LOOPS, SLEEPS], ids=NAMES[:2])
def test_so_it_is_in_worker_processes(
    tmp_path: Path, word: int, failed: str, forfeited: Any, body: str
) -> None:
    spec = write(tmp_path, body, word)
    for forgiving in (True, False):
        on_illegal = "forfeit" if forgiving else "error"
        plan = make_plan([spec, "greedy"], on_illegal=on_illegal, decision_seconds=LIMIT, **RUN)
        if forgiving:
            assert run_plan(plan, Workers(2, "loky"), piece_units=1).hands.equals(forfeited)
            continue
        with pytest.raises(PlayError) as error:
            run_plan(plan, Workers(2, "loky"), piece_units=1)
        assert str(error.value) == failed.replace("raised ValueError", "took longer than 0.2 s")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_agent_that_cannot_be_stopped_ends_its_process_by_name(
    tmp_path: Path, word: int, failed: str, jobs: int
) -> None:
    spec = write(tmp_path, CATCHES_ALL, word)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gin_sim", "tournament", spec, "greedy", "--hands", "8"),
            *("--seed", "3", "--time-limit", str(LIMIT), "--on-illegal", "forfeit"),
            *("--jobs", str(jobs), "--out", str(tmp_path / "run")),
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    line = failed.replace("raised ValueError", "took longer than 0.2 s and cannot be stopped")
    # A slow machine tells of the progress between.
    _, *said = (one for one in done.stderr.splitlines() if " of 8 hands" not in one)
    if jobs == 1:
        assert said == [f"gin-sim: error: {line}"]
    else:
        # The hands of the other worker are there already, or not.
        kept = "the 4 hands played are kept" if "are kept" in said[1] else "nothing was played yet"
        assert said == [
            f"gin-sim: {line}",
            f"gin-sim: {kept}; go on with: gin-sim tournament --resume {tmp_path / 'run'}",
            "gin-sim: error: a worker process died (killed, out of memory, or by an agent's own "
            "doing)",
        ]


def _in_a_thread(function: Callable[[], Any]) -> Any:
    """Return what a function returns, or raise what it raises, in another thread."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    answer, error = found[0]
    if error is not None:
        raise error
    return answer


def _decision(body: str) -> Any:
    """Return a decision with a body."""
    names: dict[str, Any] = {"time": time}
    exec(f"def decide(view, params):\n{textwrap.indent(body.strip(), '    ')}\n", names)  # noqa: S102
    return names["decide"]


@pytest.mark.parametrize("body", HOSTILE, ids=NAMES)
def test_in_another_thread_it_is_the_same(body: str) -> None:
    """A wait that cannot be interrupted there is left behind."""
    decide = _decision(body.replace("60", "3"))
    with pytest.raises(OutOfTimeError):
        _in_a_thread(lambda: ask_in_time(LIMIT, decide, None, None))


@pytest.mark.parametrize("elsewhere", [False, True], ids=["main thread", "another"])
def test_what_comes_in_time_is_handed_on(elsewhere: bool) -> None:
    def ask(body: str) -> Any:
        def once() -> Any:
            return ask_in_time(10, _decision(body), 3, 4)

        return _in_a_thread(once) if elsewhere else once()

    assert ask("return view + params") == 7
    with pytest.raises(ValueError, match="odd"):
        ask("raise ValueError('odd')")
    with pytest.raises(SystemExit):
        ask("raise SystemExit")
    with pytest.raises(KeyboardInterrupt):
        ask("raise KeyboardInterrupt")


@pytest.mark.parametrize("elsewhere", [False, True], ids=["main thread", "another"])
def test_an_answer_at_the_last_moment_is_one_or_the_other(elsewhere: bool) -> None:
    """Whatever is first, nothing comes after it."""
    dice = random.Random(1)
    limit, came = 0.01, set()

    def ask(until: float, fails: bool) -> str:
        def decide(view: Any, params: Any) -> str:
            while time.perf_counter() < until:
                pass
            if fails:
                raise ValueError
            return "answered"

        try:
            return str(ask_in_time(limit, decide, None, None))
        except OutOfTimeError:
            return "too late"
        except ValueError:
            return "raised"

    def many() -> None:
        for i in range(150):
            came.add(ask(time.perf_counter() + limit * dice.uniform(0.8, 1.3), i % 2 == 0))
            for _ in range(100):  # where an alarm that is late would strike
                pass

    _in_a_thread(many) if elsewhere else many()
    assert came <= {"answered", "raised", "too late"}
    assert "too late" in came


@pytest.mark.skipif(not ALARM, reason="there is no alarm")
def test_an_alarm_of_somebody_elses_is_left_alone() -> None:
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(True))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(OutOfTimeError):
            ask_in_time(0.05, _decision(LOOPS), None, None)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0 or rang
        while not rang:
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not ALARM, reason="there is no alarm")
def test_without_an_alarm_a_run_is_the_same(
    tmp_path: Path, word: int, forfeited: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gin_sim.limits._by_alarm", _by_thread)
    spec = write(tmp_path, LOOPS, word)
    result = play_tournament(
        [spec, "greedy"], jobs=1, on_illegal="forfeit", time_limit=LIMIT, **RUN
    )
    assert result.hands.equals(forfeited)


def test_a_limit_that_nobody_meets_changes_nothing(tmp_path: Path) -> None:
    spec = write(tmp_path, FAILS, -1)
    for amount in ({"hands": 6}, {"games": 2}):
        plain, limited = (
            play_tournament([spec, "greedy"], seed=1, jobs=1, time_limit=limit, **amount)
            for limit in (None, 60)
        )
        assert plain.hands.equals(limited.hands)


def test_the_limit_is_written_down_and_replayed(
    tmp_path: Path, word: int, failed: str, forfeited: Any
) -> None:
    spec = write(tmp_path, LOOPS, word)
    folder = tmp_path / "run"
    play_tournament(
        *([spec, "greedy"],),
        **{"jobs": 1, "on_illegal": "forfeit", "time_limit": LIMIT, "out": folder, **RUN},
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["decision_seconds"] == LIMIT
    assert "--on-illegal forfeit --time-limit 0.2" in manifest["command"]
    lost = forfeited[forfeited.outcome == "forfeit"].iloc[0]
    told = list(replay(Run.open(folder), int(lost.deal), int(lost.mirror)))
    assert "slow forfeits" in told[-1]
    for bad in (0, "soon", True):
        (folder / "manifest.json").write_text(json.dumps(manifest | {"decision_seconds": bad}))
        with pytest.raises(GinSimError, match=f"decision_seconds = {bad!r} cannot be"):
            Run.open(folder)


@pytest.mark.parametrize("bad", [0, -1, 0.0009, 3601, float("nan"), float("inf"), True, "1", [1]])
def test_a_limit_that_cannot_be_is_refused(bad: Any) -> None:
    with pytest.raises(GinSimError, match=r"allowed is a number 0\.001\.\.3600"):
        make_plan(["simple", "greedy"], decision_seconds=bad)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], word: int) -> None:
    for words in (("tournament", "simple", "greedy"), ("compare", "simple", "greedy")):
        line = refused(capsys, *words, "--time-limit", "0")
        assert "seconds for a decision = 0.0: allowed is a number 0.001..3600" in line
        assert "'x': allowed is a number" in refused(capsys, *words, "--time-limit", "x")
    spec = write(tmp_path, LOOPS, word)
    for command in ("tournament", "compare"):
        words = (command, spec, "greedy", "--time-limit", "0.2", "--backend", "threads")
        assert "threads cannot be interrupted; leave the backend out, or use loky" in refused(
            capsys, *words
        )
    words = ("compare", spec, "greedy", "--seed", "3", "--jobs", "1", "--time-limit", "0.2")
    assert main(words) == 1
    assert "agent 'slow' took longer than 0.2 s [seed 3, deal " in capsys.readouterr().err
    out = ("--out", str(tmp_path / "run"), "--hands", "2", "--jobs", "1")
    assert main(("tournament", "simple", "greedy", "--time-limit", "1", *out)) == 0
    assert "compiled agents have no time limit" in capsys.readouterr().err
