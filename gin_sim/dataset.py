"""Hands as a training set: a row for each decision, in a parquet file with a written schema.

A row holds what the seat observed, as :mod:`gin_sim.env` shows it, what it did, and what the
hand brought it in the end.  ``docs/data.md`` describes the columns.  Observations are kept as
masks of cards and numbers, and made planes again when they are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_sim.checks import MAX_SEED, MAX_UNITS, whole_number
from gin_sim.compiled import kernel
from gin_sim.drive import Player, drive_deal, on_the_line
from gin_sim.env.actions import N_ACTIONS, action_for, legal_actions
from gin_sim.env.encode import (
    CARD_PLANES,
    FLAT,
    FLAT_SHAPE,
    N_CARD_PLANES,
    N_NUMBERS,
    NUMBERS,
    SHAPES,
    write_observation,
)
from gin_sim.errors import PlayError, ResultsError, RulesError
from gin_sim.play import Desk, Order, new_desk, points_for
from gin_sim.progress import Reporter
from gin_sim.registry import Agent, load_agent, unique_labels
from gin_sim.rules import Rules, as_rules
from gin_sim.scoring import OUTCOMES, rules_record

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SCHEMA_VERSION = 1
_KEY = b"gin_sim_decisions"
_BATCH_HANDS = 512


def _column(kind: str, name: str) -> str:
    return f"{kind}_{name.replace(chr(39), '').replace(',', '').replace(' ', '_')}"


CARD_COLUMNS = tuple(_column("cards", name) for name in CARD_PLANES)
"""A mask of cards for each plane of an observation, in their order."""

NUMBER_COLUMNS = tuple(_column("number", name) for name, _ in NUMBERS)
"""A column for each number of an observation, in their order."""

_BITS = np.arange(52, dtype=np.int64)


class Decisions(NamedTuple):
    """Decisions as arrays; n of them, also where n is 1.

    Attributes
    ----------
    observations : (n, 639) or (n, 27, 4, 13) array of uint8
        As :mod:`gin_sim.env` gives them, flat or as planes.
    masks : (n, 60) array of int8
        1 for each legal action.
    actions : (n,) array of int64
        What was done: 0..59.
    points : (n,) array of int32
        Of the hand, for the seat that decided: negative where the other one scored.
    won : (n,) array of int8
        1 if that seat won the hand, else 0.
    deals : (n,) array of int64
    mirrors, seats, players : (n,) array of int8
        Which hand of the deal; 0 the non-dealer, 1 the dealer; 0 agent a, 1 agent b.
    """

    observations: NDArray[np.uint8]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    points: NDArray[np.int32]
    won: NDArray[np.int8]
    deals: NDArray[np.int64]
    mirrors: NDArray[np.int8]
    seats: NDArray[np.int8]
    players: NDArray[np.int8]


@kernel
def _see(desk: Desk, seat: int, out: Any) -> int:
    """Write what a seat observes, and return its legal actions."""
    state = desk.state[0]
    write_observation(out, state, seat, FLAT)
    legal: int = legal_actions(state)
    return legal


class _Decisions:
    """Watches hands and keeps a row for each decision."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.rows: list[dict[str, Any]] = []
        self.observations: list[NDArray[np.uint8]] = []
        self._first = 0  # row of the hand in progress

    def start(self) -> None:
        """Take note that a hand begins."""
        self._first = len(self.rows)

    def decided(self, seat: int, decision: str, answer: Any) -> None:
        """Keep a decision, before it takes effect."""
        state = self.desk.state[0]
        seen = np.zeros(FLAT_SHAPE, np.uint8)
        legal = int(_see(self.desk, seat, seen))
        self.observations.append(seen)
        self.rows.append(
            {
                "deal": int(state["deal"]),
                "mirror": int(state["mirror"]),
                "decision": len(self.rows) - self._first,
                "seat": seat,
                "player": seat ^ 1 ^ int(state["dealer"]),
                "action": action_for(int(state["phase"]), int(answer)),
                "legal": legal,
            }
        )

    def forfeited(self, error: PlayError) -> None:
        """Do nothing: an agent's failure stops an export."""

    def end(self) -> None:
        """Say of each decision of the hand what came of it."""
        state = self.desk.state[0]
        points = [int(points_for(state, seat)) for seat in (0, 1)]
        outcome, winner = OUTCOMES[int(state["outcome"])], int(state["winner"])
        for row in self.rows[self._first :]:
            seat = row["seat"]
            row |= {"outcome": outcome, "points": points[seat], "won": int(winner == seat)}

    def take_table(self, schema: pa.Schema) -> pa.Table:
        """Return the rows as a table, and forget them."""
        import pyarrow as pa  # noqa: PLC0415 - not needed to get help

        seen = np.stack(self.observations)
        planes = seen[:, : 52 * N_CARD_PLANES].reshape(-1, N_CARD_PLANES, 52)
        masks = planes.astype(np.int64) @ (np.int64(1) << _BITS)
        columns: dict[str, Any] = {
            name: [row[name] for row in self.rows] for name in schema.names[: len(_FACTS)]
        }
        columns |= {name: masks[:, i] for i, name in enumerate(CARD_COLUMNS)}
        columns |= {name: seen[:, i - N_NUMBERS] for i, name in enumerate(NUMBER_COLUMNS)}
        self.rows, self.observations = [], []
        return pa.table(columns, schema=schema)


