"""Told only what to count, a player learns the rest by playing itself.

    python -m experiments.learn_selfplay --hands 1300000 --seed 2040 --out DIR

What learns
-----------
A policy with a weight for each of the numbers that :mod:`gin_sim.features` counts about a
choice: 13 about a throw, 11 about taking the upcard, 8 about a knock.  A choice's score is
the weighted sum (of drawing from the stock and of playing on it is 0), and while it learns
it takes each choice with probability proportional to exp(score).  All weights begin at 0: it
then plays at random.  Gin is no choice: it is never let go.  Both seats of
:class:`gin_sim.env.VectorEnv` play the same weights, under ``standard`` rules.  It sees the
flat observations and the points at the end of a hand, nothing else; no other agent ever sits
at the table.

How
---
Natural actor-critic [1]_, with a linear critic.  After every 20,000 hands one regression by
least squares is made: the points that the hand brought the seat are explained, for every
decision, by

* five numbers about the state for each kind of decision (the critic): 1, the deadwood, the
  turns, their product, and whether one may knock; and
* the gradient of the log-probability of what was chosen: what was counted about it, less the
  mean of what was counted about all choices, by their probabilities.

The coefficients of the second part say how many points each thing counted is worth, played
on by the policy as it is; they are the natural gradient [2]_.  `STEP` times them is added to
the weights.  Hands in progress when that happens go on with the new weights; their points
count in the round in which they end.

Who is measured where
---------------------
The learned agent makes no dice of its own: it takes the choice of the highest score.  It is
measured after rounds 0, 1, 2, 4, 8, … against `random`, `simple` and `greedy` on N mirrored
deals of the next seed, and after the last round on 5 N deals of the seed after that, against
more agents.  The weights measured last are the last ones, rounded, whatever the curve says;
they were not chosen by it.  The question is answered *yes* against an agent if the 95 %
interval of the last measurement's points a hand is above 0.

References
----------
.. [1] J. Peters, S. Schaal, "Natural Actor-Critic", Neurocomputing 71, 2008.
.. [2] S. Kakade, "A Natural Policy Gradient", NIPS 2001.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_sim.bits import lowest
from gin_sim.cards import DECK
from gin_sim.chance import sample
from gin_sim.cli.common import Parser, guarded, print_table, whole
from gin_sim.compiled import kernel
from gin_sim.drawing import axes_of, caption, no_data, plain, save
from gin_sim.env import VectorEnv
from gin_sim.env.actions import DRAW, KNOCK, PASS_FIRST, PLAY_ON, TAKE, TAKE_FIRST
from gin_sim.env.encode import N_CARD_PLANES
from gin_sim.features import (
    KNOCKS,
    N_WEIGHTS,
    TAKES,
    Knock,
    Take,
    Throw,
    about_knock,
    about_take,
    about_throw,
    gin_says,
    lateness,
    weigh,
)
from gin_sim.folder import take_folder
from gin_sim.manifest import SCHEMA_VERSION, git_commit, versions
from gin_sim.progress import note, progress
from gin_sim.registry import Agent, load_agent
from gin_sim.tournament import play_tournament

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

RULES = "standard"
SIDE_BY_SIDE = 2048
HANDS_A_ROUND = 20_000
STEP = 0.15
RIDGE = 1e-5
"""Added to the regression's diagonal, as a share of its mean: what is never seen gets no weight."""

ON_THE_WAY = ("random", "simple", "greedy")
AT_THE_END = ("random", "simple", "greedy", "early_gin", "hard", "improver")

OF_STATE = 5
N_COLUMNS = N_WEIGHTS + 3 * OF_STATE
WEIGHT_NAMES = tuple(
    f"{decision}_{name}"
    for decision, counted in (("throw", Throw), ("take", Take), ("knock", Knock))
    for name in counted._fields
)
"""What each weight is called as a parameter of the agent."""


# --- one step of many hands, compiled ------------------------------------------------


class Sight(NamedTuple):
    """What the agent reads of its view, under the same names, from an observation."""

    phase: int
    hand: int
    upcard: int
    candidate: int
    seen: int
    deadwood: int
    turn: int
    knock_limit: int
    opponent_known: int
    opponent_discards: int
    opponent_refused: int


