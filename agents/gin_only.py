"""Plays for gin: draws and throws like `greedy`, and never knocks with deadwood."""

from agents.greedy import takes, throws
from gin_sim import Params, View, agent


@agent("gin_only", source="the patient opposite of knocking at the first chance")
class GinOnly:
    """As `greedy`, but never knocks with deadwood."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes(view)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return False