_FACTS = {
    "deal": "int64",
    "mirror": "int8",
    "decision": "int16",
    "seat": "int8",
    "player": "int8",
    "action": "int8",
    "legal": "int64",
    "outcome": "string",
    "points": "int32",
    "won": "int8",
}


def _schema(about: dict[str, Any]) -> pa.Schema:
    """Return the columns and their types, with what the file is of."""
    import pyarrow as pa  # noqa: PLC0415

    types = _FACTS | dict.fromkeys(CARD_COLUMNS, "int64") | dict.fromkeys(NUMBER_COLUMNS, "uint8")
    fields = [
        pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in types.items()
    ]
    text = json.dumps({"schema": SCHEMA_VERSION} | about)
    return pa.schema(fields, metadata={_KEY: text.encode()})


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Return what writes a file; with sums, so that damage is seen when it is read."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    return pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True)


def export_decisions(
    a: str | Agent,
    b: str | Agent,
    out: str | Path,
    *,
    hands: int,
    seed: int,
    rules: Rules | str | None = None,
    report: Reporter | None = None,
) -> dict[str, Any]:
    """Play hands between two agents, and write a row for each decision of both.

    Parameters
    ----------
    a, b : str or Agent
    out : path
        A new parquet file.
    hands : int
        Rounded up to whole mirrored deals: 0, 1, … of the seed.
    seed : int
    rules : Rules or str, optional
        The standard rules if not given.
    report : callable, optional
        Told of the progress, first that nothing has been played yet.

    Returns
    -------
    dict
        ``out``, ``schema``, ``hands``, ``decisions``, ``seed``, ``agents``, ``rules``.

    Raises
    ------
    PlayError
        For an agent that failed; no file is then left.
    ResultsError
        If the file is there already, or cannot be written.
    """
    rules = as_rules(rules)
    hands = whole_number(hands, "hands", 1, MAX_UNITS)
    hands += hands % 2
    seed = whole_number(seed, "seed", 0, MAX_SEED)
    path = Path(out)
    agents = load_agent(a), load_agent(b)
    labels = unique_labels([one.label for one in agents])
    about = {"hands": hands, "seed": seed, "agents": labels, "rules": rules.as_dict()}
    temporary = path.parent / f"{path.name}.tmp"
    for one in (path, temporary):
        if os.path.lexists(one):
            raise ResultsError(f"'{one}' is there already; name a new file with --out")
    desk = new_desk(rules_record(rules))
    rows = _Decisions(desk)
    players = (
        Player(agents[0], labels[0], rules=rules),
        Player(agents[1], labels[1], rules=rules),
    )
    schema, many = _schema(about), 0
    try:
        with _writer(temporary, schema) as writer:
            if report is not None:
                report(0, hands)
            for number in range(hands):
                deal, mirror = divmod(number, 2)
                order = Order(seed, deal, 1, mirror, 0)
                with on_the_line(players):
                    drive_deal(desk, players, order, deal, mirror, 1 - mirror, rows)
                if (number + 1) % _BATCH_HANDS == 0 or number + 1 == hands:
                    many += len(rows.rows)
                    writer.write_table(rows.take_table(schema))
                    if report is not None:
                        report(number + 1, hands)
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise ResultsError(f"'{path}' cannot be written: {error.strerror or error}") from error
        raise
    return {"out": str(path), "schema": SCHEMA_VERSION, "decisions": many} | about


