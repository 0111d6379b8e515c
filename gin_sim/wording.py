"""What a tournament found, in words: the same for the terminal and for reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def with_interval(mean: float | None, interval: Sequence[float] | None) -> str:
    """Return points with their interval as text.

    Examples
    --------
    >>> with_interval(1.5, [1.25, 1.75]), with_interval(1.5, None), with_interval(None, None)
    ('+1.500 ± 0.250', '+1.500 (too few deals)', 'no data')
    """
    if mean is None:
        return "no data"
    if interval is None:
        return f"{mean:+.3f} (too few deals)"
    return f"{mean:+.3f} ± {(interval[1] - interval[0]) / 2:.3f}"


def share_with_interval(share: float | None, interval: Sequence[float] | None) -> str:
    """Return a share with its interval, which reaches further towards a half, as text.

    Examples
    --------
    >>> share_with_interval(0.875, [0.755, 0.945]), share_with_interval(None, None)
    ('87.5 % [75.5, 94.5]', 'no data')
    """
    if share is None:
        return "no data"
    if interval is None:
        return f"{percent(share)} (too few deals)"
    return f"{percent(share)} [{', '.join(percent(end)[:-2] for end in interval)}]"


def percent(share: float) -> str:
    """Return a share as text, rounded as everywhere else.

    Examples
    --------
    >>> percent(0.1295), percent(-0.00001)
    ('13.0 %', '0.0 %')
    """
    return f"{share:z.1%}".replace("%", " %")


def elo_with_interval(row: dict[str, Any]) -> str:
    """Return a rating with its interval as text, or what there is to say in its place.

    Parameters
    ----------
    row : dict
        An agent of the ranking: ``elo``, ``elo_ci95``, ``elo_note``.
    """
    if row["elo_ci95"] is None:
        return row["elo_note"] or "no data"
    low, high = row["elo_ci95"]
    digits = int(low is not None and high is not None and high - low < 20)
    return f"{_elo(row['elo'], digits)} {_elo_interval(row['elo_ci95'], digits)}"


def elo_of_share(elo: float, low: float, high: float) -> str:
    """Return the Elo of one pairing's share as text; infinite where all or nothing was won.

    Examples
    --------
    >>> elo_of_share(float("inf"), 77.4, float("inf"))
    '+inf [+77, +inf]'
    """
    return f"{elo:+.0f} [{low:+.0f}, {high:+.0f}]"


def _elo(value: float | None, digits: int = 0) -> str:
    return "open" if value is None else f"{value:+.{digits}f}"


def _elo_interval(ends: Sequence[float | None], digits: int = 0) -> str:
    return f"[{', '.join(_elo(end, digits) for end in ends)}]"


def remarks(document: dict[str, Any]) -> list[str]:
    """Return what a reader of the ranking has to know besides, a line each.

    That there is no order, that ratings order agents otherwise than points do, and how
    many games nobody won and hands were forfeited.

    Parameters
    ----------
    document : dict
        As :meth:`gin_sim.result.Result.as_dict` gives it.
    """
    lines = []
    if document["cycle"]:
        ring = " > ".join([*document["cycle"], document["cycle"][0]])
        lines.append(f"no order: each of these beats the next significantly: {ring}")
    if order := _order_of_ratings(document["ranking"]):
        rated = document["rated"]
        lines.append(
            f"{rated} won and points rank differently; by {rated} won: {' > '.join(order)}"
        )
    undecided = sum(p["undecided_games"] for p in document["pairings"])
    if undecided:
        lines.append(f"games that nobody won, counted as half a win for each: {undecided:,}")
    illegal = sum(p["a_illegal"] + p["b_illegal"] for p in document["pairings"])
    if illegal:
        # Of a run that is not finished, no hand is replayed to tell.
        faults = [fault["what"] for fault in document.get("faults", [])]
        first = "; of each agent the first:" if faults else ""
        lines += [f"hands forfeited by illegal actions: {illegal:,}{first}", *faults]
    return lines


def _order_of_ratings(ranking: Sequence[dict[str, Any]]) -> list[str] | None:
    """Return agents by rating, if some two of them are the other way round by points."""
    known = [row for row in ranking if row["points_per_hand"] is not None]
    # What is the same in both is a tie, and turns nothing round.
    turned = any(
        one["points_per_hand"] > other["points_per_hand"] and one["elo"] < other["elo"]
        for one in known
        for other in known
    )
    by_rating = sorted(known, key=lambda row: -row["elo"])
    return [row["agent"] for row in by_rating] if turned else None
