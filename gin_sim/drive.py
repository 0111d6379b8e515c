"""The same loops as in :mod:`gin_sim.play`, in plain Python: for Python agents.

One hand at a time, one call a decision, every answer checked.  It is also how a hand is
replayed, and how a hand is finished in which a compiled agent raised an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import numpy as np

from gin_sim import scoring
from gin_sim import state as machine
from gin_sim.cards import card_name, cards_of
from gin_sim.command import Line, Question
from gin_sim.compiled import kernel, readable
from gin_sim.errors import PlayError
from gin_sim.limits import Blame, OutOfTimeError, ask_in_time, took_longer
from gin_sim.play import Desk, Order, finish_game, write_row
from gin_sim.policy import prepare
from gin_sim.protocol import IllegalAnswerError, Message, game_ends, hand_ends, hand_starts
from gin_sim.registry import DECISIONS, Agent, one_line
from gin_sim.rules import Rules
from gin_sim.show import fill_view
from gin_sim.stops import raise_swallowed
from gin_sim.view import DISCARD, KNOCK, OVER, PHASES, as_view


class Watcher(Protocol):
    """Somebody who is told of each hand as it is played."""

    def start(self) -> None:
        """Take note that cards have been dealt."""

    def decided(self, seat: int, decision: str, answer: Any) -> None:
        """Take note of an answer to draw, discard or knock, which has not taken effect yet."""

    def forfeited(self, error: PlayError) -> None:
        """Take note that a player loses the hand by what it did."""

    def end(self) -> None:
        """Take note that the hand is over."""


class Player:
    """An agent as the slow path asks it: three calls on a view record.

    Parameters
    ----------
    seconds : float, optional
        The most that a decision may take; a compiled agent, which cannot be interrupted,
        takes what it takes, and a program of its own always has a limit.
    rules : Rules, optional
        What a program is told of the rules; the standard ones if not given.
    """

    def __init__(
        self,
        agent: Agent,
        label: str,
        seconds: float | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.label = label
        self.seconds = None if agent.compiled or agent.external else seconds
        self.params = agent.param_values
        self.compiled = agent.compiled
        if agent.compiled:
            self.draw, self.discard, self.knock = prepare(agent)[:3]
        else:
            self.draw, self.discard, self.knock = agent.draw, agent.discard, agent.knock
        self.line: Line | None = None
        if isinstance(agent.draw, Question):
            self.line = Line(agent.draw.command, seconds, rules or Rules())
            for decision in DECISIONS:
                if isinstance(getattr(agent, decision), Question):
                    setattr(self, decision, partial(self.line.ask, decision))

    def tell(self, message: Message) -> None:
        """Tell a program what goes on; others need not be told."""
        if self.line is not None:
            self.line.tell(message)

    def hang_up(self) -> None:
        """Let others have the program that this player has asked, if it has."""
        if self.line is not None:
            self.line.hang_up()

    def ask(self, decision: str, record: Any, blame: Blame | None = None) -> Any:
        """Return what the agent answers to a view.

        Parameters
        ----------
        blame : callable, optional
            As for :func:`gin_sim.limits.ask_in_time`.

        Raises
        ------
        OutOfTimeError
            If there is a limit and it took longer.
        """
        view = record if self.compiled else as_view(record)
        try:
            if self.seconds is None:
                return getattr(self, decision)(view, self.params)
            return ask_in_time(self.seconds, getattr(self, decision), view, self.params, blame)
        finally:
            raise_swallowed()


def _checked(decision: str, answer: Any, state: Any) -> bool | int:
    """Return an answer as the machine takes it."""
    if decision != "discard":
        if isinstance(answer, bool | np.bool_):
            return bool(answer)
        raise IllegalAnswerError(f"answered {answer!r} to {decision}; allowed is True or False")
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        card = int(answer)
        if 0 <= card < 52 and int(state["legal_discards"]) >> card & 1:
            return card
    raise IllegalAnswerError(illegal_card(answer, state))


def answer_of(
    player: Player, decision: str, view: Any, state: Any, blame: Blame | None = None
) -> bool | int:
    """Return what a player answers, as the machine takes it.

    Parameters
    ----------
    view : record
        What the player sees.
    state : record
        With `legal_discards` and `taken`: of the hand, or the view again.
    blame : callable, optional
        As for :func:`gin_sim.limits.ask_in_time`.

    Raises
    ------
    IllegalAnswerError
        For an exception, which is then its cause, an answer that is not allowed or one
        that takes too long.
    """
    try:
        return _checked(decision, player.ask(decision, view, blame), state)
    except (IllegalAnswerError, KeyboardInterrupt):
        raise
    except OutOfTimeError:
        raise IllegalAnswerError(took_longer(player.seconds or 0.0)) from None
    except BaseException as error:
        raise IllegalAnswerError(describe_exception(error)) from error


def illegal_card(answer: Any, state: Any) -> str:
    """Say in words why a card cannot be thrown, and which can."""
    legal = ", ".join(f"{c} ({card_name(c)})" for c in cards_of(int(state["legal_discards"])))
    shown = repr(answer)
    if isinstance(answer, int | np.integer) and 0 <= int(answer) < 52:
        name = card_name(int(answer))
        taken = int(answer) == int(state["taken"])
        why = "just taken from the pile" if taken else "not in its hand"
        shown = f"{int(answer)} ({name}, {why})"
    return f"threw {shown}; allowed are {legal}"


def blame(label: str, seed: int, state: Any, what: str) -> PlayError:
    """Return the error for what an agent did at the decision that a state stands at."""
    seat = int(state["seat"])
    # Whatever an agent says: it comes to a terminal, and into files of one line each.
    told = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in what)
    error = PlayError(
        f"agent '{label}' {told} [seed {seed}, deal {int(state['deal'])}, "
        f"mirror {int(state['mirror'])}, {('non-dealer', 'dealer')[seat]}, "
        f"turn {int(state['turn']) + 1}, phase {PHASES[int(state['phase'])]}, "
        f"decision {int(state['decisions'][seat])}]"
    )
    error.deal, error.mirror = int(state["deal"]), int(state["mirror"])
    return error


def describe_exception(error: BaseException) -> str:
    """Return an agent's exception in one line."""
    return f"raised {one_line(error)}"


