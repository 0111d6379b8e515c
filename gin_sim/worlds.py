"""Worlds: what the hidden cards may be, compiled.

A player knows its own hand, the pile and what the opponent took from it.  Everything else
is the opponent's hidden cards and the stock; a *world* is one way of dealing them out.
:func:`sample_world` draws one, all of them as likely.  :func:`likely_world` walks from
world to world so that those which explain the opponent's play well come up more often, by
how much self-play says (:data:`LEANINGS`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gin_sim.belief import HAND, around
from gin_sim.bits import lowest, nth_card, popcount
from gin_sim.cards import DECK
from gin_sim.chance import below, next_word
from gin_sim.compiled import kernel
from gin_sim.melds import least_deadwood, makes_meld
from gin_sim.outs import completing

FEATURES = 8
DEADWOOD, LEFT, THREW, NEXT_TO_THROWN, NEXT_TO_LEFT, NEXT_TO_TAKEN, IDLE, FITTING = range(FEATURES)
"""What is looked at in a hand that the opponent may hold: its deadwood; the cards that the
opponent left lying, or threw, although they would stand in a meld with it; its cards next
to those thrown, left lying, taken (of the same rank, or neighbours in suit); cards taken
that stand in no meld; and the cards, wherever they are, that would make a meld with it."""

LEANINGS = np.array(
    [
        [-0.018, -2.903, -1.839, -0.391, 0.103, 0.451, -0.910, 0.064],
        [-0.045, -1.408, -1.291, -0.594, -0.164, 0.307, -1.267, 0.109],
        [-0.067, -1.200, -1.136, -0.629, -0.167, 0.288, -1.301, 0.139],
        [-0.094, -0.963, -0.932, -0.692, -0.147, 0.210, -1.187, 0.170],
        [-0.136, -0.795, -0.866, -0.706, -0.113, 0.088, -0.866, 0.191],
        [-0.193, -0.787, -0.782, -0.690, -0.028, -0.017, -0.721, 0.244],
        [-0.279, -0.556, -0.813, -0.647, -0.042, -0.127, -0.566, 0.235],
        [-0.344, -0.523, -0.679, -0.442, -0.051, -0.149, -0.478, 0.273],
    ]
)
"""By how much each of these moves the logarithm of how likely a hand is, for each of the
stages of a hand; found by ``python -m experiments.opponent_hands --deals 3000 --seed 77``."""

STAGES = np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7])
"""The stage after so many own turns; after more, the last."""


class World(NamedTuple):
    """One way in which the hidden cards may lie.

    Attributes
    ----------
    opponent : int
        The opponent's ten cards.
    weight : float
        The logarithm of how well they explain its play, up to a constant.
    word : int
        A random word: the stock's order, and where the next world comes from.
    """

    opponent: int
    weight: float
    word: int


class Evidence(NamedTuple):
    """What a view tells of the opponent's hand, looked up once for many worlds."""

    known: int
    unseen: int
    hidden: int
    refused: int
    thrown: int
    by_thrown: int
    by_refused: int
    by_known: int
    stage: int


@kernel
def gather(view: Any) -> Evidence:
    """Return what a view tells of the opponent's hand."""
    known = view.opponent_known
    thrown = view.opponent_discards
    refused = view.opponent_refused
    return Evidence(
        known,
        DECK & ~view.seen,
        HAND - popcount(known),
        refused,
        thrown,
        around(thrown),
        around(refused & ~thrown),
        around(known),
        STAGES[min(view.own_turn, len(STAGES) - 1)],
    )


@kernel
def look(evidence: Evidence, hand: int) -> tuple[int, int, int, int, int, int, int, int]:
    """Return what is looked at in ten cards that the opponent may hold, `DEADWOOD` first."""
    fitting = completing(hand)
    hidden = hand & ~evidence.known
    idle = 0
    known = evidence.known
    while known:
        card = lowest(known)
        known &= known - 1
        if not makes_meld(hand ^ 1 << card, card):
            idle += 1
    return (
        least_deadwood(hand),
        popcount(fitting & evidence.refused),
        popcount(fitting & evidence.thrown),
        popcount(evidence.by_thrown & hidden),
        popcount(evidence.by_refused & hidden),
        popcount(evidence.by_known & hidden),
        idle,
        popcount(fitting),
    )


@kernel
def weigh(evidence: Evidence, hand: int) -> float:
    """Return the logarithm of how well ten cards explain the opponent's play."""
    seen = look(evidence, hand)
    weight = 0.0
    for i in range(FEATURES):
        weight += LEANINGS[evidence.stage, i] * seen[i]
    return weight


@kernel
def choose_cards(cards: int, n: int, word: int) -> tuple[int, int]:
    """Return `n` of the cards of a mask, every choice as likely, and the next word."""
    left = popcount(cards)
    chosen = 0
    while n > 0:
        card = cards & -cards
        cards ^= card
        if n == left or below(word, left) < n:
            chosen |= card
            n -= 1
        left -= 1
        word = next_word(word)
    return chosen, word


@kernel
def first_world(evidence: Evidence, word: int) -> World:
    """Return a world for a walk to begin at, every one as likely as the next."""
    chosen, word = choose_cards(evidence.unseen, evidence.hidden, word)
    hand = chosen | evidence.known
    return World(hand, weigh(evidence, hand), word)


@kernel
def sample_world(view: Any, word: int) -> World:
    """Return a world that fits a view, every one as likely as the next.

    Parameters
    ----------
    word : int
        A random word, such as ``view.word``.
    """
    return first_world(gather(view), word)


@kernel
def likely_world(evidence: Evidence, world: World, steps: int) -> World:
    """Return a world some steps of a Metropolis walk away from another.

    A step swaps a hidden card of the opponent's with one of the stock, always if that
    explains its play better, else as often as it explains it as well.  After many steps
    worlds come up as often as :func:`weigh` says; two of them that are few steps apart are
    alike.
    """
    hand, weight, word = world.opponent, world.weight, world.word
    n_stock = popcount(evidence.unseen) - evidence.hidden
    if evidence.hidden <= 0 or n_stock <= 0:
        return World(hand, weight, next_word(word))
    for _ in range(steps):
        word = next_word(word)
        given = nth_card(hand & ~evidence.known, below(word, evidence.hidden))
        word = next_word(word)
        taken = nth_card(evidence.unseen & ~hand, below(word, n_stock))
        other = hand ^ 1 << given ^ 1 << taken
        its_weight = weigh(evidence, other)
        word = next_word(word)
        if its_weight >= weight or word < math.exp(its_weight - weight) * 2.0**63:
            hand, weight = other, its_weight
    return World(hand, weight, next_word(word))
