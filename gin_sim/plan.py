"""What a tournament is to be: who meets whom, how much, under which rules and seed."""

from __future__ import annotations

import itertools
import secrets
import shlex
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypedDict, Unpack

from gin_sim import records
from gin_sim.checks import MAX_SEED, MAX_UNITS, whole_number
from gin_sim.compiled import PACKAGE, source_hash
from gin_sim.errors import AgentError, GinSimError
from gin_sim.limits import decision_limit
from gin_sim.manifest import SCHEMA_VERSION, git_commit, versions
from gin_sim.registry import Agent, load_agent, one_line, unique_labels
from gin_sim.rules import PRESETS, Rules, as_rules
from gin_sim.sums import block_units
from gin_sim.workers import Workers

LADDER = ("random", "simple", "greedy", "gin_only", "early_gin")
"""Who plays when nobody is named."""

DEFAULT_HANDS = 20_000
DEFAULT_GAMES = 1_000
"""Of a league."""
MOST_PARTS = 256
MOST_VALUES = 100

FORMATS = ("round-robin", "gauntlet", "league")
"""Everybody against everybody; the first against all others; a round robin of whole games."""


def meetings(how: str, n_agents: int, swept: int = 0) -> tuple[tuple[int, int], ...]:
    """Return which agents meet under a format, as places in the list of agents.

    Parameters
    ----------
    how : str
        One of `FORMATS`, or ``sweep``: each of the first `swept` against all after them.
    """
    if how == "gauntlet":
        return tuple((0, other) for other in range(1, n_agents))
    if how == "sweep":
        return tuple(itertools.product(range(swept), range(swept, n_agents)))
    return tuple(itertools.combinations(range(n_agents), 2))


