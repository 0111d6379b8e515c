"""Every error a user can cause, in one small tree.

::

    GinSimError
    ├── CardError     a card, a hand or a deck that cannot be (also a ValueError)
    ├── RulesError    a rule out of range, a preset or a field that does not exist
    │                 (also a ValueError)
    ├── AgentError    an agent that cannot be found, compiled or trusted with a hand
    └── ResultsError  a results folder that cannot be read or written

Messages are one line: the value, what is allowed, and how to replay it where a hand
is involved.
"""

from __future__ import annotations


class GinSimError(Exception):
    """Base of every error that gin-sim raises on purpose."""


class CardError(GinSimError, ValueError):
    """A card, a hand, a meld or a deck that cannot be."""


class RulesError(GinSimError, ValueError):
    """A rule out of range, or a preset or field that does not exist."""


class AgentError(GinSimError):
    """An agent that cannot be found or compiled, or that played illegally."""


class ResultsError(GinSimError):
    """A results folder that cannot be read or written."""
