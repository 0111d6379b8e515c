"""Faults that public programs have had in scoring hands and games."""

from __future__ import annotations

import dataclasses
import io
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gin_sim import Rules, RulesError, ScoreSheet, price_hand, showdown, shuffled_deck
from gin_sim.records import hands_table
from gin_sim.rules import PRESETS
from gin_sim.scoring import OUTCOMES
from tests.helpers import AGENTS, play_game_rows, play_rows, scaled, table

FIVE = "Ac 2c 3c 7d 8d 9d Jh Qh Kh 5s"
SETS = "2h 3h 4h 6c 6s 6h Tc Td Ts"
GIN = ("2s 3s 4s 5h 6h 7h 8c 8d 8h 8s", "9s Ts Js Qc Qd Qh 2d 3d 4c 5c")
BIG = ("2s 3s 4s 5h 6h 7h 8h 9c 9d 9h 9s", "Ts Js Qs Kc Kd Kh Ad 2d 3c 4c")


def test_gin_charges_the_deadwood_and_not_the_whole_hand() -> None:
    assert showdown(*GIN).points == 25 + 14
    for bonus in (50, 31, 25):
        found = showdown(*BIG, Rules(big_gin_bonus=bonus))
        assert (found.outcome, found.points) == ("big_gin", bonus + 10)


def test_equal_counts_are_an_undercut_or_nothing_as_the_rules_say() -> None:
    found = showdown(FIVE, f"{SETS} 5d")
    assert (found.outcome, found.winner, found.points) == ("undercut", "defender", 25)
    found = showdown(FIVE, f"{SETS} 5d", Rules(undercut_on_tie=False))
    assert (found.outcome, found.winner, found.points) == ("knock", None, 0)


def test_a_defender_with_nothing_left_undercuts_a_knock_and_never_gin() -> None:
    found = showdown(FIVE, f"{SETS} Th")
    assert (found.outcome, found.points) == ("undercut", 25 + 5)
    gin = "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh"
    found = showdown(gin, "2h 3h 4h 6c 6s 6h 5c 5d 5s 5h")
    assert (found.outcome, found.winner, found.points) == ("gin", "knocker", 25)


def test_the_game_goes_to_who_scored_and_not_to_who_was_on_turn() -> None:
    sheet = ScoreSheet()
    sheet.add(0, 90)
    sheet.add(1, 85)
    sheet.add(1, price_hand("undercut", 8, 3))
    column = sheet.columns[0]
    assert column.score == (90, 115)
    assert (column.winner, sheet.over) == (1, True)
    assert column.totals == (90 + 25, 115 + 2 * 25 + 100)


def test_boxes_are_settled_net() -> None:
    sheet = ScoreSheet(Rules(target=134))
    for player, points in ((0, 60), (1, 20), (0, 40), (0, 34)):
        sheet.add(player, points)
    assert sheet.columns[0].score == (134, 20)
    assert sheet.margin == 114 + 100 + 50


@pytest.mark.parametrize(
    ("shutout", "total"), [("none", 105 + 25 + 100), ("bonus", 330), ("double", 460)]
)
def test_a_shutout_earns_what_the_rules_say(shutout: str, total: int) -> None:
    sheet = ScoreSheet(Rules(shutout=shutout))
    sheet.add(0, 105)
    assert sheet.columns[0].totals == (total, 0)


def test_boxes_at_once_count_towards_the_target() -> None:
    at_end, at_once = (ScoreSheet(Rules(line_bonus_when=when)) for when in ("end", "at_once"))
    for sheet in (at_end, at_once):
        sheet.add(0, 80)
    assert (at_end.over, at_once.over) == (False, True)
    assert at_once.columns[0].score == (105, 0)


def test_a_dead_hand_scores_nothing_and_a_finished_game_takes_no_more() -> None:
    sheet = ScoreSheet()
    sheet.add(None, 0)
    assert sheet.columns[0].totals == (0, 0)
    for wrong in ((2, 5), (0, -5), (None, 5)):
        with pytest.raises(RulesError):
            sheet.add(*wrong)
    sheet.add(1, 100)
    with pytest.raises(RulesError, match="the game is over"):
        sheet.add(1, 1)


def test_losses_survive_as_negative_numbers() -> None:
    rows = play_rows(AGENTS["simple"], AGENTS["gin_only"], Rules(), 1, scaled(200, 5))
    assert rows["points_a"].min() < 0
    points = rows["points_a"].tolist()
    assert json.loads(json.dumps(points)) == points
    frame = hands_table([rows], ["simple v gin_only"], games=False).to_pandas()
    assert frame.points_a.tolist() == points
    assert pd.read_csv(io.StringIO(frame.to_csv())).points_a.tolist() == points
    assert pd.read_json(io.StringIO(frame.to_json(orient="records"))).points_a.tolist() == points


