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
    throw_deadwood=-22.7,
    throw_may_knock=25.9,
    throw_hope=138,
    throw_best=9.54,
    throw_outs=-21.9,
    throw_gin_outs=15.2,
    throw_late_deadwood=-75.4,
    throw_late_hope=-156,
    throw_late_gin_outs=22.1,
    throw_melds=64.9,
    throw_points=-29.8,
    throw_wanted=-7.21,
    throw_unwanted=3.95,
    throw_late_melds=-204,
    throw_late_points=56.1,
    throw_late_best=57.6,
    throw_late_may_knock=-28.7,
    throw_ending_deadwood=79.6,
    throw_ending_may_knock=39.1,
    take_always=-6.95,
    take_late=-42.6,
    take_first=9.64,
    take_meld=16,
    take_may_knock=8.09,
    take_fall=14.4,
    take_late_fall=62.7,
    take_hope=42.3,
    take_best=2.7,
    take_gin_outs=17.9,
    take_stock=-5.41,
    knock_always=7.76,
    knock_late=-3.34,
    knock_deadwood=38.2,
    knock_late_deadwood=-38.7,
    knock_hope=-98.8,
    knock_gin_outs=-3.91,
    knock_late_gin_outs=-3.24,
    knock_taken=-5.79,
    knock_thrown=-1.53,
    knock_least_thrown=2.45,
    knock_late_thrown=9.69,
    knock_late_hope=-75.9,
    knock_late_late=0.0784,
    knock_ending=2.35,
    knock_ending_deadwood=-12.9,
    knock_ending_gin_outs=1.85,
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
