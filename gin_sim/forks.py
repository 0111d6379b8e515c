"""Forks: a hand played to a decision, and on from there in both ways.

A hand is one record, so a copy of it is a fork: the same cards in the same order and the
same random streams in both branches.  :func:`fork_deals` forks each of a range of deals
where a player may first knock; :meth:`gin_sim.Hand.copy` and
:meth:`gin_sim.Hand.play_on` do it to a single hand wherever it is.

What is compared at a fork is *knock now* with *throw the same card and wait*.  The row
holds the points of both branches from the side of the player who could have knocked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from gin_sim import drive
from gin_sim.chance import deal_key
from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.compiled import JIT_DISABLED, kernel, once, records
from gin_sim.errors import AgentError, PlayError
from gin_sim.play import (
    DESK_TYPE,
    DONE,
    ILLEGAL,
    ORDER_TYPE,
    POLICY_TYPE,
    STATES_TYPE,
    Desk,
    Order,
    PlainPolicy,
    as_policy,
    new_desk,
    play_until,
    points_for,
)
from gin_sim.policy import prepare
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import Rules, as_rules
from gin_sim.runner import Entry
from gin_sim.scoring import OUTCOMES, rules_record
from gin_sim.show import fill_view
from gin_sim.state import deal, decide_knock, stock_left
from gin_sim.view import KNOCK, OVER
from gin_sim.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

FORK_DTYPE = np.dtype(
    [
        ("deal", "i8"),
        ("knock_points", "i4"),
        ("wait_points", "i4"),
        ("turn", "i2"),
        ("wait_turns", "i2"),
        ("opponent_deadwood_before_layoff", "i2"),
        ("opponent_deadwood", "i2"),
        ("seat", "i1"),
        ("own_turn", "i1"),
        ("stock_left", "i1"),
        ("drew", "i1"),
        ("deadwood", "i1"),
        ("knock_outcome", "i1"),
        ("wait_outcome", "i1"),
        ("wait_ender", "i1"),
        ("wait_stock_left", "i1"),
        ("first_upcard", "i1"),
    ],
    align=True,
)
"""A fork.  ``seat`` is 0 for the non-dealer; ``turn`` and ``own_turn`` count the turns
ended before; ``drew`` is 1 if the card came from the stock, 0 if from the pile;
``wait_ender`` is 1 if the player ended the hand after waiting, 0 if the opponent, -1 if
nobody; points are the player's."""

PIECE_DEALS = 16_384


@kernel
def _no_fork(row: Any, state: Any, seat: int) -> None:
    """Write the row of a finished hand in which a seat could never have knocked."""
    points = points_for(state, seat)
    row.seat = seat
    row.knock_points = points
    row.wait_points = points
    row.knock_outcome = state.outcome
    row.wait_outcome = state.outcome
    row.wait_ender = -1 if state.ender < 0 else (1 if state.ender == seat else 0)
    row.wait_stock_left = stock_left(state)
    row.wait_turns = 0
    row.turn = state.turn
    row.own_turn = state.own_turns[seat]
    row.first_upcard = state.first_upcard
    row.stock_left = -1
    row.deadwood = -1
    row.drew = -1
    row.opponent_deadwood = -1
    row.opponent_deadwood_before_layoff = -1


