"""Faults that public programs have had with seeds, shuffles and repeated deals."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gin_sim import Rules, shuffled_deck
from gin_sim.chance import deal_key, shuffle_place
from gin_sim.compiled import JIT_DISABLED, kernel
from gin_sim.rules import PRESETS
from tests.helpers import AGENTS, play_game_rows, play_rows, scaled
from tests.oracle import chance

GOLDEN = Path(__file__).parent / "data" / "golden_hands.json"
GOLDEN_DEALS = 50


@kernel
def count_places(seed: int, deals: int, counts: Any, pairs: Any, deck: Any) -> None:
    """Count which card lies at which place, and which of places 0 and 1 is the higher."""
    for number in range(deals):
        key = deal_key(seed, number)
        for place in range(52):
            deck[place] = place
        for place in range(52):
            shuffle_place(deck, key, place)
        for place in range(52):
            counts[place, deck[place]] += 1
        pairs[deck[0], deck[1]] += 1


@kernel
def fingerprints(seed: int, first: int, out: Any, deck: Any) -> None:
    """Write 62 bits of each deal's order: a hash of its first 33 cards."""
    for i in range(out.size):
        key = deal_key(seed, first + i)
        for place in range(52):
            deck[place] = place
        value = 0
        for place in range(33):
            shuffle_place(deck, key, place)
            value = (value * 1_000_003 + int(deck[place]) + 1) & 0x3FFFFFFFFFFFFFFF
        out[i] = value


def test_every_card_is_as_likely_at_every_place() -> None:
    deals = scaled(1_000_000, 2_000)
    counts = np.zeros((52, 52), np.int64)
    pairs = np.zeros((52, 52), np.int64)
    count_places(7, deals, counts, pairs, np.zeros(52, np.int64))
    if not JIT_DISABLED:
        assert (counts > 0).all()
    # Rows and columns are fixed, so there are 51 * 51 degrees of freedom.
    chi = ((counts - deals / 52) ** 2 / (deals / 52)).sum()
    assert 1e-4 < stats.chi2.sf(chi * 51 / 52, 51 * 51) < 1 - 1e-4
    off = ~np.eye(52, dtype=bool)
    expected = deals / (52 * 51)
    chi = ((pairs[off] - expected) ** 2 / expected).sum()
    assert 1e-4 < stats.chi2.sf(chi, 52 * 51 - 1) < 1 - 1e-4
    assert pairs[~off].sum() == 0


def test_no_deal_comes_twice_in_one_seed_or_in_two() -> None:
    n = scaled(1_000_000, 1_000)
    deck = np.zeros(52, np.int64)
    seen = np.empty((3, n), np.int64)
    for i, (seed, first) in enumerate(((1, 0), (1, n), (2, 0))):
        fingerprints(seed, first, seen[i], deck)
    assert np.unique(seen).size == seen.size


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32, 2**63 - 1])
def test_a_deal_is_the_documented_function_of_seed_and_number(seed: int) -> None:
    for number in (0, 1, 2, 1023, 10**9, 2**40):
        deck = shuffled_deck(seed, number)
        assert sorted(deck) == list(range(52))
        assert deck == chance.dealt(chance.deal_key(seed, number))
        assert deck == shuffled_deck(seed, number)
        assert deck != shuffled_deck(seed, number + 1)
        assert deck != shuffled_deck(seed ^ 1, number)


def test_generators_of_others_have_no_influence() -> None:
    one = play_rows(AGENTS["random"], AGENTS["simple"], Rules(), 5, scaled(200, 2))
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002 - that it does not matter is the point
    random.random()
    two = play_rows(AGENTS["random"], AGENTS["simple"], Rules(), 5, scaled(200, 2))
    assert (one == two).all()


def test_batches_play_the_deals_of_one_long_run() -> None:
    n = scaled(400, 4)
    whole = play_rows(AGENTS["simple"], AGENTS["greedy"], Rules(), 3, n)
    parts = [
        play_rows(AGENTS["simple"], AGENTS["greedy"], Rules(), 3, n // 4, first)
        for first in range(0, n, n // 4)
    ]
    assert (np.concatenate(parts) == whole).all()
    assert len(set(whole["deal"].tolist())) == n


def test_hand_k_of_both_mirrored_games_is_deal_k() -> None:
    # Many hands are dead with so few turns, so that the two games part ways.
    rules = Rules(turn_limit=16)
    rows, games = play_game_rows(AGENTS["simple"], AGENTS["early_gin"], rules, 6, scaled(50, 1))
    assert (rows["deal"] == 1024 * rows["game"].astype(np.int64) + rows["hand"]).all()
    upcards: dict[int, int] = {}
    for row in rows:
        assert upcards.setdefault(int(row["deal"]), int(row["first_upcard"])) == row["first_upcard"]
    if not JIT_DISABLED:
        assert (games["hands"][::2] != games["hands"][1::2]).any()


def hand_hashes() -> dict[str, str]:
    """Return, for each preset, a hash of the rows of 100 hands of three agents."""
    found = {}
    for name in PRESETS:
        digest = hashlib.sha256()
        for a, b in (("simple", "greedy"), ("random", "simple")):
            rows = play_rows(AGENTS[a], AGENTS[b], Rules.preset(name), 2026, GOLDEN_DEALS)
            columns = [f"{column}:{rows[column].tolist()}" for column in rows.dtype.names]
            digest.update("|".join(columns).encode())
        found[name] = digest.hexdigest()
    return found


@pytest.mark.skipif(JIT_DISABLED, reason="the same hands, far more slowly")
def test_seeded_hands_are_those_of_earlier_versions() -> None:
    """A change of rules, agents or chance that alters hands is seen here.

    If it is meant, say so in the changelog and write the file anew:
    ``python -m tests.test_cases_seeds``.
    """
    assert hand_hashes() == json.loads(GOLDEN.read_text())


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(hand_hashes(), indent=1) + "\n")
