"""Weighs a dozen numbers for each choice; what they weigh it has found by playing itself.

Each choice has a score, a weighted sum of what can be counted about it: for a throw what it
leaves and what it is to the opponent, for the upcard what it makes of the hand, for a knock
how good it is and how late.  The best score is chosen; but gin, which is no choice, is never
let go.  What is counted (:mod:`gin_sim.features`) was written by hand; the weights began at 0
and were learned by ``experiments/learn_selfplay.py`` (see ``results/learn_selfplay``).
"""

from gin_sim import Params, View, agent
from gin_sim.features import knocks_by, takes_by, throws_by


@agent(
    "learned",
    source="self-play on gin_sim.env.VectorEnv: results/learn_selfplay",
    throw_deadwood=-30.0,
    throw_may_knock=16.25,
    throw_hope=131.25,
    throw_best=20.5,
    throw_outs=-23.125,
    throw_gin_outs=11.875,
    throw_late_deadwood=-52.125,
    throw_late_hope=-94.25,
    throw_late_gin_outs=7.5,
    throw_melds=-14.75,
    throw_points=-8.25,
    throw_wanted=-1.5,
    throw_unwanted=2.5,
    take_always=-5.625,
    take_late=-23.625,
    take_first=5.5,
    take_meld=9.375,
    take_may_knock=7.0,
    take_fall=21.75,
    take_late_fall=50.5,
    take_hope=51.0,
    take_best=2.125,
    take_gin_outs=12.5,
    take_stock=-13.875,
    knock_always=16.625,
    knock_late=2.25,
    knock_deadwood=25.0,
    knock_late_deadwood=-32.5,
    knock_hope=-78.625,
    knock_gin_outs=-4.0,
    knock_late_gin_outs=-4.75,
    knock_taken=-8.75,
)
class Learned:
    """Takes, throws and knocks by weights that it has learned by playing itself."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes_by(view, params)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws_by(view, params)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return knocks_by(view, params)
