"""How often to knock against a player who knows how often one does.

    python -m experiments.knock_equilibrium --deals 400000 --seed 6 --jobs 2 --out DIR

Both players draw and throw as `simple`.  A strategy is a table: the probability of
knocking at a legal chance, by ``stock_left`` (after the draw, 2..31) and deadwood (1..10).
Looked for is the table to which no other table is a good answer: the equilibrium within
this family.

Forks
-----
`simple` draws and throws without asking what anybody's table says.  So if nobody knocks, a
deal runs on along one line to gin or a dead hand, and *wait* at any chance goes on along
that line, with the same hands, order of the stock and random streams.  Each deal is played
once in this way, and at every chance a copy of the hand is knocked with.  The points of
these branches and of the end are all that any two tables can come to: what they score
against each other is the mean over their own dice, worked out along the line and not
diced for.  It is taken over both seats, as in mirrored deals.

Search
------
Fictitious play [1]_: the table starts as knock-as-soon-as-one-may; the best response to it
is mixed in with weight 2 / (round + 2), so that later responses count more, until it gains
less than 0.05 points a hand.  For a response a cell is changed only if knock minus wait is
clear of zero by its standard error.  First cells are weighed as if the player had always
waited before, until nothing changes, since what waiting is worth depends on the later
cells; then by how often the player gets there, as long as that gains points.  A table
forgets what came before, so the hill may have other tops: the climb starts from the former
response, with and without the first step, and before the search may stop from other
tables too.

Fictitious play creeps at the end.  From where it stops the table is *polished* by regret
matching [2]_: step by step each cell knocks in proportion to how much more always knocking
there would have gained against itself so far, and never less than nothing.  It is measured
in the same way every ten steps; what is kept is the table whose response gains least on
the learning deals.

Who is measured where
---------------------
The deals are in three parts of N each.  Responses are *learned* on the first.  What a
response gains against the table, its *exploitability*, is measured on the second part,
and for the final figures on the third, whose deals nothing was chosen by.  The gain on
the learning deals comes out too large and that on fresh deals too small (no response
gains more than the best), so the truth is between them.  Errors are over deals.

References
----------
.. [1] G. W. Brown, "Iterative Solution of Games by Fictitious Play", 1951.
.. [2] O. Tammelin, "Solving Large Imperfect Information Games Using CFR+", 2014.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from gin_sim import records
from gin_sim.chance import deal_key
from gin_sim.checks import MAX_JOBS, MAX_SEED, MAX_UNITS
from gin_sim.cli.common import Parser, guarded, whole
from gin_sim.compiled import JIT_DISABLED, kernel
from gin_sim.compiled import records as new_records
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
)
from gin_sim.policy import prepare
from gin_sim.progress import Reporter, note, progress
from gin_sim.registry import load_agent
from gin_sim.rules import Rules
from gin_sim.scoring import rules_record
from gin_sim.state import deal, decide_knock, stock_left
from gin_sim.stats import CONFIDENCE, t_quantile
from gin_sim.view import KNOCK, MAX_TURNS, OVER
from gin_sim.workers import Workers, ctrl_c_put_off

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Table = NDArray[np.float64]
"""Probabilities of knocking; cell ``11 * stock_left + deadwood``."""

PLAYER = "simple"
NOBODY_KNOCKS = "simple:knock_most=0"
CELLS = 32 * 11
TIP = 23
TARGET = 0.05
"""Points a hand: an exploitability at which fictitious play may stop."""
PARTS = 3
PIECE_DEALS = 8192
POLISH, MEASURED = 60, 10
"""Steps of polishing, and after how many each the table is measured."""
TRUST = 5.0
"""Points a chance with which the regrets of polishing start, for the table as it is."""
CLIMB = 40
"""The most steps of a climb; it takes three to ten."""

ALWAYS: Table = np.ones(CELLS)
NEVER: Table = np.zeros(CELLS)
BY_THE_TIP: Table = np.where(np.arange(CELLS) >= 11 * TIP, 1.0, 0.0)


# --- deals played along the line -----------------------------------------------------


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
def points_for(state: Any, seat: int) -> int:
    """Return the points of a finished hand for a seat."""
    if state.winner < 0:
        return 0
    points: int = state.points if state.winner == seat else -state.points
    return points


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


@cache
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

    part: int
    first: int
    count: int
    rules: Rules
    seed: int


def play_range(task: Range) -> tuple[Range, Chances]:
    """Return what the deals of a range can come to."""
    player = prepare(load_agent(NOBODY_KNOCKS))
    _compile()
    desk = new_desk(rules_record(task.rules))
    spare = new_records(1, desk.state.dtype)
    room = (
        np.empty((MAX_TURNS * task.count, 2), np.int16),
        np.empty(task.count, np.int32),
        np.empty(task.count, np.int16),
    )
    order = Order(task.seed, task.first, task.count, 0, 0)
    n = list_chances(desk, spare, order, player, Chances(*room))
    if n < 0:
        raise AssertionError(f"{PLAYER} threw what it may not in deal {int(desk.state[0]['deal'])}")
    return task, Chances(room[0][: int(n)].copy(), *room[1:])


# --- tables against tables -----------------------------------------------------------


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
    deals: int, seed: int, rules: Rules, workers: Workers, report: Reporter | None = None
) -> list[Part]:
    """Play the three parts: deals 0..N-1, N..2N-1 and 2N..3N-1."""
    tasks = [
        Range(part, part * deals + first, min(PIECE_DEALS, deals - first), rules, seed)
        for part in range(PARTS)
        for first in range(0, deals, PIECE_DEALS)
    ]
    with ctrl_c_put_off():
        prepare(load_agent(NOBODY_KNOCKS))
        _compile()
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


def settled(part: Part, theirs: Table, table: Table) -> Table:
    """Change a table until nothing is clear any more, as if it had always waited before."""
    for _ in range(CLIMB):
        better = part.scan(table, theirs, by_own=False).improved(table)
        if (better == table).all():
            break
        table = better
    return table


def climbed(part: Part, theirs: Table, table: Table) -> tuple[Table, Sums]:
    """Change a table where that is clear as long as it gains points."""
    found = part.scan(table, theirs)
    for _ in range(CLIMB):
        better = found.improved(table)
        changed = np.flatnonzero(better != table)
        changed = changed[np.argsort(-np.abs(found.cells[2][changed]), kind="stable")]
        size = changed.size
        # Changes that are good one by one may spoil each other: then fewer at once.
        while size:
            trial = table.copy()
            trial[changed[:size]] = better[changed[:size]]
            tried = part.scan(trial, theirs)
            if tried.total > found.total:
                table, found = trial, tried
                break
            size //= 2
        if not size:
            break
    return table, found


def best_response(part: Part, theirs: Table, *starts: Table) -> tuple[Table, Sums]:
    """Return the best that is climbed to from each start, settled and as it is.

    It scores no less than any of the starts.

    Parameters
    ----------
    starts : (CELLS,) arrays of 0 and 1
    """
    found = [
        climbed(part, theirs, table)
        for start in starts
        for table in (settled(part, theirs, start), start)
    ]
    return max(found, key=lambda pair: pair[1].total)


@dataclass(frozen=True)
class Round:
    """A table measured: the gain of the response to it, on fresh deals and as learned."""

    number: int
    search: str
    fresh: Sums
    learned: Sums


def find_equilibrium(
    learning: Part, testing: Part, rounds: int, target: float = TARGET
) -> tuple[Table, Table, list[Round]]:
    """Run fictitious play until the exploitability is surely below the target.

    Parameters
    ----------
    rounds : int
        The most responses that are mixed in.

    Returns
    -------
    table, response : (CELLS,) arrays
        The mixture, and the response to it: of the last round if it is below the target,
        else of the round in which the response gained least on the learning deals.
    history : list of Round
        Round 0 is that of the table at the start.
    """
    table = response = ALWAYS
    history: list[Round] = []
    best: tuple[float, Table, Table] = (math.inf, table, response)
    for number in range(rounds + 1):
        response, learned = best_response(learning, table, response)
        fresh = testing.scan(response, table)
        if max(fresh.high, learned.mean) < target:
            response, learned = best_response(learning, table, response, *elsewhere(table))
            fresh = testing.scan(response, table)
        history.append(Round(number, "fictitious play", fresh, learned))
        _tell(history)
        if max(fresh.high, learned.mean) < target:
            return table, response, history
        best = min(best, (learned.mean, table, response), key=lambda found: found[0])
        table = table + 2.0 / (number + 2) * (response - table)
    return *best[1:], history


def polish(
    learning: Part, testing: Part, table: Table, response: Table, history: list[Round]
) -> tuple[Table, Table]:
    """Go on by regret matching; return the best table, maybe the first, and its response.

    Parameters
    ----------
    history : list of Round
        Gets a round for each table that is measured, numbered on.
    """
    best = (learning.scan(response, table).total, table, response)
    started = learning.scan(table, table)
    regrets = np.array([table, 1.0 - table]) * started.cells[1] * TRUST
    for step in range(1, POLISH + 1):
        gains = learning.scan(table, table).cells[2]
        regrets = np.maximum(regrets + np.array([gains * (1.0 - table), -gains * table]), 0.0)
        both = regrets.sum(axis=0)
        table = np.where(both > 0.0, regrets[0] / np.where(both > 0.0, both, 1.0), table)
        if step % MEASURED == 0:
            response, learned = best_response(learning, table, response, np.round(table))
            fresh = testing.scan(response, table)
            history.append(Round(history[-1].number + 1, "regret matching", fresh, learned))
            _tell(history)
            best = min(best, (learned.total, table, response), key=lambda found: found[0])
    return best[1:]


def _tell(history: Sequence[Round]) -> None:
    last = history[-1]
    note(
        f"round {last.number}, {last.search}: exploitability {last.fresh.mean:.4f} "
        f"(standard error {last.fresh.se:.4f})"
    )


def elsewhere(table: Table) -> tuple[Table, ...]:
    """Return where else to climb from to a response to a table."""
    return ALWAYS, NEVER, BY_THE_TIP, np.round(table)


@dataclass(frozen=True)
class Standing:
    """How a strategy stands: what can be gained against it, and what it scores itself."""

    name: str
    exploitability: Sums
    learned: Sums
    against_equilibrium: Sums


def standings(learning: Part, final: Part, table: Table, response: Table) -> list[Standing]:
    """Measure the equilibrium and what it is compared with on the final deals."""
    starts = (response, *elsewhere(table))
    found = []
    for name, one in (
        ("the equilibrium", table),
        ("as soon as it may", ALWAYS),
        (f"the tip: from {TIP} on", BY_THE_TIP),
        ("gin only", NEVER),
    ):
        answer, learned = best_response(learning, one, *starts)
        fresh = final.scan(answer, one)
        found.append(Standing(name, fresh, learned, final.scan(one, table)))
    return found


# --- what is written -----------------------------------------------------------------


def cell_frame(table: Table, sums: Sums | None) -> pd.DataFrame:
    """Return ``equilibrium.csv``.

    Returns
    -------
    DataFrame
        A row for each cell: ``knock_probability``; ``n``, the chances there that play
        gets to at all; ``reach``, how often it does, a hand; ``effect``, knock minus wait
        in points when the table plays itself, and its standard error ``se``.  Empty where
        play does not get, or for the error where it got only once.
    """
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    cells = np.zeros((6, CELLS)) if sums is None else sums.cells
    n, w, g, ww, gg, wg = cells
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = g / w
        se = np.sqrt(np.maximum(gg - 2 * effect * wg + effect**2 * ww, 0.0)) / w
    at = np.array([11 * stock + points for stock in range(2, 32) for points in range(1, 11)])
    return pd.DataFrame(
        {
            "stock_left": at // 11,
            "deadwood": at % 11,
            "knock_probability": np.where(n > 0, table, np.nan)[at],
            "n": n[at].astype(np.int64),
            "reach": w[at] / (2 * sums.deals if sums else 1),
            "effect": effect[at],
            "se": np.where(n > 1, se, np.nan)[at],
        }
    )


def round_frame(history: Sequence[Round]) -> pd.DataFrame:
    """Return ``exploitability.csv``: measured on fresh deals, and as learned, by round."""
    import pandas as pd  # noqa: PLC0415

    rows = [
        (one.number, one.search, one.fresh.mean, one.fresh.se, one.fresh.deals, one.learned.mean)
        for one in history
    ]
    names = ("round", "search", "exploitability", "se", "deals", "learned")
    return pd.DataFrame(rows, columns=list(names))


def standing_frame(found: Sequence[Standing]) -> pd.DataFrame:
    """Return ``standings.csv``: each strategy's exploitability and points, a hand."""
    import pandas as pd  # noqa: PLC0415

    rows = []
    for one in found:
        gain, own = one.exploitability, one.against_equilibrium
        rows.append((one.name, gain.mean, gain.se, one.learned.mean, own.mean, own.se, gain.deals))
    names = ("strategy", "exploitability", "se", "learned", "points", "points_se", "deals")
    return pd.DataFrame(rows, columns=list(names))


