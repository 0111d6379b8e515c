"""How a strategy becomes an agent: one decorator, one way to name it, one to compile it.

An agent is three decisions on what a player may know, each a function of a view and the
agent's parameters:

``draw(view, params) -> bool``
    Take the upcard?  (Asked in the phases `UPCARD`, `DRAW` and `LAST`.)
``discard(view, params) -> int``
    Which card to throw, one of ``view.legal_discards``.
``knock(view, params) -> bool``
    Knock?  Asked only when the card thrown makes it legal and leaves deadwood.  Gin and
    big gin are declared for the agent.

They have no other state: all randomness comes from ``view.word``.  See
:class:`gin_sim.View` for what they see.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import math
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim.errors import AgentError
from gin_sim.knock_rule import KNOCK_RULE, knock_by_rule

DECISIONS = ("draw", "discard", "knock")
ENTRY_POINTS = "gin_sim.agents"

Params = NDArray[np.float64]
"""The type of an agent's parameters: floats in the order of their declaration."""


@dataclass(frozen=True)
class Agent:
    """A strategy with its parameters; made by :func:`agent`, varied by `with_params`.

    Attributes
    ----------
    name : str
        As on the command line.
    summary, source : str
        One line on what it does, and where it comes from.
    params : dict of str to float
        In the order in which the decisions get them.
    compiled : bool
        Whether the decisions run compiled, or as plain Python on the slow path.
    draw, discard, knock : callable
        The decisions, as written.
    file : str
        The file they stand in.
    spec : str
        What finds this agent again in another process; empty if nothing does.
    """

    name: str
    summary: str
    source: str
    params: dict[str, float]
    compiled: bool
    draw: Callable[[Any, Any], Any]
    discard: Callable[[Any, Any], Any]
    knock: Callable[[Any, Any], Any]
    file: str
    spec: str = ""

    @property
    def label(self) -> str:
        """Name and the parameters that differ from those declared."""
        declared = getattr(self.discard, "_gin_sim_params", self.params)
        changed = [f"{k}={_short(v)}" for k, v in self.params.items() if v != declared.get(k)]
        return f"{self.name}:{','.join(changed)}" if changed else self.name

    @property
    def label_with_place(self) -> str:
        """What names this agent on the command line: its file, if it has one of its own."""
        place, _, _ = _split(self.spec)
        return f"{place}:{self.label}" if place else self.label

    @property
    def external(self) -> bool:
        """Whether the decisions are taken by another program, which has a limit of its own."""
        return False

    @property
    def param_values(self) -> Params:
        """The parameters as the decisions get them."""
        return np.array(list(self.params.values()), dtype=np.float64)

    def with_params(self, changes: Mapping[str, float]) -> Agent:
        """Return the agent with some parameters changed.

        Every agent takes those of :data:`gin_sim.knock_rule.KNOCK_RULE`: with one of them
        it knocks by that rule.
        """
        if not isinstance(changes, Mapping):
            raise AgentError(f"agent '{self.name}': params = {changes!r}: give a dict of numbers")
        known = self.params
        ruled = self
        if not KNOCK_RULE.keys().isdisjoint(changes):
            known = self.params | {k: v for k, v in KNOCK_RULE.items() if k not in self.params}
            ruled = dataclasses.replace(self, knock=knock_by_rule)
        for key in changes:
            if key not in known:
                there = ", ".join((*self.params, *KNOCK_RULE))
                raise AgentError(f"agent '{self.name}' has no parameter '{key}'; it has: {there}")
        numbers = {key: _number(self.name, key, value) for key, value in changes.items()}
        return dataclasses.replace(ruled, params=known | numbers)

    def source_hash(self) -> str:
        """Return a hash of the text of the file the agent stands in."""
        try:
            text = Path(self.file).read_bytes()
        except OSError:
            text = "".join(_source(getattr(self, d)) for d in DECISIONS).encode()
        return hashlib.sha256(text).hexdigest()


