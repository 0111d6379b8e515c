"""Fixtures of several test files."""

from __future__ import annotations

from functools import partial

import pytest

from gin_sim.effects import find_break_even


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bootstrap less, where what is looked at does not depend on how often."""
    few = partial(find_break_even, resamples=40)
    monkeypatch.setattr("experiments.knock_timing.find_break_even", few)
