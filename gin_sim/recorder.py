"""Hands written down while they are played: the one place where histories come from play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gin_sim.cards import card_name
from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.drive import Player, drive_deal, on_the_line
from gin_sim.errors import PlayError, RulesError
from gin_sim.history import History, result_of
from gin_sim.history_lines import write_history
from gin_sim.play import Order, new_desk
from gin_sim.records import PLAYERS
from gin_sim.registry import Agent, load_agent, unique_labels
from gin_sim.rules import Rules, as_rules
from gin_sim.scoring import DEAD, MAX_GAME_HANDS, rules_record
from gin_sim.view import DRAW, KNOCK, UPCARD


class Recorder:
    """Watches hands as they are played, and writes the history of each.

    Parameters
    ----------
    state : record
        In which the hands are played.
    labels : (str, str)
        Of players a and b.
    games : bool
        Whether the hands are of games.

    Attributes
    ----------
    finished : list of (History, dict)
        The hands that are over, with their results.
    """

    def __init__(
        self, state: Any, rules: Rules, labels: tuple[str, str], seed: int, games: bool
    ) -> None:
        self.state = state
        self.rules = rules
        self.labels = labels
        self.seed = seed
        self.games = games
        self.finished: list[tuple[History, dict[str, Any]]] = []
        self._dealt: dict[str, Any] = {}
        self._moves: list[str] = []
        self._drew = False
        self._put_down: tuple[str, str] | None = None
        self._fault: str | None = None

    def start(self) -> None:
        """Take note of what was dealt."""
        state = self.state
        dealer, deal = int(state["dealer"]), int(state["deal"])
        by_seat = [int(hand) for hand in state["hands"]]
        scores = [int(score) for score in state["scores"]]
        first = 1 - dealer
        self._dealt = {
            "dealer": PLAYERS[dealer],
            "dealt": (by_seat[first], by_seat[dealer]),
            "score": (scores[first], scores[dealer]),
            "upcard": int(state["upcard"]),
            "deal": deal,
            "mirror": int(state["mirror"]),
        }
        if self.games:
            self._dealt["game"], self._dealt["number"] = divmod(deal, MAX_GAME_HANDS)
        self._moves, self._drew, self._put_down, self._fault = [], False, None, None

    def _note(self, verb: str, card: int | None = None) -> None:
        player = PLAYERS[int(self.state["seat"]) ^ 1 ^ int(self.state["dealer"])]
        self._moves.append(f"{player} {verb}{'' if card is None else ' ' + card_name(card)}")

    def _settle(self, verb: str) -> None:
        """Take note of what is known only by now: the card drawn, what the last card was for."""
        if self._drew:
            self._drew = False
            self._note("draw", int(self.state["drawn"]))
        if self._put_down:
            player, card = self._put_down
            self._put_down = None
            self._moves.append(f"{player} {verb} {card}")

    def decided(self, seat: int, decision: str, answer: Any) -> None:
        """Take note of a decision, before it takes effect."""
        state = self.state
        if decision == "knock":
            self._settle("knock" if answer else "throw")
            return
        self._settle("throw")
        if decision == "discard":
            player = PLAYERS[seat ^ 1 ^ int(state["dealer"])]
            self._put_down = player, card_name(int(answer))
        elif answer:
            self._note("take", int(state["upcard"]))
        elif int(state["phase"]) == DRAW:
            self._drew = True
        else:
            self._note("pass")
            self._drew = int(state["phase"]) == UPCARD and int(state["passes"]) == 1

    def forfeited(self, error: PlayError) -> None:
        """Take note that the player to act loses the hand."""
        if int(self.state["phase"]) == KNOCK:
            self._put_down = None  # a card chosen, and not thrown yet
        self._settle("throw")
        self._note("forfeit")
        self._fault = str(error)

    def end(self) -> None:
        """Put the finished hand to the others."""
        self._settle("throw" if int(self.state["outcome"]) == DEAD else "knock")
        history = History(
            rules=self.rules,
            agents=self.labels,
            moves=tuple(self._moves),
            seed=self.seed,
            fault=self._fault,
            **self._dealt,
        )
        self.finished.append((history, result_of(self.state, int(self.state["dealer"]))))

    def take_lines(self) -> list[str]:
        """Return the finished hands as lines, and forget them."""
        lines = [write_history(*one) + "\n" for one in self.finished]
        self.finished = []
        return lines


def record_hands(
    a: str | Agent,
    b: str | Agent,
    *,
    seed: int,
    deals: Iterable[int],
    mirrors: Iterable[int] = (0, 1),
    rules: Rules | str | None = None,
) -> Iterator[History]:
    """Play hands between two agents, and yield the history of each.

    Parameters
    ----------
    a, b : str or Agent
    seed : int
    deals : iterable of int
    mirrors : iterable of int
        Which hands of each deal: 0, b deals; 1, a deals.
    rules : Rules or str, optional
        The standard rules if not given.

    Raises
    ------
    PlayError
        For an agent that raised or threw what it may not.
    """
    rules = as_rules(rules)
    seed = whole_number(seed, "seed", 0, MAX_SEED, RulesError)
    agents = load_agent(a), load_agent(b)
    labels = unique_labels([one.label for one in agents])
    players = (
        Player(agents[0], labels[0], rules=rules),
        Player(agents[1], labels[1], rules=rules),
    )
    desk = new_desk(rules_record(rules))
    recorder = Recorder(desk.state[0], rules, (labels[0], labels[1]), seed, games=False)
    both = [whole_number(mirror, "mirror", 0, 1, RulesError) for mirror in mirrors]
    for number in deals:
        deal = whole_number(number, "deal", 0, MAX_SEED, RulesError)
        for mirror in both:
            order = Order(seed, deal, 1, mirror, 0)
            with on_the_line(players):
                drive_deal(desk, players, order, deal, mirror, 1 - mirror, recorder)
            yield recorder.finished.pop()[0]


def record_hand(
    a: str | Agent,
    b: str | Agent,
    *,
    seed: int,
    deal: int,
    mirror: int = 0,
    rules: Rules | str | None = None,
) -> History:
    """Play one hand between two agents, and return its history; see :func:`record_hands`."""
    return next(record_hands(a, b, seed=seed, deals=[deal], mirrors=[mirror], rules=rules))
