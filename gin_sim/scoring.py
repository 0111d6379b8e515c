"""What a hand and a game are worth: the one place where facts are priced.

A hand leaves facts (how it ended, who knocked, both deadwoods); :func:`hand_points`
prices them.  A game is a :data:`SHEET_DTYPE` record, or for people a
:class:`ScoreSheet`: one column, or three under Hollywood scoring.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gin_sim.checks import whole_number
from gin_sim.compiled import kernel, records
from gin_sim.errors import RulesError
from gin_sim.rules import NO_LIMIT, Rules, as_rules

DEAD = 0
KNOCKED = 1
UNDERCUT = 2
GIN = 3
BIG_GIN = 4
FORFEIT = 5

OUTCOMES = ("dead", "knock", "undercut", "gin", "big_gin", "forfeit")
"""How a hand can end; `forfeit` only where illegal play is not an error."""

WALLS = ("dead", "50th_card", "reshuffle")

MAX_GAME_HANDS = 1024
"""A game not won after so many hands (all of them dead, say) ends undecided."""

_FLAGS = (
    "undercut_on_tie",
    "double_boxes",
    "may_throw_taken",
    "hollywood",
)
_NUMBERS = (
    "gin_bonus",
    "undercut_bonus",
    "pile_draw_limit",
    "turn_limit",
    "target",
    "game_bonus",
    "line_bonus",
    "shutout_bonus",
)
_DERIVED = (
    "big_gin_bonus",
    "longest_meld",
    "thrown_back_limit",
    "wall",
    "alternate_after_dead",
    "next_dealer",
    "line_at_once",
    "shutout",
    "late_start_lost",
)
RULES_DTYPE = np.dtype(
    [(name, "i8") for name in _FLAGS + _NUMBERS + _DERIVED]
    + [("limit", "i8", (52,)), ("multiplier", "i8", (52,))],
    align=True,
)
"""The rules as kernels read them: numbers, with the limit and factor of each upcard."""


def rules_record(rules: Rules) -> Any:
    """Return rules as a record array of length one, for kernels."""
    return _rules_record(rules).copy()


@lru_cache(maxsize=64)
def _rules_record(rules: Rules) -> Any:
    out = records(1, RULES_DTYPE)
    record = out[0]
    for name in _FLAGS + _NUMBERS:
        record[name] = getattr(rules, name)
    record["big_gin_bonus"] = -1 if rules.big_gin_bonus is None else rules.big_gin_bonus
    record["longest_meld"] = rules.longest_meld or NO_LIMIT
    record["thrown_back_limit"] = rules.thrown_back_limit or 1 << 30
    record["wall"] = WALLS.index(rules.wall)
    record["alternate_after_dead"] = rules.dead_hand == "alternate"
    record["next_dealer"] = ("alternate", "winner", "loser").index(rules.next_dealer)
    record["line_at_once"] = rules.line_bonus_when == "at_once"
    record["shutout"] = ("none", "bonus", "double").index(rules.shutout)
    record["late_start_lost"] = rules.hollywood_late_start == "fixed"
    record["limit"] = [rules.limit_for(card) for card in range(52)]
    record["multiplier"] = [2 if rules.doubles(card) else 1 for card in range(52)]
    return out


@kernel
def knock_outcome(knock_deadwood: int, defender_deadwood: int, rules: Any) -> int:
    """Return how a knock ends, given both deadwoods after lay-offs."""
    if knock_deadwood == 0:
        return GIN
    if defender_deadwood < knock_deadwood:
        return UNDERCUT
    if defender_deadwood == knock_deadwood and rules.undercut_on_tie:
        return UNDERCUT
    return KNOCKED


@kernel
def hand_points(
    outcome: int, knock_deadwood: int, defender_deadwood: int, multiplier: int, rules: Any
) -> int:
    """Return the points of a hand, 0 or more, for whoever won it.

    A forfeited hand is priced as if the other player had gone gin against it:
    `defender_deadwood` is then the offender's.
    """
    difference = defender_deadwood - knock_deadwood
    if outcome == KNOCKED:
        points = difference
    elif outcome == UNDERCUT:
        points = rules.undercut_bonus - difference
    elif outcome == GIN or outcome == FORFEIT:
        points = rules.gin_bonus + defender_deadwood
    elif outcome == BIG_GIN:
        points = rules.big_gin_bonus + defender_deadwood
    else:
        points = 0
    return points * multiplier


COLUMNS = 3
SHEET_DTYPE = np.dtype(
    [
        ("score", "i8", (COLUMNS, 2)),
        ("boxes", "i8", (COLUMNS, 2)),
        ("entered", "i8", (COLUMNS, 2)),
        ("closed", "i8", (COLUMNS,)),
        ("wins", "i8", (2,)),
        ("n_columns", "i8"),
    ],
    align=True,
)
"""A score sheet: for each column and player points, boxes and whether entered in it."""


@kernel
def clear_sheet(sheet: Any, rules: Any) -> None:
    """Start a game on a sheet."""
    for column in range(COLUMNS):
        sheet.closed[column] = 0
        for player in range(2):
            sheet.score[column, player] = 0
            sheet.boxes[column, player] = 0
            sheet.entered[column, player] = 0
    sheet.wins[0] = 0
    sheet.wins[1] = 0
    sheet.n_columns = COLUMNS if rules.hollywood else 1


@kernel
def sheet_over(sheet: Any) -> bool:
    """Return whether every column of a sheet is closed."""
    for column in range(sheet.n_columns):
        if not sheet.closed[column]:
            return False
    return True


@kernel
def open_column(sheet: Any) -> int:
    """Return the first open column, whose scores a view shows; the last if none is."""
    column = 0
    while column < sheet.n_columns - 1 and sheet.closed[column]:
        column += 1
    return column


@kernel
def enter_hand(sheet: Any, rules: Any, player: int, points: int, boxes: int) -> None:
    """Enter a won hand: in every open column the player is in, and in one more.

    A player's first win is entered in game one, the second in one and two, later ones in
    all three.  A player who is blank where a game has closed starts in the next open
    one; with `hollywood_late_start` "fixed" that entry is lost.
    """
    sheet.wins[player] += 1
    started = False
    for column in range(sheet.n_columns):
        if sheet.closed[column] and not (
            rules.late_start_lost and not sheet.entered[column, player]
        ):
            continue
        if not sheet.entered[column, player]:
            if started:
                continue
            started = True
            sheet.entered[column, player] = 1
            if sheet.closed[column]:
                continue
        sheet.score[column, player] += points
        sheet.boxes[column, player] += boxes
        if rules.line_at_once:
            sheet.score[column, player] += boxes * rules.line_bonus
        if sheet.score[column, player] >= rules.target:
            sheet.closed[column] = 1


@kernel
def column_winner(sheet: Any, rules: Any, column: int) -> int:
    """Return who won a column: 0, 1, or -1 while it is open."""
    if not sheet.closed[column]:
        return -1
    return 0 if sheet.score[column, 0] >= rules.target else 1


@kernel
def column_total(sheet: Any, rules: Any, column: int, player: int) -> int:
    """Return a player's total of a column: points, boxes and, if won, the game bonuses."""
    total: int = sheet.score[column, player]
    if not rules.line_at_once:
        total += sheet.boxes[column, player] * rules.line_bonus
    if column_winner(sheet, rules, column) == player:
        total += rules.game_bonus
        if sheet.boxes[column, 1 - player] == 0:
            if rules.shutout == 1:
                total += rules.shutout_bonus
            elif rules.shutout == 2:
                total *= 2
    return total


