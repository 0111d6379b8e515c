"""Who beats whom: every agent against every other.

    python -m experiments.ladder --games 20000 --few-games 2000 --seed 30

Played are whole games to the target and single hands, under the rules of the EAAI-2021
challenge and of the web game that the knocking tip is about (``--rules``), everybody against
everybody:

* the quick agents, many games of each pairing;
* all agents, `search` among them, fewer games of each pairing: here ratings are found.

Single hands are as many as games.  The share of games won is the headline; its interval is
over mirrored pairs of games.  How an agent wins and when it knocks is read off the hands of
all its games of the second kind under the same rules, and so are the figures.  The tables are
written after each part; with ``--runs DIR`` the tournaments are kept there, and those that are
there already go on where they were stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim.checks import MAX_SEED
from gin_sim.cli.common import Parser, add_workers, guarded, print_table, whole
from gin_sim.drawing import save
from gin_sim.folder import RunFolder, take_folder
from gin_sim.manifest import SCHEMA_VERSION, git_commit, versions
from gin_sim.progress import note
from gin_sim.registry import load_agent
from gin_sim.rules import Rules
from gin_sim.standing_figures import ratings as draw_ratings
from gin_sim.standing_figures import superiority
from gin_sim.tournament import play_tournament

if TYPE_CHECKING:
    import pandas as pd

    from gin_sim.result import Result

QUICK = (
    *("random", "easy", "medium", "hard", "simple", "greedy", "gin_only", "early_gin"),
    *("equilibrium", "improver", "bayes", "learned", "tuned"),
)
SLOW = ("search",)
RULES = ("eaai", "poozee")


def shares(found: Result, **where: Any) -> list[dict[str, Any]]:
    """Return a row for every pairing: games or hands that the first won, and its points."""
    rows = []
    for pairing in found.as_dict()["pairings"]:
        score = pairing["game_score"] or pairing["hand_score"]
        low, high = score["ci95"] or (None, None)
        points_low, points_high = pairing["ci95"] or (None, None)
        rows.append(
            where
            | {
                "a": pairing["a"],
                "b": pairing["b"],
                "games": pairing["games"],
                "hands": pairing["hands"],
                "share": score["share"],
                "share_low": low,
                "share_high": high,
                "points_per_hand": pairing["points_per_hand"],
                "points_low": points_low,
                "points_high": points_high,
                "significant": pairing["significant"],
            }
        )
    return rows


def ratings(found: Result, **where: Any) -> list[dict[str, Any]]:
    """Return a row for every agent, best first."""
    rows = []
    for row in found.as_dict()["ranking"]:
        low, high = row["elo_ci95"] or (None, None)
        rows.append(
            where
            | {
                "agent": row["agent"],
                "elo": row["elo"],
                "elo_low": low,
                "elo_high": high,
                "hand_share": row["hand_share"],
                "game_share": row["game_share"],
                "points_per_hand": row["points_per_hand"],
            }
        )
    return rows


def ways(hands: pd.DataFrame, **where: Any) -> list[dict[str, Any]]:
    """Return a row for every agent: how its hands end, and when it knocks.

    Parameters
    ----------
    hands : DataFrame
        As :attr:`gin_sim.result.Result.hands`.
    """
    both = hands["pairing"].astype(str).str.split(" v ", n=1, expand=True)
    rows = []
    for agent in dict.fromkeys([*both[0], *both[1]]):
        mine = hands[(both[0] == agent) | (both[1] == agent)]
        n = len(mine)
        side = (both[0] == agent).map({True: "a", False: "b"})[mine.index]
        outcome, ended, won = mine["outcome"], mine["ender"] == side, mine["winner"] == side
        knocked = mine[ended & outcome.isin(["knock", "undercut"])]
        stock = knocked["stock_left"]
        rows.append(
            where
            | {
                "agent": agent,
                "hands": n,
                "won_by_knock": float(((outcome == "knock") & won).sum() / n),
                "won_by_gin": float((outcome.isin(["gin", "big_gin"]) & won).sum() / n),
                "won_by_undercut": float(((outcome == "undercut") & won).sum() / n),
                "lost_by_undercut": float(((outcome == "undercut") & ended).sum() / n),
                "dead": float((outcome == "dead").sum() / n),
                "knocks": len(knocked),
                "knocks_undercut": float((knocked["outcome"] == "undercut").mean()),
                "knock_deadwood": float(knocked["knock_deadwood"].mean()),
                "knock_stock_10": float(stock.quantile(0.1)),
                "knock_stock_50": float(stock.quantile(0.5)),
                "knock_stock_90": float(stock.quantile(0.9)),
                "turns": float(mine["turns"].mean()),
            }
        )
    return rows


def draw(found: Result, folder: RunFolder, preset: str) -> None:
    """Draw the ratings, and who beats whom in the order of the ratings."""
    ranked, figures = found.ranking, folder.path / "figures"
    order = list(ranked.sort_values("elo", ascending=False)["agent"])
    size = (2.4 + 0.62 * len(order), 1.6 + 0.5 * len(order))
    pairings = found.summary
    save(lambda ax: superiority(pairings, ax, order), figures / f"{preset}_superiority.png", size)
    save(lambda ax: draw_ratings(ranked, ax, "games"), figures / f"{preset}_ratings.png", size)


def study(args: argparse.Namespace, folder: RunFolder) -> pd.DataFrame:
    """Play everything, write the tables, and return the ratings."""
    import pandas as pd  # noqa: PLC0415 - only now

    quick = tuple(args.quick)
    everybody = (*quick, *args.slow)
    tables: dict[str, list[dict[str, Any]]] = {"pairings": [], "ratings": [], "ways": []}
    for preset in args.rules:
        for agents, games in ((quick, args.games), (everybody, args.few_games)):
            for unit in ("games", "hands"):
                where: dict[str, Any] = {"rules": preset, "of": unit}
                where["agents"] = "all" if agents == everybody else "quick"
                note(f"{preset}, {where['agents']} agents, {games:,} {unit} a pairing")
                keep = unit == "games" and agents == everybody
                place: dict[str, Any] = {}
                if args.runs is not None:
                    run = Path(args.runs) / f"{preset}-{where['agents']}-{unit}"
                    place = {"resume" if run.exists() else "out": run}
                found = play_tournament(
                    agents,
                    games=games if unit == "games" else None,
                    hands=games if unit == "hands" else None,
                    rules=preset,
                    seed=args.seed,
                    jobs=args.jobs,
                    backend=args.backend,
                    scheduler=args.scheduler,
                    keep_hands=keep,
                    **place,
                )
                tables["pairings"] += shares(found, **where)
                if agents == everybody:
                    tables["ratings"] += ratings(found, **where)
                if keep:
                    tables["ways"] += ways(found.hands, rules=preset)
                    draw(found, folder, preset)
                for name, rows in tables.items():
                    text = pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")
                    folder.write_text(f"{name}.csv", text)
    return pd.DataFrame(tables["ratings"])


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    agents = [load_agent(name) for name in (*args.quick, *args.slow)]
    command = (
        f"python -m experiments.ladder --games {args.games} --few-games {args.few_games} "
        f"--seed {args.seed} --rules {' '.join(args.rules)} "
        f"--quick {' '.join(args.quick)} --slow {' '.join(args.slow)}"
    )
    manifest = {
        "schema": SCHEMA_VERSION,
        "kind": "ladder",
        "command": command,
        "seed": args.seed,
        "games": args.games,
        "few_games": args.few_games,
        "rules": {preset: Rules.preset(preset).as_dict() for preset in args.rules},
        "agents_sha256": {one.label: one.source_hash() for one in agents},
        "versions": versions(),
        "git_commit": git_commit(),
    }
    folder = take_folder(args.out, "ladder", manifest)
    note(f"{len(agents)} agents, seed {args.seed}, results in {folder.path}")
    found = study(args, folder)
    for preset in args.rules:
        shown = [
            [str(row["agent"]), f"{row['elo']:+.0f}", f"{100 * row['game_share']:.1f} %"]
            for row in found[(found["rules"] == preset) & (found["of"] == "games")].to_dict(
                "records"
            )
        ]
        print_table(f"games, {preset}", ["agent", "Elo", "games won"], shown)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {command}")  # noqa: T201


def build_parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        prog="python -m experiments.ladder",
        description="Play every agent against every other, hands and games, under two rules.",
    )
    parser.add_argument("--seed", metavar="S", type=whole(0, MAX_SEED), default=30)
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.add_argument(
        "--runs", metavar="DIR", help="keep the tournaments there, and go on with those that are"
    )
    add_workers(parser)
    parser.set_defaults(run=run)
    parser.add_argument(
        "--games", metavar="N", type=whole(2, 10_000_000), default=20_000, help="of quick agents"
    )
    parser.add_argument(
        "--few-games", metavar="N", type=whole(2, 10_000_000), default=2_000, help="of all agents"
    )
    parser.add_argument("--rules", metavar="PRESET", nargs="+", default=list(RULES))
    parser.add_argument("--quick", metavar="AGENT", nargs="+", default=list(QUICK))
    parser.add_argument("--slow", metavar="AGENT", nargs="*", default=list(SLOW))
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
