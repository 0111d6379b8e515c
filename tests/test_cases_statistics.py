"""Faults that public programs have had with intervals, ratings and sequential tests."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gin_sim import play_tournament
from gin_sim.cli import main
from gin_sim.compiled import JIT_DISABLED
from gin_sim.multiple import show_p
from gin_sim.ratings import rate
from gin_sim.standings import log10_p, share
from gin_sim.stats import RatioSums
from gin_sim.sums import Sums

HANDS = 40 if JIT_DISABLED else 4000


def of_pairs(counts: list[int], points: int = 10) -> tuple[Sums, list[int]]:
    """Return sums of mirrored pairs with such scores of a: LL, LD, LW or DD, WD, WW."""
    sums = Sums([(0, 1)], 2, games=False, block=1)
    for score, count in enumerate(counts):
        x, two = np.full(count, score), np.full(count, 2)
        for name, value, h in (("score", x, 2 * two), ("points", points * (x - 2), two)):
            ratio = RatioSums(*map(int, sums.pairings[0][name]))
            ratio.add(value, h)
            sums.pairings[0][name] = [ratio.n, ratio.x, ratio.xx, ratio.h, ratio.hh, ratio.xh]
    sums.pairings[0]["pairs"] = counts
    return sums, counts


@pytest.mark.parametrize(
    ("counts", "score", "half"),
    [
        ([500, 0, 0, 0, 500], 50.0, 3.10),
        ([0, 0, 1000, 0, 0], 50.0, 0.0),
        ([30, 0, 920, 0, 50], 51.0, 0.87),
    ],
)
def test_games_of_a_pair_are_not_independent(counts: list[int], score: float, half: float) -> None:
    found = share(of_pairs(counts)[0].of("score", 0))
    low, high = found["ci95"]
    assert 100 * found["share"] == pytest.approx(score)
    assert 100 * (high - low) / 2 == pytest.approx(half, abs=0.015)


def test_all_won_all_lost_and_no_data() -> None:
    won, lost = (
        share(of_pairs(counts)[0].of("score", 0)) for counts in ([0] * 4 + [6], [6, 0, 0, 0, 0])
    )
    assert (won["elo"], won["elo_ci95"][1]) == (None, None)
    assert won["elo_text"] == "+inf [+77, +inf]"
    assert won["ci95"] == pytest.approx([0.61, 1.0], abs=0.001)
    assert lost["ci95"] == pytest.approx([0.0, 0.39], abs=0.001)
    assert lost["elo_text"] == "-inf [-inf, -77]"
    nothing = share(RatioSums())
    assert nothing["elo_text"] == "no data"
    json.dumps([won, lost, nothing], allow_nan=False)


def test_a_p_value_too_small_for_a_float_is_not_shown_as_0() -> None:
    """2,000 pairs swept by one side."""
    sums, pairs = of_pairs([0, 0, 0, 0, 2000])
    p = log10_p(sums.of("points", 0), pairs)
    assert p == pytest.approx(math.log10(2) - 2000 * math.log10(2), abs=1e-6)
    assert show_p(p) == "<1e-300 (10^-601.8)"
    # And with points that differ from pair to pair.
    ratio = RatioSums()
    ratio.add(40 + np.arange(2000) % 3, np.full(2000, 2))
    assert -1e5 < log10_p(ratio, pairs) < -300


def test_a_rating_does_not_depend_on_the_order_of_results() -> None:
    rng = np.random.default_rng(3)
    pairings = [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)]
    scores = rng.binomial(4, [0.5, 0.7, 0.6, 0.55, 0.8], (200, 5))
    played = np.full_like(scores, 2)
    first = rate(4, pairings, scores, played, seed=1)
    shuffled = rate(4, pairings, scores[rng.permutation(200)], played, seed=1)
    assert (first.elo == shuffled.elo).all()
    order = rng.permutation(5)
    other = rate(4, [pairings[p] for p in order], scores[:, order], played, seed=1)
    assert (first.elo == other.elo).all()
    assert (first.low == other.low).all()


def test_a_test_without_a_count_runs_until_a_bound_or_the_stated_cap(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["compare", "greedy", "random", "--seed", "1", "--jobs", "1", "--json"]
    assert main([*words, "--max-hands", "2000"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["decision"] == "H1"
    assert found["llr"] >= found["upper"]
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert "default 1,000,000" in " ".join(capsys.readouterr().out.split())
    same = ["compare", "greedy", "greedy", "--points0", "-0.01", "--points1", "0.011"]
    assert main([*same, "--seed", "1", "--jobs", "1", "--max-hands", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] == "none"


def test_hands_games_and_points_are_told_apart() -> None:
    """One that holds out for gin wins fewer hands, and more games."""
    games = 4 if JIT_DISABLED else 1000
    row = play_tournament(["early_gin", "simple"], games=games, seed=2).as_dict()["pairings"][0]
    hands, played = row["hand_score"], row["game_score"]
    assert hands["share"] == pytest.approx(
        (row["a_hand_wins"] + row["dead_hands"] / 2) / row["hands"]
    )
    assert played["share"] == pytest.approx(
        (row["a_game_wins"] + row["undecided_games"] / 2) / row["games"]
    )
    if not JIT_DISABLED:
        assert hands["ci95"][1] < 0.45
        assert played["ci95"][0] > 0.6
        assert row["ci95"][0] > 0
    assert not any("win_rate" in key for key in row)


def test_rows_of_the_table_belong_to_their_names(tmp_path: Path) -> None:
    """Sorting parts no name from its numbers."""
    agents = ["random", "simple", "gin_only"]
    result = play_tournament(agents, hands=HANDS, seed=5, out=tmp_path / "run", jobs=1)
    document, hands = result.as_dict(), result.hands
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == {
        key: value for key, value in document.items() if key != "out"
    }
    summary = pd.read_csv(tmp_path / "run" / "summary.csv")
    for row in document["pairings"]:
        mine = hands[hands.pairing == f"{row['a']} v {row['b']}"]
        told = summary[(summary.a == row["a"]) & (summary.b == row["b"])].iloc[0]
        assert row["points_per_hand"] == told.points_per_hand == mine.points_a.mean()
        a, b = (agents.index(row[side]) for side in "ab")
        assert document["matrix"][a][b] == -document["matrix"][b][a] == row["points_per_hand"]
        if row["significant"]:
            assert document["beats"][a][b] == (row["points_per_hand"] > 0)
    for row in document["ranking"]:
        total = sum(
            (hands.points_a * (1 if side == "a" else -1))[hands.pairing == f"{a} v {b}"].sum()
            for a, b in (pairing for pairing in ((p["a"], p["b"]) for p in document["pairings"]))
            for side, name in (("a", a), ("b", b))
            if name == row["agent"]
        )
        assert row["points_per_hand"] == pytest.approx(total / row["hands"])


def test_names_order_and_cuts_change_no_number(tmp_path: Path) -> None:
    """The same agents in another order, or under another name."""
    there: dict[str, Any] = {}
    for order in (["simple", "greedy", "gin_only"], ["gin_only", "simple", "greedy"]):
        result = play_tournament(order, hands=HANDS, seed=4, jobs=1).as_dict()
        for row in result["pairings"]:
            sign = 1 if row["a"] < row["b"] else -1
            key = tuple(sorted((row["a"], row["b"])))
            numbers = (sign * row["points_per_hand"], row["undercuts"], row["turns_per_hand"])
            assert there.setdefault(key, numbers) == numbers
        for row in result["ranking"]:
            numbers = (row["points_per_hand"], row["ci95"], row["elo"], row["elo_ci95"])
            assert there.setdefault(row["agent"], numbers) == numbers
    twin = (Path("agents") / "greedy.py").read_text().replace('"greedy"', '"twin"')
    (tmp_path / "twin.py").write_text(twin)
    named = play_tournament(["greedy", f"{tmp_path}/twin.py:twin"], hands=HANDS, seed=4, jobs=1)
    row = named.as_dict()["pairings"][0]
    assert (row["points_per_hand"], row["ci95"], row["p"]) == (0.0, [0.0, 0.0], "1")
    chancy = play_tournament(["simple", "simple"], hands=HANDS, seed=4, jobs=1).as_dict()
    low, high = chancy["pairings"][0]["ci95"]
    assert low <= 0 <= high