@kernel
def game_margin(sheet: Any, rules: Any) -> int:
    """Return player 0's totals minus player 1's, over all columns."""
    margin = 0
    for column in range(sheet.n_columns):
        margin += column_total(sheet, rules, column, 0) - column_total(sheet, rules, column, 1)
    return margin


@kernel
def next_dealer(dealer: int, winner: int, rules: Any) -> int:
    """Return who deals next: 0 or 1; `winner` is -1 after a hand that nobody won."""
    if winner < 0:
        return 1 - dealer if rules.alternate_after_dead else dealer
    if rules.next_dealer == 0:
        return 1 - dealer
    return winner if rules.next_dealer == 1 else 1 - winner


MAX_DEADWOOD = 100
MAX_POINTS = 1_000_000


def price_hand(
    outcome: str,
    knock_deadwood: int,
    defender_deadwood: int,
    rules: Rules | str | None = None,
    upcard: int | str | None = None,
) -> int:
    """Return the points of a hand from its facts, for whoever won it.

    Parameters
    ----------
    outcome : str
        One of :data:`OUTCOMES`.
    knock_deadwood, defender_deadwood : int
        After lay-offs; for a forfeit the second is the offender's.
    rules : Rules, optional
        The standard rules if not given.
    upcard : int, optional
        The first upcard, where the rules let it double the hand.
    """
    rules = as_rules(rules)
    if outcome not in OUTCOMES:
        raise RulesError(f"outcome {outcome!r}: allowed is {', '.join(OUTCOMES)}")
    if outcome == "big_gin" and rules.big_gin_bonus is None:
        raise RulesError("big_gin_bonus = None: these rules know no big gin")
    knock_deadwood = whole_number(knock_deadwood, "knock_deadwood", 0, MAX_DEADWOOD, RulesError)
    defender_deadwood = whole_number(
        defender_deadwood, "defender_deadwood", 0, MAX_DEADWOOD, RulesError
    )
    difference = defender_deadwood - knock_deadwood
    if (outcome == "knock" and difference < 0) or (outcome == "undercut" and difference > 0):
        raise RulesError(
            f"{outcome} with {knock_deadwood} against {defender_deadwood}: whoever counts less wins"
        )
    record = rules_record(rules)[0]
    factor = 2 if rules.doubles(upcard) else 1
    code = OUTCOMES.index(outcome)
    return int(hand_points(code, knock_deadwood, defender_deadwood, factor, record))


