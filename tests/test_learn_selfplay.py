"""A policy learns by playing itself; what it has learned is the agent `learned`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments import learn_selfplay as experiment
from experiments.learn_selfplay import (
    N_COLUMNS,
    WEIGHT_NAMES,
    Learner,
    act_in_all,
    choose_throw,
    learning_curve,
    measure,
    say_yes,
)
from gin_sim import Rules, load_agent
from gin_sim.awkward import make_view
from gin_sim.cards import cards_of
from gin_sim.chance import sample
from gin_sim.cli.common import guarded
from gin_sim.compiled import JIT_DISABLED
from gin_sim.env import VectorEnv
from gin_sim.features import KNOCKS, N_WEIGHTS, TAKES, Throw, about_throw
from tests.helpers import AGENTS, play_rows, scaled

RESULT = Path(__file__).resolve().parent.parent / "results" / "learn_selfplay"


thousands_of_hands = pytest.mark.skipif(JIT_DISABLED, reason="learns from thousands of hands")


def learned(seed: int, rounds: int, hands: int) -> Learner:
    """Return a learner after some rounds."""
    learner = Learner(seed, side_by_side=512)
    for _ in range(rounds):
        learner.play_round(hands)
    return learner


def test_weights_are_named_as_the_agents_parameters() -> None:
    assert list(load_agent("learned").params) == list(WEIGHT_NAMES)
    assert len(WEIGHT_NAMES) == N_WEIGHTS
    assert WEIGHT_NAMES[TAKES].startswith("take_")
    assert WEIGHT_NAMES[KNOCKS].startswith("knock_")


def test_the_agent_plays_as_the_learner_does_without_dice() -> None:
    """Both read the same numbers, one of a view and the other of an observation."""
    deals = scaled(400, 4)
    env = VectorEnv(deals)
    env.reset(seed=8)
    # So large that the best choice has all the probability; of equals the first is taken.
    # By a power of two, so that nothing is rounded otherwise.
    weights = 2.0**30 * load_agent("learned").param_values
    actions, rows = np.zeros(deals, np.int64), np.zeros((deals, N_COLUMNS))
    points = np.full(deals, np.nan)
    while np.isnan(points).any():
        act_in_all(env.observations, env.legal, weights, np.zeros(deals), actions, rows)
        _, rewards, done, _ = env.step(actions)
        first = done & np.isnan(points)
        points[first] = rewards[first, 0]
    one = AGENTS["learned"]
    assert play_rows(one, one, Rules(), 8, deals)["points_a"][::2].tolist() == points.tolist()


def test_a_place_is_sampled_by_its_score() -> None:
    scores = np.log(np.array([1.0, 2.0, 5.0, 99.0]))
    assert [sample(scores.copy(), 3, dice / 8) for dice in range(8)] == [0, 1, 1, 2, 2, 2, 2, 2]
    assert sample(np.array([-1e9, 0.0]), 2, 0.0) == 1
    assert sample(np.array([1e9, 0.0]), 2, 0.999) == 0


def test_the_gradient_is_that_of_the_log_probability() -> None:
    rng = np.random.default_rng(1)
    view = make_view("Kc Kd Qh Js 9h 8h 5d 3s 2h Ac 4s", pile="Ks 6s", turn=6, own_turn=3)
    weights = rng.normal(size=N_WEIGHTS)
    legal = int(view["legal_discards"])
    counted = np.array([about_throw(view, card) for card in cards_of(legal)])
    scores = counted @ weights[:TAKES]
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    for i, dice in enumerate(np.cumsum(chances) - chances / 2):
        row = np.zeros(N_COLUMNS)
        assert choose_throw(view, legal, weights, dice, row) == cards_of(legal)[i]
        assert row[:TAKES] == pytest.approx(counted[i] - chances @ counted)
        assert not row[TAKES:].any()
    about = Throw(*counted[0])  # as good as any numbers
    chance = 1 / (1 + np.exp(-scores[0]))
    for dice, said in ((0.0, True), (0.999999, False)):
        row = np.zeros(N_COLUMNS)
        assert say_yes(about, weights, 0, dice, row) is said
        assert row[:TAKES] == pytest.approx((said - chance) * counted[0])


@thousands_of_hands
def test_a_seed_learns_the_same_again() -> None:
    first, second, other = (learned(seed, 2, 1000) for seed in (4, 4, 5))
    assert first.weights.tolist() == second.weights.tolist()
    assert first.weights.tolist() != other.weights.tolist()
    assert first.hands >= 2000


@thousands_of_hands
def test_learning_a_little_helps_a_lot() -> None:
    before, after = (measure(learned(6, n, 4000).agent(), ["simple"], 1000, 7) for n in (0, 3))
    assert float(after["ci_low"].iloc[0]) > float(before["ci_high"].iloc[0]) + 10


@pytest.fixture
def curve() -> pd.DataFrame:
    numbers = [
        (hands, 1.5 * hands, name, 50, points, points - 1, points + 2)
        for hands, points in ((0, -20.0), (100, -1.0), (200, 3.0))
        for name in ("random", "simple", "greedy")
    ]
    columns = ["hands", "seconds", "opponent", "deals", "points_per_hand", "ci_low", "ci_high"]
    return pd.DataFrame(numbers, columns=columns)


def test_the_figure_shows_every_opponent_from_the_first_round_on(curve: pd.DataFrame) -> None:
    axes = learning_curve(curve)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["random", "simple", "greedy"]
    for container in axes.containers:
        assert container[0].get_xydata().tolist() == [[100, -1], [200, 3]]
    assert "50 mirrored deals" in axes.get_xlabel()
    assert learning_curve(curve[:0]).texts[0].get_text() == "no data"


def test_the_table_has_a_row_for_each_look(curve: pd.DataFrame) -> None:
    rows = experiment.curve_rows(curve)
    assert rows[1] == ["100", "150", *3 * ["-1.00 ± 1.50"]]
    assert len(rows) == 3


def test_the_command_leaves_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = pytest.MonkeyPatch()
    few.setattr(experiment, "SIDE_BY_SIDE", 2)
    few.setattr(experiment, "AT_THE_END", ("random", "simple"))
    few.setattr(experiment, "ON_THE_WAY", ("random", "simple"))
    parser = experiment.build_parser()
    words = ["--hands", "3", "--deals", "2", "--seed", "9", "--out", str(tmp_path / "run")]
    with few.context():
        assert guarded(parser, words) == 0
    few.undo()
    out = capsys.readouterr().out
    assert "at the end against" in out
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["command"] in out
    looks = pd.read_csv(tmp_path / "run" / "learning_curve.csv")
    assert looks["hands"].iloc[0] == 0
    assert looks["hands"].iloc[-1] >= 3
    assert (tmp_path / "run" / "figures" / "learning_curve.png").stat().st_size > 1000
    assert guarded(parser, words) == 2  # the folder is in use


def committed(name: str) -> Any:
    return json.loads((RESULT / name).read_text())


def test_the_agent_has_the_weights_of_the_committed_result() -> None:
    assert load_agent("learned").params == committed("weights.json")


def test_the_committed_result_says_what_its_tables_say() -> None:
    final = pd.read_csv(RESULT / "final.csv").set_index("opponent")
    assert (final.loc[["random", "simple", "greedy"], "ci_low"] > 0).all()
    readme = (RESULT / "README.md").read_text()
    assert committed("manifest.json")["command"] in readme
    for row in final.itertuples():
        assert experiment.with_interval(row) in readme
