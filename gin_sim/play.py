"""Agents in front of the state machine: compiled loops over hands and games.

The kernels are compiled once, for every agent that will ever be written: an agent's
decisions come in as numba first-class functions.  An exception that an agent raises
leaves the loop; the state then says where it happened.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaExperimentalFeatureWarning

from gin_sim.bits import popcount
from gin_sim.chance import deal_key
from gin_sim.compiled import JIT_DISABLED, kernel, once, records
from gin_sim.hand_record import STATE_DTYPE
from gin_sim.scoring import (
    MAX_GAME_HANDS,
    RULES_DTYPE,
    SHEET_DTYPE,
    clear_sheet,
    column_winner,
    enter_hand,
    game_margin,
    next_dealer,
    open_column,
    sheet_over,
)
from gin_sim.show import fill_view
from gin_sim.state import (
    deal,
    decide_discard,
    decide_draw,
    decide_knock,
    forfeit,
    stock_left,
)
from gin_sim.view import DISCARD, KNOCK, OVER, VIEW_DTYPE

VIEW_TYPE = numba.from_dtype(VIEW_DTYPE)
PARAMS_TYPE = types.float64[::1]

# numba calls first-class functions experimental, at every use of them.  This one warning
# is silenced here, where the signatures are declared; a test pins what is relied on.
warnings.filterwarnings(
    "ignore", "First-class function type feature", NumbaExperimentalFeatureWarning
)
BOOL_DECISION = types.FunctionType(types.boolean(VIEW_TYPE, PARAMS_TYPE))
CARD_DECISION = types.FunctionType(types.int64(VIEW_TYPE, PARAMS_TYPE))


class Policy(NamedTuple):
    """The three compiled decisions of an agent and its parameters.

    numba turns plain tuples of functions into what the loops were compiled for, but not
    named ones: hand a ``tuple(policy)`` to the functions that start a loop.
    """

    draw: Any
    discard: Any
    knock: Any
    params: Any


POLICY_TYPE = types.Tuple([BOOL_DECISION, CARD_DECISION, BOOL_DECISION, PARAMS_TYPE])
PlainPolicy = tuple[Any, Any, Any, Any]

ROW_DTYPE = np.dtype(
    [
        ("deal", "i8"),
        ("points_a", "i4"),
        ("game", "i4"),
        ("hand", "i2"),
        ("turns", "i2"),
        ("knock_deadwood", "i2"),
        ("defender_deadwood_before_layoff", "i2"),
        ("defender_deadwood", "i2"),
        ("dealt_deadwood_a", "i2"),
        ("dealt_deadwood_b", "i2"),
        ("mirror", "i1"),
        ("dealer", "i1"),
        ("ender", "i1"),
        ("outcome", "i1"),
        ("winner", "i1"),
        ("stock_left", "i1"),
        ("cards_laid_off", "i1"),
        ("first_chance_a", "i1"),
        ("first_chance_b", "i1"),
        ("first_upcard", "i1"),
        ("knock_limit", "i1"),
    ],
    align=True,
)
"""The facts of a hand; players a and b are 0 and 1, and -1 stands for none."""

GAME_DTYPE = np.dtype(
    [
        (name, "i8")
        for name in (
            "game",
            "mirror",
            "winner",
            "margin_a",
            "points_a",
            "hands",
            "wins_a",
            "wins_b",
        )
    ],
    align=True,
)
"""The result of a game; the winner is that of most closed columns."""

# What a kernel returns beside how far it came.
DONE = 0
ILLEGAL = 1
FULL = 2


class Desk(NamedTuple):
    """The memory that a run of hands works in: one per thread.

    Attributes
    ----------
    state, rules, sheet : record arrays
        Of length 1.
    """

    state: Any
    rules: Any
    sheet: Any


def new_desk(rules: Any) -> Desk:
    """Return fresh memory for hands under compiled rules."""
    return Desk(records(1, STATE_DTYPE), rules, records(1, SHEET_DTYPE))


STATES_TYPE = numba.from_dtype(STATE_DTYPE)[::1]
DESK_TYPE = types.NamedTuple(
    [STATES_TYPE, *(numba.from_dtype(d)[::1] for d in (RULES_DTYPE, SHEET_DTYPE))], Desk
)


class Order(NamedTuple):
    """What to play: which deals or games, with which seed, and how to take illegal play.

    Attributes
    ----------
    seed, first, count : int
        `count` deals (or games) from number `first` on.
    mirror : int
        The first mirror to play of the first deal: 0, or 1 to go on after a stop.
    forgiving : int
        1 books an illegal action as a forfeit, 0 stops.
    """

    seed: int
    first: int
    count: int  # type: ignore[assignment]
    mirror: int
    forgiving: int


ORDER_TYPE = types.NamedUniTuple(types.int64, 5, Order)


@kernel
def as_policy(parts: PlainPolicy) -> Policy:
    """Name the parts of a plain tuple."""
    return Policy(parts[0], parts[1], parts[2], parts[3])


@kernel
def play_until(state: Any, rules: Any, phase_due: int, non_dealer: Policy, dealer: Policy) -> bool:
    """Play a hand on to its end, or to where a phase is due; see :func:`play_on`."""
    view_0, view_1 = state.views[0], state.views[1]
    # Taken out of their tuples once: numba counts references at every access.
    draw_0, discard_0, knock_0, params_0 = non_dealer
    draw_1, discard_1, knock_1, params_1 = dealer
    while state.phase != OVER and state.phase != phase_due:
        phase = state.phase
        if state.seat == 0:
            fill_view(state, view_0)
            if phase == DISCARD:
                card = discard_0(view_0, params_0)
            elif phase == KNOCK:
                yes = knock_0(view_0, params_0)
            else:
                yes = draw_0(view_0, params_0)
        else:
            fill_view(state, view_1)
            if phase == DISCARD:
                card = discard_1(view_1, params_1)
            elif phase == KNOCK:
                yes = knock_1(view_1, params_1)
            else:
                yes = draw_1(view_1, params_1)
        if phase == DISCARD:
            if not decide_discard(state, rules, card):
                state.candidate = card
                return False
        elif phase == KNOCK:
            decide_knock(state, rules, yes)
        else:
            decide_draw(state, rules, yes)
    return True


@kernel
def answer(state: Any, rules: Any, view: Any, player: Policy) -> bool:
    """Let a player answer a view that has been filled; False if its card was not legal.

    For loops that look at each decision; :func:`play_until` asks in the same way, faster.
    """
    if state.phase == DISCARD:
        return decide_discard(state, rules, player.discard(view, player.params))
    if state.phase == KNOCK:
        decide_knock(state, rules, player.knock(view, player.params))
    else:
        decide_draw(state, rules, player.draw(view, player.params))
    return True


@kernel
def play_on(desk: Desk, non_dealer: PlainPolicy, dealer: PlainPolicy) -> bool:
    """Play the hand in a desk's state to its end, from wherever it is.

    Returns
    -------
    bool
        False if an agent chose an illegal card: the state is still at that decision and
        `candidate` holds the card.
    """
    state, rules = desk.state[0], desk.rules[0]
    return play_until(state, rules, OVER, as_policy(non_dealer), as_policy(dealer))


@kernel
def points_for(state: Any, seat: int) -> int:
    """Return the points of a finished hand from a seat's side."""
    if state.winner < 0:
        return 0
    points: int = state.points if state.winner == seat else -state.points
    return points


