"""How fast the engine is, as ratios measured in one run on one core.

    python -m tests.benchmarks.speed [--hands N] [--rounds R] [--seed S]

Machines differ and are noisy, so seconds say little: each figure is set against another
that was measured beside it, round by round, and the medians are compared.  Other engines
are compared if they are installed (``pip install -e '.[benchmark]'``).
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gin_sim import Rules, load_agent
from gin_sim.bits import nth_card
from gin_sim.chance import deal_key, shuffle_place
from gin_sim.compiled import kernel
from gin_sim.melds import least_deadwood, least_discards
from gin_sim.play import ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.scoring import rules_record


@kernel
def bare_deals(seed: int, count: int, stock_cards: int, deck: Any) -> int:
    """Deal both hands, the upcard and some stock cards of many deals, and do nothing else."""
    total = 0
    for number in range(count):
        key = deal_key(seed, number)
        for place in range(52):
            deck[place] = place
        hand_0 = hand_1 = stock = 0
        for place in range(10):
            shuffle_place(deck, key, place)
            hand_0 |= 1 << deck[place]
        for place in range(10, 20):
            shuffle_place(deck, key, place)
            hand_1 |= 1 << deck[place]
        for place in range(20, 21 + stock_cards):
            shuffle_place(deck, key, place)
            stock |= 1 << deck[place]
        total += (hand_0 ^ hand_1 ^ stock) & 1023
    return total


@kernel
def count_best_discards(hands: Any) -> int:
    """Find the best discards of many hands."""
    total = 0
    for hand in hands:
        deadwood, discards = least_discards(hand)
        total += deadwood + (discards & 1)
    return total


@kernel
def count_by_remainders(hands: Any) -> int:
    """Find the same by the deadwood of each of the eleven remainders."""
    total = 0
    for hand in hands:
        best, discards = 1000, 0
        for i in range(11):
            card = nth_card(hand, i)
            deadwood = least_deadwood(hand ^ (1 << card))
            if deadwood < best:
                best, discards = deadwood, 0
            if deadwood == best:
                discards |= 1 << card
        total += best + (discards & 1)
    return total


def seconds(work: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(
    names: tuple[str, str], works: tuple[Any, Any], counts: tuple[int, int], rounds: int
) -> float:
    """Time two things in turn, print both, and return how many times dearer the first is."""
    for work in works:
        work()
    pairs = [
        tuple(seconds(work) / n for work, n in zip(works, counts, strict=True))
        for _ in range(rounds)
    ]
    first, second = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    ratios = sorted(a / b for a, b in pairs)
    for name, value in zip(names, (first, second), strict=True):
        print(f"  {name:<44} {value * 1e9:12,.1f} ns   {1 / value:14,.0f} a second")
    print(f"  ratio {first / second:,.2f}   (by round: {ratios[0]:,.2f} to {ratios[-1]:,.2f})")
    return first / second


class OurHands:
    """A match of ours, with rows written into memory."""

    def __init__(self, a: str, b: str, hands: int, seed: int, rules: str = "eaai") -> None:
        self.policies = prepare(load_agent(a)), prepare(load_agent(b))
        self.desk = new_desk(rules_record(Rules.preset(rules)))
        self.order = Order(seed, 0, hands // 2, 0, 0)
        self.rows = np.zeros(hands, ROW_DTYPE)

    def __call__(self) -> None:
        """Play the hands."""
        play_hands(self.desk, self.order, *self.policies, self.rows)


def against_dealing(hands: int, rounds: int, seed: int) -> None:
    """(a) Whole hands against bare dealing of the same cards."""
    print("(a) whole hands of simple v simple, rows written, against bare dealing")
    play = OurHands("simple", "simple", hands, seed)
    play()
    drawn = 31 - round(float(play.rows["stock_left"].mean()))
    deck = np.zeros(52, np.int64)
    ratio = compare(
        ("a hand", f"dealing 21 cards and {drawn} of the stock"),
        (play, lambda: bare_deals(seed, hands, drawn, deck)),
        (hands, hands),
        rounds,
    )
    print(f"  whole hands run at 1/{ratio:.1f} of bare dealing\n")


def against_remainders(rounds: int, seed: int) -> None:
    """(c) The exact best discard against eleven calls of deadwood."""
    print("(c) the best discards of eleven cards, against deadwood of eleven remainders")
    rng = np.random.default_rng(seed)
    hands = np.array([sum(1 << int(c) for c in rng.choice(52, 11, False)) for _ in range(50_000)])
    assert (np.bitwise_count(hands) == 11).all()
    assert count_best_discards(hands) == count_by_remainders(hands)
    compare(
        ("best discards by eleven remainders", "best discards at once"),
        (lambda: count_by_remainders(hands), lambda: count_best_discards(hands)),
        (hands.size, hands.size),
        rounds,
    )
    print()


def spiel_random_hand(game: Any, rng: random.Random) -> None:
    """Play one hand of OpenSpiel at random, as its own examples do."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, weights)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))


def spiel_bot_hand(game: Any, bots: Any, rng: random.Random) -> None:
    """Play one hand of OpenSpiel between two of its bots."""
    state = game.new_initial_state()
    for bot in bots:
        bot.restart()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, weights)[0])
        else:
            state.apply_action(bots[state.current_player()].step(state))


def against_openspiel(hands: int, rounds: int, seed: int) -> None:
    """(b) Hands a second against OpenSpiel's own loops."""
    try:
        import pyspiel
    except ImportError:
        print("(b) OpenSpiel is not installed: pip install -e '.[benchmark]'\n")
        return
    rng = random.Random(seed)
    game = pyspiel.load_game("gin_rummy")
    print("(b) random v random: OpenSpiel's loop from Python, against ours")
    few = 40
    compare(
        ("OpenSpiel, random", "gin-sim, random"),
        (
            lambda: [spiel_random_hand(game, rng) for _ in range(few)],
            OurHands("random", "random", hands, seed, "openspiel"),
        ),
        (few, hands),
        rounds,
    )
    print("(b) simple bot v simple bot: OpenSpiel's, against ours")
    bots = [pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), p) for p in (0, 1)]
    compare(
        ("OpenSpiel, its simple bot", "gin-sim, simple"),
        (
            lambda: [spiel_bot_hand(game, bots, rng) for _ in range(few)],
            OurHands("simple", "simple", hands, seed, "openspiel"),
        ),
        (few, hands),
        rounds,
    )
    print()


def against_rlcard(hands: int, rounds: int, seed: int) -> None:
    """(b) Hands a second against RLCard's own loop."""
    try:
        import rlcard
        from rlcard.agents import RandomAgent
    except ImportError:
        print("(b) RLCard is not installed: pip install -e '.[benchmark]'\n")
        return
    env = rlcard.make("gin-rummy", config={"seed": seed})
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])
    print("(b) random v random: RLCard's loop, against ours")
    few = 12
    compare(
        ("RLCard, random", "gin-sim, random"),
        (
            lambda: [env.run(is_training=False) for _ in range(few)],
            OurHands("random", "random", hands, seed),
        ),
        (few, hands),
        rounds,
    )
    print()


def main() -> None:
    """Run all comparisons on one core."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=200_000, help="of ours, a round")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    against_dealing(args.hands, args.rounds, args.seed)
    against_remainders(args.rounds, args.seed)
    against_openspiel(args.hands, args.rounds, args.seed)
    against_rlcard(args.hands, args.rounds, args.seed)


if __name__ == "__main__":
    main()
