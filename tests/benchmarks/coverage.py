"""How often the intervals hold the truth, and how often the tests are wrong.

    python -m tests.benchmarks.coverage --tournaments 2000 --seed 1

Tournaments and sequential tests are drawn from populations of deals that real agents have
played (see :mod:`tests.population`), and go through the code that a run goes through.  It
takes ten minutes of processor time or so, prints the tables of ``docs/statistics.md``, and
fails if anything is not as promised there.  The ranges leave room for what 2,000 tournaments
vary by: with fewer, it can fail by chance.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator

import numpy as np

from gin_sim.sprt import wilson
from gin_sim.workers import Workers
from tests.coverage_study import SCALES, Counts, Task, Walk, count

COVERED = (0.93, 0.97)
ABOVE = (0.47, 0.53)
MOST_WRONG = 0.05

DEALS = {"hands": (200, 1000, 5000), "games": (100, 500), "equals": (200, 1000, 5000)}
SIZES = {"hands": 100_000, "games": 20_000, "equals": 20_000, "tests": 100_000}
WALKS = (
    *(
        Walk(scale, holds, apart, batch)
        for scale in SCALES
        for apart, batch in ((0.0217, 512), (0.123, 16))
        for holds in ("H0", "H1")
    ),
    *(Walk(scale, "H0", 0.0217, 512, cap) for scale in SCALES for cap in (100, 5_000)),
)
AT_ONCE = 50

Key = tuple[str, int, Walk | None]


def tasks(tournaments: int, seed: int) -> Iterator[Task]:
    """Yield all there is to do."""
    what: list[Key] = [(study, units, None) for study in DEALS for units in DEALS[study]]
    what += [("tests", 0, walk) for walk in WALKS]
    for study, units, walk in what:
        for first in range(0, tournaments, AT_ONCE):
            number = min(AT_ONCE, tournaments - first)
            yield Task(study, units, first, number, seed, SIZES[study], walk)


def counted(tournaments: int, seed: int, jobs: int) -> dict[Key, Counts]:
    """Do it all; return what was counted of each study and size."""
    out: dict[Key, Counts] = {}
    todo = list(tasks(tournaments, seed))
    for done, (task, found) in enumerate(Workers(jobs, "loky").run(count, todo), 1):
        if done % 100 == 0:
            print(f"{done} of {len(todo)} parts", file=sys.stderr, flush=True)
        sums = out.setdefault((task.study, task.units, task.walk), {})
        for name, values in found.items():
            sums[name] = sums[name] + values if name in sums else values
    return out


class Tables:
    """Prints rows and remembers which are not as promised."""

    def __init__(self, tournaments: int) -> None:
        self.tournaments = tournaments
        self.broken: list[str] = []

    def head(self, *names: str) -> None:
        """Print a table's head."""
        print(f"\n| {' | '.join(names)} |\n|{'---|' * len(names)}")

    def row(self, *cells: str) -> None:
        """Print a row."""
        print(f"| {' | '.join(cells)} |", flush=True)

    def check(self, what: str, shares: np.ndarray, low: float, high: float) -> None:
        """Remember shares that are not in a range."""
        if not ((shares >= low) & (shares <= high)).all():
            shown = ", ".join(f"{100 * share:.2f}" for share in shares)
            self.broken.append(f"{what}: {shown} %, promised {100 * low:g} to {100 * high:g} %")

    def shares(self, counts: np.ndarray) -> np.ndarray:
        """Return counts as shares."""
        return np.asarray(counts / self.tournaments)


def percent(shares: np.ndarray) -> str:
    """Return the lowest and the highest share."""
    low, high = f"{100 * shares.min():.1f}", f"{100 * shares.max():.1f}"
    return low if low == high else f"{low} to {high}"


def rate(share: float, tournaments: int) -> str:
    """Return a rate with Wilson's interval."""
    low, high = wilson(share, tournaments)
    return f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def print_tables(found: dict[Key, Counts], tables: Tables) -> None:
    """Print what was counted, beside what is promised."""
    error = 100 * math.sqrt(0.95 * 0.05 / tables.tournaments)
    tables.head("interval", "n", "holds the truth, %", "standard error")
    for study, unit in (("hands", "deals"), ("games", "pairs of games")):
        kinds = found[study, DEALS[study][0], None]
        for kind in kinds:
            for units in DEALS[study]:
                shares = tables.shares(found[study, units, None][kind])
                tables.row(kind, f"{units:,} {unit}", percent(shares), f"{error:.1f}")
                tables.check(f"{kind}, {units} {unit}", shares, *COVERED)

    tables.head("four equal agents, six pairings", "n", "any called better, % [95 %]")
    for units in DEALS["equals"]:
        for kind, counts in found["equals", units, None].items():
            shares = tables.shares(counts)
            tables.row(kind, f"{units:,} deals", rate(float(shares[0]), tables.tournaments))
            if kind.startswith("with "):
                tables.check(f"called better {kind}, {units} deals", shares, 0, MOST_WRONG)

    names = ("sequential test", "true", "batch", "cap", "wrong, % [95 %]", "deals on average")
    tables.head(*names, "interval holds the truth, %", "estimate above the truth, %")
    for walk in WALKS:
        counts = found["tests", 0, walk]
        wrong, none, above, covered = (
            tables.shares(counts[name]) for name in ("wrong", "none", "above", "covered")
        )
        tables.row(
            *(walk.scale, walk.holds, str(walk.batch), f"{walk.cap:,}" if walk.cap else "none"),
            "no decisions" if none[0] == 1 else rate(float(wrong[0]), tables.tournaments),
            f"{int(counts['deals'][0]) / tables.tournaments:,.0f}",
            *(f"{100 * covered[0]:.1f}", f"{100 * above[0]:.1f}"),
        )
        tables.check(f"wrong, {walk}", wrong, 0, MOST_WRONG)
        tables.check(f"interval, {walk}", covered, *COVERED)
        tables.check(f"above, {walk}", above, *ABOVE)


def main() -> int:
    """Count, print and judge."""
    parser = argparse.ArgumentParser(description="coverage of intervals, error rates of tests")
    parser.add_argument("--tournaments", type=int, default=2000, help="of each size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    # Two processes with the library's threads each would only be in each other's way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    begun = time.monotonic()
    tables = Tables(args.tournaments)
    print_tables(counted(args.tournaments, args.seed, args.jobs), tables)
    print(f"\n{args.tournaments:,} of each, seed {args.seed}, {time.monotonic() - begun:.0f} s")
    for line in tables.broken:
        print(f"not as promised: {line}", file=sys.stderr)
    return int(bool(tables.broken))


if __name__ == "__main__":
    sys.exit(main())