@kernel
def write_row(row: Any, state: Any, dealer: int) -> int:
    """Write the facts of a finished hand, seats turned into players; return points of a."""
    seat_a = 1 - dealer  # player a sits at 1 when it deals (dealer 0)
    seat_b = dealer
    winner = -1 if state.winner < 0 else state.winner ^ seat_a
    points: int = points_for(state, seat_a)
    row.points_a = points
    row.turns = state.turn
    row.knock_deadwood = state.knock_deadwood
    row.defender_deadwood_before_layoff = state.defender_before
    row.defender_deadwood = state.defender_after
    row.dealt_deadwood_a = state.dealt_deadwood[seat_a]
    row.dealt_deadwood_b = state.dealt_deadwood[seat_b]
    row.dealer = dealer
    row.ender = -1 if state.ender < 0 else state.ender ^ seat_a
    row.outcome = state.outcome
    row.winner = winner
    row.stock_left = stock_left(state)
    row.cards_laid_off = popcount(state.laid_off)
    row.first_chance_a = state.first_chance[seat_a]
    row.first_chance_b = state.first_chance[seat_b]
    row.first_upcard = state.first_upcard
    row.knock_limit = state.limit
    return points


@kernel
def _one_hand(
    state: Any, rules: Any, key: Any, forgiving: int, non_dealer: Policy, dealer: Policy
) -> bool:
    """Deal and play one hand; False after an illegal action that is not forgiven."""
    deal(state, rules, key)
    if not play_until(state, rules, OVER, non_dealer, dealer):
        if not forgiving:
            return False
        forfeit(state, rules)
    return True