# Records by themselves are dear to hand to compiled code; the arrays of a desk are not.


@kernel
def _show(desk: Desk, seat: int) -> None:
    """Write what the seat to act may know into its view."""
    state = desk.state[0]
    fill_view(state, state.views[seat])


@kernel
def _decide(desk: Desk, answer: int) -> None:
    """Make the decision that is due, with an answer that is legal: a card, or 1 for yes."""
    state, rules = desk.state[0], desk.rules[0]
    if state.phase == DISCARD:
        machine.decide_discard(state, rules, answer)
    elif state.phase == KNOCK:
        machine.decide_knock(state, rules, answer == 1)
    else:
        machine.decide_draw(state, rules, answer == 1)


def drive_decision(desk: Desk, player: Player, seed: int, watch: Watcher | None = None) -> None:
    """Let a player make the decision that a desk's state stands at.

    Raises
    ------
    PlayError
        For an exception, an answer that is not allowed or one that takes too long; the
        state stays at the decision.
    """
    state = desk.state[0]
    seat, phase = int(state["seat"]), int(state["phase"])

    def stuck(what: str) -> PlayError:
        return blame(player.label, seed, state, what)

    _show(desk, seat)
    view = readable(state["views"])[seat]
    decision = {DISCARD: "discard", KNOCK: "knock"}.get(phase, "draw")
    try:
        answer = answer_of(player, decision, view, state, stuck)
    except IllegalAnswerError as error:
        raise stuck(str(error)) from error.__cause__
    if watch is not None:
        watch.decided(seat, decision, answer)
    _decide(desk, int(answer))


