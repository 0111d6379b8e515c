"""A run's folder made readable: tables, figures and one page that stands alone.

``report.html`` holds its figures and its style in itself: it opens from disk, without a
network, and can be sent to somebody.  The figures lie in ``figures/`` as well, and the
tables in ``tables/``.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim import figures, knock_figures, records
from gin_sim.drawing import save
from gin_sim.errors import ResultsError
from gin_sim.folder import RunFolder, read_manifest

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

REPORT = "report.html"

_HAND_COLUMNS = (
    *("pairing", "deal", "dealer", "outcome", "winner", "points_a", "turns", "stock_left"),
    *("knock_deadwood", "defender_deadwood_before_layoff", "first_chance_a", "first_chance_b"),
    *("dealt_deadwood_a", "dealt_deadwood_b"),
)

_CSS = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60em; margin: 2em auto;
  padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; }
table { border-collapse: collapse; font-size: 0.9em; }
.wide { overflow-x: auto; }
th, td { padding: 0.25em 0.7em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
img { max-width: 100%; height: auto; }
code, pre { font-size: 0.9em; background: #f4f4f4; padding: 0.1em 0.3em; }
pre { padding: 0.7em; overflow-x: auto; }
"""


@dataclass
class Page:
    """A report as it is put together: texts, tables and figures in their order.

    Attributes
    ----------
    folder : RunFolder
        Where figures and tables are written.
    """

    folder: RunFolder
    title: str
    parts: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def code(self, text: str) -> None:
        """Add a line to be typed."""
        self.parts.append(f"<pre>{html.escape(text)}</pre>")

    def table(self, name: str, table: pd.DataFrame) -> None:
        """Add a table, and write it as CSV."""
        text = table.to_csv(index=False, lineterminator="\n")
        self.folder.write_text(f"tables/{name}.csv", text)
        if table.empty:
            self.text("no data")
            return
        cells = [[_shown(value) for value in row] for row in table.itertuples(index=False)]
        head = "".join(f"<th>{html.escape(str(c).replace('_', ' '))}</th>" for c in table.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in cells
        )
        self.parts.append(f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>')

    def figure(
        self, name: str, draw: Callable[[Axes], object], size: tuple[float, float] = (7.2, 4.4)
    ) -> None:
        """Add a figure, and write it as PNG."""
        path = self.folder.path / "figures" / f"{_file_name(name)}.png"
        try:
            save(draw, path, size)
            data = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ResultsError(f"'{path}' cannot be written: {reason}") from error
        alt = html.escape(name.replace("_", " "))
        self.parts.append(f'<p><img alt="{alt}" src="data:image/png;base64,{data}"></p>')

    def write(self) -> Path:
        """Write the page and return where it is."""
        title = html.escape(self.title)
        self.folder.write_text(
            REPORT,
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{_CSS}</style></head><body>\n<h1>{title}</h1>\n"
            + "\n".join(self.parts)
            + "\n</body></html>\n",
        )
        return self.folder.path / REPORT


def _file_name(name: str) -> str:
    """Return a name as part of a file's name, whatever an agent is called."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[:80]


def _shown(value: Any) -> str:
    """Return a cell's value as a reader wants it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:,.3f}" if value != int(value) or abs(value) < 1 else f"{value:,.0f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def write_report(path: str | Path) -> Path:
    """Write the report of a run into its folder.

    Parameters
    ----------
    path : path
        The folder of a tournament, or of the experiment ``knock_timing``.

    Returns
    -------
    Path
        Of ``report.html``.

    Raises
    ------
    ResultsError
        If the folder holds no run that can be reported on, or cannot be written.
    """
    manifest = read_manifest(path)
    folder = RunFolder(Path(path))
    kinds: dict[Any, Callable[[RunFolder, dict[str, Any]], Page]] = {
        "tournament": _tournament,
        "knock_timing": _knock_timing,
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


def _made_with(page: Page, manifest: dict[str, Any]) -> None:
    """Say how the run is made again."""
    page.heading("Made with")
    page.code(str(manifest.get("command")))
    versions = manifest.get("versions")
    if isinstance(versions, dict):
        page.text(", ".join(f"{name} {version}" for name, version in versions.items()))


def _tournament(folder: RunFolder, manifest: dict[str, Any]) -> Page:
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    pairings = [str(name) for name in manifest.get("pairings", [])]
    page = Page(folder, f"Tournament: {len(manifest.get('agents', []))} agents")
    page.text(f"Seed {manifest.get('seed')}; {len(pairings)} pairings on mirrored deals.")
    try:
        summary = json.loads((folder.path / "summary.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        summary = {"ranking": [], "pairings": []}
        page.text("The run is not finished: what follows is from the rows there are.")
    page.heading("Ranking")
    page.table("ranking", _flat(summary["ranking"]))
    page.heading("Pairings")
    page.text("Points are a hand, from the side of a; intervals are 95 %, from whole deals.")
    page.table("pairings", _flat(summary["pairings"]).drop(columns=["knocks"], errors="ignore"))
    try:
        hands = records.read_rows(folder.path, "hands", [*_HAND_COLUMNS, "game"])
    except ResultsError:
        if records.parts(folder.path):
            raise
        hands = pd.DataFrame({name: [] for name in _HAND_COLUMNS})
        page.text("No rows of hands were kept: there is nothing to draw.")
    page.heading("How hands go")
    page.figure("endings", partial(figures.endings, hands))
    page.figure("deadwood_by_turn", partial(figures.deadwood_by_turn, hands))
    page.figure("first_chances", partial(figures.first_chances, hands))
    page.figure("undercuts", partial(figures.undercuts, hands))
    page.heading("The starter's advantage")
    page.table("starter", figures.starter_table(hands))
    height = 1.6 + 0.3 * len(pairings)
    page.figure("starter", partial(figures.starter_advantage, hands), (7.2, height))
    _made_with(page, manifest)
    return page


def _flat(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table, with each interval in two columns, without empty columns."""
    import pandas as pd  # noqa: PLC0415

    flat = []
    for row in rows:
        out: dict[str, Any] = {}
        for key, value in row.items():
            if key.endswith("ci95"):
                low, high = value or (None, None)
                out |= {key.replace("ci95", "ci_low"): low, key.replace("ci95", "ci_high"): high}
            else:
                out[key] = value
        flat.append(out)
    return pd.DataFrame(flat).dropna(axis="columns", how="all")


def _csv(folder: RunFolder, name: str) -> pd.DataFrame:
    """Return a table of a run; an empty one if it is not there."""
    import pandas as pd  # noqa: PLC0415

    try:
        return pd.read_csv(folder.path / f"{name}.csv")
    except (FileNotFoundError, pd.errors.EmptyDataError):
        return pd.DataFrame()


def _knock_timing(folder: RunFolder, manifest: dict[str, Any]) -> Page:
    effects = _csv(folder, "knock_timing")
    evens, cells = _csv(folder, "break_even"), _csv(folder, "cells")
    policies = _csv(folder, "thresholds")
    page = Page(folder, "When does knocking at the first chance pay?")
    page.text(
        "At the first moment at which either player may knock with deadwood, the hand is "
        "forked: knock at once, or throw the same card and wait. The effect is the "
        "difference in points of the hand. The published tip says: knock while 23 or more "
        "cards are left in the stock."
    )
    if effects.empty and evens.empty:
        page.text("The run is not finished: there is nothing to show yet.")
    main = effects[effects["definition"] == "D1"] if len(effects) else effects
    page.figure("knock_effect", partial(knock_figures.knock_effect, main))
    page.heading("Where it begins to pay, by definition")
    page.table("break_even", evens)
    height = 1.6 + 0.19 * len(evens)
    page.figure("break_even", partial(knock_figures.break_evens, evens), (7.2, height))

    for player in map(str, manifest.get("players", [])):
        names = [f"D{n}" for n in range(1, 5)] + [f"D{n}-{player}" for n in range(1, 5)]
        some = effects
        if len(effects):
            some = effects[(effects["player"] == player) & effects["definition"].isin(names)]
        page.heading(f"By definition, with {player}")
        page.figure(f"definitions_{player}", partial(knock_figures.knock_effects, some))
    page.heading("By deadwood")
    page.figure("knock_map", partial(knock_figures.knock_map, cells))
    page.heading("Whole policies")
    page.figure("thresholds", partial(knock_figures.thresholds, policies), (7.2, 5.2))
    page.heading("The whole curve")
    page.table("knock_effect", main)
    _made_with(page, manifest)
    return page