@kernel
def fork_deals(
    desk: Desk,
    spare: Any,
    order: Order,
    asked: int,
    player: PlainPolicy,
    later: PlainPolicy,
    opponent: PlainPolicy,
    rows: Any,
) -> tuple[int, int]:
    """Fork each of a range of deals at the first knock that a player may make.

    Parameters
    ----------
    spare : (1,) array of STATE_DTYPE
        For the branch in which the player waits.
    order : Order
        Which deals; mirror and forgiving are not looked at.
    asked : int
        Whose knock it is: seat 0 or 1, or -1 for whoever comes first.
    player : policy
        Plays up to the fork: the seat asked, or both.
    later, opponent : policy
        Play on after it: the one who waited, and the other.  With a seat asked the
        opponent plays, and may knock, from the start.
    rows : (count,) array of FORK_DTYPE
        Filled from the front.  A deal without such a moment has no row; with a seat
        asked it has one, with -1 for what there is not and the same points twice.

    Returns
    -------
    status, done : int
        `DONE`, or `ILLEGAL`; how many forks there were.
    """
    state, rules, branch = desk.state[0], desk.rules[0], spare[0]
    both, wait, reply = as_policy(player), as_policy(later), as_policy(opponent)
    _, _, opponent_knocks, opponent_params = opponent
    state.scores[0] = 0
    state.scores[1] = 0
    n = 0
    for number in range(order.first, order.first + order.count):
        state.deal = number
        state.mirror = 0
        state.dealer = 1
        branch.phase = OVER  # so that after an exception one knows which branch it was
        deal(state, rules, deal_key(order.seed, number))
        first = reply if asked == 1 else both
        second = reply if asked == 0 else both
        if not play_until(state, rules, KNOCK, first, second):
            return ILLEGAL, n
        while state.phase == KNOCK and asked == 1 - state.seat:
            view = state.views[state.seat]
            fill_view(state, view)
            decide_knock(state, rules, opponent_knocks(view, opponent_params))
            if not play_until(state, rules, KNOCK, first, second):
                return ILLEGAL, n
        row = rows[n]
        row.deal = number
        if state.phase == OVER:
            if asked >= 0:
                _no_fork(row, state, asked)
                n += 1
            continue
        seat = state.seat
        row.seat = seat
        row.turn = state.turn
        row.own_turn = state.own_turns[seat]
        row.stock_left = stock_left(state)
        row.drew = 1 if state.taken < 0 else 0
        row.deadwood = state.candidate_deadwood
        row.first_upcard = state.first_upcard
        # The question is asked, and answered in both ways: its random word is used up.
        state.decisions[seat] += 1
        spare[0] = desk.state[0]
        decide_knock(state, rules, True)
        row.knock_points = points_for(state, seat)
        row.knock_outcome = state.outcome
        row.opponent_deadwood_before_layoff = state.defender_before
        row.opponent_deadwood = state.defender_after
        decide_knock(branch, rules, False)
        if seat == 0:
            fine = play_until(branch, rules, OVER, wait, reply)
        else:
            fine = play_until(branch, rules, OVER, reply, wait)
        if not fine:
            return ILLEGAL, n
        row.wait_points = points_for(branch, seat)
        row.wait_outcome = branch.outcome
        row.wait_turns = branch.turn - row.turn
        row.wait_stock_left = stock_left(branch)
        row.wait_ender = -1 if branch.ender < 0 else (1 if branch.ender == seat else 0)
        n += 1
    return DONE, n


@once
def _compile_forks() -> None:
    """Compile the loop for all agents, or take it from the cache."""
    if not JIT_DISABLED:
        loop: Any = fork_deals
        policies = (POLICY_TYPE, POLICY_TYPE, POLICY_TYPE)
        rows = numba.from_dtype(FORK_DTYPE)[::1]
        loop.compile((DESK_TYPE, STATES_TYPE, ORDER_TYPE, numba.int64, *policies, rows))
        loop.disable_compile()


@dataclass(frozen=True)
class ForkPlan:
    """What is asked at the forks.

    Attributes
    ----------
    player : Agent
        Plays up to the fork: the seat asked, or both.
    later : Agent
        Plays on for the one who waited.
    opponent : Agent
        Plays on for the other; with a seat asked, from the start.
    asked : int
        Whose first knock it is: seat 0 or 1, or -1 for whoever comes first.
    """

    player: Agent
    later: Agent
    opponent: Agent
    rules: Rules
    seed: int
    asked: int = -1

    @classmethod
    def of(
        cls,
        player: str | Agent,
        later: str | Agent | None = None,
        opponent: str | Agent | None = None,
        *,
        rules: Rules | str | None = None,
        seed: int = 0,
        asked: int = -1,
    ) -> ForkPlan:
        """Return a plan; who is not given is the player.

        Raises
        ------
        AgentError
            For an agent that there is none, or that is not compiled.
        """
        first = load_agent(player)
        second = first if later is None else load_agent(later)
        third = first if opponent is None else load_agent(opponent)
        for one in (first, second, third):
            if not one.compiled:
                raise AgentError(f"agent '{one.label}' is plain Python; forks take compiled agents")
        seed = whole_number(seed, "seed", 0, MAX_SEED)
        asked = whole_number(asked, "asked", -1, 1)
        return cls(first, second, third, as_rules(rules), seed, asked)

    def prepare(self) -> None:
        """Compile all that is needed, before any worker starts."""
        for one in (self.player, self.later, self.opponent):
            prepare(one)
        _compile_forks()

    def pieces(self, deals: int) -> Iterator[ForkPiece]:
        """Cut deals 0..deals-1 into pieces for workers."""
        agents = tuple(Entry.of(one, one.label) for one in (self.player, self.later, self.opponent))
        for first in range(0, deals, PIECE_DEALS):
            count = min(PIECE_DEALS, deals - first)
            yield ForkPiece(first, count, agents, self.rules, self.seed, self.asked)