def spans(numbers: Sequence[int]) -> str:
    """Return ascending numbers in words.

    Examples
    --------
    >>> spans([3, 19, 20, 21])
    '3, 19..21'
    """
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b != a + 1]
    cuts = [0, *breaks, len(numbers)]
    runs = [numbers[a:b] for a, b in pairwise(cuts) if a < b]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def verdict(cells: pd.DataFrame, found: Sequence[Standing], target: float) -> str:
    """Say in words what was found; "no data" if nothing was."""
    if not found:
        return "no data: too few deals, or no chance to knock in a part of them\n"
    best, soon, tip, gin = found

    def number(sums: Sums, sign: int = 1) -> str:
        return f"{sign * sums.mean:.3f} ± {1.96 * sums.se:.3f}"

    reached = "below" if best.exploitability.high < target else "not surely below"
    lines = [
        f"points a hand, ± for 95 %, on {best.exploitability.deals:,} deals of their own",
        f"the equilibrium can be exploited by {number(best.exploitability)} "
        f"({reached} the target, {target:g})",
    ]
    lines += [
        f"{one.name}: can be exploited by {number(one.exploitability)}, "
        f"scores {number(one.against_equilibrium)} against the equilibrium"
        for one in (soon, tip, gin)
    ]
    lines.append("the equilibrium knocks more often than not with")
    for points, some in cells[cells["knock_probability"] >= 0.5].groupby("deadwood"):
        lines.append(f"  {points:>2} at a stock of {spans([*some['stock_left']])}")
    early = cells["stock_left"] >= TIP
    shares = []
    for some in (cells[early], cells[~early]):
        often = float(some["reach"].sum())
        knocks = float((some["reach"] * some["knock_probability"].fillna(0.0)).sum())
        shares.append(f"{knocks / often:.0%}" if often else "none")
    good = "is as good as" if tip.exploitability.high < target else "is not"
    lines.append(
        f"of the chances it gets it takes {shares[0]} while {TIP} or more cards are left and "
        f"{shares[1]} later; the tip takes all and none, and {good} an equilibrium: it gives "
        f"away {tip.exploitability.mean / max(soon.exploitability.mean, 1e-9):.0%} of what "
        "knocking as soon as one may gives away"
    )
    return "\n".join(lines) + "\n"


