"""Faults that public programs have had in turn order, the pile and the wall."""

from __future__ import annotations

import pytest

from gin_sim import Hand, Rules, RulesError, agent, parse_hand, shuffled_deck
from gin_sim.awkward import stack_deck
from gin_sim.cards import card_name, parse_card
from gin_sim.compiled import JIT_DISABLED
from gin_sim.registry import Params
from gin_sim.rules import PRESETS
from gin_sim.view import PHASES, View
from tests.helpers import AGENTS, Decision, at_wall, play_rows, scaled, table

FIFTIETH = Rules(wall="50th_card")


def start(rules: Rules | None = None, **cards: str) -> Hand:
    return Hand.from_deck(stack_deck(**cards), rules)


def test_nobody_draws_from_the_stock_while_the_upcard_is_offered() -> None:
    hand = start()
    assert (hand.seat, hand.legal_moves()) == (0, ["take", "pass"])
    hand.pass_()
    assert (hand.seat, hand.legal_moves()) == (1, ["take", "pass"])
    for move in (hand.draw, lambda: hand.throw("Ah"), lambda: hand.knock("Ah")):
        with pytest.raises(RulesError, match=r"not legal for seat 1: take, pass"):
            move()


def test_after_two_passes_the_non_dealer_has_drawn_from_the_stock() -> None:
    hand = start(stock="Ks")
    hand.pass_()
    hand.pass_()
    assert (hand.seat, hand.phase, hand.stock_left) == (0, "discard", 30)
    assert hand.cards(0) >> parse_card("Ks") & 1
    with pytest.raises(RulesError, match="'take' is not legal"):
        hand.take()


def test_the_dealer_may_take_the_upcard_that_was_passed() -> None:
    hand = start(upcard="Ks")
    hand.pass_()
    hand.take()
    assert (hand.seat, hand.phase, hand.stock_left) == (1, "discard", 31)


def test_a_card_taken_from_the_pile_is_not_thrown_in_the_same_turn() -> None:
    melded = "Ac 2c 3c 7d 8d 9d Jc Js Jd 5s"
    hand = start(non_dealer=melded, upcard="Kh")
    hand.take()
    assert "throw Kh" not in hand.legal_moves()
    assert [card_name(c) for c in hand.legal_knocks()] == ["5s"]
    hand.knock("5s")
    assert hand.facts()["knock_deadwood"] == 10
    # From the stock it may go at once, and with the option from the pile too.
    drawn = start(non_dealer=melded, stock="Kh")
    drawn.pass_()
    drawn.pass_()
    assert "throw Kh" in drawn.legal_moves()
    allowed = start(Rules(may_throw_taken=True), non_dealer=melded, upcard="Kh")
    allowed.take()
    assert {"throw Kh", "knock Kh"} <= set(allowed.legal_moves())


def by_phase(asked: list[Decision]) -> list[tuple[int, str]]:
    return [(one.seat, PHASES[int(one.view["phase"])]) for one in asked]


@pytest.mark.parametrize("name", list(AGENTS))
@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_hand_opens_in_order_and_keeps_the_taken_card(preset: str, name: str) -> None:
    """In whole hands of every agent: who is asked what, and what may be thrown."""
    rules = Rules.preset(preset)
    for deal in range(scaled(12, 2)):
        here = table(shuffled_deck(14, deal), rules, key=deal)
        upcard = here.hand.upcard
        asked = here.play(AGENTS[name], AGENTS["random"])
        order = by_phase(asked)
        assert order[0] == (0, "upcard")
        n_offers = [phase for _, phase in order].count("upcard")
        if asked[0].answer:
            assert n_offers == 1
        else:
            assert order[1] == (1, "upcard")
            assert n_offers == 2
        if n_offers == 2 and not asked[1].answer and len(asked) > 2:
            # Both passed: the next card is from the stock, the non-dealer's.
            first = asked[2]
            assert (first.seat, int(first.view["taken"])) == (0, -1)
            assert int(first.view["drawn"]) != upcard
        for one in asked:
            view = one.view
            assert int(view["knock_limit"]) == rules.limit_for(upcard)
            assert int(view["stock_left"]) >= 2
            assert int(view["hand"]).bit_count() == (11 if one.name != "draw" else 10)
            if one.name == "discard" and PHASES[int(view["phase"])] == "discard":
                legal, taken = int(view["legal_discards"]), int(view["taken"])
                assert legal & ~int(view["hand"]) == 0
                assert legal >> one.answer & 1
                if taken >= 0 and not rules.may_throw_taken:
                    assert not legal >> taken & 1
                elif rules.wall != "50th_card":
                    assert legal == int(view["hand"])


ACTOR = "As 2s 3s 4s 5s 6s 7s 8s Qh Kh"
OTHER = "9s Ts Js Qs Ks Ac 2c 3c 8h Th"


