"""Thousands of hands side by side, each step of all of them in compiled code."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_sim.chance import deal_key, decision_word, pick
from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.compiled import kernel, records
from gin_sim.env.actions import N_ASKING, act, act_where_asked, illegal, legal_actions, n_actions
from gin_sim.env.encode import SHAPES, write_mask, write_observation
from gin_sim.env.episode import layout, one_of, points_scale
from gin_sim.env.layoffs import BOTH_SEATS, LAYOFFS
from gin_sim.errors import RulesError
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.play import points_for
from gin_sim.rules import Rules, as_rules
from gin_sim.scoring import rules_record
from gin_sim.state import deal
from gin_sim.view import OVER

MOST_HANDS = 1 << 20


class Hands(NamedTuple):
    """The memory of all hands; n of them.

    Attributes
    ----------
    states : (n,) array of STATE_DTYPE
    rules : (1,) array of RULES_DTYPE
    legal : (n,) array of int64
    masks : (n, actions) array of int8
    observations : (n, cells) array of uint8
    rewards : (n, 2) array of float64
    done : (n,) array of bool
    seats : (n,) array of int8
    """

    states: Any
    rules: Any
    legal: Any
    masks: Any
    observations: Any
    rewards: Any
    done: Any
    seats: Any


# The arrays are taken out of their tuple once a loop: numba counts references at every access.


@kernel
def _deal_all(hands: Hands, seed: int, form: int) -> None:
    """Deal the first hand to each place."""
    states, rules, legal, masks, observations, rewards, done, seats = hands
    for i in range(states.shape[0]):
        state = states[i]
        state.deal = i
        state.dealer = 1
        deal(state, rules[0], deal_key(seed, i))
        rewards[i, 0] = 0.0
        rewards[i, 1] = 0.0
        done[i] = False
        seats[i] = state.seat
        legal[i] = legal_actions(state)
        write_mask(masks[i], legal[i])
        write_observation(observations[i], state, state.seat, form)


@kernel
def _first_illegal(legal: Any, actions: Any) -> int:
    """Return the first place whose action is not legal, or -1."""
    for i in range(legal.shape[0]):
        action = actions[i]
        if action < 0 or action >= N_ASKING or not legal[i] >> action & 1:
            return i
    return -1


@kernel
def _step_all(hands: Hands, actions: Any, seed: int, scale: float, form: int, asked: int) -> None:
    """Take a legal action in each hand; where it ends the hand, deal the next."""
    states, rules_array, legal, masks, observations, rewards, done, seats = hands
    n = states.shape[0]
    rules = rules_array[0]
    for i in range(n):
        state = states[i]
        if asked:
            act_where_asked(state, rules, actions[i], asked)
        else:
            act(state, rules, actions[i])
        over = state.phase == OVER
        points = 0
        if over:
            points = points_for(state, 0)
            state.deal += n
            deal(state, rules, deal_key(seed, state.deal))
        rewards[i, 0] = scale * points
        rewards[i, 1] = scale * -points  # an int has no -0
        done[i] = over
        seats[i] = state.seat
        legal[i] = legal_actions(state)
        write_mask(masks[i], legal[i])
        write_observation(observations[i], state, state.seat, form)


@kernel
def _choose_all(states: Any, legal: Any, out: Any) -> None:
    """Choose a legal action in each hand by the random word of its decision."""
    for i in range(out.shape[0]):
        state = states[i]
        seat = state.seat
        out[i] = pick(legal[i], decision_word(state.seat_keys[seat], state.decisions[seat]))


class VectorEnv:
    """Many hands side by side; the caller acts for both seats of each.

    Hand ``i`` of ``n`` plays the deals ``i``, ``i + n``, ``i + 2 n``, … of the seed, each
    as :class:`gin_sim.env.GinRummyEnv` plays it.  Where a hand ends, the next is dealt in
    the same step.

    Parameters
    ----------
    n : int
        How many hands, 1..2**20; each takes about 3 kB, and its observation.
    rules : Rules or str, optional
        Rules, or the name of a preset; the standard rules if not given.
    observation : str or None
        ``flat``, ``planes``, or None for none, which is faster.
    reward_scale : float
        What a point is worth.
    layoff : str
        ``best``: the engine lays off exactly; ``ask``: the defender is asked, in a phase of
        its own, which makes actions and observations larger.

    Attributes
    ----------
    observations : (n, 639) or (n, 27, 4, 13) array of uint8, or None
        What the seat to act observes; (n, 692) or (n, 29, 4, 13) with `layoff` ``ask``.
    masks : (n, 60) array of int8
        1 for each legal action; no row is empty.  (n, 61) with `layoff` ``ask``.
    legal : (n,) array of int64
        The same as bits; read-only.
    seats : (n,) array of int8
        Who is to act: 0 the non-dealer, 1 the dealer.
    rewards : (n, 2) array of float64
        Of both seats, for the hand that the last step has ended; else 0.
    done : (n,) array of bool
        Whether the last step ended a hand: what is observed is then the start of the next.

    All are written anew by each step: copy what is to be kept.

    Raises
    ------
    RulesError
        For a setting that cannot be.

    Examples
    --------
    >>> env = VectorEnv(4, observation=None)
    >>> _, masks = env.reset(seed=1)
    >>> for _ in range(50):
    ...     observations, rewards, done, masks = env.step(env.random_actions())
    >>> masks.shape, bool((rewards.sum(axis=1) == 0).all())
    ((4, 60), True)
    """

    def __init__(
        self,
        n: int,
        rules: Rules | str | None = None,
        *,
        observation: str | None = "flat",
        reward_scale: float = 1.0,
        layoff: str = "best",
    ) -> None:
        self.n = whole_number(n, "n", 1, MOST_HANDS, RulesError)
        self.rules = as_rules(rules)
        self.reward_scale = points_scale(reward_scale)
        form = one_of(observation, "observation", (*SHAPES, None))
        one_of(layoff, "layoff", LAYOFFS)
        self._form, shape = layout(form, layoff)
        self._asked = BOTH_SEATS if layoff == "ask" else 0
        self._hands = Hands(
            records(self.n, STATE_DTYPE),
            rules_record(self.rules),
            np.zeros(self.n, np.int64),
            np.zeros((self.n, n_actions(layoff)), np.int8),
            np.zeros((self.n, int(np.prod(shape))), np.uint8),
            np.zeros((self.n, 2), np.float64),
            np.zeros(self.n, np.bool_),
            np.zeros(self.n, np.int8),
        )
        self.seed = -1  # of no seed, until dealt
        self.masks: NDArray[np.int8] = self._hands.masks
        self.rewards: NDArray[np.float64] = self._hands.rewards
        self.done: NDArray[np.bool_] = self._hands.done
        self.seats: NDArray[np.int8] = self._hands.seats
        self._shape = (self.n, *shape) if form else None

    @property
    def observations(self) -> NDArray[np.uint8] | None:
        """What the seat to act observes, one row or stack of planes for each hand, or None."""
        if self._shape is None:
            return None
        cells: NDArray[np.uint8] = self._hands.observations
        return cells.reshape(self._shape)

    @property
    def legal(self) -> NDArray[np.int64]:
        """The legal actions of each hand as bits, (n,); read-only: actions are judged by it."""
        bits: NDArray[np.int64] = self._hands.legal.view()
        bits.flags.writeable = False
        return bits

    @property
    def deals(self) -> NDArray[np.int64]:
        """The number of the deal that each hand plays, as an (n,) array."""
        deals: NDArray[np.int64] = self._hands.states["deal"].copy()
        return deals

    def reset(self, seed: int | None = None) -> tuple[NDArray[np.uint8] | None, NDArray[np.int8]]:
        """Deal the first hands of a seed.

        Parameters
        ----------
        seed : int, optional
            0..2**63 - 1; drawn from the operating system if not given.

        Returns
        -------
        observations, masks : arrays
            As in the attributes.
        """
        if seed is None:
            seed = secrets.randbelow(1 << 32)
        self.seed = whole_number(seed, "seed", 0, MAX_SEED, RulesError)
        _deal_all(self._hands, self.seed, self._form)
        return self.observations, self.masks

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.uint8] | None, NDArray[np.float64], NDArray[np.bool_], NDArray[np.int8]]:
        """Take one action in each hand.

        Parameters
        ----------
        actions : (n,) array of int
            Each legal in its hand.

        Returns
        -------
        observations, rewards, done, masks : arrays
            As in the attributes.

        Raises
        ------
        RulesError
            If an action is not legal; no hand has then been touched.
        """
        chosen = self._checked(actions)
        scale, form = self.reward_scale, self._form
        _step_all(self._hands, chosen, self.seed, scale, form, self._asked)
        return self.observations, self.rewards, self.done, self.masks

    def _checked(self, actions: ArrayLike) -> NDArray[np.int64]:
        if self.seed < 0:
            raise RulesError("no hands have been dealt: reset")
        try:
            given = np.asarray(actions)
        except ValueError:  # lists of several lengths
            given = np.empty(0, object)
        if isinstance(actions, np.ma.MaskedArray):
            raise RulesError("actions: a masked array; give an ordinary one")
        if given.dtype.kind not in "iu" or given.shape != (self.n,):
            raise RulesError(
                f"actions of shape {given.shape} and type {given.dtype}: "
                f"give {self.n} whole numbers, one for each hand"
            )
        # One kind of array, so that nothing is compiled anew for one that is read-only.
        chosen: NDArray[np.int64] = np.require(given, np.int64, ["C", "A", "W"])
        i = int(_first_illegal(self._hands.legal, chosen))
        if i >= 0:
            state = self._hands.states[i]
            where = (
                f"hand {i} of {self.n}, seat {int(state['seat'])}: deal {int(state['deal'])} of "
                f"seed {self.seed}, after {int(state['decisions'].sum())} actions"
            )
            legal, size = int(self.legal[i]), self.masks.shape[1]
            raise illegal(given[i].item(), legal, int(state["phase"]), where, size)
        return chosen

    def random_actions(self, out: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return a legal action for each hand, all as likely.

        They come from the random words of the hands themselves: the same seed gives the same
        play, whatever was drawn elsewhere and however many hands there are.

        Parameters
        ----------
        out : (n,) array of int64, optional
            Written and returned: an ordinary array, in one piece and writable.

        Raises
        ------
        RulesError
            If `out` is no such array, or no hands have been dealt.
        """
        if self.seed < 0:
            raise RulesError("no hands have been dealt: reset")
        chosen = np.empty(self.n, np.int64) if out is None else out
        right = type(chosen) is np.ndarray and chosen.shape == (self.n,)  # none masked, say
        if not right or chosen.dtype != np.int64 or not chosen.flags.carray:
            raise RulesError(f"out: give an array of {self.n} int64, in one piece and writable")
        _choose_all(self._hands.states, self._hands.legal, chosen)
        return chosen