def _short(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _number(agent_name: str, key: str, value: Any) -> float:
    """Return the value of a parameter, which is a finite number."""
    with contextlib.suppress(OverflowError):  # a whole number that no float can hold
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
    raise AgentError(f"agent '{agent_name}': {key} = {value!r} is not a finite number")


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return function.__code__.co_code.hex()


def agent(
    name: str, *, source: str, compiled: bool = True, **params: float
) -> Callable[[type], Agent]:
    """Turn a class with `draw`, `discard` and `knock` into an agent.

    Parameters
    ----------
    name : str
        As it will be named on the command line.
    source : str
        Where the strategy comes from.
    compiled : bool
        False for decisions that numba cannot compile: they run as plain Python, some
        hundred times slower.
    **params : float
        Parameters and their defaults; the decisions get them in this order as an array.

    Raises
    ------
    AgentError
        If the class lacks a decision or a docstring.

    Examples
    --------
    >>> from gin_sim.chance import pick
    >>> @agent("patient", source="an example", most=5)
    ... class Patient:
    ...     '''Draws blind, throws what helps most, knocks at `most` or less.'''
    ...     def draw(view, params): return False
    ...     def discard(view, params): return pick(view.best_discards, view.word)
    ...     def knock(view, params): return view.deadwood <= params[0]
    >>> Patient.label, Patient.with_params({"most": 3}).label
    ('patient', 'patient:most=3')
    """

    def make(strategy: type) -> Agent:
        if not isinstance(strategy, type):
            raise AgentError(f"agent '{name}': decorate a class with draw, discard and knock")
        decisions: dict[str, Any] = {}
        for decision in DECISIONS:
            function = inspect.getattr_static(strategy, decision, None)
            function = getattr(function, "__func__", function)
            if not inspect.isfunction(function):
                raise AgentError(f"agent '{name}' has no method {decision}(view, params)")
            if len(inspect.signature(function).parameters) != 2:
                raise AgentError(f"agent '{name}': {decision} takes (view, params), without self")
            decisions[decision] = function
        if any(c in name for c in ":,=/\\ ") or not name:
            raise AgentError(f"agent name '{name}': allowed are letters, digits, _ and -")
        numbers = {key: _number(name, key, value) for key, value in params.items()}
        if taken := KNOCK_RULE.keys() & numbers.keys():
            raise AgentError(f"agent '{name}': every agent has a parameter '{min(taken)}' already")
        decisions["discard"]._gin_sim_params = dict(numbers)
        lines = (inspect.cleandoc(strategy.__doc__ or "")).splitlines() or [""]
        return Agent(
            name=name,
            summary=lines[0].rstrip("."),
            source=source,
            params=numbers,
            compiled=compiled,
            file=decisions["discard"].__code__.co_filename,
            **decisions,
        )

    return make


def agents_in(module: ModuleType) -> list[Agent]:
    """Return the agents that a module defines, in the order of their names."""
    found = {a.name: a for a in vars(module).values() if isinstance(a, Agent)}
    own = getattr(module, "__file__", None)
    return [a for _, a in sorted(found.items()) if a.file == own]


def registered() -> tuple[dict[str, Agent], list[str]]:
    """Return all agents of the package `agents` and of entry points, by name.

    Returns
    -------
    agents : dict
    problems : list of str
        One line for each module that could not be used.
    """
    found: dict[str, Agent] = {}
    problems: list[str] = []

    def add(one: Agent, where: str) -> None:
        if one.name in found and found[one.name].file != one.file:
            problems.append(f"{where}: there is an agent '{one.name}' already")
        else:
            found[one.name] = dataclasses.replace(one, spec=one.name)

    package = importlib.import_module("agents")
    for info in pkgutil.iter_modules(package.__path__):
        where = f"agents.{info.name}"
        try:
            for one in agents_in(importlib.import_module(where)):
                add(one, where)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problems.append(f"{where}: {one_line(error)}")
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            target = point.load()
            for one in [target] if isinstance(target, Agent) else agents_in(target):
                add(one, point.value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problems.append(f"entry point {point.name}: {one_line(error)}")
    return dict(sorted(found.items())), problems


def load_agent(spec: str | Agent) -> Agent:
    """Return the agent that a specification names.

    Parameters
    ----------
    spec : str or Agent
        ``name``, ``name:param=value,…``, ``path/to/file.py:name``,
        ``path/to/file.py:name:param=value,…``, or ``cmd:PROGRAM ARGUMENTS`` for a program
        that talks as `docs/protocol.md` says.

    Raises
    ------
    AgentError
        Naming what was not found and what there is.
    """
    if isinstance(spec, Agent):
        return spec
    if not isinstance(spec, str):
        raise AgentError(
            f"agent {spec!r}: give a name, path/to/file.py:name, cmd:PROGRAM or an Agent"
        )
    if spec.strip().startswith("cmd:"):
        from gin_sim.command import command_agent  # noqa: PLC0415 - few need it

        return command_agent(spec)
    place, name, settings = _split(spec)
    if place:
        one = _from_file(Path(place), name)
        one = dataclasses.replace(one, spec=f"{Path(place).resolve()}:{one.name}")
    else:
        known, problems = registered()
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            bad = f"; could not be loaded: {'; '.join(problems)}" if problems else ""
            raise AgentError(
                f"no agent '{name}'{hint}; there are: {', '.join(known)}; "
                f"or name a file: path/to/file.py:name, or a program: cmd:PROGRAM{bad}"
            )
        one = known[name]
    return one.with_params(read_settings(spec, settings)) if settings else one


def _split(spec: str) -> tuple[str, str, str]:
    """Split a specification into file, name and settings."""
    place, rest = "", spec.strip()
    at = rest.find(".py:")
    if at >= 0:
        place, rest = rest[: at + 3], rest[at + 4 :]
    elif rest.endswith(".py"):
        place, rest = rest, ""
    name, _, settings = rest.partition(":")
    if not place and "=" in name:
        raise AgentError(f"agent '{spec}': write name:param=value,param=value")
    return place, name, settings


def read_settings(spec: str, settings: str) -> dict[str, float]:
    """Return parameters from text such as ``most=5,least=2``.

    Raises
    ------
    AgentError
        Naming what is no number.
    """
    changes: dict[str, float] = {}
    for part in settings.split(","):
        key, equals, value = part.partition("=")
        name = key.strip()
        if name in changes:
            raise AgentError(f"agent '{spec}': '{name}' is there twice")
        try:
            if not equals:
                raise ValueError
            changes[name] = float(value)
        except ValueError:
            raise AgentError(f"agent '{spec}': '{part}' is not param=number") from None
    return changes


def _from_file(path: Path, name: str) -> Agent:
    """Return an agent of a file of the user's; the file is run once per process."""
    try:
        if not path.is_file():
            raise AgentError(f"no file '{path}' to take agent '{name}' from")
        path = path.resolve()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise AgentError(f"no file can be there ({reason}): '{path}'") from error
    key = f"_gin_sim_agent_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    module = sys.modules.get(key)
    stamp = path.stat().st_mtime_ns
    if module is None or getattr(module, "_gin_sim_stamp", None) != stamp:
        file_spec = importlib.util.spec_from_file_location(key, path)
        if file_spec is None or file_spec.loader is None:
            raise AgentError(f"'{path}' cannot be read as Python")
        module = importlib.util.module_from_spec(file_spec)
        sys.modules[key] = module
        try:
            file_spec.loader.exec_module(module)
        except (AgentError, KeyboardInterrupt):
            sys.modules.pop(key, None)
            raise
        except BaseException as error:
            sys.modules.pop(key, None)
            line = _line_in(error, str(path))
            raise AgentError(f"'{path}'{line} cannot be loaded: {one_line(error)}") from error
        module._gin_sim_stamp = stamp  # type: ignore[attr-defined]
    found = agents_in(module)
    if not name and len(found) == 1:
        return found[0]
    for one in found:
        if one.name == name:
            return one
    there = ", ".join(one.name for one in found) or (
        "none (is there an @agent class? A program of its own is named 'cmd:PROGRAM ARGUMENTS')"
    )
    raise AgentError(f"no agent '{name}' in '{path}'; there are: {there}")


def one_line(error: BaseException) -> str:
    """Return an exception of the user's code in one line, whatever it is."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _line_in(error: BaseException, file: str) -> str:
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == file:
            return f" line {frame.lineno}"
    return ""


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Return a label for each agent; one that is there already gets a number."""
    out: list[str] = []
    for label in labels:
        unique, n = label, 2
        while unique in out:
            unique = f"{label}#{n}"
            n += 1
        out.append(unique)
    return out
