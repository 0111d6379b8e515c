"""Tables of knocking: what they score is what playing them scores, and the search finds."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from agents.equilibrium import IN_A_THOUSAND
from experiments import knock_equilibrium as experiment
from experiments.knock_equilibrium import (
    ALWAYS,
    BY_THE_TIP,
    NEVER,
    best_response,
    elsewhere,
    find_equilibrium,
    polish,
    spans,
)
from gin_sim import Hand, Rules, drive, load_agent
from gin_sim.awkward import make_view
from gin_sim.chance import below
from gin_sim.cli.common import guarded
from gin_sim.compiled import JIT_DISABLED, readable, records
from gin_sim.knock_tables import CELLS, PARTS, Chances, Part, Table, play_parts, scan
from gin_sim.play import ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.registry import Agent
from gin_sim.rules import as_rules
from gin_sim.scoring import rules_record
from gin_sim.state import deadwood_after
from gin_sim.view import KNOCK
from gin_sim.workers import Workers
from tests.helpers import ask, scaled

COMMITTED = Path(__file__).resolve().parent.parent / "results" / "knock_equilibrium"
SEED = 17
ONE = Workers(1)


def knock_by_table(view: Any, params: Any) -> bool:
    """Knock with the probability that stands in the table."""
    chance = params[11 * view.stock_left + view.deadwood]
    return bool(below(view.word, 1 << 30) < chance * (1 << 30))


def table_player(table: Table) -> Agent:
    """Return `simple` with a table of its own."""
    params = {f"cell_{i}": float(value) for i, value in enumerate(table)}
    return dataclasses.replace(load_agent("simple"), knock=knock_by_table, params=params)


def random_table(number: int, *, pure: bool = True) -> Table:
    """Return a table that knocks at a quarter of the cells, or at some chance everywhere."""
    draws = np.random.default_rng(number).random(CELLS)
    return np.where(draws < 0.25, 1.0, 0.0) if pure else draws / 4


def parts(deals: int, rules: str = "poozee", workers: Workers = ONE) -> list[Part]:
    return play_parts(deals, SEED, as_rules(rules), workers)


def points_played(mine: Table, theirs: Table, deals: int, rules: str) -> Any:
    """Return the points of each mirrored deal, played out with real dice."""
    rows = records(2 * deals, ROW_DTYPE)
    desk = new_desk(rules_record(as_rules(rules)))
    a, b = prepare(table_player(mine)), prepare(table_player(theirs))
    play_hands(desk, Order(SEED, 0, deals, 0, 0), a, b, rows)
    return rows.view(np.ndarray)["points_a"].astype(float).reshape(-1, 2).mean(axis=1)


@pytest.mark.parametrize("rules", ["poozee", "standard", "oklahoma", "openspiel"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_table_scores_what_playing_it_scores(rules: str, seed: int) -> None:
    deals = scaled(3000, 8)
    part = parts(deals, rules)[0]
    mine, theirs = random_table(seed), random_table(10 + seed)
    found = part.scan(mine, theirs)
    played = points_played(mine, theirs, deals, rules)
    assert found.deals == deals
    assert found.total == played.sum()
    assert found.squares == (played**2).sum()
    assert part.scan(theirs, mine).total == -found.total


@pytest.mark.skipif(JIT_DISABLED, reason="the same arithmetic, far more slowly")
def test_a_mixed_table_scores_what_dice_come_to() -> None:
    deals = scaled(10_000, 20)
    part = parts(deals)[0]
    mine, theirs = random_table(5, pure=False), random_table(6, pure=False)
    found = part.scan(mine, theirs)
    played = points_played(mine, theirs, deals, "poozee")
    # The dice are the only difference: the error of what was played bounds that of both.
    error = played.std() / np.sqrt(deals)
    assert abs(found.mean - played.mean()) < 4 * error
    assert found.se < error or JIT_DISABLED


def points_of(hand: Hand, seat: int) -> int:
    """Return the points of a finished hand for a seat."""
    facts = hand.facts()
    sign = 0 if facts["winner"] is None else (1 if facts["winner"] == seat else -1)
    return sign * int(facts["points"])


def test_both_branches_of_a_fork_are_those_of_the_hand() -> None:
    """Walk hands move by move, copy each at every chance, and play both branches on."""
    deals = scaled(200, 4)
    (piece,) = parts(deals)[0].pieces
    player = drive.Player(load_agent("simple"), "simple")
    table = random_table(3)
    later = table_player(table)
    k = 0
    for number in range(deals):
        hand = Hand.dealt(SEED, number, "poozee")
        end = int(piece.ends[number])
        while hand.phase != "over":
            hand.view()
            seat, state = hand.seat, hand._state
            record = readable(state["views"])[seat]
            if hand.phase != "discard":
                pass_by = hand.draw if hand.phase == "draw" else hand.pass_
                (hand.take if player.ask("draw", record) else pass_by)()
                continue
            card = int(player.ask("discard", record))
            deadwood = int(deadwood_after(state, card))
            if not 0 < deadwood <= hand.knock_limit:
                (hand.throw if deadwood else hand.knock)(card)
                continue
            assert k < end
            assert int(piece.at[k, 0]) == CELLS * seat + 11 * hand.stock_left + deadwood
            knocking = hand.copy()
            knocking.knock(card)
            assert points_of(knocking, seat) == int(piece.at[k, 1])
            hand.throw(card)
            waiting = hand.copy()
            waiting.play_on(later)
            rest = Chances(
                piece.at[k + 1 : end], np.array([end - k - 1], np.int32), piece.last[number:][:1]
            )
            total, _ = scan(rest, table, table, 1, np.zeros((6, CELLS)))
            assert total == 0  # both seats of one table
            k += 1
            coming = [(int(c), int(p)) for c, p in piece.at[k:end] if table[int(c) % CELLS]]
            points = (1 - 2 * (coming[0][0] // CELLS)) * coming[0][1] if coming else None
            assert points_of(waiting, 0) == (piece.last[number] if points is None else points)
        assert k == end
        assert points_of(hand, 0) == int(piece.last[number])
    assert k == len(piece.at) > 0


def test_gains_are_slopes_of_the_points() -> None:
    """Knock minus wait, weighed by how often one gets there, is the slope of the points."""
    part = parts(scaled(2000, 20))[0]
    mine, theirs = random_table(1, pure=False), random_table(2, pure=False)
    found = part.scan(mine, theirs)
    seen = np.flatnonzero(found.cells[0])
    for cell in seen[:: max(1, seen.size // 8)]:
        ends = []
        for change in (-1e-4, 1e-4):
            other = mine.copy()
            other[cell] += change
            ends.append(part.scan(other, theirs).total)
        # Points are of a hand, gains of a deal's two seats.
        slope = 2 * (ends[1] - ends[0]) / 2e-4
        assert slope == pytest.approx(found.cells[2, cell], abs=1e-4 * found.deals)
    waited = part.scan(mine, theirs, by_own=False)
    assert (waited.cells[1] >= found.cells[1]).all()
    assert part.scan(NEVER, theirs).cells[1].tolist() == waited.cells[1].tolist()


@pytest.mark.skipif(JIT_DISABLED, reason="the same arithmetic, far more slowly")
def test_a_silly_table_is_found_out() -> None:
    learning, testing, _ = parts(scaled(20_000, 120))
    knocks_late = np.where(np.arange(CELLS) < 11 * 15, 1.0, 0.0)
    for silly, least in ((NEVER, 0.8), (ALWAYS, 3.0), (knocks_late, 1.0)):
        response, learned = best_response(learning, silly, ALWAYS)
        assert learned.mean > 0
        assert learned.mean == learning.scan(response, silly).mean
        strongest, most = best_response(learning, silly, response, *elsewhere(silly))
        assert most.total >= learned.total
        if not JIT_DISABLED:
            fresh = testing.scan(response, silly)
            assert fresh.mean - 3 * fresh.se > 0
            assert fresh.mean > least
            assert testing.scan(strongest, silly).mean > least
            # A climb ends where no clear change of one cell is left that gains.
            better = learned.improved(response)
            for cell in np.flatnonzero(better != response):
                other = response.copy()
                other[cell] = better[cell]
                assert learning.scan(other, silly).total <= learned.total


def test_the_best_of_all_tables_is_found_where_all_can_be_tried() -> None:
    """Leave only the eight cells that come up most, and try every table of 0 and 1."""
    (piece,) = parts(scaled(4000, 30))[0].pieces
    cells = piece.at[:, 0] % CELLS
    often = np.argsort(-np.bincount(cells, minlength=CELLS), kind="stable")[:8]
    kept = np.isin(cells, often)
    ends = np.cumsum(np.append(0, kept))[piece.ends].astype(np.int32)
    small = Part([Chances(piece.at[kept].copy(), ends, piece.last)], ONE)
    for theirs in (BY_THE_TIP, ALWAYS, NEVER, random_table(8, pure=False)):
        best = -np.inf
        for choice in range(1 << often.size):
            table = NEVER.copy()
            table[often] = [choice >> i & 1 for i in range(often.size)]
            best = max(best, small.scan(table, theirs).total)
        _, found = best_response(small, theirs, *elsewhere(theirs))
        assert found.total <= best
        # It changes only what is clear, so it may miss what is within the errors.
        noise = float(np.sqrt(found.cells[4].sum()))
        assert found.total >= best - noise


@pytest.mark.skipif(JIT_DISABLED, reason="the same arithmetic, far more slowly")
def test_the_search_comes_close_to_an_equilibrium() -> None:
    learning, testing, final = parts(scaled(10_000, 30))
    rounds = 12 if not JIT_DISABLED else 2
    table, response, history = find_equilibrium(learning, testing, rounds)
    assert [one.number for one in history] == list(range(len(history)))
    assert history[0].fresh.mean > 0 or JIT_DISABLED
    assert ((table >= 0) & (table <= 1)).all()
    gain = testing.scan(response, table).mean
    least = min(history, key=lambda one: one.learned.mean)
    assert gain in (history[-1].fresh.mean, least.fresh.mean)
    before = learning.scan(response, table).mean
    table, response = polish(learning, testing, table, response, history)
    assert ((table >= 0) & (table <= 1)).all()
    assert learning.scan(response, table).mean <= before
    assert [one.number for one in history] == list(range(len(history)))
    if not JIT_DISABLED:
        assert history[0].fresh.mean - 3 * history[0].fresh.se > 0
        assert learning.scan(response, table).mean < 0.1
        for other in (ALWAYS, NEVER, BY_THE_TIP):
            assert final.scan(other, table).mean < 0


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def play(tmp_path: Path, name: str, *words: str) -> dict[str, bytes]:
    argv = ["--seed", "3", "--out", str(tmp_path / name), *words]
    assert guarded(experiment.build_parser(), argv) == 0
    return read_all(tmp_path / name)


@pytest.mark.skipif(JIT_DISABLED, reason="the same arithmetic, far more slowly")
def test_a_run_leaves_the_same_bytes_however_it_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gin_sim.knock_tables.PIECE_DEALS", scaled(700, 7))
    # The checkout may change while this runs.
    monkeypatch.setattr(experiment, "git_commit", lambda: "a commit")
    amounts = ("--deals", str(scaled(2000, 20)), "--rounds", "2")
    one = play(tmp_path, "one", *amounts, "--jobs", "1")
    assert set(one) == {
        *("manifest.json", "verdict.txt"),
        *("equilibrium.csv", "exploitability.csv", "standings.csv"),
        *("figures/equilibrium.png", "figures/exploitability.png"),
    }
    assert play(tmp_path, "two", *amounts, "--jobs", "2") == one
    assert play(tmp_path, "three", *amounts, "--jobs", "2", "--backend", "loky") == one
    monkeypatch.setattr("gin_sim.knock_tables.PIECE_DEALS", 8192)
    shown = capsys.readouterr().out
    assert "the tip: from 23 on: can be exploited by" in shown
    manifest = json.loads(one["manifest.json"])
    assert manifest["kind"] == "knock_equilibrium"
    assert manifest["rules"] == Rules.preset("poozee").as_dict()
    assert manifest["command"].endswith(f"--deals {scaled(2000, 20)} --seed 3 --rounds 2")
    cells = pd.read_csv(tmp_path / "one" / "equilibrium.csv")
    assert len(cells) == 300
    seen = cells[cells["n"] > 0]
    assert seen["knock_probability"].between(0, 1).all()
    assert seen["effect"].notna().all()
    assert cells.loc[cells["n"] == 0, "effect"].isna().all()
    rounds = pd.read_csv(tmp_path / "one" / "exploitability.csv")
    assert list(rounds.columns) == [
        *("round", "search", "exploitability", "se", "deals", "learned")
    ]
    assert rounds["exploitability"].notna().all()


@pytest.mark.parametrize("words", [["--rules", "straight", "--deals", "5"], ["--deals", "1"]])
def test_nothing_to_say_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    files = play(tmp_path, "none", *words)
    assert "no data" in capsys.readouterr().out
    assert files["verdict.txt"].startswith(b"no data")
    assert files["exploitability.csv"].count(b"\n") == 1
    assert pd.read_csv(tmp_path / "none" / "equilibrium.csv")["n"].sum() == 0


def test_mistakes_get_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = experiment.build_parser()
    for words, said in (
        (["--deals", "0"], "'0': allowed is a whole number 1.."),
        (["--deals", "5", "--target", "none"], "'none': allowed is a number above 0"),
        (["--rounds", "-1"], "'-1': allowed is a whole number 0.."),
    ):
        with pytest.raises(SystemExit) as stopped:
            guarded(parser, [*words, "--out", str(tmp_path / "x")])
        assert stopped.value.code == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
    assert guarded(parser, ["--rules", "poker", "--out", str(tmp_path / "x")]) == 2
    (tmp_path / "file").write_text("")
    assert guarded(parser, ["--deals", "2", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("error: ") == 2
    assert not (tmp_path / "x").exists()


def test_numbers_are_said_as_spans() -> None:
    assert spans([]) == ""
    assert spans([2, 3, 4, 9, 11, 12]) == "2..4, 9, 11..12"


def test_the_parts_are_deals_of_their_own() -> None:
    deals = scaled(300, 5)
    every = parts(deals)
    assert len(every) == PARTS
    joined = play_parts(PARTS * deals, SEED, as_rules("poozee"), ONE)[0].pieces[0]
    lasts = np.concatenate([piece.last for part in every for piece in part.pieces])
    assert lasts.tolist() == joined.last.tolist()


def test_the_committed_result_is_below_the_target() -> None:
    folder = COMMITTED
    standings = pd.read_csv(folder / "standings.csv")
    row = standings.iloc[0]
    assert row["exploitability"] + 2 * row["se"] < 0.05
    readme = (folder / "README.md").read_text()
    for at, se in zip(standings["exploitability"], standings["se"], strict=True):
        assert f"{at:.3f} ± {1.96 * se:.3f}" in readme
    assert json.loads((folder / "manifest.json").read_text())["command"] in readme


def test_the_agent_plays_the_committed_table() -> None:
    committed = pd.read_csv(COMMITTED / "equilibrium.csv")
    table = committed.pivot_table(
        index="stock_left", columns="deadwood", values="knock_probability"
    )
    assert pytest.approx(table.fillna(0).to_numpy(), abs=6e-4) == IN_A_THOUSAND / 1000
    rng = np.random.default_rng(2)
    player = load_agent("equilibrium")
    cell = committed[committed["knock_probability"].between(0.2, 0.8)].iloc[0]
    view = make_view(
        "2c 3c 4c 8d 8h 8s Ah 2h 3h 5d Kh",
        phase=KNOCK,
        candidate="Kh",
        stock_left=int(cell["stock_left"]),
        deadwood=int(cell["deadwood"]),
    )
    knocked = 0
    n = scaled(4000, 400)
    for _ in range(n):
        view["word"] = int(rng.integers((1 << 63) - 1))
        knocked += ask(player, "knock", view)
    assert knocked / n == pytest.approx(cell["knock_probability"], abs=4 * 0.5 / n**0.5)
