"""The folder that a run leaves: a manifest, rows as parquet, and the sums of each part.

A run's folder holds ``manifest.json`` (all that decides the result: rules, agents with
the hash of their source, seed, amounts, versions, the command that makes it again),
``hands/part-<n>.parquet`` (and ``games/…``), ``histories/part-<n>.jsonl`` where they are
asked for, ``sums/part-<n>.json``, ``summary.json`` and
``summary.csv``.  Nothing in it depends on how many workers there were, or on the time.

Each part covers a fixed range of deals for all pairings, whatever pieces they were
played in.  A piece that does not fill its part lies in ``unfinished/`` until the others
have come.  Files are written under a temporary name and renamed when complete, the sums
of a part last: a part with sums is whole, whenever and however the run was stopped.
"""

from __future__ import annotations

import itertools
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gin_sim.errors import ResultsError
from gin_sim.manifest import MANIFEST, differences, read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

SUMMARY = "summary.json"
UNFINISHED = "unfinished"
HISTORIES = "histories"

_ATTEMPTS = 5

T = TypeVar("T")


class RunFolder:
    """The folder of one run, being written.

    Whoever writes into it holds a lock on its manifest, which the system takes back
    whatever becomes of the process.
    """

    def __init__(self, path: Path, lock: int | None = None) -> None:
        self.path = path
        self.resumed = False
        self._lock = lock

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Let others write into the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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
                hint = ""
                if (path / MANIFEST).is_file() and not (path / SUMMARY).exists():
                    hint = " or go on with the run in it by --resume"
                raise ResultsError(f"'{path}' is not empty; name a new folder with --out{hint}")
            file = path / MANIFEST
            with file.open("xb") as opened:
                try:
                    lock = _locked(file)
                    opened.write(_json_bytes(manifest))
                except OSError:
                    file.unlink()
                    raise
        except FileExistsError as error:
            what = "holds a run already" if path.is_dir() else "is not a folder"
            raise ResultsError(f"'{path}' {what}; name a new folder with --out") from error
        except OSError as error:
            raise _unwritable(path, error) from error
        return cls(path, lock)

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

    @classmethod
    def resume(cls, path: Path, manifest: dict[str, Any]) -> RunFolder:
        """Take the folder of a run that was stopped, to go on with it.

        Parameters
        ----------
        manifest : dict
            What the run would be told by now.

        Raises
        ------
        ResultsError
            If there is no run, if one is in progress, if the folder cannot be written, or
            if what decides the result is not what it was: the message says what differs.
        """
        found = read_manifest(path)
        if different := differences(found, manifest):
            raise ResultsError(f"'{path}' cannot be resumed: {'; '.join(different)}")
        try:
            lock = _locked(path / MANIFEST)
            folder = cls(path, lock)
            folder.resumed = True
            for pattern in _LEFT_OVER:
                for left in path.glob(pattern):
                    left.unlink()
            with (path / "try.tmp").open("wb"):
                pass
            (path / "try.tmp").unlink()
        except OSError as error:
            raise _unwritable(path, error) from error
        return folder

    def discard(self) -> None:
        """Take the folder back, for a run that could not begin; with rows in it, it stays."""
        with suppress(OSError):
            if [file.name for file in self.path.iterdir()] == [MANIFEST]:
                (self.path / MANIFEST).unlink()
                self.path.rmdir()
        self.release()

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

    def write_histories(self, number: int, lines: Sequence[Any]) -> None:
        """Write part `number` of the histories of hands, those of each pairing in turn."""
        data = b"".join(text.tobytes() for text in lines)
        self._write(histories_file(self.path, number), data)

    def write_sums(self, number: int, sums: dict[str, Any]) -> None:
        """Write the sums of a part, which says that the part is whole; drop its pieces."""
        data = (json.dumps({"part": number} | sums, separators=(",", ":")) + "\n").encode()
        self._write(self.path / "sums" / f"part-{number:06d}.json", data)
        self.drop_pieces(number)

    def write_piece(self, piece: StoredPiece) -> Path:
        """Write a piece of a part that is not whole yet; return its file."""
        arrays = {f"rows_{p}": rows for p, rows in enumerate(piece.rows)}
        arrays |= {f"games_{p}": games for p, games in enumerate(piece.games)}
        arrays |= {f"histories_{p}": lines for p, lines in enumerate(piece.histories)}
        arrays["sums"] = np.frombuffer(json.dumps(piece.sums).encode(), np.uint8)
        sink = BytesIO()
        np.savez(sink, **arrays)
        name = f"part-{piece.part:06d}-{piece.first:016d}-{piece.count:016d}.npz"
        path = self.path / UNFINISHED / name
        self._write(path, sink.getvalue())
        return path

    def drop_pieces(self, number: int, files: Iterable[Path] | None = None) -> None:
        """Delete the pieces of a part, or some of them."""
        some = (self.path / UNFINISHED).glob(f"part-{number:06d}-*.npz") if files is None else files
        with suppress(OSError):
            for file in list(some):
                file.unlink()

    def finish(self) -> None:
        """Delete what only an unfinished run needs, and let others have the folder."""
        with suppress(OSError):
            for file in (self.path / UNFINISHED).iterdir():
                file.unlink()
            (self.path / UNFINISHED).rmdir()
        self.release()

    def _write(self, path: Path, data: Any) -> None:
        temporary = path.with_name(path.name + ".tmp")
        try:
            path.parent.mkdir(exist_ok=True)
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink()
            failure = _unwritable(path, error)
            failure.exit_code = 1
            raise failure from error


