"""One piece of a tournament: a range of deals or games between all pairs of agents.

This is what a worker does, in a thread or in another process.  It returns rows and
nothing else; what they mean is worked out by whoever collects them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gin_sim import drive
from gin_sim.compiled import records
from gin_sim.errors import AgentError, PlayError
from gin_sim.play import (
    FULL,
    GAME_DTYPE,
    ILLEGAL,
    ROW_DTYPE,
    Desk,
    Order,
    new_desk,
    play_games,
    play_hands,
)
from gin_sim.policy import prepare
from gin_sim.recorder import Recorder
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import Rules
from gin_sim.scoring import MAX_GAME_HANDS, rules_record
from gin_sim.stops import stops_left_to_parent
from gin_sim.sums import Sums

CHUNK_UNITS = 2048
"""How many deals are played before they are counted: rows that the processor has at hand."""
CHUNK_GAMES = 128


@dataclass(frozen=True)
class Entry:
    """An agent as it travels to a worker: by what finds it there, or by itself."""

    label: str
    spec: str
    params: dict[str, float]
    source_hash: str
    agent: Agent | None

    @classmethod
    def of(cls, agent: Agent, label: str) -> Entry:
        """Return the entry of an agent; one that can be found again travels as text."""
        alone = None if agent.spec else agent
        return cls(label, agent.spec, agent.params, agent.source_hash(), alone)

    def load(self) -> Agent:
        """Return the agent, in whatever process this is.

        Raises
        ------
        AgentError
            If it is not found there, or its file has another text.
        """
        return self.agent or _load(self.spec, self.source_hash).with_params(self.params)


@cache  # a worker plays many pieces; an agent is looked for once
def _load(spec: str, source_hash: str) -> Agent:
    found = load_agent(spec)
    if found.source_hash() != source_hash:
        raise AgentError(f"agent '{spec}': the file differs from the one that the run began with")
    return found


@dataclass(frozen=True)
class Piece:
    """What a worker is asked to play.

    Attributes
    ----------
    number : int
        Place of the piece in the run.
    first, count : int
        The deals (or games) played, by every pairing.
    pairings : tuple of (int, int)
        Which entries meet, as places in `entries`.
    games : bool
        Whether the numbers count games.
    forgiving : bool
        Whether an agent's failure loses it the hand, and does not stop the run.
    block : int
        Units in a block of the sums.
    keep : bool
        Whether rows come back, or the sums alone.
    decision_seconds : float, optional
        The most that a Python agent may take for a decision.
    log : bool
        Whether the histories of hands come back.
    """

    number: int
    first: int
    count: int
    entries: tuple[Entry, ...]
    pairings: tuple[tuple[int, int], ...]
    rules: Rules
    seed: int
    games: bool
    forgiving: bool
    block: int = 1
    keep: bool = True
    decision_seconds: float | None = None
    log: bool = False


@dataclass(frozen=True)
class Played:
    """What came of a piece: its sums, and for each pairing what is kept.

    Attributes
    ----------
    rows, games : list of record arrays
    histories : list of arrays of uint8
        The text of the lines.
    """

    number: int
    first: int
    count: int
    sums: Sums
    rows: list[Any]
    games: list[Any]
    histories: list[Any]


class Pairing:
    """Two agents and the memory they play in."""

    def __init__(self, a: Entry, b: Entry, piece: Piece) -> None:
        agents = (a.load(), b.load())
        self.labels = (a.label, b.label)
        self.order = Order(piece.seed, piece.first, 0, 0, int(piece.forgiving))
        self.desk: Desk = new_desk(rules_record(piece.rules))
        limit = piece.decision_seconds
        self.players = (
            drive.Player(agents[0], a.label, limit, piece.rules),
            drive.Player(agents[1], b.label, limit, piece.rules),
        )
        self.recorder = None
        if piece.log:
            self.recorder = Recorder(
                self.desk.state[0], piece.rules, self.labels, piece.seed, piece.games
            )
        # Only the slow path can be watched.
        fast = agents[0].compiled and agents[1].compiled and not piece.log
        self.policies = (prepare(agents[0]), prepare(agents[1])) if fast else None

    def _rest(self, at: int) -> Order:
        """Return the order without its first `at` hands or games."""
        order = self.order
        return order._replace(
            first=order.first + at // 2, count=order.count - at // 2, mirror=at % 2
        )

    def _raised(self, error: BaseException) -> None:
        """Take an agent's exception as the order says: raise it again, or go on."""
        if not self.order.forgiving:
            raise self._blame(drive.describe_exception(error)) from error

    def _blame(self, what: str) -> PlayError:
        """Return the error for the agent to act in the desk's state."""
        state = self.desk.state[0]
        player = int(state["seat"]) ^ 1 ^ int(state["dealer"])
        return drive.blame(self.labels[player], self.order.seed, state, what)

    def _illegal(self) -> PlayError:
        state = self.desk.state[0]
        return self._blame(drive.illegal_card(int(state["candidate"]), state))

    def play_hands(self) -> Any:
        """Return the rows of mirrored deals."""
        state = self.desk.state[0]
        rows = records(2 * self.order.count, ROW_DTYPE)
        at = 0
        while at < rows.size:
            if self.policies is not None:
                try:
                    status, done = play_hands(self.desk, self._rest(at), *self.policies, rows[at:])
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    self._raised(error)
                    done = state["rows_done"]
                else:
                    if status == ILLEGAL:
                        raise self._illegal()
                at += int(done)
            if at < rows.size:
                # A Python agent's hand, or the one in which a compiled agent raised.
                number, mirror = self.order.first + at // 2, at % 2
                drive.drive_mirror(
                    self.desk, self.order, number, mirror, self.players, rows[at], self.recorder
                )
                at += 1
        return rows

    def play_games(self) -> tuple[Any, Any]:
        """Return the rows of mirrored games, and the games."""
        state = self.desk.state[0]
        games = records(2 * self.order.count, GAME_DTYPE)
        buffer = records(4 * MAX_GAME_HANDS, ROW_DTYPE)
        kept = [buffer[:0].copy()]
        at = 0
        while at < games.size:
            full = False
            if self.policies is not None:
                try:
                    status, n_games, n_rows = play_games(
                        self.desk, self._rest(at), *self.policies, buffer, games[at:]
                    )
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    self._raised(error)
                    n_games, n_rows = state["games_done"], state["rows_done"]
                else:
                    if status == ILLEGAL:
                        raise self._illegal()
                    full = status == FULL
                kept.append(buffer[: int(n_rows)].copy())
                at += int(n_games)
            if at < games.size and not full:
                number, mirror = self.order.first + at // 2, at % 2
                n_rows = drive.drive_game(
                    self.desk,
                    self.order,
                    number,
                    mirror,
                    self.players,
                    buffer,
                    games[at],
                    self.recorder,
                )
                kept.append(buffer[:n_rows].copy())
                at += 1
        return np.concatenate(kept), games

    def histories(self) -> Any:
        """Return the lines of the hands played since this was asked, as bytes."""
        lines = [] if self.recorder is None else self.recorder.take_lines()
        return np.frombuffer("".join(lines).encode(), np.uint8)


