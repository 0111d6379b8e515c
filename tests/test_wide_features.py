"""The wider view of a choice: what is added, and that it takes nothing away."""

from __future__ import annotations

import numpy as np
import pytest

from gin_sim import features, load_agent, shuffled_deck
from gin_sim.awkward import make_view
from gin_sim.cards import cards_of, parse_card
from gin_sim.features import KNOCKS, TAKES, about_throw, knock_after, weigh
from gin_sim.view import DREW, HIDDEN_CARD, PASSED, THREW, TOOK
from gin_sim.wide_features import (
    N_WIDE,
    WIDE_KNOCKS,
    WIDE_NAMES,
    WIDE_TAKES,
    ThrowLater,
    ending,
    knock_later,
    knock_score,
    knocks_by,
    last_two_thrown,
    take_score,
    takes_by,
    throw_later,
    throw_score,
    throws_by,
)
from tests.helpers import scaled, table

LEARNED = load_agent("learned").params
NARROW = np.array(list(LEARNED.values()))
NOTHING_ADDED = np.array([LEARNED.get(name, 0.0) for name in WIDE_NAMES])


def test_every_weight_has_a_name_that_the_agent_knows() -> None:
    assert len(WIDE_NAMES) == len(set(WIDE_NAMES)) == N_WIDE
    assert tuple(load_agent("tuned").params) == WIDE_NAMES
    assert WIDE_NAMES[WIDE_TAKES] == "take_always"
    assert WIDE_NAMES[WIDE_KNOCKS] == "knock_always"
    assert set(LEARNED) < set(WIDE_NAMES)


def test_where_nothing_is_added_it_plays_as_the_narrow_view_does() -> None:
    learned = load_agent("learned")
    compared = dict.fromkeys(("draw", "discard", "knock"), 0)
    for deal in range(scaled(100, 3)):
        for asked in table(shuffled_deck(8, deal), key=deal).play(learned, learned):
            view = asked.view
            compared[asked.name] += 1
            if asked.name == "discard":
                assert throws_by(view, NOTHING_ADDED) == asked.answer
                for card in cards_of(int(view["legal_discards"])):
                    narrow = weigh(about_throw(view, card), NARROW, 0)
                    assert throw_score(view, card, NOTHING_ADDED) == pytest.approx(narrow)
            elif asked.name == "knock":
                assert knocks_by(view, NOTHING_ADDED) == asked.answer
                card = int(view["candidate"])
                narrow = weigh(knock_after(view, card), NARROW, KNOCKS)
                assert knock_score(view, card, NOTHING_ADDED) == pytest.approx(narrow)
            else:
                assert takes_by(view, NOTHING_ADDED) == asked.answer
                narrow = weigh(features.about_take(view), NARROW, TAKES)
                assert take_score(view, NOTHING_ADDED) == pytest.approx(narrow)
    assert min(compared.values()) > scaled(100, 1)


def test_what_is_added_grows_with_the_turns() -> None:
    """In the first turn nothing is added to a throw; after twenty, what was there before."""
    hand = "2c 3c 4c 8d 8h 9s Ah 2h Tc 6d Kh"
    card = parse_card("Tc")
    for turn, late in ((0, 0.0), (10, 0.5), (20, 1.0)):
        view = make_view(hand, drawn="Kh", stock_left=25, turn=turn)
        about = about_throw(view, card)
        assert about.melds > 0
        expected = [late * part for part in (about.melds, about.points, about.best, 0.0)]
        expected += [0.0, 0.0]  # far from the end
        assert list(throw_later(view, about)) == pytest.approx(expected)
        weights = np.zeros(N_WIDE)
        first = WIDE_TAKES - len(ThrowLater._fields)
        weights[first : first + 2] = 1, 10
        assert throw_score(view, card, weights) == pytest.approx(expected[0] + 10 * expected[1])


def test_what_is_added_grows_where_the_stock_ends() -> None:
    hand = "2c 3c 4c 8d 8h 8s Ah 2h 3h 5d Kh"
    king = parse_card("Kh")
    for stock_left, near in ((31, 0.0), (12, 0.0), (11, 0.1), (7, 0.5), (2, 1.0)):
        view = make_view(hand, drawn="Kh", stock_left=stock_left, turn=10)
        assert ending(view) == pytest.approx(near)
        about, knock = about_throw(view, king), knock_after(view, king)
        assert (about.deadwood, about.may_knock) == (0.5, 1.0)
        assert throw_later(view, about)[-2:] == pytest.approx((near * 0.5, near))
        expected = (near, near * 0.5, near * knock.gin_outs)
        assert knock_later(view, knock)[-3:] == pytest.approx(expected)
    assert knock.gin_outs > 0


def test_the_opponents_last_throws_are_read_from_what_was_seen() -> None:
    def entry(actor: int, what: int, card: str | None) -> int:
        number = HIDDEN_CARD if card is None else parse_card(card)
        return actor << 8 | what << 6 | number

    seen = [
        entry(0, PASSED, "5d"),
        entry(1, PASSED, "5d"),
        entry(0, DREW, "Qs"),
        entry(0, THREW, "Qs"),
        entry(1, DREW, None),
        entry(1, THREW, "Kd"),
        entry(0, TOOK, "Kd"),
        entry(0, THREW, "2d"),
        entry(1, TOOK, "2d"),
        entry(1, THREW, "4s"),
        entry(0, DREW, "Ac"),
        entry(0, THREW, "Ac"),
    ]
    expected = [(10, 10)] * 5 + [(10, 10)] * 4 + [(4, 10)] * 3
    for n, values in enumerate(expected, 1):
        view = make_view("2c 3c 4c 8d 8h 9s Ah 2h Tc 6d", upcard="Kc", turn=20)
        view["history"][: len(seen)] = seen
        view["history_len"] = n
        assert last_two_thrown(view) == values
        about = knock_after(
            make_view("2c 3c 4c 8d 8h 9s Ah 2h Tc 6d Kh", drawn="Kh"), parse_card("Kh")
        )
        later = knock_later(view, about)
        assert later.thrown == values[0] / 10
        assert later.least_thrown == min(values) / 10
        assert (later.late_thrown, later.late_late) == (later.thrown, 1.0)
        assert later.late_hope == about.hope
