"""The statistics of a tournament on known values, and what its intervals cover."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gin_sim.compiled import JIT_DISABLED
from gin_sim.stats import RatioSums, t_quantile


def sums(x: list[int], h: list[int]) -> RatioSums:
    out = RatioSums()
    out.add(x, h)
    return out


@given(st.lists(st.integers(-400, 400), min_size=2, max_size=50))
def test_for_deals_of_two_hands_it_is_the_plain_t_interval(points: list[int]) -> None:
    ours = sums(points, [2] * len(points))
    means = np.array(points) / 2
    assert ours.mean == pytest.approx(means.mean())
    assert ours.standard_error == pytest.approx(stats.sem(means), abs=1e-6)
    interval = ours.interval()
    assert interval is not None
    if stats.sem(means) > 0:
        expected = stats.t.interval(0.95, len(points) - 1, means.mean(), stats.sem(means))
        assert interval == pytest.approx(expected, abs=1e-5)


@given(st.lists(st.tuples(st.integers(-400, 400), st.integers(2, 40)), min_size=2, max_size=30))
def test_sums_do_not_depend_on_how_the_work_was_cut(units: list[tuple[int, int]]) -> None:
    x, h = (list(part) for part in zip(*units, strict=True))
    whole = sums(x, h)
    pieces = RatioSums()
    for i in reversed(range(0, len(x), 3)):
        pieces.add(x[i : i + 3], h[i : i + 3])
    assert pieces == whole


def test_the_ratio_s_error_is_the_delta_method_s() -> None:
    rng = np.random.default_rng(1)
    h = rng.integers(4, 30, 4000)
    x = 3 * h + rng.integers(-50, 51, 4000)
    ours = sums(list(x), list(h))
    residual = x - ours.x / ours.h * h
    expected = residual.std(ddof=1) / math.sqrt(len(x)) / h.mean()
    assert ours.standard_error == pytest.approx(expected)


def test_too_few_units_have_no_interval() -> None:
    assert RatioSums().mean is None
    assert RatioSums().interval() is None
    assert sums([7], [2]).interval() is None
    assert sums([7], [2]).mean == 3.5


def test_a_known_quantile() -> None:
    assert t_quantile(0.975, 10) == pytest.approx(2.228139, abs=1e-6)


def test_intervals_cover_what_they_say() -> None:
    rng = np.random.default_rng(2)
    n = 200 if JIT_DISABLED else 2000
    covered = 0
    for _ in range(n):
        h = rng.integers(8, 30, 200)
        x = np.rint(rng.normal(1.5 * h, 40)).astype(np.int64)
        interval = sums(list(x), list(h)).interval()
        assert interval is not None
        covered += interval[0] <= 1.5 <= interval[1]
    low, high = stats.binom.interval(0.9999, n, 0.95)
    assert low <= covered <= high
