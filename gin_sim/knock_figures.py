"""Figures of what knocking is worth: tables of the experiments in, axes out.

As in :mod:`gin_sim.figures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gin_sim.drawing import BLUE, RED, axes_of, caption, heat_map, no_data, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TIP = 23
"""The published tip: knock while so many cards or more are left in the stock."""


def _mark_tip(axes: Axes) -> None:
    axes.axhline(0, color="black", lw=0.8)
    axes.axvline(TIP - 0.5, color="0.4", ls="--", lw=1)
    axes.annotate(
        "the tip: knock from 23 on",
        (TIP - 0.5, 0.03),
        xycoords=("data", "axes fraction"),
        xytext=(6, 0),
        textcoords="offset points",
        color="0.3",
        fontsize=8,
    )
    axes.set_ylabel("knock minus wait, points a hand")
    axes.set_xlabel("cards left in the stock at the first chance")


def knock_effect(effects: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the effect of knocking at each count of the stock, with bands.

    Parameters
    ----------
    effects : DataFrame
        As :meth:`gin_sim.effects.ForkCounts.effects` returns, or the rows of one
        definition of ``knock_timing.csv``.
    """
    title = "What knocking at the first chance is worth"
    with axes_of(ax) as axes:
        if effects.empty:
            return no_data(axes, title)
        stock, mean = effects["stock_left"], effects["difference"]
        axes.fill_between(
            stock, effects["band_low"], effects["band_high"], color=BLUE, alpha=0.2, lw=0
        )
        axes.errorbar(stock, mean, 1.96 * effects["se"], fmt="o-", color=BLUE, elinewidth=1)
        _mark_tip(axes)
        axes.set_title(title)
        caption(
            axes,
            f"n = {int(effects['n'].sum()):,} hands; bars: 95 % for one count, "
            "shade: 95 % for all counts at once",
        )
    return axes


