"""Tournaments: how the work is cut, given to workers and put together again.

The result is a function of agents, rules, seed and amount.  Workers return rows for
ranges of deals; rows are put in order before they are written, and all statistics are
sums of whole numbers, so neither the number of workers nor the size of the pieces nor
the order in which they finish can be seen in it.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any

from gin_sim.bot import quit_idle
from gin_sim.collect import Collector
from gin_sim.errors import GinSimError, PlayError, ResultsError, WorkerError
from gin_sim.folder import RunFolder
from gin_sim.manifest import read_manifest
from gin_sim.plan import Plan, make_plan, make_sweep
from gin_sim.policy import make_ready
from gin_sim.progress import Reporter
from gin_sim.registry import Agent
from gin_sim.result import Result
from gin_sim.rules import Rules
from gin_sim.runner import Entry, Piece, Played, failed_at, try_piece
from gin_sim.stops import stops_put_off
from gin_sim.workers import Workers

PIECE_SECONDS = 0.5
FIRST_UNITS = 2
"""The first pieces are small, since an agent may take seconds for a hand; the next may be eight
times as large, until they are as long as they should be."""


def run_plan(
    plan: Plan,
    workers: Workers | None = None,
    folder: RunFolder | None = None,
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
    plan.check_workers(workers)
    # Compiled here, before any worker starts: workers then find the code in the cache.
    make_ready(plan.agents)
    try:
        collector = Collector(plan, folder)
        _play(plan, workers, collector, piece_units, report)
        with stops_put_off():
            return collector.finish()
    finally:
        quit_idle()
        if folder is not None:
            folder.release()


def _play(
    plan: Plan,
    workers: Workers,
    collector: Collector,
    piece_units: int | None,
    report: Reporter | None,
) -> None:
    """Play what is missing."""
    pieces = _Pieces(plan, collector.missing(), piece_units)
    failures: list[PlayError] = []
    both = 2 * len(plan.pairings)
    if report is not None and collector.units:
        report(both * collector.units, both * plan.units, collector.found())
    try:
        with closing(workers.run(_timed_piece, pieces)) as finished:
            for played, seconds in finished:
                if isinstance(played, PlayError):
                    # Pieces come as they are finished: one before may have failed as well.
                    failures.append(played)
                    pieces.stop()
                    continue
                pieces.learn(played.count, seconds)
                with stops_put_off():
                    collector.take(played)
                    if report is not None:
                        report(both * collector.units, both * plan.units, collector.found())
    except (ResultsError, WorkerError) as error:
        # An agent's failure is what there is to tell, whatever became of its rows.
        if not failures:
            raise
        first = _first(failures, plan)
        if isinstance(error, ResultsError):
            first.add_note(f"rows were lost: {error}")
        raise first from None
    if failures:
        raise _first(failures, plan)


def _first(failures: list[PlayError], plan: Plan) -> PlayError:
    return min(failures, key=lambda error: failed_at(error, plan.games))


def _timed_piece(piece: Piece) -> tuple[Played | PlayError, float]:
    start = time.perf_counter()
    _, played = try_piece(piece)
    return played, time.perf_counter() - start


class _Pieces:
    """Cuts what is missing into pieces, as long as they should take."""

    def __init__(self, plan: Plan, missing: list[tuple[int, int]], piece_units: int | None) -> None:
        self.plan = plan
        self.missing = missing
        self.fixed = piece_units
        self.size = piece_units or FIRST_UNITS
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
        whole = Piece(
            number=0,
            first=0,
            count=0,
            entries=tuple(
                Entry.of(agent, label)
                for agent, label in zip(plan.agents, plan.labels, strict=True)
            ),
            pairings=plan.pairings,
            rules=plan.rules,
            seed=plan.seed,
            games=plan.games,
            forgiving=plan.forgiving,
            block=plan.block_units,
            keep=plan.keep_hands,
            log=plan.log,
            decision_seconds=plan.decision_seconds,
        )
        numbers = itertools.count()
        for start, end in self.missing:
            first = start
            while first < end:
                if self.stopped:
                    return
                count = min(self.size, end - first)
                yield dataclasses.replace(whole, number=next(numbers), first=first, count=count)
                first += count


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
    format: str = "round-robin",  # noqa: A002 - what the command line calls it
    resume: str | Path | None = None,
    time_limit: float | None = None,
    log: bool = False,
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
        Whether rows of hands are kept at all.  Without them a billion hands take no more
        memory than a thousand.
    format : str
        ``round-robin``; ``gauntlet``, the first agent against all others; ``league``, a
        round robin of whole games.
    resume : path, optional
        The folder of a run of the same agents, rules, seed and amount that was stopped:
        what is missing is played.  Instead of `out`.
    time_limit : float, optional
        Seconds that a Python agent may take for a decision, 0.001 to 3600; one that takes
        longer has played illegally.  Where that happens depends on the machine and on what
        else it does, and so does the result then.  Compiled agents cannot be interrupted
        and have no limit.  Not with the backend ``threads``.  An agent that catches
        every exception and goes on cannot be stopped but by ending its process: that of a
        worker, or with ``jobs=1`` this one.
    log : bool
        Whether each hand is written, move by move, into `out` too (docs/histories.md).
        Compiled agents then play some hundred times slower.

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
    _check_folders(out, resume)
    if resume is not None and seed is None:
        seed = read_manifest(resume).get("seed")
    plan = make_plan(
        agents,
        hands=hands,
        games=games,
        rules=rules,
        seed=seed,
        on_illegal=on_illegal,
        keep_hands=keep_hands,
        format=format,
        decision_seconds=time_limit,
        log=log,
    )
    workers = Workers.choose(jobs, backend, scheduler, compiled=plan.compiled)
    return _run_in(plan, workers, out, resume)


def play_sweep(
    agent: str | Agent,
    param: str,
    values: Sequence[float],
    against: Sequence[str | Agent],
    *,
    jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    out: str | Path | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> Result:
    """Play one agent with each value of a parameter, on the same deals.

    Parameters
    ----------
    agent : str or Agent
    param : str
        One of its parameters, or of those that every agent takes.
    values : sequence of float
    against : sequence of str or Agent
        The opponents of each.
    jobs, backend, scheduler, out, time_limit
        As for :func:`play_tournament`.
    **options
        ``hands`` or ``games``, ``rules``, ``seed``, ``on_illegal``, ``keep_hands``, ``log``.

    Returns
    -------
    Result
        With ``.sweep``, a DataFrame of a row for each value and opponent.

    Examples
    --------
    >>> found = play_sweep("simple", "knock_most", [0, 10], ["greedy"], hands=20, seed=1)
    >>> list(found.sweep["value"])
    [0.0, 10.0]
    """
    _check_folders(out, None)
    plan = make_sweep(agent, param, values, against, decision_seconds=time_limit, **options)
    workers = Workers.choose(jobs, backend, scheduler, compiled=plan.compiled)
    return _run_in(plan, workers, out, None)


def _check_folders(out: Any, resume: Any) -> None:
    if out is not None and resume is not None:
        raise ResultsError("out and resume: give one of them")
    for name, value in (("out", out), ("resume", resume)):
        if value is not None and (
            not isinstance(value, str | PathLike)
            or not str(value).strip("\0 ")
            or "\0" in str(value)
        ):
            raise ResultsError(f"{name} = {value!r}: give the path of a folder")


def _run_in(
    plan: Plan, workers: Workers, out: str | Path | None, resume: str | Path | None
) -> Result:
    """Run a plan in a new folder, in one there is, or in memory."""
    plan.check_workers(workers)
    if plan.log and out is None and resume is None:
        raise GinSimError("log = True: histories are written into a folder; name one with out")
    folder = None
    if out is not None:
        folder = RunFolder.create(Path(out), plan.manifest())
    elif resume is not None:
        folder = RunFolder.resume(Path(resume), plan.manifest())
    return run_plan(plan, workers, folder)
