"""``gin-sim showdown``: who scores what when a player knocks."""

from __future__ import annotations

import argparse
from typing import Any

from gin_sim.cli.common import add_json, add_rules, read_rules


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "showdown",
        help="settle a knock",
        description="Settle a knock: lay-offs, deadwood, points.",
    )
    parser.add_argument(
        "knocker", metavar="KNOCKER", help="ten cards after the discard (eleven for big gin)"
    )
    parser.add_argument("defender", metavar="DEFENDER", help="ten cards")
    parser.add_argument(
        "--melds", metavar="MELDS", help='fix the knocker\'s melds: "5s 6s 7s | Kc Kd Kh"'
    )
    parser.add_argument(
        "--upcard", metavar="CARD", help="the first upcard, where the rules look at it"
    )
    add_rules(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.cards import format_hand
    from gin_sim.settle import describe_layoff, showdown

    settled = showdown(
        args.knocker, args.defender, read_rules(args), args.melds, upcard=args.upcard
    )
    result: dict[str, Any] = {
        "outcome": settled.outcome,
        "winner": settled.winner,
        "points": settled.points,
        "knocker_deadwood": settled.knocker_deadwood,
        "defender_deadwood_before_layoff": settled.defender_deadwood_before_layoff,
        "defender_deadwood": settled.defender_deadwood,
        "knocker_melds": [format_hand(meld) for meld in settled.knocker_melds],
        "defender_melds": [format_hand(meld) for meld in settled.defender_melds],
        "layoffs": [describe_layoff(one) for one in settled.layoffs],
    }
    if args.json:
        return result
    who = f"{settled.winner} scores {settled.points}" if settled.winner else "nobody scores"
    print(f"{settled.outcome.replace('_', ' ')}: {who}")
    for name, melds, left in (
        ("knocker", result["knocker_melds"], settled.knocker_deadwood),
        ("defender", result["defender_melds"], settled.defender_deadwood),
    ):
        print(f"  {name:<8}  {' | '.join(melds) or 'no melds'}; {left} left")
    for one in result["layoffs"]:
        print(f"  laid off  {one['card']} on {one['onto']}")
    return None
