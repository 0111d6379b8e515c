"""What a player who sees all cards would win.

    python -m experiments.oracle --deals 2000 --seed 8

The *oracle* sees the opponent's cards and the order of the stock, and knows what the opponent
will do.  At each of its decisions it plays every choice on to the end of the hand, by its own
plain player (`early_gin`) and by the real opponent, and takes the choice that brings most;
among equals the first.  So it cannot be beaten by anything that it could have foreseen in one
step, and later decisions are looked at again.

It is no agent: no view shows what it needs, and it is never ranked beside those that play by
the rules.  What it wins is a floor under what can be won with all cards open, and a measure of
how much of the game is left to be seen: no agent that sees its own cards only comes near it.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gin_sim import Rules, load_agent
from gin_sim.bits import lowest
from gin_sim.chance import deal_key
from gin_sim.cli.common import Parser, experiment_parser, guarded, print_table
from gin_sim.compiled import JIT_DISABLED, kernel, once, records
from gin_sim.errors import AgentError, PlayError
from gin_sim.folder import take_folder
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.manifest import git_commit, versions
from gin_sim.play import (
    DESK_TYPE,
    ORDER_TYPE,
    POLICY_TYPE,
    STATES_TYPE,
    Desk,
    Order,
    PlainPolicy,
    Policy,
    answer,
    as_policy,
    new_desk,
    play_until,
    points_for,
)
from gin_sim.playouts import KNOCKING, act
from gin_sim.policy import prepare
from gin_sim.progress import note
from gin_sim.scoring import rules_record
from gin_sim.show import fill_view
from gin_sim.state import deal
from gin_sim.stats import RatioSums
from gin_sim.view import DISCARD, OVER

OPPONENTS = ("simple", "early_gin", "hard", "improver")
PLAIN = "early_gin"
SCHEMA_VERSION = 1
ILLEGAL = 1 << 20


@kernel
def brings(desk: Desk, spare: Any, action: int, seat: int, plain: Policy, opponent: Policy) -> int:
    """Return the points of the oracle's if it does something now and plays on plainly.

    An opponent that plays illegally brings more points than any hand.
    """
    rules, branch = desk.rules[0], spare[0]
    spare[0] = desk.state[0]
    act(branch, rules, action)
    first, second = (plain, opponent) if seat == 0 else (opponent, plain)
    if not play_until(branch, rules, OVER, first, second):
        return ILLEGAL
    return points_for(branch, seat)


@kernel
def foresee(desk: Desk, spare: Any, seat: int, plain: Policy, opponent: Policy) -> None:
    """Make the decision of the oracle's that is due."""
    state = desk.state[0]
    best = -(1 << 30)
    chosen = 0
    if state.phase == DISCARD:
        left = state.legal_discards
        while left:
            card = lowest(left)
            left &= left - 1
            for action in (card, card + KNOCKING):
                points = brings(desk, spare, action, seat, plain, opponent)
                if points > best:
                    best, chosen = points, action
    else:
        for action in range(2):
            points = brings(desk, spare, action, seat, plain, opponent)
            if points > best:
                best, chosen = points, action
    act(state, desk.rules[0], chosen)


@kernel
def play_oracle(
    desk: Desk, spare: Any, order: Order, plain: PlainPolicy, opponent: PlainPolicy, points: Any
) -> int:
    """Play mirrored deals between the oracle and an opponent.

    Parameters
    ----------
    points : (count, 2) array of int
        Those of the oracle's in both hands of a deal; first the opponent deals.

    Returns
    -------
    int
        How many deals were played; fewer than asked for after an illegal card.
    """
    state, rules = desk.state[0], desk.rules[0]
    own, other = as_policy(plain), as_policy(opponent)
    state.scores[0] = 0
    state.scores[1] = 0
    for i in range(order.count):
        for seat in range(2):
            deal(state, rules, deal_key(order.seed, order.first + i))
            while state.phase != OVER:
                view = state.views[state.seat]
                fill_view(state, view)
                if state.seat == seat:
                    # Its decision's word is used up, as it is where an agent is asked.
                    foresee(desk, spare, seat, own, other)
                elif not answer(state, rules, view, other):
                    return i
            points[i, seat] = points_for(state, seat)
    return int(order.count)


