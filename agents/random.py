"""Plays any legal card, draws and knocks by the toss of a coin."""

from gin_sim import Params, View, agent
from gin_sim.chance import pick


@agent("random", source="the usual floor of every ladder")
class Random:
    """Chooses evenly among everything that is legal."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return view.word & 1 == 1

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return pick(view.legal_discards, view.word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return view.word & 1 == 1
