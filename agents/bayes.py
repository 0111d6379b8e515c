"""Asks what the opponent may hold, and knocks when that pays more than to wait.

Draws and throws like `improver`.  When it may knock it looks at a few hands that explain
the opponent's play, settles the knock against each, lay-offs and all, and compares the mean
with what waiting is worth: more with cards that would make gin and a stock to find them in,
less if the opponent is nearly done itself.
"""

from agents.improver import throws, wants
from gin_sim import Params, View, agent
from gin_sim.cards import DECK
from gin_sim.compiled import kernel
from gin_sim.knocking import knock_now
from gin_sim.outs import outs

WAITING, WORLDS, SETTLE, BETWEEN = 10, 14, 15, 16


@kernel
def knocks_by(view: View, worth: Params, worlds: int, settle: int, between: int) -> bool:
    """Return whether knocking now is expected to bring more than waiting.

    Waiting is worth ``worth[0]`` points, and more for each card that would make gin, each
    card in the stock and each point of deadwood that the opponent seems to have.
    """
    knock = knock_now(view, worlds, settle, between)
    gin = outs(view.hand ^ 1 << view.candidate, DECK & ~view.seen, 1).gin
    waiting = worth[0] + worth[1] * gin + worth[2] * view.stock_left + worth[3] * knock.deadwood
    return bool(knock.points > waiting * view.multiplier)


@agent(
    "bayes",
    source="weighs a knock against the hands that the opponent's play makes likely",
    few=4,
    hope=0.6,
    mass=0,
    gin=1,
    shrink=0.025,
    caution=0.05,
    tempo=14,
    more=2,
    less=0.8,
    margin=1.5,
    waiting=20,
    per_out=2,
    per_card=0,
    theirs=0,
    worlds=8,
    settle=24,
    between=4,
)
class Bayes:
    """Draws and throws like `improver`; knocks when likely hands say that it pays."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return wants(view, params)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return throws(view, params)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        worlds, settle, between = int(params[WORLDS]), int(params[SETTLE]), int(params[BETWEEN])
        return knocks_by(view, params[WAITING:WORLDS], worlds, settle, between)
