"""Faults that public programs have had in variants of the rules."""

from __future__ import annotations

import dataclasses

import pytest

from gin_sim import Hand, Rules, RulesError, legal_knocks
from gin_sim.awkward import stack_deck
from gin_sim.cards import card_name, parse_card
from gin_sim.compiled import JIT_DISABLED
from gin_sim.rules import PRESETS
from tests.helpers import AGENTS, play_rows, scaled

SIX_LEFT = "As 2s 3s 7h 8h 9h Kc Kd Kh 5c"


def test_the_upcard_sets_the_limit_over_the_whole_deck() -> None:
    rules = Rules.preset("oklahoma")
    for card in range(52):
        value = min(card % 13 + 1, 10)
        assert rules.limit_for(card) == (0 if value == 1 else value)
        assert Rules(oklahoma=True, oklahoma_ace="one").limit_for(card) == value
        assert Rules().limit_for(card) == 10
    assert rules.limit_for(parse_card("Qd")) == 10


def test_the_limit_stays_that_of_the_first_upcard() -> None:
    hand = Hand.from_deck(
        stack_deck(non_dealer=SIX_LEFT, upcard="4d", stock="6c Kd Ks".replace("Kd ", "")),
        Rules.preset("oklahoma"),
    )
    hand.pass_()
    hand.pass_()
    assert hand.knock_limit == 4
    assert hand.legal_knocks() == []
    hand.throw("6c")
    hand.draw()
    hand.throw("Ks")
    assert (hand.knock_limit, hand.upcard) == (4, parse_card("Ks"))
    assert "knock_limit = 10" in "\n".join(Rules().describe())


def test_with_a_limit_of_nothing_only_gin_ends_a_hand() -> None:
    one_left = "As 2s 3s 7h 8h 9h Kc Kd Kh Ac Qd"
    assert legal_knocks(one_left, Rules.preset("straight")) == {}
    assert legal_knocks(one_left)[parse_card("Qd")] == 1
    gin = one_left.replace("Ac", "Ks")
    assert legal_knocks(gin, Rules.preset("straight")) == {parse_card("Qd"): 0}
    rows = play_rows(
        AGENTS["simple"], AGENTS["gin_only"], Rules.preset("straight"), 1, scaled(300, 2)
    )
    assert set(rows["outcome"].tolist()) <= {0, 3}


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_plays_and_shows_in_its_rows(name: str) -> None:
    rules = Rules.preset(name)
    rows = play_rows(AGENTS["simple"], AGENTS["gin_only"], rules, 2, scaled(400, 2))
    assert (rows["knock_limit"] == [rules.limit_for(int(c)) for c in rows["first_upcard"]]).all()
    assert (rows["knock_deadwood"] <= rows["knock_limit"]).all()
    if name == "openspiel" and not JIT_DISABLED:
        ties = (rows["outcome"] == 1) & (rows["knock_deadwood"] == rows["defender_deadwood"])
        assert ties.any()
        assert (rows["points_a"][ties] == 0).all()


def test_big_gin_comes_up_and_pays() -> None:
    rules = Rules.preset("big-gin")
    hand = Hand.from_deck(
        stack_deck(non_dealer="2s 3s 4s 5h 6h 7h 8h 9c 9d 9h", upcard="9s"), rules
    )
    hand.take()
    facts = hand.facts()
    assert (facts["outcome"], facts["winner"], facts["turns"]) == ("big_gin", 0, 0)
    if not JIT_DISABLED:
        rows = play_rows(AGENTS["gin_only"], AGENTS["gin_only"], rules, 3, 20_000)
        big = rows[rows["outcome"] == 4]
        assert len(big) > 0
        assert (abs(big["points_a"]) == 31 + big["defender_deadwood"]).all()
    # Without it, eleven melded cards are ordinary gin by a throw that keeps gin.
    eleven = "2s 3s 4s 5h 6h 7h 8h 9c 9d 9h 9s"
    knocks = legal_knocks(eleven, Rules(), taken="9s")
    assert [card_name(c) for c, left in knocks.items() if left == 0] == [
        "9c",
        "9d",
        "5h",
        "8h",
        "9h",
    ]


BAD = {
    "knock_limit": [-1, 11, 2.5, "10", True, None],
    "gin_bonus": [-1, None, "25"],
    "big_gin_bonus": [-1, "none"],
    "longest_meld": [3, 4, 14, 0],
    "wall": ["alive", 1, None],
    "oklahoma": [1, "yes", None],
    "players": [1, 3, 5],
    "hand_size": [7, 11],
    "next_dealer": ["nobody"],
    "turn_limit": [0, 201],
    "pile_draw_limit": [0, None],
    "target": [0, -100],
}


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, vs in BAD.items() for v in vs])
def test_a_rule_out_of_range_names_field_value_and_what_is_allowed(
    field: str, value: object
) -> None:
    with pytest.raises(RulesError) as caught:
        Rules(**{field: value})  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{field} = {value!r}: allowed is ")
    assert isinstance(caught.value, ValueError)


def test_rules_are_frozen_and_come_back_from_their_values() -> None:
    for name in PRESETS:
        rules = Rules.preset(name)
        assert Rules(**rules.as_dict()) == rules
        with pytest.raises(dataclasses.FrozenInstanceError):
            rules.gin_bonus = 1  # type: ignore[misc]
        texts = {key: str(value) for key, value in rules.as_dict().items()}
        assert Rules().with_settings(texts) == rules


def test_the_presets_are_what_their_sources_say() -> None:
    standard = Rules.standard()
    assert (standard.knock_limit, standard.gin_bonus, standard.undercut_bonus) == (10, 25, 25)
    assert (standard.target, standard.game_bonus, standard.line_bonus) == (100, 100, 25)
    assert (standard.dead_hand, standard.next_dealer) == ("same_dealer", "alternate")
    assert Rules.preset("poozee") == dataclasses.replace(standard, dead_hand="alternate")
    casual = Rules.preset("casual")
    assert (casual.knock_limit, casual.gin_bonus, casual.undercut_bonus) == (9, 30, 10)
    assert (casual.big_gin_bonus, casual.longest_meld) == (50, 5)
    classic = Rules.preset("classic")
    assert (classic.gin_bonus, classic.undercut_bonus, classic.line_bonus) == (20, 10, 20)
    eaai = Rules.preset("eaai")
    assert (eaai.game_bonus, eaai.line_bonus, eaai.shutout) == (0, 0, "none")
    spiel = Rules.preset("openspiel")
    assert (spiel.undercut_on_tie, spiel.may_throw_taken, spiel.wall) == (False, True, "50th_card")
    assert Rules.preset("Big_Gin") == Rules(big_gin_bonus=31)
