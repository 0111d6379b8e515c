"""Sequential tests: known values, awkward counts, error rates."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from gin_sim import GinSimError
from gin_sim.cli import main
from gin_sim.sprt import (
    LEAST,
    MODELS,
    Sprt,
    decide,
    elo_of,
    estimate,
    expected_score,
    normalized_variance,
    score_interval,
    wilson,
)
from tests.command import refused

PAIRS = [379, 10170, 21828, 10640, 343]


def test_known_values_of_both_scales() -> None:
    wdl = Sprt(0, 5)
    assert wdl.llr([759, 1863, 880]) == pytest.approx(2.953, abs=5e-4)
    assert wdl.bounds == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert wdl.decide(2.953, 3502) == "H1"
    found = estimate([759, 1863, 880])
    assert found is not None
    assert found[0] == pytest.approx(12.0, abs=0.05)
    normalized = Sprt(0, 2, model="normalized")
    assert normalized.llr(PAIRS) == pytest.approx(2.946, abs=5e-4)
    shown = estimate(PAIRS, "normalized")
    assert shown is not None
    assert shown[0] == pytest.approx(3.05, abs=5e-3)
    assert shown[2] - shown[0] == pytest.approx(2.31, abs=5e-3)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("counts", "decision"),
    [
        ([144, 3, 1, 0, 0], "H0"),
        ([0, 0, 1, 3, 144], "H1"),
        ([77, 1, 0, 0, 0], "H0"),
        ([1, 0, 0, 0, 0], "continue"),
        ([0, 0, 0, 0, 1], "continue"),
        ([0, 0, 9, 0, 0], "continue"),
        ([500, 0, 0, 0, 0], "H0"),
        ([0, 0, 500], "H1"),
        ([500, 0, 0], "H0"),
    ],
)
def test_one_sided_counts_have_a_finite_ratio(counts: list[int], decision: str, model: str) -> None:
    test = Sprt(0, 5, model=model)
    llr = test.llr(counts)
    assert math.isfinite(llr)
    assert test.decide(llr, sum(counts)) == decision


def test_crossing_the_upper_bound_accepts_h1() -> None:
    bounds = (-2.94, 2.94)
    assert decide(3.0, 1000, bounds) == "H1"
    assert decide(-3.0, 1000, bounds) == "H0"
    assert decide(2.9, 1000, bounds) == "continue"
    assert decide(100.0, LEAST - 1, bounds) == "continue"


def test_better_counts_never_speak_less_for_h1() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        counts = rng.integers(0, 200, 5 if rng.random() < 0.5 else 3).tolist()
        if sum(counts) == 0:
            continue
        mirrored = counts[::-1]
        for model in MODELS:
            there, back = (
                Sprt(-3, 3, model=model).llr(counts),
                Sprt(-3, 3, model=model).llr(mirrored),
            )
            assert there == pytest.approx(-back, rel=1e-9, abs=1e-9)
            sign = np.sign(np.dot(counts, np.linspace(-1, 1, len(counts))))
            assert there * sign >= -1e-9


def test_intervals_by_pair_know_what_ties_the_games_of_a_pair() -> None:
    for counts, half in (
        ([500, 0, 0, 0, 500], 3.10),
        ([0, 0, 1000, 0, 0], 0.0),
        ([30, 0, 920, 0, 50], 0.87),
    ):
        found = score_interval(counts)
        assert found is not None
        assert 100 * (found[2] - found[0]) == pytest.approx(half, abs=0.006)


def test_all_won_all_lost_and_nothing_played() -> None:
    won = estimate([0, 0, 6])
    assert won is not None
    assert won[0] == won[2] == math.inf
    assert won[1] == pytest.approx(77.5, abs=0.5)
    assert wilson(1, 6) == pytest.approx((0.61, 1.0), abs=0.005)
    lost = estimate([6, 0, 0])
    assert lost is not None
    assert lost[:2] == (-math.inf, -math.inf)
    assert lost[2] == pytest.approx(-won[1])
    assert estimate([0, 0, 0]) is None
    assert wilson(0, 0) == (0.0, 1.0)
    for elo in (-400.0, 0.0, 3.0, 250.0):
        assert elo_of(expected_score(elo)) == pytest.approx(elo)


@pytest.mark.parametrize("p", [0.1, 0.4, 0.75])
def test_the_variance_of_a_normalized_score_of_wins_and_losses(p: float) -> None:
    n = 1000
    counts = [round(n * (1 - p)), 0, round(n * p)]
    shown = (p - 0.5) / math.sqrt(p * (1 - p))
    # By the derivative of (p - 1/2) / sqrt(p (1 - p)), which is (p (1 - p))**-1.5 / 4.
    slope = (p * (1 - p)) ** -1.5 / 4
    assert normalized_variance(counts, shown) == pytest.approx(slope**2 * p * (1 - p), rel=1e-3)


def test_the_variance_of_a_normalized_score_is_what_it_varies_by() -> None:
    chances, n = np.array([0.33, 0.01, 0.55, 0.01, 0.1]), 400
    counts = np.random.default_rng(4).multinomial(n, chances, size=20_000)
    values = np.linspace(0, 1, 5)
    means = counts @ values / n
    shown = (means - 0.5) / np.sqrt(counts @ values**2 / n - means**2)
    truth = (chances @ values - 0.5) / math.sqrt(chances @ values**2 - (chances @ values) ** 2)
    found = normalized_variance((1e6 * chances).round().astype(int).tolist(), truth)
    assert found == pytest.approx(n * shown.var(), rel=0.04)
    assert found > 1.1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("truth", [0, 1])
def test_the_error_rates_are_kept(model: str, truth: int) -> None:
    """Many tests on pairs of a known strength: at most 5 % end with the wrong hypothesis."""
    rng = np.random.default_rng(17 + truth)
    test = Sprt(-20, 20, model=model)
    base = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    values = np.linspace(0, 1, 5)
    sigma = math.sqrt(base @ (values - 0.5) ** 2)
    elo = (test.elo0, test.elo1)[truth]
    if model == "logistic":
        shift = expected_score(elo) - 0.5
    else:
        shift = elo * math.log(10) / 800 * math.sqrt(2) * sigma
    # Moved so that the mean is right and the spread about the same.
    chances = base * (1 + shift * (values - 0.5) / sigma**2)
    wrong, runs = 0, 400
    for _ in range(runs):
        counts = np.zeros(5, int)
        decision = "continue"
        while decision == "continue":
            counts += rng.multinomial(20, chances / chances.sum())
            decision = test.decide(test.llr(counts.tolist()), int(counts.sum()))
        wrong += decision != f"H{truth}"
    assert wrong / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["sprt", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "--wdl", "880", "1863", "759", "--elo0", "0", "--elo1", "5")
    assert set(found) >= {"llr", "lower", "upper", "decision", "elo", "ci95"}
    assert (found["decision"], found["scale"]) == ("H1", "Elo (logistic)")
    assert found["llr"] == pytest.approx(2.953, abs=5e-4)
    found = run_json(
        capsys, "--pairs", *map(str, PAIRS), "--elo0", "0", "--elo1", "2", "--model", "normalized"
    )
    assert (found["decision"], found["scale"]) == ("H1", "nElo (normalized)")
    assert found["elo"] == pytest.approx(3.05, abs=5e-3)
    won = run_json(capsys, "--wdl", "6", "0", "0")
    assert won["elo"] is None
    assert won["ci95"] == [pytest.approx(77.5, abs=0.5), None]
    assert main(["sprt", "--wdl", "880", "1863", "759"]) == 0
    text = capsys.readouterr().out
    assert "H1 accepted: 5 (Elo (logistic), 0 against 5)" in text
    assert "LLR       2.953" in text
    assert main(["sprt", "--wdl", "6", "0", "0"]) == 0
    assert "+inf" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--wdl", "0", "0", "0"], "no data"),
        (["--wdl", "1", "2"], "expected 3 arguments"),
        (["--wdl", "1", "2", "-3"], "'-3': allowed is a whole number 0.."),
        (["--wdl", "1", "2", "x"], "'x': allowed is a whole number 0.."),
        (["--wdl", "1", "2", "3", "--elo0", "5", "--elo1", "5"], "the first is the smaller"),
        (["--wdl", "1", "2", "3", "--elo1", "nan"], "'nan': allowed is a number"),
        (["--wdl", "1", "2", "3", "--elo1", "1e9"], "allowed is a number -2000..2000"),
        (["--wdl", "1", "2", "3", "--alpha", "0"], "alpha = 0.0: allowed is a number"),
        (["--wdl", "1", "2", "3", "--model", "bayes"], "invalid choice: 'bayes'"),
        ([], "one of the arguments --wdl --pairs is required"),
    ],
)
def test_mistakes_get_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert message in refused(capsys, "sprt", *words)


def test_what_is_no_hypothesis_is_refused() -> None:
    for wrong in ({"elo0": 5.0}, {"elo1": "5"}, {"alpha": 0.5}, {"beta": 1}, {"model": "bayes"}):
        with pytest.raises(GinSimError, match=next(iter(wrong))):
            Sprt(**wrong)  # type: ignore[arg-type]
    with pytest.raises(GinSimError, match="give 3"):
        Sprt().llr([1, 2])
