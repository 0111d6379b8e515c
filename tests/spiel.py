"""Hands of OpenSpiel's gin_rummy, as recorded, played again move for move.

Its notation is described in :mod:`gin_sim.interop.openspiel`.
"""

from __future__ import annotations

import re
from typing import Any

from gin_sim import Hand, format_hand, parse_hand
from gin_sim.cards import parse_cards
from gin_sim.interop.openspiel import RULES, action_of, from_actions
from gin_sim.settle import Showdown, showdown


def names(meld: str) -> str:
    """Put spaces into their way of writing a meld."""
    return " ".join(re.findall("..", meld))


def actions(game: dict[str, Any]) -> list[int]:
    """Return a recorded hand's actions, deal included."""
    dealt = parse_cards(game["deal0"]) + parse_cards(game["deal1"]) + parse_cards(game["upcard"])
    return [*map(action_of, dealt), *(action for _, action in game["actions"])]


def replay(game: dict[str, Any]) -> Hand:
    """Play a recorded hand until it is over or its melds are laid; every move is checked."""
    return from_actions(actions(game)).hand()


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
