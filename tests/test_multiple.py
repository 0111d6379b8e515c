"""Many comparisons: p values against exact ones, Holm's correction, cycles."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special

from gin_sim.errors import GinSimError
from gin_sim.multiple import beats, find_cycle, holm, log10_t_test, show_p, sign_test_log10

LOGS = st.one_of(
    st.floats(-1000, 0), st.just(math.nan), st.just(-math.inf), st.sampled_from([-2.0, -1.0, 0.0])
)


def log10_of(value: Fraction) -> float:
    """Of a fraction that may be far below what a float can hold."""
    return math.log10(value.numerator) - math.log10(value.denominator)


@given(st.floats(-30, 30), st.integers(1, 100_000))
def test_where_scipy_does_not_underflow_it_is_scipy_s(t: float, degrees: int) -> None:
    tail = 2 * special.stdtr(degrees, -abs(t))
    assume(tail > 1e-250)
    assert log10_t_test(t, 1, degrees) == pytest.approx(math.log10(tail), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("t", [1e-3, 0.7, 3.0, 40.0, 1e9, 1e100, 1e200])
def test_one_and_two_degrees_have_closed_forms(t: float) -> None:
    assert log10_t_test(t, 1, 1) == pytest.approx(math.log10(2 / math.pi * math.atan(1 / t)))
    # 1 - t / sqrt(t^2 + 2), written so that nothing cancels.
    root = math.hypot(t, math.sqrt(2))
    expected = math.log10(2 / root) - math.log10(root + t)
    assert log10_t_test(-t, 1, 2) == pytest.approx(expected)


@pytest.mark.parametrize("degrees", [4, 10, 50, 1000, 4000])
@pytest.mark.parametrize("t", [5, 60, 10**4])
def test_even_degrees_have_a_finite_sum(t: int, degrees: int) -> None:
    # With sin^2 = t^2 / (t^2 + n): p = 1 - sin (1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ...), which
    # is the rest of the series of 1 / sin.  Summed here as what is left out.
    cos2 = degrees / (t * t + degrees)
    log_term = 0.0
    for k in range(1, degrees // 2 + 1):
        log_term += math.log((2 * k - 1) / (2 * k) * cos2)
    rest, term, k = 0.0, 1.0, degrees // 2
    while term > 1e-18 * rest:
        rest += term
        k += 1
        term *= (2 * k - 1) / (2 * k) * cos2
    expected = log_term + math.log(rest) - math.log1p(degrees / t**2) / 2
    assert log10_t_test(t, 1, degrees) == pytest.approx(expected / math.log(10), rel=1e-10)


@pytest.mark.parametrize("t", [0.5, 5, 37, 60, 500])
def test_many_degrees_are_the_normal_distribution(t: float) -> None:
    normal = (math.log(2) + float(special.log_ndtr(-t))) / math.log(10)
    assert log10_t_test(t, 1, math.inf) == pytest.approx(normal)
    assert log10_t_test(t, 1, 1e14) == pytest.approx(normal, rel=1e-3)
    assert log10_t_test(t, 1, 1e6) == pytest.approx(normal, rel=2e-1)


@given(st.floats(1e-3, 1e5), st.floats(1.001, 10), st.sampled_from([1, 2, 7, 99, 10**4, 10**7]))
def test_more_deviation_is_less_likely(t: float, more: float, degrees: int) -> None:
    nearer, further = log10_t_test(t, 1, degrees), log10_t_test(-t * more, 1, degrees)
    assert further < nearer <= 0


def test_what_is_no_test() -> None:
    assert math.isnan(log10_t_test(math.nan, 1, 5))
    assert math.isnan(log10_t_test(1, math.nan, 5))
    assert math.isnan(log10_t_test(1, 1, 0))
    assert log10_t_test(0, 0, 5) == 0
    assert log10_t_test(1, 0, 5) == -math.inf
    with pytest.raises(GinSimError, match="standard_error = -1"):
        log10_t_test(1, -1, 5)


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_sign_test_is_twice_the_exact_tail(wins: int, losses: int) -> None:
    n = wins + losses
    tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1))
    expected = log10_of(min(Fraction(1), Fraction(2 * tail, 2**n)))
    assert sign_test_log10(wins, losses) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert sign_test_log10(losses, wins) == sign_test_log10(wins, losses)


@pytest.mark.parametrize(("wins", "losses"), [(3000, 500), (3000, 2900), (5000, 4999), (6000, 1)])
def test_the_sign_test_of_many(wins: int, losses: int) -> None:
    n, tail, term = wins + losses, 0, 1
    for k in range(losses + 1):
        tail += term
        term = term * (n - k) // (k + 1)
    expected = log10_of(min(Fraction(1), Fraction(2 * tail, 2**n)))
    assert sign_test_log10(wins, losses) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_known_sign_tests() -> None:
    assert sign_test_log10(0, 0) == 0
    assert sign_test_log10(1, 0) == 0
    assert 10 ** sign_test_log10(6, 0) == pytest.approx(0.03125)
    assert sign_test_log10(10**9, 0) == pytest.approx((1 - 10**9) * math.log10(2))
    with pytest.raises(GinSimError, match="wins = -1"):
        sign_test_log10(-1, 0)


def test_a_sweep_of_2000_pairs_is_not_shown_as_0() -> None:
    log_p = sign_test_log10(2000, 0)
    assert log_p == pytest.approx(1 - 0.69897 - 2000 * 0.30103, abs=0.001)
    assert log_p == pytest.approx(-601.76, abs=0.01)
    assert show_p(log_p) == "<1e-300 (10^-601.8)"


@given(st.one_of(st.floats(-1e9, 0), st.just(-math.inf)))
def test_no_p_value_is_shown_as_0(log_p: float) -> None:
    text = show_p(log_p)
    shown = text.removeprefix("<").split(" ")[0]
    assert 0 < float(shown) <= 1
    if not text.startswith("<"):
        assert float(shown) == pytest.approx(10**log_p, rel=0.06)


def naive_holm(log_p: list[float]) -> list[float]:
    out = []
    tests = [value for value in log_p if not math.isnan(value)]
    for value in log_p:
        # Ties are adjusted alike: by the first of them.
        lower = [other for other in tests if other <= value]
        worst = max(
            (other + math.log10(sum(x >= other for x in tests)) for other in lower),
            default=math.nan,
        )
        out.append(min(0.0, worst) if lower else math.nan)
    return out


@given(st.lists(LOGS, max_size=12))
def test_holm_is_the_naive_one(log_p: list[float]) -> None:
    assert holm(log_p) == pytest.approx(naive_holm(log_p), nan_ok=True)


@given(st.lists(LOGS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_holm_lowers_no_p_value_and_keeps_their_order(log_p: list[float], random: Any) -> None:
    adjusted = holm(log_p)
    tests = ~np.isnan(log_p)
    assert (adjusted[tests] >= np.array(log_p)[tests]).all()
    ascending = adjusted[np.argsort(log_p)][: tests.sum()]
    assert (ascending[1:] >= ascending[:-1]).all()
    order = random.sample(range(len(log_p)), len(log_p))
    assert np.array_equal(holm(np.array(log_p)[order]), adjusted[order], equal_nan=True)


def test_known_adjusted_values() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    found = 10 ** holm(np.log10([0.01, 0.04, 0.03, 0.005]))
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([-601.76, -0.5])[0] == pytest.approx(-601.76 + math.log10(2))
    assert holm([]).size == 0
    with pytest.raises(GinSimError, match=r"log10_p = 0\.5"):
        holm([0.5])


def test_who_beats_whom() -> None:
    pairings = [(0, 1), (1, 2), (2, 0), (2, 1), (0, 3), (3, 0)]
    means = [1.0, -2.0, 0.5, 0.3, 1.0, 1.0]
    log_p = [-2, math.log10(0.05), math.nan, -1, -5, -4]
    better = beats(4, pairings, means, log_p)
    assert np.argwhere(better).tolist() == [[0, 1], [2, 1]]
    assert not beats(4, pairings, means, log_p, alpha=1e-3).any()
    with pytest.raises(GinSimError, match="alpha = 5"):
        beats(4, pairings, means, log_p, alpha=5)
    with pytest.raises(GinSimError, match="each of the 6 pairings"):
        beats(4, pairings, means[1:], log_p)
    with pytest.raises(GinSimError, match="agent = 3"):
        beats(3, pairings, means, log_p)


def test_a_cycle_is_found_and_an_order_has_none() -> None:
    order = np.triu(np.ones((5, 5), bool), 1)
    assert find_cycle(order) is None
    order[0, 4], order[4, 0] = False, True
    assert find_cycle(order) == [0, 1, 4]
    ring = np.roll(np.eye(6, dtype=bool), 1, axis=1)
    assert find_cycle(ring) == [0, 1, 2, 3, 4, 5]
    ring[4, 2] = True
    assert find_cycle(ring) == [2, 3, 4]
    assert find_cycle(np.eye(3)) is None
    with pytest.raises(GinSimError, match="a square"):
        find_cycle([[True, False]])


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_no_cycle_is_shorter_than_the_one_found(cells: list[bool]) -> None:
    n = math.isqrt(len(cells))
    links = np.array(cells).reshape(n, n)
    cycles = [
        way
        for length in range(2, n + 1)
        for way in itertools.permutations(range(n), length)
        if way[0] == min(way) and all(links[way[i - 1], way[i]] for i in range(length))
    ]
    found = find_cycle(links)
    if not cycles:
        assert found is None
    else:
        shortest = [way for way in cycles if len(way) == len(cycles[0])]
        assert found is not None and tuple(found) in shortest
        assert found[0] == min(way[0] for way in shortest)
