"""What the opponent may hold and use, against every hand that it could have."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gin_sim import format_hand, parse_hand
from gin_sim.awkward import EVERY_MELD, Event, Rng, make_view, points, random_cards
from gin_sim.belief import Belief, around, both_held, held, leaning, read_opponent
from gin_sim.cards import DECK, cards_of, mask_of, parse_card
from gin_sim.danger import danger
from gin_sim.view import THREW
from tests.helpers import scaled

TRIPLES = [meld for meld in EVERY_MELD if meld.bit_count() == 3]


def late_view(rng: Rng) -> Any:
    """Return a decision late in a hand, with few hands that the opponent could have."""
    hand = random_cards(rng, 11)
    known = random_cards(rng, int(rng.integers(5, 10)), DECK & ~hand)
    hidden = 10 - known.bit_count()
    rest = DECK & ~hand & ~known
    unseen = random_cards(rng, hidden + int(rng.integers(1, 9)), rest)
    dead = rest & ~unseen
    return make_view(hand, pile=format_hand(dead), opponent_known=format_hand(known))


def possible_hands(belief: Belief) -> list[int]:
    """Return every hand that the opponent could have."""
    hidden = 10 - belief.known.bit_count()
    return [belief.known | mask_of(c) for c in combinations(cards_of(belief.unseen), hidden)]


def test_without_a_leaning_every_hand_is_as_likely() -> None:
    rng = np.random.default_rng(1)
    for _ in range(scaled(40, 4)):
        view = late_view(rng)
        belief = read_opponent(view, 1.0, 1.0)
        assert belief.unseen == DECK & ~int(view["seen"])
        hands = possible_hands(belief)
        for card in range(52):
            share = np.mean([hand >> card & 1 for hand in hands])
            assert held(belief, card) == pytest.approx(share)
        for a, b in rng.choice(52, (20, 2)).tolist():
            if a != b:
                share = np.mean([hand >> a & hand >> b & 1 for hand in hands])
                assert both_held(belief, a, b) == pytest.approx(share)


def test_danger_is_what_the_opponent_can_make_of_a_card_on_average() -> None:
    rng = np.random.default_rng(2)
    for _ in range(scaled(40, 4)):
        view = late_view(rng)
        belief = read_opponent(view, 1.0, 1.0)
        hands = possible_hands(belief)
        for card in cards_of(int(view["hand"])):
            melds = [m for m in TRIPLES if m >> card & 1]
            made = [[m for m in melds if (m & ~(1 << card)) & ~hand == 0] for hand in hands]
            found = danger(belief, card)
            assert found.melds == pytest.approx(np.mean([len(m) for m in made]))
            assert found.points == pytest.approx(np.mean([sum(map(points, m)) for m in made]))
            assert found.melds >= np.mean([bool(m) for m in made]) - 1e-12


def test_dead_cards_make_a_throw_safe_and_known_ones_make_it_certain() -> None:
    hand = "7c 7d 2c 3s Kh Ks Jd 9h Ac 5s 4d"
    seven = parse_card("7c")
    dead = read_opponent(make_view(hand, pile="7h 7s 6c 8c"), 2.0, 0.5)
    assert danger(dead, seven) == (0, 0)
    sure = read_opponent(make_view(hand, opponent_known="8c 9c"), 2.0, 0.5)
    assert danger(sure, seven).melds >= 1
    assert danger(sure, seven).points >= 24
    # One dead card more is never more dangerous.
    open_ = danger(read_opponent(make_view(hand), 2.0, 0.5), seven)
    less = danger(read_opponent(make_view(hand, pile="6c"), 2.0, 0.5), seven)
    assert 0 < less.melds < open_.melds


def test_what_it_took_is_liked_and_what_it_threw_or_left_is_not() -> None:
    thrown = parse_card("Qh")
    view = make_view(
        "Ac 2c 3c 4d 5d 6h 9s Ts Kc Kd 2h",
        pile="Qh 3d",
        opponent_known="7s",
        history=[Event(1, THREW, thrown)],
        opponent_refused=1 << parse_card("3d"),
    )
    belief = read_opponent(view, 2.0, 0.5)
    assert belief.liked == parse_hand("7c 7d 7h 5s 6s 8s")  # 9s is our own
    assert belief.disliked == parse_hand("Qc Qd Qs Jh Kh 3h 3s 2d")
    card = {name: parse_card(name) for name in ("7c", "Qc", "Jc", "7s", "Ac")}
    assert [leaning(belief, card[n]) for n in ("7c", "Jc", "Qc", "Ac")] == [2, 1, 0.5, 0]
    assert held(belief, card["7s"]) == 1
    assert held(belief, card["Ac"]) == 0
    assert held(belief, card["7c"]) == pytest.approx(2 * held(belief, card["Jc"]))
    for bad in (-1.0, -100.0):  # no chance is below nought
        assert held(read_opponent(view, bad, bad), card["7c"]) == 0
    for much in (50.0, 1e9):  # and none above one
        assert held(read_opponent(view, much, much), card["7c"]) == 1


def test_around_a_card_are_its_rank_and_its_neighbours() -> None:
    assert around(1 << parse_card("7s")) == parse_hand("7c 7d 7h 6s 8s")
    assert around(1 << parse_card("Ac")) == parse_hand("Ad Ah As 2c")
    assert around(1 << parse_card("Kd")) == parse_hand("Kc Kh Ks Qd")
    assert around(0) == 0


def test_nothing_hidden_is_left_when_all_is_known() -> None:
    known = "3h 4h 5h 6d 7d 8d Qc Qd Qh Qs"
    view = make_view("Ac 2c 3c 4d 5d 6h 9s Ts Kc Kd 2h", opponent_known=known)
    belief = read_opponent(view, 2.0, 0.5)
    assert (belief.one, belief.two) == (0, 0)
    assert danger(belief, parse_card("2h")).melds == 1
