"""What is counted of a tournament: whole numbers that can be added in any order.

Everything a result says is worked out from these sums, so that it depends neither on how
the work was cut nor on the order in which it was finished, and so that a run whose rows
are not kept needs no more memory for a billion hands than for a thousand.

The unit of chance is a mirrored deal, or a mirrored pair of games.  Units are also
gathered in blocks, at most :data:`MAX_BLOCKS` of them: a block holds the same deals for
all pairings, and is what a bootstrap over deals draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_sim.compiled import kernel, readable, records
from gin_sim.control import FOLD_DTYPE, FOLDS, ORIGIN
from gin_sim.play import GAME_DTYPE
from gin_sim.scoring import OUTCOMES
from gin_sim.stats import RatioSums

MAX_BLOCKS = 1000

PAIRING_DTYPE = np.dtype(
    [
        ("turns", "i8"),
        ("endings", "i8", (2, 3, 3, len(OUTCOMES))),
        ("seats", "i8", (2, 2)),
        ("points", "i8", 6),
        ("score", "i8", 6),
        ("games", "i8", 6),
        ("margin", "i8", 6),
        ("pairs", "i8", 5),
        ("game_winners", "i8", 3),
        ("control", "i8", (FOLDS, FOLD_DTYPE.itemsize // 8)),
    ]
)
"""What is counted of a pairing of agents a and b.

``endings``
    Hands by dealer (a, b), by who ended them and who won (nobody, a, b), and by outcome.
``seats``
    Points of a and their squares in single hands, by dealer.
``points``, ``score``, ``games``, ``margin``
    By unit, as :class:`gin_sim.stats.RatioSums`: points of a for each hand; hands won (2,
    or 1 where nobody won) for twice the hands; games won likewise; a's margin with all
    bonuses for each game.
``pairs``
    Units by a's score in both hands (in games: both games): LL, LD, LW or DD, WD, WW.
``game_winners``
    Games nobody, a and b won.
``control``
    By parity of the deal, the sums of :class:`gin_sim.control.ControlSums`; of hands only.
