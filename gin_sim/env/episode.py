"""Single hands one after another from a seed: what the two environments for Python share."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_sim import state as machine
from gin_sim.cards import card_name, format_hand
from gin_sim.chance import deal_key
from gin_sim.checks import MAX_SEED, real_number, whole_number
from gin_sim.compiled import kernel
from gin_sim.env.actions import act_where_asked, illegal, legal_actions, n_actions, read_action
from gin_sim.env.encode import (
    ASKING,
    ASKING_SHAPES,
    FORMS,
    SHAPES,
    write_mask,
    write_observation,
)
from gin_sim.env.layoffs import (
    ALL_PHASES,
    BOTH_SEATS,
    LAYOFF,
    LAYOFFS,
    ask_for_layoffs,
    take_back,
)
from gin_sim.errors import RulesError
from gin_sim.hands import arrange, unpack_melds
from gin_sim.melds import points_of
from gin_sim.play import Desk, new_desk, points_for
from gin_sim.rules import Rules, as_rules
from gin_sim.scoring import OUTCOMES, rules_record
from gin_sim.state import deal
from gin_sim.view import OVER

Observation = dict[str, NDArray[Any]]
"""``observation`` and ``action_mask``."""

SEATS = ("non-dealer", "dealer")
RENDER_MODES = ("ansi", "human")


def one_of(value: Any, name: str, allowed: tuple[Any, ...]) -> Any:
    """Return a setting that is one of a few.

    Raises
    ------
    RulesError
        Naming the setting, the value and what is allowed.
    """
    named = value is None or isinstance(value, str)  # an array is equal to nothing, or to much
    if not named or value not in allowed:
        raise RulesError(f"{name} = {value!r}: allowed is {' or '.join(map(repr, allowed))}")
    return value


def points_scale(value: Any) -> float:
    """Return the factor from points to rewards, checked."""
    return real_number(value, "reward_scale", 1e-9, 1e9, RulesError)


def layout(form: str | None, layoff: str) -> tuple[int, tuple[int, ...]]:
    """Return what kernels call a form of observation, and its shape, by how lay-offs are chosen."""
    asks = layoff == "ask"
    shape = (ASKING_SHAPES if asks else SHAPES)[form] if form else (0,)
    return FORMS[form] | (ASKING if asks else 0), shape


# Records by themselves are dear to hand to compiled code; the arrays of a desk are not.


@kernel
def _deal(desk: Desk, seed: int, number: int) -> None:
    """Deal a hand by its number."""
    state = desk.state[0]
    state.deal = number
    deal(state, desk.rules[0], deal_key(seed, number))


@kernel
def _legal(desk: Desk) -> int:
    """Return the legal actions."""
    return legal_actions(desk.state[0])


@kernel
def _act(desk: Desk, action: int, asked: int) -> None:
    """Take a legal action."""
    act_where_asked(desk.state[0], desk.rules[0], action, asked)


@kernel
def _ask(desk: Desk, asked: int) -> None:
    """Open a knock that was made elsewhere, if its defender is to be asked."""
    ask_for_layoffs(desk.state[0], desk.rules[0], asked)


@kernel
def _forfeit(desk: Desk) -> None:
    """End the hand lost by the seat to act."""
    state = desk.state[0]
    if state.phase == LAYOFF:
        take_back(state)
    machine.forfeit(state, desk.rules[0])


@kernel
def _look(desk: Desk, seat: int, form: int, out: Any, mask: Any) -> None:
    """Write what a seat observes, and its legal actions into a mask of zeros."""
    state = desk.state[0]
    write_observation(out, state, seat, form)
    if state.seat == seat:
        write_mask(mask, legal_actions(state))


class Episode:
    """A hand in progress, and the deals that follow it.

    Parameters
    ----------
    rules : Rules, str, optional
        Rules or the name of a preset; the standard rules if not given.
    observation : str
        ``flat`` or ``planes``.
    reward_scale : float
        What a point is worth.
    on_illegal : str
        ``error`` raises at an action that is not legal, ``forfeit`` books the hand as lost.
    render_mode : str, optional
        ``ansi`` or ``human``.
    layoff : str
        ``best`` or ``ask``.

    Attributes
    ----------
    asked : int
        The seats that choose what they lay off, as bits.
    """

    def __init__(
        self,
        rules: Rules | str | None,
        observation: str,
        reward_scale: float,
        on_illegal: str,
        render_mode: str | None,
        layoff: str,
    ) -> None:
        self.rules = as_rules(rules)
        one_of(observation, "observation", tuple(SHAPES))
        self.layoff: str = one_of(layoff, "layoff", LAYOFFS)
        self.asked = BOTH_SEATS if self.layoff == "ask" else 0
        self._n_actions = n_actions(self.layoff)
        self._form, self._shape = layout(observation, self.layoff)
        self.scale = points_scale(reward_scale)
        self.on_illegal: str = one_of(on_illegal, "on_illegal", ("error", "forfeit"))
        self.render_mode: str | None = one_of(render_mode, "render_mode", (None, *RENDER_MODES))
        self.desk = new_desk(rules_record(self.rules))
        self.state["dealer"] = 1
        self.state["phase"] = OVER
        self.seed = -1  # of no seed, until dealt
        self.deal = -1
        self.fault: str | None = None
        self._taken: list[int] = []

    def start(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Deal a hand: the first of a seed, or the next one.

        Parameters
        ----------
        seed : int, optional
            A new seed, of which deal 0 is dealt.  Without any the next deal of the seed in
            use is; the very first seed is then drawn from the operating system.
        options : dict, optional
            ``deal`` chooses a deal by its number; of anything else a warning says that it
            does nothing, since PettingZoo wants every option to be taken.

        Raises
        ------
        RulesError
            For a seed or a deal that is no whole number 0..2**63 - 1.
        """
        if options is not None and not isinstance(options, Mapping):
            raise RulesError(f"options = {options!r}: give a dict, such as {{'deal': 3}}")
        if strange := sorted(repr(name) for name in options or () if name != "deal"):
            warnings.warn(f"options {', '.join(strange)} do nothing: 'deal' does", stacklevel=3)
        following = self.deal + 1 if seed is None else 0
        number = (options or {}).get("deal", following)
        number = whole_number(number, "deal", 0, MAX_SEED, RulesError)
        if seed is not None:
            self.seed = whole_number(seed, "seed", 0, MAX_SEED, RulesError)
        elif self.seed < 0:
            self.seed = secrets.randbelow(1 << 32)
        self.deal, self.fault, self._taken = number, None, []
        _deal(self.desk, self.seed, number)

    def next_deal(self) -> None:
        """Deal the next hand of the seed."""
        self.start(None, None)

    @property
    def state(self) -> Any:
        """The record of the hand; never kept, since a copy of it would not follow."""
        return self.desk.state[0]

    @property
    def seat(self) -> int:
        """Who is to act: 0 is the non-dealer, 1 the dealer."""
        return int(self.state["seat"])

    @property
    def over(self) -> bool:
        """Whether the hand is over, or none has been dealt."""
        return int(self.state["phase"]) == OVER

    def where(self) -> str:
        """Say how to come to this decision again."""
        if self.seed < 0:
            return "no hand has been dealt: reset"
        taken = f", actions {' '.join(map(str, self._taken))}" if self._taken else ""
        return f"to replay: reset(seed={self.seed}, options={{'deal': {self.deal}}}){taken}"

    def act(self, action: Any) -> None:
        """Take an action of the seat to act.

        Raises
        ------
        RulesError
            If it is not legal, or the hand is over; with ``forfeit`` only if it is no action
            of the space at all, such as 53.0 or 60, or the hand is over.
        """
        number, legal = read_action(action, self._n_actions), int(_legal(self.desk))
        if number >= 0 and legal >> number & 1:
            self._taken.append(number)
            _act(self.desk, number, self.asked)
            return
        phase = int(self.state["phase"])
        error = illegal(action, legal, phase, self.where(), self._n_actions)
        if number < 0 or self.over or self.on_illegal == "error":
            raise error
        self.fault = str(error)
        _forfeit(self.desk)

    def ask(self) -> None:
        """Ask for lay-offs if somebody has knocked who did not act through this episode."""
        if self.asked:
            _ask(self.desk, self.asked)

    def reward(self, seat: int) -> float:
        """Return what the hand has brought a seat: 0 until it is over."""
        return self.scale * float(points_for(self.state, seat)) if self.over else 0.0

    def observe(self, seat: int) -> Observation:
        """Return what a seat observes now, in arrays of its own.

        Raises
        ------
        RulesError
            If no hand has been dealt.
        """
        if self.seed < 0:
            raise RulesError(self.where())
        out, mask = np.zeros(self._shape, np.uint8), np.zeros(self._n_actions, np.int8)
        _look(self.desk, seat, self._form, out.reshape(-1), mask)
        return {"observation": out, "action_mask": mask}

    def info(self) -> dict[str, Any]:
        """Return which hand this is and, at its end, how it ended."""
        info: dict[str, Any] = {"seed": self.seed, "deal": self.deal}
        if self.over:
            info["outcome"] = OUTCOMES[int(self.state["outcome"])]
        if self.fault is not None:
            info["illegal"] = self.fault
        return info

    def text(self, names: tuple[str, str], hidden: int | None = None) -> str:
        """Return the hand as a text for people.

        Parameters
        ----------
        names : tuple of str
            Of the seats.
        hidden : int, optional
            A seat whose cards are not shown before the hand is over.
        """
        state = self.state
        phase = ALL_PHASES[int(state["phase"])]
        upcard = int(state["upcard"])
        lines = [
            f"seed {self.seed}, deal {self.deal}, turn {int(state['turn']) + 1}, phase {phase}, "
            f"knock limit {int(state['limit'])}, stock {int(machine.stock_left(state))}",
            f"upcard {card_name(upcard) if upcard >= 0 else '-'}, "
            f"pile {format_hand(int(state['pile'])) or '-'}",
        ]
        on_table = unpack_melds(int(state["knock_sets"]), int(state["knock_runs"]))
        if self.layoff == "ask" and on_table:
            laid_off = format_hand(int(state["laid_off"])) or "-"
            shown = " | ".join(map(format_hand, on_table))
            lines.append(f"on the table {shown}, laid off {laid_off}")
        for seat in range(2):
            to_act = "*" if seat == self.seat and not self.over else " "
            cards = "?"
            if seat != hidden or self.over:
                held = int(state["hands"][seat])
                if self.layoff == "ask":
                    held &= ~int(state["laid_off"])
                cards = self._laid_out(held, on_table if seat == int(state["ender"]) else ())
            lines.append(f"{to_act} {names[seat]} ({SEATS[seat]}): {cards}")
        if self.over:
            lines.append(f"over: {OUTCOMES[int(state['outcome'])]}, {self._who_won(names)}")
        return "\n".join(lines)

    def _laid_out(self, held: int, melds: tuple[int, ...]) -> str:
        """Return cards in the melds that lie on the table, or else in their best ones."""
        if melds:
            rest = held & ~sum(melds)
            texts, deadwood = list(map(format_hand, melds)), int(points_of(rest))
        else:
            found = arrange(held, self.rules)
            texts, rest, deadwood = [*found.meld_texts()], found.unmatched, found.deadwood
        parts = [*texts, format_hand(rest)]
        return f"{' | '.join(part for part in parts if part)}  ({deadwood})"

    def _who_won(self, names: tuple[str, str]) -> str:
        winner = int(self.state["winner"])
        if winner < 0:
            return "nobody scores"
        return f"{names[winner]} wins {int(self.state['points'])}"

    def render(self, names: tuple[str, str], hidden: int | None = None) -> str | None:
        """Return the text, or print it, or do nothing, as the render mode says.

        Raises
        ------
        RulesError
            If no hand has been dealt.
        """
        if self.render_mode is None:
            return None
        if self.seed < 0:
            raise RulesError(self.where())
        text = self.text(names, hidden)
        if self.render_mode == "ansi":
            return text
        print(text)  # noqa: T201
        return None
