"""One hand by the rules of the game, as a generator of decisions."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from gin_sim.rules import Rules
from gin_sim.view import (
    DISCARD,
    DRAW,
    DREW,
    HIDDEN_CARD,
    KNOCK,
    LAST,
    OVER,
    PASSED,
    THREW,
    TOOK,
    UPCARD,
    View,
)
from tests.oracle import chance
from tests.oracle.layoff import best_layoff, lay_down
from tests.oracle.melds import after_throws, deadwood, mask

OUTCOMES = ("dead", "knock", "undercut", "gin", "big_gin", "forfeit")


@dataclass
class Facts:
    """What is left of a finished hand, by seat; seat 0 is the non-dealer, -1 nobody."""

    outcome: str
    turns: int
    stock_left: int
    first_chance: list[int]
    dealt_deadwood: list[int]
    first_upcard: int
    knock_limit: int
    multiplier: int
    ender: int = -1
    winner: int = -1
    points: int = 0
    knock_deadwood: int = -1
    before: int = -1
    after: int = -1
    laid_off: int = 0


Play = Generator[View, Any, Facts]
"""Yields the view of the seat to act, is sent its answer, returns the facts."""


class OracleHand:
    """The table: who holds what, and what each seat has seen."""

    def __init__(
        self,
        rules: Rules,
        deck: list[int],
        key: int = 0,
        scores: tuple[int, int] = (0, 0),
        forgiving: bool = False,
    ) -> None:
        self.rules, self.key, self.scores, self.forgiving = rules, key, scores, forgiving
        self.hands = [set(deck[:10]), set(deck[10:20])]
        self.pile = [deck[20]]
        self.stock = list(deck[21:])
        self.first_upcard = deck[20]
        self.limit = self._limit()
        self.multiplier = self._multiplier()
        self.seat = 0
        self.known: list[set[int]] = [set(), set()]
        self.thrown: list[set[int]] = [set(), set()]
        self.refused: list[set[int]] = [set(), set()]
        self.events: list[tuple[int, int, int]] = []
        self.turns = [0, 0]
        self.decisions = [0, 0]
        self.first_chance = [-1, -1]
        self.dealt_deadwood = [self.deadwood_of(0), self.deadwood_of(1)]
        self.upcard_lies = True
        self.pile_draws = self.thrown_back = self.reshuffles = 0

    @classmethod
    def dealt(cls, rules: Rules, seed: int, deal: int, **more: Any) -> OracleHand:
        key = chance.deal_key(seed, deal)
        return cls(rules, chance.dealt(key), key, **more)

    # The rules of this hand.

    def _limit(self) -> int:
        if not self.rules.oklahoma:
            return self.rules.knock_limit
        name = "A23456789TJQK"[self.first_upcard % 13]
        if name == "A":
            return {"gin": 0, "one": 1}[self.rules.oklahoma_ace]
        return 10 if name in "TJQK" else int(name)

    def _multiplier(self) -> int:
        spade = self.first_upcard >= 39
        return 2 if self.rules.oklahoma and self.rules.oklahoma_spades_double and spade else 1

    def deadwood_of(self, seat: int) -> int:
        return deadwood(frozenset(self.hands[seat]), self.rules.longest_meld)

    # What happens at the table.

    def _note(self, seat: int, what: int, card: int) -> None:
        self.events.append((seat, what, card))

    def _take(self, seat: int) -> int:
        card = self.pile.pop()
        self.upcard_lies = False
        self.hands[seat].add(card)
        self.known[seat].add(card)
        self._note(seat, TOOK, card)
        return card

    def _draw(self, seat: int) -> int:
        card = self.stock.pop(0)
        self.hands[seat].add(card)
        self._note(seat, DREW, card)
        return card

    def _refuse(self, seat: int) -> None:
        self.refused[seat].add(self.pile[-1])

    def _throw(self, seat: int, card: int) -> None:
        self.hands[seat].remove(card)
        self.known[seat].discard(card)
        self.pile.append(card)
        self.upcard_lies = True
        self.thrown[seat].add(card)
        self.turns[seat] += 1
        self._note(seat, THREW, card)

    def _turn_pile_over(self) -> None:
        self.reshuffles += 1
        hidden = set(self.stock) | set(self.pile[:-1])
        self.pile = self.pile[-1:]
        self.stock = chance.new_stock(self.key, self.reshuffles, hidden)

    # What a seat knows.

    def _history(self, seat: int) -> tuple[int, ...]:
        entries = []
        for actor, what, card in self.events:
            shown = HIDDEN_CARD if what == DREW and actor != seat else card
            entries.append((256 if actor != seat else 0) + 64 * what + shown)
        return tuple(entries)

    def _view(
        self, seat: int, phase: int, count: int, drawn: int = -1, taken: int = -1, **more: int
    ) -> View:
        """Return the view of a seat; `count` is its deadwood as this phase means it."""
        self.seat = seat
        other = 1 - seat
        n = self.decisions[seat]
        self.decisions[seat] += 1
        big = self.rules.big_gin_bonus
        history = self._history(seat)
        fields: dict[str, Any] = {"candidate": -1, "legal_discards": 0, "best_discards": 0, **more}
        return View(
            phase=phase,
            hand=mask(self.hands[seat]),
            upcard=self.pile[-1] if self.upcard_lies else -1,
            drawn=drawn,
            taken=taken,
            deadwood=count,
            stock_left=len(self.stock),
            turn=sum(self.turns),
            own_turn=self.turns[seat],
            is_dealer=seat,
            knock_limit=self.limit,
            gin_bonus=self.rules.gin_bonus,
            undercut_bonus=self.rules.undercut_bonus,
            big_gin_bonus=-1 if big is None else big,
            multiplier=self.multiplier,
            score=self.scores[seat],
            opponent_score=self.scores[other],
            target=self.rules.target,
            pile=mask(self.pile),
            seen=mask(self.hands[seat] | set(self.pile) | self.known[other]),
            opponent_known=mask(self.known[other]),
            opponent_discards=mask(self.thrown[other]),
            own_discards=mask(self.thrown[seat]),
            opponent_refused=mask(self.refused[other]),
            word=chance.decision_word(self.key, seat, n),
            history_len=len(history),
            history=history,
            **fields,
        )

    # How a hand ends.

    def _facts(self, outcome: str, **more: Any) -> Facts:
        return Facts(
            outcome,
            turns=sum(self.turns),
            stock_left=len(self.stock),
            first_chance=self.first_chance,
            dealt_deadwood=self.dealt_deadwood,
            first_upcard=self.first_upcard,
            knock_limit=self.limit,
            multiplier=self.multiplier,
            **more,
        )

    def _gin(self, seat: int, outcome: str, bonus: int) -> Facts:
        left = self.deadwood_of(1 - seat)
        return self._facts(
            outcome,
            ender=seat,
            winner=seat,
            points=(bonus + left) * self.multiplier,
            knock_deadwood=0,
            before=left,
            after=left,
        )

    def _forfeit(self, seat: int, left: int) -> Facts:
        return self._facts(
            "forfeit",
            ender=seat,
            winner=1 - seat,
            points=(self.rules.gin_bonus + left) * self.multiplier,
            before=left,
            after=left,
        )

    def _knock(self, seat: int) -> Facts:
        """Settle a knock, the card to throw already on the pile."""
        rules = self.rules
        count = self.deadwood_of(seat)
        if count == 0:
            return self._gin(seat, "gin", rules.gin_bonus)
        hand = frozenset(self.hands[seat])
        melds = lay_down(hand, frozenset(self.pile), rules.longest_meld)
        other = frozenset(self.hands[1 - seat])
        after, laid_off = best_layoff(other, melds, rules.longest_meld)
        if after > count:
            outcome, winner, points = "knock", seat, after - count
        elif after < count or rules.undercut_on_tie:
            outcome, winner = "undercut", 1 - seat
            points = count - after + rules.undercut_bonus
        else:
            outcome, winner, points = "knock", -1, 0
        return self._facts(
            outcome,
            ender=seat,
            winner=winner,
            points=points * self.multiplier,
            knock_deadwood=count,
            before=self.deadwood_of(1 - seat),
            after=after,
            laid_off=laid_off,
        )

    # The course of a hand.

    def play(self) -> Play:
        """Play the hand; every decision is yielded as a view."""
        seat, drawn, taken = yield from self._opening()
        phase = UPCARD
        while True:
            facts = yield from self._end_turn(seat, drawn, taken, must_knock=phase == LAST)
            if facts is not None:
                return facts
            seat = 1 - seat
            phase = self._next_phase(seat)
            if phase == OVER:
                return self._facts("dead")
            take = yield self._view(seat, phase, self.deadwood_of(seat))
            if phase == DRAW:
                self.pile_draws += take
                if take and self.pile_draws >= self.rules.pile_draw_limit:
                    return self._facts("dead")
            elif not take:
                return self._facts("dead")
            if take:
                drawn = taken = self._take(seat)
            else:
                self._refuse(seat)
                drawn, taken = self._draw(seat), -1

    def _next_phase(self, seat: int) -> int:
        """Return what a seat is asked when the other one has thrown: DRAW, LAST or OVER."""
        rules = self.rules
        limit = rules.thrown_back_limit
        if sum(self.turns) >= rules.turn_limit:
            return OVER
        if limit is not None and self.thrown_back >= limit:
            return OVER
        if len(self.stock) > 2:
            return DRAW
        if rules.wall == "reshuffle":
            self._turn_pile_over()
            return DRAW
        # Taking the card is allowed only to knock: nobody is asked who could not.
        may_knock = rules.wall == "50th_card" and self._could_knock_with_upcard(seat)
        return LAST if may_knock else OVER

    def _opening(self) -> Generator[View, Any, tuple[int, int, int]]:
        """Offer the first upcard; return who begins, the card drawn and the card taken."""
        for seat in (0, 1):
            if (yield self._view(seat, UPCARD, self.deadwood_of(seat))):
                card = self._take(seat)
                return seat, card, card
            self._refuse(seat)
            self._note(seat, PASSED, self.first_upcard)
        return 0, self._draw(0), -1

    def _may_throw(self, seat: int, taken: int) -> set[int]:
        return set(self.hands[seat]) - (set() if self.rules.may_throw_taken else {taken})

    def _could_knock_with_upcard(self, seat: int) -> bool:
        card = self.pile[-1]
        hand = frozenset(self.hands[seat] | {card})
        allowed = hand if self.rules.may_throw_taken else hand - {card}
        left = after_throws(hand, allowed, self.rules.longest_meld)
        return min(left.values()) <= self.limit

    def _end_turn(
        self, seat: int, drawn: int, taken: int, must_knock: bool
    ) -> Generator[View, Any, Facts | None]:
        """Let a seat with eleven cards go out or throw; return the facts if it is over."""
        rules = self.rules
        before = deadwood(frozenset(self.hands[seat] - {drawn}), rules.longest_meld)
        hand = frozenset(self.hands[seat])
        left = after_throws(hand, self._may_throw(seat, taken), rules.longest_meld)
        least = min(left.values())
        if least <= self.limit and self.first_chance[seat] < 0:
            self.first_chance[seat] = len(self.stock)
        if rules.big_gin_bonus is not None and deadwood(hand, rules.longest_meld) == 0:
            return self._gin(seat, "big_gin", rules.big_gin_bonus)
        legal = {c for c in left if left[c] <= self.limit} if must_knock else set(left)
        best = {c for c in left if left[c] == least}
        card = yield self._view(
            seat,
            DISCARD,
            least,
            drawn,
            taken,
            legal_discards=mask(legal),
            best_discards=mask(best),
        )
        if card not in legal:
            assert self.forgiving, f"seat {seat} threw {card}"
            return self._forfeit(seat, before)
        goes_out = left[card] == 0 or must_knock
        if not goes_out and left[card] <= self.limit:
            goes_out = yield self._view(seat, KNOCK, left[card], drawn, taken, candidate=card)
        self._throw(seat, card)
        if goes_out:
            return self._knock(seat)
        self.thrown_back = self.thrown_back + 1 if card == taken else 0
        return None
