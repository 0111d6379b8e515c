"""What cannot be answered is refused, and what is left open is chosen exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gin_sim import (
    CardError,
    GinSimError,
    Hand,
    Rules,
    RulesError,
    ScoreSheet,
    arrange,
    best_discards,
    best_discards_many,
    deadwood,
    deadwood_many,
    format_hand,
    legal_knocks,
    load_agent,
    parse_hand,
    price_hand,
    showdown,
    shuffled_deck,
)
from gin_sim.awkward import crowded_cards, random_cards
from gin_sim.cards import cards_of, mask_of
from gin_sim.plan import make_plan
from gin_sim.workers import Workers
from tests.helpers import scaled

KNOCKER = "5s 6s 7s Kc Kd Kh Qc Qd Qh 3c"
DEFENDER = "4s 8s Ad 2d 5h 9d 6c Tc Jh 2h"
ELEVEN = "6d 7d 8d 7c 8c 9c Ah Ad As 5h 2s"
DECK = (1 << 52) - 1


def test_lay_offs_are_chosen_where_only_the_melds_are_given() -> None:
    assert showdown(KNOCKER, DEFENDER, defender_melds="").points == 42
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(scaled(400, 20)):
        knocker = crowded_cards(rng, 10)
        defender = random_cards(rng, 10, DECK & ~knocker)
        try:
            exact = showdown(knocker, defender)
        except CardError:
            continue  # too much deadwood to knock with
        compared += 1
        same = showdown(knocker, defender, defender_melds=list(exact.defender_melds))
        assert same.defender_deadwood == exact.defender_deadwood
        none = showdown(knocker, defender, defender_melds="")
        assert none.defender_deadwood >= exact.defender_deadwood
        if exact.outcome == "gin":
            assert not none.layoffs
    assert compared


def test_the_card_taken_is_never_a_best_discard_unless_it_may_be_thrown() -> None:
    rng = np.random.default_rng(2)
    for i in range(scaled(400, 20)):
        hand = (random_cards, crowded_cards)[i % 2](rng, 11)
        taken = int(rng.choice(cards_of(hand)))
        left = {card: deadwood(hand ^ 1 << card) for card in cards_of(hand) if card != taken}
        least = min(left.values())
        best = mask_of(card for card, points in left.items() if points == least)
        assert best_discards(hand, taken=taken) == (least, best)
        assert best_discards(hand, "openspiel", taken) == best_discards(hand)
    assert best_discards(ELEVEN, taken="5h") == (5, parse_hand("2s"))


def test_oklahoma_needs_the_upcard() -> None:
    for ask in (
        lambda: legal_knocks(ELEVEN, "oklahoma"),
        lambda: showdown(KNOCKER, DEFENDER, "oklahoma"),
        lambda: Rules(oklahoma=True).limit_for(None),
    ):
        with pytest.raises(RulesError, match="give the upcard"):
            ask()
    assert showdown(KNOCKER, DEFENDER, "oklahoma", upcard="4d").points == 42
    with pytest.raises(CardError, match="the limit is 2"):
        showdown(KNOCKER, DEFENDER, "oklahoma", upcard="2d")


@pytest.mark.parametrize("wrong", [99, -1, 1.5, True, "1x"])
def test_what_is_no_card_is_refused(wrong: Any) -> None:
    for ask in (
        lambda: showdown(KNOCKER, DEFENDER, upcard=wrong),
        lambda: legal_knocks(ELEVEN, taken=wrong),
        lambda: best_discards(ELEVEN, taken=wrong),
    ):
        with pytest.raises(CardError, match="is not a card"):
            ask()


def test_rules_may_be_named_everywhere_and_nothing_else_is_taken_for_rules() -> None:
    uses = (
        lambda rules: showdown(KNOCKER, DEFENDER, rules),
        lambda rules: arrange(ELEVEN, rules),
        lambda rules: legal_knocks(ELEVEN, rules),
        lambda rules: Hand.dealt(1, 0, rules),
        ScoreSheet,
        lambda rules: price_hand("gin", 0, 5, rules),
    )
    for use in uses:
        use("classic")
        for wrong in ("nice", {}, {"knock_limit": 9}, 5):
            with pytest.raises(RulesError, match="preset"):
                use(wrong)


@pytest.mark.parametrize("wrong", [-1, 1.9, 10**19, True, None, "5", float("nan")])
def test_points_and_deadwood_are_whole_numbers(wrong: Any) -> None:
    with pytest.raises(RulesError, match="allowed is a whole number 0"):
        ScoreSheet().add(0, wrong)
    with pytest.raises(RulesError, match="allowed is a whole number 0"):
        price_hand("gin", 0, wrong)
    with pytest.raises(RulesError, match="allowed is a whole number 0"):
        price_hand("knock", wrong, 9)


@pytest.mark.parametrize("facts", [("knock", 9, 5), ("undercut", 3, 15)])
def test_facts_that_cannot_be_have_no_price(facts: tuple[str, int, int]) -> None:
    with pytest.raises(RulesError, match="whoever counts less wins"):
        price_hand(*facts)


def test_a_winner_is_a_player() -> None:
    for wrong in (True, 2, -1, "a"):
        with pytest.raises(RulesError, match="allowed is 0, 1 or None"):
            ScoreSheet().add(wrong, 5)  # type: ignore[arg-type]


ODD: list[Any] = [
    None,
    "",
    "2",
    1.5,
    float("nan"),
    True,
    -2,
    10**30,
    [],
    {},
    object(),
    np.array([1]),
]


@pytest.mark.parametrize("odd", ODD, ids=[f"{type(o).__name__}-{i}" for i, o in enumerate(ODD)])
def test_odd_values_get_one_line_and_never_a_raw_exception(odd: Any) -> None:
    hand = Hand.dealt(1, 0)
    uses: list[Callable[[], Any]] = [
        lambda: make_plan(odd),
        lambda: make_plan([odd, "simple"]),
        lambda: make_plan(["simple", "greedy"], hands=odd),
        lambda: make_plan(["simple", "greedy"], games=odd),
        lambda: make_plan(["simple", "greedy"], seed=odd),
        lambda: make_plan(["simple", "greedy"], rules=odd),
        lambda: make_plan(["simple", "greedy"], on_illegal=odd),
        lambda: Workers.choose(jobs=odd),
        lambda: Workers.choose(backend=odd),
        lambda: Workers.choose(scheduler=odd),
        lambda: Workers.choose(backend="dask", scheduler=odd),
        lambda: load_agent(odd),
        lambda: load_agent("early_gin").with_params({"turns": odd}),
        lambda: hand.cards(odd),
        lambda: hand.throw(odd),
        lambda: hand.knock(odd),
        lambda: Hand.dealt(odd, 0),
        lambda: Hand.dealt(0, odd),
        lambda: Hand.from_deck(odd),
        lambda: Hand.from_deck([odd] * 52),
        lambda: deadwood(odd),
        lambda: deadwood_many(odd),
        lambda: best_discards_many(odd),
        lambda: arrange(odd),
        lambda: arrange(ELEVEN, seen=odd),
        lambda: best_discards(odd),
        lambda: legal_knocks(odd),
        lambda: showdown(odd, DEFENDER),
        lambda: showdown(KNOCKER, odd),
        lambda: showdown(KNOCKER, DEFENDER, melds=odd),
        lambda: showdown(KNOCKER, DEFENDER, defender_melds=odd),
        lambda: showdown(KNOCKER, DEFENDER, layoffs=odd),
        lambda: showdown(KNOCKER, DEFENDER, seen=odd),
        lambda: Rules(knock_limit=odd),
        lambda: Rules(oklahoma=odd),
        lambda: Rules(wall=odd),
        lambda: Rules().with_settings({"knock_limit": odd}),
        lambda: Rules(oklahoma=True).limit_for(odd),
        lambda: Rules.preset(odd),
        lambda: shuffled_deck(odd, 0),
        lambda: format_hand(odd),
        lambda: load_agent("early_gin").with_params(odd),
        lambda: Rules().with_settings(odd),
        lambda: make_plan(["simple", "greedy"], keep_hands=odd),
        lambda: price_hand(odd, 0, 5),
    ]
    for use in uses:
        try:
            use()
        except GinSimError as error:
            assert str(error)
            assert "\n" not in str(error)
