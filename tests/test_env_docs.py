"""What docs/environments.md says of actions, layout and use is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gin_sim.compiled import JIT_DISABLED
from gin_sim.env import ACTION_NAMES, LAYOFF_NAMES
from gin_sim.env.actions import LAY_OFF_NO_MORE, phase_of
from gin_sim.env.encode import (
    ASKING_SHAPES,
    CARD_PLANES,
    LAYOFF_NUMBER,
    LAYOFF_PLANE,
    N_CARD_PLANES,
    N_NUMBERS,
    NUMBERS,
    SHAPES,
)

TEXT = (Path(__file__).parents[1] / "docs" / "environments.md").read_text("utf-8")


def rows(columns: int) -> list[tuple[str, ...]]:
    """Return the cells of all tables with so many columns."""
    lines = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("|")]
    return [tuple(cell.strip("` ") for cell in line) for line in lines if len(line) == columns]


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_the_examples_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    if JIT_DISABLED:
        block = block.replace("1000", "3")
    exec(block, names)  # noqa: S102
    assert capsys.readouterr().out


def test_the_list_of_actions_is_complete() -> None:
    listed = {int(a): (phase, what) for phase, a, what in rows(3) if a.isdigit()}
    assert listed == {
        **{a: (phase_of(a), ACTION_NAMES[a]) for a in range(52, 60)},
        LAY_OFF_NO_MORE: ("layoff", LAYOFF_NAMES[LAY_OFF_NO_MORE]),
    }


def test_the_layout_is_what_is_written() -> None:
    planes = [name for number, name in rows(2) if number.isdigit()]
    assert tuple(planes) == (*CARD_PLANES, LAYOFF_PLANE)
    numbers = [row for row in rows(5) if row[0].isdigit()]
    first = 52 * N_CARD_PLANES
    assert numbers == [
        (str(i), str(first + i), str(N_CARD_PLANES + i), name, str(top))
        for i, (name, top) in enumerate(NUMBERS)
    ] + [
        (
            str(N_NUMBERS),
            str(first + 52 + N_NUMBERS),
            str(N_CARD_PLANES + 1 + N_NUMBERS),
            *map(str, LAYOFF_NUMBER),
        )
    ]
    for shapes in (SHAPES, ASKING_SHAPES):
        assert f"shape {shapes['flat']}" in TEXT
        assert f"shape {shapes['planes']}" in TEXT
