"""A knock rule that can be put on any agent: two numbers instead of its own decision.

``simple:knock_most=10,knock_stock=23`` draws and throws as `simple` does, and knocks with
10 or less while 23 or more cards are left in the stock; otherwise it goes for gin.
"""

from __future__ import annotations

from typing import Any

KNOCK_RULE = {"knock_most": 10.0, "knock_stock": 0.0}
"""The parameters of the rule, which come last among an agent's, and their defaults."""


def knock_by_rule(view: Any, params: Any) -> bool:
    """Knock with `knock_most` or less, while `knock_stock` or more cards are left."""
    n = params.size
    return bool(view.deadwood <= params[n - 2] and view.stock_left >= params[n - 1])
