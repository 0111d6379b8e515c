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
    throw_deadwood=-20.4,
    throw_may_knock=24.5,
    throw_hope=126,
    throw_best=9.64,
    throw_outs=-21,
    throw_gin_outs=23.1,
    throw_late_deadwood=-87,
    throw_late_hope=-133,
    throw_late_gin_outs=12.7,
    throw_melds=52.5,
    throw_points=-23.5,
    throw_wanted=-4.61,
    throw_unwanted=4.46,
    throw_late_melds=-190,
    throw_late_points=49.5,
    throw_late_best=61.1,
    throw_late_may_knock=-31.6,
    throw_ending_deadwood=58.1,
    throw_ending_may_knock=50.1,
    take_always=-7.42,
    take_late=-37.9,
    take_first=9.56,
    take_meld=14,
    take_may_knock=7.37,
    take_fall=15.5,
    take_late_fall=66.9,
    take_hope=40.1,
    take_best=5.68,
    take_gin_outs=14.6,
    take_stock=-6.73,
    knock_always=9.17,
    knock_late=-2.13,
    knock_deadwood=35.7,
    knock_late_deadwood=-40.3,
    knock_hope=-94,
    knock_gin_outs=-4.19,
    knock_late_gin_outs=-2.96,
    knock_taken=-6.02,
    knock_thrown=-2.09,
    knock_least_thrown=1.6,
    knock_late_thrown=8.48,
    knock_late_hope=-62.1,
    knock_late_late=-0.638,
    knock_ending=2.73,
    knock_ending_deadwood=-8.18,
    knock_ending_gin_outs=2.67,
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
