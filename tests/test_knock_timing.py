"""The experiment: files, bytes, and thresholds against every policy played out."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from experiments.knock_timing import (
    build_parser,
    make_study,
    run_study,
    threshold_table,
    verdict,
)
from gin_sim.cli.common import guarded
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.effects import NEVER, BreakEven, ForkCounts
from gin_sim.knock_figures import TIP
from gin_sim.play import ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.registry import load_agent
from gin_sim.scoring import rules_record
from gin_sim.thresholds import THRESHOLDS, ThresholdSums
from gin_sim.workers import Workers
from tests.helpers import scaled

pytestmark = pytest.mark.usefixtures("few_resamples")

ROOT = Path(__file__).resolve().parent.parent
DEALS = scaled(4000, 12)


def run(*words: str) -> int:
    return guarded(build_parser(), list(words))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_files_are_the_same_for_any_jobs_and_backend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = (["--jobs", "1"], ["--jobs", "2"], ["--jobs", "2", "--backend", "loky"])
    results = []
    for i, way in enumerate(ways):
        out = tmp_path / str(i)
        assert run("--deals", str(DEALS), "--seed", "5", "--out", str(out), *way) == 0
        results.append(contents(out))
    assert results[1] == results[0]
    assert results[2] == results[0]
    out = tmp_path / "0"
    effects, evens = table(out, "knock_timing"), table(out, "break_even")
    wanted = ["definition", "stock_left", "n", "knock_points", "wait_points", "difference", "se"]
    assert list(effects[0])[:8] == [*wanted, "undercut_rate"]
    assert {"definition", "opponent", "continuation", "rules", "break_even", "ci_low"} <= set(
        evens[0]
    )
    names = [row["definition"] for row in evens]
    for n in range(1, 7):
        assert f"D{n}" in names
        assert f"D{n}-greedy" in names
    assert names.count("D5") == 2
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["command"] == (f"python -m experiments.knock_timing --deals {DEALS} --seed 5")
    assert manifest["deals"]["D1"] == DEALS
    assert manifest["deals"]["D2"] == DEALS // 4
    assert {"knock_effect.png", "break_even.png", "knock_map.png"} <= {
        path.name for path in (out / "figures").iterdir()
    }
    said = capsys.readouterr().out
    assert f"--deals {DEALS} --seed 5" in said
    for row in evens:
        if row["break_even"]:
            assert row["definition"] in said


def test_a_threshold_scores_what_its_policy_scores_played_out() -> None:
    """Two branches at the first chance stand for all T's: against playing every T."""
    deals = scaled(400, 6)
    study = make_study(4 * deals, 9, only=["D5", "D6"])
    sums = [found for found in run_study(study, Workers(2)) if isinstance(found, ThresholdSums)]
    assert len(sums) == len(study.definitions) == 3
    rules = rules_record(study.rules)
    for defined, found in zip(study.definitions, sums, strict=True):
        opponent = prepare(defined.plans[0].opponent)
        points = np.zeros((len(THRESHOLDS), deals), np.int64)
        for t, threshold in enumerate(THRESHOLDS):
            player = prepare(load_agent("simple").with_params({"knock_stock": threshold}))
            rows = records(2 * deals, ROW_DTYPE)
            play_hands(new_desk(rules), Order(9, 0, deals, 0, 0), player, opponent, rows)
            points[t] = rows["points_a"].reshape(-1, 2).sum(axis=1)
        assert found.n == deals
        assert np.array_equal(found.points, points.sum(axis=1))
        assert np.array_equal(found.products, points @ points.T)
    shown = threshold_table(study, sums)
    assert len(shown) == 3 * len(THRESHOLDS)
    for (_, opponent_), some in shown.groupby(["definition", "opponent"]):
        place = [one.opponent for one in study.definitions].index(str(opponent_))
        means = sums[place].points / deals / 2
        assert some["points"].to_numpy() == pytest.approx(means)
        assert (some["behind"] >= 0).all()
        assert not some.loc[some["points"].idxmax(), "excluded"]


@pytest.mark.skipif(JIT_DISABLED, reason="the same forks, far more slowly")
def test_the_tip_is_reproduced_at_d1() -> None:
    """What the committed result says holds on other deals: the sign well off 23."""
    study = make_study(100_000, 77, only=["D1"])
    (counts,) = run_study(study, Workers(2))
    assert isinstance(counts, ForkCounts)
    effects = counts.effects().set_index("stock_left")["difference"]
    assert (effects[(effects.index >= 25)] > 0).all()
    assert (effects[(effects.index <= 20) & (effects.index >= 3)] < 0).all()


