"""A run that was stopped goes on, and ends as the bytes of one that was not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gin_sim import ResultsError, play_tournament
from gin_sim.cli import main
from gin_sim.collect import MOST_FILES, Collector
from gin_sim.compiled import JIT_DISABLED
from gin_sim.folder import RunFolder
from gin_sim.plan import Plan, make_plan, make_sweep
from gin_sim.progress import Reporter
from gin_sim.records import read_rows
from gin_sim.run import Run
from gin_sim.tournament import run_plan
from gin_sim.workers import Workers
from tests.command import press_ctrl_c, refused, start
from tests.test_runs import write_agent
from tests.test_tournament import contents

UNITS = 12 if JIT_DISABLED else 120

PLANS: dict[str, Callable[[], Plan]] = {
    "hands": lambda: make_plan(["simple", "greedy", "random"], hands=2 * UNITS, seed=7),
    "games": lambda: make_plan(["simple", "greedy"], games=UNITS // 2, seed=7),
    "sums": lambda: make_plan(["simple", "greedy"], hands=2 * UNITS, seed=7, keep_hands=False),
    "gauntlet": lambda: make_plan(
        ["simple", "greedy", "random"], hands=2 * UNITS, seed=7, format="gauntlet"
    ),
    "log": lambda: make_plan(["simple", "greedy"], hands=UNITS, seed=7, log=True),
    "log of games": lambda: make_plan(["simple", "greedy"], games=UNITS // 12, seed=7, log=True),
    "sweep": lambda: make_sweep("early_gin", "turns", [0, 3], ["simple"], hands=UNITS, seed=7),
}


class StoppedError(Exception):
    """What stops a run in a test."""


def stop_after(units: int) -> Reporter:
    def report(done: int, total: int, found: str = "") -> None:
        if done >= units:
            raise StoppedError

    return report


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gin_sim.records.PART_ROWS", 100)
    monkeypatch.setattr("gin_sim.records.PART_HISTORIES", 50)
    monkeypatch.setattr("gin_sim.plan.MOST_PARTS", 4)


def clean_run(plan: Plan, folder: Path) -> dict[str, bytes]:
    run_plan(plan, Workers(1, "threads"), RunFolder.create(folder, plan.manifest()))
    return contents(folder)


def stopped_run(plan: Plan, folder: Path, done: int, piece_units: int = 5) -> None:
    with pytest.raises(StoppedError):
        run_plan(
            plan,
            Workers(1, "threads"),
            RunFolder.create(folder, plan.manifest()),
            piece_units=piece_units,
            report=stop_after(done),
        )


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kind", PLANS)
def test_a_stopped_run_ends_as_the_same_bytes(tmp_path: Path, kind: str) -> None:
    plan = PLANS[kind]()
    clean = clean_run(plan, tmp_path / "clean")
    both = 2 * len(plan.pairings)
    for i, share in enumerate((0.0, 0.3, 0.7, 0.95)):
        out = tmp_path / str(i)
        stopped_run(plan, out, round(share * both * plan.units), piece_units=2 + i)
        assert contents(out) != clean
        # A second stop, with pieces cut otherwise, and what a killed process leaves.
        (out / "sums" / "part-000099.json.tmp").parent.mkdir(exist_ok=True)
        (out / "sums" / "part-000099.json.tmp").write_text("{")
        again = Run.open(out).plan()
        assert again.manifest() == plan.manifest()
        result = run_plan(
            again,
            Workers(2, "threads"),
            RunFolder.resume(out, again.manifest()),
            piece_units=3,
        )
        assert contents(out) == clean
        assert result.as_dict()["pairings"] == json.loads(clean["summary.json"])["pairings"]


@pytest.mark.usefixtures("small_parts")
def test_only_what_is_missing_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PLANS["hands"]()
    stopped_run(plan, tmp_path / "run", 6 * UNITS // 2)
    before = len(read_rows(tmp_path / "run")) // 6
    folder = RunFolder.resume(tmp_path / "run", plan.manifest())
    missing = Collector(plan, folder).missing()
    assert sum(end - first for first, end in missing) == UNITS - before < UNITS
    folder.release()
    played: list[int] = []

    class Watched(Workers):
        def run(self, function: Any, tasks: Any) -> Any:
            for piece in tasks:
                played.extend(range(piece.first, piece.first + piece.count))
                yield function(piece)

    folder = RunFolder.resume(tmp_path / "run", plan.manifest())
    run_plan(plan, Watched(1, "threads"), folder, piece_units=7)
    assert played == [unit for first, end in missing for unit in range(first, end)]


def test_a_finished_run_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    plan = PLANS["hands"]()
    clean = clean_run(plan, tmp_path / "run")
    folder = RunFolder.resume(tmp_path / "run", plan.manifest())
    assert Collector(plan, folder).missing() == []
    run_plan(plan, Workers(1, "threads"), folder)
    assert contents(tmp_path / "run") == clean


def test_many_small_pieces_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gin_sim.collect.MOST_FILES", 5)
    assert MOST_FILES > 5
    plan = make_plan(["greedy", "random"], hands=80, seed=3)
    clean = clean_run(plan, tmp_path / "clean")
    stopped_run(plan, tmp_path / "run", 60, piece_units=1)
    files = list((tmp_path / "run" / "unfinished").iterdir())
    assert 1 <= len(files) <= 6
    assert sorted(read_rows(tmp_path / "run").deal) == sorted(2 * list(range(30)))
    # Stopped between the writing of the whole and the dropping of its pieces.
    stopped_run(plan, tmp_path / "twin", 4, piece_units=1)
    for file in (tmp_path / "twin" / "unfinished").iterdir():
        shutil.copy(file, tmp_path / "run" / "unfinished")
    assert sorted(read_rows(tmp_path / "run").deal) == sorted(2 * list(range(30)))
    folder = RunFolder.resume(tmp_path / "run", plan.manifest())
    run_plan(plan, Workers(1, "threads"), folder, piece_units=1)
    assert contents(tmp_path / "run") == clean


def test_a_run_in_progress_is_not_resumed(tmp_path: Path) -> None:
    plan = PLANS["hands"]()
    folder = RunFolder.create(tmp_path / "run", plan.manifest())
    with pytest.raises(ResultsError, match="a run is in progress in this folder"):
        RunFolder.resume(tmp_path / "run", plan.manifest())
    folder.release()
    taken: list[RunFolder] = []
    refusals: list[str] = []
    barrier = threading.Barrier(6)

    def claim() -> None:
        barrier.wait()
        try:
            taken.append(RunFolder.resume(tmp_path / "run", plan.manifest()))
        except ResultsError as error:
            refusals.append(str(error))

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(taken), len(refusals)) == (1, 5)
    taken[0].release()


CHANGES: list[tuple[tuple[str, ...], str]] = [
    (("--seed", "8"), "seed was 7, now 8"),
    (("--hands", "1000"), "hands was 40, now 1000"),
    (("--games", "40"), "games was None, now 40"),
    (("--rules", "eaai"), "rules: game_bonus was 100, now 0"),
    (("--set", "knock_limit=9"), "rules: knock_limit was 10, now 9"),
    (("greedy", "random"), "agents was 'greedy, greedy#2', now 'greedy, random'"),
    (("--on-illegal", "forfeit"), "on_illegal was 'error', now 'forfeit'"),
    (("--no-hands",), "rows was True, now False"),
    (("--format", "gauntlet"), "format was 'round-robin', now 'gauntlet'"),
]


@pytest.mark.parametrize(("words", "told"), CHANGES, ids=[told for _, told in CHANGES])
def test_what_differs_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    plan = make_plan(["greedy", "greedy"], hands=40, seed=7)
    stopped_run(plan, tmp_path / "run", 20)
    before = contents(tmp_path / "run")
    line = refused(capsys, "tournament", *words, "--resume", str(tmp_path / "run"))
    assert "cannot be resumed: " in line
    assert told in line
    assert contents(tmp_path / "run") == before


@pytest.mark.parametrize("key", ["versions", "engine_sha256"])
def test_another_version_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    plan = make_plan(["greedy", "greedy"], hands=40, seed=7)
    stopped_run(plan, tmp_path / "run", 20)
    file = tmp_path / "run" / "manifest.json"
    manifest = json.loads(file.read_text())
    if key == "versions":
        manifest[key]["numba"] = "0.1"
    else:
        manifest[key] = "0" * 64
    file.write_text(json.dumps(manifest))
    line = refused(capsys, "tournament", "--resume", str(tmp_path / "run"))
    told = "versions: numba was '0.1'" if key == "versions" else "the source of gin-sim has changed"
    assert told in line


def test_a_changed_agent_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = write_agent(tmp_path, "pass")
    plan = make_plan([spec, "greedy"], hands=8, seed=7)
    stopped_run(plan, tmp_path / "run", 2, piece_units=1)
    write_agent(tmp_path, "pass  # changed")
    line = refused(capsys, "tournament", "--resume", str(tmp_path / "run"))
    assert "agent 'failing': its source has changed" in line
    (tmp_path / "failing.py").unlink()
    assert "no file" in refused(capsys, "tournament", "--resume", str(tmp_path / "run"))


def test_from_python_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {"hands": 40, "seed": 7, "jobs": 1}
    clean = play_tournament(["greedy", "random"], **options, out=tmp_path / "clean")
    stopped_run(make_plan(["greedy", "random"], hands=40, seed=7), tmp_path / "run", 20)
    del options["seed"]
    done = play_tournament(["greedy", "random"], **options, resume=tmp_path / "run")
    assert done.as_dict() | {"out": 0} == clean.as_dict() | {"out": 0}
    assert contents(tmp_path / "run") == contents(tmp_path / "clean")
    with pytest.raises(ResultsError, match="give one of them"):
        play_tournament(["greedy", "random"], hands=2, out="a", resume="b")
    with pytest.raises(ResultsError, match="holds no run"):
        play_tournament(["greedy", "random"], hands=2, resume=tmp_path)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("sums/part-000000.json", "{"),
        ("sums/part-000000.json", "{}"),
        ("unfinished/part-000001-0000000000000050-0000000000000005.npz", ""),
        ("sums/part-000000.json", '{"units": 1, "pairings": [], "agents": [], "blocks": {}}'),
        ("unfinished/part-000001-0000000000000050-0000000000000005.npz", "no archive"),
    ],
)
@pytest.mark.usefixtures("small_parts")
def test_damaged_files_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, text: str
) -> None:
    plan = make_plan(["greedy", "random"], hands=160, seed=7)
    stopped_run(plan, tmp_path / "run", 112)
    damaged = tmp_path / "run" / file
    assert damaged.exists()
    damaged.write_text(text)
    line = refused(capsys, "tournament", "--resume", str(tmp_path / "run"))
    assert str(tmp_path / "run") in line


def test_a_read_only_folder_gets_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = make_plan(["greedy", "greedy"], hands=40, seed=7)
    stopped_run(plan, tmp_path / "run", 20)
    real = Path.open

    def read_only(path: Path, mode: str = "r", **options: Any) -> Any:
        if mode[0] in "wxa":  # root may write into folders that others may not
            raise OSError(30, "Read-only file system")
        return real(path, mode, **options)

    monkeypatch.setattr(Path, "open", read_only)
    line = refused(capsys, "tournament", "--resume", str(tmp_path / "run"))
    assert line.endswith("cannot be written: Read-only file system")


def test_a_full_disk_stops_the_run_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gin_sim.records.PART_ROWS", 40)
    plan = make_plan(["greedy", "greedy"], hands=200, seed=7)
    clean = clean_run(plan, tmp_path / "clean")
    room, real = [3], os.fsync

    def fsync(number: int) -> None:
        room[0] -= 1
        if room[0] < 0:
            raise OSError(28, "No space left on device")
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    words = ("tournament", "greedy", "greedy", "--hands", "200", "--seed", "7", "--jobs", "1")
    out = str(tmp_path / "run")
    assert main([*words, "--out", out]) == 1
    said = capsys.readouterr().err.splitlines()
    assert "cannot be written: No space left on device" in said[-1]
    assert said[-2].endswith(f"go on with: gin-sim tournament --resume {out}")
    assert not list((tmp_path / "run").rglob("*.tmp"))
    monkeypatch.setattr(os, "fsync", real)
    assert main(["tournament", "--resume", out]) == 0
    assert contents(tmp_path / "run") == clean


@pytest.mark.skipif(os.name == "nt" or JIT_DISABLED, reason="compiled, with Unix's signals")
@pytest.mark.parametrize("backend", ["threads", "loky"])
def test_interrupted_at_random_moments_it_ends_as_the_same_bytes(
    tmp_path: Path, backend: str
) -> None:
    words = ("tournament", "simple", "greedy", "--seed", "1", "--hands", "1200000")
    out = tmp_path / "run"
    rng = np.random.default_rng(len(backend))
    resume = ("tournament", "--resume", str(out), "--backend", backend)
    begin: tuple[str, ...] = (*words, "--out", str(out), "--backend", backend)
    for sign in (signal.SIGINT, signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        running = start(*begin)
        deadline = time.monotonic() + 60
        while not (out / "manifest.json").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2 + 0.8 * rng.random())
        if sign == signal.SIGINT:
            press_ctrl_c(running)
        else:
            os.killpg(running.pid, sign)
            running.communicate(timeout=60)
        begin = resume
    assert not (out / "summary.json").exists()
    assert main(list(resume)) == 0
    assert main([*words, "--out", str(tmp_path / "clean")]) == 0
    assert contents(out) == contents(tmp_path / "clean")


@pytest.mark.parametrize("how", ["gone", "cut", "all gone"])
@pytest.mark.parametrize("kind", ["hands", "games"])
@pytest.mark.usefixtures("small_parts")
def test_parts_whose_rows_have_gone_are_played_again(tmp_path: Path, kind: str, how: str) -> None:
    plan = PLANS[kind]()
    clean = clean_run(plan, tmp_path / "run")
    rows = sorted((tmp_path / "run" / kind).iterdir())
    for file in rows if how == "all gone" else rows[-1:]:
        if how == "cut":
            file.write_bytes(file.read_bytes()[:100])
        else:
            file.unlink()
    folder = RunFolder.resume(tmp_path / "run", plan.manifest())
    run_plan(plan, Workers(1, "threads"), folder)
    assert contents(tmp_path / "run") == clean


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("sums/part-000000.json", "sums/part-000001.json"),
        ("sums/part-000000.json", "sums/part-000077.json"),
        (
            "unfinished/part-000001-0000000000000050-0000000000000005.npz",
            "unfinished/part-000000-0000000000000050-0000000000000005.npz",
        ),
        (
            "unfinished/part-000001-0000000000000050-0000000000000005.npz",
            "unfinished/part-000001-0000000000000055-0000000000000009.npz",
        ),
        (
            "unfinished/part-000001-0000000000000050-0000000000000005.npz",
            "unfinished/part-000009-0000000000000000-0000000000000005.npz",
        ),
    ],
)
def test_files_that_are_not_of_the_run_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, copy: str
) -> None:
    plan = make_plan(["greedy", "random"], hands=160, seed=7)
    stopped_run(plan, tmp_path / "run", 112)
    if name.startswith("unfinished"):
        (tmp_path / "run" / "sums" / "part-000000.json").unlink(missing_ok=True)
    shutil.copy(tmp_path / "run" / name, tmp_path / "run" / copy)
    line = refused(capsys, "tournament", "--resume", str(tmp_path / "run"))
    assert "is not of this run" in line


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    plan = make_plan(["greedy", "random"], hands=40, seed=7)
    stopped_run(plan, tmp_path / "run", 20)
    mine = tmp_path / "run" / "deep" / "precious.tmp"
    mine.parent.mkdir()
    for file in (mine, tmp_path / "run" / "mine.tmp"):
        file.write_text("kept")
    (tmp_path / "run" / "a.tmp").mkdir()
    RunFolder.resume(tmp_path / "run", plan.manifest()).release()
    assert mine.read_text() == (tmp_path / "run" / "mine.tmp").read_text() == "kept"


def test_a_sweep_that_is_resumed_is_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("sweep", "early_gin", "turns", "0,3", "--against", "simple", "--hands", "40")
    assert main([*words, "--seed", "7", "--jobs", "1", "--out", str(tmp_path / "clean")]) == 0
    table = capsys.readouterr().out.splitlines()[:5]
    plan = make_sweep("early_gin", "turns", [0, 3], ["simple"], hands=40, seed=7)
    stopped_run(plan, tmp_path / "run", 20)
    resume = ("tournament", "--resume", str(tmp_path / "run"))
    line = refused(capsys, *resume, "--seed", "8")
    assert line.endswith("cannot be resumed: seed was 7, now 8")
    assert main([*resume, "--seed", "7", "--hands", "40"]) == 0
    assert capsys.readouterr().out.splitlines()[:5] == table
    assert contents(tmp_path / "run") == contents(tmp_path / "clean")


def test_what_is_there_already_is_counted_when_a_resumed_run_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = make_plan(["greedy", "random"], hands=40, seed=7)
    stopped_run(plan, tmp_path / "run", 20)

    def stopped(self: Workers, function: Any, tasks: Any) -> Any:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(Workers, "run", stopped)
    assert main(["tournament", "--resume", str(tmp_path / "run")]) == 130
    assert "the 20 hands played are kept; go on with" in capsys.readouterr().err
