"""Reports of runs that are not finished, or go on while they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gin_sim import ResultsError
from gin_sim.folder import RunFolder, stored_pieces
from gin_sim.manifest import read_manifest
from gin_sim.plan import make_plan, make_sweep
from gin_sim.records import read_rows
from gin_sim.report import write_report
from gin_sim.run import Run
from gin_sim.standings import findings
from gin_sim.tournament import run_plan
from gin_sim.workers import Workers
from tests.test_report import tables
from tests.test_resume import PLANS, UNITS, clean_run, small_parts, stopped_run
from tests.test_tournament import contents

__all__ = ["small_parts"]


@pytest.fixture
def no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave figures empty, where tables are what is looked at."""

    def save(draw: object, path: Path, size: object) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")

    monkeypatch.setattr("gin_sim.page.save", save)


@pytest.mark.usefixtures("small_parts", "no_drawing")
@pytest.mark.parametrize("kind", PLANS)
def test_an_unfinished_run_is_reported_as_what_there_is(tmp_path: Path, kind: str) -> None:
    plan = PLANS[kind]()
    both = 2 * len(plan.pairings)
    out = tmp_path / "run"
    stopped_run(plan, out, round(0.6 * both * plan.units), min(5, plan.units // 3))
    before = contents(out)
    page = write_report(out)
    after = contents(out)
    assert {name: after[name] for name in before} == before
    assert all(
        name.startswith(("report.", "figures/", "tables/")) for name in after.keys() - before
    )

    # With one worker, pieces are finished in order: it is a shorter run, of the same deals.
    sums = Run.open(out).sums()
    assert 0 < sums.units < plan.units
    amount: dict[str, Any] = {"games" if plan.games else "hands": 2 * sums.units, "seed": plan.seed}
    if kind == "sweep":
        short = make_sweep("early_gin", "turns", [0, 3], ["simple"], **amount)
    else:
        short = make_plan(plan.agents, format=plan.format, keep_hands=plan.keep_hands, **amount)
    finished = run_plan(
        short, Workers(1, "threads"), RunFolder.create(tmp_path / "b", short.manifest())
    )
    assert findings(plan.labels, sums, plan.seed).items() <= finished.as_dict().items()
    other = write_report(tmp_path / "b")
    assert tables(page.with_suffix(".md")) == tables(other.with_suffix(".md"))
    units = "games" if plan.games else "hands"
    told = f"not finished: {2 * sums.units:,} of {2 * plan.units:,} {units} of each pairing"
    assert told in page.read_text()
    assert told in page.with_suffix(".md").read_text()
    assert "not finished" not in other.read_text()

    # A report is no hindrance to going on.
    clean = clean_run(plan, tmp_path / "clean")
    run_plan(plan, Workers(2, "threads"), RunFolder.resume(out, plan.manifest()))
    assert {name: contents(out)[name] for name in clean} == clean
    assert not any(name.startswith(("sums", "unfinished")) for name in contents(out).keys() - clean)
    assert "not finished" not in write_report(out).read_text()


@pytest.mark.usefixtures("small_parts")
def test_rows_of_a_part_without_sums_are_not_counted_twice(tmp_path: Path) -> None:
    plan = PLANS["hands"]()
    clean_run(plan, tmp_path / "clean")
    stopped_run(plan, tmp_path / "run", 6 * UNITS // 2, piece_units=2)
    run = Run.open(tmp_path / "run")
    _, piece = next(stored_pieces(tmp_path / "run"))
    name = f"part-{piece.part:06d}.parquet"
    # Killed between the rows and the sums of a part: its pieces are there still.
    (tmp_path / "run" / "hands").mkdir(exist_ok=True)
    (tmp_path / "run" / "hands" / name).write_bytes(
        (tmp_path / "clean" / "hands" / name).read_bytes()
    )
    rows = read_rows(tmp_path / "run")
    assert len(rows) == 2 * len(plan.pairings) * run.sums().units
    assert not rows.duplicated(["pairing", "deal", "mirror"]).any()


def test_a_piece_that_goes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_run(PLANS["hands"](), tmp_path / "run", 6 * UNITS // 2)
    run = Run.open(tmp_path / "run")
    expected = run.sums().as_dict()
    calls = 0

    def gone(path: Path) -> Any:
        nonlocal calls
        calls += 1
        if calls < 4:
            raise ResultsError("gone") from FileNotFoundError()
        return stored_pieces(path)

    rows = read_rows(tmp_path / "run")
    for module in ("gin_sim.run", "gin_sim.records"):
        monkeypatch.setattr(f"{module}.stored_pieces", gone)
    assert run.sums().as_dict() == expected
    calls = 0
    pd.testing.assert_frame_equal(read_rows(tmp_path / "run"), rows)
    calls = -100
    with pytest.raises(ResultsError, match="gone"):
        run.sums()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("module", ["gin_sim.run", "gin_sim.records"])
def test_a_part_that_becomes_whole_while_it_is_read_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    plan = PLANS["hands"]()
    clean_run(plan, tmp_path / "clean")
    stopped_run(plan, tmp_path / "run", 6 * UNITS // 2, piece_units=2)
    run = Run.open(tmp_path / "run")
    pieces = list(stored_pieces(tmp_path / "run"))
    number = pieces[0][1].part

    def then_whole(path: Path) -> Any:
        yield from pieces
        for kind, ending in (("hands", "parquet"), ("sums", "json")):
            name = f"{kind}/part-{number:06d}.{ending}"
            (path / kind).mkdir(exist_ok=True)
            (path / name).write_bytes((tmp_path / "clean" / name).read_bytes())

    monkeypatch.setattr(f"{module}.stored_pieces", then_whole)
    before = run.sums() if module == "gin_sim.run" else None
    rows = read_rows(tmp_path / "run")
    others = sum(piece.count for _, piece in pieces if piece.part != number)
    whole = [int(file.stem.split("-")[1]) for file in (tmp_path / "run" / "sums").iterdir()]
    size = plan.part_units
    most = others + sum(min(size, plan.units - part * size) for part in whole)
    assert not rows.duplicated(["pairing", "deal", "mirror"]).any()
    assert len(rows) == 2 * len(plan.pairings) * most
    if before is not None:
        assert before.units == most


@pytest.mark.parametrize(
    "content", ["{", "3", "[]", '{"units": -1}', '{"units": 1, "pairings": [], "agents": []}']
)
def test_damaged_sums_of_an_unfinished_run_get_one_line(tmp_path: Path, content: str) -> None:
    plan = PLANS["hands"]()
    folder = RunFolder.create(tmp_path / "run", plan.manifest())
    folder.write_text("x", "")
    (tmp_path / "run" / "sums").mkdir()
    (tmp_path / "run" / "sums" / "part-000000.json").write_text(content)
    with pytest.raises(ResultsError) as refused:
        write_report(tmp_path / "run")
    assert "\n" not in str(refused.value)
    assert str(tmp_path / "run") in str(refused.value)
    (tmp_path / "run" / "manifest.json").write_text(
        json.dumps(read_manifest(tmp_path / "run") | {"seed": "x"})
    )
    with pytest.raises(ResultsError, match="seed = 'x' cannot be"):
        write_report(tmp_path / "run")
