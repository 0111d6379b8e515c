"""Agents made ready to play: their decisions compiled and their return types checked.

A decision that returns a float where a card is due would be cut to an integer silently,
so what numba has inferred is looked at here, once, when the agent is prepared.
"""

from __future__ import annotations

import os
import tempfile
import threading
import types as python_types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError

from gin_sim.command import start_once
from gin_sim.compiled import JIT_DISABLED, PACKAGE, compile_lazily
from gin_sim.errors import AgentError
from gin_sim.play import PARAMS_TYPE, VIEW_TYPE, PlainPolicy, compile_engine
from gin_sim.registry import DECISIONS, Agent
from gin_sim.stops import stops_put_off

_EXPECTED = {"draw": types.boolean, "discard": types.int64, "knock": types.boolean}
_ready: dict[tuple[Any, ...], tuple[Any, Any, Any]] = {}
_preparing = threading.RLock()  # a worker of a cluster may have several threads


def prepare(agent: Agent) -> PlainPolicy:
    """Return the compiled decisions of an agent and its parameters.

    Raises
    ------
    AgentError
        If a decision does not compile or does not return what it should.
    """
    compile_engine()
    written = (agent.draw, agent.discard, agent.knock)
    if JIT_DISABLED:
        return *written, agent.param_values
    with _preparing:
        if written not in _ready:
            draw, discard, knock = (_compile(agent, decision) for decision in DECISIONS)
            _ready[written] = (draw, discard, knock)
    return *_ready[written], agent.param_values


def make_ready(agents: Sequence[Agent]) -> None:
    """Compile agents, or see that their programs start, before anybody plays with them.

    Raises
    ------
    AgentError
        For one that cannot play.
    """
    with stops_put_off():  # which the compiler might swallow
        for agent in agents:
            if agent.compiled:
                prepare(agent)
    for agent in agents:
        start_once(agent)


def _compile(agent: Agent, decision: str) -> Any:
    function: python_types.FunctionType = getattr(agent, decision)
    home = PACKAGE.parent / "agents"
    ours = Path(function.__code__.co_filename).resolve().parent == home
    dispatcher: Any = compile_lazily(function, home if ours else None, boundscheck=True)
    signature = (VIEW_TYPE, PARAMS_TYPE)
    try:
        dispatcher.compile(signature)
        returned = dispatcher.overloads[signature].signature.return_type
        expected = _EXPECTED[decision]
        if returned == expected:
            return dispatcher
        if not _may_stand_for(returned, expected):
            wanted = "True or False" if expected == types.boolean else "a card number (int)"
            raise AgentError(
                f"agent '{agent.name}': {decision} returns {returned}; it must return {wanted}"
            )
        return numba.njit(expected(*signature), nogil=True, boundscheck=True)(function)
    except AgentError:
        raise
    except Exception as error:
        raise AgentError(
            f"agent '{agent.name}': {decision} does not compile ({_reason(error)}); "
            "mend it, or declare the agent with compiled=False to run it as plain Python"
        ) from error


def _may_stand_for(returned: Any, expected: Any) -> bool:
    """Return whether a type is only another size of the expected one."""
    if expected == types.boolean:
        return isinstance(returned, types.Boolean | types.BooleanLiteral)
    return isinstance(returned, types.Integer)


def _reason(error: Exception) -> str:
    """Return the telling line of one of numba's long messages."""
    if not isinstance(error, NumbaError):
        return f"{type(error).__name__}: {error}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "Unknown" in line]
    line = (telling or lines)[0 if telling else -1]
    where = next((line for line in lines if line.startswith("File ")), "")
    text = f"{line}{'; ' + where if where and where != line else ''}"
    return text.replace(tempfile.gettempdir() + os.sep, "")[:300]
