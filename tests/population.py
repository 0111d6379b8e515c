"""Populations of played deals from which tournaments are drawn, so that the truth is known.

A population is a tournament that was played once.  Tournaments are drawn from it, deal by
deal with replacement and the same deals for all pairings, and go through the code that a
run goes through.  What they estimate is then exactly what the population's own numbers are.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.simple import takes
from gin_sim import Params, View, agent
from gin_sim.bradley_terry import fit_ratings
from gin_sim.chance import next_word, pick
from gin_sim.compiled import readable
from gin_sim.plan import Plan, make_plan
from gin_sim.registry import Agent
from gin_sim.result import Result
from gin_sim.runner import Entry, Piece, play_piece
from gin_sim.sums import BLOCK_COLUMNS, Sums, block_units

CREW = ("gin_only", "simple", "early_gin")

Stated = dict[str, list[tuple[float, float, float]]]
"""By kind of number, for each pairing or agent: the number and its interval's ends."""


@agent("twin", source="tests", words=0)
class Twin:
    """As `simple` but for endless swaps; with other `words` it breaks ties in another way."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return takes(view)

    @staticmethod
    def discard(view: View, params: Params) -> int:
        word = view.word
        for _ in range(int(params[0])):
            word = next_word(word)
        return pick(view.best_discards, word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return True


TWINS = tuple(Twin.with_params({"words": words}) for words in range(4))
"""Agents that are equally strong, yet do not score 0 against each other on every deal."""


@dataclass(frozen=True, eq=False)
class Population:
    """Deals, or pairs of games, that all pairings have played.

    Attributes
    ----------
    plan : Plan
    rows, games : list of record arrays
        For each pairing, in the order of play; no games where hands are played.
    starts : list of (size + 1,) int arrays
        For each pairing, the row with which each deal (pair of games) begins.
    sums : Sums
        Of all that was played.
    """

    plan: Plan
    rows: list[Any]
    games: list[Any]
    starts: list[NDArray[np.int64]]
    sums: Sums

    @classmethod
    def play(
        cls, agents: tuple[str | Agent, ...], units: int, seed: int, games: bool
    ) -> Population:
        """Play a population."""
        amount = {"games" if games else "hands": 2 * units}
        plan = make_plan(agents, seed=seed, **amount)
        piece = Piece(
            number=0,
            first=0,
            count=units,
            entries=tuple(map(Entry.of, plan.agents, plan.labels)),
            pairings=plan.pairings,
            rules=plan.rules,
            seed=seed,
            games=games,
            forgiving=False,
            block=plan.block_units,
        )
        played = play_piece(piece)
        starts = []
        for p in range(len(plan.pairings)):
            hands = np.full(units, 2)
            if games:
                hands = played.games[p]["hands"].reshape(units, 2).sum(axis=1)
            starts.append(np.concatenate([[0], np.cumsum(hands)]))
        return cls(plan, played.rows, played.games, starts, played.sums)

    def with_sides_exchanged(self) -> Population:
        """Return deals twice as many, each also with a as b and b as a: nobody is better."""
        rows = []
        for some in self.rows:
            # The hand in which b deals comes first.
            other = some.reshape(-1, 2)[:, ::-1].reshape(-1).copy()
            other["mirror"] ^= 1
            other["dealer"] ^= 1
            other["points_a"] *= -1
            for name in ("ender", "winner"):
                other[name][other[name] >= 0] ^= 1
            for name in ("first_chance", "dealt_deadwood"):
                swapped = some.reshape(-1, 2)[:, ::-1].reshape(-1)
                other[f"{name}_a"], other[f"{name}_b"] = swapped[f"{name}_b"], swapped[f"{name}_a"]
            rows.append(np.concatenate([some, other]))
        size = 2 * self.plan.units
        starts = [2 * np.arange(size + 1) for _ in rows]
        plan = dataclasses.replace(self.plan, units=size)
        both = Population(plan, rows, [], starts, self.sums.empty())
        return dataclasses.replace(both, sums=both.count(np.arange(size)))

    def draw(self, units: int, rng: np.random.Generator) -> Sums:
        """Return the sums of a tournament drawn with replacement."""
        return self.count(rng.integers(self.plan.units, size=units))

    def count(self, chosen: NDArray[np.int64]) -> Sums:
        """Return the sums of some units, as if they were all that was played."""
        plan, count = self.plan, len(chosen)
        rows, games = [], []
        for p, starts in enumerate(self.starts):
            first, hands = starts[chosen], np.diff(starts)[chosen]
            before = np.cumsum(hands) - hands
            some = self.rows[p][np.repeat(first - before, hands) + np.arange(hands.sum())]
            some["game" if plan.games else "deal"] = np.repeat(np.arange(count), hands)
            rows.append(readable(some))
            if plan.games:
                pairs = self.games[p].reshape(-1, 2)[chosen].reshape(-1)
                pairs["game"] = np.repeat(np.arange(count), 2)
                games.append(readable(pairs))
        sums = Sums(plan.pairings, len(plan.agents), plan.games, block_units(count))
        sums.add_units(0, count, rows, games)
        return sums

    def stated(self, sums: Sums, seed: int) -> Stated:
        """Return what a result says of sums."""
        plan = dataclasses.replace(self.plan, units=sums.units, seed=seed)
        return stated_in(Result(plan, sums).as_dict())

    def truth(self) -> dict[str, list[float]]:
        """Return what the same numbers are in the population.

        Ratings are maximum likelihood's without a prior, that is, of so many deals that
        the prior is nothing.
        """
        out = {name: [one[0] for one in some] for name, some in self.stated(self.sums, 0).items()}
        names = ("game_score", "games") if self.plan.games else ("score", "hands")
        blocks = self.sums.block_table().sum(axis=0)
        score, played = (blocks[:, BLOCK_COLUMNS.index(name)] * 1e6 for name in names)
        plan = self.plan
        out["rating in Elo"] = list(fit_ratings(len(plan.agents), plan.pairings, score / 2, played))
        return out


def stated_in(document: dict[str, Any]) -> Stated:
    """Return the numbers of a result that have intervals; open ends are infinite."""
    out: Stated = {}

    def state(kind: str, at: float, ci95: list[float | None] | None) -> None:
        low, high = ci95 or (None, None)
        ends = (-np.inf if low is None else low, np.inf if high is None else high)
        out.setdefault(kind, []).append((at, *ends))

    games = document["rated"] == "games"
    for pairing in document["pairings"]:
        state("points a hand of a pairing", pairing["points_per_hand"], pairing["ci95"])
        state("share of hands", pairing["hand_score"]["share"], pairing["hand_score"]["ci95"])
        if games:
            state("share of games", pairing["game_score"]["share"], pairing["game_score"]["ci95"])
        else:
            corrected = pairing["control"]
            state("points a hand, corrected", corrected["points_per_hand"], corrected["ci95"])
    ranked = {row["agent"]: row for row in document["ranking"]}
    for one in document["agents"]:
        row = ranked[one["label"]]
        state("points a hand of an agent", row["points_per_hand"], row["ci95"])
        state("share of hands of an agent", row["hand_share"], row["hand_share_ci95"])
        if games:
            state("share of games of an agent", row["game_share"], row["game_share_ci95"])
        state("rating in Elo", row["elo"], row["elo_ci95"])
    return out
