"""What a tournament's sums say: shares, variances, who is better, ratings.

Each function takes sums and returns plain values, None where there is no number.  What
they mean, with formulas and sources, is in ``docs/statistics.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gin_sim.control import FOLD_DTYPE, ControlSums, corrected
from gin_sim.multiple import beats, find_cycle, holm, log10_t_test, show_p, sign_test_log10
from gin_sim.ratings import rate
from gin_sim.scoring import OUTCOMES
from gin_sim.shares import share_interval
from gin_sim.sprt import elo_of, finite
from gin_sim.stats import RatioSums
from gin_sim.sums import BLOCK_COLUMNS, Sums
from gin_sim.wording import elo_of_share

SEATS = ("plays_first", "deals")
"""What a does in the hands counted: b deals, or a does."""


def share(sums: RatioSums) -> dict[str, Any]:
    """Return a share with Wilson's interval, and both on the scale of Elo.

    Parameters
    ----------
    sums : RatioSums
        Half wins for each half hand (game), as in :class:`gin_sim.sums.Sums`.
    """
    interval = share_interval(sums, 1)
    if sums.mean is None or interval is None:
        return {"share": None, "ci95": None, "elo": None, "elo_ci95": None, "elo_text": "no data"}
    elo, low, high = (elo_of(value) for value in (sums.mean, *interval))
    return {
        "share": sums.mean,
        "ci95": list(interval),
        "elo": finite(elo),
        "elo_ci95": [finite(low), finite(high)],
        "elo_text": elo_of_share(elo, low, high),
    }


def seats(endings: Any, points: Any) -> dict[str, dict[str, Any]]:
    """Return how hands went, by what a did.

    Parameters
    ----------
    endings : (2, 3, 3, 6) array
        Hands by dealer, ender, winner and outcome; see :data:`gin_sim.sums.PAIRING_DTYPE`.
    points : (2, 2) array
        Points of a and their squares, by dealer.
    """
    place = {outcome: i for i, outcome in enumerate(OUTCOMES)}
    out = {}
    for name, dealer in zip(SEATS, (1, 0), strict=True):
        some, hands = endings[dealer], int(endings[dealer].sum())
        won, ended = some.sum(axis=(0, 2)), some.sum(axis=1)
        row: dict[str, Any] = {
            "hands": hands,
            "points_per_hand": int(points[dealer, 0]) / hands if hands else None,
            "a_hand_wins": int(won[1]),
            "b_hand_wins": int(won[2]),
            "dead_hands": int(ended[:, place["dead"]].sum()),
        }
        for player, who in ((1, "a"), (2, "b")):
            row[f"{who}_gins"] = int(ended[player, [place["gin"], place["big_gin"]]].sum())
            row[f"{who}_knocks"] = int(ended[player, [place["knock"], place["undercut"]]].sum())
            row[f"{who}_undercut"] = int(ended[player, place["undercut"]])
        out[name] = row
    return out


def variance_ratio(points: RatioSums, seat_points: Any) -> float | None:
    """Return the variance of the mean over mirrored deals, of that over as many unpaired hands.

    Below 1 is what mirroring saves: 0.3 says that 0.3 times the hands are as good.
    """
    x, xx = (int(value) for value in seat_points.sum(axis=0))
    hands, error = points.h, points.standard_error
    if error is None or hands * xx == x * x:
        return None
    unpaired = (xx - x * x / hands) / (hands - 1) / hands
    return error * error / unpaired


def control(sums: Any) -> dict[str, Any] | None:
    """Return points a hand corrected for what was dealt, and what that saves."""
    found = corrected(ControlSums(np.ascontiguousarray(sums).view(FOLD_DTYPE).reshape(-1)))
    if found is None:
        return None
    return {
        "points_per_hand": found.points_per_hand,
        "ci95": list(found.ci95),
        "saving": found.saving,
    }


def log10_p(points: RatioSums, pairs: Sequence[int]) -> float:
    """Return log10 of the p value of no difference in points; NaN for fewer than two units.

    Student's t test over units; where all of them had the same points, a sign test of who
    did better in more of them.
    """
    error, mean = points.standard_error, points.mean
    if error is None or mean is None:
        return math.nan
    if error == 0 and mean != 0:
        return sign_test_log10(int(pairs[3] + pairs[4]), int(pairs[0] + pairs[1]))
    return log10_t_test(mean, error, points.n - 1)


def superiority(labels: Sequence[str], sums: Sums) -> dict[str, Any]:
    """Return who is better than whom over all pairings at once.

    Returns
    -------
    dict
        ``pairings``: for each ``p`` (as text), ``log10_p``, those after Holm, and whether
        it is significant at 5 %; ``matrix``: points a hand of the row's agent against the
        column's; ``beats``; ``cycle``: agents of which each beats the next and the last
        the first, None if there are none such.
    """
    n, meetings = len(labels), sums.meetings
    points = [sums.of("points", p) for p in range(len(meetings))]
    plain = [log10_p(one, sums.pairings[p]["pairs"]) for p, one in enumerate(points)]
    adjusted = holm(plain)
    means = [one.mean or 0.0 for one in points]
    better = beats(n, meetings, means, adjusted)
    cycle = find_cycle(better)
    matrix: list[list[float | None]] = [[None] * n for _ in labels]
    for (a, b), one in zip(meetings, points, strict=True):
        if one.mean is not None:
            matrix[a][b], matrix[b][a] = one.mean, -one.mean
    rows = [
        {
            "p": show_p(p) if math.isfinite(p) else None,
            "log10_p": finite(p),
            "p_holm": show_p(q) if math.isfinite(q) else None,
            "log10_p_holm": finite(q),
            "significant": bool(q <= math.log10(0.05)),
        }
        for p, q in zip(plain, map(float, adjusted), strict=True)
    ]
    return {
        "pairings": rows,
        "matrix": matrix,
        "beats": better.tolist(),
        "cycle": None if cycle is None else [labels[i] for i in cycle],
    }


def ratings(n_agents: int, sums: Sums, seed: int) -> list[dict[str, Any]]:
    """Return a rating for each agent: of games where games were played, else of hands."""
    blocks = sums.block_table()
    names = ("game_score", "games") if sums.games else ("score", "hands")
    score, played = (blocks[:, :, BLOCK_COLUMNS.index(name)] for name in names)
    found = rate(n_agents, sums.meetings, score, played, seed)
    return [
        {
            "elo": float(found.elo[i]),
            "elo_ci95": None
            if math.isnan(found.low[i])
            else [finite(float(found.low[i])), finite(float(found.high[i]))],
            "elo_note": found.note[i] or None,
        }
        for i in range(n_agents)
    ]


def findings(labels: Sequence[str], sums: Sums, seed: int) -> dict[str, Any]:
    """Return all that is said of a tournament, whether it is finished or not.

    Parameters
    ----------
    labels : sequence of str
        Of the agents.
    sums : Sums
    seed : int
        Of the run, which the resampling of ratings takes as well.

    Returns
    -------
    dict
        ``pairings`` and ``ranking``, of dicts; ``rated``, whether ratings are of hands or
        of games; ``matrix``, ``beats`` and ``cycle`` as of :func:`superiority`.
    """
    better = superiority(labels, sums)
    return {
        "pairings": [
            _pairing(labels, sums, p) | found for p, found in enumerate(better.pop("pairings"))
        ],
        "ranking": _ranked(labels, sums, seed),
        "rated": "games" if sums.games else "hands",
        **better,
    }


def _pairing(labels: Sequence[str], sums: Sums, p: int) -> dict[str, Any]:
    """Return all there is to say of a pairing."""
    tally, (a, b) = sums.pairings[p], sums.meetings[p]
    points, endings = sums.of("points", p), tally["endings"]
    outcome = dict(zip(OUTCOMES, map(int, endings.sum(axis=(0, 1, 2))), strict=True))
    won = [int(n) for n in endings.sum(axis=(0, 1, 3))]
    illegal = endings[:, :, :, OUTCOMES.index("forfeit")].sum(axis=(0, 2))
    hands, interval = points.h, points.interval()
    return {
        "a": labels[a],
        "b": labels[b],
        "deals": None if sums.games else points.n,
        "hands": hands,
        "points_per_hand": points.mean,
        "ci95": list(interval) if interval else None,
        "a_hand_wins": won[1],
        "b_hand_wins": won[2],
        "dead_hands": outcome["dead"],
        "undercuts": outcome["undercut"],
        "gins": outcome["gin"],
        "big_gins": outcome["big_gin"],
        "knocks": outcome["knock"],
        "turns_per_hand": int(tally["turns"]) / hands if hands else None,
        "games": int(tally["game_winners"].sum()),
        "a_game_wins": int(tally["game_winners"][1]),
        "b_game_wins": int(tally["game_winners"][2]),
        "undecided_games": int(tally["game_winners"][0]),
        "a_illegal": int(illegal[1]),
        "b_illegal": int(illegal[2]),
        "hand_score": share(sums.of("score", p)),
        "game_score": share(sums.of("games", p)) if sums.games else None,
        "margin_per_game": sums.of("margin", p).mean,
        "pairs": [int(n) for n in tally["pairs"]],
        "variance_ratio": variance_ratio(points, tally["seats"]),
        "control": None if sums.games else control(tally["control"]),
        "by_seat": seats(endings, tally["seats"]),
    }


def _ranked(labels: Sequence[str], sums: Sums, seed: int) -> list[dict[str, Any]]:
    """Return a row for each agent, best first: by games won, or by points of hands."""
    rows = []
    rated = ratings(len(labels), sums, seed)
    for i, label in enumerate(labels):
        points, games = sums.of_agent("points", i), sums.of_agent("games", i)
        hand_share, game_share = share(sums.of_agent("score", i)), share(games)
        interval = points.interval()
        rows.append(
            {
                "agent": label,
                "hands": points.h,
                "points_per_hand": points.mean,
                "ci95": list(interval) if interval else None,
                "hand_share": hand_share["share"],
                "hand_share_ci95": hand_share["ci95"],
                # Half a win is counted as 1 of 2, so that all sums are whole.
                "games": games.h // 2,
                "game_share": game_share["share"],
                "game_share_ci95": game_share["ci95"],
                **rated[i],
            }
        )
    key = "game_share" if sums.games else "points_per_hand"
    return sorted(rows, key=lambda row: (-(row[key] or 0.0), row["agent"]))
