"""Recorded hands of OpenSpiel, replayed move for move under the `openspiel` preset."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gin_sim import ResultsError, best_discards, format_hand
from gin_sim.compiled import JIT_DISABLED
from tests import spiel

DATA = Path(__file__).parent / "data" / "openspiel_games.jsonl.gz"


def games() -> list[dict[str, Any]]:
    with gzip.open(DATA, "rt") as file:
        return [json.loads(line) for line in file][:: 8 if JIT_DISABLED else 1]


def test_all_ways_to_end_are_there() -> None:
    ends = Counter(game["end"] for game in games())
    assert set(ends) == {"knock", "gin", "undercut", "tie", "wall", "repeated_upcard"}
    if not JIT_DISABLED:
        assert min(ends.values()) >= 26


@pytest.mark.parametrize("game", games(), ids=lambda game: f"{game['end']}-{game['id']}")
def test_a_recorded_hand_comes_to_the_same_end(game: dict[str, Any]) -> None:
    hand = spiel.replay(game)
    facts = hand.facts()
    assert facts["ender"] == game["knocker"]
    assert facts["stock_left"] == game["stock_left"]
    result = spiel.settled(game, hand)
    assert spiel.returns(game, result) == game["returns"]
    if result is None:
        assert facts["outcome"] == "dead"
        return
    left = [result.defender_deadwood, result.defender_deadwood]
    left[game["knocker"]] = result.knocker_deadwood
    assert left == game["final_deadwood"]
    # Their players sometimes lay down or lay off worse than they could; ours never do.
    assert facts["knock_deadwood"] <= result.knocker_deadwood
    if result.knocker_deadwood == facts["knock_deadwood"] == 0:
        assert facts["outcome"] == "gin"


def test_a_recorded_hand_with_a_move_changed_is_refused() -> None:
    game = next(g for g in games() if g["end"] == "knock")
    broken = json.loads(json.dumps(game))
    place = next(i for i, (who, a) in enumerate(broken["actions"]) if who >= 0 and a < 52)
    broken["actions"][place][1] = (broken["actions"][place][1] + 1) % 52
    with pytest.raises(ResultsError, match="action"):
        spiel.replay(broken)


def test_a_knock_that_openspiel_allows_is_legal_here() -> None:
    """The other way round does not hold: it counts eleven cards too high (see the traps)."""
    for game in games()[::4]:
        hand = spiel.replay(game)
        if game["knocker"] is None:
            continue
        ten = hand.cards(game["knocker"])
        eleven = ten | 1 << hand.upcard if hand.upcard is not None else ten
        assert best_discards(eleven)[0] <= hand.knock_limit, format_hand(eleven)
