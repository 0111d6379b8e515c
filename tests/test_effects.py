"""The arithmetic of the knock-timing finding, on numbers worked out otherwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gin_sim.effects import (
    NEVER,
    SPAN,
    VIEWS,
    ForkCounts,
    break_even,
    find_break_even,
    monotone_zero,
)
from gin_sim.forks import FORK_DTYPE
from gin_sim.scoring import OUTCOMES

RNG = np.random.default_rng(5)


def made_up_forks(n: int) -> Any:
    """Return forks that nobody played, with numbers that can be checked."""
    rows = np.zeros(n, FORK_DTYPE)
    rows["stock_left"] = RNG.integers(2, 32, n)
    rows["deadwood"] = RNG.integers(1, 11, n)
    rows["seat"] = RNG.integers(0, 2, n)
    rows["drew"] = RNG.integers(0, 2, n)
    rows["turn"] = RNG.integers(0, 40, n)
    rows["knock_points"] = RNG.integers(-60, 90, n)
    rows["wait_points"] = RNG.integers(-60, 90, n)
    rows["knock_outcome"] = np.where(
        RNG.random(n) < 0.3, OUTCOMES.index("undercut"), OUTCOMES.index("knock")
    )
    return rows


def test_the_tables_are_the_means_and_errors_of_the_rows() -> None:
    rows = made_up_forks(4000)
    counted = ForkCounts.of(5000, rows)
    assert (counted.deals, counted.forks) == (5000, 4000)
    difference = rows["knock_points"] - rows["wait_points"]
    undercut = rows["knock_outcome"] == OUTCOMES.index("undercut")
    tables = [
        (counted.effects(), "stock_left", np.ones(4000, bool)),
        (counted.by_turn(), "turn", np.ones(4000, bool)),
        (counted.by_seat(1), "stock_left", rows["seat"] == 1),
        (counted.by_deadwood(7), "stock_left", rows["deadwood"] == 7),
    ]
    for table, key, some in tables:
        assert table["n"].sum() == some.sum()
        sure = (1 + 0.95 ** (1 / len(table))) / 2
        for row in table.itertuples():
            here = some & (rows[key] == getattr(row, key))
            values = difference[here]
            assert row.n == here.sum()
            assert row.difference == pytest.approx(values.mean())
            assert row.knock_points == pytest.approx(rows["knock_points"][here].mean())
            assert row.wait_points == pytest.approx(rows["wait_points"][here].mean())
            assert row.undercut_rate == pytest.approx(undercut[here].mean())
            if row.n > 1:
                assert row.se == pytest.approx(stats.sem(values))
                half = stats.t.ppf(sure, row.n - 1) * stats.sem(values)
                assert row.band_high - row.difference == pytest.approx(half)
    cells = counted.cell_table()
    assert cells["n"].sum() == 4000
    assert list(cells.columns[:2]) == ["stock_left", "deadwood"]


def test_counts_add_up_in_any_order() -> None:
    rows = made_up_forks(1000)
    whole = ForkCounts.of(1000, rows)
    for order in (range(10), reversed(range(10))):
        parts = ForkCounts()
        for i in order:
            parts.add(ForkCounts.of(100, rows[100 * i : 100 * i + 100]))
        assert parts.deals == whole.deals
        for name in ("cells", "turns", "differences"):
            assert np.array_equal(getattr(parts, name), getattr(whole, name))


def test_a_line_bonus_goes_to_whoever_won() -> None:
    rows = made_up_forks(500)
    rows["wait_points"][:100] = 0  # dead hands: nobody's
    plain, lined = (ForkCounts.of(500, rows, line) for line in (0, 25))
    gain = 25 * (np.sign(rows["knock_points"]) - np.sign(rows["wait_points"]))
    got = sum(
        (t["difference"] * t["n"]).sum() * s
        for t, s in ((lined.effects(), 1), (plain.effects(), -1))
    )
    assert got == pytest.approx(gain.sum())


def test_every_view_counts_what_its_name_says() -> None:
    rows = made_up_forks(3000)
    differences = ForkCounts.of(3000, rows).differences
    gap = rows["knock_points"] - rows["wait_points"]
    stock = rows["stock_left"].astype(int)
    for view, name in enumerate(VIEWS):
        at, some = stock, np.ones(3000, bool)
        if name == "stock before the draw":
            at = stock + rows["drew"]
        elif name in ("non-dealer", "dealer"):
            some = rows["seat"] == ("non-dealer", "dealer").index(name)
        elif name.startswith("deadwood"):
            some = rows["deadwood"] == int(name.split()[1])
        expected = np.zeros_like(differences[view])
        np.add.at(expected, (at[some], gap[some] + SPAN), 1)
        assert np.array_equal(differences[view], expected), name


@pytest.mark.parametrize(
    ("effect", "at"),
    [
        ([1, 1, 1], 20),
        ([-1, 1, 1], 21),
        ([1, -1, 1], 22),
        ([1, 1, -1], NEVER),
        ([-1, -1, -1], NEVER),
        ([1, 0, 1], 22),
        ([], NEVER),
    ],
)
def test_break_even_is_the_smallest_count_from_which_all_pay(
    effect: list[float], at: float
) -> None:
    assert break_even(list(range(20, 20 + len(effect))), effect) == at


def test_a_monotone_fit_pools_what_is_out_of_order() -> None:
    assert monotone_zero([20, 21, 22, 23], [-2, -1, 1, 2], [1, 1, 1, 1]) == 21.5
    assert monotone_zero([20, 22], [-1, 3], [5, 5]) == 20.5
    # 1 and -3 of equal weight pool to -1; of weights 9 and 1 to 0.6, which is positive.
    assert monotone_zero([20, 21, 22], [1, -3, 1], [1, 1, 1]) == 21.5
    assert monotone_zero([20, 21, 22], [1, -3, 1], [9, 1, 1]) == 20.0
    assert monotone_zero([20, 21], [1, 2], [1, 1]) == 20.0
    assert monotone_zero([20, 21], [-2, -1], [1, 1]) == NEVER
    assert monotone_zero([], [], []) == NEVER


def planted(n: int, rng: np.random.Generator, zero: float = 22.4) -> Any:
    """Return differences whose mean crosses zero at a known count."""
    stock = rng.integers(15, 30, n)
    values = np.rint(0.9 * (stock - zero) + rng.normal(0, 18, n)).astype(int)
    differences = np.zeros((33, 2 * SPAN + 1), np.int64)
    np.add.at(differences, (stock, values + SPAN), 1)
    return differences


def test_the_intervals_cover_what_was_planted() -> None:
    rng = np.random.default_rng(8)
    trials, covered, right = 120, 0, 0
    for trial in range(trials):
        found = find_break_even(planted(30_000, rng), resamples=120, seed=trial)
        assert found is not None
        assert found.zero_low <= found.zero <= found.zero_high
        assert found.ci_low <= found.break_even <= found.ci_high
        covered += found.zero_low <= 22.4 <= found.zero_high
        right += found.ci_low <= 23 <= found.ci_high
    assert covered >= 0.86 * trials, covered
    assert right >= 0.86 * trials, right


def test_without_forks_there_is_no_break_even() -> None:
    empty = ForkCounts()
    assert find_break_even(empty.differences[0]) is None
    assert empty.effects().empty
    assert empty.cell_table().empty
    one = ForkCounts.of(1, made_up_forks(1))
    assert math.isnan(one.effects()["se"][0])
    assert find_break_even(one.differences[0], resamples=3) is not None
