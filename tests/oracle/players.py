"""Who plays in these tests: agents of the package and some odd ones, and how to ask them.

The oracle does not need this module; it is what sets it beside the library.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gin_sim import Agent, Params, View, agent, load_agent
from gin_sim.chance import pick
from gin_sim.compiled import kernel
from gin_sim.view import DISCARD, KNOCK
from tests.oracle.game import Answer


@agent("magpie", source="made to reach every limit on draws from the pile")
class Magpie:
    """Always takes the card of the pile; throws at random, and knocks at random."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return True

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return pick(view.legal_discards, view.word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return view.word & 1 == 1


@agent("waiter", source="made to reach the wall")
class Waiter:
    """Draws blind, throws one of the best cards, never knocks before the wall."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return view.stock_left == 2

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return pick(view.best_discards, view.word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return False


@agent("shuffler", source="made to go round and round")
class Shuffler:
    """Takes the upcard, throws it back where it may, and knocks seldom."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return view.word & 3 != 0

    @staticmethod
    def discard(view: View, params: Params) -> int:
        if view.taken >= 0 and view.legal_discards >> view.taken & 1 and view.word & 4:
            return view.taken
        return pick(view.best_discards, view.word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return view.word & 3 == 0


@kernel
def digest(view: View) -> int:
    """Return a number that every field of a view has a part in."""
    mixed = 0
    for field in (
        view.phase,
        view.hand,
        view.upcard,
        view.drawn,
        view.taken,
        view.candidate,
        view.legal_discards,
        view.best_discards,
        view.deadwood,
        view.stock_left,
        view.turn,
        view.own_turn,
        view.is_dealer,
        view.knock_limit,
        view.gin_bonus,
        view.undercut_bonus,
        view.big_gin_bonus,
        view.multiplier,
        view.score,
        view.opponent_score,
        view.target,
        view.pile,
        view.seen,
        view.opponent_known,
        view.opponent_discards,
        view.own_discards,
        view.opponent_refused,
        view.word,
        view.history_len,
    ):
        part = (field & 0x7FFFFFFF) ^ (field >> 31)
        mixed = ((mixed * 1000003) & 0x7FFFFFFF) ^ part
    for i in range(view.history_len):
        mixed = ((mixed * 1000003) & 0x7FFFFFFF) ^ int(view.history[i])
    mixed &= 0x7FFFFFFF
    # The low bits of products are poor: fold the high ones in.
    return ((mixed * 1000003) & 0x7FFFFFFF) ^ (mixed >> 15)


@agent("digester", source="made to play differently as soon as any field of a view differs")
class Digester:
    """Chooses by a digest of all that it sees, mostly among the best cards."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return digest(view) % 3 == 0

    @staticmethod
    def discard(view: View, params: Params) -> int:
        number = digest(view)
        cards = view.legal_discards if number % 5 == 0 else view.best_discards
        return pick(cards, number << 31)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return digest(view) % 4 == 0


@agent("cheat", source="made to be caught")
class Cheat:
    """Plays at random, and now and then throws a card it does not hold."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return view.word & 1 == 1

    @staticmethod
    def discard(view: View, params: Params) -> int:
        if view.word & 15 == 15:
            return view.upcard if view.upcard >= 0 else 60
        return pick(view.best_discards, view.word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return view.word & 1 == 1


# The decorator has made agents of them, which type checkers do not see in a class.
ODD: tuple[Any, ...] = (Magpie, Waiter, Shuffler, Digester, Cheat)
USUAL = ("random", "simple", "greedy", "gin_only", "early_gin")


@cache
def player(name: str) -> Agent:
    """Return an agent of the package, or one of the odd ones above."""
    odd = {one.name: one for one in ODD}
    return odd[name] if name in odd else load_agent(name)


def answers(one: Agent) -> Answer:
    """Return an agent as the oracle asks it: by its decisions as they are written."""
    params = one.param_values

    def answer(view: View) -> bool | int:
        # Agents call kernels, which take an array of any length but not any tuple.
        history: Any = np.array(view.history, np.int64)
        shown = view._replace(history=history)
        if view.phase == DISCARD:
            return int(one.discard(shown, params))
        if view.phase == KNOCK:
            return bool(one.knock(shown, params))
        return bool(one.draw(shown, params))

    return answer