@pytest.mark.parametrize(
    ("at", "low", "high", "said"),
    [
        (TIP, 22, 24, "reproduced"),
        (22, 22, 23, "allowed"),
        (25, 24, 26, "not reproduced"),
        (float("nan"), 0, 0, "no data"),
        (NEVER, 30, NEVER, "never pays"),
    ],
)
def test_verdicts(at: float, low: float, high: float, said: str) -> None:
    found = BreakEven(at, low, high, 0.0, 0.0, 0.0)
    assert verdict(None if math.isnan(at) else found) == said


@pytest.mark.parametrize(
    "words",
    [
        ("--rules", "straight"),  # nobody may knock: no fork
        ("--players", "simple"),  # one agent
        ("--deals", "1"),
        ("--only", "D5"),
        ("--only", "D1", "D6-greedy"),
    ],
)
def test_little_or_nothing_gives_a_report_that_says_so(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    given = ["--deals", str(scaled(200, 8)), "--seed", "1", "--out", str(out), *words]
    assert run(*given) == 0
    page = (out / "report.html").read_text()
    assert "Traceback" not in capsys.readouterr().err
    if words[1] == "straight":
        assert "no data" in page
        evens = {row["definition"]: row for row in table(out, "break_even")}
        for name in ("D1", "D2", "D3-greedy", "D4"):
            assert (evens[name]["break_even"], evens[name]["verdict"]) == ("", "no data")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--players", "nobody"], "no agent 'nobody'"),
        (["--players", "simple", "simple"], "'simple' is there twice"),
        (["--players", "simple", "--players", "simple"], "'simple' is there twice"),
        (["--only", "D9"], "--only D9: there are: D1"),
        (["--rules", "poozy"], "did you mean 'poozee'"),
        (["--jobs", "0"], "jobs = 0"),
        (["--deals", "0"], "allowed is a whole number 1"),
    ],
)
def test_mistakes_get_one_line(
    tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = run("--out", str(tmp_path / "run"), *words)
    except SystemExit as stopped:
        code = int(str(stopped.code))
    error = capsys.readouterr().err
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_folder_in_use_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").touch()
    assert run("--out", str(tmp_path)) == 2
    assert "is not empty" in capsys.readouterr().err


def test_the_committed_result_says_what_its_tables_say() -> None:
    folder = ROOT / "results" / "knock_timing"
    d1 = [row for row in table(folder, "knock_timing") if row["definition"] == "D1"]
    assert sum(int(row["n"]) for row in d1) >= 3_900_000
    losing = [int(row["stock_left"]) for row in d1 if float(row["difference"]) <= 0]
    evens = table(folder, "break_even")
    assert evens[0]["definition"] == "D1"
    assert max(losing) + 1 == float(evens[0]["break_even"]) == TIP
    readme = (folder / "README.md").read_text()
    assert json.loads((folder / "manifest.json").read_text())["command"] in readme
    for row in evens:
        if not row["definition"].startswith("D1-") or row["definition"] == "D1-greedy":
            at, low, high = (f"{float(row[k]):.0f}" for k in ("break_even", "ci_low", "ci_high"))
            shown = f"**{at}**" if row["verdict"] == "reproduced" else at
            assert f"{shown} [{low}, {high}] {row['verdict']}" in readme, row


def test_players_may_have_parameters_and_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "from gin_sim import agent\n"
        "from gin_sim.chance import pick\n"
        '@agent("mine", source="a test")\n'
        "class Mine:\n"
        "    def draw(view, params): return False\n"
        "    def discard(view, params): return pick(view.best_discards, view.word)\n"
        "    def knock(view, params): return True\n"
    )
    monkeypatch.chdir(tmp_path)
    players = ["--players", "mine.py:mine", "early_gin:turns=2"]
    given = ["--deals", str(scaled(400, 8)), "--seed", "1", "--only", "D1", "D1-early_gin:turns=2"]
    assert run(*given, *players) == 0
    (out,) = (tmp_path / "results").iterdir()
    files = {path.name for path in (out / "figures").iterdir()}
    assert {"definitions_mine.png", "definitions_early_gin-turns-2.png"} <= files
    assert {path.name for path in tmp_path.iterdir()} <= {"mine.py", "results", "__pycache__"}
    assert {row["player"] for row in table(out, "knock_timing")} == {"mine", "early_gin:turns=2"}
    # The command that was printed makes the same again, in a folder of its own.
    again = json.loads((out / "manifest.json").read_text())["command"].split()[3:]
    assert run(*again) == 0
    other = next(path for path in (tmp_path / "results").iterdir() if path != out)
    assert contents(out) == contents(other)
    capsys.readouterr()
