"""A tournament's result as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gin_sim.cli.common import print_table

if TYPE_CHECKING:
    from gin_sim.plan import Plan


def print_result(plan: Plan, document: dict[str, Any]) -> None:
    """Print the pairings, the ranking, and where the run is."""
    rows = []
    for pairing in document["pairings"]:
        hands = pairing["hands"]
        rows.append(
            [
                f"{pairing['a']} v {pairing['b']}",
                f"{hands:,}",
                with_interval(pairing["points_per_hand"], pairing["ci95"]),
                f"{pairing['a_hand_wins'] / hands:.1%}",
                f"{pairing['b_hand_wins'] / hands:.1%}",
                f"{pairing['dead_hands'] / hands:.1%}",
                f"{(pairing['gins'] + pairing['big_gins']) / hands:.1%}",
                f"{pairing['undercuts'] / hands:.1%}",
                *([f"{pairing['a_game_wins']:,}-{pairing['b_game_wins']:,}"] * plan.games),
            ]
        )
    columns = ["pairing", "hands", "points a hand of the first (95 %)", "first won"]
    columns += ["second won", "dead", "gin", "undercut", *(["games"] * plan.games)]
    print_table("", columns, rows)

    ranking = []
    for place, row in enumerate(document["ranking"], start=1):
        share = with_interval(row["game_share"], row["game_share_ci95"], percent=True)
        ranking.append(
            [
                f"{place}. {row['agent']}",
                with_interval(row["points_per_hand"], row["ci95"]),
                *([share] * plan.games),
                elo_with_interval(row),
            ]
        )
    print_table(
        "",
        [
            *("ranking", "points a hand (95 %)"),
            *(["games won (95 %)"] * plan.games),
            f"Elo of {document['rated']} (95 %)",
        ],
        ranking,
    )
    if document["cycle"]:
        ring = " > ".join([*document["cycle"], document["cycle"][0]])
        print(f"no order: each of these beats the next significantly: {ring}")
    undecided = sum(p["undecided_games"] for p in document["pairings"])
    if undecided:
        print(f"games that nobody won, counted as half a win for each: {undecided:,}")
    illegal = sum(p["a_illegal"] + p["b_illegal"] for p in document["pairings"])
    if illegal:
        print(f"hands forfeited by illegal actions: {illegal:,}; of each agent the first:")
        for fault in document["faults"]:
            print(f"  {fault['what']}")
    print("intervals from whole mirrored deals (each deal played twice, seats swapped)")
    print(f"results: {document['out']}")
    print(f"again:   {document['command']}")


def with_interval(mean: float | None, interval: list[float] | None, percent: bool = False) -> str:
    """Return a number with its interval as text."""
    if mean is None:
        return "no data"
    scale, unit = (100, " %") if percent else (1, "")
    text = f"{scale * mean:.1f}" if percent else f"{mean:+.3f}"
    if interval is None:
        return f"{text}{unit} (too few deals)"
    half = scale * (interval[1] - interval[0]) / 2
    return f"{text} ± {half:.2f}{unit}" if percent else f"{text} ± {half:.3f}{unit}"


def elo_with_interval(row: dict[str, Any]) -> str:
    """Return a rating with its interval as text, or what there is to say in its place."""
    interval = row["elo_ci95"]
    if interval is None:
        return row["elo_note"] or "no data"
    low, high = ("open" if end is None else f"{end:+.0f}" for end in interval)
    return f"{row['elo']:+.0f} [{low}, {high}]"
