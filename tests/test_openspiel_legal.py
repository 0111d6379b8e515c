"""Hands of OpenSpiel with its legal actions at every decision, beside our legal moves.

Some are of the recorded hands: the wall, knocks with the last upcard, long lay-offs.  The
others were made with stacked decks for what two ordinary players do not come across: fifty
draws from the pile, and eleven cards on which OpenSpiel refuses a legal knock.
"""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gin_sim import Hand, best_discards
from gin_sim.cards import parse_cards
from gin_sim.compiled import JIT_DISABLED
from gin_sim.interop.openspiel import DRAW, KNOCK, PASS, RULES, TAKE, card_of, legal_actions
from tests import spiel

DATA = Path(__file__).parent / "data" / "openspiel_legal.jsonl.gz"


def games() -> list[dict[str, Any]]:
    with gzip.open(DATA, "rt") as file:
        return [json.loads(line) for line in file][:: 8 if JIT_DISABLED else 1]


def start(game: dict[str, Any]) -> Hand:
    places = ("deal0", "deal1", "upcard", "stock")
    return Hand.from_deck([c for place in places for c in parse_cards(game[place])], RULES)


def refused_knocks(game: dict[str, Any]) -> int:
    """Play a hand, hold legal moves against theirs; return how often only a knock differs."""
    hand = start(game)
    legal = iter(game["legal"])
    forced_draw = knocking = False
    refused = 0
    for actor, action in game["actions"]:
        if actor < 0:
            assert hand.cards(hand.seat) >> card_of(action) & 1
            continue
        theirs = set(next(legal))
        if hand.phase == "over":
            # What is left lays melds and cards down, or passes at the wall.
            assert knocking or theirs == {PASS}
            continue
        ours = {DRAW} if forced_draw else legal_actions(hand, knocking)
        if ours != theirs:
            # Their count of eleven cards can be too high; it refuses the knock.
            assert ours - theirs == {KNOCK}
            assert best_discards(hand.cards(actor))[0] <= hand.knock_limit
            refused += 1
        if action == KNOCK:
            knocking = True
            if hand.phase == "last":
                hand.take()
        elif action == PASS:
            hand.pass_()
            forced_draw = hand.phase == "discard"
        elif action == TAKE:
            hand.take()
        elif action == DRAW:
            if not forced_draw:
                hand.draw()
            forced_draw = False
        elif knocking:
            hand.knock(card_of(action))
        else:
            hand.throw(card_of(action))
    facts = hand.facts()
    assert facts["ender"] == game["knocker"]
    assert facts["stock_left"] == game["stock_left"]
    assert spiel.returns(game, spiel.settled(game, hand)) == game["returns"]
    return refused


@pytest.mark.parametrize("game", games(), ids=lambda game: f"{game['kind']}-{game['id']}")
def test_the_same_moves_are_legal(game: dict[str, Any]) -> None:
    refused = refused_knocks(game)
    if game["kind"] == "knock10_refused":
        assert refused >= 1
    elif game["kind"] == "recorded":
        assert refused == 0


def test_every_kind_is_there() -> None:
    kinds = Counter(game["kind"] for game in games())
    assert set(kinds) == {
        "recorded",
        "50 pile draws",
        "knock10_refused",
        "gin_missed",
        "value_only",
    } or (JIT_DISABLED and "knock10_refused" in kinds)


def test_the_fiftieth_draw_from_the_pile_ends_the_hand() -> None:
    """The opening upcard, which the first player took, is not one of the fifty."""
    for game in games():
        if game["kind"] == "50 pile draws":
            assert [a for _, a in game["actions"]].count(TAKE) == 1 + RULES.pile_draw_limit
