"""Figures and reports: every one draws from rows, from none, without a display."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.knock_timing import break_even_table, make_study, run_study, threshold_table
from gin_sim import ResultsError, figures, knock_figures, play_tournament
from gin_sim.cli import main
from gin_sim.drawing import save, style
from gin_sim.effects import ForkCounts
from gin_sim.report import write_report
from gin_sim.scoring import OUTCOMES
from gin_sim.workers import Workers
from tests.helpers import scaled

pytestmark = pytest.mark.usefixtures("few_resamples")

ROOT = Path(__file__).resolve().parent.parent
OF_HANDS: list[Callable[..., Axes]] = [
    figures.endings,
    figures.deadwood_by_turn,
    figures.first_chances,
    figures.undercuts,
    figures.starter_advantage,
]


@pytest.fixture(scope="module")
def hands() -> pd.DataFrame:
    return play_tournament(["simple", "greedy", "early_gin"], hands=scaled(3000, 20), seed=4).hands


def tables_of_forks() -> list[tuple[Callable[..., Axes], pd.DataFrame]]:
    study = make_study(scaled(4000, 40), 3)
    found = run_study(study, Workers(2))
    evens, thresholds = break_even_table(study, found), threshold_table(study, found)
    counts = [one for one in found if isinstance(one, ForkCounts)]
    named = [
        counted.effects().assign(definition=one.name)
        for one, counted in zip(study.definitions, counts, strict=False)
    ]
    return [
        (knock_figures.knock_effect, counts[0].effects()),
        (knock_figures.knock_effects, pd.concat(named[:4])),
        (knock_figures.knock_map, counts[0].cell_table()),
        (knock_figures.break_evens, evens),
        (knock_figures.thresholds, thresholds),
    ]


def drawn(draw: Callable[..., Axes], table: pd.DataFrame, **more: Any) -> str:
    """Draw a table with warnings as errors; return all the text in the figure."""
    with style():
        figure = Figure()
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw(table, ax=axes, **more) is axes
        figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(match=lambda a: hasattr(a, "get_text"))]  # type: ignore[attr-defined]
    return "\n".join(texts)


@pytest.mark.parametrize("draw", OF_HANDS, ids=lambda f: f.__name__)
def test_figures_of_hands_say_how_many_they_stand_on(
    draw: Callable[..., Axes], hands: pd.DataFrame
) -> None:
    more = {"least": 1} if draw in (figures.undercuts, figures.deadwood_by_turn) else {}
    text = drawn(draw, hands, **more)
    assert re.search(r"n = [\d,]+ ", text)
    assert "no data" not in text
    assert "no data" in drawn(draw, hands.iloc[:0])


def test_figures_of_dead_hands_only_have_no_data(hands: pd.DataFrame) -> None:
    dead = hands.assign(
        outcome=pd.Categorical(["dead"] * len(hands), OUTCOMES),
        winner=pd.Categorical([None] * len(hands), ["a", "b"]),
        points_a=0,
        knock_deadwood=np.nan,
        first_chance_a=np.nan,
        first_chance_b=np.nan,
    )
    for draw in (figures.deadwood_by_turn, figures.first_chances, figures.undercuts):
        assert "no data" in drawn(draw, dead)
    for draw in (figures.endings, figures.starter_advantage):
        assert f"n = {len(hands):,} hands" in drawn(draw, dead)


def test_figures_of_forks(hands: pd.DataFrame) -> None:
    for draw, table in tables_of_forks():
        more = {"least": 1} if draw is knock_figures.knock_map else {}
        assert re.search(r"n = [\d,]+ ", drawn(draw, table, **more)), draw
        assert "no data" in drawn(draw, table.iloc[:0])


def test_a_figure_of_its_own_is_made_without_axes(hands: pd.DataFrame) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    axes = figures.endings(hands)
    assert axes.get_title(loc="left") == "How hands end, by turn"
    plt.close("all")


def test_starter_table_is_the_mean_over_deals(hands: pd.DataFrame) -> None:
    table = figures.starter_table(hands).set_index("pairing")
    for pairing, some in hands.groupby("pairing", observed=True):
        sign = np.where(some.dealer == "b", 1, -1)
        by_deal = pd.Series(sign * some.points_a.to_numpy()).groupby(some.deal.to_numpy()).mean()
        assert table.loc[pairing, "points"] == pytest.approx(by_deal.mean())
        half = table.loc[pairing, "ci_high"] - table.loc[pairing, "points"]  # type: ignore[operator]
        assert half == pytest.approx(1.96 * by_deal.sem(), rel=0.4 if len(by_deal) < 30 else 0.01)


def test_names_with_odd_signs_are_drawn_quietly(hands: pd.DataFrame, tmp_path: Path) -> None:
    odd = hands.assign(
        pairing=hands.pairing.cat.rename_categories(lambda name: f"$x_{name} 麻雀 <b>")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(lambda ax: figures.starter_advantage(odd, ax), tmp_path / "odd.png")
    assert (tmp_path / "odd.png").stat().st_size > 1000


def outside_links(page: str) -> list[str]:
    return re.findall(r"""(?:src|href)=["'](?!data:)[^"']*|https?://[^\s"'<]+|@import""", page)


@pytest.mark.parametrize("amount", [{"hands": 40}, {"games": 2}, {"hands": 2}], ids=str)
def test_a_report_is_one_page_that_needs_nothing(tmp_path: Path, amount: dict[str, int]) -> None:
    agents = ["simple", "early_gin:turns=2", "simple:knock_stock=20"]
    play_tournament(agents, seed=2, out=tmp_path / "run", **amount)
    page = write_report(tmp_path / "run").read_text()
    assert not outside_links(page)
    assert page.count("data:image/png;base64,") == 7
    for part in ("early_gin:turns=2", "Ranking", "Pairings", "gin-sim tournament simple"):
        assert part in page
    for kind, n in (("figures", 7), ("tables", 7)):
        assert len(list((tmp_path / "run" / kind).iterdir())) == n


def test_a_report_of_a_run_without_rows_or_end(tmp_path: Path) -> None:
    play_tournament(["simple", "greedy"], hands=20, seed=2, out=tmp_path / "a", keep_hands=False)
    page = write_report(tmp_path / "a").read_text()
    assert "No rows of hands were kept" in page
    play_tournament(["simple", "greedy"], hands=20, seed=2, out=tmp_path / "b")
    (tmp_path / "b" / "summary.json").unlink()
    assert "is not finished" in write_report(tmp_path / "b").read_text()
    for folder, message in ((tmp_path, "holds no run"), (tmp_path / "c", "holds no run")):
        with pytest.raises(ResultsError, match=message):
            write_report(folder)
    manifest = tmp_path / "a" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"kind": "else"}))
    with pytest.raises(ResultsError, match="there are reports of: tournament, knock_timing"):
        write_report(tmp_path / "a")


def test_a_report_escapes_names(tmp_path: Path) -> None:
    play_tournament(["simple", "greedy"], hands=2, seed=2, out=tmp_path / "run")
    for file in ("manifest.json", "summary.json"):
        path = tmp_path / "run" / file
        path.write_text(path.read_text().replace("greedy", "<script>"))
    page = write_report(tmp_path / "run").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_report_is_drawn_without_a_display(tmp_path: Path) -> None:
    play_tournament(["greedy", "greedy"], hands=4, seed=2, out=tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "gin_sim", "report", str(tmp_path / "run")],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "MPLBACKEND": "TkAgg", "HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"report: {tmp_path}/run/report.html\n        {tmp_path}/run/report.md\n"
    )


def test_the_report_command_refuses_what_is_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "holds no run" in capsys.readouterr().err


@pytest.mark.parametrize(
    "draw",
    [*OF_HANDS, knock_figures.knock_map, knock_figures.break_evens],
    ids=lambda f: f.__name__,
)
def test_a_frame_without_anything_has_no_data(draw: Callable[..., Axes]) -> None:
    assert "no data" in drawn(draw, pd.DataFrame())


def test_long_names_leave_room_for_the_figure(hands: pd.DataFrame, tmp_path: Path) -> None:
    long = hands.assign(
        pairing=hands.pairing.cat.rename_categories(lambda name: f"{name} {'x' * 120}")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(lambda ax: figures.starter_advantage(long, ax), tmp_path / "long.png")


DAMAGE: list[tuple[str, Any]] = [
    ("summary.json", "{}"),
    ("summary.json", "[]"),
    ("summary.json", "3"),
    ("summary.json", "{"),
    ("summary.json", '{"ranking": [1], "pairings": [2]}'),
    ("manifest.json", {"kind": ["x"]}),
    ("manifest.json", {"pairings": None}),
    ("manifest.json", {"agents": 3}),
    ("hands/part-000000.parquet", ""),
    ("hands/part-000000.parquet", "PAR1 and then nothing"),
]


@pytest.mark.parametrize(("file", "content"), DAMAGE, ids=[f"{f}-{c}"[:40] for f, c in DAMAGE])
def test_damaged_files_of_a_run_get_one_line(tmp_path: Path, file: str, content: Any) -> None:
    play_tournament(["greedy", "greedy"], hands=4, seed=2, out=tmp_path / "run")
    path = tmp_path / "run" / file
    if isinstance(content, dict):
        content = json.dumps(json.loads(path.read_text()) | content)
    path.write_text(content)
    with pytest.raises(ResultsError) as refused:
        write_report(tmp_path / "run")
    assert "\n" not in str(refused.value)
    assert "run" in str(refused.value)


@pytest.mark.parametrize("name", ["knock_timing", "break_even", "cells", "thresholds"])
@pytest.mark.parametrize("content", ["a,b\n1,2\n", "\0\0\0", "definition\nD1,2,3,4\n"])
def test_damaged_tables_of_an_experiment_get_one_line_or_a_page(
    tmp_path: Path, name: str, content: str
) -> None:
    from experiments.knock_timing import write_study
    from gin_sim.folder import RunFolder

    study = make_study(scaled(200, 12), 3, only=["D1", "D5"])
    folder = RunFolder.create(tmp_path / "run", study.manifest())
    assert "is not finished" in write_report(folder.path).read_text()
    write_study(study, folder, run_study(study, Workers(1)))
    folder.write_text(f"{name}.csv", content)
    try:
        write_report(folder.path)
    except ResultsError as error:
        assert str(folder.path) in str(error)
