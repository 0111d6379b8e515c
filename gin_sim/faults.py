"""What an agent did in the first hand that it forfeited, for those who have to mend it.

Where illegal play only loses the hand, a run goes on and says nothing of it but a count.  A
hand is a function of rules, agents, seed and deal: the first that each agent lost so is
played again on the slow path, and told with the lines of the agent's that raised.
"""

from __future__ import annotations

import traceback
from typing import Any

from gin_sim import drive
from gin_sim.compiled import records
from gin_sim.errors import PlayError
from gin_sim.plan import Plan
from gin_sim.play import GAME_DTYPE, ROW_DTYPE, Order, new_desk
from gin_sim.scoring import MAX_GAME_HANDS, rules_record
from gin_sim.sums import Fault, Sums

MOST_LINES = 20


class _Listener:
    """Watches for the forfeit of one deal."""

    def __init__(self, state: Any, deal: int) -> None:
        self.state = state
        self.deal = deal
        self.error: PlayError | None = None

    def start(self) -> None:
        """Take note of nothing."""

    def decided(self, seat: int, decision: str, answer: Any) -> None:
        """Take note of nothing."""

    def end(self) -> None:
        """Take note of nothing."""

    def forfeited(self, error: PlayError) -> None:
        """Keep what the agent did."""
        if int(self.state["deal"]) == self.deal:
            self.error = error


def told(plan: Plan, sums: Sums) -> list[dict[str, Any]]:
    """Return, for each agent that forfeited hands, the first of them and what it did.

    Returns
    -------
    list of dict
        ``agent``, ``pairing``, ``deal``, ``mirror`` as in the rows, ``what`` in one line
        with how to replay it, and ``traceback``, the lines of the agent's that raised.
    """
    return [_told(plan, agent, sums.faults[agent]) for agent in sorted(sums.faults)]


def _told(plan: Plan, agent: int, fault: Fault) -> dict[str, Any]:
    found = _again(plan, fault)
    what, lines = "not seen again when the hand was played again", []
    if found is not None:
        what = str(found)
        if found.__cause__ is not None:
            frames = traceback.extract_tb(found.__cause__.__traceback__)
            own = [frame for frame in frames if frame.filename == plan.agents[agent].file]
            lines = [f"line {frame.lineno}, {frame.name}: {frame.line}" for frame in own]
    return {
        "agent": plan.labels[agent],
        "pairing": plan.pairing_labels[fault.pairing],
        "deal": fault.deal,
        "mirror": fault.mirror,
        "what": what,
        "traceback": lines[-MOST_LINES:],
    }


def _again(plan: Plan, fault: Fault) -> PlayError | None:
    """Play a hand, or the game it is of, again."""
    a, b = (
        drive.Player(plan.agents[i], plan.labels[i], plan.decision_seconds, plan.rules)
        for i in plan.pairings[fault.pairing]
    )
    order = Order(plan.seed, 0, 1, 0, 1)
    desk = new_desk(rules_record(plan.rules))
    listener = _Listener(desk.state[0], fault.deal)
    rows = records(MAX_GAME_HANDS, ROW_DTYPE)
    if plan.games:
        game = records(1, GAME_DTYPE)[0]
        drive.drive_game(desk, order, fault.unit, fault.mirror, (a, b), rows, game, listener)
    else:
        drive.drive_mirror(desk, order, fault.deal, fault.mirror, (a, b), rows[0], listener)
    return listener.error
