"""Figures of who is better: ratings with intervals, and points of each against each.

As in :mod:`gin_sim.figures`, each takes a DataFrame and ``ax=``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim.drawing import BLUE, axes_of, caption, no_data, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_CELLS = 24
"""With more agents, cells have no room for numbers."""


def ratings(table: pd.DataFrame, ax: Axes | None = None, rated: str = "hands") -> Axes:
    """Draw ratings with their intervals, best first.

    An end without a bound is an arrow; an agent without an interval has a hollow mark, and
    what there is to say of it.

    Parameters
    ----------
    table : DataFrame
        As :attr:`gin_sim.result.Result.ranking`.
    rated : str
        Of what the ratings are, ``hands`` or ``games``.
    """
    title = f"Elo of {rated}"
    with axes_of(ax) as axes:
        if table.empty or not table[rated].sum():
            return no_data(axes, title)
        rows = table.sort_values("elo", kind="stable").to_dict("records")
        ends = [_ends(row["elo_ci95"]) for row in rows]
        known = [float(row["elo"]) for row in rows]
        known += [end for pair in ends for end in pair or () if end is not None]
        low, high = min(known), max(known)
        room = max(0.12 * (high - low), 10.0)
        left, right = low - room, high + room
        for y, (row, pair) in enumerate(zip(rows, ends, strict=True)):
            elo = float(row["elo"])
            if pair is None:
                axes.plot(elo, y, "o", color=BLUE, markerfacecolor="white")
                note = row["elo_note"] or "no interval"
                where: dict[str, Any] = {
                    "xytext": (0, 5),
                    "textcoords": "offset points",
                    "ha": "center",
                }
                axes.annotate(note, (elo, y), fontsize=8, color="0.3", **where)
                continue
            axes.plot(elo, y, "o", color=BLUE)
            for end, edge in zip(pair, (left, right), strict=True):
                if end is None:
                    arrow = {"arrowstyle": "->", "color": BLUE, "lw": 1.6, "shrinkA": 0}
                    axes.annotate("", (edge, y), (elo, y), arrowprops=arrow)
                else:
                    axes.plot([elo, end], [y, y], color=BLUE, solid_capstyle="butt")
                    axes.plot(end, y, "|", color=BLUE, markersize=7)
        axes.set_xlim(left, right)
        axes.set_yticks(range(len(rows)), [plain(row["agent"]) for row in rows])
        axes.set_ylim(-0.7, len(rows) - 0.3)
        axes.set_title(title)
        axes.set_xlabel("Elo, mean 0, with 95 % intervals from blocks of deals")
        note = "; arrow: no bound on that side" if any(None in (p or ()) for p in ends) else ""
        caption(axes, f"n = {int(table[rated].sum()) // 2:,} {rated}{note}")
    return axes


def _ends(interval: Any) -> tuple[float | None, float | None] | None:
    """Return the ends of an interval, None for one that is open; None where there is none."""
    if not isinstance(interval, Sequence):
        return None
    low, high = (None if end is None else float(end) for end in interval)
    return low, high


def superiority(
    pairings: pd.DataFrame, ax: Axes | None = None, order: Sequence[str] | None = None
) -> Axes:
    """Draw the points a hand of each agent against each.

    Parameters
    ----------
    pairings : DataFrame
        As :attr:`gin_sim.result.Result.summary`.
    order : sequence of str, optional
        The agents, from above; as the pairings name them if not given.
    """
    title = "Points a hand of the row against the column"
    with axes_of(ax) as axes:
        some = pairings.dropna(subset=["points_per_hand"]) if len(pairings) else pairings
        if some.empty:
            return no_data(axes, title)
        agents = list(order or dict.fromkeys([*pairings["a"], *pairings["b"]]))
        place = {agent: i for i, agent in enumerate(agents)}
        n = len(agents)
        points, sure = np.full((n, n), np.nan), np.zeros((n, n), bool)
        for row in some.to_dict("records"):
            i, j = place[row["a"]], place[row["b"]]
            points[i, j], points[j, i] = row["points_per_hand"], -row["points_per_hand"]
            sure[i, j] = sure[j, i] = bool(row["significant"])
        most = float(np.nanmax(np.abs(points))) or 1.0
        image = axes.pcolormesh(
            *(np.arange(n), np.arange(n), points), cmap="PuOr", vmin=-most, vmax=most
        )
        axes.figure.colorbar(image, ax=axes, label="points a hand")
        if n <= MOST_CELLS:
            for i, j in np.argwhere(np.isfinite(points)):
                text = f"{points[i, j] + 0.0:+.2f}{'*' if sure[i, j] else ''}"
                dark = abs(points[i, j]) > 0.55 * most
                look: dict[str, Any] = {
                    "color": "white" if dark else "black",
                    "fontsize": 9 if n <= 12 else 6,
                }
                weight = "bold" if sure[i, j] else "normal"
                axes.text(j, i, text, ha="center", va="center", weight=weight, **look)
        axes.grid(visible=False)
        axes.invert_yaxis()
        names = [plain(agent) for agent in agents]
        axes.set_yticks(range(n), names)
        axes.set_xticks(range(n), names, rotation=35, ha="right", rotation_mode="anchor")
        axes.set_title(title)
        starred = "; *: significant at 5 % after Holm's correction" if n <= MOST_CELLS else ""
        if len(some) < n * (n - 1) // 2:
            starred += "; white: did not meet"
        caption(axes, f"n = {int(some['hands'].sum()):,} hands{starred}")
    return axes