def drive_hand(
    desk: Desk, players: tuple[Player, Player], seed: int, watch: Watcher | None = None
) -> None:
    """Play the hand in a desk's state to its end, seat by seat.

    Parameters
    ----------
    players : non-dealer, dealer

    Raises
    ------
    PlayError
        As for :func:`drive_decision`.
    """
    state = desk.state[0]
    while int(state["phase"]) != OVER:
        drive_decision(desk, players[int(state["seat"])], seed, watch)


def drive_deal(
    desk: Desk,
    players: tuple[Player, Player],
    order: Order,
    number: int,
    mirror: int,
    dealer: int,
    watch: Watcher | None = None,
) -> None:
    """Deal and play one hand between players a and b; forfeit it where that is allowed."""
    state, rules = desk.state[0], desk.rules[0]
    state["deal"], state["mirror"], state["dealer"] = number, mirror, dealer
    machine.deal_number(state, rules, order.seed, number)
    seats = (players[1], players[0]) if dealer == 0 else players
    if watch is not None:
        watch.start()
    for seat, player in enumerate(seats):
        player.tell(hand_starts(state, seat))
    try:
        drive_hand(desk, seats, order.seed, watch)
    except PlayError as error:
        if not order.forgiving:
            raise
        if watch is not None:
            watch.forfeited(error)
        machine.forfeit(state, rules)
    for seat, player in enumerate(seats):
        player.tell(hand_ends(state, seat))
    if watch is not None:
        watch.end()


@contextmanager
def on_the_line(players: tuple[Player, Player]) -> Iterator[tuple[Player, Player]]:
    """Lend players, and let their programs go when what is played is over, however it ends."""
    try:
        yield players
    finally:
        for player in players:
            player.hang_up()


def drive_mirror(
    desk: Desk,
    order: Order,
    number: int,
    mirror: int,
    players: tuple[Player, Player],
    row: Any,
    watch: Watcher | None = None,
) -> None:
    """Play one of a deal's two hands as :func:`gin_sim.play.play_hands` does."""
    state, dealer = desk.state[0], 1 - mirror
    state["scores"][:] = 0
    with on_the_line(players):
        drive_deal(desk, players, order, number, mirror, dealer, watch)
    row["deal"], row["mirror"], row["game"], row["hand"] = number, mirror, -1, 0
    write_row(row, state, dealer)


def drive_game(
    desk: Desk,
    order: Order,
    number: int,
    mirror: int,
    players: tuple[Player, Player],
    rows: Any,
    game: Any,
    watch: Watcher | None = None,
) -> int:
    """Play one game as :func:`gin_sim.play.play_games` does; return how many hands."""
    with on_the_line(players):
        state, rules, sheet = desk.state[0], desk.rules[0], desk.sheet[0]
        scoring.clear_sheet(sheet, rules)
        for player in players:
            player.tell({"type": "game"})
        dealer, points, k = 1 - mirror, 0, 0
        while k < scoring.MAX_GAME_HANDS and not scoring.sheet_over(sheet):
            column = int(scoring.open_column(sheet))
            state["scores"][1 - dealer] = sheet["score"][column, 0]
            state["scores"][dealer] = sheet["score"][column, 1]
            deal_number = scoring.MAX_GAME_HANDS * number + k
            drive_deal(desk, players, order, deal_number, mirror, dealer, watch)
            row = rows[k]
            row["deal"], row["mirror"], row["game"], row["hand"] = deal_number, mirror, number, k
            won = int(write_row(row, state, dealer))
            points += won
            winner = int(row["winner"])
            if winner >= 0:
                boxes = int(state["multiplier"]) if rules["double_boxes"] else 1
                scoring.enter_hand(sheet, rules, winner, abs(won), boxes)
            dealer = int(scoring.next_dealer(dealer, winner, rules))
            k += 1
        game["game"], game["mirror"], game["points_a"], game["hands"] = number, mirror, points, k
        finish_game(game, sheet, rules)
        for which, player in enumerate(players):
            player.tell(game_ends(game, which))
        return k