@once
def compile_oracle() -> None:
    """Compile the loop for all opponents."""
    if not JIT_DISABLED:
        loop: Any = play_oracle
        points = numba.int64[:, ::1]
        loop.compile((DESK_TYPE, STATES_TYPE, ORDER_TYPE, POLICY_TYPE, POLICY_TYPE, points))
        loop.disable_compile()


def oracle_points(opponent: str, preset: str, deals: int, seed: int) -> NDArray[np.int64]:
    """Return the oracle's points in both hands of mirrored deals against an agent.

    Raises
    ------
    AgentError
        If the agent is not compiled.
    PlayError
        If it plays an illegal card.
    """
    agent = load_agent(opponent)
    if not agent.compiled:
        raise AgentError(f"agent '{agent.label}' is not compiled: the oracle cannot play it on")
    compile_oracle()
    points = np.zeros((deals, 2), np.int64)
    desk = new_desk(rules_record(Rules.preset(preset)))
    spare = records(1, STATE_DTYPE)
    order = Order(seed, 0, deals, 0, 0)
    done = play_oracle(desk, spare, order, prepare(load_agent(PLAIN)), prepare(agent), points)
    if done < deals or abs(points).max(initial=0) >= ILLEGAL:
        raise PlayError(f"agent '{agent.label}' threw an illegal card on deal {done}, seed {seed}")
    return points


def table(opponents: tuple[str, ...], preset: str, deals: int, seed: int) -> pd.DataFrame:
    """Return a row for every opponent: points a hand with a 95 % interval, hands won."""
    rows = []
    for name in opponents:
        points = oracle_points(name, preset, deals, seed)
        sums = RatioSums()
        sums.add(points.sum(axis=1), np.full(deals, 2))
        low, high = sums.interval() or (math.nan, math.nan)
        rows.append(
            {
                "opponent": name,
                "deals": deals,
                "points_per_hand": sums.mean,
                "ci_low": low,
                "ci_high": high,
                "hands_won": float((points > 0).mean()),
                "hands_lost": float((points < 0).mean()),
            }
        )
    return pd.DataFrame(rows)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    opponents = tuple(args.opponents or OPPONENTS)
    for name in opponents:
        load_agent(name)
    command = (
        f"python -m experiments.oracle --deals {args.deals} --seed {args.seed} "
        f"--rules {args.rules} --opponents {' '.join(opponents)}"
    )
    manifest = {
        "schema": SCHEMA_VERSION,
        "kind": "oracle",
        "command": command,
        "seed": args.seed,
        "deals": args.deals,
        "rules": Rules.preset(args.rules).as_dict(),
        "agents_sha256": {name: load_agent(name).source_hash() for name in (*opponents, PLAIN)},
        "versions": versions(),
        "git_commit": git_commit(),
    }
    folder = take_folder(args.out, "oracle", manifest)
    note(f"{args.deals:,} mirrored deals a pairing, results in {folder.path}")
    found = table(opponents, args.rules, args.deals, args.seed)
    folder.write_text("oracle.csv", found.to_csv(index=False, lineterminator="\n"))
    shown = [
        [
            str(row["opponent"]),
            f"{row['points_per_hand']:+.2f}",
            f"{row['ci_low']:+.2f}..{row['ci_high']:+.2f}",
            f"{100 * row['hands_won']:.1f} %",
            f"{100 * row['hands_lost']:.1f} %",
        ]
        for row in found.to_dict("records")
    ]
    columns = ["the oracle against", "points a hand", "95 %", "hands won", "hands lost"]
    print_table("", columns, shown)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {command}")  # noqa: T201


def build_parser() -> Parser:
    """Return the parser."""
    parser = experiment_parser(
        "oracle",
        "Find out what a player who sees all cards would win.",
        deals=2000,
        most_deals=10_000_000,
        seed=8,
    )
    parser.set_defaults(run=run, rules="eaai")
    parser.add_argument(
        "--opponents", metavar="AGENT", nargs="+", help=f"default: {' '.join(OPPONENTS)}"
    )
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