@kernel
def cards_in(observation: Any, plane: int) -> int:
    """Return a plane of cards as a mask."""
    cards = 0
    for card in range(52):
        if observation[52 * plane + card]:
            cards |= 1 << card
    return cards


@kernel
def only_card_in(observation: Any, plane: int) -> int:
    """Return the card of a plane that has at most one, -1 if it has none."""
    cards = cards_in(observation, plane)
    return lowest(cards) if cards else -1


@kernel
def sight_of(observation: Any) -> Sight:
    """Return what a flat observation shows; its layout is in ``docs/environments.md``."""
    numbers = observation[52 * N_CARD_PLANES :]
    phase = 0
    while not numbers[phase]:
        phase += 1
    return Sight(
        phase,
        cards_in(observation, 0),
        only_card_in(observation, 1),
        only_card_in(observation, 9),
        DECK & ~cards_in(observation, 11),
        int(numbers[11]),
        int(numbers[12]),
        int(numbers[9]),
        cards_in(observation, 3),
        cards_in(observation, 5),
        cards_in(observation, 7),
    )


@kernel
def choose_throw(view: Any, legal: int, weights: Any, dice: float, row: Any) -> int:
    """Choose a card to throw; write the gradient of its log-probability into a row."""
    cards, scores = np.empty(11, np.int64), np.empty(11)
    counted = np.empty((11, TAKES))
    n = 0
    while legal:
        card = lowest(legal)
        legal &= legal - 1
        about = about_throw(view, card)
        cards[n] = card
        scores[n] = weigh(about, weights, 0)
        for k in range(TAKES):
            counted[n, k] = about[k]
        n += 1
    chosen = sample(scores, n, dice)
    for i in range(n):
        share = (1.0 if i == chosen else 0.0) - scores[i]
        for k in range(TAKES):
            row[k] += share * counted[i, k]
    return int(cards[chosen])


@kernel
def say_yes(about: Any, weights: Any, first: int, dice: float, row: Any) -> bool:
    """Answer a question with yes or no; write the gradient as `choose_throw` does."""
    chances = np.array([weigh(about, weights, first), 0.0])
    said = sample(chances, 2, dice) == 0
    for k in range(len(about)):
        row[first + k] = ((1.0 if said else 0.0) - chances[0]) * about[k]
    return said


@kernel
def act_in_all(
    observations: Any, legal: Any, weights: Any, dice: Any, actions: Any, rows: Any
) -> None:
    """Choose an action in each of n hands, and write what the regression is made of.

    Parameters
    ----------
    observations, legal : (n, 639) array of uint8, (n,) array of int64
        As the environment gives them.
    weights : (N_WEIGHTS,) array of float64
    dice : (n,) array of float64
        At least 0 and below 1.
    actions : (n,) array of int64
        Written.
    rows : (n, N_COLUMNS) array of float64
        Written: the gradient of the log-probability of the action, then the critic's numbers.
    """
    rows[:] = 0.0
    for i in range(actions.shape[0]):
        view = sight_of(observations[i])
        row = rows[i]
        if legal[i] & DECK:
            first = N_WEIGHTS
            cards = cards_in(observations[i], 10) if view.deadwood == 0 else legal[i]
            actions[i] = choose_throw(view, cards, weights, dice[i], row)
        elif legal[i] >> KNOCK & 1:
            first = N_WEIGHTS + OF_STATE
            knocks = say_yes(about_knock(view), weights, KNOCKS, dice[i], row)
            actions[i] = KNOCK if knocks else PLAY_ON
        else:
            first = N_WEIGHTS + 2 * OF_STATE
            takes = gin_says(view) > 0
            if gin_says(view) == 0:
                takes = say_yes(about_take(view), weights, TAKES, dice[i], row)
            if legal[i] >> TAKE & 1:
                actions[i] = TAKE if takes else DRAW
            else:
                actions[i] = TAKE_FIRST if takes else PASS_FIRST
        late = lateness(view)
        row[first] = 1.0
        row[first + 1] = view.deadwood / 10
        row[first + 2] = late
        row[first + 3] = late * view.deadwood / 10
        row[first + 4] = 1.0 if view.deadwood <= view.knock_limit else 0.0