@dataclass(frozen=True)
class Sweep:
    """One agent over values of one of its parameters.

    Attributes
    ----------
    agent : str
        As on the command line.
    """

    agent: str
    param: str
    values: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it back."""
        return {"agent": self.agent, "param": self.param, "values": list(self.values)}


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
    log : bool
        Whether the history of each hand is kept.
    """

    agents: tuple[Agent, ...]
    labels: tuple[str, ...]
    rules: Rules
    seed: int
    units: int
    games: bool
    forgiving: bool
    keep_hands: bool
    format: str = "round-robin"
    sweep: Sweep | None = None
    decision_seconds: float | None = None
    log: bool = False

    @property
    def compiled(self) -> bool:
        """Whether all agents are."""
        return all(agent.compiled for agent in self.agents)

    def check_workers(self, workers: Workers) -> None:
        """Refuse workers that cannot play this plan's agents.

        Raises
        ------
        GinSimError
            Saying why, and what to do.
        """
        threads = workers.backend == "threads"
        interrupted = not all(agent.compiled or agent.external for agent in self.agents)
        if threads and self.decision_seconds is not None and interrupted:
            raise GinSimError(
                "a time limit for Python agents, and backend threads: threads cannot be "
                "interrupted; leave the backend out, or use loky"
            )
        if threads or (workers.backend == "loky" and workers.jobs == 1):
            return  # agents stay in this process
        from joblib.externals.loky.backend.reduction import dumps  # noqa: PLC0415 - seldom needed

        for agent in self.agents:
            if agent.spec:
                continue
            try:
                dumps(agent)
            except Exception as error:
                raise AgentError(
                    f"agent '{agent.name}' cannot be sent to another process "
                    f"({one_line(error)}); put it into a file of its own, or use jobs=1"
                ) from error

    @property
    def pairings(self) -> tuple[tuple[int, int], ...]:
        """Which agents meet, as places in the list of agents."""
        swept = len(self.sweep.values) if self.sweep else 0
        return meetings(self.format, len(self.agents), swept)

    @property
    def pairing_labels(self) -> list[str]:
        """A name for each pairing."""
        return [f"{self.labels[a]} v {self.labels[b]}" for a, b in self.pairings]

    @property
    def name(self) -> str:
        """What to call the run: its agents, or how many there are."""
        names = "-".join(dict.fromkeys(agent.name for agent in self.agents))
        if self.sweep:
            return f"{self.agents[0].name}-{self.sweep.param}"
        return names if len(names) <= 40 else f"{len(self.agents)}-agents"

    @property
    def part_units(self) -> int:
        """How many units a part of the rows covers: fixed by the plan alone."""
        hands_a_unit = 2 * len(self.pairings) * (10 if self.games else 1)
        rows = records.PART_HISTORIES if self.log else records.PART_ROWS
        units = max(16, rows // hands_a_unit)
        # Without rows a part is a few sums: not more than some hundred of them.
        return units if self.keep_hands else max(units, -(-self.units // MOST_PARTS))

    @property
    def block_units(self) -> int:
        """How many units are in a block of the sums."""
        return block_units(self.units)

    def command(self) -> str:
        """Return the command that makes the result again."""
        words = ["gin-sim", "tournament", *(a.label_with_place for a in self.agents)]
        if self.sweep:
            values = ",".join(f"{value:.17g}" for value in self.sweep.values)
            words = ["gin-sim", "sweep", self.sweep.agent, self.sweep.param, values]
            others = self.agents[len(self.sweep.values) :]
            words += ["--against", *(a.label_with_place for a in others)]
        elif self.format != "round-robin":
            words += ["--format", self.format]
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
        if self.log:
            words += ["--log"]
        return shlex.join(words)

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the rows."""
        return {
            "schema": SCHEMA_VERSION,
            "kind": "tournament",
            "format": self.format,
            **({"sweep": self.sweep.as_dict()} if self.sweep else {}),
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
            "rows": self.keep_hands,
            **({"histories": True} if self.log else {}),
            "versions": versions(),
            "engine_sha256": source_hash(PACKAGE),
            "git_commit": git_commit(),
        }


class Options(TypedDict, total=False):
    """What all formats take, as :func:`gin_sim.tournament.play_tournament` describes it.

    `decision_seconds` is what is called `time_limit` there.
    """

    hands: int | None
    games: int | None
    rules: Rules | str | None
    seed: int | None
    on_illegal: str
    keep_hands: bool
    decision_seconds: float | None
    log: bool


def make_plan(
    agents: Iterable[str | Agent],
    *,
    format: str = "round-robin",  # noqa: A002 - what the command line calls it
    **options: Unpack[Options],
) -> Plan:
    """Return the plan of a tournament, with every choice checked and made.

    Parameters
    ----------
    agents : iterable of str or Agent
    format : str
        One of `FORMATS`.
    **options
        See :class:`Options`.

    Raises
    ------
    AgentError, RulesError, GinSimError
        Naming what is not allowed and what is.
    """
    loaded = _load_all(agents, "agents")
    if len(loaded) < 2:
        raise AgentError(
            f"a tournament takes two agents or more; '{loaded[0].name}' alone has no opponent "
            "(name it twice for self-play)"
        )
    if not isinstance(format, str) or format not in FORMATS:
        raise GinSimError(f"format = {format!r}: allowed is {', '.join(FORMATS)}")
    if format == "league":
        if options.get("hands") is not None:
            raise GinSimError("a league is of whole games: give games, not hands")
        if options.get("games") is None:
            options["games"] = DEFAULT_GAMES
    return _plan(
        loaded,
        tuple(unique_labels([one.label for one in loaded])),
        format,
        None,
        **options,
    )


def make_sweep(
    agent: str | Agent,
    param: str,
    values: Iterable[float],
    against: Iterable[str | Agent],
    **options: Unpack[Options],
) -> Plan:
    """Return the plan of a sweep: an agent with each value of a parameter, on the same deals.

    Parameters
    ----------
    agent : str or Agent
    param : str
        One of its parameters, or of those that every agent takes.
    values : iterable of float
        Two or more, each once.
    against : iterable of str or Agent
        The opponents of each.
    **options
        See :class:`Options`.

    Raises
    ------
    AgentError, RulesError, GinSimError
        Naming what is not allowed and what is.
    """
    base = load_agent(agent)
    some: list[Any] = []
    with suppress(TypeError):
        some = list(values)
    numbers = all(isinstance(value, Real) for value in some)
    if not numbers or not 2 <= len(some) <= MOST_VALUES or len(set(some)) < len(some):
        shown = f"{len(some)} of them" if len(some) > MOST_VALUES else repr(some)
        raise GinSimError(f"values = {shown}: give 2..{MOST_VALUES} numbers, each once")
    swept = tuple(base.with_params({param: value}) for value in some)
    others = _load_all(against, "against")
    labels = [_label_with(one, param) for one in swept]
    return _plan(
        (*swept, *others),
        tuple(unique_labels([*labels, *(other.label for other in others)])),
        "sweep",
        Sweep(base.label_with_place, param, tuple(float(value) for value in some)),
        **options,
    )


def _label_with(one: Agent, param: str) -> str:
    """Return a label that tells a parameter even where it is as declared."""
    if f"{param}=" in one.label:
        return one.label
    return f"{one.label}{',' if ':' in one.label else ':'}{param}={one.params[param]:g}"


def _load_all(agents: Iterable[str | Agent], name: str) -> tuple[Agent, ...]:
    named: list[str | Agent] = []
    with suppress(TypeError):
        named = [] if isinstance(agents, str) else list(agents)
    if not named:
        raise AgentError(f"{name} = {agents!r}: give a list of two names or agents, or more")
    return tuple(load_agent(one) for one in named)


def _plan(
    agents: tuple[Agent, ...],
    labels: tuple[str, ...],
    how: str,
    sweep: Sweep | None,
    *,
    hands: int | None = None,
    games: int | None = None,
    rules: Rules | str | None = None,
    seed: int | None = None,
    on_illegal: str = "error",
    keep_hands: bool = True,
    decision_seconds: float | None = None,
    log: bool = False,
) -> Plan:
    """Check what all formats share."""
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
    if not isinstance(log, bool):
        raise GinSimError(f"log = {log!r}: allowed is True or False")
    if log and not keep_hands:
        raise GinSimError("histories (log) go with rows of hands: leave one of both out")
    return Plan(
        agents=agents,
        labels=labels,
        rules=as_rules(rules),
        seed=whole_number(seed, "seed", 0, MAX_SEED),
        units=(amount + 1) // 2,
        games=games is not None,
        forgiving=on_illegal == "forfeit",
        keep_hands=keep_hands,
        format=how,
        sweep=sweep,
        decision_seconds=decision_limit(decision_seconds),
        log=log,
    )
