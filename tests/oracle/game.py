"""Hands in a row: rows of mirrored deals, and games with all their bonuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gin_sim.rules import Rules
from gin_sim.view import View
from tests.oracle.hand import OUTCOMES, Facts, OracleHand

Answer = Callable[[View], Any]
"""A player: what it answers to a view."""

MOST_HANDS = 1024


def finish(hand: OracleHand, players: tuple[Answer, Answer]) -> Facts:
    """Play a hand to its end; players are given as non-dealer, dealer."""
    play = hand.play()
    view = next(play)
    try:
        while True:
            view = play.send(players[hand.seat](view))
    except StopIteration as end:
        facts: Facts = end.value
        return facts


def row_of(facts: Facts, dealer: int, **numbers: int) -> dict[str, int]:
    """Return the row of a hand: players a and b (0 and 1) instead of seats."""
    player = {-1: -1, 0: 1 - dealer, 1: dealer}
    seat = {0: 1 - dealer, 1: dealer}  # a (0) and b (1): where each sits
    winner = player[facts.winner]
    return {
        **numbers,
        "points_a": {0: facts.points, 1: -facts.points, -1: 0}[winner],
        "turns": facts.turns,
        "knock_deadwood": facts.knock_deadwood,
        "defender_deadwood_before_layoff": facts.before,
        "defender_deadwood": facts.after,
        "dealt_deadwood_a": facts.dealt_deadwood[seat[0]],
        "dealt_deadwood_b": facts.dealt_deadwood[seat[1]],
        "dealer": dealer,
        "ender": player[facts.ender],
        "outcome": OUTCOMES.index(facts.outcome),
        "winner": winner,
        "stock_left": facts.stock_left,
        "cards_laid_off": facts.laid_off,
        "first_chance_a": facts.first_chance[seat[0]],
        "first_chance_b": facts.first_chance[seat[1]],
        "first_upcard": facts.first_upcard,
        "knock_limit": facts.knock_limit,
    }


def seated(a: Answer, b: Answer, dealer: int) -> tuple[Answer, Answer]:
    """Return players as non-dealer, dealer."""
    return (b, a) if dealer == 0 else (a, b)


def hands(
    rules: Rules,
    seed: int,
    numbers: range,
    a: Answer,
    b: Answer,
    forgiving: bool = False,
) -> Iterator[dict[str, int]]:
    """Yield the rows of mirrored deals: first b deals, then a."""
    for number in numbers:
        for mirror, dealer in ((0, 1), (1, 0)):
            hand = OracleHand.dealt(rules, seed, number, forgiving=forgiving)
            facts = finish(hand, seated(a, b, dealer))
            yield row_of(facts, dealer, deal=number, mirror=mirror, game=-1, hand=0)


@dataclass
class Column:
    """One game on the sheet."""

    score: list[int] = field(default_factory=lambda: [0, 0])
    boxes: list[int] = field(default_factory=lambda: [0, 0])
    entered: set[int] = field(default_factory=set)
    winner: int = -1


class Sheet:
    """A game of players 0 and 1: one column, or Hollywood's three."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.columns = [Column() for _ in range(3 if rules.hollywood else 1)]
        self.wins = [0, 0]

    @property
    def over(self) -> bool:
        return all(column.winner >= 0 for column in self.columns)

    @property
    def shown(self) -> list[int]:
        """The scores that players go by: of the first game that is still open."""
        still_open = [column for column in self.columns if column.winner < 0]
        return (still_open or self.columns[-1:])[0].score

    def _columns_for(self, player: int) -> list[Column]:
        """Return the open columns in which a player's win counts."""
        if self.rules.hollywood and self.rules.hollywood_late_start == "fixed":
            # Win n goes into the first n games, whether they are open or not.
            due = self.columns[: self.wins[player]]
        else:
            running = [column for column in self.columns if player in column.entered]
            fresh = [c for c in self.columns if player not in c.entered and c.winner < 0]
            due = running + fresh[:1]
        return [column for column in due if column.winner < 0]

    def enter(self, player: int, points: int, boxes: int) -> None:
        """Enter a win."""
        self.wins[player] += 1
        at_once = boxes * self.rules.line_bonus if self.rules.line_bonus_when == "at_once" else 0
        for column in self._columns_for(player):
            column.entered.add(player)
            column.boxes[player] += boxes
            column.score[player] += points + at_once
            if column.score[player] >= self.rules.target:
                column.winner = player

    def total(self, column: Column, player: int) -> int:
        """Return what a player has in a column when all bonuses are added."""
        rules = self.rules
        total = column.score[player]
        if rules.line_bonus_when == "end":
            total += column.boxes[player] * rules.line_bonus
        if column.winner != player:
            return total
        total += rules.game_bonus
        shutout = column.boxes[1 - player] == 0
        if shutout and rules.shutout == "bonus":
            total += rules.shutout_bonus
        return 2 * total if shutout and rules.shutout == "double" else total

    def margins(self) -> list[int]:
        """Return what player 0 is ahead by in each column."""
        return [self.total(column, 0) - self.total(column, 1) for column in self.columns]

    def winner(self) -> int:
        """Return who won most columns; -1 where nobody did."""
        won = [column.winner for column in self.columns]
        if won.count(0) == won.count(1):
            return -1
        return 0 if won.count(0) > won.count(1) else 1


def next_dealer(rules: Rules, dealer: int, winner: int) -> int:
    """Return who deals after a hand won by `winner`, -1 for a hand without a score."""
    if winner == -1:
        how = {"same_dealer": dealer, "alternate": 1 - dealer}[rules.dead_hand]
    else:
        how = {"alternate": 1 - dealer, "winner": winner, "loser": 1 - winner}[rules.next_dealer]
    return how


Game = tuple[list[dict[str, int]], dict[str, int], Sheet]


def game(rules: Rules, seed: int, number: int, mirror: int, a: Answer, b: Answer) -> Game:
    """Play one game; return the rows of its hands, its result and its sheet."""
    sheet = Sheet(rules)
    dealer = 1 - mirror
    rows: list[dict[str, int]] = []
    while not sheet.over and len(rows) < MOST_HANDS:
        k = len(rows)
        deal = MOST_HANDS * number + k
        scores = (sheet.shown[1 - dealer], sheet.shown[dealer])
        hand = OracleHand.dealt(rules, seed, deal, scores=scores)
        facts = finish(hand, seated(a, b, dealer))
        row = row_of(facts, dealer, deal=deal, mirror=mirror, game=number, hand=k)
        rows.append(row)
        if row["winner"] >= 0:
            doubled = rules.double_boxes and facts.multiplier == 2
            sheet.enter(row["winner"], facts.points, 2 if doubled else 1)
        dealer = next_dealer(rules, dealer, row["winner"])
    result = {
        "game": number,
        "mirror": mirror,
        "margin_a": sum(sheet.margins()),
        "points_a": sum(row["points_a"] for row in rows),
        "hands": len(rows),
        "winner": sheet.winner(),
        "wins_a": sheet.wins[0],
        "wins_b": sheet.wins[1],
    }
    return rows, result, sheet
