"""The notebooks run from end to end, on small inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from tests.helpers import scaled

ROOT = Path(__file__).resolve().parent.parent
SMALL = {
    "first_steps": f"HANDS = {scaled(400, 6)}",
    "pieces": f"HANDS = {scaled(200, 2)}\nGAMES = {scaled(20, 2)}\nWORLDS = {scaled(8, 1)}",
    "knock_timing": f"CHECK_DEALS = {scaled(3000, 60)}\nCHECK_SEED = 1",
}


def read(name: str) -> Any:
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_notebook_runs(name: str) -> None:
    book = read(name)
    given = [cell for cell in book.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(given) == 1
    given[0].source = SMALL[name]
    client = nbclient.NotebookClient(
        book, timeout=280, resources={"metadata": {"path": str(ROOT / "notebooks")}}
    )
    client.execute()
    outputs = [out for cell in book.cells for out in cell.get("outputs", [])]
    assert sum("image/png" in out.get("data", {}) for out in outputs) >= 3
    # Warnings and notes would stand in the middle of the story.
    said = "".join(out["text"] for out in outputs if out.get("name") == "stderr")
    assert not said, said


def test_every_notebook_is_tested() -> None:
    there = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert there == set(SMALL)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_notebook_is_committed_as_it_came_out(name: str) -> None:
    cells = [cell for cell in read(name).cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in cells]
    assert counts == list(range(1, len(cells) + 1)), "run it anew, from the top, and save it"
    for cell in cells:
        assert all(out.output_type != "error" for out in cell.outputs)
