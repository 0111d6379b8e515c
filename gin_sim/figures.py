"""Figures: a DataFrame in, axes out.

Each function takes the table it draws and ``ax=``; without one it makes a figure of its
own.  How many hands or forks a figure stands on is said below it.  With nothing to draw
it says "no data".  :func:`save` writes a figure without a display.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STYLE = Path(__file__).with_name("gin_sim.mplstyle")
TIP = 23
LONGEST_NAME = 44
# As in the style's cycle; by value, since "C0" is looked up when the style has gone.
BLUE = "#0072B2"
OUTCOME_COLOURS = {
    "knock": BLUE,
    "undercut": "#D55E00",
    "gin": "#009E73",
    "big_gin": "#CC79A7",
    "dead": "0.6",
    "forfeit": "black",
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Draw in the style of gin-sim inside the block."""
    import matplotlib.style  # noqa: PLC0415 - not needed to get help

    with matplotlib.style.context(str(STYLE)):
        yield


@contextlib.contextmanager
def _axes(ax: Axes | None) -> Iterator[Axes]:
    """Lend the axes given, or new ones."""
    if ax is not None:
        with style():
            yield ax
        return
    import matplotlib as mpl  # noqa: PLC0415
    import matplotlib.pyplot as plt  # noqa: PLC0415

    with style():
        _, own = plt.subplots()
        # A notebook's backend turns this on with its first figure; it has to stay.
        interactive = mpl.is_interactive()
        yield own
    mpl.interactive(interactive)


