"""Runs that meet trouble: another run, an agent that fails, a reader that is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pytest

from gin_sim import AgentError, PlayError, ResultsError, load_agent, play_tournament
from gin_sim.cli import main
from gin_sim.cli.common import whole
from gin_sim.compiled import JIT_DISABLED
from gin_sim.folder import RunFolder
from gin_sim.plan import make_plan
from gin_sim.records import read_rows
from gin_sim.tournament import run_plan
from gin_sim.workers import Workers
from tests.command import ROOT, check_rows, press_ctrl_c, start

FAILING = """
import sys
from gin_sim import agent
from gin_sim.chance import pick

@agent("failing", source="a test", compiled={compiled}, {params})
class Failing:
    def draw(view, params):
        return False
    def discard(view, params):
        {body}
        return pick(view.legal_discards, view.word)
    def knock(view, params):
        return True
"""


def write_agent(folder: Path, body: str, compiled: bool = False, params: str = "") -> str:
    file = folder / "failing.py"
    file.write_text(FAILING.format(compiled=compiled, params=params, body=body))
    return f"{file}:failing"


def run_apart(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gin_sim", *words],
        check=False,
        text=True,
        stderr=subprocess.PIPE,
        **({"stdout": subprocess.PIPE, "cwd": ROOT} | options),
    )


def test_of_runs_at_once_each_folder_goes_to_one(tmp_path: Path) -> None:
    manifest = {"schema": 1}
    for trial in range(20):
        taken: list[Path] = []
        refused: list[str] = []
        start = threading.Barrier(8)

        def claim(
            trial: int = trial,
            start: threading.Barrier = start,
            taken: list[Path] = taken,
            refused: list[str] = refused,
        ) -> None:
            start.wait()
            try:
                taken.append(RunFolder.create(tmp_path / f"one-{trial}", manifest).path)
            except ResultsError as error:
                refused.append(str(error))
            taken.append(RunFolder.create_new(tmp_path, f"new-{trial}", manifest).path)

        threads = [threading.Thread(target=claim) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == len(set(taken)) == 9
        assert len(refused) == 7
        assert all("name a new folder" in line for line in refused)
        names = {path.name for path in taken} - {f"one-{trial}"}
        assert names == {f"new-{trial}", *(f"new-{trial}-{n}" for n in range(2, 9))}


def test_a_file_where_a_folder_is_due_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for attempt in (
        lambda: RunFolder.create(tmp_path / "file", {}),
        lambda: RunFolder.create(tmp_path / "file" / "below", {}),
        lambda: RunFolder.create_new(tmp_path / "file", "name", {}),
    ):
        with pytest.raises(ResultsError, match="file"):
            attempt()


FAILS_AT = "if view.word % 997 < 8: raise ValueError(str(view.word))"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("amount", [{"hands": 400}, {"games": 24}], ids=["hands", "games"])
def test_the_failure_told_is_the_first_however_the_work_is_cut(
    tmp_path: Path, amount: dict[str, int], compiled: bool
) -> None:
    body = FAILS_AT.replace("str(view.word)", "'unlucky'") if compiled else FAILS_AT
    spec = write_agent(tmp_path, body, compiled)
    if JIT_DISABLED:
        amount = {key: value // 8 for key, value in amount.items()}
    plan = make_plan([spec, "greedy", "simple", spec], seed=5, **amount)
    told = set()
    for jobs, units, backend in ((1, plan.units, "threads"), (1, 1, None), (4, 2, "threads")):
        workers = Workers.choose(jobs, backend, compiled=plan.compiled)
        with pytest.raises(PlayError) as failed:
            run_plan(plan, workers, piece_units=units)
        told.add((str(failed.value), failed.value.deal, failed.value.mirror, failed.value.pairing))
    assert len(told) == 1, told
    # Nothing failed before it.
    message, deal, mirror, pairing = told.pop()
    assert "raised ValueError" in message
    a, b = plan.pairings[pairing]
    assert 0 in (a, b) or 3 in (a, b)
    if "hands" in amount and deal > 0:
        earlier = make_plan([spec, "greedy", "simple", spec], seed=5, hands=2 * deal)
        run_plan(earlier)
    assert mirror in (0, 1)


def test_rows_finished_before_a_failure_are_kept(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "if view.word % 9973 < 9: raise ValueError")
    plan = make_plan([spec, "greedy"], seed=1, hands=400)
    folder = RunFolder.create(tmp_path / "run", plan.manifest())
    with pytest.raises(PlayError) as failed:
        run_plan(plan, Workers(1, "threads"), folder, piece_units=1)
    assert failed.value.deal > 0
    kept = read_rows(tmp_path / "run")
    assert set(range(failed.value.deal)) <= set(kept.deal)
    assert not (tmp_path / "run" / "summary.json").exists()


def test_an_agent_that_exits_is_blamed(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "raise SystemExit(0)")
    with pytest.raises(PlayError, match="agent 'failing' raised SystemExit"):
        play_tournament([spec, "greedy"], hands=2, seed=1, jobs=1)
    forgiven = play_tournament([spec, "greedy"], hands=2, seed=1, on_illegal="forfeit", jobs=1)
    assert forgiven.as_dict()["pairings"][0]["a_illegal"] == 2
    (tmp_path / "exits.py").write_text("raise SystemExit(0)")
    with pytest.raises(AgentError, match="cannot be loaded: SystemExit"):
        load_agent(f"{tmp_path}/exits.py:nobody")


def test_an_agent_that_kills_its_process_gets_one_line(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "import os; os._exit(3)")
    done = run_apart("tournament", spec, "greedy", "--hands", "4", "--out", str(tmp_path / "run"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if ": error: " in line] == [
        "gin-sim: error: a worker process died (killed, out of memory, or by an agent's own doing)"
    ]


def test_json_is_all_there_is_on_stdout_whatever_agents_print(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "print('thinking'); print('aloud', file=sys.stdout, flush=True)")
    with (tmp_path / "failing.py").open("a") as file:
        file.write("\nprint('loading')\n")
    for i, backend in enumerate(("threads", "loky")):
        words = (spec, "greedy", "--hands", "2", "--seed", "1", "--json", "--backend", backend)
        done = run_apart("tournament", *words, "--out", str(tmp_path / str(i)))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["seed"] == 1
        assert "loading" in done.stderr
        assert "thinking" in done.stderr


def test_a_failure_says_how_to_see_it(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "return 99")
    done = run_apart(
        *("tournament", spec, "greedy", "--hands", "2", "--seed", "1"),
        *("--out", str(tmp_path / "my run")),
    )
    lines = done.stderr.splitlines()
    assert "threw 99; allowed are " in lines[-1]
    assert f"see it: gin-sim replay '{tmp_path}/my run' --deal 0 --mirror 0 --pairing " in lines[-2]
    assert "'failing v greedy'" in lines[-2]


@pytest.mark.skipif(JIT_DISABLED, reason="has nothing to do with compilation")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [("hand", "Ah 2h 3h"), ("agents", "--json"), ("agents",)])
def test_output_that_cannot_be_written_is_one_line(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = run_apart(*words, stdout=full)
    assert done.returncode == 1
    assert done.stderr == (
        "gin-sim: error: the output cannot be written: No space left on device\n"
    )


@pytest.mark.skipif(JIT_DISABLED, reason="has nothing to do with compilation")
def test_without_a_stdout_nothing_breaks(tmp_path: Path) -> None:
    for words in ("hand 'Ah 2h 3h'", "agents --json", "hand 'Ah 2h 3h' --json"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {sys.executable} -m gin_sim {words} >&-"],
            cwd=ROOT,
            check=False,
            text=True,
            stderr=subprocess.PIPE,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode in (0, 1)


DAMAGE: list[tuple[str, Any]] = [
    ("seed", "x"),
    ("seed", -1),
    ("seed", True),
    ("seed", None),
    ("hands", "many"),
    ("kind", "report"),
    ("rules", {"knock_limit": 99}),
    ("rules", {"knock_limits": 9}),
    ("rules", []),
    ("rules", {}),
    ("agents", {}),
    ("agents", []),
    ("agents", ["simple"]),
    ("agents", [{"label": "simple"}]),
    ("pairings", ["a v b"]),
    ("pairings", 3),
    ("on_illegal", 0),
    ("schema", 99),
    ("schema", True),
    ("schema", 1.0),
    ("hands", 0),
    ("games", 2),
    ("on_illegal", "maybe"),
]


@pytest.mark.parametrize(("key", "value"), DAMAGE, ids=[f"{k}={v}"[:30] for k, v in DAMAGE])
def test_a_damaged_manifest_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, value: Any
) -> None:
    play_tournament(["greedy", "greedy"], hands=2, seed=1, out=tmp_path / "run")
    file = tmp_path / "run" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    assert main(["replay", str(tmp_path / "run"), "--deal", "0"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(file) in error
    assert key in error


@pytest.mark.skipif(os.name == "nt" or JIT_DISABLED, reason="compiled, with Unix's signals")
@pytest.mark.parametrize("backend", ["threads", "loky"])
@pytest.mark.parametrize("seconds", [0.1, 1.2, 2.4])
def test_ctrl_c_keeps_the_rows_it_says_it_keeps(
    tmp_path: Path, backend: str, seconds: float
) -> None:
    """Early, in the middle and late; a fast run writes parts, a slow one never fills one."""
    players = ("simple", "greedy")
    if backend == "loky":
        players = (write_agent(tmp_path, "import time; time.sleep(0.0005)"), "greedy")
    out = tmp_path / "run"
    running = start(
        *("tournament", *players, "--hands", "1e9"),
        *("--seed", "1", "--backend", backend, "--out", str(out)),
    )
    deadline = time.monotonic() + 60
    while not out.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(seconds)
    said = press_ctrl_c(running)
    assert said[-2].endswith(f"go on with: gin-sim tournament --resume {out}")
    check_rows(out, said)


@pytest.mark.parametrize("command", ["tournament", "sweep"])
def test_whoever_stops_a_run_that_has_a_folder_is_told_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    """From the first moment: here it is stopped at the first thing said about it."""
    said: list[str] = []

    def stopped_at_once(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("gin_sim.cli.play.note", stopped_at_once)
    out = tmp_path / "run"
    asked = ["tournament", "simple", "greedy"]
    if command == "sweep":
        asked = ["sweep", "early_gin", "turns", "0,9", "--against", "greedy"]
    code = main([*asked, "--hands", "40", "--seed", "1", "--out", str(out)])
    assert code == 130
    assert capsys.readouterr().err == "gin-sim: interrupted\n"
    assert said[-1] == f"nothing was played yet; go on with: gin-sim tournament --resume {out}"
    assert main(["tournament", "--resume", str(out)]) == 0
    assert (out / "summary.json").exists()


def test_a_failure_is_told_even_if_rows_finished_later_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(["greedy", "greedy"], seed=1, hands=400)
    folder = RunFolder.create(tmp_path / "run", plan.manifest())

    class FirstFails(Workers):
        def run(self, function: Any, tasks: Any) -> Any:
            pieces = iter(tasks)
            next(pieces)
            second = next(pieces)
            yield PlayError("agent 'greedy' raised"), 1.0
            yield function(second)

    def full(piece: Any) -> None:
        raise ResultsError("the disk is full")

    monkeypatch.setattr(folder, "write_piece", full)
    with pytest.raises(PlayError, match="raised") as failed:
        run_plan(plan, FirstFails(1, "threads"), folder, piece_units=1)
    assert failed.value.__notes__ == ["rows were lost: the disk is full"]


@pytest.mark.parametrize(
    "body",
    [
        "raise GeneratorExit",
        "raise type('Odd', (BaseException,), {})('odd')",
        "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})",
    ],
)
def test_whatever_an_agent_raises_is_blamed_on_it(tmp_path: Path, body: str) -> None:
    spec = write_agent(tmp_path, body)
    with pytest.raises(PlayError, match=r"agent 'failing' raised (GeneratorExit|Odd: odd|Mute)"):
        play_tournament([spec, "greedy"], hands=2, seed=1, jobs=1)
    (tmp_path / "loads.py").write_text(body)
    with pytest.raises(AgentError, match="cannot be loaded"):
        load_agent(f"{tmp_path}/loads.py:nobody")


def test_agent_files_with_odd_names(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="no file"):
        load_agent("x" * 5000 + ".py:mine")
    with pytest.raises(AgentError, match="no file"):
        load_agent("a\0b.py:mine")
    file = tmp_path / os.fsdecode(b"sl\xffw.py")
    try:
        file.write_text(FAILING.format(compiled=False, params="", body="pass"))
    except OSError:
        pytest.skip("this file system takes no such name")
    assert load_agent(f"{file}:failing").name == "failing"


def test_a_compile_error_leaves_the_folder_free(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "return 'x'", compiled=True)
    for _ in range(2):
        words = ["tournament", spec, "greedy", "--hands", "2", "--out", str(tmp_path / "run")]
        if JIT_DISABLED:
            break
        assert main(words) == AgentError.exit_code
        assert not (tmp_path / "run").exists()


@pytest.mark.skipif(JIT_DISABLED, reason="has nothing to do with compilation")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_tournament_needs_neither_stdout_nor_stderr(tmp_path: Path, closed: str) -> None:
    done = subprocess.run(
        [
            *("/bin/sh", "-c"),
            f"exec {sys.executable} -m gin_sim tournament greedy greedy --hands 2 --seed 1 "
            f"--out {tmp_path}/run {closed}",
        ],
        cwd=ROOT,
        check=False,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "summary.json").exists()
    assert "gin-sim:" not in done.stdout


@pytest.mark.parametrize(
    ("text", "number"),
    [("1_000", 1000), ("1,000", 1000), ("1e3", 1000), (" 7 ", 7), ("9007199254740993", 2**53 + 1)],
)
def test_numbers_are_read_however_they_are_written(text: str, number: int) -> None:
    assert whole(0, 2**63)(text) == number


@pytest.mark.parametrize("text", ["1,5", "1.5", "", "x", "nan", "inf", "1e400", "-1", "1,0000"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="allowed is a whole number 0"):
        whole(0, 2**63)(text)
