"""Finished pieces of a run put together: sums, parts on disk, and what is still missing.

Each piece lands in the folder as it comes.  A part is written when all of it is there, in
order, whatever pieces it came in; so a run that was stopped and resumed leaves the same
bytes as one that was not.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gin_sim import records
from gin_sim.errors import ResultsError
from gin_sim.folder import (
    HISTORIES,
    RunFolder,
    StoredPiece,
    rows_are_there,
    stored_pieces,
    stored_sums,
)
from gin_sim.plan import Plan
from gin_sim.result import Result
from gin_sim.runner import Played
from gin_sim.stats import RatioSums
from gin_sim.sums import Sums

MOST_FILES = 64
"""Pieces of one part that lie in the folder before they are put together."""


class Collector:
    """Adds up pieces, and writes each part when all of it is there.

    Parameters
    ----------
    plan : Plan
    folder : RunFolder or None
        What is in it already, of a run to be resumed, is taken up.

    Attributes
    ----------
    units : int
        How many deals (pairs of games) are finished.
    """

    def __init__(self, plan: Plan, folder: RunFolder | None) -> None:
        self.plan = plan
        self.folder = folder
        self.sums = Sums(plan.pairings, len(plan.agents), plan.games, plan.block_units)
        self.units = 0
        self.whole: set[int] = set()
        self.waiting: dict[int, list[Played]] = {}
        self.files: dict[int, list[Path]] = {}
        self.tables: dict[str, list[tuple[int, Any]]] = {"hands": [], "games": []}
        if folder is not None:
            self._take_up(folder)

    def _take_up(self, folder: RunFolder) -> None:
        """Take what a stopped run has left."""
        where = f"'{folder.path}'"
        try:
            for number, values in stored_sums(folder.path):
                if values["part"] != number or values["units"] != self._size(number):
                    raise ValueError(f"sums/part-{number:06d}.json is not of this run")
                # Sums whose rows have gone are no part: it is played again.
                if rows_are_there(folder.path, number, self._kinds):
                    self.sums.add_dict(values)
                    self.whole.add(number)
            for file, piece in stored_pieces(folder.path):
                start = piece.part * self.plan.part_units
                end = start + self._size(piece.part)
                inside = start <= piece.first < piece.first + piece.count <= end
                if not inside or piece.sums["units"] != piece.count:
                    raise ValueError(f"{file.parent.name}/{file.name} is not of this run")
                sums = self.sums.empty()
                sums.add_dict(piece.sums)
                self.files.setdefault(piece.part, []).append(file)
                played = Played(
                    0, piece.first, piece.count, sums, piece.rows, piece.games, piece.histories
                )
                self.waiting.setdefault(piece.part, []).append(played)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            raise ResultsError(
                f"{where}: something in the run's files cannot be ({what})"
            ) from error
        self.units = self.sums.units
        for number in list(self.waiting):
            self.units += sum(piece.count for piece in self.waiting[number])
            self._write_if_whole(number)

    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges of deals that are to be played, first and end of each."""
        size, out = self.plan.part_units, []
        for number in range(-(-self.plan.units // size)):
            if number in self.whole:
                continue
            start = number * size
            at = start
            for piece in sorted(self.waiting.get(number, []), key=lambda piece: piece.first):
                if piece.first > at:
                    out.append((at, piece.first))
                at = piece.first + piece.count
            if at < start + self._size(number):
                out.append((at, start + self._size(number)))
        return out

    @property
    def _kinds(self) -> tuple[str, ...]:
        """The kinds of rows that are kept."""
        if not self.plan.keep_hands:
            return ()
        kinds = ("hands", "games") if self.plan.games else ("hands",)
        return (*kinds, HISTORIES) if self.plan.log else kinds

    def _size(self, number: int) -> int:
        return min(self.plan.part_units, self.plan.units - number * self.plan.part_units)

    def take(self, played: Played) -> None:
        """Take a piece, and write it, or its part if that is whole."""
        self.units += played.count
        number = played.first // self.plan.part_units
        self.waiting.setdefault(number, []).append(played)
        if not self._write_if_whole(number) and self.folder is not None:
            self._store(self.folder, number, played)
            if len(self.files[number]) > MOST_FILES:
                self._put_together(self.folder, number)

    def found(self) -> str:
        """Say in a few words what is known by now: the interval, or the widest of them."""
        points = [self.sums.pairings["points"]]
        points += [
            piece.sums.pairings["points"] for part in self.waiting.values() for piece in part
        ]
        intervals = [RatioSums(*map(int, sums)) for sums in np.sum(points, axis=0)]
        halves = [(one.interval(), one.mean) for one in intervals]
        known = [((low_high[1] - low_high[0]) / 2, mean) for low_high, mean in halves if low_high]
        if len(known) < len(halves):
            return ""
        half, mean = max(known, key=lambda pair: pair[0])
        shown = f"{mean:+.3f}" if len(known) == 1 else "at most"
        return f"{shown} ± {half:.3f} points a hand"

    def _store(self, folder: RunFolder, number: int, played: Played) -> None:
        stored = StoredPiece(
            *(number, played.first, played.count, played.sums.as_dict()),
            *(played.rows, played.games, played.histories),
        )
        self.files.setdefault(number, []).append(folder.write_piece(stored))

    def _put_together(self, folder: RunFolder, number: int) -> None:
        """Join neighbours, so that a slow run does not leave thousands of files."""
        old = self.files.pop(number)
        part = sorted(self.waiting[number], key=lambda piece: piece.first)
        runs = [part[:1]]
        for before, piece in pairwise(part):
            if before.first + before.count == piece.first:
                runs[-1].append(piece)
            else:
                runs.append([piece])
        self.waiting[number] = [_joined(run) for run in runs]
        for piece in self.waiting[number]:
            self._store(folder, number, piece)
        folder.drop_pieces(number, set(old) - set(self.files[number]))

    def _write_if_whole(self, number: int) -> bool:
        part = self.waiting[number]
        if sum(piece.count for piece in part) < self._size(number):
            return False
        whole = _joined(sorted(part, key=lambda piece: piece.first))
        labels = self.plan.pairing_labels
        if self.plan.keep_hands:
            table = records.hands_table(whole.rows, labels, self.plan.games)
            self._write("hands", number, table)
            if self.plan.games:
                self._write("games", number, records.games_table(whole.games, labels))
        if self.folder is not None:
            if self.plan.log:
                self.folder.write_histories(number, whole.histories)
            self.folder.write_sums(number, whole.sums.as_dict())
            self.files.pop(number, None)
        self.sums.add(whole.sums)
        self.whole.add(number)
        del self.waiting[number]
        return True

    def _write(self, kind: str, number: int, table: Any) -> None:
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
        result = Result(self.plan, self.sums, out, in_order)
        if self.folder is not None:
            document = result.as_dict()
            del document["out"]
            self.folder.write_json("summary.json", document)
            self.folder.write_text("summary.csv", result.summary.to_csv(index=False))
            self.folder.finish()
        return result


def _joined(run: list[Played]) -> Played:
    """Return pieces that follow each other as one."""
    if len(run) == 1:
        return run[0]
    sums = run[0].sums.empty()
    for piece in run:
        sums.add(piece.sums)
    kept: dict[str, Any] = {
        kind: [
            np.concatenate(arrays)
            for arrays in zip(*(getattr(piece, kind) for piece in run), strict=True)
        ]
        for kind in ("rows", "games", "histories")
    }
    count = sum(piece.count for piece in run)
    return dataclasses.replace(run[0], count=count, sums=sums, **kept)