def test_at_the_wall_the_hand_is_dead_or_has_one_last_chance() -> None:
    dead = at_wall(ACTOR, OTHER, "Jh", Rules())
    assert (dead.hand.phase, dead.hand.facts()["outcome"], dead.hand.stock_left) == (
        "over",
        "dead",
        2,
    )
    last = at_wall(ACTOR, OTHER, "Jh", FIFTIETH).hand
    assert (last.phase, last.legal_moves()) == ("last", ["take", "pass"])
    last.take()
    # Eleven melded cards: any throw that keeps gin, and nothing that ends the turn otherwise.
    assert all(move.startswith("knock") for move in last.legal_moves())
    last.knock("8s")
    facts = last.facts()
    assert (facts["outcome"], facts["winner"], facts["points"]) == ("gin", 1, 25 + 18)
    rules = Rules(wall="50th_card", big_gin_bonus=31)
    big = at_wall(ACTOR, OTHER, "Jh", rules).hand
    big.take()
    facts = big.facts()
    assert (facts["outcome"], facts["winner"], facts["points"]) == ("big_gin", 1, 31 + 18)
    passed = at_wall(ACTOR, OTHER, "Jh", FIFTIETH).hand
    passed.pass_()
    assert passed.facts()["outcome"] == "dead"


def test_the_last_chance_is_not_offered_where_no_knock_would_follow() -> None:
    loose = "As 3d 5c 7s 9h Jc Kd 2h 4s 6c"
    hand = at_wall(loose, "Ac 3s 5d 7h 9c Js Kc 2d 4h 6s", "Qh", FIFTIETH).hand
    assert hand.facts()["outcome"] == "dead"


@pytest.mark.parametrize("name", list(AGENTS))
def test_every_agent_comes_through_the_last_chance(name: str) -> None:
    table = at_wall(ACTOR, OTHER, "Jh", FIFTIETH)
    table.play(AGENTS[name], AGENTS[name])
    facts = table.hand.facts()
    assert facts["outcome"] in ("gin", "knock", "undercut", "dead")
    if name != "random":
        assert (facts["outcome"], facts["points"]) == ("gin", 43)


@agent("grabber", source="tests", compiled=not JIT_DISABLED)
class Grabber:
    """Always takes the pile and throws its highest card, so two of them swap for ever."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return True

    @staticmethod
    def discard(view: View, params: Params) -> int:
        card = 51
        while not view.legal_discards >> card & 1:
            card -= 1
        return card

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return False


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_endless_swapping_ends_dead(limit: int) -> None:
    rules = Rules(pile_draw_limit=limit)
    rows = play_rows(Grabber, Grabber, rules, 1, scaled(100, 3))
    dead = rows[rows["outcome"] == 0]
    assert len(dead) > len(rows) // 2
    # The opening upcard was taken too, and the draw with the number of the limit was not.
    assert (dead["turns"] == limit).all()
    assert (dead["stock_left"] == 31).all()


def test_cards_thrown_back_end_the_hand() -> None:
    rules = Rules(may_throw_taken=True)
    hand = start(rules, upcard="Ks")
    hand.take()
    hand.throw("Ks")
    assert hand.phase == "draw"
    hand.take()
    hand.throw("Ks")
    assert hand.facts()["outcome"] == "dead"
    free = start(Rules(may_throw_taken=True, thrown_back_limit=None), upcard="Ks")
    for _ in range(10):
        free.take()
        free.throw("Ks")
    assert free.phase == "draw"


def test_a_new_stock_holds_all_but_the_hands_and_the_upcard() -> None:
    hand = at_wall(ACTOR, OTHER, "Jh", Rules(wall="reshuffle")).hand
    assert (hand.phase, hand.stock_left, hand.upcard) == ("draw", 31, parse_card("Jh"))
    view = hand.view()
    assert view.pile == 1 << parse_card("Jh")
    assert view.seen == parse_hand(ACTOR) | view.pile | view.opponent_known
    hand.draw()
    assert hand.stock_left == 30


def test_a_hand_with_new_stocks_ends_by_the_turn_limit() -> None:
    rules = Rules(wall="reshuffle", knock_limit=0, turn_limit=120)
    rows = play_rows(AGENTS["random"], AGENTS["random"], rules, 2, scaled(200, 2))
    assert rows["turns"].max() <= 120
    assert JIT_DISABLED or (rows["turns"] == 120).any()
    assert set(rows["outcome"][rows["turns"] == 120].tolist()) <= {0, 3}


def test_the_table_starts_with_ten_cards_each_and_one_turned_up() -> None:
    hand = Hand.dealt(seed=1, deal=0)
    assert [hand.cards(seat).bit_count() for seat in (0, 1)] == [10, 10]
    assert (hand.stock_left, hand.upcard is not None) == (31, True)
