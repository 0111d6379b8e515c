"""Figures of ratings and of who is better than whom."""

from __future__ import annotations

import re

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from gin_sim import play_tournament
from gin_sim.standing_figures import ratings, superiority
from tests.helpers import scaled
from tests.test_figures import drawn
from tests.test_report import AGENTS


def arrows(axes: Axes) -> int:
    return sum(isinstance(text, Annotation) and bool(text.arrow_patch) for text in axes.texts)


def test_the_figure_of_ratings_tells_open_ends_and_too_few_data() -> None:
    rows = [
        {"agent": "sure", "elo": 10.0, "elo_ci95": [5.0, 15.0], "elo_note": None},
        {"agent": "never_lost", "elo": 90.0, "elo_ci95": [50.0, None], "elo_note": "at least"},
        {"agent": "no_bounds", "elo": 0.0, "elo_ci95": [None, None], "elo_note": "no bounds"},
        {"agent": "_short$", "elo": -100.0, "elo_ci95": None, "elo_note": "too few data"},
    ]
    table = pd.DataFrame(rows).assign(hands=40, games=4)
    for some, count in ((rows[:1], 0), (rows[:2], 1), (rows[:3], 3), (rows, 3)):
        axes = Figure().add_subplot()
        ratings(pd.DataFrame(some).assign(hands=40), ax=axes)
        assert arrows(axes) == count
    text = drawn(ratings, table)
    assert text.index("_short") < text.index("no_bounds") < text.index("never_lost")
    for part in ("too few data", "n = 80 hands", "no bound on that side", "Elo of hands"):
        assert part in text
    text = drawn(ratings, table, rated="games")
    assert "n = 8 games" in text
    assert "Elo of games" in text
    assert "no data" in drawn(ratings, table.assign(hands=0))
    assert "no data" in drawn(ratings, pd.DataFrame())


def test_the_figure_of_each_against_each_has_a_cell_for_each_pair() -> None:
    found = play_tournament(AGENTS, hands=scaled(600, 6), seed=3)
    order = list(found.ranking.agent)
    text = drawn(superiority, found.summary, order=order).split("\n")
    for row in found.summary.itertuples():
        star = "*" if row.significant else ""
        for sign in (1, -1):
            assert f"{sign * float(row.points_per_hand):+.2f}{star}" in text  # type: ignore[arg-type]
    axes = superiority(found.summary, ax=Figure().add_subplot(), order=order)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == order
    assert axes.yaxis.get_inverted()
    assert f"n = {found.summary.hands.sum():,} hands" in "\n".join(text)
    none = found.summary.assign(points_per_hand=None)
    assert "no data" in drawn(superiority, none)
    assert "no data" in drawn(superiority, pd.DataFrame())
    gauntlet = found.summary.iloc[:2]
    assert "did not meet" in drawn(superiority, gauntlet, order=order)


def test_more_agents_than_cells_have_room_are_drawn_without_numbers() -> None:
    rows = [
        {"a": f"a{i}", "b": f"a{j}", "hands": 2, "points_per_hand": i - j, "significant": True}
        for i in range(26)
        for j in range(i + 1, 26)
    ]
    assert not re.search(r"^[+-]\d+\.\d\d", drawn(superiority, pd.DataFrame(rows)), re.MULTILINE)
