"""What a tournament found, as DataFrames and as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_sim import records
from gin_sim.errors import GinSimError
from gin_sim.plan import Plan
from gin_sim.stats import PairingTally, RatioSums

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass
class Result:
    """What a tournament found.

    Attributes
    ----------
    plan : Plan
    tallies : list of PairingTally
        One for each pairing.
    totals : list of RatioSums
        One for each agent, over all its opponents; units share their deals.
    out : Path or None
        The run's folder.
    """

    plan: Plan
    tallies: list[PairingTally]
    totals: list[RatioSums]
    game_shares: list[RatioSums]
    out: Path | None = None
    _tables: dict[str, list[pa.Table]] = field(default_factory=dict)

    @property
    def summary(self) -> pd.DataFrame:
        """One row for each pairing; points and intervals are a's, a hand."""
        import pandas as pd  # noqa: PLC0415

        rows = []
        for pairing in self.as_dict()["pairings"]:
            low, high = pairing.pop("ci95") or (None, None)
            rows.append(pairing | {"ci_low": low, "ci_high": high})
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
        plan = self.plan
        pairings = []
        for (a, b), tally in zip(plan.pairings, self.tallies, strict=True):
            interval = tally.points.interval()
            hands = tally.counts["hands"]
            pairings.append(
                {
                    "a": plan.labels[a],
                    "b": plan.labels[b],
                    "deals": None if plan.games else tally.points.n,
                    "hands": hands,
                    "points_per_hand": tally.points.mean,
                    "ci95": list(interval) if interval else None,
                    "a_hand_wins": tally.wins[0],
                    "b_hand_wins": tally.wins[1],
                    **{k: v for k, v in tally.counts.items() if k != "hands"},
                    "turns_per_hand": tally.turns / hands if hands else None,
                    "games": tally.games,
                    "a_game_wins": tally.game_wins[0],
                    "b_game_wins": tally.game_wins[1],
                    "undecided_games": tally.undecided_games,
                    "a_illegal": tally.illegal[0],
                    "b_illegal": tally.illegal[1],
                }
            )
        return {
            "seed": plan.seed,
            "rules": plan.rules.as_dict(),
            "agents": [
                {"label": label, "name": agent.name, "params": agent.params}
                for agent, label in zip(plan.agents, plan.labels, strict=True)
            ],
            "pairings": pairings,
            "ranking": self._ranked(),
            "command": plan.command(),
            "out": str(self.out) if self.out else None,
        }

    def _ranked(self) -> list[dict[str, Any]]:
        rows = []
        for label, total, share in zip(
            self.plan.labels, self.totals, self.game_shares, strict=True
        ):
            interval, games = total.interval(), share.interval()
            rows.append(
                {
                    "agent": label,
                    "hands": total.h,
                    "points_per_hand": total.mean,
                    "ci95": list(interval) if interval else None,
                    # Half a win is counted as 1 of 2, so that all sums are whole.
                    "games": share.h // 2,
                    "game_share": share.mean,
                    "game_share_ci95": list(games) if games else None,
                }
            )
        key = "game_share" if self.plan.games else "points_per_hand"
        return sorted(rows, key=lambda row: (-(row[key] or 0.0), row["agent"]))
