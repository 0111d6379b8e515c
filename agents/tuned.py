"""The best fast agent found so far: the weights of `learned`, improved twice.

It counts a few numbers about every choice (:mod:`gin_sim.features`) and what some of them are
worth late in a hand (:mod:`gin_sim.wide_features`).  Its weights began as those of `learned`;
``experiments/tune.py`` moved them towards what scores most against all fast agents of the
ladder, and ``experiments/improve.py`` played its choices on in both ways, against them and
against itself, and learned from what each gained.  results/tune and results/improve say how.
"""

from gin_sim import Params, View, agent
from gin_sim.wide_features import knocks_by, takes_by, throws_by


@agent(
    "tuned",
    source="experiments/improve.py: policy iteration from forks of its own choices",
    throw_deadwood=-22,
    throw_may_knock=17.7,
    throw_hope=127,
    throw_best=11.3,
    throw_outs=-21.2,
    throw_gin_outs=23.1,
    throw_late_deadwood=-86.3,
    throw_late_hope=-134,
    throw_late_gin_outs=16.5,
    throw_melds=60,
    throw_points=-24.2,
    throw_wanted=-8.9,
    throw_unwanted=3.91,
    throw_late_melds=-193,
    throw_late_points=47.8,
    throw_late_best=59.9,
    throw_late_may_knock=-24.1,
    take_always=-7.85,
    take_late=-37.5,
    take_first=8.59,
    take_meld=14.7,
    take_may_knock=6.65,
    take_fall=16.2,
    take_late_fall=59.5,
    take_hope=42.3,
    take_best=3.7,
    take_gin_outs=16.3,
    take_stock=-6.33,
    knock_always=8.75,
    knock_late=-1.94,
    knock_deadwood=36.3,
    knock_late_deadwood=-41.6,
    knock_hope=-93.6,
    knock_gin_outs=-4.43,
    knock_late_gin_outs=-2.53,
    knock_taken=-6.3,
    knock_thrown=-2.25,
    knock_least_thrown=2.06,
    knock_late_thrown=9.01,
    knock_late_hope=-63.7,
    knock_late_late=-0.12,
)
class Tuned:
    """Takes, throws and knocks by weights learned from playing its choices on in both ways."""

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