def test_winner_ender_outcome_and_points_agree() -> None:
    rows = play_rows(AGENTS["simple"], AGENTS["early_gin"], Rules(), 2, scaled(1000, 8))
    for row in rows:
        outcome = ("dead", "knock", "undercut", "gin", "big_gin")[row["outcome"]]
        if outcome == "dead":
            assert (row["winner"], row["ender"], row["points_a"]) == (-1, -1, 0)
            continue
        assert (row["winner"] == row["ender"]) == (outcome != "undercut")
        assert row["points_a"] != 0
        assert (row["points_a"] > 0) == (row["winner"] == 0)


def test_an_option_holds_in_every_hand_of_a_game() -> None:
    rules = Rules(gin_bonus=31, undercut_bonus=7, knock_limit=6)
    rows, _ = play_game_rows(AGENTS["simple"], AGENTS["early_gin"], rules, 3, scaled(60, 1))
    assert (rows["knock_limit"] == 6).all()
    assert rows["knock_deadwood"].max() <= 6
    for row in rows[rows["outcome"] == 3]:
        assert abs(row["points_a"]) == 31 + row["defender_deadwood"]
    for row in rows[rows["outcome"] == 2]:
        assert abs(row["points_a"]) == 7 + row["knock_deadwood"] - row["defender_deadwood"]


@pytest.mark.parametrize("preset", list(PRESETS))
def test_table_rows_and_showdown_name_the_same_winner_and_points(preset: str) -> None:
    """A log printed the loser of an ordinary knock, and the result said otherwise."""
    rules = Rules.preset(preset)
    greedy = AGENTS["greedy"]
    deals = scaled(40, 6)
    rows = play_rows(greedy, greedy, rules, 9, deals)[::2]
    for deal, row in enumerate(rows):
        # In the first of two mirrored hands player a is the non-dealer, as seat 0 is.
        here = table(shuffled_deck(9, deal), rules)
        here.play(greedy, greedy)
        facts = here.hand.facts()
        assert OUTCOMES[row["outcome"]] == facts["outcome"]
        for name in ("ender", "winner"):
            assert int(row[name]) == (-1 if facts[name] is None else facts[name])
        sign = {0: 1, 1: -1, None: 0}[facts["winner"]]
        assert row["points_a"] == sign * facts["points"]
        if facts["outcome"] == "dead":
            assert (facts["ender"], facts["winner"], facts["points"]) == (None, None, 0)
            continue
        ender = facts["ender"]
        found = showdown(
            here.hand.cards(ender),
            here.hand.cards(1 - ender),
            rules,
            upcard=int(row["first_upcard"]),
            seen=int(here.state["pile"]),
        )
        winner = {"knocker": ender, "defender": 1 - ender, None: None}[found.winner]
        assert (found.outcome, winner, found.points) == (
            facts["outcome"],
            facts["winner"],
            facts["points"],
        )
        assert (found.knocker_deadwood, found.defender_deadwood) == (
            facts["knock_deadwood"],
            facts["defender_deadwood"],
        )
        assert {one.card for one in found.layoffs} == set(facts["laid_off"])


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_hand_of_a_game_is_priced_by_the_rules_in_force(preset: str) -> None:
    """An option held in the first hand only; the next deal went back to the defaults."""
    other: dict[str, Any] = {"gin_bonus": 77, "undercut_bonus": 33, "oklahoma_spades_double": True}
    for changes in ({}, other):
        rules = dataclasses.replace(Rules.preset(preset), **changes)
        rows, _ = play_game_rows(AGENTS["simple"], AGENTS["greedy"], rules, 8, scaled(20, 1))
        for row in rows:
            upcard = int(row["first_upcard"])
            assert row["knock_limit"] == rules.limit_for(upcard)
            outcome = OUTCOMES[row["outcome"]]
            deadwood = int(row["knock_deadwood"]), int(row["defender_deadwood"])
            worth = price_hand(outcome, *deadwood, rules, upcard) if outcome != "dead" else 0
            assert row["points_a"] == {0: worth, 1: -worth, -1: 0}[int(row["winner"])]


