"""Knocking by a table: what any two tables score against each other, without dice.

A player that knocks by a table draws and throws as some agent does, and knocks at a legal
chance with the probability that stands for the cards left in the stock and its deadwood.
If the agent draws and throws without looking at tables, a deal runs along one line as long
as nobody knocks.  It is played once in this way, with a copy knocked with at every chance:
the points of these branches and of the end are all that any two tables can come to, and
what they score is worked out along the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from gin_sim.chance import deal_key
from gin_sim.compiled import JIT_DISABLED, kernel, once, records
from gin_sim.play import (
    DESK_TYPE,
    ORDER_TYPE,
    PARAMS_TYPE,
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
from gin_sim.progress import Reporter
from gin_sim.registry import load_agent
from gin_sim.rules import Rules
from gin_sim.scoring import rules_record
from gin_sim.state import deal, decide_knock, stock_left
from gin_sim.stats import CONFIDENCE, t_quantile
from gin_sim.stops import stops_put_off
from gin_sim.view import KNOCK, MAX_TURNS, OVER
from gin_sim.workers import Workers

Table = NDArray[np.float64]
"""Probabilities of knocking; cell ``11 * stock_left + deadwood``."""

CELLS = 32 * 11
PARTS = 3
PIECE_DEALS = 8192


class Chances(NamedTuple):
    """What deals can come to.

    Attributes
    ----------
    at : (n, 2) array of int16
        Each chance, in the order of play: cell (plus `CELLS` for the dealer's) and the
        points of knocking for the player who has it.
    ends : (deals,) array of int32
        Where each deal's chances end.
    last : (deals,) array of int16
        Points of the non-dealer if nobody knocks.
    """

    at: Any
    ends: Any
    last: Any


_AT_TYPE, _ENDS_TYPE, _LAST_TYPE = types.int16[:, ::1], types.int32[::1], types.int16[::1]
_CHANCES_TYPE = types.NamedTuple([_AT_TYPE, _ENDS_TYPE, _LAST_TYPE], Chances)


@kernel
def list_chances(
    desk: Desk, spare: Any, order: Order, player: PlainPolicy, chances: Chances
) -> int:
    """Play deals in which nobody knocks, and try a knock at every chance.

    Parameters
    ----------
    spare : (1,) array of STATE_DTYPE
        For the branch with the knock.
    order : Order
        Which deals; mirror and forgiving are not looked at.

    Returns
    -------
    int
        How many chances there were; -1 if the player threw what it may not.
    """
    state, rules, branch = desk.state[0], desk.rules[0], spare[0]
    both = as_policy(player)
    n = 0
    for i in range(order.count):
        state.deal = order.first + i
        state.dealer = 1
        deal(state, rules, deal_key(order.seed, order.first + i))
        while play_until(state, rules, KNOCK, both, both) and state.phase == KNOCK:
            seat = state.seat
            # The question is asked, and answered in both ways: its random word is used up.
            state.decisions[seat] += 1
            spare[0] = desk.state[0]
            decide_knock(branch, rules, True)
            chances.at[n, 0] = CELLS * seat + 11 * stock_left(state) + state.candidate_deadwood
            chances.at[n, 1] = points_for(branch, seat)
            decide_knock(state, rules, False)
            n += 1
        if state.phase != OVER:
            return -1
        chances.last[i] = points_for(state, 0)
        chances.ends[i] = n
    return n


@kernel
def scan(chances: Chances, mine: Table, theirs: Table, by_own: int, sums: Any) -> Any:
    """Work out what one table scores against another, and what knocking gains by cell.

    Parameters
    ----------
    by_own : int
        1 to weigh a chance by how often `mine` gets there, 0 as if it had always waited.
        How often `theirs` lets it get there counts in any case.
    sums : (6, CELLS) array of float
        Added to, by cell: chances; and over deals, with w the weights and g the weighted
        gains (knock minus wait): w, g, w * w, g * g, w * g.

    Returns
    -------
    total, squares : float
        Of the points a hand over deals.
    """
    reach = np.empty(MAX_TURNS)
    touched = np.empty(2 * MAX_TURNS, np.int64)
    weights, gains = np.zeros(CELLS), np.zeros(CELLS)
    total, squares = 0.0, 0.0
    first = 0
    for i in range(chances.last.size):
        end = chances.ends[i]
        both_seats = 0.0
        n_touched = 0
        for seat in range(2):
            got_here, let_here = 1.0, 1.0
            for k in range(first, end):
                cell = chances.at[k, 0] - CELLS * seat
                if 0 <= cell < CELLS:
                    reach[k - first] = let_here * got_here if by_own else let_here
                    got_here *= 1.0 - mine[cell]
                else:
                    let_here *= 1.0 - theirs[chances.at[k, 0] - CELLS * (1 - seat)]
            value = float(chances.last[i]) * (1 - 2 * seat)
            for k in range(end - 1, first - 1, -1):
                cell = chances.at[k, 0] - CELLS * seat
                points = float(chances.at[k, 1])
                if 0 <= cell < CELLS:
                    weight = reach[k - first]
                    if weight > 0.0:
                        if weights[cell] == 0.0:
                            touched[n_touched] = cell
                            n_touched += 1
                        weights[cell] += weight
                        gains[cell] += weight * (points - value)
                        sums[0, cell] += 1.0
                    value += mine[cell] * (points - value)
                else:
                    other = theirs[chances.at[k, 0] - CELLS * (1 - seat)]
                    value += other * (-points - value)
            both_seats += value
        a_hand = both_seats / 2.0
        total += a_hand
        squares += a_hand * a_hand
        for j in range(n_touched):
            cell = touched[j]
            weight, gain = weights[cell], gains[cell]
            sums[1, cell] += weight
            sums[2, cell] += gain
            sums[3, cell] += weight * weight
            sums[4, cell] += gain * gain
            sums[5, cell] += weight * gain
            weights[cell] = 0.0
            gains[cell] = 0.0
        first = end
    return total, squares


@once
def _compile() -> None:
    """Compile the loops, once in each process."""
    if not JIT_DISABLED:
        lister: Any = list_chances
        scanner: Any = scan
        lister.compile((DESK_TYPE, STATES_TYPE, ORDER_TYPE, POLICY_TYPE, _CHANCES_TYPE))
        scanner.compile(
            (_CHANCES_TYPE, PARAMS_TYPE, PARAMS_TYPE, types.int64, types.float64[:, ::1])
        )
        for loop in (lister, scanner):
            loop.disable_compile()


@dataclass(frozen=True)
class Range:
    """A range of deals, as it travels to a worker."""

    player: str
    part: int
    first: int
    count: int
    rules: Rules
    seed: int


def _prepared(player: str) -> PlainPolicy:
    """Return a player that never knocks, with all that is needed compiled."""
    _compile()
    return prepare(load_agent(player).with_params({"knock_most": 0}))


def play_range(task: Range) -> tuple[Range, Chances]:
    """Return what the deals of a range can come to."""
    player = _prepared(task.player)
    desk = new_desk(rules_record(task.rules))
    spare = records(1, desk.state.dtype)
    room = (
        np.empty((MAX_TURNS * task.count, 2), np.int16),
        np.empty(task.count, np.int32),
        np.empty(task.count, np.int16),
    )
    order = Order(task.seed, task.first, task.count, 0, 0)
    n = list_chances(desk, spare, order, player, Chances(*room))
    if n < 0:
        raise AssertionError(
            f"{task.player} threw what it may not in deal {int(desk.state[0]['deal'])}"
        )
    return task, Chances(room[0][: int(n)].copy(), *room[1:])


@dataclass(frozen=True)
class Sums:
    """What :func:`scan` makes of all deals of a part."""

    deals: int
    total: float
    squares: float
    cells: Any

    @property
    def mean(self) -> float:
        """Points a hand."""
        return self.total / self.deals

    @property
    def se(self) -> float:
        """The standard error of the mean, over deals."""
        spread = max(self.squares - self.total * self.mean, 0.0) / (self.deals - 1)
        return math.sqrt(spread / self.deals)

    @property
    def high(self) -> float:
        """The upper end of the mean's 95 % interval."""
        return self.mean + t_quantile(0.5 + CONFIDENCE / 2, self.deals - 1) * self.se

    def improved(self, table: Table) -> Table:
        """Return a table with the better choice wherever it is clear which that is."""
        gains, errors = self.cells[2], np.sqrt(self.cells[4])
        return np.where(np.abs(gains) > errors, np.where(gains > 0, 1.0, 0.0), table)


@dataclass(frozen=True)
class Part:
    """One of the parts of the deals."""

    pieces: Sequence[Chances]
    workers: Workers

    @property
    def empty(self) -> bool:
        """Whether there is too little to say anything."""
        n = sum(int(piece.at.shape[0]) for piece in self.pieces)
        return n == 0 or self.deals < 2

    @property
    def deals(self) -> int:
        """How many deals there are."""
        return sum(int(piece.last.size) for piece in self.pieces)

    def scan(self, mine: Table, theirs: Table, *, by_own: bool = True) -> Sums:
        """Play a table against another; the pieces are added up in their order."""

        def one(number: int) -> tuple[int, Any, Any]:
            cells = np.zeros((6, CELLS))
            scores = scan(self.pieces[number], mine, theirs, int(by_own), cells)
            return number, scores, cells

        with closing(self.workers.run(one, range(len(self.pieces)))) as finished:
            done = sorted(finished, key=lambda found: found[0])
        total = sum(float(scores[0]) for _, scores, _ in done)
        squares = sum(float(scores[1]) for _, scores, _ in done)
        return Sums(self.deals, total, squares, sum(cells for _, _, cells in done))


def play_parts(
    deals: int,
    seed: int,
    rules: Rules,
    workers: Workers,
    report: Reporter | None = None,
    *,
    player: str = "simple",
) -> list[Part]:
    """Play the three parts: deals 0..N-1, N..2N-1 and 2N..3N-1.

    Parameters
    ----------
    deals : int
        N.  All that they can come to is kept in memory, some 50 bytes a deal.
    player : str
        Plays both seats.  It must draw and throw without looking at who knocks when.
    """
    tasks = [
        Range(player, part, part * deals + first, min(PIECE_DEALS, deals - first), rules, seed)
        for part in range(PARTS)
        for first in range(0, deals, PIECE_DEALS)
    ]
    with stops_put_off():
        _prepared(player)
    found: list[tuple[Range, Chances]] = []
    done = 0
    with closing(workers.run(play_range, tasks)) as finished:
        for task, chances in finished:
            found.append((task, chances))
            done += task.count
            if report is not None:
                report(done, PARTS * deals)
    found.sort(key=lambda pair: pair[0].first)
    threads = Workers(workers.jobs, "threads")  # what has been played need not travel
    return [
        Part([chances for task, chances in found if task.part == part], threads)
        for part in range(PARTS)
    ]
