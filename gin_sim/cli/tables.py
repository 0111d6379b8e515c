"""A tournament's result as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gin_sim.cli.common import print_table
from gin_sim.wording import elo_with_interval, remarks, share_with_interval, with_interval

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
        share = share_with_interval(row["game_share"], row["game_share_ci95"])
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
    for line in remarks(document):
        print(line)
    print("intervals from whole mirrored deals (each deal played twice, seats swapped)")
    print(f"results: {document['out']}")
    print(f"again:   {document['command']}")
