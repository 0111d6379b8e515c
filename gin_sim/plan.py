"""What a tournament is to be: who meets whom, how much, under which rules and seed."""

from __future__ import annotations

import itertools
import secrets
import shlex
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gin_sim import records
from gin_sim.checks import MAX_SEED, MAX_UNITS, whole_number
from gin_sim.errors import AgentError, GinSimError
from gin_sim.limits import decision_limit
from gin_sim.registry import Agent, load_agent, unique_labels
from gin_sim.rules import PRESETS, Rules, as_rules

LADDER = ("random", "simple", "greedy", "gin_only", "early_gin")
"""Who plays when nobody is named."""

DEFAULT_HANDS = 20_000


@dataclass(frozen=True)
class Plan:
    """All that decides a tournament's result, and what it is called.

    Attributes
    ----------
    units : int
        Mirrored deals a pairing, or mirrored pairs of games.
    decision_seconds : float or None
        The most that a Python agent may take for a decision.  Where it decides, the
        result depends on the machine too.
    """

    agents: tuple[Agent, ...]
    labels: tuple[str, ...]
    rules: Rules
    seed: int
    units: int
    games: bool
    forgiving: bool
    keep_hands: bool
    decision_seconds: float | None = None

    @property
    def compiled(self) -> bool:
        """Whether all agents are."""
        return all(agent.compiled for agent in self.agents)

    def check_backend(self, backend: str) -> None:
        """Refuse threads for Python agents whose time is limited.

        Raises
        ------
        GinSimError
            Saying why, and what to do.
        """
        if backend == "threads" and self.decision_seconds is not None and not self.compiled:
            raise GinSimError(
                "a time limit for Python agents, and backend threads: threads cannot be "
                "interrupted; leave the backend out, or use loky"
            )

    @property
    def pairings(self) -> tuple[tuple[int, int], ...]:
        """Which agents meet, as places in the list of agents."""
        return tuple(itertools.combinations(range(len(self.agents)), 2))

    @property
    def pairing_labels(self) -> list[str]:
        """A name for each pairing."""
        return [f"{self.labels[a]} v {self.labels[b]}" for a, b in self.pairings]

    @property
    def name(self) -> str:
        """What to call the run: its agents, or how many there are."""
        names = "-".join(dict.fromkeys(agent.name for agent in self.agents))
        return names if len(names) <= 40 else f"{len(self.agents)}-agents"

    @property
    def part_units(self) -> int:
        """How many units a part of the rows covers: fixed by the plan alone."""
        hands_a_unit = 2 * len(self.pairings) * (10 if self.games else 1)
        return max(16, records.PART_ROWS // hands_a_unit)

    def command(self) -> str:
        """Return the command that makes the result again."""
        words = ["gin-sim", "tournament", *(a.label_with_place for a in self.agents)]
        words += ["--games" if self.games else "--hands", str(2 * self.units)]
        preset = next((n for n in PRESETS if Rules.preset(n) == self.rules), None)
        if preset is not None:
            words += ["--rules", preset]
        else:
            plain = Rules().as_dict()
            for name, value in self.rules.as_dict().items():
                if value != plain[name]:
                    words += ["--set", f"{name}={value}"]
        words += ["--seed", str(self.seed)]
        if self.forgiving:
            words += ["--on-illegal", "forfeit"]
        if self.decision_seconds is not None:
            words += ["--time-limit", str(self.decision_seconds)]
        if not self.keep_hands:
            words += ["--no-hands"]
        return shlex.join(words)

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the rows."""
        return {
            "schema": records.SCHEMA_VERSION,
            "kind": "tournament",
            "command": self.command(),
            "seed": self.seed,
            "games" if self.games else "hands": 2 * self.units,
            "on_illegal": "forfeit" if self.forgiving else "error",
            "decision_seconds": self.decision_seconds,
            "rules": self.rules.as_dict(),
            "agents": [
                {
                    "label": label,
                    "name": agent.name,
                    "spec": agent.label_with_place,
                    "params": agent.params,
                    "compiled": agent.compiled,
                    "source_sha256": agent.source_hash(),
                }
                for agent, label in zip(self.agents, self.labels, strict=True)
            ],
            "pairings": self.pairing_labels,
            "part_units": self.part_units,
            "versions": records.versions(),
            "git_commit": records.git_commit(),
        }


def make_plan(
    agents: Iterable[str | Agent],
    *,
    hands: int | None = None,
    games: int | None = None,
    rules: Rules | str | None = None,
    seed: int | None = None,
    on_illegal: str = "error",
    keep_hands: bool = True,
    decision_seconds: float | None = None,
) -> Plan:
    """Return the plan of a tournament, with every choice checked and made.

    Parameters are those of :func:`gin_sim.tournament.play_tournament`, where
    `decision_seconds` is called `time_limit`.

    Raises
    ------
    AgentError, RulesError, GinSimError
        Naming what is not allowed and what is.
    """
    named: list[str | Agent] = []
    with suppress(TypeError):
        named = [] if isinstance(agents, str) else list(agents)
    if not named:
        raise AgentError(f"agents = {agents!r}: give a list of two names or agents, or more")
    loaded = tuple(load_agent(one) for one in named)
    if len(loaded) < 2:
        raise AgentError(
            f"a tournament takes two agents or more; '{loaded[0].name}' alone has no opponent "
            "(name it twice for self-play)"
        )
    if hands is not None and games is not None:
        raise GinSimError("give the amount as hands or as games, not both")
    amount = games if games is not None else (DEFAULT_HANDS if hands is None else hands)
    amount = whole_number(amount, "hands" if games is None else "games", 1, MAX_UNITS)
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    if not isinstance(on_illegal, str) or on_illegal not in ("error", "forfeit"):
        raise GinSimError(f"on_illegal = {on_illegal!r}: allowed is 'error' or 'forfeit'")
    if not isinstance(keep_hands, bool):
        raise GinSimError(f"keep_hands = {keep_hands!r}: allowed is True or False")
    return Plan(
        agents=loaded,
        labels=tuple(unique_labels(loaded)),
        rules=as_rules(rules),
        seed=whole_number(seed, "seed", 0, MAX_SEED),
        units=(amount + 1) // 2,
        games=games is not None,
        forgiving=on_illegal == "forfeit",
        keep_hands=keep_hands,
        decision_seconds=decision_limit(decision_seconds),
    )
