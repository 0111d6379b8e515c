"""Intervals of shares: Wilson's where there is no spread, and what they cover."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gin_sim.compiled import JIT_DISABLED
from gin_sim.errors import GinSimError
from gin_sim.shares import share_interval
from gin_sim.sprt import wilson
from gin_sim.stats import RatioSums


def sums(x: list[int], h: list[int]) -> RatioSums:
    out = RatioSums()
    out.add(x, h)
    return out


def test_all_or_nothing_is_wilsons_interval_of_units() -> None:
    assert share_interval(sums([4] * 6, [2] * 6), 2) == pytest.approx((0.6097, 1.0), abs=1e-4)
    assert share_interval(sums([0] * 6, [2] * 6), 2) == pytest.approx((0.0, 0.3903), abs=1e-4)
    assert share_interval(sums([4], [2]), 2) == pytest.approx(wilson(1, 1))


def test_nothing_played_has_none() -> None:
    assert share_interval(RatioSums(), 2) is None


@pytest.mark.parametrize(("x", "h"), [(2, 2), (1, 3), (3, 7)])
@pytest.mark.parametrize("n", [1, 9, 10, 100_000])
def test_few_units_that_are_all_alike_count_as_one_trial_each(x: int, h: int, n: int) -> None:
    found, share = share_interval(sums([x] * n, [h] * n), 2), x / h / 2
    assert found == pytest.approx(wilson(share, n) if n < 10 else (share, share))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=200))
def test_it_is_within_bounds_and_around_the_share(x: list[int]) -> None:
    found = share_interval(sums(x, [2] * len(x)), 2)
    assert found is not None
    assert 0 <= found[0] <= sum(x) / (4 * len(x)) + 1e-12
    assert sum(x) / (4 * len(x)) - 1e-12 <= found[1] <= 1


def test_after_many_units_it_is_the_interval_of_the_mean() -> None:
    x = np.random.default_rng(1).choice(5, 200_000, p=[0.1, 0.1, 0.5, 0.2, 0.1])
    ours = sums(list(x), [2] * x.size)
    plain, found = ours.interval(), share_interval(ours, 2)
    assert plain is not None
    assert found == pytest.approx((plain[0] / 2, plain[1] / 2), abs=1e-6)


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(GinSimError, match="x = 5"):
        share_interval(sums([5], [2]), 2)
    with pytest.raises(GinSimError, match="scale = 0"):
        share_interval(sums([1], [2]), 0)


@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize("chances", [[0.25, 0, 0.5, 0, 0.25], [0.02, 0, 0.1, 0, 0.88]])
def test_intervals_cover_what_they_say(n: int, chances: list[float]) -> None:
    rng = np.random.default_rng(n)
    runs = 500 if JIT_DISABLED else 2000
    true = float(np.dot(chances, range(5))) / 4
    covered = 0
    for _ in range(runs):
        found = share_interval(sums(list(rng.choice(5, n, p=chances)), [2] * n), 2)
        assert found is not None
        covered += found[0] <= true <= found[1]
    # A few values of x have all the chance: exactly 95 % is not to be had.
    assert 0.92 - 3 * math.sqrt(0.05 * 0.95 / runs) < covered / runs