@dataclass(frozen=True)
class ForkPiece:
    """A range of deals to be forked, as it travels to a worker."""

    first: int
    count: int
    agents: tuple[Entry, ...]
    rules: Rules
    seed: int
    asked: int = -1


def play_forks(piece: ForkPiece) -> Any:
    """Return the forks of a piece as an array of FORK_DTYPE, in the order of the deals.

    Raises
    ------
    PlayError
        For an agent that raised or threw what it may not.
    """
    _compile_forks()
    desk = new_desk(rules_record(piece.rules))
    spare = records(1, desk.state.dtype)
    rows = records(piece.count, FORK_DTYPE)
    order = Order(piece.seed, piece.first, piece.count, 0, 0)
    player, later, opponent = (prepare(entry.load()) for entry in piece.agents)
    try:
        status, n = fork_deals(desk, spare, order, piece.asked, player, later, opponent, rows)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _blame(piece, desk.state[0], spare[0], drive.describe_exception(error)) from error
    if status == ILLEGAL:
        raise _blame(piece, desk.state[0], spare[0], "")
    return rows[: int(n)].view(FORK_DTYPE, np.ndarray)


def _blame(piece: ForkPiece, state: Any, branch: Any, what: str) -> PlayError:
    """Return the error for whoever is to act, in the branch if the hand had been forked."""
    acting, labels = state, [piece.agents[0].label] * 2
    if piece.asked >= 0:
        labels[1 - piece.asked] = piece.agents[2].label
    if int(state["phase"]) == OVER:
        player = int(state["ender"])
        acting, labels = branch, [piece.agents[2].label] * 2
        labels[player] = piece.agents[1].label
    what = what or drive.illegal_card(int(acting["candidate"]), acting)
    return drive.blame(labels[int(acting["seat"])], piece.seed, acting, what)


def fork_hands(
    player: str | Agent = "simple",
    later: str | Agent | None = None,
    opponent: str | Agent | None = None,
    *,
    deals: int,
    rules: Rules | str | None = None,
    seed: int = 0,
    asked: int = -1,
    jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
) -> pd.DataFrame:
    """Fork hands at the first knock that either player may make.

    Parameters
    ----------
    player, later, opponent : str or Agent
        Who plays up to the fork (both seats), who goes on after waiting, and against
        whom; the last two are the player if not given.
    deals : int
        Deals 0..deals-1 of the seed are played, each once.
    rules, seed, jobs, backend, scheduler
        As for :func:`gin_sim.play_tournament`.
    asked : int
        -1 for the first knock that anybody may make; 0 or 1 for the first of that seat,
        whose opponent then plays from the start.

    Returns
    -------
    DataFrame
        One row a fork (a deal, with a seat asked): the fields of :data:`FORK_DTYPE`,
        outcomes in words, and ``difference``, the points of knocking minus those of
        waiting.

    Examples
    --------
    >>> forks = fork_hands("simple", deals=50, seed=1)
    >>> bool(forks.deadwood.between(1, 10).all())
    True
    """
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    deals = whole_number(deals, "deals", 1, MAX_SEED)
    plan = ForkPlan.of(player, later, opponent, rules=rules, seed=seed, asked=asked)
    plan.prepare()
    done = list(Workers.choose(jobs, backend, scheduler).run(play_forks, plan.pieces(deals)))
    done.sort(key=lambda rows: int(rows["deal"][0]) if rows.size else -1)
    frame = pd.DataFrame(np.concatenate(done))
    for column in ("knock_outcome", "wait_outcome"):
        codes: Any = frame[column]
        frame[column] = pd.Categorical.from_codes(codes, pd.Index(OUTCOMES))
    frame.insert(3, "difference", frame["knock_points"] - frame["wait_points"])
    return frame
