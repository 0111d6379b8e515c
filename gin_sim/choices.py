"""Forks of a player's choices: a throw or another, to take or not, to knock or not; compiled.

A choice between two answers has a lead: the weighted sum of what is counted about the first,
less that of the second (:mod:`gin_sim.wide_features`).  Here such choices are played on in both
ways, with the same hidden cards and the same players, and what was counted is written beside
the points that the first answer gained.  :mod:`gin_sim.forks` does it for the first knock of
any two agents, and asks nothing but what it is worth.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from gin_sim.bits import lowest
from gin_sim.chance import deal_key, next_word, sample
from gin_sim.compiled import JIT_DISABLED, kernel, once
from gin_sim.features import about_take, about_throw, gin_says, knock_after
from gin_sim.play import (
    DONE,
    ILLEGAL,
    POLICY_TYPE,
    STATES_TYPE,
    PlainPolicy,
    as_policy,
    play_until,
    points_for,
)
from gin_sim.playouts import act
from gin_sim.scoring import RULES_DTYPE
from gin_sim.show import fill_view
from gin_sim.state import deal, decide_discard
from gin_sim.view import DISCARD, DRAW, KNOCK, OVER, UPCARD
from gin_sim.wide_features import (
    N_WIDE,
    WIDE_KNOCKS,
    WIDE_TAKES,
    knock_later,
    knock_score,
    take_score,
    throw_later,
    throw_score,
)

THROWS, TAKES, KNOCKS = range(3)
CHOICES = ("throw", "take", "knock")
FIRST = (0, WIDE_TAKES, WIDE_KNOCKS, N_WIDE)
"""Where the weights of each choice begin, and where the last ends."""

OPEN = (25.0, 25.0, 40.0)
"""Forked are leads up to these, in units of the score."""

NEAR = 10.0
"""A fork counts the less, by a factor e, for so much of a lead."""

SPREAD = 6.0
"""So much worse, a throw is drawn by a factor e less often as the other one."""

FORKED = 0.6
"""The share of open choices that are forked."""

WAITS = 0.3
"""After a choice to knock it waits this often, so that later choices are seen."""

BLOCK = 1 << 36
"""Deals of its own for each call: more than it can need."""


@kernel
def write(counted: Any, row: Any, first: int, sign: float) -> int:
    """Add what was counted to a row from a place on; return the place after it."""
    for i in range(len(counted)):
        row[first + i] += sign * counted[i]
    return first + len(counted)


@kernel
def write_throw(view: Any, card: int, row: Any, sign: float) -> None:
    """Add what is counted about a throw to a row."""
    about = about_throw(view, card)
    write(throw_later(view, about), row, write(about, row, 0, sign), sign)


@kernel
def chance_of(word: int) -> float:
    """Return a random word as a number from 0 to below 1."""
    return float(word) / 2.0**63


@kernel
def two_throws(view: Any, weights: Any, dice: float) -> tuple[int, int, float]:
    """Return the best throw, another that is drawn, and the lead; -1 if there is none."""
    cards, scores = np.empty(11, np.int64), np.empty(11)
    left = view.legal_discards
    n = best = 0
    while left:
        cards[n] = lowest(left)
        left &= left - 1
        scores[n] = throw_score(view, cards[n], weights)
        if scores[n] > scores[best]:
            best = n
        n += 1
    card, most = cards[best], scores[best]
    if n == 1:
        return card, -1, 0.0
    others = np.concatenate((cards[:best], cards[best + 1 : n]))
    of_others = np.concatenate((scores[:best], scores[best + 1 : n]))
    other = sample(of_others / SPREAD, n - 1, dice)
    return card, others[other], most - of_others[other]


@kernel
def is_due(view: Any, choice: int) -> bool:
    """Return whether a choice is to be made, and not one that gin makes by itself."""
    if choice == THROWS:
        return bool(view.phase == DISCARD and view.deadwood > 0)
    if choice == KNOCKS:
        return bool(view.phase == KNOCK and view.deadwood > 0)
    return (view.phase == DRAW or view.phase == UPCARD) and gin_says(view) == 0


@kernel
def act_as_said(state: Any, rules: Any, said: int) -> bool:
    """Do what was said, a throw alone being no knock yet; False for an illegal card."""
    if state.phase == DISCARD:
        return decide_discard(state, rules, said)
    act(state, rules, said)
    return True


@kernel
def fork_choices(
    states: Any,
    rules: Any,
    seed: int,
    first_deal: int,
    choice: int,
    agent: PlainPolicy,
    other: PlainPolicy,
    rows: Any,
    leads: Any,
    gains: Any,
) -> int:
    """Play hands and fork choices of an agent in them, until the tables are full.

    Parameters
    ----------
    states : (2,) array of STATE_DTYPE
        To work in.
    choice : int
        `THROWS`, `TAKES` or `KNOCKS`.
    agent, other : policy
        They change seats from deal to deal.
    rows : (n, FIRST[choice + 1] - FIRST[choice]) array of float, zeroed
        Written: what is counted about the first answer less what is about the second.
    leads, gains : (n,) arrays of float
        Written: the first answer's lead, and the points that it gained.

    Returns
    -------
    int
        `DONE`, or `ILLEGAL`: `state.seat` threw a card that it may not, on `state.deal`.
    """
    state, branch, rule = states[0], states[1], rules[0]
    own, opponent = as_policy(agent), as_policy(other)
    weights = own.params
    word = next_word(seed ^ first_deal)  # a stream of its own, whatever the cards
    n = 0
    number = first_deal
    while n < gains.shape[0]:
        state.deal = number
        state.mirror = 0
        state.dealer = 1
        state.scores[0] = 0
        state.scores[1] = 0
        deal(state, rule, deal_key(seed, number))
        me = number & 1
        non_dealer, dealer = (own, opponent) if me == 0 else (opponent, own)
        number += 1
        while state.phase != OVER and n < gains.shape[0]:
            mover = non_dealer if state.seat == 0 else dealer
            view = state.views[state.seat]
            fill_view(state, view)
            if state.phase == DISCARD:
                said = mover.discard(view, mover.params)
            elif state.phase == KNOCK:
                said = 1 if mover.knock(view, mover.params) else 0
            else:
                said = 1 if mover.draw(view, mover.params) else 0
            if state.seat == me and is_due(view, choice):
                one, two, lead = 1, 0, 0.0
                row = rows[n]
                word = next_word(word)
                if choice == THROWS:
                    one, two, lead = two_throws(view, weights, chance_of(word))
                elif choice == TAKES:
                    lead = take_score(view, weights)
                else:
                    lead = knock_score(view, view.candidate, weights)
                word = next_word(word)
                if two >= 0 and abs(lead) < OPEN[choice] and chance_of(word) < FORKED:
                    if choice == THROWS:
                        write_throw(view, one, row, 1.0)
                        write_throw(view, two, row, -1.0)
                    elif choice == TAKES:
                        write(about_take(view), row, 0, 1.0)
                    else:
                        about = knock_after(view, view.candidate)
                        place = write(about, row, 0, 1.0)
                        write(knock_later(view, about), row, place, 1.0)
                    leads[n] = lead
                    for answer in (one, two):
                        states[1] = states[0]
                        act(branch, rule, answer)
                        if not play_until(branch, rule, OVER, non_dealer, dealer):
                            return ILLEGAL
                        points = points_for(branch, me)
                        gains[n] += points if answer == one else -points
                    n += 1
                if choice == KNOCKS:
                    word = next_word(word)
                    if chance_of(word) < WAITS:
                        said = 0
            if not act_as_said(state, rule, said):
                return ILLEGAL
    return DONE


@once
def compile_forks() -> None:
    """Compile the loop for all agents."""
    if not JIT_DISABLED:
        loop: Any = fork_choices
        rules = numba.from_dtype(RULES_DTYPE)[::1]
        numbers = numba.float64[::1]
        asked = (*[numba.int64] * 3, POLICY_TYPE, POLICY_TYPE)
        loop.compile((STATES_TYPE, rules, *asked, numba.float64[:, ::1], numbers, numbers))
        loop.disable_compile()
