"""A hand stepped through by hand: for people, replays, other engines and tests.

It is the same state machine as everywhere, behind checked moves.

Examples
--------
>>> hand = Hand.dealt(seed=1, deal=0)
>>> hand.phase, hand.seat, hand.legal_moves()
('upcard', 0, ['take', 'pass'])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gin_sim import drive
from gin_sim import state as machine
from gin_sim.cards import card_name, cards_of, read_card
from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.compiled import readable
from gin_sim.errors import CardError, RulesError
from gin_sim.melds import knock_discards
from gin_sim.play import Desk, new_desk, play_on
from gin_sim.policy import prepare
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import Rules, as_rules
from gin_sim.scoring import MAX_POINTS, OUTCOMES, rules_record
from gin_sim.show import fill_view
from gin_sim.view import PHASES, View, as_view

_ANSWERS: dict[str, tuple[str, ...]] = {
    "upcard": ("take", "pass"),
    "draw": ("take", "draw"),
    "discard": (),
    "last": ("take", "pass"),
    "over": (),
}


class Hand:
    """One hand in progress; seat 0 is the non-dealer, seat 1 the dealer.

    Moves are methods; each checks that it is legal and raises a RulesError that names
    what would be.
    """

    def __init__(self, rules: Rules, desk: Desk) -> None:
        self.rules = rules
        self._desk = desk
        self._seed = -1  # of no seed, until dealt
        self._state = desk.state[0]
        self._rules = desk.rules[0]

    @classmethod
    def dealt(
        cls,
        seed: int,
        deal: int,
        rules: Rules | str | None = None,
        *,
        scores: Sequence[int] = (0, 0),
    ) -> Hand:
        """Return the start of a numbered deal of a seed.

        Parameters
        ----------
        seed, deal : int
        rules : Rules or str, optional
        scores : two int
            Of the game, the non-dealer's first: a view shows them.
        """
        seed = whole_number(seed, "seed", 0, MAX_SEED, RulesError)
        deal = whole_number(deal, "deal", 0, MAX_SEED, RulesError)
        hand = cls._empty(rules, scores)
        hand._state["deal"], hand._seed = deal, seed
        machine.deal_number(hand._state, hand._rules, seed, deal)
        return hand

    @classmethod
    def _empty(cls, rules: Rules | str | None, scores: Sequence[int] = (0, 0)) -> Hand:
        """Return a hand of which nothing is dealt yet."""
        rules = as_rules(rules)
        desk = new_desk(rules_record(rules))
        desk.state[0]["dealer"] = 1  # as if player a sat at seat 0
        for seat, score in enumerate(scores):
            points = whole_number(score, "score", 0, MAX_POINTS, RulesError)
            desk.state[0]["scores"][seat] = points
        return cls(rules, desk)

    @classmethod
    def from_deck(
        cls,
        deck: Sequence[int | str],
        rules: Rules | str | None = None,
        *,
        scores: Sequence[int] = (0, 0),
    ) -> Hand:
        """Return the start of a hand with a given order of the cards.

        Parameters
        ----------
        deck : sequence of 52 cards
            Ten for the non-dealer, ten for the dealer, the upcard, the stock as drawn.
        rules, scores
            As for :meth:`dealt`.
        """
        if not isinstance(deck, Sequence | np.ndarray) or isinstance(deck, str):
            raise CardError(f"deck = {deck!r}: give a list of 52 cards")
        cards = [read_card(card) for card in deck]
        if sorted(cards) != list(range(52)):
            raise CardError(f"a deck holds each of 52 cards once; this one has {len(set(cards))}")
        hand = cls._empty(rules, scores)
        hand._state["deck"][:] = cards
        hand._state["lazy"] = 0
        machine.start_dealt(hand._state, hand._rules)
        return hand

    def __copy__(self) -> Hand:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Hand:
        return self.copy()

    def copy(self) -> Hand:
        """Return a fork: the same cards to come and the same random words, on its own."""
        hand = self._empty(self.rules)
        hand._desk.state[:] = self._desk.state
        hand._seed = self._seed
        return hand

    def play_on(self, non_dealer: str | Agent, dealer: str | Agent | None = None) -> None:
        """Let agents play the hand to its end from where it is, compiled where they are.

        Parameters
        ----------
        non_dealer, dealer : str or Agent
            Who goes on at seats 0 and 1; one alone plays both.

        Raises
        ------
        PlayError
            For an agent that raised or threw what it may not.

        Examples
        --------
        >>> hand = Hand.dealt(seed=1, deal=0)
        >>> other = hand.copy()
        >>> hand.play_on("simple")
        >>> other.play_on("gin_only")
        >>> hand.facts()["outcome"], other.facts()["outcome"]
        ('undercut', 'gin')
        """
        first = load_agent(non_dealer)
        agents = (first, first if dealer is None else load_agent(dealer))
        players = tuple(drive.Player(agent, agent.label, None, self.rules) for agent in agents)
        fork = self.copy()
        if agents[0].compiled and agents[1].compiled:
            try:
                if play_on(fork._desk, prepare(agents[0]), prepare(agents[1])):
                    self._desk.state[:] = fork._desk.state
                    return
            except KeyboardInterrupt:
                raise
            except BaseException:  # noqa: S110
                pass  # the slow path comes to the same decision, and says where it is
        fork = self.copy()
        with drive.on_the_line((players[0], players[1])) as both:
            drive.drive_hand(fork._desk, both, self._seed)
        self._desk.state[:] = fork._desk.state

    @property
    def desk(self) -> Desk:
        """The memory that the loops over hands play on in."""
        return self._desk

    @property
    def phase(self) -> str:
        """What is due: upcard, draw, discard, knock, last or over."""
        return PHASES[int(self._state["phase"])]

    @property
    def seat(self) -> int:
        """Who is to decide."""
        return int(self._state["seat"])

    @property
    def stock_left(self) -> int:
        """Cards left in the stock."""
        return int(machine.stock_left(self._state))

    @property
    def upcard(self) -> int | None:
        """The top of the pile, or None while it has been taken."""
        card = int(self._state["upcard"])
        return None if card < 0 else card

    @property
    def knock_limit(self) -> int:
        """The most points to knock with in this hand."""
        return int(self._state["limit"])

    @property
    def record(self) -> Any:
        """The record that the state machine works on; see :mod:`gin_sim.hand_record`."""
        return self._state

    def cards(self, seat: int) -> int:
        """Return the hand of a seat (0 or 1) as a mask."""
        return int(self._state["hands"][whole_number(seat, "seat", 0, 1, RulesError)])

    def view(self) -> View:
        """Return what the seat to act may know, with the random word of this decision."""
        seat = self.seat
        view = readable(self._state["views"])[seat]
        fill_view(self._state, view)
        self._state["decisions"][seat] -= 1  # looking is not deciding
        return as_view(view)

    def legal_discards(self) -> list[int]:
        """Return the cards that may be thrown now, whether or not one then knocks."""
        if self.phase != "discard":
            return []
        return cards_of(int(self._state["legal_discards"]))

    def legal_knocks(self) -> list[int]:
        """Return the cards that may be thrown to go out now."""
        state = self._state
        if self.phase != "discard":
            return []
        legal = int(state["legal_discards"])
        return cards_of(int(knock_discards(state["hands"][self.seat], legal, state["limit"])))

    def legal_moves(self) -> list[str]:
        """Return the legal moves in words: take, pass, draw, throw X, knock X."""
        phase = self.phase
        if phase == "discard":
            throws = [] if self._state["last_chance"] else self.legal_discards()
            return [f"throw {card_name(c)}" for c in throws] + [
                f"knock {card_name(c)}" for c in self.legal_knocks()
            ]
        return list(_ANSWERS[phase])

    def _refuse(self, move: str) -> RulesError:
        allowed = ", ".join(self.legal_moves()) or "none, the hand is over"
        return RulesError(f"'{move}' is not legal for seat {self.seat}: {allowed}")

    def _decide(self, move: str) -> None:
        """Check a move, and count the decision it answers: words go by their number."""
        if move not in _ANSWERS[self.phase]:
            raise self._refuse(move)
        self._state["decisions"][self.seat] += 1

    def _decide_card(self, verb: str, card: int | str) -> tuple[int, int]:
        """Do the same for a card to be thrown; return it and the deadwood it leaves."""
        number, state = read_card(card), self._state
        last = bool(state["last_chance"])
        legal = self.phase == "discard" and int(state["legal_discards"]) >> number & 1
        if not legal or (last and verb == "throw"):
            raise self._refuse(f"{verb} {card_name(number)}")
        deadwood = int(machine.deadwood_after(state, number))
        if verb == "knock" and deadwood > self.knock_limit:
            raise self._refuse(f"{verb} {card_name(number)}")
        asked_to_knock = 0 < deadwood <= self.knock_limit and not last
        state["decisions"][self.seat] += 2 if asked_to_knock else 1
        return number, deadwood

    def take(self) -> None:
        """Take the top card of the pile."""
        self._decide("take")
        machine.take_upcard(self._state, self._rules)

    def draw(self) -> None:
        """Draw from the stock."""
        self._decide("draw")
        machine.draw_stock(self._state, self._rules)

    def pass_(self) -> None:
        """Leave the opening upcard, or let the hand die in the last phase."""
        self._decide("pass")
        machine.pass_upcard(self._state, self._rules)

    def throw(self, card: int | str) -> None:
        """Throw a card and do not go out, whatever is left."""
        number, deadwood = self._decide_card("throw", card)
        machine.throw(self._state, self._rules, number, deadwood)

    def knock(self, card: int | str) -> None:
        """Throw a card and go out: knock, or gin if nothing is left over."""
        number, deadwood = self._decide_card("knock", card)
        machine.knock(self._state, self._rules, number, deadwood)

    def stack(self, card: int | str) -> None:
        """Put a card of the stock on top of it: the next that is drawn.

        For hands that were played elsewhere; the rest of the stock may have moved.

        Raises
        ------
        CardError
            If it is not in the stock.
        """
        number, deck, place = read_card(card), self._state["deck"], int(self._state["place"])
        machine.shuffle_stock(self._state)
        rest = deck[place:].tolist()
        if number not in rest:
            raise CardError(f"{card_name(number)} is not in the stock")
        at = place + rest.index(number)
        deck[place], deck[at] = deck[at], deck[place]

    def forfeit(self) -> None:
        """Lose the hand, as who plays illegally does where that is no error."""
        if self.phase == "over":
            raise RulesError("the hand is over")
        machine.forfeit(self._state, self._rules)

    def facts(self) -> dict[str, Any]:
        """Return the facts of a finished hand, by seat; points are the winner's."""
        state = self._state
        if self.phase != "over":
            raise RulesError("the hand is not over")

        def known(value: Any) -> int | None:
            return None if int(value) < 0 else int(value)

        return {
            "outcome": OUTCOMES[int(state["outcome"])],
            "ender": known(state["ender"]),
            "winner": known(state["winner"]),
            "points": int(state["points"]),
            "turns": int(state["turn"]),
            "stock_left": self.stock_left,
            "knock_deadwood": known(state["knock_deadwood"]),
            "defender_deadwood_before_layoff": known(state["defender_before"]),
            "defender_deadwood": known(state["defender_after"]),
            "laid_off": cards_of(int(state["laid_off"])),
            "first_chance": [known(c) for c in state["first_chance"]],
        }
