"""Hands of OpenSpiel's gin_rummy, as recorded, played again move for move.

OpenSpiel numbers cards ``13 * suit + rank`` with the suits in the order s, c, d, h; 52 is
drawing the upcard, 53 drawing from the stock, 54 passing, 55 knocking, 56 and more laying
a meld.  A knock is declared first, then comes the discard, then the melds one by one; the
defender lays off, passes, and lays own melds.
"""

from __future__ import annotations

import re
from typing import Any

from gin_sim import Hand, Rules, format_hand, parse_hand
from gin_sim.cards import parse_cards
from gin_sim.settle import Showdown, showdown

TAKE, DRAW, PASS, KNOCK = 52, 53, 54, 55
RULES = Rules.preset("openspiel")


def card(action: int) -> int:
    """Return our number of a card of theirs."""
    suit, rank = divmod(action, 13)
    return 13 * (suit - 1) % 52 + rank


def names(meld: str) -> str:
    """Put spaces into their way of writing a meld."""
    return " ".join(re.findall("..", meld))


def replay(game: dict[str, Any]) -> Hand:
    """Play a recorded hand until it is over or its melds are laid; every move is checked."""
    deck = [
        *parse_cards(game["deal0"]),
        *parse_cards(game["deal1"]),
        *parse_cards(game["upcard"]),
        *parse_cards(game["stock"]),
    ]
    hand = Hand.from_deck(deck, RULES)
    knocking = False
    for actor, action in game["actions"]:
        if hand.phase == "over":
            break
        if actor < 0:  # the card dealt from the stock
            assert hand.view().drawn == card(action)
            continue
        if action == DRAW:
            # After two passes ours draws from the stock without being asked.
            if hand.phase == "draw":
                hand.draw()
            assert hand.phase == "discard"
        else:
            assert hand.seat == actor
            if action == PASS:
                hand.pass_()
            elif action == TAKE:
                hand.take()
            elif action == KNOCK:
                knocking = True
                if hand.phase == "last":
                    hand.take()
            elif knocking:
                hand.knock(card(action))
            else:
                hand.throw(card(action))
    assert hand.phase == "over"
    return hand


def settled(game: dict[str, Any], hand: Hand) -> Showdown | None:
    """Return the showdown on the melds and lay-offs as their players made them."""
    if game["knocker"] is None:
        return None
    knocker = game["knocker"]
    melds: list[Any] = [names(meld) for meld in game["melds"][knocker]]
    defender_melds: list[Any] = [names(meld) for meld in game["melds"][1 - knocker]]
    return showdown(
        hand.cards(knocker),
        hand.cards(1 - knocker),
        RULES,
        melds=melds,
        defender_melds=defender_melds,
        layoffs=format_hand(parse_hand(" ".join(game["layoffs"]))),
    )


def returns(game: dict[str, Any], result: Showdown | None) -> list[int]:
    """Return what both players get, the non-dealer first."""
    if result is None or result.winner is None:
        return [0, 0]
    winner = game["knocker"] if result.winner == "knocker" else 1 - game["knocker"]
    points = result.points
    return [points, -points] if winner == 0 else [-points, points]
