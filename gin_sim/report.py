"""A run's folder made readable: tables, figures, and one page to read or to send.

``report.html`` holds its figures and its style in itself; ``report.md`` says the same with
links to ``figures/``.  The tables, with all digits, lie in ``tables/``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gin_sim.errors import ResultsError
from gin_sim.folder import RunFolder
from gin_sim.manifest import read_manifest
from gin_sim.page import Page
from gin_sim.report_knock_timing import knock_timing_page
from gin_sim.report_tournament import tournament_page


def write_report(path: str | Path) -> Path:
    """Write the report of a run into its folder.

    Parameters
    ----------
    path : path
        The folder of a tournament, or of the experiment ``knock_timing``.

    Returns
    -------
    Path
        Of ``report.html``; ``report.md`` lies beside it.

    Raises
    ------
    ResultsError
        If the folder holds no run that can be reported on, or cannot be written.
    """
    manifest = read_manifest(path)
    folder = RunFolder(Path(path))
    kinds: dict[Any, Callable[[RunFolder, dict[str, Any]], Page]] = {
        "tournament": tournament_page,
        "knock_timing": knock_timing_page,
    }
    kind = str(manifest.get("kind"))
    if kind not in kinds:
        raise ResultsError(f"'{path}': kind {kind!r}; there are reports of: {', '.join(kinds)}")
    try:
        page = kinds[kind](folder, manifest)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise ResultsError(
            f"'{path}': something in the files of the run cannot be ({what})"
        ) from error
    return page.write()
