"""What a tournament found, as DataFrames and as plain values."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim import records
from gin_sim.errors import GinSimError
from gin_sim.faults import told
from gin_sim.plan import Plan
from gin_sim.scoring import OUTCOMES
from gin_sim.standings import control, ratings, seats, share, superiority, variance_ratio
from gin_sim.sums import Sums

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass
class Result:
    """What a tournament found.

    Attributes
    ----------
    plan : Plan
    sums : Sums
        All that was counted.
    out : Path or None
        The run's folder.
    """

    plan: Plan
    sums: Sums
    out: Path | None = None
    _tables: dict[str, list[pa.Table]] = field(default_factory=dict)

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each pairing; points and intervals are a's, a hand."""
        import pandas as pd  # noqa: PLC0415

        rows = []
        for pairing in self.as_dict()["pairings"]:
            low, high = pairing.pop("ci95") or (None, None)
            plain = {k: v for k, v in pairing.items() if not isinstance(v, dict | list)}
            rows.append(plain | {"ci_low": low, "ci_high": high})
        return pd.DataFrame(rows)

    @property
    def ranking(self) -> pd.DataFrame:
        """One row for each agent, best first."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self.as_dict()["ranking"])

    @property
    def hands(self) -> pd.DataFrame:
        """One row for each hand; see ``docs/results.md`` for the columns."""
        return self._frame("hands")

    @property
    def games(self) -> pd.DataFrame:
        """One row for each game, where games were played."""
        return self._frame("games")

    @property
    def sweep(self) -> pd.DataFrame:
        """Of a sweep: one row for each value and opponent; points and intervals are a's."""
        plan = self.plan
        if plan.sweep is None:
            raise GinSimError("the run is no sweep: see play_sweep")
        frame = self.summary.drop(columns=["a", "b"])
        values = [plan.sweep.values[a] for a, _ in plan.pairings]
        frame.insert(0, "value", values)
        frame.insert(1, "against", [plan.labels[b] for _, b in plan.pairings])
        return frame

    def _frame(self, kind: str) -> pd.DataFrame:
        if self.out is not None:
            return records.read_rows(self.out, kind)
        import pyarrow as pa  # noqa: PLC0415

        tables = self._tables.get(kind)
        if not tables:
            raise GinSimError(f"no rows of {kind} were kept")
        frame: pd.DataFrame = pa.concat_tables(tables).unify_dictionaries().to_pandas()
        return frame

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values, for JSON; None where there is no number."""
        return copy.deepcopy(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        plan, sums = self.plan, self.sums
        better = superiority(plan.labels, sums)
        return {
            "seed": plan.seed,
            "format": plan.format,
            "rules": plan.rules.as_dict(),
            "agents": [
                {"label": label, "name": agent.name, "params": agent.params}
                for agent, label in zip(plan.agents, plan.labels, strict=True)
            ],
            "pairings": [
                self._pairing(p) | found for p, found in enumerate(better.pop("pairings"))
            ],
            "ranking": self._ranked(),
            "rated": "games" if plan.games else "hands",
            **better,
            "faults": told(plan, sums),
            "command": plan.command(),
            "out": str(self.out) if self.out else None,
        }

    def _pairing(self, p: int) -> dict[str, Any]:
        """Return all there is to say of a pairing."""
        plan, tally = self.plan, self.sums.pairings[p]
        a, b = plan.pairings[p]
        points, endings = self.sums.of("points", p), tally["endings"]
        outcome = dict(zip(OUTCOMES, map(int, endings.sum(axis=(0, 1, 2))), strict=True))
        won = [int(n) for n in endings.sum(axis=(0, 1, 3))]
        illegal = endings[:, :, :, OUTCOMES.index("forfeit")].sum(axis=(0, 2))
        hands, interval = points.h, points.interval()
        return {
            "a": plan.labels[a],
            "b": plan.labels[b],
            "deals": None if plan.games else points.n,
            "hands": hands,
            "points_per_hand": points.mean,
            "ci95": list(interval) if interval else None,
            "a_hand_wins": won[1],
            "b_hand_wins": won[2],
            "dead_hands": outcome["dead"],
            "undercuts": outcome["undercut"],
            "gins": outcome["gin"],
            "big_gins": outcome["big_gin"],
            "knocks": outcome["knock"],
            "turns_per_hand": int(tally["turns"]) / hands if hands else None,
            "games": int(tally["game_winners"].sum()),
            "a_game_wins": int(tally["game_winners"][1]),
            "b_game_wins": int(tally["game_winners"][2]),
            "undecided_games": int(tally["game_winners"][0]),
            "a_illegal": int(illegal[1]),
            "b_illegal": int(illegal[2]),
            "hand_score": share(self.sums.of("score", p)),
            "game_score": share(self.sums.of("games", p)) if plan.games else None,
            "margin_per_game": self.sums.of("margin", p).mean,
            "pairs": [int(n) for n in tally["pairs"]],
            "variance_ratio": variance_ratio(points, tally["seats"]),
            "control": None if plan.games else control(tally["control"]),
            "by_seat": seats(endings, tally["seats"]),
        }

    def _ranked(self) -> list[dict[str, Any]]:
        rows = []
        rated = ratings(len(self.plan.labels), self.sums, self.plan.seed)
        for i, label in enumerate(self.plan.labels):
            points, games = self.sums.of_agent("points", i), self.sums.of_agent("games", i)
            interval, shares = points.interval(), games.interval()
            rows.append(
                {
                    "agent": label,
                    "hands": points.h,
                    "points_per_hand": points.mean,
                    "ci95": list(interval) if interval else None,
                    # Half a win is counted as 1 of 2, so that all sums are whole.
                    "games": games.h // 2,
                    "game_share": games.mean,
                    "game_share_ci95": list(shares) if shares else None,
                    **rated[i],
                }
            )
        key = "game_share" if self.plan.games else "points_per_hand"
        return sorted(rows, key=lambda row: (-(row[key] or 0.0), row["agent"]))
