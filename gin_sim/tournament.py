"""Tournaments: how the work is cut, given to workers and put together again.

The result is a function of agents, rules, seed and amount.  Workers return rows for
ranges of deals; rows are put in order before they are written, and all statistics are
sums of whole numbers, so neither the number of workers nor the size of the pieces nor
the order in which they finish can be seen in it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gin_sim import records
from gin_sim.errors import PlayError, ResultsError, WorkerError
from gin_sim.plan import Plan, make_plan
from gin_sim.policy import prepare
from gin_sim.progress import Reporter
from gin_sim.registry import Agent
from gin_sim.result import Result
from gin_sim.rules import Rules
from gin_sim.runner import Entry, Piece, Played, failed_at, try_piece
from gin_sim.stats import PairingTally, RatioSums
from gin_sim.workers import Workers, ctrl_c_put_off

PIECE_SECONDS = 0.5


def run_plan(
    plan: Plan,
    workers: Workers | None = None,
    folder: records.RunFolder | None = None,
    *,
    piece_units: int | None = None,
    report: Reporter | None = None,
) -> Result:
    """Play a tournament.

    Parameters
    ----------
    workers : Workers, optional
        All cores if not given.
    folder : RunFolder, optional
        For the results; without it, rows stay in memory.
    piece_units : int, optional
        How much a worker gets at a time; by default what takes half a second.
    report : callable, optional
        Told of the progress.

    Raises
    ------
    PlayError
        For an agent that failed: the first hand of the run in which one did, however the
        work was cut.  As at Ctrl-C, the rows that are there are kept in the folder.
    """
    workers = workers or Workers.choose(compiled=plan.compiled)
    # Compiled here, before any worker starts: workers then find the code in the cache.
    with ctrl_c_put_off():  # which the compiler might swallow
        for agent in plan.agents:
            if agent.compiled:
                prepare(agent)
    collector = _Collector(plan, folder)
    pieces = _Pieces(plan, piece_units)
    failures: list[PlayError] = []
    try:
        with closing(workers.run(_timed_piece, pieces)) as finished:
            for played, seconds in finished:
                if isinstance(played, PlayError):
                    # Pieces come as they are finished: one before may have failed as well.
                    failures.append(played)
                    pieces.stop()
                    continue
                pieces.learn(played.count, seconds)
                with ctrl_c_put_off():
                    collector.take(played)
                    if report is not None:
                        both = 2 * len(plan.pairings)
                        report(both * collector.units, both * plan.units)
        if failures:
            raise _first(failures, plan)
    except BaseException as error:
        first = _first(failures, plan) if failures and isinstance(error, WorkerError) else error
        try:
            with ctrl_c_put_off():
                collector.keep_unfinished()
        except ResultsError as lost:
            first.add_note(f"rows were lost: {lost}")
        raise first from None
    with ctrl_c_put_off():
        return collector.finish()


def _first(failures: list[PlayError], plan: Plan) -> PlayError:
    return min(failures, key=lambda error: failed_at(error, plan.games))


def _timed_piece(piece: Piece) -> tuple[Played | PlayError, float]:
    start = time.perf_counter()
    _, played = try_piece(piece)
    return played, time.perf_counter() - start


class _Pieces:
    """Cuts a plan into pieces, as long as they should take; never across a part's border."""

    def __init__(self, plan: Plan, piece_units: int | None) -> None:
        self.plan = plan
        self.fixed = piece_units
        self.size = piece_units or (256 if plan.compiled else 4)
        self.stopped = False

    def stop(self) -> None:
        """Hand out no more pieces."""
        self.stopped = True

    def learn(self, units: int, seconds: float) -> None:
        """Fit the size of the pieces to come to what one has taken."""
        if self.fixed is None and seconds > 0:
            fitting = int(units * PIECE_SECONDS / seconds)
            self.size = max(1, min(fitting, 8 * self.size))

    def __iter__(self) -> Iterator[Piece]:
        plan = self.plan
        entries = tuple(
            Entry.of(agent, label) for agent, label in zip(plan.agents, plan.labels, strict=True)
        )
        first = 0
        for number in itertools.count():
            if self.stopped or first >= plan.units:
                return
            border = (first // plan.part_units + 1) * plan.part_units
            count = min(self.size, border - first, plan.units - first)
            yield Piece(
                number=number,
                first=first,
                count=count,
                entries=entries,
                pairings=plan.pairings,
                rules=plan.rules,
                seed=plan.seed,
                games=plan.games,
                forgiving=plan.forgiving,
            )
            first += count


class _Collector:
    """Adds up finished pieces, and writes each part when all of it is there."""

    def __init__(self, plan: Plan, folder: records.RunFolder | None) -> None:
        self.plan = plan
        self.folder = folder
        self.units = 0
        self.waiting: dict[int, list[Played]] = {}
        self.tables: dict[str, list[tuple[int, Any]]] = {"hands": [], "games": []}
        self.tallies = [PairingTally() for _ in plan.pairings]
        self.totals = [RatioSums() for _ in plan.agents]
        self.shares = [RatioSums() for _ in plan.agents]

    def take(self, played: Played) -> None:
        """Count a piece, and keep its rows until its part is whole."""
        self.units += played.count
        self._count(played)
        if not self.plan.keep_hands:
            return
        number = played.first // self.plan.part_units
        part = self.waiting.setdefault(number, [])
        part.append(played)
        start = number * self.plan.part_units
        size = min(self.plan.part_units, self.plan.units - start)
        if sum(piece.count for piece in part) == size:
            self._write(number, part)
            del self.waiting[number]

    def keep_unfinished(self) -> None:
        """Write the rows there are of parts that are not whole, if there is a folder."""
        if self.folder is not None:
            for number, part in self.waiting.items():
                self._write(number, part)

    def _count(self, played: Played) -> None:
        n = played.count
        points = np.zeros((len(self.totals), n), np.int64)
        hands = np.zeros_like(points)
        wins = np.zeros_like(points)
        met = np.zeros_like(points)
        for p, (a, b) in enumerate(self.plan.pairings):
            tally, rows = self.tallies[p], played.rows[p]
            tally.add_rows(rows)
            source = rows
            if self.plan.games:
                source = played.games[p]
                tally.add_games(source)
                won = (1 + (source["winner"] == 0) - (source["winner"] == 1)).reshape(n, 2)
                wins[a] += won.sum(axis=1)
                wins[b] += (2 - won).sum(axis=1)
                met[a] += 4
                met[b] += 4
            x = source["points_a"].astype(np.int64).reshape(n, 2).sum(axis=1)
            h = source["hands"].reshape(n, 2).sum(axis=1) if self.plan.games else np.full(n, 2)
            tally.points.add(x, h)
            points[a] += x
            points[b] -= x
            hands[a] += h
            hands[b] += h
        for i, (total, share) in enumerate(zip(self.totals, self.shares, strict=True)):
            total.add(points[i], hands[i])
            if self.plan.games:
                share.add(wins[i], met[i])

    def _write(self, number: int, part: list[Played]) -> None:
        part.sort(key=lambda piece: piece.first)
        labels = self.plan.pairing_labels
        rows = [np.concatenate([piece.rows[p] for piece in part]) for p in range(len(labels))]
        self._store("hands", number, records.hands_table(rows, labels, self.plan.games))
        if self.plan.games:
            games = [np.concatenate([piece.games[p] for piece in part]) for p in range(len(labels))]
            self._store("games", number, records.games_table(games, labels))

    def _store(self, kind: str, number: int, table: Any) -> None:
        if self.folder is None:
            self.tables[kind].append((number, table))
        else:
            self.folder.write_part(kind, number, table)

    def finish(self) -> Result:
        """Return the result, and write its summary."""
        in_order = {
            kind: [table for _, table in sorted(tables, key=lambda pair: pair[0])]
            for kind, tables in self.tables.items()
        }
        out = self.folder.path if self.folder else None
        result = Result(self.plan, self.tallies, self.totals, self.shares, out, in_order)
        if self.folder is not None:
            document = result.as_dict()
            del document["out"]
            self.folder.write_json("summary.json", document)
            self.folder.write_text("summary.csv", result.summary.to_csv(index=False))
        return result


def play_tournament(
    agents: Sequence[str | Agent],
    *,
    hands: int | None = None,
    games: int | None = None,
    rules: Rules | str | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    out: str | Path | None = None,
    on_illegal: str = "error",
    keep_hands: bool = True,
) -> Result:
    """Play a round robin; two agents make a match.

    Parameters
    ----------
    agents : sequence of str or Agent
        As on the command line, or agents themselves.
    hands, games : int, optional
        How many for each pairing, rounded up to whole mirrored deals (pairs of games);
        20,000 hands if neither is given.
    rules : Rules or str, optional
        Rules or the name of a preset; the standard rules if not given.
    seed : int, optional
        Drawn and recorded if not given.
    jobs : int, optional
        Workers; all cores (or all of the cluster) if not given.
    backend : str, optional
        ``threads``, ``loky`` (processes), ``dask`` or ``ray`` (clusters); by default
        threads where all agents are compiled, else processes.
    scheduler : str, optional
        Address of the cluster, such as ``tcp://192.0.2.1:8786``.
    out : path, optional
        A new folder for rows and summary; without it, rows stay in memory.
    on_illegal : str
        ``error`` stops the run at an illegal action, ``forfeit`` loses the hand by it.
    keep_hands : bool
        Whether rows of hands are kept at all.

    Returns
    -------
    Result
        ``.summary``, ``.ranking``, ``.hands`` and ``.games`` are DataFrames.

    Examples
    --------
    >>> result = play_tournament(["greedy", "greedy"], hands=20, seed=1)
    >>> float(result.summary.points_per_hand[0])
    0.0
    """
    plan = make_plan(
        agents,
        hands=hands,
        games=games,
        rules=rules,
        seed=seed,
        on_illegal=on_illegal,
        keep_hands=keep_hands,
    )
    workers = Workers.choose(jobs, backend, scheduler, compiled=plan.compiled)
    if out is not None and (not isinstance(out, str | PathLike) or not str(out).strip()):
        raise ResultsError(f"out = {out!r}: give the path of a new folder")
    folder = records.RunFolder.create(Path(out), plan.manifest()) if out is not None else None
    return run_plan(plan, workers, folder)
