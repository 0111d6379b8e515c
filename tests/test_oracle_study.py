"""The player who sees all cards: it foresees what comes, and cheats nobody of a card."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.oracle import oracle_points, table
from gin_sim import Rules, load_agent
from gin_sim.errors import AgentError
from tests.helpers import play_rows, scaled


def test_the_oracle_does_far_better_than_its_own_plain_player() -> None:
    deals = scaled(150, 2)
    seen = oracle_points("simple", "eaai", deals, 8)
    plain = play_rows(load_agent("early_gin"), load_agent("simple"), Rules.preset("eaai"), 8, deals)
    # Mirror 0 is the one in which the opponent deals.
    blind = plain["points_a"].reshape(-1, 2)
    assert seen.shape == blind.shape
    assert (seen >= blind).mean() > 0.8
    assert seen.mean() > blind.mean() + 5


def test_the_oracle_is_a_function_of_the_deal() -> None:
    deals = scaled(20, 1)
    one, two = (oracle_points("greedy", "big-gin", deals, 3) for _ in "12")
    assert (one == two).all()
    assert len(np.unique(one)) > 1


def test_the_table_has_a_row_for_each_opponent_and_adds_up() -> None:
    found = table(("simple", "gin_only"), "eaai", scaled(40, 2), 8)
    assert list(found["opponent"]) == ["simple", "gin_only"]
    assert (found["ci_low"] <= found["points_per_hand"]).all()
    assert (found["hands_won"] + found["hands_lost"] <= 1).all()


def test_an_agent_that_cannot_be_played_on_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(
        "from gin_sim import agent\n\n\n"
        '@agent("slow", source="a test", compiled=False)\n'
        "class Slow:\n"
        '    """Slow."""\n\n'
        "    draw = staticmethod(lambda view, params: False)\n"
        "    discard = staticmethod(lambda view, params: 0)\n"
        "    knock = staticmethod(lambda view, params: False)\n"
    )
    with pytest.raises(AgentError, match="is not compiled"):
        oracle_points(f"{file}:slow", "eaai", 1, 1)
