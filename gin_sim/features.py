"""Features of a choice: what can be counted about a throw, the upcard, a knock; compiled.

Each decision has its few numbers.  With a weight for each they give a score, and a player:
the choice of the best score; but gin, which is no choice, is never let go.  The weights are
the agents' own: a decision's begin at 0, :data:`TAKES` and :data:`KNOCKS`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gin_sim.belief import around, read_opponent
from gin_sim.bits import lowest, popcount
from gin_sim.cards import DECK
from gin_sim.compiled import kernel
from gin_sim.danger import danger
from gin_sim.melds import least_discards_among
from gin_sim.outs import completing, outs
from gin_sim.view import LAST, UPCARD

FEW = 4
MOST_TURNS = 40


class Throw(NamedTuple):
    """What is counted about a throw; points in tens, turns in twenties.

    Attributes
    ----------
    deadwood, may_knock : float
        What it leaves, and whether that is few enough to knock with.
    hope, best, outs, gin_outs : float
        What the next card can do for the ten cards left: the mean gain of an unseen card,
        that of the best few, and how many help (in tens) or make gin.
    late_deadwood, late_hope, late_gin_outs : float
        The same times the turns played.
    melds, points : float
        What the card is to the opponent, as :mod:`gin_sim.danger` says.
    wanted, unwanted : float
        Whether it goes with a card that the opponent took, or threw or refused.
    """

    deadwood: float
    may_knock: float
    hope: float
    best: float
    outs: float
    gin_outs: float
    late_deadwood: float
    late_hope: float
    late_gin_outs: float
    melds: float
    points: float
    wanted: float
    unwanted: float


class Take(NamedTuple):
    """What is counted about taking the upcard; the same units.

    Attributes
    ----------
    always, late, first : float
        1; the turns played; whether it is the opening upcard.
    meld, may_knock : float
        Whether the card makes a meld, or a hand to knock with.
    fall, late_fall : float
        By how much it lowers the deadwood, and that times the turns played.
    hope, best, gin_outs : float
        What it adds to these of a throw.
    stock : float
        The hope without it: what an unseen card would gain on average.
    """

    always: float
    late: float
    first: float
    meld: float
    may_knock: float
    fall: float
    late_fall: float
    hope: float
    best: float
    gin_outs: float
    stock: float


class Knock(NamedTuple):
    """What is counted about knocking; the same units.

    Attributes
    ----------
    always, late, deadwood, late_deadwood : float
        1, the turns played, the deadwood to knock with, and their product.
    hope, gin_outs, late_gin_outs : float
        As of a throw.
    taken : float
        How many cards the opponent is known to hold, in threes.
    """

    always: float
    late: float
    deadwood: float
    late_deadwood: float
    hope: float
    gin_outs: float
    late_gin_outs: float
    taken: float


TAKES = len(Throw._fields)
KNOCKS = TAKES + len(Take._fields)
N_WEIGHTS = KNOCKS + len(Knock._fields)
"""Where the weights of the three decisions begin, and how many there are."""


@kernel
def lateness(view: Any) -> float:
    """Return the turns that both seats have played, in twenties."""
    return float(min(view.turn, MOST_TURNS) / 20)


@kernel
def about_throw(view: Any, card: int) -> Throw:
    """Return what is counted about throwing a card of eleven."""
    unseen = DECK & ~view.seen
    left = outs(view.hand ^ 1 << card, unseen, FEW)
    hope = left.total / (10 * max(popcount(unseen), 1))
    late = lateness(view)
    feared = danger(read_opponent(view, 1.0, 1.0), card)
    return Throw(
        left.deadwood / 10,
        1.0 if left.deadwood <= view.knock_limit else 0.0,
        hope,
        left.best / 10,
        left.cards / 10,
        float(left.gin),
        late * left.deadwood / 10,
        late * hope,
        late * left.gin,
        feared.melds,
        feared.points / 10,
        float(around(view.opponent_known) >> card & 1),
        float(around(view.opponent_discards | view.opponent_refused) >> card & 1),
    )


@kernel
def weigh(counted: Any, weights: Any, first: int) -> float:
    """Return the weighted sum of what was counted; its weights begin at `first`."""
    total = 0.0
    for i in range(len(counted)):
        total += weights[first + i] * counted[i]
    return total


@kernel
def gin_says(view: Any) -> int:
    """Return 1 if the upcard makes gin, -1 if only the stock lets keep it, else 0."""
    deadwood, _ = least_discards_among(view.hand | 1 << view.upcard, view.hand)
    if deadwood == 0:
        return 1
    return -1 if view.deadwood == 0 else 0


@kernel
def best_after_taking(view: Any) -> int:
    """Return the ten cards of least deadwood after the upcard, the highest card thrown."""
    hand = view.hand | 1 << view.upcard
    _, discards = least_discards_among(hand, view.hand)
    thrown = -1
    while discards:
        card = lowest(discards)
        discards &= discards - 1
        if thrown < 0 or card % 13 > thrown % 13:
            thrown = card
    return int(hand ^ 1 << thrown)


@kernel
def about_take(view: Any) -> Take:
    """Return what is counted about taking the upcard."""
    unseen = DECK & ~view.seen
    n = 10 * max(popcount(unseen), 1)
    now = outs(view.hand, unseen, FEW)
    then = outs(best_after_taking(view), unseen, FEW)
    late = lateness(view)
    fall = (now.deadwood - then.deadwood) / 10
    return Take(
        1.0,
        late,
        1.0 if view.phase == UPCARD else 0.0,
        float(completing(view.hand) >> view.upcard & 1),
        1.0 if then.deadwood <= view.knock_limit else 0.0,
        fall,
        late * fall,
        (then.total - now.total) / n,
        (then.best - now.best) / 10,
        float(then.gin - now.gin),
        now.total / n,
    )


@kernel
def knock_after(view: Any, thrown: int) -> Knock:
    """Return what is counted about knocking with a card of eleven thrown."""
    unseen = DECK & ~view.seen
    left = outs(view.hand ^ 1 << thrown, unseen, FEW)
    late = lateness(view)
    return Knock(
        1.0,
        late,
        left.deadwood / 10,
        late * left.deadwood / 10,
        left.total / (10 * max(popcount(unseen), 1)),
        float(left.gin),
        late * left.gin,
        popcount(view.opponent_known) / 3,
    )


@kernel
def about_knock(view: Any) -> Knock:
    """Return what is counted about knocking."""
    return knock_after(view, view.candidate)


@kernel
def takes_by(view: Any, weights: Any) -> bool:
    """Return whether the upcard is taken by a player of such weights."""
    if view.phase == LAST:  # the card allows a knock, else the hand dies
        return True
    said = gin_says(view)
    return said > 0 or bool(said == 0 and weigh(about_take(view), weights, TAKES) > 0)


@kernel
def throws_by(view: Any, weights: Any) -> int:
    """Return the card that a player of such weights throws."""
    chosen = -1
    best = 0.0
    left = view.best_discards if view.deadwood == 0 else view.legal_discards
    while left:
        card = lowest(left)
        left &= left - 1
        score = weigh(about_throw(view, card), weights, 0)
        if chosen < 0 or score > best:
            chosen = card
            best = score
    return chosen


@kernel
def knocks_by(view: Any, weights: Any) -> bool:
    """Return whether a player of such weights knocks."""
    return bool(weigh(about_knock(view), weights, KNOCKS) > 0)