def draw_equilibrium(cells: pd.DataFrame, ax: Axes) -> None:
    """Draw the probability of knocking; a dot where knock and wait are about the same."""
    grid = cells.pivot_table(
        index="deadwood", columns="stock_left", values="knock_probability", dropna=False
    )
    values = grid.to_numpy()
    image = ax.pcolormesh(grid.columns, grid.index, values, shading="nearest", vmin=0, vmax=1)
    ax.figure.colorbar(image, ax=ax, label="probability of knocking")
    even = cells[cells["effect"].abs() < 1.96 * cells["se"]]
    ax.scatter(even["stock_left"], even["deadwood"], s=5, color="tab:red")
    ax.axvline(TIP - 0.5, color="white", ls="--", lw=1)
    ax.invert_xaxis()
    ax.set_yticks(range(1, 11))
    ax.grid(visible=False)
    ax.set_title("How often the equilibrium knocks")
    ax.set_ylabel("deadwood to knock with")
    ax.set_xlabel(
        "cards left in the stock (dashed: the tip)\n"
        f"n = {int(cells['n'].sum()):,} chances; red: knock minus wait not clear of 0 (95 %)"
    )


def draw_exploitability(rounds: pd.DataFrame, ax: Axes, target: float = TARGET) -> None:
    """Draw how the exploitability falls from round to round."""
    at, mean, se = rounds["round"], rounds["exploitability"], rounds["se"]
    ax.plot(at, rounds["learned"], color="0.6", label="as learned")
    ax.errorbar(at, mean, 1.96 * se, fmt="o-", capsize=2, label="on fresh deals")
    ax.axhline(target, color="0.4", ls="--", lw=1, label="target")
    polished = rounds.loc[rounds["search"] != rounds["search"].iloc[0], "round"]
    if len(polished):
        ax.axvspan(polished.min() - 0.5, polished.max() + 0.5, color="0.9", lw=0, label="polished")
    ax.set_yscale("log", nonpositive="clip")
    ax.set_title("What the best response gains")
    ax.set_ylabel("points a hand")
    ax.set_xlabel(f"round\nn = {int(rounds['deals'].iloc[0]):,} deals; bars: 95 %")
    ax.legend()