def about_decisions(path: str | Path) -> dict[str, Any]:
    """Return what a file of decisions is of: schema, hands, seed, agents, rules.

    Raises
    ------
    ResultsError
        If it is no such file, or of another version.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415

    if not isinstance(path, str | os.PathLike):
        raise ResultsError(f"path = {path!r}: give the path of a file")
    with _damage_told(path):
        schema = pq.read_schema(path)
        about = json.loads((schema.metadata or {}).get(_KEY, b"null"))
    if not isinstance(about, dict):
        raise ResultsError(f"'{path}' holds no decisions of gin-sim")
    if about.get("schema") != SCHEMA_VERSION:
        found = about.get("schema")
        raise ResultsError(f"'{path}': schema {found!r}; this version reads {SCHEMA_VERSION}")
    for field in _schema({}):
        if field.name not in schema.names or not schema.field(field.name).equals(field):
            raise ResultsError(f"'{path}': there is no column '{field.name}' of {field.type}")
    return about


@contextmanager
def _damage_told(path: str | Path) -> Iterator[None]:
    """Say in one line that a file cannot be read."""
    try:
        yield
    except (OSError, ValueError, RecursionError) as error:  # pyarrow's are among them
        reason = " ".join(str(error).split())
        raise ResultsError(f"'{path}' cannot be read: {reason}") from error


def decision_batches(path: str | Path, size: int, observation: str = "flat") -> Iterator[Decisions]:
    """Return the decisions of a file, some at a time, in the order of play.

    Parameters
    ----------
    size : int
        Decisions in a batch, 1 and more; the last one may have fewer.
    observation : str
        ``flat`` or ``planes``.

    Raises
    ------
    ResultsError
        As for :func:`about_decisions`.
    RulesError
        For a size or an observation that cannot be.
    """
    size = whole_number(size, "size", 1, 1 << 31, RulesError)
    if observation not in SHAPES:
        raise RulesError(f"observation = {observation!r}: allowed is {' or '.join(SHAPES)}")
    about_decisions(path)
    return _batches(path, size, observation)


def _batches(path: str | Path, size: int, observation: str) -> Iterator[Decisions]:
    """Yield the decisions of a file that has been looked at."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    with _damage_told(path):
        file = pq.ParquetFile(path, page_checksum_verification=True)
    with file:
        if not file.metadata.num_rows:
            raise ResultsError(f"'{path}' holds no decisions")
        batches = file.iter_batches(size)
        while True:
            with _damage_told(path):
                batch = next(batches, None)
            if batch is None:
                return
            yield _arrays(batch, observation)


def read_decisions(path: str | Path, observation: str = "flat") -> Decisions:
    """Return all decisions of a file; see :func:`decision_batches`."""
    parts = list(decision_batches(path, 1 << 16, observation))
    return Decisions._make(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def _arrays(batch: Any, observation: str) -> Decisions:
    """Return the rows of a batch as arrays."""

    def column(name: str) -> NDArray[Any]:
        values: NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
        return values

    masks = np.stack([column(name) for name in CARD_COLUMNS], axis=1)
    cards = (masks[:, :, None] >> _BITS & 1).astype(np.uint8).reshape(len(masks), -1)
    numbers = np.stack([column(name) for name in NUMBER_COLUMNS], axis=1)
    if observation == "planes":
        numbers = numbers.repeat(52, axis=1)
    seen = np.concatenate([cards, numbers], axis=1).reshape(-1, *SHAPES[observation])
    legal = column("legal")[:, None] >> np.arange(N_ACTIONS, dtype=np.int64) & 1
    return Decisions(
        seen,
        legal.astype(np.int8),
        column("action").astype(np.int64),
        *(column(name) for name in ("points", "won", "deal", "mirror", "seat", "player")),
    )
