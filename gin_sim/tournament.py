"""Tournaments: who meets whom, how the work is cut, and what comes out.

The result is a function of agents, rules, seed and amount.  Workers return rows for
ranges of deals; rows are put in order before they are written, and all statistics are
sums of whole numbers, so neither the number of workers nor the size of the pieces nor
the order in which they finish can be seen in it.
"""

from __future__ import annotations

import itertools
import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim import records
from gin_sim.chance import MAX_SEED
from gin_sim.errors import AgentError, GinSimError
from gin_sim.policy import prepare
from gin_sim.registry import Agent, load_agent, unique_labels
from gin_sim.rules import PRESETS, Rules
from gin_sim.runner import Entry, Piece, Played, play_piece
from gin_sim.scoring import MAX_GAME_HANDS
from gin_sim.stats import PairingTally, RatioSums

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LADDER = ("random", "simple", "greedy", "gin_only", "early_gin")
"""Who plays when nobody is named."""

BACKENDS = ("threads", "loky")
DEFAULT_HANDS = 20_000
PIECE_SECONDS = 0.5
_MAX_UNITS = MAX_SEED // MAX_GAME_HANDS


@dataclass(frozen=True)
class Plan:
    """All that decides a tournament's result, and what it is called.

    Attributes
    ----------
    units : int
        Mirrored deals a pairing, or mirrored pairs of games.
    """

    agents: tuple[Agent, ...]
    labels: tuple[str, ...]
    rules: Rules
    seed: int
    units: int
    games: bool
    forgiving: bool
    keep_hands: bool

    @property
    def pairings(self) -> tuple[tuple[int, int], ...]:
        """Which agents meet, as places in the list of agents."""
        return tuple(itertools.combinations(range(len(self.agents)), 2))

    @property
    def pairing_labels(self) -> list[str]:
        """A name for each pairing."""
        return [f"{self.labels[a]} v {self.labels[b]}" for a, b in self.pairings]

    @property
    def part_units(self) -> int:
        """How many units a part of the rows covers: fixed by the plan alone."""
        hands_a_unit = 2 * len(self.pairings) * (10 if self.games else 1)
        return max(16, records.PART_ROWS // hands_a_unit)

    def command(self) -> str:
        """Return the command that makes the result again."""
        words = ["gin-sim", "tournament", *(a.label_with_place for a in self.agents)]
        words += ["--games" if self.games else "--hands", str(2 * self.units)]
        preset = next((n for n in PRESETS if Rules.preset(n) == self.rules), None)
        if preset is not None:
            words += ["--rules", preset]
        else:
            plain = Rules().as_dict()
            for name, value in self.rules.as_dict().items():
                if value != plain[name]:
                    words += ["--set", f"{name}={value}"]
        words += ["--seed", str(self.seed)]
        if self.forgiving:
            words += ["--on-illegal", "forfeit"]
        if not self.keep_hands:
            words += ["--no-hands"]
        return shlex.join(words)

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the rows."""
        return {
            "schema": records.SCHEMA_VERSION,
            "kind": "tournament",
            "command": self.command(),
            "seed": self.seed,
            "games" if self.games else "hands": 2 * self.units,
            "on_illegal": "forfeit" if self.forgiving else "error",
            "rules": self.rules.as_dict(),
            "agents": [
                {
                    "label": label,
                    "name": agent.name,
                    "spec": agent.label_with_place,
                    "params": agent.params,
                    "compiled": agent.compiled,
                    "source_sha256": agent.source_hash(),
                }
                for agent, label in zip(self.agents, self.labels, strict=True)
            ],
            "pairings": self.pairing_labels,
            "part_units": self.part_units,
            "versions": records.versions(),
            "git_commit": records.git_commit(),
        }


@dataclass
class Result:
    """What a tournament found.

    Attributes
    ----------
    plan : Plan
    tallies : list of PairingTally
        One for each pairing.
    totals : list of RatioSums
        One for each agent, over all its opponents; units share their deals.
    out : Path or None
        The run's folder.
    """

    plan: Plan
    tallies: list[PairingTally]
    totals: list[RatioSums]
    game_shares: list[RatioSums]
    out: Path | None = None
    _tables: dict[str, list[pa.Table]] = field(default_factory=dict)

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each pairing; points and intervals are a's, a hand."""
        import pandas as pd  # noqa: PLC0415

        rows = []
        for pairing in self.as_dict()["pairings"]:
            low, high = pairing.pop("ci95") or (None, None)
            rows.append(pairing | {"ci_low": low, "ci_high": high})
        return pd.DataFrame(rows)

    @property
    def ranking(self) -> pd.DataFrame:
        """One row for each agent, best first."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self.as_dict()["ranking"])

    @property
    def hands(self) -> pd.DataFrame:
        """One row for each hand; see ``docs/results.md`` for the columns."""
        return self._frame("hands")

    @property
    def games(self) -> pd.DataFrame:
        """One row for each game, where games were played."""
        return self._frame("games")

    def _frame(self, kind: str) -> pd.DataFrame:
        if self.out is not None:
            return records.read_rows(self.out, kind)
        import pyarrow as pa  # noqa: PLC0415

        tables = self._tables.get(kind)
        if not tables:
            raise GinSimError(f"no rows of {kind} were kept")
        frame: pd.DataFrame = pa.concat_tables(tables).unify_dictionaries().to_pandas()
        return frame

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values, for JSON; None where there is no number."""
        plan = self.plan
        pairings = []
        for (a, b), tally in zip(plan.pairings, self.tallies, strict=True):
            interval = tally.points.interval()
            hands = tally.counts["hands"]
            pairings.append(
                {
                    "a": plan.labels[a],
                    "b": plan.labels[b],
                    "deals": None if plan.games else tally.points.n,
                    "hands": hands,
                    "points_per_hand": tally.points.mean,
                    "ci95": list(interval) if interval else None,
                    "a_hand_wins": tally.wins[0],
                    "b_hand_wins": tally.wins[1],
                    **{k: v for k, v in tally.counts.items() if k != "hands"},
                    "turns_per_hand": tally.turns / hands if hands else None,
                    "games": tally.games,
                    "a_game_wins": tally.game_wins[0],
                    "b_game_wins": tally.game_wins[1],
                    "undecided_games": tally.undecided_games,
                    "a_illegal": tally.illegal[0],
                    "b_illegal": tally.illegal[1],
                }
            )
        return {
            "seed": plan.seed,
            "rules": plan.rules.as_dict(),
            "agents": [
                {"label": label, "name": agent.name, "params": agent.params}
                for agent, label in zip(plan.agents, plan.labels, strict=True)
            ],
            "pairings": pairings,
            "ranking": self._ranked(),
            "command": plan.command(),
            "out": str(self.out) if self.out else None,
        }

    def _ranked(self) -> list[dict[str, Any]]:
        rows = []
        for label, total, share in zip(
            self.plan.labels, self.totals, self.game_shares, strict=True
        ):
            interval, games = total.interval(), share.interval()
            rows.append(
                {
                    "agent": label,
                    "hands": total.h,
                    "points_per_hand": total.mean,
                    "ci95": list(interval) if interval else None,
                    # Half a win is counted as 1 of 2, so that all sums are whole.
                    "games": share.h // 2,
                    "game_share": share.mean,
                    "game_share_ci95": list(games) if games else None,
                }
            )
        key = "game_share" if self.plan.games else "points_per_hand"
        return sorted(rows, key=lambda row: (-(row[key] or 0.0), row["agent"]))


def make_plan(
    agents: Sequence[str | Agent],
    *,
    hands: int | None = None,
    games: int | None = None,
    rules: Rules | str | None = None,
    seed: int | None = None,
    on_illegal: str = "error",
    keep_hands: bool = True,
) -> Plan:
    """Return the plan of a tournament, with every choice checked and made.

    Raises
    ------
    AgentError, RulesError, GinSimError
        Naming what is not allowed and what is.
    """
    loaded = tuple(load_agent(one) for one in (agents or LADDER))
    if len(loaded) < 2:
        raise AgentError(
            f"a tournament takes two agents or more; '{loaded[0].name}' alone has no opponent "
            "(name it twice for self-play)"
        )
    if hands is not None and games is not None:
        raise GinSimError("give the amount as hands or as games, not both")
    amount = games if games is not None else (DEFAULT_HANDS if hands is None else hands)
    if not isinstance(amount, int | np.integer) or not 1 <= amount <= _MAX_UNITS:
        what = "hands" if games is None else "games"
        raise GinSimError(f"{what} = {amount!r}: allowed is 1..{_MAX_UNITS}")
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    if not isinstance(seed, int | np.integer) or not 0 <= seed <= MAX_SEED:
        raise GinSimError(f"seed = {seed!r}: allowed is 0..{MAX_SEED}")
    if on_illegal not in ("error", "forfeit"):
        raise GinSimError(f"on_illegal = {on_illegal!r}: allowed is 'error' or 'forfeit'")
    return Plan(
        agents=loaded,
        labels=tuple(unique_labels(loaded)),
        rules=Rules.preset(rules) if isinstance(rules, str) else rules or Rules(),
        seed=int(seed),
        units=(int(amount) + 1) // 2,
        games=games is not None,
        forgiving=on_illegal == "forfeit",
        keep_hands=keep_hands,
    )


def default_folder(plan: Plan, root: Path | None = None) -> Path:
    """Return a new folder name for a run: date, agents, hash of what decides it."""
    names = "-".join(dict.fromkeys(agent.name for agent in plan.agents))
    name = names if len(names) <= 40 else f"{len(plan.agents)}-agents"
    key = sha256(repr((plan.command(), plan.manifest()["agents"])).encode()).hexdigest()[:8]
    stem = f"{datetime.now(UTC).astimezone():%Y-%m-%d}-{name}-{key}"
    path = (root or Path("results")) / stem
    for n in itertools.count(2):
        if not path.exists():
            return path
        path = path.with_name(f"{stem}-{n}")
    raise AssertionError


Reporter = Callable[[int, int], None]
"""Told, now and then, how many hands (games) are finished and how many there will be."""


def run_plan(
    plan: Plan,
    *,
    jobs: int | None = None,
    backend: str | None = None,
    out: Path | None = None,
    piece_units: int | None = None,
    report: Reporter | None = None,
) -> Result:
    """Play a tournament.

    Parameters
    ----------
    jobs : int, optional
        Workers; all cores if not given.
    backend : str, optional
        ``threads`` or ``loky``; by default threads where all agents are compiled.
    out : Path, optional
        Folder for the results; without it, rows stay in memory.
    piece_units : int, optional
        How much a worker gets at a time; by default what takes half a second.
    report : callable, optional
        Told of the progress.
    """
    import joblib  # noqa: PLC0415 - not needed to get help

    if backend is not None and backend not in BACKENDS:
        raise GinSimError(f"backend = {backend!r}: allowed is {' or '.join(BACKENDS)}")
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise GinSimError(f"jobs = {jobs}: allowed is 1 or more, or -1 for all cores")
    # Compiled here, before any worker starts: workers then find the code in the cache.
    for agent in plan.agents:
        if agent.compiled:
            prepare(agent)
    if backend is None:
        backend = "threads" if all(a.compiled for a in plan.agents) else "loky"
    folder = records.RunFolder.create(out) if out is not None else None
    if folder is not None:
        folder.write_json("manifest.json", plan.manifest())

    collector = _Collector(plan, folder)
    pieces = _Pieces(plan, piece_units)
    parallel = joblib.Parallel(
        n_jobs=jobs or -1,
        backend="threading" if backend == "threads" else "loky",
        batch_size=1,
        pre_dispatch="2*n_jobs",
        return_as="generator_unordered",
    )
    work = joblib.delayed(_timed_piece)
    with closing(parallel(work(piece) for piece in pieces)) as finished:
        for played, seconds in finished:
            pieces.learn(played.count, seconds)
            collector.take(played)
            if report is not None:
                report(
                    2 * collector.units * len(plan.pairings), 2 * plan.units * len(plan.pairings)
                )
    return collector.finish()


def _timed_piece(piece: Piece) -> tuple[Played, float]:
    start = time.perf_counter()
    played = play_piece(piece)
    return played, time.perf_counter() - start


class _Pieces:
    """Cuts a plan into pieces, as long as they should take; never across a part's border."""

    def __init__(self, plan: Plan, piece_units: int | None) -> None:
        self.plan = plan
        self.fixed = piece_units
        self.size = piece_units or (256 if all(a.compiled for a in plan.agents) else 4)

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
            if first >= plan.units:
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
            self._write(number, sorted(self.waiting.pop(number), key=lambda piece: piece.first))

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
    jobs, backend
        See :func:`run_plan`.
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
    >>> result.summary.points_per_hand[0]
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
    return run_plan(plan, jobs=jobs, backend=backend, out=Path(out) if out else None)