# --- learning ------------------------------------------------------------------------


class Learner:
    """Plays both seats of many hands and learns from them.

    Attributes
    ----------
    weights : (N_WEIGHTS,) array of float64
        In the order of `WEIGHT_NAMES`.
    hands : int
        How many have been played to their end.
    """

    def __init__(self, seed: int, side_by_side: int) -> None:
        self.env = VectorEnv(side_by_side, RULES)
        self.env.reset(seed=seed)
        self.dice = np.random.default_rng(seed)
        self.weights: NDArray[np.float64] = np.zeros(N_WEIGHTS)
        self.hands = 0
        self._actions = np.zeros(side_by_side, np.int64)
        self._rows = np.zeros((side_by_side, N_COLUMNS))
        # Of each hand and seat: the sum of its rows so far.
        self._so_far = np.zeros((side_by_side, 2, N_COLUMNS))

    def play_round(self, hands: int) -> None:
        """Play so many hands to their end, or a few more, and change the weights by them."""
        env, rows, so_far = self.env, self._rows, self._so_far
        places = np.arange(env.n)
        squares = np.zeros((N_COLUMNS, N_COLUMNS))
        products = np.zeros(N_COLUMNS)
        until = self.hands + hands
        while self.hands < until:
            dice = self.dice.random(env.n)
            act_in_all(env.observations, env.legal, self.weights, dice, self._actions, rows)
            squares += rows.T @ rows
            so_far[places, env.seats] += rows
            _, points, done, _ = env.step(self._actions)
            ended = np.flatnonzero(done)
            products += np.einsum("is,isk->k", points[ended], so_far[ended])
            so_far[ended] = 0.0
            self.hands += ended.size
        squares += RIDGE * np.trace(squares) / N_COLUMNS * np.eye(N_COLUMNS)
        self.weights = self.weights + STEP * np.linalg.solve(squares, products)[:N_WEIGHTS]

    def agent(self) -> Agent:
        """Return the agent `learned` with the weights as they are, rounded to eighths."""
        weights = [round(8 * float(weight)) / 8 for weight in self.weights]
        return load_agent("learned").with_params(dict(zip(WEIGHT_NAMES, weights, strict=True)))


def measure(agent: Agent, against: Sequence[str], deals: int, seed: int) -> pd.DataFrame:
    """Return what an agent scores: opponent, deals, points a hand and their 95 % interval."""
    played = play_tournament(
        [agent, *against],
        format="gauntlet",
        hands=2 * deals,
        seed=seed,
        rules=RULES,
        jobs=1,
        keep_hands=False,
    ).summary
    found = played[["points_per_hand", "ci_low", "ci_high"]].copy()
    found.insert(0, "opponent", list(against))
    found.insert(1, "deals", deals)
    return found


def learn(learner: Learner, hands: int, deals: int, seed: int) -> pd.DataFrame:
    """Learn from so many hands, measuring on the way.

    Returns
    -------
    DataFrame
        The learning curve: hands, seconds of learning, and what `measure` returns.
    """
    import pandas as pd  # noqa: PLC0415 - not needed to get help

    Learner(0, 1).play_round(1)  # compiles
    frames = []
    seconds, rounds, next_look = 0.0, 0, 0
    with progress("hands") as report:
        while True:
            finished = learner.hands >= hands
            if rounds == next_look or finished:
                found = measure(learner.agent(), ON_THE_WAY, deals, seed)
                found.insert(0, "hands", learner.hands)
                found.insert(1, "seconds", round(seconds, 1))
                frames.append(found)
                next_look = max(1, 2 * rounds)
            if finished:
                return pd.concat(frames, ignore_index=True)
            start = time.perf_counter()
            learner.play_round(min(HANDS_A_ROUND, hands - learner.hands))
            seconds += time.perf_counter() - start
            rounds += 1
            report(learner.hands, hands)


# --- table and figure ----------------------------------------------------------------