def save(
    draw: Callable[[Axes], object], path: Path, size: tuple[float, float] = (7.2, 4.4)
) -> None:
    """Draw on a canvas of its own and write it as PNG: no display, the same bytes each time.

    Parameters
    ----------
    draw : callable
        Gets the axes.
    path : Path
    size : (float, float)
        Inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with style(), warnings.catch_warnings():
        # A name may have signs that the font lacks: they are drawn as boxes, quietly.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        draw(figure.add_subplot())
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})


def _caption(ax: Axes, text: str) -> None:
    ax.set_xlabel(f"{ax.get_xlabel()}\n{text}")


def _no_data(ax: Axes, title: str) -> Axes:
    ax.set_title(title)
    ax.set_axis_off()
    ax.text(0.5, 0.5, "no data", ha="center", va="center", transform=ax.transAxes)
    return ax


def _plain(name: object) -> str:
    """Return a name as matplotlib is to print it: not too long, no formula, not hidden."""
    text = str(name)
    text = text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
    # A legend leaves out what begins with a line below.
    return (" " + text if text.startswith("_") else text).replace("$", r"\$")


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
    with _axes(ax) as axes:
        if effects.empty:
            return _no_data(axes, title)
        stock, mean = effects["stock_left"], effects["difference"]
        axes.fill_between(
            stock, effects["band_low"], effects["band_high"], color=BLUE, alpha=0.2, lw=0
        )
        axes.errorbar(stock, mean, 1.96 * effects["se"], fmt="o-", color=BLUE, elinewidth=1)
        _mark_tip(axes)
        axes.set_title(title)
        _caption(
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
    with _axes(ax) as axes:
        if effects.empty:
            return _no_data(axes, title)
        counts = []
        for name, some in effects.groupby("definition", sort=False):
            axes.errorbar(
                *(some["stock_left"], some["difference"], 1.96 * some["se"]),
                fmt="o-",
                elinewidth=1,
                label=_plain(name),
            )
            counts.append(int(some["n"].sum()))
        _mark_tip(axes)
        axes.legend()
        axes.set_title(title)
        _caption(axes, f"n = {min(counts):,} to {max(counts):,} hands a line; bars: 95 %")
    return axes


def _map(
    ax: Axes, x: Any, y: Any, values: Any, labels: tuple[str, str, str], diverging: bool
) -> None:
    """Draw a heat map of values at whole x and y; cells without a value stay white."""
    columns, rows = np.arange(x.min(), x.max() + 1), np.arange(y.min(), y.max() + 1)
    grid = np.full((rows.size, columns.size), np.nan)
    grid[y - rows[0], x - columns[0]] = values
    seen = np.abs(grid[np.isfinite(grid)])
    # A few cells with little data must not take all the colour there is.
    most = float(np.quantile(seen, 0.95)) if seen.size else 1.0
    limits = {"vmin": -most, "vmax": most, "cmap": "PuOr"} if diverging else {"vmin": 0.0}
    image = ax.pcolormesh(columns, rows, grid, shading="nearest", **limits)
    ax.figure.colorbar(image, ax=ax, label=labels[2], extend="both" if diverging else "neither")
    ax.grid(visible=False)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])


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
    with _axes(ax) as axes:
        if cells.empty:
            return _no_data(axes, title)
        some = cells[cells["n"] >= least].dropna(subset=["stock_left", "deadwood", "difference"])
        if some.empty:
            return _no_data(axes, title)
        _map(
            axes,
            some["stock_left"].to_numpy(int),
            some["deadwood"].to_numpy(int),
            some["difference"],
            ("cards left in the stock", "deadwood to knock with", "knock minus wait, points"),
            diverging=True,
        )
        axes.set_title(title)
        _caption(axes, f"n = {int(some['n'].sum()):,} hands; white: fewer than {least} in a cell")
    return axes


def break_evens(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw where knocking begins to pay under each definition, with intervals.

    Parameters
    ----------
    table : DataFrame
        As ``break_even.csv``.
    """
    title = "Where knocking begins to pay"
    with _axes(ax) as axes:
        if table.empty:
            return _no_data(axes, title)
        some = table.dropna(subset=["break_even"]).iloc[::-1]
        if some.empty:
            return _no_data(axes, title)
        y = np.arange(len(some))
        at = some["break_even"].to_numpy(float)
        low = np.minimum(some["ci_low"].fillna(at.min()).to_numpy(float), at)
        high = np.maximum(some["ci_high"].fillna(32).to_numpy(float), at)
        axes.errorbar(at, y, xerr=[at - low, high - at], fmt="o", capsize=2)
        axes.axvline(TIP, color="0.4", ls="--", lw=1)
        names = [
            f"{_plain(name)} vs {other}" if str(name).startswith(("D5", "D6")) else _plain(name)
            for name, other in zip(some["definition"], some["opponent"], strict=True)
        ]
        axes.set_yticks(y, names, fontsize=8)
        axes.set_title(title)
        axes.set_xlabel("cards left in the stock, with 95 % intervals; dashed: 23")
        _caption(
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
    with _axes(ax) as axes:
        if table.empty:
            return _no_data(axes, title)
        for (name, opponent), some in table.groupby(["definition", "opponent"], sort=False):
            (line,) = axes.plot(
                some["T"], -some["behind"], label=f"{_plain(name)} against {_plain(opponent)}"
            )
            left = some[~some["excluded"]]
            axes.plot(left["T"], -left["behind"], "o", color=line.get_color())
        axes.axvline(TIP, color="0.4", ls="--", lw=1)
        axes.legend(fontsize=8)
        axes.set_title(title)
        axes.set_ylabel("points a hand behind the best T")
        axes.set_xlabel("T (dashed: 23); dots: not told apart from the best")
        _caption(axes, f"n = {int(table['n'].max()):,} deals, each played from both seats")
    return axes


def undercuts(hands: pd.DataFrame, ax: Axes | None = None, least: int = 10) -> Axes:
    """Draw how often a knock is undercut, by its deadwood and the stock left.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    least : int
        Cells of fewer knocks are left white.
    """
    title = "Knocks that are undercut"
    with _axes(ax) as axes:
        if hands.empty:
            return _no_data(axes, title)
        knocks = hands[hands["outcome"].isin(["knock", "undercut"])]
        knocks = knocks.dropna(subset=["stock_left", "knock_deadwood"])
        cells = (
            (knocks["outcome"] == "undercut")
            .groupby([knocks["stock_left"].astype(int), knocks["knock_deadwood"].astype(int)])
            .agg(["size", "mean"])
            .reset_index()
        )
        some = cells[cells["size"] >= least]
        if some.empty:
            return _no_data(axes, title)
        _map(
            axes,
            some["stock_left"].to_numpy(int),
            some["knock_deadwood"].to_numpy(int),
            100 * some["mean"],
            ("cards left in the stock", "deadwood knocked with", "undercut, % of knocks"),
            diverging=False,
        )
        axes.set_title(title)
        _caption(axes, f"n = {len(knocks):,} knocks; white: fewer than {least} in a cell")
    return axes


def endings(hands: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how hands end, by turn.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    """
    title = "How hands end, by turn"
    with _axes(ax) as axes:
        if hands.empty:
            return _no_data(axes, title)
        counts = hands.groupby(["turns", "outcome"], observed=True).size().unstack(fill_value=0)
        shares = (
            (100 * counts / len(hands)).reindex(range(1, int(counts.index.max()) + 1)).fillna(0)
        )
        bottom = np.zeros(len(shares))
        for outcome, colour in OUTCOME_COLOURS.items():
            if outcome in shares:
                axes.bar(
                    *(shares.index, shares[outcome]),
                    bottom=bottom,
                    width=0.9,
                    label=outcome.replace("_", " "),
                    color=colour,
                )
                bottom += shares[outcome].to_numpy()
        # The long thin tail would squeeze the rest.
        axes.set_xlim(0, float(np.searchsorted(bottom.cumsum(), 99.5)) + 2)
        axes.legend()
        axes.set_title(title)
        axes.set_ylabel("% of hands")
        axes.set_xlabel("turns played")
        _caption(axes, f"n = {len(hands):,} hands")
    return axes


def deadwood_by_turn(hands: pd.DataFrame, ax: Axes | None = None, least: int = 30) -> Axes:
    """Draw the deadwood of both hands when a hand ends, by turn, beside that dealt.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    least : int
        Turns of fewer ended hands are left out.
    """
    title = "Deadwood when the hand ends, by turn"
    with _axes(ax) as axes:
        if hands.empty:
            return _no_data(axes, title)
        ended = hands[hands["outcome"].isin(["knock", "undercut", "gin", "big_gin"])]
        turns = ended.groupby("turns")
        some = turns[["knock_deadwood", "defender_deadwood_before_layoff"]].mean()
        some = some.astype(float)[turns.size() >= least]
        if some.empty:
            return _no_data(axes, title)
        axes.plot(some.index, some["defender_deadwood_before_layoff"], "o-", label="the other hand")
        axes.plot(some.index, some["knock_deadwood"], "o-", label="who went out")
        dealt = float(hands[["dealt_deadwood_a", "dealt_deadwood_b"]].mean().mean())
        axes.axhline(dealt, color="0.4", ls="--", lw=1, label=f"as dealt ({dealt:.1f})")
        axes.legend()
        axes.set_ylim(bottom=0)
        axes.set_title(title)
        axes.set_ylabel("mean deadwood, before lay-offs")
        axes.set_xlabel("turns played")
        _caption(axes, f"n = {len(ended):,} hands that somebody ended")
    return axes


def first_chances(hands: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how many cards are left in the stock when a player may first knock.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    """
    title = "When a player may first knock"
    with _axes(ax) as axes:
        if hands.empty:
            return _no_data(axes, title)
        chances = hands[["first_chance_a", "first_chance_b"]].astype(float)
        first = chances.max(axis=1).dropna()  # the stock only shrinks
        if first.empty:
            return _no_data(axes, title)
        shares = 100 * first.astype(int).value_counts().sort_index() / len(hands)
        axes.bar(shares.index, shares, width=0.9)
        axes.invert_xaxis()
        axes.set_title(title)
        axes.set_ylabel("% of hands")
        axes.set_xlabel("cards left in the stock at the first chance of either player")
        _caption(
            axes,
            f"n = {len(hands):,} hands; {100 * (1 - len(first) / len(hands)):.1f} % without one",
        )
    return axes


def starter_table(hands: pd.DataFrame) -> pd.DataFrame:
    """Return what it is worth to play first, by pairing, with 95 % intervals from deals.

    Returns
    -------
    DataFrame
        ``pairing``, ``deals`` (or ``game_pairs``), ``points`` a hand for the non-dealer,
        ``ci_low``, ``ci_high``, and the share of hands it won (``won``).
    """
    import pandas as pd  # noqa: PLC0415

    from gin_sim.stats import RatioSums  # noqa: PLC0415

    rows = []
    first_is_a = hands["dealer"] == "b"
    points = hands["points_a"].where(first_is_a, -hands["points_a"])
    won = hands["winner"] == np.where(first_is_a, "a", "b")
    counted = "game_pairs" if "game" in hands else "deals"
    unit = hands["game"] if "game" in hands else hands["deal"]
    for pairing, places in hands.groupby("pairing", observed=True, sort=False).groups.items():
        by_deal = points[places].groupby(unit[places])
        sums = RatioSums()
        sums.add(by_deal.sum(), by_deal.size())
        low, high = sums.interval() or (np.nan, np.nan)
        rows.append((pairing, sums.n, sums.mean, low, high, float(won[places].mean())))
    return pd.DataFrame(rows, columns=["pairing", counted, "points", "ci_low", "ci_high", "won"])


def starter_advantage(hands: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw what it is worth to play first, by pairing.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    """
    title = "What it is worth to play first"
    with _axes(ax) as axes:
        if hands.empty:
            return _no_data(axes, title)
        table = starter_table(hands).iloc[::-1]
        y = np.arange(len(table))
        half = (table["ci_high"] - table["points"]).fillna(0)
        axes.errorbar(table["points"], y, xerr=half, fmt="o", capsize=2)
        axes.axvline(0, color="black", lw=0.8)
        axes.set_yticks(y, [_plain(name) for name in table["pairing"]])
        axes.set_ylim(-0.7, len(table) - 0.3)
        axes.set_title(title)
        axes.set_xlabel("points a hand for the non-dealer, 95 % intervals from whole deals")
        _caption(axes, f"n = {len(hands):,} hands")
    return axes
