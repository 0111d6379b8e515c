"""``gin-sim hand``: what a hand is worth and what to throw from it."""

from __future__ import annotations

import argparse
from typing import Any

from gin_sim.cli.common import add_json, add_rules, read_rules
from gin_sim.errors import CardError


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "hand",
        help="deadwood, melds, best discards and knocks of a hand",
        description="Say what a hand is worth, and of eleven cards what to throw.",
        epilog='example: gin-sim hand "6d 7d 8d 7c 8c 9c Ah Ad As 5h 2s"',
    )
    parser.add_argument(
        "cards", metavar="CARDS", nargs="+", help='cards such as "Ah Td 2c"; any case, 10 for T'
    )
    parser.add_argument(
        "--taken", metavar="CARD", help="the card just taken from the pile (may not be thrown)"
    )
    parser.add_argument(
        "--upcard", metavar="CARD", help="the first upcard (sets the limit under Oklahoma rules)"
    )
    add_rules(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Any:
    """Run the command; return the document for ``--json``."""
    from gin_sim.cards import card_name, cards_of, format_hand, parse_hand
    from gin_sim.hands import arrange, best_discards, deadwood, legal_knocks

    rules = read_rules(args)
    hand = parse_hand(" ".join(args.cards))
    if not hand:
        raise CardError("no cards were given; for example: gin-sim hand '6d 7d 8d Ah'")
    result: dict[str, Any] = {"cards": format_hand(hand), "deadwood": deadwood(hand)}
    if hand.bit_count() <= 11:
        arranged = arrange(hand, rules)
        result["melds"] = arranged.meld_texts()
        result["unmatched"] = format_hand(arranged.unmatched)
    if hand.bit_count() == 11:
        points, discards = best_discards(hand, rules, args.taken)
        result["best_discards"] = [card_name(card) for card in cards_of(discards)]
        result["deadwood_after_best_discard"] = points
        knocks = legal_knocks(hand, rules, args.taken, args.upcard)
        result["knocks"] = {card_name(card): left for card, left in knocks.items()}
        result["big_gin"] = rules.big_gin_bonus is not None and result["deadwood"] == 0
    if args.json:
        return result
    print(f"{result['cards']}: deadwood {result['deadwood']}")
    if "melds" in result:
        print(f"  melds      {' | '.join(result['melds']) or 'none'}")
        print(f"  unmatched  {result['unmatched'] or 'none'}")
    if "best_discards" in result:
        best = " ".join(result["best_discards"])
        print(f"  throw      {best}  (leaves {result['deadwood_after_best_discard']})")
        shown = ", ".join(f"{c} ({left})" for c, left in result["knocks"].items())
        print(f"  knock by   {shown or 'no card'}")
        if result["big_gin"]:
            print(f"  big gin    all eleven cards are melded ({rules.big_gin_bonus} points)")
    return None
