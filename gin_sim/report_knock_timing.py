"""The report of the experiment ``knock_timing``: its tables and figures, in a folder."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gin_sim import knock_figures
from gin_sim.folder import RunFolder
from gin_sim.page import Page, made_with

if TYPE_CHECKING:
    import pandas as pd


def _csv(folder: RunFolder, name: str) -> pd.DataFrame:
    """Return a table of a run; an empty one if it is not there."""
    import pandas as pd  # noqa: PLC0415

    try:
        return pd.read_csv(folder.path / f"{name}.csv")
    except (FileNotFoundError, pd.errors.EmptyDataError):
        return pd.DataFrame()


def knock_timing_page(folder: RunFolder, manifest: dict[str, Any]) -> Page:
    """Return the report of the experiment ``knock_timing``."""
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
    made_with(page, manifest)
    return page
