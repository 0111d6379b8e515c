"""gin-sim: a Gin Rummy laboratory.

The names below are loaded when they are first used, so that importing the package is
quick and pulls in neither numba nor pandas.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Agent": "registry",
    "AgentError": "errors",
    "Arrangement": "hands",
    "CardError": "errors",
    "GinSimError": "errors",
    "Hand": "table",
    "History": "history",
    "Params": "registry",
    "PlayError": "errors",
    "ResultsError": "errors",
    "Rules": "rules",
    "RulesError": "errors",
    "ScoreSheet": "scoring",
    "Showdown": "settle",
    "View": "view",
    "agent": "registry",
    "arrange": "hands",
    "best_discards": "hands",
    "best_discards_many": "hands",
    "deadwood": "hands",
    "deadwood_many": "hands",
    "format_hand": "cards",
    "legal_knocks": "hands",
    "load_agent": "registry",
    "parse_hand": "cards",
    "play_sweep": "tournament",
    "play_tournament": "tournament",
    "price_hand": "scoring",
    "read_histories": "history_lines",
    "read_history": "history_lines",
    "record_hand": "recorder",
    "record_hands": "recorder",
    "showdown": "settle",
    "shuffled_deck": "chance",
    "write_histories": "history_lines",
    "write_history": "history_lines",
}
__all__ = [
    "Agent",
    "AgentError",
    "Arrangement",
    "CardError",
    "GinSimError",
    "Hand",
    "History",
    "Params",
    "PlayError",
    "ResultsError",
    "Rules",
    "RulesError",
    "ScoreSheet",
    "Showdown",
    "View",
    "__version__",
    "agent",
    "arrange",
    "best_discards",
    "best_discards_many",
    "deadwood",
    "deadwood_many",
    "format_hand",
    "legal_knocks",
    "load_agent",
    "parse_hand",
    "play_sweep",
    "play_tournament",
    "price_hand",
    "read_histories",
    "read_history",
    "record_hand",
    "record_hands",
    "showdown",
    "shuffled_deck",
    "write_histories",
    "write_history",
]

if TYPE_CHECKING:
    from gin_sim.cards import format_hand, parse_hand
    from gin_sim.chance import shuffled_deck
    from gin_sim.errors import (
        AgentError,
        CardError,
        GinSimError,
        PlayError,
        ResultsError,
        RulesError,
    )
    from gin_sim.hands import (
        Arrangement,
        arrange,
        best_discards,
        best_discards_many,
        deadwood,
        deadwood_many,
        legal_knocks,
    )
    from gin_sim.history import History
    from gin_sim.history_lines import (
        read_histories,
        read_history,
        write_histories,
        write_history,
    )
    from gin_sim.recorder import record_hand, record_hands
    from gin_sim.registry import Agent, Params, agent, load_agent
    from gin_sim.rules import Rules
    from gin_sim.scoring import ScoreSheet, price_hand
    from gin_sim.settle import Showdown, showdown
    from gin_sim.table import Hand
    from gin_sim.tournament import play_sweep, play_tournament
    from gin_sim.view import View


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gin_sim' has no attribute '{name}'")
    module = importlib.import_module(f"gin_sim.{_HOME[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