@dataclass(frozen=True)
class GameColumn:
    """One game on a sheet: points, boxes, totals with all bonuses, and who won.

    `totals` and `margin` are settled once the column is closed; before that they hold
    what has been earned so far.
    """

    score: tuple[int, int]
    boxes: tuple[int, int]
    totals: tuple[int, int]
    closed: bool
    winner: int | None

    @property
    def margin(self) -> int:
        """Player 0's total minus player 1's: net boxes and bonuses included."""
        return self.totals[0] - self.totals[1]


class ScoreSheet:
    """A game between players 0 and 1, hand by hand.

    Examples
    --------
    >>> sheet = ScoreSheet(Rules.preset("hollywood"))
    >>> for points in (32, 28, 45):
    ...     sheet.add(0, points)
    >>> [column.score[0] for column in sheet.columns]
    [105, 73, 45]
    """

    def __init__(self, rules: Rules | str | None = None) -> None:
        self.rules = as_rules(rules)
        self._rules = rules_record(self.rules)[0]
        self._sheet = records(1, SHEET_DTYPE)[0]
        clear_sheet(self._sheet, self._rules)

    def add(self, winner: int | None, points: int, doubled: bool = False) -> None:
        """Enter a hand: its winner (None if dead) and its points, already doubled if so."""
        if isinstance(winner, bool) or winner not in (0, 1, None):
            raise RulesError(f"winner {winner!r}: allowed is 0, 1 or None")
        points = whole_number(points, "points", 0, MAX_POINTS, RulesError)
        if self.over:
            raise RulesError("the game is over; start a new sheet")
        if winner is not None:
            boxes = 2 if doubled and self.rules.double_boxes else 1
            enter_hand(self._sheet, self._rules, winner, points, boxes)
        elif points:
            raise RulesError(f"points {points}: a hand that nobody won has none")

    @property
    def over(self) -> bool:
        """Whether every column is closed."""
        return bool(sheet_over(self._sheet))

    @property
    def columns(self) -> list[GameColumn]:
        """The games on the sheet: one, or three under Hollywood scoring."""
        sheet, rules = self._sheet, self._rules
        out = []
        for c in range(int(sheet["n_columns"])):
            winner = int(column_winner(sheet, rules, c))
            out.append(
                GameColumn(
                    score=(int(sheet["score"][c, 0]), int(sheet["score"][c, 1])),
                    boxes=(int(sheet["boxes"][c, 0]), int(sheet["boxes"][c, 1])),
                    totals=(
                        int(column_total(sheet, rules, c, 0)),
                        int(column_total(sheet, rules, c, 1)),
                    ),
                    closed=winner >= 0,
                    winner=None if winner < 0 else winner,
                )
            )
        return out

    @property
    def margin(self) -> int:
        """Player 0's totals minus player 1's over all columns."""
        return sum(column.margin for column in self.columns)
