"""What is counted of a tournament: a recount of its rows, however the work was cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gin_sim.compiled import JIT_DISABLED, readable
from gin_sim.control import ControlSums
from gin_sim.plan import Plan, make_plan, make_sweep
from gin_sim.play import GAME_DTYPE, ROW_DTYPE
from gin_sim.runner import Entry, Piece, Played, play_piece
from gin_sim.scoring import OUTCOMES
from gin_sim.stats import RatioSums
from gin_sim.sums import BLOCK_COLUMNS, MAX_BLOCKS, Sums, block_units

UNITS = 6 if JIT_DISABLED else 150
CREW = ["simple", "early_gin", "gin_only"]


def whole_piece(plan: Plan) -> Piece:
    return Piece(
        number=0,
        first=0,
        count=plan.units,
        entries=tuple(map(Entry.of, plan.agents, plan.labels)),
        pairings=plan.pairings,
        rules=plan.rules,
        seed=plan.seed,
        games=plan.games,
        forgiving=plan.forgiving,
        block=plan.block_units,
    )


@pytest.fixture(scope="module", params=["hands", "games", "gauntlet"])
def played(request: pytest.FixtureRequest) -> tuple[Plan, Played]:
    amount = {"games" if request.param == "games" else "hands": 2 * UNITS}
    how = "gauntlet" if request.param == "gauntlet" else "round-robin"
    plan = make_plan(CREW, seed=8, format=how, **amount)
    return plan, play_piece(whole_piece(plan))


def same(one: Sums, other: Sums) -> bool:
    return one.as_dict() == other.as_dict()


def per_unit(plan: Plan, played: Played, p: int) -> dict[str, list[int]]:
    """Recount a pairing's units in plain Python."""
    rows = played.rows[p]
    out = {name: [0] * plan.units for name in ("points", "hands", "score", "games", "margin")}
    for i, row in enumerate(rows):
        unit = int(row["game"]) if plan.games else i // 2
        out["points"][unit] += int(row["points_a"])
        out["hands"][unit] += 1
        out["score"][unit] += {-1: 1, 0: 2, 1: 0}[int(row["winner"])]
    for game in played.games[p] if plan.games else []:
        unit = int(game["game"])
        out["games"][unit] += {-1: 1, 0: 2, 1: 0}[int(game["winner"])]
        out["margin"][unit] += int(game["margin_a"])
    return out


def ratio(x: Any, h: Any) -> RatioSums:
    sums = RatioSums()
    sums.add(x, h)
    return sums


