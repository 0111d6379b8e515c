"""Every error a user can cause, in one small tree.

::

    GinSimError
    ├── CardError     a card, a hand or a deck that cannot be (also a ValueError)
    ├── RulesError    a rule out of range, a preset or a field that does not exist
    │                 (also a ValueError)
    ├── AgentError    an agent that cannot be found or compiled
    │   └── PlayError  an agent that raised or played illegally; stops the run
    ├── WorkerError   a process that died; stops the run
    └── ResultsError  a results folder that cannot be read or written, or a hand history
                      that is no legal hand

Messages are one line: the value, what is allowed, and how to replay it where a hand
is involved.
"""

from __future__ import annotations

LONGEST = 4000
"""The most characters that a message has: all actions of a long hand have room."""


class GinSimError(Exception):
    """Base of every error that gin-sim raises on purpose.

    `exit_code` is what the command line exits with: 2 for a user's mistake, 1 for a run
    that failed.
    """

    exit_code = 2

    def __str__(self) -> str:
        """Return the message in one line, whatever was quoted in it."""
        text = " ".join(super().__str__().split())
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class CardError(GinSimError, ValueError):
    """A card, a hand, a meld or a deck that cannot be."""


class RulesError(GinSimError, ValueError):
    """A rule out of range, or a preset or field that does not exist."""


class AgentError(GinSimError):
    """An agent that cannot be found or compiled."""


class PlayError(AgentError):
    """An agent that raised an exception or played illegally in a hand.

    Attributes
    ----------
    deal, mirror : int
        The hand, as in the rows; -1 where it is not of a run.
    pairing : int
        Place of the pairing in the run.
    """

    exit_code = 1
    deal = -1
    mirror = -1
    pairing = 0


class WorkerError(GinSimError):
    """A worker process that died."""

    exit_code = 1


class ResultsError(GinSimError):
    """A results folder that cannot be read or written, or a history that is no hand."""
