"""Figures of a tournament's rows: a DataFrame in, axes out.

Each function takes the rows it draws and ``ax=``; without one it makes a figure of its
own.  How many hands a figure stands on is said below it.  With nothing to draw it says
"no data".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gin_sim.drawing import BLUE, GREEN, PINK, RED, axes_of, caption, heat_map, no_data, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

OUTCOME_COLOURS = {
    "knock": BLUE,
    "undercut": RED,
    "gin": GREEN,
    "big_gin": PINK,
    "dead": "0.6",
    "forfeit": "black",
}


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
    with axes_of(ax) as axes:
        if hands.empty:
            return no_data(axes, title)
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
            return no_data(axes, title)
        heat_map(
            axes,
            some["stock_left"].to_numpy(int),
            some["knock_deadwood"].to_numpy(int),
            100 * some["mean"],
            ("cards left in the stock", "deadwood knocked with", "undercut, % of knocks"),
            diverging=False,
        )
        axes.set_title(title)
        caption(axes, f"n = {len(knocks):,} knocks; white: fewer than {least} in a cell")
    return axes


def endings(hands: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how hands end, by turn.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    """
    title = "How hands end, by turn"
    with axes_of(ax) as axes:
        if hands.empty:
            return no_data(axes, title)
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
        caption(axes, f"n = {len(hands):,} hands")
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
    with axes_of(ax) as axes:
        if hands.empty:
            return no_data(axes, title)
        ended = hands[hands["outcome"].isin(["knock", "undercut", "gin", "big_gin"])]
        turns = ended.groupby("turns")
        some = turns[["knock_deadwood", "defender_deadwood_before_layoff"]].mean()
        some = some.astype(float)[turns.size() >= least]
        if some.empty:
            return no_data(axes, title)
        axes.plot(some.index, some["defender_deadwood_before_layoff"], "o-", label="the other hand")
        axes.plot(some.index, some["knock_deadwood"], "o-", label="who went out")
        dealt = float(hands[["dealt_deadwood_a", "dealt_deadwood_b"]].mean().mean())
        axes.axhline(dealt, color="0.4", ls="--", lw=1, label=f"as dealt ({dealt:.1f})")
        axes.legend()
        axes.set_ylim(bottom=0)
        axes.set_title(title)
        axes.set_ylabel("mean deadwood, before lay-offs")
        axes.set_xlabel("turns played")
        caption(axes, f"n = {len(ended):,} hands that somebody ended")
    return axes


def first_chances(hands: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how many cards are left in the stock when a player may first knock.

    Parameters
    ----------
    hands : DataFrame
        Rows of a tournament.
    """
    title = "When a player may first knock"
    with axes_of(ax) as axes:
        if hands.empty:
            return no_data(axes, title)
        chances = hands[["first_chance_a", "first_chance_b"]].astype(float)
        first = chances.max(axis=1).dropna()  # the stock only shrinks
        if first.empty:
            return no_data(axes, title)
        shares = 100 * first.astype(int).value_counts().sort_index() / len(hands)
        axes.bar(shares.index, shares, width=0.9)
        axes.invert_xaxis()
        axes.set_title(title)
        axes.set_ylabel("% of hands")
        axes.set_xlabel("cards left in the stock at the first chance of either player")
        caption(
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
    with axes_of(ax) as axes:
        if hands.empty:
            return no_data(axes, title)
        table = starter_table(hands).iloc[::-1]
        y = np.arange(len(table))
        half = (table["ci_high"] - table["points"]).fillna(0)
        axes.errorbar(table["points"], y, xerr=half, fmt="o", capsize=2)
        axes.axvline(0, color="black", lw=0.8)
        axes.set_yticks(y, [plain(name) for name in table["pairing"]])
        axes.set_ylim(-0.7, len(table) - 0.3)
        axes.set_title(title)
        axes.set_xlabel("points a hand for the non-dealer, 95 % intervals from whole deals")
        caption(axes, f"n = {len(hands):,} hands")
    return axes


def sweep(table: pd.DataFrame, param: str, ax: Axes | None = None) -> Axes:
    """Draw what each value of a parameter is worth, by opponent.

    Parameters
    ----------
    table : DataFrame
        As :attr:`gin_sim.result.Result.sweep`.
    param : str
        What to call the values.
    """
    title = f"Points a hand by {plain(param)}"
    with axes_of(ax) as axes:
        if table.empty:
            return no_data(axes, title)
        for name, some in table.groupby("against", sort=False):
            points = some["points_per_hand"].astype(float)
            half = (some["ci_high"].astype(float) - points).fillna(0)
            axes.errorbar(
                some["value"], points, yerr=half, fmt="o-", capsize=2, label=f"v {plain(name)}"
            )
        axes.axhline(0, color="black", lw=0.8)
        axes.legend()
        axes.set_title(title)
        axes.set_ylabel("points a hand, 95 % intervals from whole deals")
        axes.set_xlabel(plain(param))
        caption(axes, f"n = {int(table['hands'].sum()):,} hands; all values on the same deals")
    return axes
