"""What a long run costs: memory that does not grow, and threads that are all at work.

``python -m tests.benchmarks.scale --hands 100000000`` plays `simple` against `greedy`

* by the bare kernel, in one thread and in two, into a buffer that is thrown away;
* as ``gin-sim tournament --no-hands`` with one thread and with two, of a million hands and
  of all of them, with the peak memory of each.

The rates are of one run of this script; the kernel's are medians of rounds taken in turns,
some before the long one and some after;
the time that a command takes to start is measured with two hands and taken off.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from gin_sim import Rules, load_agent
from gin_sim.compiled import records
from gin_sim.play import ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.scoring import rules_record

AGENTS = ("simple", "greedy")
DEALS = 2048
ROUNDS = 3


def bare_rate(threads: int, hands: int) -> float:
    """Return hands a second of the kernel alone, in so many threads at once."""
    policies = [prepare(load_agent(name)) for name in AGENTS]
    rules = rules_record(Rules.preset("standard"))

    def work(number: int) -> None:
        desk, rows = new_desk(rules), records(2 * DEALS, ROW_DTYPE)
        for chunk in range(hands // threads // (2 * DEALS)):
            first = (number * 1_000_000 + chunk) * DEALS
            play_hands(desk, Order(1, first, DEALS, 0, 0), *policies, rows)

    work(0)
    running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    begun = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return hands / (time.perf_counter() - begun)


def tournament(folder: Path, hands: int, jobs: int) -> tuple[float, float]:
    """Return the seconds and the peak memory, in MB, of a tournament without rows."""
    words = [
        *(sys.executable, "-m", "gin_sim", "tournament", *AGENTS, "--hands", str(hands)),
        *("--seed", "1", "--no-hands", "--jobs", str(jobs)),
        *("--out", str(folder / f"{hands}-{jobs}")),
    ]
    begun = time.perf_counter()
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(words)}: status {status}")
    return time.perf_counter() - begun, used.ru_maxrss / 1024


def main() -> None:
    """Measure, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=100_000_000)
    args = parser.parse_args()
    some = min(args.hands, 4_000_000)
    middle = min(args.hands, 20_000_000)
    print(f"load before: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    rounds = [[bare_rate(threads, some) for threads in (1, 2)] for _ in range(ROUNDS)]
    one, two = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    print(f"kernel alone:  {one:,.0f} a second in one thread, {two:,.0f} in two ({two / one:.2f})")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starting = min(tournament(folder, 2 + 2 * n, 2)[0] for n in range(2))
        print(f"to start:      {starting:.1f} s")
        rates = []
        for jobs in (1, 2):
            seconds, _ = tournament(folder, middle, jobs)
            rates.append(middle / (seconds - starting))
        print(
            f"tournament:    {rates[0]:,.0f} a second with one thread, {rates[1]:,.0f} with two "
            f"({rates[1] / rates[0]:.2f}) of {middle:,}"
        )
        _, small = tournament(folder, 1_000_000, 2)
        seconds, large = tournament(folder, args.hands, 2)
        again = statistics.median(bare_rate(2, some) for _ in range(ROUNDS))
        rate = args.hands / (seconds - starting)
        print(f"kernel again:  {again:,.0f} a second in two threads")
        print(
            f"{args.hands:,} hands: {rate:,.0f} a second, "
            f"{rate / ((two + again) / 2):.2f} of the kernel's two threads"
        )
        print(
            f"peak memory:   {large:.0f} MB, of 1,000,000 hands {small:.0f} MB "
            f"({large / small:.3f})"
        )


if __name__ == "__main__":
    main()