def curve_rows(curve: pd.DataFrame) -> list[list[str]]:
    """Return the learning curve as text: a row for each look, a column for each opponent."""
    rows = []
    for (hands, seconds), some in curve.groupby(["hands", "seconds"]):
        rows.append([f"{hands:,}", f"{seconds:.0f}", *map(with_interval, some.itertuples())])
    return rows


def with_interval(row: Any) -> str:
    """Return points a hand and half of their interval as text."""
    return f"{row.points_per_hand:+.2f} ± {(row.ci_high - row.ci_low) / 2:.2f}"


def learning_curve(curve: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw points a hand against each opponent by the hands played, from the first round on.

    Parameters
    ----------
    curve : DataFrame
        As :func:`learn` returns.
    """
    title = "Learned by playing itself, measured against others"
    with axes_of(ax) as axes:
        some = curve[curve["hands"] > 0]
        if some.empty:
            return no_data(axes, title)
        for name, line in some.groupby("opponent", sort=False):
            half = (line["ci_high"] - line["ci_low"]) / 2
            axes.errorbar(line["hands"], line["points_per_hand"], half, fmt="o-", label=plain(name))
        axes.axhline(0, color="black", lw=0.8)
        axes.set_xscale("log")
        axes.set_xlabel("hands played against itself")
        axes.set_ylabel("points a hand")
        axes.legend()
        axes.set_title(title)
        caption(axes, f"{int(some['deals'].min()):,} mirrored deals a point; bars: 95 %")
    return axes


# --- the command line ----------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    command = (
        f"python -m experiments.learn_selfplay --hands {args.hands} "
        f"--deals {args.deals} --seed {args.seed}"
    )
    manifest = {
        "schema": SCHEMA_VERSION,
        "kind": "learn_selfplay",
        "command": command,
        "seeds": {"learning": args.seed, "curve": args.seed + 1, "final": args.seed + 2},
        "rules": RULES,
        "agents_sha256": {name: load_agent(name).source_hash() for name in AT_THE_END},
        "versions": versions(),
        "git_commit": git_commit(),
    }
    folder = take_folder(args.out, "learn_selfplay", manifest)
    note(f"{args.hands:,} hands, seed {args.seed}, results in {folder.path}")
    learner = Learner(args.seed, SIDE_BY_SIDE)
    curve = learn(learner, args.hands, args.deals, args.seed + 1)
    final = measure(learner.agent(), AT_THE_END, 5 * args.deals, args.seed + 2)
    for name, frame in (("learning_curve", curve), ("final", final)):
        folder.write_text(f"{name}.csv", frame.to_csv(index=False, lineterminator="\n"))
    folder.write_json("weights.json", learner.agent().params)
    # Against `random` everything is so far above the rest that nothing else could be seen.
    close = curve[curve["opponent"] != "random"]
    save(partial(learning_curve, close), folder.path / "figures" / "learning_curve.png")
    print_table("", ["hands", "seconds", *ON_THE_WAY], curve_rows(curve))
    rows = [[str(row.opponent), f"{row.deals:,}", with_interval(row)] for row in final.itertuples()]
    print_table("", ["at the end against", "deals", "points a hand, 95 %"], rows)
    print(f"results: {folder.path}")  # noqa: T201
    print(f"again:   {command}")  # noqa: T201


def build_parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        prog="python -m experiments.learn_selfplay",
        description="Learn to play by self-play alone, and measure it against other agents.",
    )
    for name, default, what in (
        ("hands", 1_300_000, "to learn from"),
        ("deals", 10_000, "mirrored deals of each measurement; the last has five times as many"),
    ):
        parser.add_argument(
            f"--{name}",
            metavar="N",
            type=whole(2, 100_000_000),
            default=default,
            help=f"{what} (default {default:,})",
        )
    parser.add_argument("--seed", metavar="S", type=whole(0, 1 << 62), default=2040)
    parser.add_argument("--out", metavar="DIR", help="a new folder (default: one in results/)")
    parser.set_defaults(run=run)
    return parser


if __name__ == "__main__":
    sys.exit(guarded(build_parser()))