"""

AGENT_DTYPE = np.dtype([(name, "i8", 6) for name in ("points", "score", "games", "margin")])
"""The same of an agent over all its opponents; a unit is a deal, shared by all of them."""

# What is counted of a unit on the way: the columns of an array.
POINTS, HANDS, SCORE, GAME_SCORE, MARGIN = range(5)
BLOCK_COLUMNS = ("points", "hands", "score", "games", "game_score")

Array = NDArray[np.int64]
FORFEIT = OUTCOMES.index("forfeit")


class Fault(NamedTuple):
    """A hand that an agent forfeited; the first of several is the least."""

    unit: int
    mirror: int
    pairing: int
    deal: int


@kernel
def _count_control(fold: Any, y: int, a: int, b: int) -> None:
    """Add a deal to the sums that a control needs, in the order of its record."""
    x0 = a + b
    x1 = a * a + b * b
    fold[0] += 1
    fold[1] += y
    fold[2] += y * y
    fold[3] += x0
    fold[4] += x1
    fold[5] += x0 * x0
    fold[6] += x0 * x1
    fold[7] += x0 * x1
    fold[8] += x1 * x1
    fold[9] += x0 * y
    fold[10] += x1 * y


@kernel
def _count_rows(
    rows: Any,
    games: Any,
    turns: Any,
    endings: Any,
    seats: Any,
    game_winners: Any,
    control: Any,
    units: Any,
) -> None:
    """Count the rows of one pairing, and its games; fill what there is to know of units."""
    game = -1
    left = 0
    for i in range(rows.size):
        row = rows[i]
        unit = i >> 1
        if games.size > 0:
            if left == 0:
                game += 1
                left = games[game].hands
            left -= 1
            unit = game >> 1
        dealer = row.dealer
        points = row.points_a
        turns[0] += row.turns
        endings[dealer, row.ender + 1, row.winner + 1, row.outcome] += 1
        seats[dealer, 0] += points
        seats[dealer, 1] += points * points
        units[unit, POINTS] += points
        units[unit, HANDS] += 1
        units[unit, SCORE] += 1 + (row.winner == 0) - (row.winner == 1)
        if games.size == 0 and i & 1:
            _count_control(
                control[row.deal & 1],
                units[unit, POINTS],
                # Uncompiled, the row's small integers would overflow when multiplied.
                int(row.dealt_deadwood_a) - ORIGIN,
                int(row.dealt_deadwood_b) - ORIGIN,
            )
    for game in range(games.size):
        winner = games[game].winner
        game_winners[winner + 1] += 1
        units[game >> 1, GAME_SCORE] += 1 + (winner == 0) - (winner == 1)
        units[game >> 1, MARGIN] += games[game].margin_a


def _ratio(x: Array, h: Array) -> Array:
    """Return the sums of :class:`gin_sim.stats.RatioSums` as an array."""
    return np.array([x.size, x.sum(), x @ x, h.sum(), h @ h, x @ h], np.int64)


def block_units(units: int) -> int:
    """Return how many units of a run are in each block."""
    return -(-units // MAX_BLOCKS)


class Sums:
    """Sums over some units of a tournament.

    Parameters
    ----------
    pairings : sequence of (int, int)
        Which agents meet, as places in the list of agents.
    n_agents : int
    games : bool
        Whether units are pairs of games.
    block : int
        Units in a block.

    Attributes
    ----------
    units : int
        How many have been added.
    pairings : (K,) array of PAIRING_DTYPE
    agents : (A,) array of AGENT_DTYPE
    blocks : dict of int to (K, 5) array
        By number of the block; columns are :data:`BLOCK_COLUMNS`.
    faults : dict of int to Fault
        For each agent that forfeited hands, the first of them.
    """

    def __init__(
        self, pairings: Sequence[tuple[int, int]], n_agents: int, games: bool, block: int
    ) -> None:
        self.meetings = tuple(pairings)
        self.games = games
        self.block = block
        self.units = 0
        self.pairings = np.zeros(len(self.meetings), PAIRING_DTYPE)
        self.agents = np.zeros(n_agents, AGENT_DTYPE)
        self.blocks: dict[int, Array] = {}
        self.faults: dict[int, Fault] = {}

    def empty(self) -> Sums:
        """Return sums of nothing, of the same kind."""
        return Sums(self.meetings, len(self.agents), self.games, self.block)

    def add_units(self, first: int, count: int, rows: Sequence[Any], games: Sequence[Any]) -> None:
        """Count units of all pairings.

        Parameters
        ----------
        first, count : int
            The deals (pairs of games) that were played.
        rows : sequence of record arrays
            For each pairing, in the order of play.
        games : sequence of record arrays
            Likewise; empty where hands are played.
        """
        no_games = records(0, GAME_DTYPE)
        every = np.zeros((len(self.meetings), count, 5), np.int64)
        for p, tally in enumerate(self.pairings):
            units = every[p]
            _count_rows(
                readable(rows[p]),
                readable(games[p]) if self.games else no_games,
                *(self.pairings["turns"][p : p + 1], tally["endings"], tally["seats"]),
                *(tally["game_winners"], tally["control"], units),
            )
            self._find_faults(p, rows[p])
            decided = units[:, GAME_SCORE if self.games else SCORE]
            tally["pairs"] += np.bincount(decided, minlength=5)
            for name, (x, h) in _ratios(units, self.games).items():
                tally[name] += _ratio(x, h)
        self._add_agents(every)
        self._add_blocks(first, every)
        self.units += count

    def _find_faults(self, p: int, rows: Any) -> None:
        """Find the first forfeit of each player in rows of a pairing."""
        for place in np.flatnonzero(rows["outcome"] == FORFEIT):
            row = rows[place]
            deal = int(row["deal"])
            unit = int(row["game"]) if self.games else deal
            fault = Fault(unit, int(row["mirror"]), p, deal)
            self._add_fault(self.meetings[p][int(row["ender"])], fault)

    def _add_fault(self, agent: int, fault: Fault) -> None:
        self.faults[agent] = min(self.faults.get(agent, fault), fault)

    def _add_agents(self, every: Array) -> None:
        """Add, for each agent, what it made on each deal against everybody."""
        for i, agent in enumerate(self.agents):
            mine = np.zeros(every.shape[1:], np.int64)
            met = 0
            for p, (a, b) in enumerate(self.meetings):
                if a == i:
                    mine += every[p]
                    met += 1
                elif b == i:
                    mine += _other_side(every[p], self.games)
                    met += 1
            if met:
                for name, (x, h) in _ratios(mine, self.games, met).items():
                    agent[name] += _ratio(x, h)

    def _add_blocks(self, first: int, every: Array) -> None:
        count = every.shape[1]
        numbers = (first + np.arange(count)) // self.block
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        sums = np.add.reduceat(every, starts, axis=1)
        sizes = np.diff(starts, append=count)
        games = np.broadcast_to(2 * sizes if self.games else 0, sums.shape[:2])
        columns = (sums[:, :, POINTS], sums[:, :, HANDS], sums[:, :, SCORE], games)
        table = np.stack([*columns, sums[:, :, GAME_SCORE]], axis=2)
        for i, start in enumerate(starts):
            self._add_block(int(numbers[start]), table[:, i].copy())

    def _add_block(self, number: int, block: Array) -> None:
        self.blocks[number] = self.blocks[number] + block if number in self.blocks else block

    def add(self, other: Sums) -> None:
        """Add the sums over other units."""
        self.units += other.units
        for mine, theirs in ((self.pairings, other.pairings), (self.agents, other.agents)):
            mine.view(np.int64)[:] += theirs.view(np.int64)
        for number, block in other.blocks.items():
            self._add_block(number, block)
        for agent, fault in other.faults.items():
            self._add_fault(agent, fault)

    def of(self, name: str, pairing: int) -> RatioSums:
        """Return ``points``, ``score``, ``games`` or ``margin`` of a pairing."""
        return RatioSums(*map(int, self.pairings[pairing][name]))

    def of_agent(self, name: str, agent: int) -> RatioSums:
        """Return the same of an agent over all its opponents."""
        return RatioSums(*map(int, self.agents[agent][name]))

    def block_table(self) -> Array:
        """Return all blocks in order, a (G, K, 5) array."""
        if not self.blocks:
            return np.zeros((0, len(self.meetings), 5), np.int64)
        return np.stack([self.blocks[number] for number in sorted(self.blocks)])

    def as_dict(self) -> dict[str, Any]:
        """Return the sums as plain values, for JSON."""
        return {
            "units": self.units,
            "pairings": _plain(self.pairings),
            "agents": _plain(self.agents),
            "blocks": {str(n): self.blocks[n].tolist() for n in sorted(self.blocks)},
            "faults": {str(agent): list(self.faults[agent]) for agent in sorted(self.faults)},
        }

    def add_dict(self, values: dict[str, Any]) -> None:
        """Add sums that :meth:`as_dict` has given.

        Raises
        ------
        ArithmeticError, LookupError, TypeError, ValueError
            If they are not of this kind.
        """
        other = self.empty()
        other.units = int(values["units"])
        for array, given in ((other.pairings, "pairings"), (other.agents, "agents")):
            for record, one in zip(array, values[given], strict=True):
                for name in array.dtype.names or ():
                    record[name] = np.reshape(one[name], np.shape(record[name]))
        shape = (len(self.meetings), len(BLOCK_COLUMNS))
        for number, block in dict(values["blocks"]).items():
            other.blocks[int(number)] = np.array(block, np.int64).reshape(shape)
        for agent, fault in dict(values["faults"]).items():
            other.faults[int(agent)] = Fault(*map(int, fault))
        self.add(other)


def _ratios(units: Array, games: bool, met: int = 1) -> dict[str, tuple[Array, Array]]:
    """Return what is divided by what, for each unit; `met` is the number of opponents."""
    out = {
        "points": (units[:, POINTS], units[:, HANDS]),
        "score": (units[:, SCORE], 2 * units[:, HANDS]),
    }
    if games:
        played = np.full(len(units), 2 * met)
        out["games"] = (units[:, GAME_SCORE], 2 * played)
        out["margin"] = (units[:, MARGIN], played)
    return out


def _other_side(units: Array, games: bool) -> Array:
    """Return what is known of units from b's side."""
    out = -units
    out[:, HANDS] = units[:, HANDS]
    out[:, SCORE] += 2 * units[:, HANDS]
    if games:
        out[:, GAME_SCORE] += 4
    return out


def _plain(array: Any) -> list[dict[str, Any]]:
    """Return records as dicts of plain values, flat where a field is an array."""
    return [
        {
            name: record[name].ravel().tolist() if np.ndim(record[name]) else int(record[name])
            for name in array.dtype.names
        }
        for record in array
    ]