_LEFT_OVER = ("summary.*.tmp", "*/part-*.tmp")
"""What a run that was killed may leave: files under their temporary names."""


def rows_are_there(path: Path, number: int, kinds: Sequence[str]) -> bool:
    """Return whether a part's files of rows are there and whole."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        for kind in kinds:
            if kind == HISTORIES:
                if not histories_file(path, number).read_bytes().endswith(b"}\n"):
                    return False
            else:
                pq.read_metadata(path / kind / f"part-{number:06d}.parquet")
    except (OSError, pa.ArrowInvalid):
        return False
    return True


def histories_file(path: Path, number: int) -> Path:
    """Return the file of a part's histories."""
    return path / HISTORIES / f"part-{number:06d}.jsonl"


@dataclass(frozen=True)
class StoredPiece:
    """A piece of a part, as it lies in ``unfinished/``.

    Attributes
    ----------
    part, first, count : int
        The part it belongs to, and its deals (pairs of games).
    sums : dict
        As :meth:`gin_sim.sums.Sums.as_dict` gives them.
    rows, games, histories : list of arrays
        For each pairing; empty where they are not kept.
    """

    part: int
    first: int
    count: int
    sums: dict[str, Any]
    rows: list[Any]
    games: list[Any]
    histories: list[Any]


def read_again(read: Callable[[], T]) -> T:
    """Return what `read` returns, where a run that goes on meanwhile may take files away.

    A piece that was there a moment ago may have gone into its part.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return read()
        except ResultsError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
    return read()


def stored_pieces(path: Path) -> Iterator[tuple[Path, StoredPiece]]:
    """Yield the pieces of parts that are not whole, in order, each deal once.

    Raises
    ------
    ResultsError
        If one cannot be read.
    """
    reached: dict[int, int] = {}
    named = []
    for file in (path / UNFINISHED).glob("part-*-*-*.npz"):
        part, first, count = (int(number) for number in file.stem.split("-")[1:])
        named.append((part, first, -count, file))
    for part, first, minus, file in sorted(named):
        # A run may have been stopped before what was put together was dropped.
        whole = (path / "sums" / f"part-{part:06d}.json").exists()
        if whole or first < reached.get(part, 0):
            continue
        reached[part] = first - minus
        try:
            with np.load(file, allow_pickle=False) as arrays:
                sums = json.loads(arrays["sums"].tobytes())
                rows, games, histories = (
                    [
                        arrays[f"{kind}_{p}"]
                        for p in range(len(arrays.files))
                        if f"{kind}_{p}" in arrays.files
                    ]
                    for kind in ("rows", "games", "histories")
                )
        except (OSError, EOFError, ValueError, LookupError, zipfile.BadZipFile) as error:
            raise ResultsError(f"'{file}' cannot be read ({error}); delete it to go on") from error
        yield file, StoredPiece(part, first, -minus, sums, rows, games, histories)


def stored_sums(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and sums of each part that is whole, in order.

    Raises
    ------
    ResultsError
        If sums cannot be read.
    """
    for file in sorted((path / "sums").glob("part-*.json")):
        try:
            yield int(file.stem.split("-")[1]), json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ResultsError(f"'{file}' cannot be read ({error}); delete it to go on") from error


def _locked(file: Path) -> int | None:
    """Lock a file for this process and return what holds the lock; None where there is none."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise ResultsError(f"'{file.parent}': a run is in progress in this folder") from None
    except OSError:
        os.close(opened)  # a file system without locks
        return None
    return opened


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