def test_facts_are_recorded_and_priced_afterwards() -> None:
    """The schools differ in the bonuses alone: one record is worth what each says."""
    schools = [
        Rules(gin_bonus=gin, undercut_bonus=undercut, big_gin_bonus=big)
        for gin, undercut, big in ((25, 25, 31), (20, 10, 26), (25, 20, 50), (30, 10, 32))
    ]
    runs = [play_rows(AGENTS["simple"], AGENTS["greedy"], r, 10, scaled(200, 2)) for r in schools]
    facts = [name for name in runs[0].dtype.names if name != "points_a"]
    for rules, rows in zip(schools, runs, strict=True):
        for name in facts:
            assert (rows[name] == runs[0][name]).all()
        for first, row in zip(runs[0], rows, strict=True):
            outcome = OUTCOMES[first["outcome"]]
            counts = int(first["knock_deadwood"]), int(first["defender_deadwood"])
            assert abs(row["points_a"]) == price_hand(outcome, *counts, rules)


@pytest.mark.parametrize("dead_hand", ["same_dealer", "alternate"])
@pytest.mark.parametrize("next_dealer", ["alternate", "winner", "loser"])
def test_who_deals_next(dead_hand: str, next_dealer: str) -> None:
    # Gin only against gin only with few draws: many hands are dead.
    rules = Rules(dead_hand=dead_hand, next_dealer=next_dealer, turn_limit=18, target=60)
    rows, _ = play_game_rows(AGENTS["gin_only"], AGENTS["early_gin"], rules, 4, scaled(40, 1))
    seen = set()
    for one, after in pairwise(rows):
        if after["hand"] == 0:
            assert after["dealer"] == 1 - after["mirror"]
            continue
        dealer, winner = int(one["dealer"]), int(one["winner"])
        if winner < 0:
            expected = 1 - dealer if dead_hand == "alternate" else dealer
        else:
            ways = {"alternate": 1 - dealer, "winner": winner, "loser": 1 - winner}
            expected = ways[next_dealer]
        assert after["dealer"] == expected
        seen.add(winner)
    assert {0, 1, -1} <= seen or len(rows) < 40


def test_a_doubled_hand_doubles_its_points_and_no_bonus() -> None:
    rules = Rules.preset("oklahoma").with_settings({"oklahoma_spades_double": "on"})
    spade, heart = 39 + 8, 26 + 8
    assert price_hand("gin", 0, 14, rules, spade) == 78
    assert price_hand("gin", 0, 14, rules, heart) == 39
    assert price_hand("undercut", 8, 5, rules, spade) == 56
    assert price_hand("gin", 0, 14, Rules(), spade) == 39
    for doubled_boxes, boxes in ((False, 1), (True, 2)):
        sheet = ScoreSheet(Rules(oklahoma=True, double_boxes=doubled_boxes))
        sheet.add(0, 78, doubled=True)
        assert sheet.columns[0].boxes == (boxes, 0)


def test_every_preset_prices_the_same_facts_its_own_way() -> None:
    facts = {"gin": (0, 14), "undercut": (8, 5), "knock": (3, 45)}
    for name in PRESETS:
        rules = Rules.preset(name)
        assert price_hand("gin", *facts["gin"], rules) == rules.gin_bonus + 14
        assert price_hand("undercut", *facts["undercut"], rules) == rules.undercut_bonus + 3
        assert price_hand("knock", *facts["knock"], rules) == 42
        if rules.big_gin_bonus is None:
            with pytest.raises(RulesError, match="no big gin"):
                price_hand("big_gin", 0, 10, rules)
        else:
            assert price_hand("big_gin", 0, 10, rules) == rules.big_gin_bonus + 10


def test_hollywood_worked_example() -> None:
    sheet = ScoreSheet(Rules.preset("hollywood"))
    for points in (32, 28, 45):
        sheet.add(0, points)
    assert [column.score[0] for column in sheet.columns] == [105, 73, 45]
    assert [column.closed for column in sheet.columns] == [True, False, False]


@pytest.mark.parametrize(("rule", "second"), [("next_open", [20, 0]), ("fixed", [0, 0])])
def test_hollywood_a_first_win_after_game_one_has_closed(rule: str, second: list[int]) -> None:
    sheet = ScoreSheet(Rules(hollywood=True, hollywood_late_start=rule))
    for points in (60, 50, 45):
        sheet.add(0, points)
    assert sheet.columns[0].totals == (110 + 2 * 25 + 100 + 100, 0)
    sheet.add(1, 20)
    assert [column.score[1] for column in sheet.columns] == [0, *second]
    sheet.add(1, 30)
    expected = [0, 50, 30] if rule == "next_open" else [0, 30, 0]
    assert [column.score[1] for column in sheet.columns] == expected


def test_hollywood_closes_each_game_for_its_column_alone() -> None:
    rules = Rules.preset("hollywood")
    _, games = play_game_rows(AGENTS["simple"], AGENTS["early_gin"], rules, 5, scaled(40, 1))
    assert np.isin(games["winner"], (0, 1)).all()
    assert (games["hands"] >= 3).all()
