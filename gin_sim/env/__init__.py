"""Environments for learning programs: one hand in turn, against an agent, or thousands at once.

:class:`GinRummyEnv` is for PettingZoo, :class:`GinRummyAgainstEnv` for Gymnasium, where
importing this package registers it as ``gin_sim/GinRummy-v0``; both need the extra
``gin-sim[rl]``.  :class:`VectorEnv` plays many hands in compiled code and needs neither.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gin_sim.env.registration import register_envs

_HOME = {
    "ACTION_NAMES": "actions",
    "GinRummyAgainstEnv": "against",
    "GinRummyEnv": "aec",
    "LAYOFF_NAMES": "actions",
    "VectorEnv": "vector",
}
__all__ = ["ACTION_NAMES", "LAYOFF_NAMES", "GinRummyAgainstEnv", "GinRummyEnv", "VectorEnv"]

if TYPE_CHECKING:
    from gin_sim.env.actions import ACTION_NAMES, LAYOFF_NAMES
    from gin_sim.env.aec import GinRummyEnv
    from gin_sim.env.against import GinRummyAgainstEnv
    from gin_sim.env.vector import VectorEnv

register_envs()


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gin_sim.env' has no attribute '{name}'")
    try:
        module = importlib.import_module(f"gin_sim.env.{_HOME[name]}")
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise ImportError(f"{name} needs the extra: pip install 'gin-sim[rl]'") from error
    value = getattr(module, name)
    globals()[name] = value
    return value
