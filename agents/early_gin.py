"""Knocks early or not at all.

Draws and throws like `simple`, but knocks with deadwood only in its own first turns; later
it plays for gin.  The second yardstick: it wins about two games of three against
`simple`.
"""

from agents.simple import takes, throws
from gin_sim import Params, View, agent

EARLY_TURNS = 0


@agent("early_gin", source="the second baseline of the EAAI-2021 Gin Rummy challenge", turns=3)
class EarlyGin:
    """As `simple`, but knocks only in its first `turns` turns, then goes for gin."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes(view)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return bool(view.own_turn < params[EARLY_TURNS])