def test_sums_are_a_recount_of_the_rows(played: tuple[Plan, Played]) -> None:
    plan, piece = played
    for p in range(len(plan.pairings)):
        units, rows, tally = per_unit(plan, piece, p), piece.rows[p], piece.sums.pairings[p]
        assert piece.sums.of("points", p) == ratio(units["points"], units["hands"])
        assert piece.sums.of("score", p) == ratio(units["score"], 2 * np.array(units["hands"]))
        assert tally["turns"] == rows["turns"].sum()
        for dealer in (0, 1):
            some = rows[rows["dealer"] == dealer]
            points = some["points_a"].astype(int)
            assert list(tally["seats"][dealer]) == [points.sum(), (points**2).sum()]
            for place, outcome in enumerate(OUTCOMES):
                ended = some[some["outcome"] == place]
                for winner in (-1, 0, 1):
                    for ender in (-1, 0, 1):
                        both = (ended["winner"] == winner) & (ended["ender"] == ender)
                        count = tally["endings"][dealer, ender + 1, winner + 1, place]
                        assert count == both.sum(), (outcome, winner, ender)
        dealt = ControlSums()
        if not plan.games:
            dealt.add(rows)
        assert list(tally["control"].ravel()) == list(dealt.folds.view(np.int64))
        decided = units["games" if plan.games else "score"]
        assert list(tally["pairs"]) == list(np.bincount(decided, minlength=5))
        if plan.games:
            fours = np.full(plan.units, 4)
            assert piece.sums.of("games", p) == ratio(units["games"], fours)
            assert piece.sums.of("margin", p) == ratio(units["margin"], fours // 2)
        else:
            assert piece.sums.of("games", p) == RatioSums()


def test_an_agent_s_sums_are_over_deals_that_all_its_pairings_share(
    played: tuple[Plan, Played],
) -> None:
    plan, piece = played
    for i in range(len(plan.agents)):
        total = {name: np.zeros(plan.units, int) for name in ("points", "hands", "score", "games")}
        met = 0
        for p, pair in enumerate(plan.pairings):
            if i in pair:
                met += 1
                units = {k: np.array(v) for k, v in per_unit(plan, piece, p).items()}
                if pair[1] == i:
                    units["points"] = -units["points"]
                    units["score"] = 2 * units["hands"] - units["score"]
                    units["games"] = 4 - units["games"]
                for name in total:
                    total[name] += units[name]
        assert piece.sums.of_agent("points", i) == ratio(total["points"], total["hands"])
        assert piece.sums.of_agent("score", i) == ratio(total["score"], 2 * total["hands"])
        if plan.games:
            shares = ratio(total["games"], np.full(plan.units, 4 * met))
            assert piece.sums.of_agent("games", i) == shares


def test_blocks_hold_the_same_deals_for_all_pairings(played: tuple[Plan, Played]) -> None:
    plan, piece = played
    table = piece.sums.block_table()
    assert table.shape == (plan.units, len(plan.pairings), len(BLOCK_COLUMNS))
    for p in range(len(plan.pairings)):
        units = per_unit(plan, piece, p)
        for name in ("points", "hands", "score"):
            assert list(table[:, p, BLOCK_COLUMNS.index(name)]) == units[name]
        assert list(table[:, p, BLOCK_COLUMNS.index("game_score")]) == units["games"]


@pytest.mark.parametrize(
    ("units", "most"), [(1, 1), (1000, 1000), (1001, 501), (10**9, 1000), (2**53 - 1, 1000)]
)
def test_there_are_at_most_so_many_blocks(units: int, most: int) -> None:
    assert -(-units // block_units(units)) == most <= MAX_BLOCKS


@pytest.mark.parametrize("block", [1, 4, 1000])
def test_sums_do_not_depend_on_how_the_work_was_cut(
    played: tuple[Plan, Played], block: int
) -> None:
    plan, piece = played
    bounds = np.random.default_rng(block).integers(0, plan.units, 5)
    cuts = sorted({0, plan.units, *map(int, bounds)})
    whole = Sums(plan.pairings, len(plan.agents), plan.games, block)
    parts = whole.empty()
    spans = list(pairwise(cuts))
    for first, end in [(0, plan.units), *reversed(spans)]:
        sums = whole.empty()
        rows, games = [], []
        for p in range(len(plan.pairings)):
            unit = piece.rows[p]["game" if plan.games else "deal"]
            inside = (unit >= first) & (unit < end)
            rows.append(readable(piece.rows[p][inside].astype(ROW_DTYPE)))
            if plan.games:
                some = piece.games[p]
                inside = (some["game"] >= first) & (some["game"] < end)
                games.append(readable(some[inside].astype(GAME_DTYPE)))
        sums.add_units(first, end - first, rows, games)
        (whole if (first, end) == (0, plan.units) and whole.units == 0 else parts).add(sums)
    assert same(whole, parts)
    assert (len(whole.blocks) == 1) == (block == 1000)


def test_sums_come_back_from_json(played: tuple[Plan, Played]) -> None:
    _, piece = played
    back = piece.sums.empty()
    back.add_dict(json.loads(json.dumps(piece.sums.as_dict())))
    assert same(back, piece.sums)


@pytest.mark.parametrize("damage", ["units", "pairings", "agents", "blocks"])
def test_sums_of_another_kind_are_refused(played: tuple[Plan, Played], damage: str) -> None:
    _, piece = played
    values = piece.sums.as_dict()
    wrong: dict[str, Any] = {"units": "x", "pairings": [], "agents": [{}], "blocks": {"0": [[1]]}}
    for value in (wrong[damage], None):
        with pytest.raises((ArithmeticError, LookupError, TypeError, ValueError)):
            piece.sums.empty().add_dict(values | {damage: value})


def test_formats_say_who_meets() -> None:
    names = ["simple", "greedy", "random", "gin_only"]
    assert len(make_plan(names).pairings) == 6
    assert make_plan(names, format="gauntlet").pairings == ((0, 1), (0, 2), (0, 3))
    league = make_plan(names, format="league")
    assert (league.games, league.units, len(league.pairings)) == (True, 500, 6)
    sweep = make_sweep("early_gin", "turns", [0, 2, 4], ["simple", "greedy"])
    assert sweep.pairing_labels == [
        f"early_gin:turns={turns} v {other}"
        for turns in (0, 2, 4)
        for other in ("simple", "greedy")
    ]
