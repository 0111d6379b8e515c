"""Values found elsewhere by exhaustive search: deadwood, discards, lay-offs."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gin_sim import (
    arrange,
    best_discards,
    best_discards_many,
    deadwood,
    deadwood_many,
    legal_knocks,
    parse_hand,
    showdown,
)
from gin_sim.cards import cards_of
from gin_sim.compiled import JIT_DISABLED

DATA = Path(__file__).parent / "data"
EVERY = 40 if JIT_DISABLED else 1


def rows(name: str, every: int = EVERY) -> list[dict[str, str]]:
    with gzip.open(DATA / f"{name}.csv.gz", "rt") as file:
        lines = (line for line in file if not line.startswith("#"))
        return list(csv.DictReader(lines))[::every]


def test_the_data_is_there() -> None:
    counts = [len(rows(name, 1)) for name in ("deadwood_10", "deadwood_11", "layoff")]
    assert counts == [2750, 2750, 2600]
    assert len(rows("openspiel_traps_11", 1)) == 318


def test_deadwood_of_ten() -> None:
    found = rows("deadwood_10")
    for row in found:
        least = int(row["min_deadwood"])
        assert deadwood(row["hand"]) == least, row
        arranged = arrange(row["hand"])
        assert arranged.deadwood == least
        assert deadwood(arranged.unmatched) >= least
        assert sum(arranged.melds) + arranged.unmatched == parse_hand(row["hand"])
    expected = [int(row["min_deadwood"]) for row in found]
    assert deadwood_many([row["hand"] for row in found]).tolist() == expected
    masks = np.array([parse_hand(row["hand"]) for row in found])
    assert deadwood_many(masks).tolist() == expected


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("deadwood_11", "min_deadwood_after_best_discard"),
        ("openspiel_traps_11", "true_after_best_discard"),
    ],
)
def test_best_discards_of_eleven(name: str, after: str) -> None:
    found = rows(name)
    for row in found:
        points, discards = best_discards(row["hand"])
        assert points == int(row[after]), row
        assert discards == parse_hand(row["best_discards"]), row
        assert deadwood(row["hand"]) == int(row["min_deadwood_all11"])
    points_many, discards_many = best_discards_many([row["hand"] for row in found])
    assert points_many.tolist() == [int(row[after]) for row in found]
    assert discards_many.tolist() == [parse_hand(row["best_discards"]) for row in found]


def test_what_openspiel_refuses_may_be_knocked_with() -> None:
    """OpenSpiel arranges eleven cards first and drops one afterwards: it counts too much."""
    for row in rows("openspiel_traps_11"):
        true = int(row["true_after_best_discard"])
        assert int(row["openspiel_2.0.2_value"]) > true
        knocks = legal_knocks(row["hand"])
        expected = cards_of(parse_hand(row["best_discards"])) if true <= 10 else []
        assert {card for card, left in knocks.items() if left == true} == set(expected)
        if row["class"] == "gin_missed":
            assert true == 0


def melds_of(row: dict[str, str]) -> Iterator[str]:
    for meld in filter(None, row["knocker_melds"].split("|")):
        yield " ".join(meld[i : i + 2] for i in range(0, len(meld), 2))


def test_lay_offs_on_the_melds_given() -> None:
    for row in rows("layoff"):
        found = showdown(row["knocker_hand"], row["defender_hand"], melds=list(melds_of(row)))
        assert found.knocker_deadwood == int(row["knocker_deadwood"]), row
        assert found.defender_deadwood_before_layoff == int(row["def_dw_no_layoff"]), row
        assert found.defender_deadwood == int(row["def_dw_after_best_layoff"]), row
        assert len(found.layoffs) == len(row["best_layoff"].split()), row
        if row["kind"] == "gin":
            assert found.outcome == "gin"
        if row["must_break"] == "1":
            assert found.defender_deadwood < int(row["def_dw_greedy"])


def test_lay_offs_on_the_melds_chosen() -> None:
    for row in rows("layoff"):
        found = showdown(row["knocker_hand"], row["defender_hand"])
        least, most = int(row["def_dw_min_over_opt"]), int(row["def_dw_max_over_opt"])
        assert least <= found.defender_deadwood <= most, row
        assert found.knocker_deadwood == int(row["knocker_deadwood"]), row


def test_lay_offs_do_not_depend_on_the_order_of_cards_and_melds() -> None:
    rng = np.random.default_rng(5)
    for row in rows("layoff", 10 * EVERY):
        knocker, defender = row["knocker_hand"].split(), row["defender_hand"].split()
        melds = list(melds_of(row))
        one = showdown(knocker, defender, melds=melds)
        for part in (knocker, defender, melds):
            rng.shuffle(part)
        other = showdown(knocker, defender, melds=melds)
        assert set(other.knocker_melds) == set(one.knocker_melds)
        assert other.defender_melds == one.defender_melds
        assert {lay.card for lay in other.layoffs} == {lay.card for lay in one.layoffs}
        assert other.points == one.points


def test_laid_off_cards_are_placed_one_after_another() -> None:
    for row in rows("layoff", 4 * EVERY):
        found = showdown(row["knocker_hand"], row["defender_hand"], melds=list(melds_of(row)))
        table = list(found.knocker_melds)
        for one in found.layoffs:
            grown = next(m for m in table if m & one.onto == one.onto)
            cards = cards_of(grown)
            if cards[0] % 13 == cards[1] % 13:
                assert one.card % 13 == cards[0] % 13
            else:
                assert one.card // 13 == cards[0] // 13
                assert one.card in (cards[0] - 1, cards[-1] + 1)
            table[table.index(grown)] |= 1 << one.card
