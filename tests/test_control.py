"""What was dealt as a control: its exact mean, the sums, and what the correction keeps true."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gin_sim.cards import mask_of
from gin_sim.compiled import JIT_DISABLED
from gin_sim.control import (
    EXPECTED,
    MEAN_DEADWOOD,
    MIN_DEALS,
    N_HANDS,
    ORIGIN,
    ControlSums,
    Corrected,
    corrected,
)
from gin_sim.errors import GinSimError
from gin_sim.play import ROW_DTYPE
from gin_sim.rules import Rules
from tests.benchmarks.dealt_deadwood import count_by_deadwood
from tests.helpers import AGENTS, most_melded, play_game_rows, play_rows, scaled

DEALS = 64
TOURNAMENTS = 2000

many_deals = pytest.mark.skipif(JIT_DISABLED, reason="many deals, far more slowly")


@cache
def real_rows(a: str, b: str, deals: int) -> Any:
    return play_rows(AGENTS[a], AGENTS[b], Rules(), 21, deals)


def sums_of(rows: Any) -> ControlSums:
    out = ControlSums()
    out.add(rows)
    return out


def found(rows: Any) -> Corrected:
    out = corrected(sums_of(rows))
    assert out is not None
    return out


def made_rows(points: Any, deadwood: Any, first: int = 0) -> Any:
    """Return the rows of deals with these points of a (in the first hand) and deadwoods."""
    rows = np.zeros(2 * len(points), ROW_DTYPE)
    rows["deal"] = first + np.arange(rows.size) // 2
    rows["mirror"] = np.arange(rows.size) % 2
    rows["dealer"] = 1 - rows["mirror"]
    rows["game"] = -1
    rows["points_a"][0::2] = points
    for mirror in (0, 1):
        for player in (0, 1):
            column = ("dealt_deadwood_a", "dealt_deadwood_b")[player ^ mirror]
            rows[column][mirror::2] = np.asarray(deadwood)[:, player]
    return rows


def controls_and_points(rows: Any) -> tuple[Any, Any]:
    """Return the centred controls and the points of deals, from first principles."""
    d = [
        rows[name][0::2].astype(float) - ORIGIN for name in ("dealt_deadwood_a", "dealt_deadwood_b")
    ]
    x = np.column_stack([d[0] + d[1], d[0] ** 2 + d[1] ** 2]) - [float(e) for e in EXPECTED]
    return x, (rows["points_a"][0::2] + rows["points_a"][1::2]).astype(float)


# The exact mean


@pytest.mark.parametrize(("cards", "ranks"), [(3, 13), (4, 5), (7, 4), (10, 3)])
def test_hands_are_counted_as_one_by_one(cards: int, ranks: int) -> None:
    deck = [13 * suit + rank for suit in range(4) for rank in range(ranks)]
    one_by_one = np.zeros(10 * cards + 1, np.int64)
    for chosen in combinations(deck, cards):
        one_by_one[most_melded(mask_of(chosen))] += 1
    assert count_by_deadwood(cards, ranks).tolist() == one_by_one.tolist()


def test_every_hand_is_counted_once() -> None:
    assert math.comb(52, 10) == N_HANDS
    cards = 4 if JIT_DISABLED else 6
    assert count_by_deadwood(cards).sum() == math.comb(52, cards)


@many_deals
def test_dealt_hands_have_the_mean_that_was_counted() -> None:
    x, _ = controls_and_points(real_rows("random", "simple", DEALS * TOURNAMENTS))
    off = x.mean(axis=0) / stats.sem(x)
    assert np.abs(off).max() < 4
    assert 56 < MEAN_DEADWOOD < ORIGIN


@pytest.mark.parametrize("rules", ["casual", "oklahoma", "openspiel", "big-gin", "straight"])
def test_no_rule_changes_the_deadwood_dealt(rules: str) -> None:
    n = scaled(2000, 20)
    plain = play_rows(AGENTS["greedy"], AGENTS["simple"], Rules(), 3, n)
    other = play_rows(AGENTS["simple"], AGENTS["gin_only"], Rules.preset(rules), 3, n)
    for name in ("dealt_deadwood_a", "dealt_deadwood_b"):
        assert (plain[name] == other[name]).all()


# Sums


@settings(deadline=None)  # the first example plays the hands
@given(st.lists(st.integers(1, 40), max_size=6), st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_how_the_work_was_cut(cuts: list[int], random: Any) -> None:
    rows = real_rows("gin_only", "simple", 120)
    edges = [0, *sorted({min(2 * sum(cuts[: i + 1]), 240) for i in range(len(cuts))}), 240]
    pieces = [rows[a:b] for a, b in pairwise(edges)]
    random.shuffle(pieces)
    added, total = ControlSums(), ControlSums()
    for piece in pieces:
        added.add(piece)
        total = total + sums_of(piece)
    assert added == total == sums_of(rows)
    assert added.deals == 120
    assert corrected(added) == corrected(sums_of(rows))


def test_sums_are_those_of_the_docstring() -> None:
    rows = real_rows("gin_only", "simple", 120)
    sums = sums_of(rows).folds
    x, y = controls_and_points(rows)
    x = np.rint(x + [float(e) for e in EXPECTED]).astype(int)
    for parity in (0, 1):
        mine, points = x[parity::2], y[parity::2].astype(int)
        flat = [60, points.sum(), (points**2).sum(), *mine.sum(axis=0)]
        flat += [*(mine.T @ mine).ravel(), *(mine.T @ points)]
        assert sums.view(np.int64).reshape(2, 11)[parity].tolist() == flat


def test_rows_that_are_not_whole_deals_are_refused() -> None:
    rows = real_rows("gin_only", "simple", 120)
    for torn in (rows[1:], rows[1:-1], rows[::-1], rows["deal"], [1, 2]):
        with pytest.raises(GinSimError, match="rows"):
            sums_of(torn)
    hands, _ = play_game_rows(AGENTS["simple"], AGENTS["greedy"], Rules(target=1), 1, 1)
    with pytest.raises(GinSimError, match="game"):
        sums_of(hands)


# The correction


def by_hand(rows: Any) -> tuple[float, float]:
    """Return corrected points a hand and standard error, fold by fold."""
    x, y = controls_and_points(rows)
    fold = rows["deal"][0::2] % 2
    total, variance = 0.0, 0.0
    for own in (0, 1):
        other = fold != own
        design = np.column_stack([np.ones(other.sum()), x[other]])
        b = np.linalg.lstsq(design, y[other], rcond=None)[0][1:]
        left = y[~other] - x[~other] @ b
        total += left.sum()
        variance += left.size * left.var(ddof=1)
    return total / y.size / 2, math.sqrt(variance) / y.size / 2


@pytest.mark.parametrize("first", [0, 1, 2])
def test_it_is_the_correction_that_is_described(first: int) -> None:
    rows = real_rows("random", "simple", 130)[2 * first :]
    ours = found(rows)
    assert (ours.points_per_hand, ours.standard_error) == pytest.approx(by_hand(rows))
    half = stats.t.ppf(0.975, 130 - first - 2) * ours.standard_error
    ends = ours.points_per_hand - half, ours.points_per_hand + half
    assert ours.ci95 == pytest.approx(ends)
    points = rows["points_a"].reshape(-1, 2).sum(axis=1)
    plain = stats.sem(points / 2)
    assert ours.saving == pytest.approx(1 - (ours.standard_error / plain) ** 2)


def test_points_that_the_controls_explain_are_explained() -> None:
    rng = np.random.default_rng(1)
    deadwood = rng.integers(20, 90, (400, 2))
    d = deadwood - ORIGIN
    exact = found(made_rows(3 * d.sum(axis=1) - (d**2).sum(axis=1), deadwood))
    assert exact.saving == pytest.approx(1)
    assert exact.coefficients == (pytest.approx((3, -1)), pytest.approx((3, -1)))
    truth = 3 * EXPECTED[0] - EXPECTED[1]
    assert exact.points_per_hand == pytest.approx(float(truth) / 2)
    noise = rng.normal(0, 100, 400)
    noisy = found(made_rows(np.rint(2 * d.sum(axis=1) + noise), deadwood))
    of_controls = np.var(2 * d.sum(axis=1))
    assert noisy.saving == pytest.approx(of_controls / (of_controls + 100**2), abs=0.1)


def test_too_few_deals_are_not_corrected() -> None:
    rows = real_rows("gin_only", "simple", 120)
    assert corrected(ControlSums()) is None
    assert corrected(sums_of(rows[: 4 * MIN_DEALS - 2])) is None
    assert corrected(sums_of(rows[: 4 * MIN_DEALS])) is not None
    even = rows[rows["deal"] % 2 == 0]
    assert corrected(sums_of(even)) is None


def test_an_agent_against_itself_comes_out_at_exactly_nothing() -> None:
    ours = found(real_rows("simple", "simple", 64))
    assert ours == Corrected(0.0, 0.0, (0.0, 0.0), ((0.0, 0.0), (0.0, 0.0)), 0.0)


def test_points_that_are_always_the_same_are_left_alone() -> None:
    deadwood = np.random.default_rng(1).integers(20, 90, (100, 2))
    ours = found(made_rows(np.full(100, 7), deadwood))
    assert (ours.points_per_hand, ours.standard_error, ours.saving) == (3.5, 0.0, 0.0)


def test_controls_that_say_the_same_or_nothing_are_no_trouble() -> None:
    rng = np.random.default_rng(4)
    points = rng.integers(-60, 60, 100)
    # d is 0 or 1, and so its own square: both controls are one.
    same = ORIGIN + rng.integers(0, 2, (100, 2))
    constant = np.full((100, 2), 50)
    for deadwood in (same, constant):
        ours = found(made_rows(points, deadwood))
        numbers = [ours.points_per_hand, ours.standard_error, *ours.ci95, *ours.coefficients[0]]
        assert np.isfinite(numbers).all()
    assert found(made_rows(points, constant)).points_per_hand == points.mean() / 2
    twins = found(made_rows(points, same)).coefficients[0]
    d = same - ORIGIN
    b = np.polyfit(d.sum(axis=1)[1::2], points[1::2], 1)[0]
    assert twins == pytest.approx((b / 2, b / 2))


@many_deals
@pytest.mark.parametrize(("a", "b"), [("random", "simple"), ("early_gin", "simple")])
def test_small_tournaments_are_not_biased_and_their_intervals_cover(a: str, b: str) -> None:
    n = TOURNAMENTS
    rows = real_rows(a, b, DEALS * n)
    truth = rows["points_a"].mean()
    tournaments = [found(part) for part in rows.reshape(n, 2 * DEALS)]
    moved = [
        one.points_per_hand - part["points_a"].mean()
        for one, part in zip(tournaments, rows.reshape(n, 2 * DEALS), strict=True)
    ]
    assert np.std(moved) > 0
    assert abs(np.mean(moved)) < 3 * stats.sem(moved)
    covered = sum(one.ci95[0] <= truth <= one.ci95[1] for one in tournaments)
    assert 0.93 * n <= covered <= 0.97 * n
    # The error that is stated is, on the average, the error that is made.
    made = np.var([one.points_per_hand for one in tournaments])
    stated = np.mean([one.standard_error**2 for one in tournaments])
    assert stated == pytest.approx(made, rel=6 * math.sqrt(2 / n))


@many_deals
def test_fitting_on_other_deals_keeps_out_a_bias() -> None:
    # Points that go with how unusual a deal is: coefficients fitted on the same deals would
    # lean towards the deals that stick out, and be biased.
    n = TOURNAMENTS
    rows = real_rows("random", "simple", DEALS * n).copy()
    x, _ = controls_and_points(rows)
    unusual = np.einsum("ij,jk,ik->i", x, np.linalg.inv(np.cov(x.T)), x)
    rows["points_a"][0::2] = np.rint(10 * unusual)
    rows["points_a"][1::2] = 0
    moved, in_sample = [], []
    for part in rows.reshape(n, 2 * DEALS):
        mine, y = controls_and_points(part)
        moved.append(found(part).points_per_hand - y.mean() / 2)
        b = np.linalg.lstsq(np.column_stack([np.ones(DEALS), mine]), y, rcond=None)[0][1:]
        in_sample.append(-float(b @ mine.mean(axis=0)) / 2)
    assert abs(np.mean(moved)) < 3 * stats.sem(moved)
    assert np.mean(in_sample) < -10 * stats.sem(in_sample)  # so the test can tell


@many_deals
@pytest.mark.parametrize(("a", "b"), [("random", "simple"), ("early_gin", "simple")])
def test_long_tournaments_are_not_made_worse(a: str, b: str) -> None:
    deals = DEALS * TOURNAMENTS
    # Fitting two coefficients on half the deals costs about 2 deals of that half.
    assert -8 / (deals / 2) < found(real_rows(a, b, deals)).saving < 0.05
