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
from gin_sim.standings import findings
from gin_sim.sums import Sums

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_NESTED = ("hand_score", "game_score", "control", "by_seat", "pairs")
"""What a pairing has that is no single value: not in the table."""


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
            plain = {k: v for k, v in pairing.items() if k not in _NESTED}
            for kind in ("hand", "game"):
                share = pairing[f"{kind}_score"] or {}
                low_share, high_share = share.get("ci95") or (None, None)
                plain[f"{kind}_share"] = share.get("share")
                plain |= {f"{kind}_share_low": low_share, f"{kind}_share_high": high_share}
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
        plan = self.plan
        return {
            "seed": plan.seed,
            "format": plan.format,
            "rules": plan.rules.as_dict(),
            "agents": [
                {"label": label, "name": agent.name, "params": agent.params}
                for agent, label in zip(plan.agents, plan.labels, strict=True)
            ],
            **findings(plan.labels, self.sums, plan.seed),
            "faults": told(plan, self.sums),
            "command": plan.command(),
            "out": str(self.out) if self.out else None,
        }