@kernel
def play_hands(
    desk: Desk, order: Order, a: PlainPolicy, b: PlainPolicy, rows: Any
) -> tuple[int, int]:
    """Play mirrored deals, two hands each: first b deals, then a.

    Parameters
    ----------
    rows : (2 * count,) array of ROW_DTYPE
        Filled in the order of play.

    Returns
    -------
    status, done : int
        `DONE`, or `ILLEGAL` with the number of hands finished before.
    """
    state, rules = desk.state[0], desk.rules[0]
    state.scores[0] = 0
    state.scores[1] = 0
    policy_a, policy_b = as_policy(a), as_policy(b)
    n = 0
    for i in range(order.mirror, 2 * order.count):
        number = order.first + (i >> 1)
        key = deal_key(order.seed, number)
        dealer = 1 - (i & 1)
        state.deal = number
        state.mirror = i & 1
        state.dealer = dealer
        state.rows_done = n
        first, second = (policy_b, policy_a) if dealer == 0 else (policy_a, policy_b)
        if not _one_hand(state, rules, key, order.forgiving, first, second):
            return ILLEGAL, n
        row = rows[n]
        row.deal = number
        row.mirror = i & 1
        row.game = -1
        row.hand = 0
        write_row(row, state, dealer)
        n += 1
    return DONE, n


@kernel
def finish_game(game: Any, sheet: Any, rules: Any) -> None:
    """Write who won a game: the winner of most closed columns, or -1 if there is none."""
    balance = 0
    for column in range(sheet.n_columns):
        winner = column_winner(sheet, rules, column)
        if winner >= 0:
            balance += 1 - 2 * winner
    game.margin_a = game_margin(sheet, rules)
    game.wins_a = sheet.wins[0]
    game.wins_b = sheet.wins[1]
    game.winner = 0 if balance > 0 else (1 if balance < 0 else -1)


@kernel
def play_games(
    desk: Desk, order: Order, a: PlainPolicy, b: PlainPolicy, rows: Any, games: Any
) -> tuple[int, int, int]:
    """Play mirrored games, two each: b deals the first hand of one, a of the other.

    Hand k of game g is deal ``MAX_GAME_HANDS * g + k`` in both, whatever came before.

    Returns
    -------
    status, n_games, n_hands : int
        `FULL` if `rows` could not take another game: go on from there.  After
        `ILLEGAL` the hands of the unfinished game are not counted.
    """
    state, rules, sheet = desk.state[0], desk.rules[0], desk.sheet[0]
    policy_a, policy_b = as_policy(a), as_policy(b)
    n = 0
    n_games = 0
    for i in range(order.mirror, 2 * order.count):
        if n + MAX_GAME_HANDS > rows.shape[0]:
            return FULL, n_games, n
        state.rows_done = n
        state.games_done = n_games
        number = order.first + (i >> 1)
        clear_sheet(sheet, rules)
        dealer = 1 - (i & 1)
        points = 0
        k = 0
        while k < MAX_GAME_HANDS and not sheet_over(sheet):
            column = open_column(sheet)
            state.scores[1 - dealer] = sheet.score[column, 0]
            state.scores[dealer] = sheet.score[column, 1]
            deal_number = MAX_GAME_HANDS * number + k
            key = deal_key(order.seed, deal_number)
            state.deal = deal_number
            state.mirror = i & 1
            state.dealer = dealer
            first, second = (policy_b, policy_a) if dealer == 0 else (policy_a, policy_b)
            if not _one_hand(state, rules, key, order.forgiving, first, second):
                return ILLEGAL, n_games, n
            row = rows[n + k]
            row.deal = deal_number
            row.mirror = i & 1
            row.game = number
            row.hand = k
            points += write_row(row, state, dealer)
            if row.winner >= 0:
                boxes = state.multiplier if rules.double_boxes else 1
                enter_hand(sheet, rules, row.winner, abs(row.points_a), boxes)
            dealer = next_dealer(dealer, row.winner, rules)
            k += 1
        game = games[n_games]
        game.game = number
        game.mirror = i & 1
        game.points_a = points
        game.hands = k
        finish_game(game, sheet, rules)
        n_games += 1
        n += k
    return DONE, n_games, n


@once
def compile_engine() -> None:
    """Compile the loops for all agents, or take them from the cache."""
    if JIT_DISABLED:
        return
    rows = numba.from_dtype(ROW_DTYPE)[::1]
    games = numba.from_dtype(GAME_DTYPE)[::1]
    start: Any = (DESK_TYPE, ORDER_TYPE, POLICY_TYPE, POLICY_TYPE, rows)
    hands_loop: Any = play_hands
    games_loop: Any = play_games
    on: Any = play_on
    hands_loop.compile(start)
    games_loop.compile((*start, games))
    on.compile((DESK_TYPE, POLICY_TYPE, POLICY_TYPE))
    for loop in (hands_loop, games_loop, on):
        loop.disable_compile()
