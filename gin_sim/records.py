"""What a run leaves on disk: a manifest and rows as parquet.

A run's folder holds ``manifest.json`` (all that decides the result: rules, agents with
the hash of their source, seed, amounts, versions, the command that makes it again),
``hands/part-<n>.parquet`` (and ``games/…``), ``summary.json`` and ``summary.csv``.
Nothing in it depends on how many workers there were, or on the time.

Each part covers a fixed range of deals for all pairings, whatever pieces they were
played in.  Files are written under a temporary name and renamed when complete.
"""

from __future__ import annotations

import itertools
import json
import platform
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_sim.cards import card_name
from gin_sim.errors import ResultsError
from gin_sim.scoring import OUTCOMES

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
PART_ROWS = 65_536
"""About how many rows of hands a part has."""

PLAYERS = ("a", "b")
CARD_NAMES = tuple(card_name(card) for card in range(52))

_NUMBERS = (
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
    for name in _NUMBERS:
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


class RunFolder:
    """The folder of one run, being written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, manifest: dict[str, Any]) -> RunFolder:
        """Make a folder for a new run and take it: of two runs at once, one gets it.

        Raises
        ------
        ResultsError
            If it has something in it already, or cannot be written.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise ResultsError(f"'{path}' is not empty; name a new folder with --out")
            file = path / MANIFEST
            with file.open("xb") as opened:
                try:
                    opened.write(_json_bytes(manifest))
                except OSError:
                    file.unlink()
                    raise
        except FileExistsError as error:
            what = "holds a run already" if path.is_dir() else "is not a folder"
            raise ResultsError(f"'{path}' {what}; name a new folder with --out") from error
        except OSError as error:
            raise _unwritable(path, error) from error
        return cls(path)

    @classmethod
    def create_new(cls, root: Path, name: str, manifest: dict[str, Any]) -> RunFolder:
        """Make a folder in `root` for a new run, called `name`, or ``name-2`` and so on."""
        for n in itertools.count(1):
            path = root / (name if n == 1 else f"{name}-{n}")
            try:
                root.mkdir(parents=True, exist_ok=True)
                path.mkdir()
            except FileExistsError:
                if root.is_dir():
                    continue
                raise ResultsError(f"'{root}' is not a folder; name one with --out") from None
            except OSError as error:
                raise _unwritable(path, error) from error
            return cls.create(path, manifest)
        raise AssertionError

    def discard(self) -> None:
        """Take the folder back, for a run that could not begin; with rows in it, it stays."""
        with suppress(OSError):
            if [file.name for file in self.path.iterdir()] == [MANIFEST]:
                (self.path / MANIFEST).unlink()
                self.path.rmdir()

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON document, sorted as given, without NaN."""
        self._write(self.path / name, _json_bytes(value))

    def write_text(self, name: str, text: str) -> None:
        """Write a text file."""
        self._write(self.path / name, text.encode())

    def write_part(self, kind: str, number: int, table: pa.Table) -> None:
        """Write part `number` of the rows of a kind (hands, games)."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        self._write(self.path / kind / f"part-{number:06d}.parquet", sink.getvalue())

    def _write(self, path: Path, data: Any) -> None:
        temporary = path.with_name(path.name + ".tmp")
        try:
            path.parent.mkdir(exist_ok=True)
            with temporary.open("wb") as file:
                file.write(data)
            temporary.replace(path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            failure = _unwritable(path, error)
            failure.exit_code = 1
            raise failure from error


def _json_bytes(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _unwritable(path: Path, error: OSError) -> ResultsError:
    reason = error.strerror or type(error).__name__
    return ResultsError(f"'{path}' cannot be written: {reason}")


def take_folder(out: str | None, name: str, manifest: dict[str, Any]) -> RunFolder:
    """Take the folder named for a run, or a new one in ``results/``.

    Parameters
    ----------
    out : str or None
        As given on the command line.
    name : str
        What to call a new one, between the date and a hash of what decides the run.
    manifest : dict

    Raises
    ------
    ResultsError
        If the folder is not empty or cannot be written.
    """
    if out is None:
        decides = [manifest.get("command"), manifest.get("agents", manifest.get("agents_sha256"))]
        key = sha256(repr(decides).encode()).hexdigest()[:8]
        dated = f"{datetime.now(UTC).astimezone():%Y-%m-%d}-{name}-{key}"
        return RunFolder.create_new(Path("results"), dated, manifest)
    if not out.strip():
        raise ResultsError("--out '': give the path of a new folder")
    return RunFolder.create(Path(out), manifest)


def parts(path: Path, kind: str = "hands") -> Iterator[Path]:
    """Yield the files with a run's rows, in order."""
    yield from sorted((path / kind).glob("part-*.parquet"))


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest of a run.

    Raises
    ------
    ResultsError
        If there is none, or it cannot be read.
    """
    file = Path(path) / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultsError(f"'{path}' holds no run: there is no manifest.json in it") from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ResultsError(f"'{file}' cannot be read: {reason}") from error
    if not isinstance(manifest, dict) or repr(manifest.get("schema")) != repr(SCHEMA_VERSION):
        found = manifest.get("schema") if isinstance(manifest, dict) else None
        raise ResultsError(f"'{file}': schema {found!r}; this version reads {SCHEMA_VERSION}")
    return manifest


def read_rows(
    path: str | Path, kind: str = "hands", columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the rows of a run, ``hands`` or ``games``, as a DataFrame.

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
    import pyarrow.parquet as pq  # noqa: PLC0415

    files = list(parts(Path(path), kind))
    if not files:
        raise ResultsError(f"'{path}' holds no rows of {kind}")
    try:
        there = pq.read_schema(files[0]).names
        some = None if columns is None else [name for name in columns if name in there]
        tables = [pq.read_table(file, columns=some) for file in files]
    except (OSError, pa.ArrowInvalid) as error:
        raise ResultsError(f"rows in '{path}' cannot be read: {error}") from error
    frame: pd.DataFrame = pa.concat_tables(tables).unify_dictionaries().to_pandas()
    return frame


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    import numba  # noqa: PLC0415

    from gin_sim import __version__  # noqa: PLC0415

    return {
        "gin_sim": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def git_commit() -> str | None:
    """Return the commit of the checkout this package runs from, with + if it is changed."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return commit + ("+" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603
        ["git", "-C", str(root), *words],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return done.stdout.strip()
