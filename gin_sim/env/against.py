"""The hand as a Gymnasium environment: one learner, and a named agent in the other seat."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from gin_sim import drive
from gin_sim.env.episode import RENDER_MODES, SEATS, Episode, Observation, one_of
from gin_sim.env.spaces import action_space, observation_space
from gin_sim.errors import RulesError
from gin_sim.protocol import hand_ends, hand_starts
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import Rules

ALTERNATE = "alternate"
MOST_SKIPPED = 10_000
"""A reset gives up after so many hands in which the learner decided nothing."""


class GinRummyAgainstEnv(gymnasium.Env[Any, np.int64]):
    """One hand of Gin Rummy against an agent of gin-sim's.

    Made by ``gymnasium.make("gin_sim/GinRummy-v0", opponent="simple")`` once
    :mod:`gin_sim.env` has been imported.  Actions and observations are those of
    :class:`gin_sim.env.GinRummyEnv`; the opponent has played when `step` returns.  What the
    opponent lays off is always settled exactly.

    Parameters
    ----------
    opponent : str or Agent
        As on the command line: a name, ``name:param=value`` or ``path/to/file.py:name``.
    rules : Rules or str, optional
        Rules, or the name of a preset; the standard rules if not given.
    seat : str
        The learner's: ``non-dealer``, ``dealer``, or ``alternate``, the non-dealer in deals
        with even numbers.
    observation : str
        ``flat``, a (639,) array, or ``planes``, (27, 4, 13); both of uint8.  Where lay-offs
        are asked for, (692,) or (29, 4, 13).
    reward_scale : float
        What a point is worth.
    on_illegal : str
        ``forfeit`` books the hand as lost by gin, and ``info["illegal"]`` says why, as
        Gymnasium wants every action of the space to be taken; ``error`` raises.  Both raise
        at what is not in the space.
    render_mode : str, optional
        ``ansi``: `render` returns a text; ``human``: it prints it.
    layoff : str
        ``best``: the engine lays off exactly; ``ask``: the learner is asked, in a phase of
        its own, which makes actions and observations larger.

    Raises
    ------
    RulesError, AgentError
        For a setting or an agent that cannot be; from `step` for an action after the end,
        and for what is no action at all.
    PlayError
        From `reset` and `step` if the opponent raises or plays illegally.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as the base class declares it)
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
    }

    def __init__(
        self,
        opponent: str | Agent = "simple",
        rules: Rules | str | None = None,
        *,
        seat: str = ALTERNATE,
        observation: str = "flat",
        reward_scale: float = 1.0,
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        layoff: str = "best",
    ) -> None:
        self._hand = Episode(rules, observation, reward_scale, on_illegal, render_mode, layoff)
        self._where: str = one_of(seat, "seat", (*SEATS, ALTERNATE))
        agent = load_agent(opponent)
        self._opponent = drive.Player(agent, agent.label, rules=self._hand.rules)
        self._seat = 0
        self.render_mode = render_mode
        self.action_space = action_space(layoff)
        self.observation_space = observation_space(observation, layoff)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a hand, and let the opponent play up to the learner's first decision.

        Parameters
        ----------
        seed : int, optional
            0..2**63 - 1; deal 0 of it is dealt.  Without a seed the next deal of the seed in
            use is, so that a seed fixes all hands that follow.
        options : dict, optional
            ``{"deal": k}`` chooses a deal by its number.

        Returns
        -------
        observation, info : dict
            ``info["deal"]`` is the number of the deal, ``info["skipped"]`` how many deals
            before it the opponent had ended before the learner came to decide anything.
        """
        self._hand.start(seed, options)
        super().reset(seed=None if seed is None else self._hand.seed)
        skipped = 0
        while not self._opponent_plays():
            skipped += 1
            if skipped == MOST_SKIPPED:
                raise RulesError(
                    f"{skipped:,} hands in a row ended before the learner came to decide "
                    f"anything: other rules or another opponent ({self._hand.where()})"
                )
            self._hand.next_deal()
        return self._hand.observe(self._seat), self._info() | {"skipped": skipped}

    def _opponent_plays(self) -> bool:
        """Seat the learner at a new hand; return whether it comes to decide anything."""
        hand = self._hand
        self._seat = hand.deal & 1 if self._where == ALTERNATE else SEATS.index(self._where)
        if hand.layoff == "ask":
            hand.asked = 1 << self._seat
        self._opponent.hang_up()  # if the hand before was not played to its end
        self._opponent.tell(hand_starts(hand.state, 1 - self._seat))
        self._opponent_goes_on()
        return not hand.over

    def _opponent_goes_on(self) -> None:
        hand = self._hand
        while not hand.over and hand.seat != self._seat:
            drive.drive_decision(hand.desk, self._opponent, hand.seed)
            hand.ask()
        if hand.over:
            self._opponent.tell(hand_ends(hand.state, 1 - self._seat))
            self._opponent.hang_up()

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action of the learner's, and let the opponent play until the next.

        Returns
        -------
        observation : dict
        reward : float
            The points of the hand, times `reward_scale`, from the learner's side; 0 before
            the end.
        terminated : bool
            Whether the hand is over.
        truncated : bool
            Never.
        info : dict
            ``seed`` and ``deal``, and at the end ``outcome``.
        """
        hand = self._hand
        if not hand.over and hand.seat != self._seat:  # it raised, or was interrupted
            raise RulesError(f"the opponent was to act and did not: reset ({hand.where()})")
        hand.act(action)
        self._opponent_goes_on()
        observation = hand.observe(self._seat)
        return observation, hand.reward(self._seat), hand.over, False, self._info()

    def _info(self) -> dict[str, Any]:
        return self._hand.info() | {"seat": SEATS[self._seat]}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions as an array of bool, as masked policies ask for them."""
        return self._hand.observe(self._seat)["action_mask"].astype(np.bool_)

    def render(self) -> str | None:
        """Return or print the table as the learner sees it; at the end both hands are open."""
        names = [self._opponent.label, self._opponent.label]
        names[self._seat] = "learner"
        return self._hand.render((names[0], names[1]), hidden=1 - self._seat)

    def close(self) -> None:
        """Let an opponent go that is a program of its own; a hand may still be played on."""
        self._opponent.hang_up()