# --- the command line ----------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from gin_sim.figures import save  # noqa: PLC0415

    rules = Rules.preset(args.rules)
    workers = Workers.choose(args.jobs, args.backend)
    command = f"python -m experiments.knock_equilibrium --deals {args.deals} --seed {args.seed}"
    command += f" --rounds {args.rounds}"
    command += f" --target {args.target:g}" if args.target != TARGET else ""
    command += f" --rules {args.rules}" if args.rules != "poozee" else ""
    manifest = {
        "schema": records.SCHEMA_VERSION,
        "kind": "knock_equilibrium",
        "command": command,
        "seed": args.seed,
        "deals": args.deals,
        "parts": ["learning", "testing", "final"],
        "rounds": args.rounds,
        "target": args.target,
        "rules": rules.as_dict(),
        "agents_sha256": {PLAYER: load_agent(PLAYER).source_hash()},
        "versions": records.versions(),
        "git_commit": records.git_commit(),
    }
    folder = records.take_folder(args.out, "knock_equilibrium", manifest)
    note(f"{PARTS} x {args.deals:,} deals, seed {args.seed}, results in {folder.path}")
    with progress("deals") as report:
        parts = play_parts(args.deals, args.seed, rules, workers, report)
    table, history, found, own = ALWAYS, list[Round](), list[Standing](), None
    if not any(part.empty for part in parts):
        learning, testing, final = parts
        table, response, history = find_equilibrium(learning, testing, args.rounds, args.target)
        table, response = polish(learning, testing, table, response, history)
        found = standings(learning, final, table, response)
        own = final.scan(table, table)
    cells, rounds, compared = cell_frame(table, own), round_frame(history), standing_frame(found)
    tables = {"equilibrium": cells, "exploitability": rounds, "standings": compared}
    for name, frame in tables.items():
        folder.write_text(f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    text = verdict(cells, found, args.target)
    folder.write_text("verdict.txt", text)
    if found:
        figures = folder.path / "figures"
        save(partial(draw_equilibrium, cells), figures / "equilibrium.png")
        draw = partial(draw_exploitability, rounds, target=args.target)
        save(draw, figures / "exploitability.png")
    print(text, end="")  # noqa: T201
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {command}")  # noqa: T201


def points(text: str) -> float:
    """Read a positive number of points."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1000.0:
        raise argparse.ArgumentTypeError(f"'{text}': allowed is a number above 0 and below 1000")
    return value


def build_parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        prog="python -m experiments.knock_equilibrium",
        description="Find the table of knocking probabilities that no other table exploits.",
    )
    parser.add_argument(
        "--deals",
        metavar="N",
        type=whole(1, MAX_UNITS // PARTS),
        default=400_000,
        help="in each of three parts; default 400,000",
    )
    parser.add_argument("--seed", metavar="S", type=whole(0, MAX_SEED), default=6)
    parser.add_argument(
        "--rounds", metavar="R", type=whole(0, 10_000), default=40, help="at most; default 40"
    )
    parser.add_argument(
        "--target",
        metavar="POINTS",
        type=points,
        default=TARGET,
        help=f"fictitious play stops below this exploitability, a hand; default {TARGET:g}",
    )
    parser.add_argument("--jobs", metavar="J", type=whole(-1, MAX_JOBS), help="default: all cores")
    parser.add_argument("--backend", choices=("threads", "loky"), help="default: threads")
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.add_argument("--rules", metavar="PRESET", default="poozee", help="default: poozee")
    parser.set_defaults(run=run)
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
