"""What tells the opponent's hand from another: found again, and of use."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.opponent_hands import collect, fit, leanings, loss
from gin_sim.compiled import JIT_DISABLED
from gin_sim.worlds import DEADWOOD, IDLE, LEANINGS, THREW


@pytest.mark.skipif(JIT_DISABLED, reason="thousands of hands, far more slowly")
def test_the_numbers_come_out_again_and_tell_hands_apart_on_fresh_deals() -> None:
    weights, told = leanings(collect(300, 5))
    assert weights.shape == LEANINGS.shape
    assert all(n > 1000 for n, _ in told)
    losses = [fresh for _, fresh in told]
    assert losses[0] < math.log(2) - 0.03
    assert max(losses[4:]) < 0.35
    # What bears most comes out with the same sign and about as large.
    for feature in (DEADWOOD, THREW, IDLE):
        assert (weights[1:5, feature] < 0).all()
        assert weights[1:5, feature] == pytest.approx(LEANINGS[1:5, feature], rel=0.5)


def test_a_regression_finds_what_made_the_labels() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(20_000), rng.normal(size=(20_000, 2))])
    true = np.array([0.3, -1.0, 2.0])
    y = (rng.random(20_000) < 1 / (1 + np.exp(-x @ true))).astype(float)
    found = fit(x, y)
    assert found == pytest.approx(true, abs=0.1)
    assert loss(found, x, y) < loss(np.zeros(3), x, y) == pytest.approx(math.log(2))
