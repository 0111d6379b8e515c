"""Knocks as often as the equilibrium says, against a player who knows how often that is.

Draws and throws like `simple`, for which the table was made: the probability of knocking by
the cards left in the stock and the deadwood, to which no other table is a good answer.  It
comes from ``experiments/knock_equilibrium.py``; results/knock_equilibrium has it in full.
"""

import numpy as np

from agents.simple import takes, throws
from gin_sim import Params, View, agent
from gin_sim.chance import below

LOWEST_STOCK = 2
IN_A_THOUSAND = np.array(
    [  # deadwood 1, 2, … 10; stock_left 2, 3, … 31
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 2
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 3
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 4
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 5
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 6
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 7
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 8
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 9
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 10
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 11
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 12
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 13
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 14
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 15
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 16
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # 17
        [0, 0, 0, 0, 0, 358, 310, 0, 0, 0],  # 18
        [0, 0, 0, 0, 0, 39, 0, 0, 700, 1000],  # 19
        [0, 0, 0, 0, 0, 223, 301, 0, 1000, 1000],  # 20
        [0, 0, 0, 0, 0, 211, 1000, 1000, 1000, 1000],  # 21
        [0, 0, 0, 0, 0, 378, 1000, 1000, 1000, 1000],  # 22
        [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000],  # 23
        [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000],  # 24
        [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000],  # 25
        [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000],  # 26
        [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000],  # 27
        [0, 0, 0, 1000, 1000, 1000, 1000, 1000, 1000, 1000],  # 28
        [0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000, 1000],  # 29
        [0, 0, 0, 1000, 1000, 1000, 1000, 1000, 1000, 1000],  # 30
        [1000, 1000, 0, 1000, 1000, 1000, 1000, 1000, 1000, 1000],  # 31
    ]
)
"""How often to knock."""


@agent("equilibrium", source="the equilibrium of knocking, experiments/knock_equilibrium.py")
class Equilibrium:
    """As `simple`, but knocks with the probabilities of the equilibrium table."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes(view)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        row = min(max(view.stock_left - LOWEST_STOCK, 0), len(IN_A_THOUSAND) - 1)
        column = min(max(view.deadwood - 1, 0), IN_A_THOUSAND.shape[1] - 1)
        return bool(below(view.word, 1000) < IN_A_THOUSAND[row, column])
