"""What the opponent's play tells of its hand.

    python -m experiments.opponent_hands --deals 3000 --seed 77

A player who looks at ten cards that the opponent may hold asks how much likelier they are
than ten cards drawn blindly from those that are hidden.  This is measured: at every throw
in hands between the agents named below, the opponent's real cards are set beside as many
that were drawn blindly, known cards kept; what tells the two apart is found by logistic
regression.  With one real hand to one blind one, the fitted logarithm of the odds is the
logarithm of how much likelier the real one is, up to a constant that plays no part.

What is looked at in a hand is said in :mod:`gin_sim.worlds`, where the numbers found stand
as ``LEANINGS``.  Each stage, some own turns of the player who looks, is fitted for itself.
The opponents are players of several kinds, so that the numbers are those of none of them.
Fitted on the first half of the deals; the loss is that on the other half.
"""

from __future__ import annotations

import argparse
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gin_sim import Rules, load_agent
from gin_sim.chance import deal_key, next_word
from gin_sim.compiled import JIT_DISABLED, kernel
from gin_sim.play import DESK_TYPE, POLICY_TYPE, PlainPolicy, answer, as_policy, new_desk
from gin_sim.policy import prepare
from gin_sim.scoring import rules_record
from gin_sim.show import fill_view
from gin_sim.state import deal
from gin_sim.view import DISCARD, OVER
from gin_sim.worlds import FEATURES, LEANINGS, choose_cards, gather, look

PLAYERS = ("simple", "hard", "improver", "learned")
OPPONENTS = ("simple", "early_gin", "gin_only", "medium", "hard", "improver", "learned")
COLUMNS = 3 + FEATURES
"""The deal, whether the hand was the real one, the stage; then the features."""

WIDEST_HAND = 400
"""More throws than a hand has."""


@kernel
def watch(
    desk: Any, seed: int, first: int, count: int, a: PlainPolicy, b: PlainPolicy, rows: Any
) -> int:
    """Play deals between two agents; write what the first sees in real and blind hands.

    Returns
    -------
    int
        How many rows were written; those of whole deals.
    """
    state, rules = desk.state[0], desk.rules[0]
    one, two = as_policy(a), as_policy(b)
    n = 0
    for number in range(first, first + count):
        if n + WIDEST_HAND > rows.shape[0]:
            break
        dealer = number & 1
        deal(state, rules, deal_key(seed, number))
        own = 1 - dealer
        first_one, second = (two, one) if dealer == 0 else (one, two)
        while state.phase != OVER:
            view = state.views[state.seat]
            fill_view(state, view)
            player = first_one if state.seat == 0 else second
            if state.phase == DISCARD and state.seat == own:
                evidence = gather(view)
                blind, _ = choose_cards(evidence.unseen, evidence.hidden, next_word(view.word))
                hands = (state.hands[1 - own], blind | evidence.known)
                for i in range(2):
                    rows[n, 0] = number
                    rows[n, 1] = 1 - i
                    rows[n, 2] = evidence.stage
                    seen = look(evidence, hands[i])
                    for j in range(FEATURES):
                        rows[n, 3 + j] = seen[j]
                    n += 1
            if not answer(state, rules, view, player):
                raise ValueError("an illegal card")
    return n


def collect(deals: int, seed: int) -> NDArray[np.float64]:
    """Return the rows of all pairs of players and opponents."""
    loop: Any = watch
    if not JIT_DISABLED:
        integer = numba.int64
        loop.compile(
            (DESK_TYPE, integer, integer, integer, POLICY_TYPE, POLICY_TYPE, numba.float64[:, ::1])
        )
        loop.disable_compile()
    ready = {name: prepare(load_agent(name)) for name in {*PLAYERS, *OPPONENTS}}
    desk = new_desk(rules_record(Rules.preset("eaai")))
    room = np.zeros((WIDEST_HAND + 30 * deals, COLUMNS))
    parts = []
    for player in PLAYERS:
        for opponent in OPPONENTS:
            n = loop(desk, seed, 0, deals, ready[player], ready[opponent], room)
            parts.append(room[:n].copy())
    return np.concatenate(parts)


def loss(weights: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the mean logarithmic loss; ln 2 is that of a coin."""
    z = x @ weights
    return float(np.mean(np.logaddexp(0, z) - y * z))


def fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of a logistic regression; the first is the constant."""

    def slope(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        out: NDArray[np.float64] = x.T @ (1 / (1 + np.exp(-x @ weights)) - y) / len(y)
        return out

    found = minimize(loss, np.zeros(x.shape[1]), (x, y), "BFGS", lambda w, x, y: slope(w))
    return np.asarray(found.x)


def leanings(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[tuple[int, float]]]:
    """Return the weights of every stage, and for each its rows and its loss on fresh deals."""
    numbers, real, stages = rows[:, 0], rows[:, 1], rows[:, 2]
    x = np.column_stack([np.ones(len(rows)), rows[:, 3:]])
    learnt = numbers < np.median(numbers)
    weights, told = [], []
    for stage in range(len(LEANINGS)):
        here = stages == stage
        found = fit(x[here & learnt], real[here & learnt])
        weights.append(found[1:])
        fresh = here & ~learnt
        told.append((int(here.sum()), loss(found, x[fresh], real[fresh])))
    return np.array(weights), told


def main() -> None:
    """Print the numbers, and how well they tell hands apart."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deals", type=int, default=3000, help="for each pair (default 3000)")
    parser.add_argument("--seed", type=int, default=77)
    args = parser.parse_args()
    if args.deals < 100:
        parser.error(f"--deals {args.deals}: at least 100 are needed to fit every stage")
    weights, told = leanings(collect(args.deals, args.seed))
    for line, (n, fresh) in zip(weights, told, strict=True):
        print("[" + ", ".join(f"{w:.3f}" for w in line) + f"],  # {n:,} hands, loss {fresh:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
