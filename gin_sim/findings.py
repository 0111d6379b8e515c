"""What comes of checking an agent: findings, and how long its decisions took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gin_sim.registry import Agent


@dataclass(frozen=True)
class Finding:
    """What came of one check.

    Attributes
    ----------
    check : str
    passed : bool
    detail : str
        How much was looked at, or what went wrong.
    replay : str
        A command that shows a failure again; else empty.
    asked : str
        The question, as a program would get it, where a hand or a view was made to order.
    """

    check: str
    passed: bool
    detail: str
    replay: str = ""
    asked: str = ""


@dataclass(frozen=True)
class Timing:
    """How long decisions took, in seconds; `limit` is None where there is none."""

    decisions: int
    mean: float
    median: float
    p99: float
    longest: float
    limit: float | None

    @classmethod
    def of(cls, times: Sequence[float], limit: float | None) -> Timing:
        """Return what some times come to."""
        found = np.array(times or [0.0])
        median, p99 = np.quantile(found, [0.5, 0.99])
        mean, longest = float(found.mean()), float(found.max())
        return cls(len(times), mean, float(median), float(p99), longest, limit)

    def finding(self) -> Finding:
        """Return whether all was in time."""
        limit = "no limit" if self.limit is None else f"limit {self.limit:g} s"
        text = (
            f"{self.decisions:,} decisions asked one by one: mean {_shown(self.mean)}, "
            f"half within {_shown(self.median)}, 99 % within {_shown(self.p99)}, "
            f"longest {_shown(self.longest)}; {limit}"
        )
        return Finding("time", self.limit is None or self.longest <= self.limit, text)


@dataclass(frozen=True)
class Checked:
    """All findings of an agent, and how long it took to decide."""

    agent: Agent
    findings: tuple[Finding, ...]
    timing: Timing

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(finding.passed for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return {
            "agent": self.agent.label,
            "spec": self.agent.label_with_place,
            "passed": self.passed,
            "checks": [asdict(finding) for finding in self.findings],
            "timing": asdict(self.timing),
        }


def _shown(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"