def play_piece(piece: Piece) -> Played:
    """Play a piece with all its pairings.

    Raises
    ------
    AgentError
        For an agent that does not load.
    PlayError
        For an agent that failed where that is an error.  It is the first by deal, mirror
        and pairing, whatever the piece: where one pairing fails, the others are still
        played as far.
    """
    sums = Sums(piece.pairings, len(piece.entries), piece.games, piece.block)
    pairings = [Pairing(piece.entries[a], piece.entries[b], piece) for a, b in piece.pairings]
    kept_rows: list[list[Any]] = [[] for _ in pairings]
    kept_games: list[list[Any]] = [[] for _ in pairings]
    histories: list[list[Any]] = [[] for _ in pairings]
    size = CHUNK_GAMES if piece.games else CHUNK_UNITS
    end = piece.first + piece.count
    for first in range(piece.first, end, size):
        count = min(size, end - first)
        rows, games = _play_chunk(pairings, first, count, piece.games)
        sums.add_units(first, count, rows, games)
        if piece.keep:
            for p in range(len(pairings)):
                kept_rows[p].append(rows[p])
                kept_games[p].extend(games[p : p + 1])
                histories[p].append(pairings[p].histories())
    return Played(
        piece.number,
        piece.first,
        piece.count,
        sums,
        [_one_array(part, ROW_DTYPE) for part in kept_rows] if piece.keep else [],
        [_one_array(part, GAME_DTYPE) for part in kept_games] if piece.keep and piece.games else [],
        [np.concatenate(part) for part in histories] if piece.log else [],
    )


def _one_array(parts: list[Any], dtype: Any) -> Any:
    return np.concatenate(parts).view(dtype, np.ndarray)


def _play_chunk(
    pairings: list[Pairing], first: int, count: int, of_games: bool
) -> tuple[list[Any], list[Any]]:
    """Return rows and games of some units for all pairings, or raise the first failure."""
    rows, games = [], []
    failed: PlayError | None = None
    for number, pairing in enumerate(pairings):
        pairing.order = pairing.order._replace(first=first, count=count)
        try:
            if of_games:
                some_rows, some_games = pairing.play_games()
                rows.append(some_rows)
                games.append(some_games)
            else:
                rows.append(pairing.play_hands())
        except PlayError as error:
            error.pairing = number
            if failed is None or failed_at(error, of_games) < failed_at(failed, of_games):
                failed = error
            count = failed_at(failed, of_games)[0] - first + 1
    if failed is not None:
        raise failed
    return rows, games


def try_piece(piece: Piece) -> tuple[Piece, Played | PlayError]:
    """Play a piece; an agent's failure is a result, for whoever puts pieces in order."""
    stops_left_to_parent()
    try:
        return piece, play_piece(piece)
    except PlayError as error:
        return piece, error


def failed_at(error: PlayError, games: bool) -> tuple[int, int, int, int]:
    """Return where in a run an agent failed: deal (game), mirror, pairing, its deal."""
    unit = error.deal // MAX_GAME_HANDS if games else error.deal
    return unit, error.mirror, error.pairing, error.deal
