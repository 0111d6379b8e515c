"""What a knock would pay: against hands that are known, and against all that may be."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gin_sim import deadwood, load_agent, parse_hand, showdown
from gin_sim.awkward import make_view
from gin_sim.cards import DECK, cards_of, parse_card
from gin_sim.knocking import knock_now
from gin_sim.view import KNOCK
from gin_sim.worlds import gather, weigh
from tests.helpers import ask, scaled

OWN = "2c 3c 4c 8d 8h 8s Ah 2h 3h 5d Kh"


def a_knock(opponent_known: str, stock_left: int, pile: int = 0, **fields: int) -> Any:
    """Return the view of a player who may knock with five, the king thrown."""
    return make_view(
        OWN,
        phase=KNOCK,
        candidate="Kh",
        drawn="Kh",
        stock_left=stock_left,
        pile=pile,
        opponent_known=opponent_known,
        own_turn=6,
        **fields,
    )


@pytest.mark.parametrize(
    "theirs",
    [
        "Ac Ad As Kc Kd Ks 9c 9d 9h Jc",
        "5c 6c 7c Kc Kd Ks 9c 9d 9h Ad",
        "8c 9d Jc Qs Kd 4h 6s 7s Td Tc",
    ],
)
def test_a_hand_that_is_known_is_settled_as_at_the_table(theirs: str) -> None:
    expected = showdown("2c 3c 4c 8d 8h 8s Ah 2h 3h 5d", theirs)
    view = a_knock(theirs, 30)
    knock = knock_now(view, 1, 0, 0)
    sign = 1 if expected.winner == "knocker" else -1
    assert knock.points == sign * expected.points
    assert knock.undercut == (expected.outcome == "undercut")
    assert knock.deadwood == deadwood(theirs)
    assert knock_now(a_knock(theirs, 30, multiplier=2), 1, 0, 0).points == 2 * knock.points


def test_the_mean_is_that_over_all_hands_by_how_well_they_explain_the_play() -> None:
    known = parse_hand("Kc Kd Ks 9c 9d 9h Jc Qs", range(53))
    rest = cards_of(DECK & ~known & ~parse_hand(OWN, range(53)))
    hidden_or_stock = rest[:: len(rest) // 6][:6]
    pile = sum(1 << card for card in rest if card not in hidden_or_stock)
    view = a_knock("Kc Kd Ks 9c 9d 9h Jc Qs", 4)
    view["pile"] = pile
    view["seen"] = int(view["hand"]) | pile | known
    evidence = gather(view)
    total = weights = 0.0
    for few in combinations(hidden_or_stock, 2):
        hand = known | sum(1 << card for card in few)
        weight = float(np.exp(weigh(evidence, hand)))
        found = showdown("2c 3c 4c 8d 8h 8s Ah 2h 3h 5d", hand)
        total += weight * found.points * (1 if found.winner == "knocker" else -1)
        weights += weight
    knock = knock_now(view, scaled(20_000, 1500), 30, 6)
    assert knock.points == pytest.approx(total / weights, abs=0.4 if scaled(100) == 100 else 1.5)


def test_bayes_knocks_when_likely_hands_are_dear_and_not_when_they_are_cheap() -> None:
    bayes = load_agent("bayes").with_params({"waiting": 12, "per_out": 0})
    dear = a_knock("Kc Kd Qs Js Th 9c 9d 7s 6d Qd", 30)
    cheap = a_knock("Ac Ad As Kc Kd Ks 9c 9d 9h Jc", 30)
    assert ask(bayes, "knock", dear)
    assert not ask(bayes, "knock", cheap)
    assert parse_card("Kh") == int(dear["candidate"])
