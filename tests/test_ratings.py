"""Ratings: known values, what they may not depend on, and what their intervals cover."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from gin_sim.bradley_terry import ELO, fit_ratings
from gin_sim.compiled import JIT_DISABLED
from gin_sim.errors import GinSimError
from gin_sim.ratings import Ratings, rate
from gin_sim.separation import reachable, separation

Pairings = list[tuple[int, int]]


def everyone(n: int) -> Pairings:
    return list(itertools.combinations(range(n), 2))


@st.composite
def pools(draw: st.DrawFn) -> tuple[int, Pairings, list[int], list[int]]:
    """Agents, pairings in any order and number, doubled scores and numbers played."""
    n = draw(st.integers(2, 6))
    agent = st.integers(0, n - 1)
    pairing = st.tuples(agent, agent).filter(lambda pair: pair[0] != pair[1])
    pairings = draw(st.lists(pairing, min_size=1, max_size=12))
    played = [draw(st.integers(0, 10_000)) for _ in pairings]
    scores = [draw(st.integers(0, 2 * number)) for number in played]
    return n, pairings, scores, played


def fitted(pool: tuple[int, Pairings, list[int], list[int]]) -> Any:
    n, pairings, scores, played = pool
    return fit_ratings(n, pairings, np.array(scores) / 2, played)


def blocks_of(
    theta: list[float], n_blocks: int, deals: int, rng: np.random.Generator
) -> tuple[Pairings, Any, Any]:
    """Draw a tournament whose pairings share the luck of each deal, against it in its mirror."""
    pairings = everyone(len(theta))
    expected = [1 / (1 + math.exp(theta[b] - theta[a])) for a, b in pairings]
    luck = rng.normal(size=(n_blocks, deals, 1))
    drawn = np.stack([luck, -luck]) + rng.normal(size=(2, n_blocks, deals, len(pairings)))
    won = drawn < math.sqrt(2) * ndtri(expected)
    played = np.full((n_blocks, len(pairings)), 2 * deals)
    return pairings, 2 * won.sum(axis=(0, 2)), played


@pytest.mark.parametrize(("score", "played"), [(75, 100), (0.5, 3), (0, 10), (2000, 2000)])
def test_two_agents_differ_by_the_logit_of_their_score_with_half_a_win_added(
    score: float, played: int
) -> None:
    elo = fit_ratings(2, [(0, 1)], [score], [played])
    odds = (score + 0.5) / (played - score + 0.5)
    assert elo[0] - elo[1] == pytest.approx(400 * math.log10(odds), abs=1e-9)
    assert elo.sum() == pytest.approx(0, abs=1e-9)


def test_expected_scores_without_noise_give_the_ratings_back() -> None:
    true = np.array([300.0, 120, 0, -150, -270])
    pairings = everyone(5)
    number = 1e9  # of which the prior is nothing
    scores = [number / (1 + 10 ** ((true[b] - true[a]) / 400)) for a, b in pairings]
    elo = fit_ratings(5, pairings, scores, [number] * len(pairings))
    assert elo == pytest.approx(true, abs=1e-5)


@given(pools())
@settings(deadline=None)
def test_at_the_maximum_each_agent_scores_what_it_is_expected_to(
    pool: tuple[int, Pairings, list[int], list[int]],
) -> None:
    n, pairings, scores, played = pool
    elo = fitted(pool)
    assert np.isfinite(elo).all()
    excess, most = np.zeros(n), 1.0
    met = {frozenset(pair) for pair, number in zip(pairings, played, strict=True) if number}
    expected = {pair: 1 / (1 + 10 ** ((elo[pair[1]] - elo[pair[0]]) / 400)) for pair in pairings}
    for (a, b), score, number in zip(pairings, scores, played, strict=True):
        excess[a] += score / 2 - number * expected[a, b]
        excess[b] -= score / 2 - number * expected[a, b]
        most += number
    for a, b in map(sorted, met):
        prior = 0.5 - 1 / (1 + 10 ** ((elo[b] - elo[a]) / 400))
        excess[a] += prior
        excess[b] -= prior
    assert excess == pytest.approx(np.zeros(n), abs=1e-10 * most)


@given(pools(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_sides_and_splits_change_nothing(
    pool: tuple[int, Pairings, list[int], list[int]], random: Any
) -> None:
    n, pairings, scores, played = pool
    pieces = []
    for (a, b), score, number in zip(pairings, scores, played, strict=True):
        part = random.randint(0, number)
        some = random.randint(max(0, score - 2 * (number - part)), min(score, 2 * part))
        for twice, of in ((some, part), (score - some, number - part)):
            swap = random.random() < 0.5
            pieces.append(((b, a), 2 * of - twice, of) if swap else ((a, b), twice, of))
    random.shuffle(pieces)
    again, some_scores, some_played = (list(part) for part in zip(*pieces, strict=True))
    assert fitted((n, again, some_scores, some_played)) == pytest.approx(fitted(pool), abs=1e-9)


@given(pools(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_numbers_of_agents_are_but_names(
    pool: tuple[int, Pairings, list[int], list[int]], random: Any
) -> None:
    n, pairings, scores, played = pool
    name = random.sample(range(n), n)
    renamed = fitted((n, [(name[a], name[b]) for a, b in pairings], scores, played))
    assert renamed[name] == pytest.approx(fitted(pool), abs=1e-8)


def test_more_of_the_same_against_all_is_a_higher_rating() -> None:
    pairings, played = everyone(4), [100] * 6
    for score in range(0, 100, 9):
        elo, better = (
            fit_ratings(4, pairings, [x, x, x, 50, 60, 70], played) for x in (score, score + 1)
        )
        assert better[0] > elo[0]


def test_a_batch_is_each_row_on_its_own() -> None:
    rng = np.random.default_rng(3)
    played = rng.integers(1, 50, (2, 7, 10))
    scores = rng.integers(0, 2 * played + 1) / 2
    together = fit_ratings(5, everyone(5), scores, played)
    assert together.shape == (2, 7, 5)
    for at in np.ndindex(2, 7):
        assert together[at] == pytest.approx(fit_ratings(5, everyone(5), scores[at], played[at]))


def test_sweeps_along_a_chain_and_around_a_ring_are_finite() -> None:
    n = 20
    chain = fit_ratings(n, [(i, i + 1) for i in range(n - 1)], [10**6] * (n - 1), [10**6] * (n - 1))
    assert np.diff(chain) == pytest.approx(np.full(n - 1, -400 * math.log10(2e6 + 1)))
    ring = fit_ratings(n, [(i, (i + 1) % n) for i in range(n)], [10**6] * n, [10**6] * n)
    assert ring == pytest.approx(np.zeros(n), abs=1e-9)


def test_pools_that_never_met_each_have_mean_0() -> None:
    elo = fit_ratings(6, [(0, 1), (2, 3), (3, 4), (0, 5)], [60, 70, 50, 0], [100, 100, 100, 0])
    assert elo[0] + elo[1] == pytest.approx(0, abs=1e-9)
    assert elo[2:5].sum() == pytest.approx(0, abs=1e-9)
    assert elo[5] == 0
    assert elo[:2] == pytest.approx(fit_ratings(2, [(0, 1)], [60], [100]))
    assert elo[2:5] == pytest.approx(fit_ratings(3, [(0, 1), (1, 2)], [70, 50], [100, 100]))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0, [], [], []), "n_agents = 0"),
        ((2, [(0, 2)], [1], [1]), "agent = 2"),
        ((2, [(1, 1)], [1], [1]), r"pairing 0 = \(1, 1\)"),
        ((2, [(0, 1)], [3], [2]), "score 3 of 2 played"),
        ((2, [(0, 1)], [math.nan], [2]), "score nan"),
        ((2, [(0, 1)], [1, 2], [2, 2]), "the 1 pairings"),
    ],
)
def test_what_cannot_be_is_refused(arguments: Any, named: str) -> None:
    with pytest.raises(GinSimError, match=named):
        fit_ratings(*arguments)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"block_scores": [[5]] * 30}, "allowed is 0..2 for each played"),
        ({"block_scores": [[0.5]] * 30}, "float64"),
        ({"block_scores": [[1, 1]] * 30}, r"\(30, 2\)"),
        ({"seed": -1}, "seed = -1"),
        ({"resamples": 10}, "resamples = 10"),
        ({"confidence": 95}, "confidence = 95"),
    ],
)
def test_what_cannot_be_rated_is_refused(change: dict[str, Any], named: str) -> None:
    good: dict[str, Any] = {"block_scores": [[1]] * 30, "block_played": [[2]] * 30, "seed": 1}
    with pytest.raises(GinSimError, match=named):
        rate(2, [(0, 1)], **(good | change))


def same_bytes(one: Ratings, other: Ratings) -> bool:
    names = ("elo", "low", "high", "separated", "component", "units")
    equal = (getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in names)
    return all(equal) and one.note == other.note


def test_a_rating_is_the_same_bytes_however_the_pairings_are_given() -> None:
    rng = np.random.default_rng(5)
    pairings, scores, played = blocks_of([0.5, 0, -0.2, -3], 40, 2, rng)
    rated = rate(4, pairings, scores, played, seed=9)
    assert same_bytes(rated, rate(4, pairings, scores, played, seed=9))
    order = rng.permutation(len(pairings))
    shuffled = rate(4, [pairings[k] for k in order], scores[:, order], played[:, order], seed=9)
    assert same_bytes(rated, shuffled)
    swapped = rate(4, [(b, a) for a, b in pairings], 2 * played - scores, played, seed=9)
    assert same_bytes(rated, swapped)
    half = np.minimum(scores, played), played // 2
    split = rate(
        4,
        pairings + pairings,
        np.hstack([half[0], scores - half[0]]),
        np.hstack([half[1], played - half[1]]),
        seed=9,
    )
    assert same_bytes(rated, split)
    assert not same_bytes(rated, rate(4, pairings, scores, played, seed=10))


def test_the_order_of_hands_is_nothing_to_a_rating() -> None:
    # An Elo that is updated game by game would end elsewhere each time.
    rng = np.random.default_rng(6)
    pairings, scores, played = blocks_of([1, 0, -1], 60, 1, rng)
    rated = rate(3, pairings, scores, played, seed=1)
    for _ in range(5):
        order = rng.permutation(len(scores))
        again = rate(3, pairings, scores[order], played[order], seed=1)
        assert (again.elo == rated.elo).all()
        assert again.low == pytest.approx(rated.low, abs=25)


def test_a_rating_is_the_fit_of_all_blocks() -> None:
    pairings, scores, played = blocks_of([1, 0, -1], 30, 3, np.random.default_rng(7))
    rated = rate(3, pairings, scores, played, seed=1)
    fit = fit_ratings(3, pairings, scores.sum(axis=0) / 2, played.sum(axis=0))
    assert rated.elo == pytest.approx(fit, abs=1e-6)
    assert (rated.low < rated.elo).all() and (rated.elo < rated.high).all()
    assert rated.note == ("", "", "")
    assert not rated.separated.any()
    assert (rated.units == 30).all()


def test_fewer_than_twenty_blocks_are_too_few() -> None:
    pairings: Pairings = [(0, 1), (1, 2)]
    scores, played = np.ones((25, 2), int), np.full((25, 2), 2)
    scores[::2] = 3
    played[19:, 1] = scores[19:, 1] = 0
    rated = rate(4, pairings, scores, played, seed=1)
    assert rated.units.tolist() == [25, 25, 19, 0]
    assert np.isnan(rated.low).tolist() == [False, False, True, True]
    assert np.isnan(rated.high).tolist() == [False, False, True, True]
    assert rated.note == ("", "", "too few data", "did not play")
    assert rated.component.tolist() == [0, 0, 0, 1]
    nothing = rate(2, [(0, 1)], np.zeros((0, 1), int), np.zeros((0, 1), int), seed=1)
    assert nothing.note == ("did not play", "did not play")


@pytest.mark.parametrize(("blocks", "deals"), [(30, 1), (100, 20)])
def test_a_sweep_has_wilsons_bound_on_the_one_side_and_none_on_the_other(
    blocks: int, deals: int
) -> None:
    won = np.full((blocks, 1), 4 * deals)
    rated = rate(2, [(0, 1)], won, won // 2, seed=1)
    assert rated.separated.all()
    assert rated.note == ("won everything: at least", "lost everything: at most")
    assert rated.high[0] == np.inf and rated.low[1] == -np.inf
    # Wilson's bound of n of n has odds of n to z squared; n is mirrored deals.
    odds = blocks * deals / 1.959964**2
    assert rated.low[0] - rated.high[1] == pytest.approx(400 * math.log10(odds), abs=1e-3)


def test_who_swept_all_is_flagged_and_the_rest_is_not() -> None:
    pairings, scores, played = blocks_of([0.5, 0, -0.5, 0], 50, 4, np.random.default_rng(8))
    for k, (_, b) in enumerate(pairings):
        if b == 3:
            scores[:, k] = 0
    rated = rate(4, pairings, scores, played, seed=1)
    assert rated.separated.tolist() == [False, False, False, True]
    assert rated.note == ("", "", "", "won everything: at least")
    assert rated.low[3] < rated.elo[3] and rated.high[3] == np.inf
    assert np.isfinite(rated.high[:3]).all()
    # Against each other the rest are where they are without it, but for the prior.
    alone = [k for k, pair in enumerate(pairings) if 3 not in pair]
    rest = rate(3, [pairings[k] for k in alone], scores[:, alone], played[:, alone], seed=1)
    assert np.diff(rated.elo[:3]) == pytest.approx(np.diff(rest.elo), abs=1)


def test_one_loss_of_many_is_no_sweep_but_sets_no_upper_end() -> None:
    won = np.full((40, 1), 4)
    won[17] = 2
    rated = rate(2, [(0, 1)], won, np.full((40, 1), 2), seed=1)
    assert not rated.separated.any()
    assert rated.note == ("won nearly everything: at least", "lost nearly everything: at most")
    assert rated.high[0] == np.inf and np.isfinite(rated.low[0])


def separated(n: int, beaten: list[tuple[int, int]]) -> Any:
    matrix = np.zeros((n, n), bool)
    both = matrix.copy()
    for a, b in beaten:
        matrix[a, b] = both[a, b] = both[b, a] = True
    lowest = reachable(both).argmax(axis=1)
    return separation(matrix, np.unique(lowest, return_inverse=True)[1])


def test_a_ring_separates_nobody() -> None:
    assert not separated(3, [(0, 1), (1, 2), (2, 0)]).separated.any()
    assert not separated(1, []).separated.any()


def test_groups_above_and_below_the_main_one() -> None:
    found = separated(7, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5)])
    assert found.above.tolist() == [True, True, False, False, False, False, False]
    assert found.below.tolist() == [False] * 5 + [True, False]
    notes = [found.note(agent) for agent in range(7)]
    assert notes[:2] == ["in a group that lost nothing: at least"] * 2
    assert notes[5:] == ["lost everything: at most", ""]


def test_between_sweeps_there_are_no_bounds() -> None:
    found = separated(3, [(0, 1), (1, 2)])
    assert found.above.tolist() == [True, True, False]
    assert found.below.tolist() == [False, True, True]
    assert found.note(1) == "swept some and was swept by others: no bounds"


@given(st.integers(2, 6).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_separation_is_ford_s_condition(cells: list[bool]) -> None:
    from scipy.sparse.csgraph import connected_components

    n = math.isqrt(len(cells))
    beaten = np.array(cells).reshape(n, n) & ~np.eye(n, dtype=bool)
    _, weak = connected_components(beaten, directed=True, connection="weak")
    _, strong = connected_components(beaten, directed=True, connection="strong")
    found = separation(beaten, weak.astype(np.int64))
    for number in range(weak.max() + 1):
        one_group = len(set(strong[weak == number])) == 1
        assert one_group == (not found.separated[weak == number].any())


@pytest.mark.parametrize("seed", [11, 12])
def test_intervals_cover_what_they_say(seed: int) -> None:
    from scipy.stats import binom

    n = 60 if JIT_DISABLED else 250
    rng = np.random.default_rng(seed)
    true = np.array([0.6, 0.3, 0.0, -0.9])
    covered = np.zeros(4)
    for k in range(n):
        pairings, scores, played = blocks_of(list(true), 30, 2, rng)
        rated = rate(4, pairings, scores, played, seed=k, resamples=500)
        covered += (rated.low <= true * ELO) & (true * ELO <= rated.high)
    low, high = binom.interval(0.999, n, 0.95)
    assert (low <= covered).all() and (covered <= high).all()
