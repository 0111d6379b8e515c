"""Improvement by forks: what is forked, what is fitted, and that a run comes out again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel

from experiments.improve import (
    BEGIN,
    Forks,
    Study,
    begin_with,
    better,
    build_parser,
    gather,
    improve,
)
from gin_sim import Params, PlayError, View, agent, load_agent, shuffled_deck
from gin_sim.awkward import make_view
from gin_sim.cards import cards_of
from gin_sim.choices import CHOICES, FIRST, KNOCKS, OPEN, TAKES, THROWS, is_due, two_throws
from gin_sim.cli.common import guarded
from gin_sim.view import KNOCK
from gin_sim.wide_features import N_WIDE, WIDE_NAMES, throw_score
from gin_sim.workers import Workers
from tests.helpers import scaled, table

BEGUN = begin_with(str(BEGIN))


def study(forks: int, rounds: int = 1) -> Study:
    """Return a small one."""
    pool = (load_agent("simple"), load_agent("early_gin"))
    return Study(BEGUN, pool, "eaai", rounds, forks, 0.5, 10, 4, "here")


@pytest.mark.parametrize("choice", [THROWS, TAKES, KNOCKS], ids=CHOICES)
def test_a_fork_is_of_an_open_choice_and_its_row_gives_its_lead(choice: int) -> None:
    asked = study(scaled(4000, 16))
    with Parallel(2, backend="threading") as parallel:
        forks = gather(asked, BEGUN.param_values, choice, 0, parallel)
    n = len(forks.leads)
    assert n == len(forks.gains) == len(forks.rows)
    assert abs(n - asked.forks) <= 1
    weights = BEGUN.param_values[FIRST[choice] : FIRST[choice + 1]]
    assert forks.rows @ weights == pytest.approx(forks.leads, abs=1e-6)
    assert (np.abs(forks.leads) < OPEN[choice]).all()
    if choice == THROWS:
        assert (forks.leads >= 0).all()  # the best comes first
    else:
        assert (forks.leads > 0).any()
        assert (forks.leads < 0).any()
    assert forks.gains.any()
    assert (np.abs(forks.gains) < 300).all()
    if n > 1000:  # a lead is worth something
        assert np.corrcoef(forks.leads, forks.gains)[0, 1] > 0


def test_a_knock_gains_what_it_gains_of_the_hand_played_on() -> None:
    """The rows of one seed, once more: with the answers changed in hands played in the open."""
    some, again = (
        [
            gather(study(scaled(400, 8)), BEGUN.param_values, KNOCKS, number, parallel)
            for number in (0, 1)
        ]
        for parallel in (Parallel(1, backend="threading"), Parallel(2, backend="threading"))
    )
    for one, two in zip(some, again, strict=True):
        assert (one.gains == two.gains).all()  # whatever the workers
        assert (one.rows == two.rows).all()
    assert some[0].gains.tolist() != some[1].gains.tolist()  # every round has its own deals


def test_the_other_throw_is_another_and_the_nearer_the_more_often() -> None:
    agent = load_agent("tuned")
    weights = BEGUN.param_values
    seen = 0
    for deal in range(scaled(40)):
        for asked in table(shuffled_deck(3, deal), key=deal).play(agent, agent):
            if not is_due(asked.view, THROWS):
                continue
            cards = list(cards_of(int(asked.view["legal_discards"])))
            scores = {card: throw_score(asked.view, card, weights) for card in cards}
            others = []
            for dice in np.linspace(0, 1, scaled(50, 9), endpoint=False):
                best, other, lead = two_throws(asked.view, weights, dice)
                assert scores[best] == max(scores.values())
                assert other != best
                assert lead == pytest.approx(scores[best] - scores[other])
                others.append(other)
            often = [others.count(card) for card in sorted(cards, key=lambda c: -scores[c])[1:]]
            assert max(often) <= often[0] + 1
            seen += 1
    assert seen > scaled(200, 5)


def test_gin_is_no_choice() -> None:
    nine = "2c 3c 4c 8d 8h 8s Ah 2h 3h Ad"
    gin = make_view("2c 3c 4c 8d 8h 8s Ah 2h 3h 4h Kh", drawn="Kh", stock_left=31)
    assert not is_due(gin, THROWS)
    assert not is_due(make_view(nine, upcard="4h", stock_left=31), TAKES)
    assert is_due(make_view(nine, upcard="Kc", stock_left=31), TAKES)
    eleven = nine + " Kh"
    assert is_due(make_view(eleven, drawn="Kh", stock_left=31), THROWS)
    knock = make_view(eleven, phase=KNOCK, candidate="Kh", drawn="Kh", stock_left=31)
    assert is_due(knock, KNOCKS)
    assert not is_due(knock, THROWS)
    assert not is_due(knock, TAKES)


def test_the_fit_finds_the_weights_that_made_the_gains() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(200_000, 3))
    begun, true = np.array([4.0, -2.0, 0.0]), np.array([2.0, -2.0, 1.0])
    gains = 0.3 * rows @ true + 5 * rng.normal(size=len(rows))
    found, unit = better(begun, Forks(rows, rows @ begun, gains))
    assert unit > 0
    assert found / found[0] == pytest.approx(true / true[0], abs=0.1)
    # Where there is little to see, little is changed.
    few = Forks(*(part[:50] for part in (rows, rows @ begun, gains)))
    kept, _ = better(begun, few)
    assert kept == pytest.approx(begun, abs=0.5)


def test_an_opponent_named_twice_has_twice_the_forks() -> None:
    asked = replace(study(60), itself=0.0)
    pools = asked.pool, (*asked.pool, asked.pool[0])
    with Parallel(1, backend="threading") as parallel:
        one, two = (
            gather(replace(asked, pool=pool), BEGUN.param_values, THROWS, 0, parallel)
            for pool in pools
        )
    # Of 60 forks the first opponent has 30, or 20 and 20: the tables begin alike, and go on.
    assert len(one.leads) == len(two.leads) == 60
    assert (one.leads[:20] == two.leads[:20]).all()
    assert (one.leads[20:30] != two.leads[20:30]).any()
    assert (two.leads[40:60] != two.leads[:20]).any()


def test_rounds_give_weights_with_three_digits_and_a_table() -> None:
    asked = study(scaled(3000, 8), rounds=2)
    weights, rounds = improve(asked, Workers.choose(2, "threads"))
    assert weights.shape == (N_WIDE,)
    assert [float(f"{value:.3g}") for value in weights] == weights.tolist()
    assert list(rounds["round"]) == [1, 1, 1, 2, 2, 2]
    assert list(rounds["choice"]) == [*CHOICES, *CHOICES]
    assert rounds["changed"].between(0, 1).all()


def test_the_command_writes_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = ["--rounds", "1", "--forks", "10", "--deals", "2", "--pool", "simple", "simple"]
    assert guarded(build_parser(), [*words, "--jobs", "1", "--out", str(out)]) == 0
    assert tuple(json.loads((out / "params.json").read_text())) == WIDE_NAMES
    assert len(pd.read_csv(out / "rounds.csv")) == len(CHOICES)
    for name in ("before", "after"):
        assert list(pd.read_csv(out / f"{name}.csv")["opponent"]) == ["simple", "as it began"]
    said = capsys.readouterr().out
    assert "--begin results/tune/params.json --pool simple simple" in said


@pytest.mark.parametrize(
    ("text", "what"),
    [(None, "No such file"), ("{", "JSON file of weights"), ('{"a": 1}', "weights by name")],
)
def test_a_beginning_that_is_none_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, what: str
) -> None:
    path = tmp_path / "weights.json"
    if text is not None:
        path.write_text(text)
    assert guarded(build_parser(), ["--begin", str(path), "--out", str(tmp_path / "no")]) == 2
    said = capsys.readouterr().err
    assert what in said
    assert len(said.strip().splitlines()) == 1


@agent("dealer_of_kings", source="throws what it may not hold")
class Kings:
    """Throws the king of spades, whatever it holds."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return False

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return 51

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return False


@pytest.mark.parametrize("choice", [THROWS, TAKES, KNOCKS], ids=CHOICES)
def test_an_illegal_card_stops_the_forks_and_is_named(choice: int) -> None:
    asked = replace(study(12), pool=(Kings,), itself=0.0)
    with (
        Parallel(1, backend="threading") as parallel,
        pytest.raises(PlayError, match=r"an illegal card on deal \d+ of seed 4"),
    ):
        gather(asked, BEGUN.param_values, choice, 0, parallel)


def test_a_pool_of_plain_python_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        guarded(build_parser(), ["--pool", f"{Path(__file__).with_name('helpers.py')}:passive"])
        == 2
    )
    assert "is plain Python; must be compiled" in capsys.readouterr().err


def test_the_agent_is_what_the_committed_runs_found() -> None:
    result = BEGIN.parent.parent / "improve"
    weights = BEGUN.params
    for run in (result / "first", result / "second", result):
        assert json.loads((run / "manifest.json").read_text())["begin"] == weights
        weights = json.loads((run / "params.json").read_text())
    assert weights == load_agent("tuned").params
