"""The deadwood of ten random cards, exactly: all 15,820,024,220 hands, counted.

    python -m tests.benchmarks.dealt_deadwood [--cards N]

Where the numbers in :mod:`gin_sim.control` come from.  Renaming the suits does not change
deadwood, so only hands whose four suits are in order are looked at, each for as many hands
as renaming makes of it: about one in 24.  Ten seconds or so; it fails if the constants are
not what it finds.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from gin_sim.compiled import kernel
from gin_sim.control import DEADWOOD_SQUARES, DEADWOOD_SUM, N_HANDS
from gin_sim.melds import least_deadwood


@kernel
def _count(cards: int, masks: Any, sizes: Any, starts: Any, counts: Any) -> None:
    """Add to `counts` the hands of `cards` cards by their deadwood."""
    n_masks = masks.size
    for i in range(n_masks):
        left_i = cards - sizes[i]
        if left_i < 3 * sizes[i]:
            break
        for j in range(i, n_masks):
            left_j = left_i - sizes[j]
            if left_j < 2 * sizes[j]:
                break
            two = masks[i] | masks[j] << 13
            for k in range(j, n_masks):
                last = left_j - sizes[k]
                if last < sizes[k]:
                    break
                if last >= starts.size - 1:
                    continue
                three = two | masks[k] << 26
                for m in range(max(k, starts[last]), starts[last + 1]):
                    # 24 ways to name the suits, less those that change nothing.
                    ways = 24
                    if i == j and j == k and k == m:
                        ways = 1
                    elif (i == j and j == k) or (j == k and k == m):
                        ways = 4
                    elif i == j and k == m:
                        ways = 6
                    elif i == j or j == k or k == m:
                        ways = 12
                    counts[least_deadwood(three | masks[m] << 39)] += ways


def count_by_deadwood(cards: int, ranks: int = 13) -> Any:
    """Return how many hands there are of each deadwood.

    Parameters
    ----------
    cards : int
        Cards in the hand.
    ranks : int
        Ranks in each suit of the deck, from the ace.

    Returns
    -------
    (10 * cards + 1,) array of int64
        All hands of `cards` out of ``4 * ranks``, by their points of deadwood.
    """
    masks = np.array(sorted(range(1 << ranks), key=lambda mask: (mask.bit_count(), mask)))
    sizes = np.array([int(mask).bit_count() for mask in masks])
    starts = np.searchsorted(sizes, np.arange(ranks + 2))
    counts = np.zeros(10 * cards + 1, np.int64)
    _count(cards, masks, sizes, starts, counts)
    return counts


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description="deadwood of random cards, exactly")
    parser.add_argument("--cards", type=int, default=10)
    cards = parser.parse_args().cards
    counts = [int(n) for n in count_by_deadwood(cards)]
    hands = sum(counts)
    first = sum(deadwood * n for deadwood, n in enumerate(counts))
    second = sum(deadwood * deadwood * n for deadwood, n in enumerate(counts))
    print(f"hands                 {hands}")
    print(f"sum of deadwood       {first}")
    print(f"sum of its square     {second}")
    print(f"mean                  {first / hands:.9f}")
    print(f"standard deviation    {(second / hands - (first / hands) ** 2) ** 0.5:.9f}")
    if cards == 10 and (hands, first, second) != (N_HANDS, DEADWOOD_SUM, DEADWOOD_SQUARES):
        raise SystemExit("gin_sim/control.py has other numbers")


if __name__ == "__main__":
    main()
