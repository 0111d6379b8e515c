"""The report of a tournament, a gauntlet, a league or a sweep, finished or not.

All numbers are those of ``summary.json``; of a run that is not finished they are worked out
from its sums in the same way.  Only figures of how hands go are drawn from rows.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from gin_sim import figures, records, standing_figures
from gin_sim.errors import ResultsError
from gin_sim.folder import SUMMARY, RunFolder
from gin_sim.page import Page, made_with
from gin_sim.run import Run
from gin_sim.standings import findings
from gin_sim.wording import (
    elo_with_interval,
    percent,
    remarks,
    share_with_interval,
    with_interval,
)

if TYPE_CHECKING:
    import pandas as pd

PAIRS = ("LL", "LD", "LW or DD", "WD", "WW")
"""What a made of a mirrored deal, or of a pair of games: lost, drawn (dead), won."""

SEAT_NAMES = {"plays_first": "plays first", "deals": "deals"}

_HOW_SURE = (
    *("p", "log10_p", "p_holm", "log10_p_holm", "significant"),
    *("variance_ratio", "control"),
)
_HAND_COLUMNS = (
    *("pairing", "deal", "dealer", "outcome", "winner", "points_a", "turns", "stock_left"),
    *("knock_deadwood", "defender_deadwood_before_layoff", "first_chance_a", "first_chance_b"),
    *("dealt_deadwood_a", "dealt_deadwood_b", "game"),
)


def tournament_page(folder: RunFolder, manifest: dict[str, Any]) -> Page:
    """Return the report of a tournament.

    Raises
    ------
    ResultsError
        If something in the files of the run cannot be read.  What cannot be in a file that
        can be read raises whatever that leads to.
    """
    pairings = [str(name) for name in manifest.get("pairings", [])]
    found, unfinished = _found(folder)
    of_games = found["rated"] == "games"
    page = Page(folder, _title(manifest))
    amount = f"{manifest['games' if of_games else 'hands']:,}"
    page.text(
        f"Seed {manifest.get('seed')}; {len(pairings)} pairings of {amount} {found['rated']} on "
        f"mirrored deals: each {'game' if of_games else 'deal'} is played twice, seats swapped. "
        "What is said of a pairing is from the side of the agent named first. A hand share "
        "(game share) counts a hand (game) that nobody won as half a win. Intervals are 95 %, "
        f"from whole {'pairs of games' if of_games else 'deals'}."
    )
    if unfinished:
        page.text(unfinished)
    if "sweep" in manifest:
        _sweep(page, manifest, found)
    else:
        _ranking(page, found)
        if len(found["ranking"]) > 2:
            _superiority(page, found, _labels(manifest))
    _pairings(page, found, of_games)
    _how_sure(page, found, of_games)
    _seats(page, found)
    _hands(page, pairings)
    page.heading("All digits")
    page.text("The tables lie with all digits in tables/, the figures in figures/.")
    made_with(page, manifest)
    return page


def _title(manifest: dict[str, Any]) -> str:
    """Say in a few words what the run is."""
    agents = f"{len(manifest.get('agents', []))} agents"
    if "sweep" in manifest:
        return f"Sweep: {manifest['sweep']['agent']} by {manifest['sweep']['param']}"
    names = {"gauntlet": "Gauntlet", "league": "League"}
    return f"{names.get(str(manifest.get('format')), 'Tournament')}: {agents}"


def _found(folder: RunFolder) -> tuple[dict[str, Any], str]:
    """Return what was found, and what to say if the run is not finished."""
    try:
        return json.loads((folder.path / SUMMARY).read_text(encoding="utf-8")), ""
    except FileNotFoundError:
        run = Run.open(folder.path)
    sums = run.sums()
    units = "games" if run.games else "hands"
    return findings(run.labels, sums, run.manifest["seed"]), (
        f"The run is not finished: {2 * sums.units:,} of {2 * run.units:,} {units} of each "
        "pairing. What follows is of those."
    )


def _ranking(page: Page, found: dict[str, Any]) -> None:
    rated, of_games = found["rated"], found["rated"] == "games"
    page.heading("Ranking")
    # Without an interval, the note stands in its place.
    notes = [row["elo_note"] if row["elo_ci95"] else None for row in found["ranking"]]
    shown = []
    for place, row in enumerate(found["ranking"], start=1):
        cells = {
            "agent": f"{place}. {row['agent']}",
            "hands": row["hands"],
            "points a hand (95 %)": with_interval(row["points_per_hand"], row["ci95"]),
            "hand share (95 %)": share_with_interval(row["hand_share"], row["hand_share_ci95"]),
        }
        if of_games:
            cells["games"] = row["games"]
            cells["game share (95 %)"] = share_with_interval(
                row["game_share"], row["game_share_ci95"]
            )
        cells[f"Elo of {rated} (95 %)"] = elo_with_interval(row)
        if any(notes):
            cells["note"] = notes[place - 1] or ""
        shown.append(cells)
    page.table("ranking", _flat(found["ranking"]), shown)
    for line in remarks(found):
        page.text(line)
    page.text(
        f"In order of {'games won' if of_games else 'points a hand'}. Elo is of {rated} won"
        f"{'' if of_games else ', whatever they paid'}, with mean 0 over all agents; open is an "
        "end without a bound."
    )
    height = 1.6 + 0.34 * len(found["ranking"])
    draw = partial(standing_figures.ratings, _frame(found["ranking"]), rated=rated)
    page.figure("ratings", draw, (7.2, height))


def _superiority(page: Page, found: dict[str, Any], labels: list[str]) -> None:
    """Add who is better than whom, in the order of the ranking."""
    page.heading("Each against each")
    order = [row["agent"] for row in found["ranking"]]
    place = {agent: i for i, agent in enumerate(labels)}
    matrix, beats = found["matrix"], found["beats"]
    raw, shown = [], []
    for one in order:
        i = place[one]
        values = {other: matrix[i][place[other]] for other in order}
        raw.append([one, *values.values()])
        sure = {other: beats[i][place[other]] or beats[place[other]][i] for other in order}
        cells = {
            other: "" if value is None else f"{value:+.3f}{' *' if sure[other] else ''}"
            for other, value in values.items()
        }
        shown.append({"points a hand of": one} | {f"v {o}": cell for o, cell in cells.items()})
    page.table("matrix", _frame(raw, ["agent", *order]), shown)
    page.text(
        "Points a hand of the row against the column. *: significant at 5 % after Holm's "
        "correction for all pairings."
    )
    size = max(7.2, min(16.0, 3.0 + 0.75 * len(order))), max(3.6, min(14.0, 2.2 + 0.5 * len(order)))
    draw = partial(standing_figures.superiority, _frame(found["pairings"]), order=order)
    page.figure("matrix", draw, size)


def _sweep(page: Page, manifest: dict[str, Any], found: dict[str, Any]) -> None:
    param = str(manifest["sweep"]["param"])
    values = dict(zip(_labels(manifest), manifest["sweep"]["values"], strict=False))
    rows, shown = [], []
    for row in found["pairings"]:
        low, high = row["ci95"] or (None, None)
        rows.append(
            {
                "value": values[row["a"]],
                "against": row["b"],
                "hands": row["hands"],
                "points_per_hand": row["points_per_hand"],
                "ci_low": low,
                "ci_high": high,
            }
        )
        score = row["hand_score"]
        shown.append(
            {
                param: f"{values[row['a']]:g}",
                "against": row["b"],
                "hands": row["hands"],
                "points a hand (95 %)": with_interval(row["points_per_hand"], row["ci95"]),
                "hand share (95 %)": share_with_interval(score["share"], score["ci95"]),
            }
        )
    page.heading(f"By {param}")
    table = _frame(rows)
    page.figure("sweep", partial(figures.sweep, table, param))
    page.table("sweep", table, shown)
    for line in remarks(found | {"ranking": [], "cycle": None}):
        page.text(line)


def _labels(manifest: dict[str, Any]) -> list[str]:
    return [str(agent["label"]) for agent in manifest["agents"]]


def _pairings(page: Page, found: dict[str, Any], of_games: bool) -> None:
    page.heading("Pairings")
    shown = []
    for row in found["pairings"]:
        hands, score = row["hands"], row["hand_score"]
        cells = {
            "pairing": _name(row),
            "hands": hands,
            "points a hand (95 %)": with_interval(row["points_per_hand"], row["ci95"]),
            "hand share (95 %)": share_with_interval(score["share"], score["ci95"]),
        }
        if of_games:
            score = row["game_score"]
            nobody = f"-{row['undecided_games']:,}" if row["undecided_games"] else ""
            cells |= {
                "games won-lost": f"{row['a_game_wins']:,}-{row['b_game_wins']:,}{nobody}",
                "game share (95 %)": share_with_interval(score["share"], score["ci95"]),
                "margin a game": _signed(row["margin_per_game"]),
                "hands a game": hands / row["games"] if row["games"] else None,
            }
        cells |= {
            "Elo (95 %)": score["elo_text"],
            "won": _percent(row["a_hand_wins"], hands),
            "lost": _percent(row["b_hand_wins"], hands),
            "dead": _percent(row["dead_hands"], hands),
            "gin": _percent(row["gins"] + row["big_gins"], hands),
            "undercut": _percent(row["undercuts"], hands),
        }
        shown.append(cells)
    page.table("pairings", _flat(found["pairings"]), shown)
    page.text(
        f"Elo is of {found['rated']} won. Won, lost, dead, gin and undercut are shares of hands."
        + (" The margin of a game is with all bonuses." if of_games else "")
    )


def _how_sure(page: Page, found: dict[str, Any], of_games: bool) -> None:
    """Add what stands behind the intervals: tests, mirrored pairs, variances."""
    page.heading("How sure")
    raw, shown, pairs = [], [], []
    for row in found["pairings"]:
        raw.append({"pairing": _name(row)} | {key: row[key] for key in _HOW_SURE})
        cells = {
            "pairing": _name(row),
            "p": row["p"],
            "p after Holm": row["p_holm"],
            "significant": row["significant"],
            "variance ratio": row["variance_ratio"],
        }
        if not of_games:
            control = row["control"]
            cells["corrected points a hand (95 %)"] = (
                with_interval(control["points_per_hand"], control["ci95"])
                if control
                else "too few deals"
            )
            cells["saved"] = percent(control["saving"]) if control else None
        shown.append(cells)
        counts = dict(zip(PAIRS, row["pairs"], strict=True))
        pairs.append({"pairing": _name(row)} | counts | {"together": sum(row["pairs"])})
    page.table("how_sure", _flat(raw), shown)
    unit = "pairs of games" if of_games else "deals"
    page.text(
        f"p is of no difference in points, by Student's t over whole {unit}; significant is p "
        "after Holm's correction for all pairings up to 5 %. The variance ratio is that of the "
        "mean over mirrored deals to that over as many hands of unpaired ones: 0.3 says that "
        "0.3 times the hands are as good."
    )
    if not of_games:
        page.text(
            "Corrected points take out the luck of the deadwood dealt; what they save is the "
            "share of deals that would not have been needed."
        )
    page.text(f"Whole {unit} by what the first made of both: L lost, D nobody won, W won.")
    page.table("pairs", _frame(pairs))


def _seats(page: Page, found: dict[str, Any]) -> None:
    page.heading("By seat")
    raw, shown = [], []
    for row in found["pairings"]:
        for key, name in SEAT_NAMES.items():
            seat = row["by_seat"][key]
            hands = seat["hands"]
            raw.append({"pairing": _name(row), "seat": key} | seat)
            shown.append(
                {
                    "pairing": _name(row),
                    "the first": name,
                    "hands": hands,
                    "points a hand": _signed(seat["points_per_hand"]),
                    "won": _percent(seat["a_hand_wins"], hands),
                    "lost": _percent(seat["b_hand_wins"], hands),
                    "dead": _percent(seat["dead_hands"], hands),
                    "its gins": _percent(seat["a_gins"], hands),
                    "its knocks": _percent(seat["a_knocks"], hands),
                    "its undercut": _percent(seat["a_undercut"], seat["a_knocks"]),
                    "other's gins": _percent(seat["b_gins"], hands),
                    "other's knocks": _percent(seat["b_knocks"], hands),
                    "other's undercut": _percent(seat["b_undercut"], seat["b_knocks"]),
                }
            )
    page.table("seats", _frame(raw), shown)
    page.text(
        "The first either plays first, when the other deals, or deals. Shares are of hands; "
        "undercut is the share of the knocks that were."
    )


def _hands(page: Page, pairings: list[str]) -> None:
    """Add what is drawn from rows, if there are any."""
    try:
        hands = records.read_rows(page.folder.path, "hands", _HAND_COLUMNS)
    except ResultsError:
        if records.parts(page.folder.path):
            raise
        page.text("No rows of hands were kept: there is nothing to draw.")
        return
    page.heading("How hands go")
    page.figure("endings", partial(figures.endings, hands))
    page.figure("deadwood_by_turn", partial(figures.deadwood_by_turn, hands))
    page.figure("first_chances", partial(figures.first_chances, hands))
    page.figure("undercuts", partial(figures.undercuts, hands))
    page.heading("The starter's advantage")
    page.table("starter", figures.starter_table(hands))
    height = 1.6 + 0.3 * len(pairings)
    page.figure("starter", partial(figures.starter_advantage, hands), (7.2, height))


def _name(pairing: dict[str, Any]) -> str:
    return f"{pairing['a']} v {pairing['b']}"


def _percent(count: int, of: int) -> str | None:
    return percent(count / of) if of else None


def _signed(value: float | None) -> str | None:
    return None if value is None else f"{value:+.3f}"


def _frame(rows: list[Any], columns: list[str] | None = None) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    return pd.DataFrame(rows, columns=columns)


def _flat(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table of plain values, without empty columns.

    An interval is two columns, what a pairing's units were one for each kind, and what is
    within another value is named after both.
    """
    table = _frame([_flat_row(row) for row in rows])
    return table.dropna(axis="columns", how="all")


def _flat_row(row: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in row.items():
        if key.endswith("ci95"):
            low, high = value or (None, None)
            out |= {key.replace("ci95", "ci_low"): low, key.replace("ci95", "ci_high"): high}
        elif isinstance(value, dict):
            out |= {f"{key}_{name}": one for name, one in _flat_row(value).items()}
        elif isinstance(value, list):
            names = [name.replace(" ", "_") for name in PAIRS]
            out |= {f"{key}_{name}": one for name, one in zip(names, value, strict=True)}
        else:
            out[key] = value
    return out
