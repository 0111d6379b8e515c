"""Rows of hands and games as tables: what the engine counts, in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim.cards import card_name
from gin_sim.errors import ResultsError
from gin_sim.folder import HISTORIES, SUMMARY, read_again, stored_pieces
from gin_sim.manifest import read_manifest
from gin_sim.scoring import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PART_ROWS = 65_536
"""About how many rows of hands a part has."""

PART_HISTORIES = 8192
"""About how many hands a part has where their histories are kept: some megabytes of text."""

PLAYERS = ("a", "b")
CARD_NAMES = tuple(card_name(card) for card in range(52))

ROW_NUMBERS = (
    "turns",
    "stock_left",
    "knock_deadwood",
    "defender_deadwood_before_layoff",
    "defender_deadwood",
    "cards_laid_off",
    "first_chance_a",
    "first_chance_b",
    "dealt_deadwood_a",
    "dealt_deadwood_b",
    "knock_limit",
)


def hands_table(rows: Sequence[Any], labels: Sequence[str], games: bool) -> pa.Table:
    """Return the rows of hands, one array for each pairing, as an Arrow table.

    Codes become words (``outcome``, players a and b, the pairing), -1 becomes null.
    """
    import pyarrow as pa  # noqa: PLC0415 - not needed to get help

    def words(codes: Any, names: Sequence[str]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), pa.array(names, pa.string())
        )

    every = np.concatenate(rows)
    pairing = np.repeat(np.arange(len(rows), dtype=np.int16), [r.size for r in rows])
    columns: dict[str, Any] = {
        "pairing": words(pairing, labels),
        "deal": pa.array(np.ascontiguousarray(every["deal"])),
        "mirror": pa.array(np.ascontiguousarray(every["mirror"])),
        "dealer": words(np.ascontiguousarray(every["dealer"]), PLAYERS),
        "ender": words(np.ascontiguousarray(every["ender"]), PLAYERS),
        "outcome": words(np.ascontiguousarray(every["outcome"]), OUTCOMES),
        "winner": words(np.ascontiguousarray(every["winner"]), PLAYERS),
        "points_a": pa.array(np.ascontiguousarray(every["points_a"])),
    }
    if games:
        columns["game"] = pa.array(np.ascontiguousarray(every["game"]))
        columns["hand"] = pa.array(np.ascontiguousarray(every["hand"]))
    for name in ROW_NUMBERS:
        values = np.ascontiguousarray(every[name])
        columns[name] = pa.array(values, mask=values < 0)
    columns["first_upcard"] = words(np.ascontiguousarray(every["first_upcard"]), CARD_NAMES)
    return pa.table(columns)


def games_table(games: Sequence[Any], labels: Sequence[str]) -> pa.Table:
    """Return the games, one array for each pairing, as an Arrow table."""
    import pyarrow as pa  # noqa: PLC0415

    every = np.concatenate(games)
    pairing = np.repeat(np.arange(len(games), dtype=np.int16), [g.size for g in games])
    winner = every["winner"].astype(np.int8)
    columns: dict[str, Any] = {
        "pairing": pa.DictionaryArray.from_arrays(pa.array(pairing), pa.array(labels)),
        "game": pa.array(np.ascontiguousarray(every["game"])),
        "mirror": pa.array(every["mirror"].astype(np.int8)),
        "winner": pa.DictionaryArray.from_arrays(
            pa.array(winner, mask=winner < 0), pa.array(PLAYERS)
        ),
    }
    for name in ("margin_a", "points_a", "hands", "wins_a", "wins_b"):
        columns[name] = pa.array(every[name].astype(np.int32))
    return pa.table(columns)


def parts(path: Path, kind: str = "hands") -> list[Path]:
    """Return the files with a run's rows, in order.

    Of a run that is not finished, only those of parts that are whole: the sums of a part
    come after its rows, and its pieces count until then.
    """
    suffix = "jsonl" if kind == HISTORIES else "parquet"
    files = sorted((path / kind).glob(f"part-*.{suffix}"))
    if (path / SUMMARY).exists():
        return files
    return [file for file in files if (path / "sums" / f"{file.stem}.json").exists()]


def read_rows(
    path: str | Path, kind: str = "hands", columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the rows of a run, ``hands`` or ``games``, as a DataFrame.

    Of a run that is not finished: the rows there are, parts that are whole before others.

    Parameters
    ----------
    columns : sequence of str, optional
        Only these, as far as there are such.

    Raises
    ------
    ResultsError
        If the folder holds no such rows.
    """
    import pyarrow as pa  # noqa: PLC0415

    path = Path(path)
    tables = read_again(lambda: _tables(path, kind, columns))
    if not tables:
        raise ResultsError(f"'{path}' holds no rows of {kind}")
    frame: pd.DataFrame = pa.concat_tables(tables).unify_dictionaries().to_pandas()
    return frame


def _tables(path: Path, kind: str, columns: Sequence[str] | None) -> list[pa.Table]:
    """Return the rows of parts that are whole, and then those of pieces of other parts."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    # In this order, a part that becomes whole meanwhile is neither missed nor there twice.
    pieces = _unfinished(path, kind)
    files = parts(path, kind)
    whole = {int(file.stem.split("-")[1]) for file in files}
    some = None
    try:
        tables = []
        for file in files:
            if columns is not None and some is None:
                there = pq.read_schema(file).names
                some = [name for name in columns if name in there]
            tables.append(pq.read_table(file, columns=some))
    except (OSError, pa.ArrowInvalid) as error:
        raise ResultsError(f"rows in '{path}' cannot be read: {error}") from error
    for part, table in pieces:
        if part not in whole:
            # Columns in the order asked for, as parquet gives them.
            names = columns or table.column_names
            tables.append(table.select([name for name in names if name in table.column_names]))
    return tables


def _unfinished(path: Path, kind: str) -> list[tuple[int, pa.Table]]:
    """Return the rows of pieces whose parts are not whole, with the numbers of those."""
    tables = []
    for _, piece in stored_pieces(path):
        rows = piece.rows if kind == "hands" else piece.games
        if rows:
            labels = [str(name) for name in read_manifest(path)["pairings"]]
            if kind == "hands":
                tables.append((piece.part, hands_table(rows, labels, bool(piece.games))))
            else:
                tables.append((piece.part, games_table(rows, labels)))
    return tables
