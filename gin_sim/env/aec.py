"""The hand as a PettingZoo environment, in which the agents act in turn (AEC)."""

from __future__ import annotations

from typing import Any, ClassVar

from gymnasium import spaces
from pettingzoo import AECEnv

from gin_sim.env.episode import RENDER_MODES, Episode, Observation
from gin_sim.env.spaces import action_space, observation_space
from gin_sim.errors import RulesError
from gin_sim.rules import Rules

AGENTS = ("player_0", "player_1")


class GinRummyEnv(AECEnv):  # type: ignore[misc]
    """One hand of Gin Rummy for two; ``player_0`` is the non-dealer, ``player_1`` deals.

    Gin and big gin are declared for the player, and lay-offs settled exactly unless they are
    asked for.  See ``docs/environments.md`` for actions and observations.

    Parameters
    ----------
    rules : Rules or str, optional
        Rules, or the name of a preset; the standard rules if not given.
    observation : str
        ``flat``, a (639,) array, or ``planes``, (27, 4, 13); both of uint8.  Where lay-offs
        are asked for, (692,) or (29, 4, 13).
    reward_scale : float
        What a point is worth: rewards are the points of the hand times this, the loser's
        negative.
    on_illegal : str
        ``error`` raises at an illegal action, ``forfeit`` books the hand as lost by gin;
        both raise at what is not in the space of actions.
    render_mode : str, optional
        ``ansi``: `render` returns a text; ``human``: it prints it.
    layoff : str
        ``best``: the engine lays off exactly; ``ask``: the defender is asked, in a phase of
        its own, which makes actions and observations larger.

    Raises
    ------
    RulesError
        For a setting that cannot be; from `step` for an illegal action, naming the action,
        the legal ones and how to replay the hand.

    Examples
    --------
    >>> env = GinRummyEnv(rules="straight")
    >>> env.reset(seed=1)
    >>> for name in env.agent_iter():
    ...     seen, reward, terminated, truncated, info = env.last()
    ...     env.step(None if terminated else int(seen["action_mask"].argmax()))
    >>> info["outcome"]
    'dead'
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "gin_sim_gin_rummy_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: Rules | str | None = None,
        *,
        observation: str = "flat",
        reward_scale: float = 1.0,
        on_illegal: str = "error",
        render_mode: str | None = None,
        layoff: str = "best",
    ) -> None:
        super().__init__()
        self._hand = Episode(rules, observation, reward_scale, on_illegal, render_mode, layoff)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {name: observation_space(observation, layoff) for name in AGENTS}
        self.action_spaces = {name: action_space(layoff) for name in AGENTS}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[AGENTS[_seat(agent)]]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions: ``Discrete(60)``, or 61 with lay-offs."""
        return self.action_spaces[AGENTS[_seat(agent)]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a hand.

        Parameters
        ----------
        seed : int, optional
            0..2**63 - 1; deal 0 of it is dealt.  Without a seed the next deal of the seed in
            use is, so that a seed fixes all hands that follow.
        options : dict, optional
            ``{"deal": k}`` chooses a deal by its number.
        """
        self._hand.start(seed, options)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection = None
        self._select()

    def _select(self) -> None:
        """Say whose turn it is, and what there is to tell."""
        self.agent_selection = AGENTS[self._hand.seat]
        self.infos: dict[str, dict[str, Any]] = {name: self._hand.info() for name in AGENTS}

    def step(self, action: int | None) -> None:
        """Take an action of the agent to act; once the hand is over, None takes it away."""
        self._check_in_play()
        if self.terminations[self.agent_selection]:
            if action is not None:
                raise RulesError(
                    f"action {action!r}: the hand is over, and only None is taken until both "
                    f"agents are gone [{self._hand.where()}]"
                )
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        self._hand.act(action)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {name: self._hand.reward(seat) for seat, name in enumerate(AGENTS)}
        self.terminations = dict.fromkeys(AGENTS, self._hand.over)
        self._select()
        self._accumulate_rewards()

    def _check_in_play(self) -> None:
        if not self.agents:
            raise RulesError(f"no hand is being played: reset [{self._hand.where()}]")

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return what the agent to act observes, its reward, whether its hand is over, and infos.

        Raises
        ------
        RulesError
            If no hand is being played.
        """
        self._check_in_play()
        found: tuple[Observation | None, float, bool, bool, dict[str, Any]] = super().last(observe)
        return found

    def observe(self, agent: str) -> Observation:
        """Return what an agent may know now, whether or not it is to act.

        Returns
        -------
        dict
            ``observation``, uint8, and ``action_mask``, an array of int8 with a cell for each
            action: all 0 for the agent that is not to act, and at the end.
        """
        return self._hand.observe(_seat(agent))

    def render(self) -> str | None:
        """Return or print the table with both hands open, as the render mode says."""
        return self._hand.render(AGENTS)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _seat(agent: str) -> int:
    """Return the seat of an agent."""
    if not isinstance(agent, str) or agent not in AGENTS:
        raise RulesError(f"agent = {agent!r}: allowed is {' or '.join(AGENTS)}")
    return AGENTS.index(agent)
