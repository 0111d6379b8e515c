"""Hypothesis strategies for what these tests are fed with: hands, decks and rules."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

from hypothesis import strategies as st

from gin_sim.compiled import JIT_DISABLED
from gin_sim.rules import PRESETS, Rules
from tests.oracle.melds import NO_CARDS, Cards, melds_in

SEEDS = st.integers(0, 2**63 - 1)
PRESET_NAMES = sorted(PRESETS)


def many(compiled: int, interpreted: int) -> int:
    """Return how many cases to try, by whether the kernels run compiled or as Python."""
    return interpreted if JIT_DISABLED else compiled


@st.composite
def hands(draw: st.DrawFn, least: int = 0, most: int = 11) -> Cards:
    """Return a hand, mostly of few adjacent ranks so that sets and runs cross."""
    low = draw(st.integers(0, 12))
    n_ranks = draw(st.sampled_from([3, 3, 4, 4, 5, 6, 13]))
    ranks = range(low, min(low + n_ranks, 13))
    near = [13 * suit + rank for suit in range(4) for rank in ranks]
    size = draw(st.integers(least, most))
    first = draw(st.lists(st.sampled_from(near), unique=True, max_size=size))
    # Filled up from all cards, in an order that shrinks to nothing special.
    rest = random.Random(draw(st.integers(0, 2**32))).sample(range(52), 52)
    return frozenset((first + [card for card in rest if card not in first])[:size])


def random_hand(dice: random.Random, size: int, taken: Cards = frozenset()) -> Cards:
    """Return a hand by chance alone, biased in the same way; `taken` cards are not dealt."""
    low, n_ranks = dice.randrange(13), dice.choice([3, 4, 4, 5, 6, 13])
    near = [card for card in range(52) if low <= card % 13 < low + n_ranks and card not in taken]
    far = [card for card in range(52) if card not in near and card not in taken]
    dice.shuffle(near)
    dice.shuffle(far)
    keep = dice.randint(max(0, size - 4), size)
    return frozenset((near[:keep] + far + near[keep:])[:size])


def _melds_by_kind() -> list[list[Cards]]:
    """Return all sets of three and of four, and all runs of three to six, apart."""
    melds = melds_in(range(52), 6)
    sets = [meld for meld in melds if len({card % 13 for card in meld}) == 1]
    runs = [meld for meld in melds if meld not in sets]
    kinds = [[meld for meld in sets if len(meld) == n] for n in (3, 4)]
    return kinds + [[meld for meld in runs if len(meld) == n] for n in (3, 4, 5, 6)]


_KINDS = _melds_by_kind()


def melded_hand(dice: random.Random, size: int) -> Cards:
    """Return a hand made of melds as far as they go; each kind is as likely."""
    hand = NO_CARDS
    for _ in range(20):
        meld = dice.choice(dice.choice(_KINDS))
        if not meld & hand and len(hand | meld) <= size:
            hand |= meld
    rest = dice.sample([card for card in range(52) if card not in hand], size - len(hand))
    return hand | frozenset(rest)


def random_showdown(dice: random.Random, size: int = 10) -> tuple[Cards, Cards]:
    """Return a knocker's hand, mostly of melds, and a defender's out of the same ranks."""
    low, n_ranks = dice.randrange(10), dice.choice([4, 5, 6, 8, 13])
    near = [card for card in range(52) if low <= card % 13 < low + n_ranks]
    melds = sorted(melds_in(near), key=sorted)
    dice.shuffle(melds)
    knocker = NO_CARDS
    for meld in melds:
        if not meld & knocker and len(knocker | meld) <= size:
            knocker |= meld
    dice.shuffle(near)
    far = dice.sample(range(52), 52)
    knocker |= frozenset(
        [card for card in near + far if card not in knocker][: size - len(knocker)]
    )
    keep = dice.randint(4, 10)
    left = [card for card in near if card not in knocker][:keep] + far
    defender = [card for card in dict.fromkeys(left) if card not in knocker][:10]
    return knocker, frozenset(defender)


@st.composite
def showdowns(draw: st.DrawFn, size: int = 10) -> tuple[Cards, Cards]:
    """Return a knocker's and a defender's hand."""
    return random_showdown(random.Random(draw(st.integers(0, 2**62))), size)


def _usual(rule: Any) -> st.SearchStrategy[Any]:
    """Return what a rule may be: its default often, its extremes and anything allowed."""
    allowed = rule.metadata["allowed"]
    if allowed is bool:
        return st.booleans()
    if isinstance(allowed, tuple) and len(allowed) <= 3:
        return st.sampled_from(allowed)
    values = list(allowed) if len(allowed) < 2000 else allowed
    ends = [values[0], values[1], values[2], values[-1]]
    return st.one_of(st.just(rule.default), st.sampled_from(ends), st.sampled_from(values))


# A uniform choice would make nearly every hand die at once, or no game ever end.
_SHAPED: dict[str, st.SearchStrategy[Any]] = {
    "turn_limit": st.sampled_from([200, 200, 200, 199, 60, 40, 21, 9, 2, 1]),
    "pile_draw_limit": st.sampled_from([50, 50, 100, 20, 7, 3, 2, 1]),
    "thrown_back_limit": st.sampled_from([None, None, 2, 1, 3, 10]),
    "target": st.sampled_from([100, 100, 150, 60, 25, 1]),
}


def all_rules() -> st.SearchStrategy[Rules]:
    """Return rules in which every field varies."""
    return st.builds(
        Rules, **{rule.name: _SHAPED.get(rule.name, _usual(rule)) for rule in fields(Rules)}
    )


def random_rules(dice: random.Random) -> Rules:
    """Return rules by chance alone, in which hands are long enough to be of interest."""
    changes: dict[str, Any] = {}
    for rule in fields(Rules):
        allowed = rule.metadata["allowed"]
        values: Any = (False, True) if allowed is bool else allowed
        changes[rule.name] = dice.choice(values) if dice.random() < 0.5 else rule.default
    changes["turn_limit"] = dice.choice([200, 200, 200, 60, 40, 21, 9, 1])
    changes["pile_draw_limit"] = dice.choice([50, 50, 100, 20, 7, 2, 1])
    changes["thrown_back_limit"] = dice.choice([None, None, None, 2, 1, 10])
    changes["target"] = dice.choice([100, 100, 150, 60, 25])
    changes["line_bonus"] = dice.choice([25, 20, 0, 7])
    return Rules(**changes)