def knock_effects(effects: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the effect of knocking under several definitions.

    Parameters
    ----------
    effects : DataFrame
        Rows of ``knock_timing.csv``: a line for each value of ``definition``.
    """
    title = "What knocking at the first chance is worth, by definition"
    with axes_of(ax) as axes:
        if effects.empty:
            return no_data(axes, title)
        counts = []
        for name, some in effects.groupby("definition", sort=False):
            axes.errorbar(
                *(some["stock_left"], some["difference"], 1.96 * some["se"]),
                fmt="o-",
                elinewidth=1,
                label=plain(name),
            )
            counts.append(int(some["n"].sum()))
        _mark_tip(axes)
        axes.legend()
        axes.set_title(title)
        caption(axes, f"n = {min(counts):,} to {max(counts):,} hands a line; bars: 95 %")
    return axes


def knock_map(cells: pd.DataFrame, ax: Axes | None = None, least: int = 30) -> Axes:
    """Draw the effect of knocking by stock_left and deadwood.

    Parameters
    ----------
    cells : DataFrame
        As :meth:`gin_sim.effects.ForkCounts.cell_table` returns (``cells.csv``).
    least : int
        Cells of fewer forks are left white.
    """
    title = "What knocking is worth, by stock and deadwood"
    with axes_of(ax) as axes:
        if cells.empty:
            return no_data(axes, title)
        some = cells[cells["n"] >= least].dropna(subset=["stock_left", "deadwood", "difference"])
        if some.empty:
            return no_data(axes, title)
        heat_map(
            axes,
            some["stock_left"].to_numpy(int),
            some["deadwood"].to_numpy(int),
            some["difference"],
            ("cards left in the stock", "deadwood to knock with", "knock minus wait, points"),
            diverging=True,
        )
        axes.set_title(title)
        caption(axes, f"n = {int(some['n'].sum()):,} hands; white: fewer than {least} in a cell")
    return axes


def break_evens(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw where knocking begins to pay under each definition, with intervals.

    Parameters
    ----------
    table : DataFrame
        As ``break_even.csv``.
    """
    title = "Where knocking begins to pay"
    with axes_of(ax) as axes:
        if table.empty:
            return no_data(axes, title)
        some = table.dropna(subset=["break_even"]).iloc[::-1]
        if some.empty:
            return no_data(axes, title)
        y = np.arange(len(some))
        at = some["break_even"].to_numpy(float)
        low = np.minimum(some["ci_low"].fillna(at.min()).to_numpy(float), at)
        high = np.maximum(some["ci_high"].fillna(32).to_numpy(float), at)
        axes.errorbar(at, y, xerr=[at - low, high - at], fmt="o", capsize=2)
        axes.axvline(TIP, color="0.4", ls="--", lw=1)
        names = [
            f"{plain(name)} vs {other}" if str(name).startswith(("D5", "D6")) else plain(name)
            for name, other in zip(some["definition"], some["opponent"], strict=True)
        ]
        axes.set_yticks(y, names, fontsize=8)
        axes.set_title(title)
        axes.set_xlabel("cards left in the stock, with 95 % intervals; dashed: 23")
        caption(
            axes,
            f"n = {int(some['deals'].max()):,} deals for the largest, "
            f"{int(some['deals'].min()):,} for the smallest",
        )
    return axes


def thresholds(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how much each T falls behind the best one, by opponent.

    Parameters
    ----------
    table : DataFrame
        As ``thresholds.csv``.
    """
    title = "Knock while T or more cards are left, else go for gin"
    with axes_of(ax) as axes:
        if table.empty:
            return no_data(axes, title)
        for (name, opponent), some in table.groupby(["definition", "opponent"], sort=False):
            (line,) = axes.plot(
                some["T"], -some["behind"], label=f"{plain(name)} against {plain(opponent)}"
            )
            left = some[~some["excluded"]]
            axes.plot(left["T"], -left["behind"], "o", color=line.get_color())
        axes.axvline(TIP, color="0.4", ls="--", lw=1)
        axes.legend(fontsize=8)
        axes.set_title(title)
        axes.set_ylabel("points a hand behind the best T")
        axes.set_xlabel("T (dashed: 23); dots: not told apart from the best")
        caption(axes, f"n = {int(table['n'].max()):,} deals, each played from both seats")
    return axes


def equilibrium(cells: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the probability of knocking; a dot where knock and wait are about the same.

    Parameters
    ----------
    cells : DataFrame
        As ``equilibrium.csv``.
    """
    title = "How often the equilibrium knocks"
    with axes_of(ax) as axes:
        if cells.empty or not cells["n"].sum():
            return no_data(axes, title)
        grid = cells.pivot_table(
            index="deadwood", columns="stock_left", values="knock_probability", dropna=False
        )
        image = axes.pcolormesh(
            *(grid.columns, grid.index, grid.to_numpy()), shading="nearest", vmin=0, vmax=1
        )
        axes.figure.colorbar(image, ax=axes, label="probability of knocking")
        even = cells[cells["effect"].abs() < 1.96 * cells["se"]]
        axes.scatter(even["stock_left"], even["deadwood"], s=5, color=RED)
        axes.axvline(TIP - 0.5, color="white", ls="--", lw=1)
        axes.invert_xaxis()
        axes.set_yticks(range(1, 11))
        axes.grid(visible=False)
        axes.set_title(title)
        axes.set_ylabel("deadwood to knock with")
        axes.set_xlabel("cards left in the stock (dashed: the tip)")
        caption(
            axes,
            f"n = {int(cells['n'].sum()):,} chances; red: knock minus wait not clear of 0 (95 %)",
        )
    return axes


def exploitability(rounds: pd.DataFrame, ax: Axes | None = None, target: float = 0.05) -> Axes:
    """Draw how the exploitability falls from round to round.

    Parameters
    ----------
    rounds : DataFrame
        As ``exploitability.csv``.
    target : float
        Points a hand, marked.
    """
    title = "What the best response gains"
    with axes_of(ax) as axes:
        if rounds.empty:
            return no_data(axes, title)
        at, mean, se = rounds["round"], rounds["exploitability"], rounds["se"]
        axes.plot(at, rounds["learned"], color="0.6", label="as learned")
        axes.errorbar(
            *(at, mean, 1.96 * se), fmt="o-", color=BLUE, capsize=2, label="on fresh deals"
        )
        axes.axhline(target, color="0.4", ls="--", lw=1, label="target")
        later = rounds.loc[rounds["search"] != rounds["search"].iloc[0], "round"]
        if len(later):
            axes.axvspan(later.min() - 0.5, later.max() + 0.5, color="0.9", lw=0, label="polished")
        axes.set_yscale("log", nonpositive="clip")
        axes.set_title(title)
        axes.set_ylabel("points a hand")
        axes.set_xlabel("round")
        caption(axes, f"n = {int(rounds['deals'].iloc[0]):,} deals; bars: 95 %")
        axes.legend()
    return axes
