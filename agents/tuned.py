"""The best fast agent found so far: the weights of `learned`, set further by tuning.

It counts the same few numbers about every choice (:mod:`gin_sim.features`).  Its weights
began as those of `learned` and were moved by ``experiments/tune.py`` until it scored most
against all fast agents of the ladder; results/tune says how.
"""

from gin_sim import Params, View, agent
from gin_sim.features import knocks_by, takes_by, throws_by


@agent(
    "tuned",
    source="experiments/tune.py: CMA-ES against all fast agents, from the weights of learned",
    throw_deadwood=-35.1,
    throw_may_knock=17.4,
    throw_hope=149,
    throw_best=23,
    throw_outs=-25,
    throw_gin_outs=15.4,
    throw_late_deadwood=-52.5,
    throw_late_hope=-104,
    throw_late_gin_outs=5.22,
    throw_melds=-18.9,
    throw_points=-10.3,
    throw_wanted=-1,
    throw_unwanted=2.44,
    take_always=-5.79,
    take_late=-26.8,
    take_first=5.58,
    take_meld=11.3,
    take_may_knock=6.64,
    take_fall=19.6,
    take_late_fall=52.9,
    take_hope=50,
    take_best=2.19,
    take_gin_outs=14.9,
    take_stock=-14.4,
    knock_always=16.4,
    knock_late=1.99,
    knock_deadwood=29.3,
    knock_late_deadwood=-40.5,
    knock_hope=-90.5,
    knock_gin_outs=-4.79,
    knock_late_gin_outs=-4.57,
    knock_taken=-11.5,
)
class Tuned:
    """Takes, throws and knocks by weights found by playing against all fast agents."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes_by(view, params)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws_by(view, params)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return knocks_by(view, params)


WEIGHTS: Params = Tuned.param_values  # type: ignore[attr-defined]  # the decorator made it an agent
"""Its weights, for agents that begin with its opinion."""
