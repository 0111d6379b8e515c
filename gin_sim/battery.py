"""What every agent has to stand: legal, the same twice, in time, whatever it is dealt.

The tests ask it of the agents that come with gin-sim, ``gin-sim check-agent`` of any.
"""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Callable, Iterator
from typing import Any

from gin_sim import bot, drive
from gin_sim.awkward import awkward_views, go_to_wall, quiet_deck, stack_deck, wall_deck
from gin_sim.cards import card_name
from gin_sim.compiled import records
from gin_sim.errors import PlayError
from gin_sim.findings import Checked, Finding, Timing
from gin_sim.limits import decision_limit
from gin_sim.play import GAME_DTYPE, ROW_DTYPE, Order, new_desk
from gin_sim.policy import make_ready
from gin_sim.protocol import IllegalAnswerError, encode, question
from gin_sim.registry import Agent, load_agent
from gin_sim.rules import PRESETS, Rules
from gin_sim.runner import Entry, Piece, play_piece
from gin_sim.scoring import MAX_GAME_HANDS, rules_record
from gin_sim.table import Hand
from gin_sim.view import as_view

OPPONENTS = ("simple", "greedy", "random")
SEED = 11

ODD_RULES: dict[str, dict[str, Any]] = {
    "reshuffle": {"wall": "reshuffle"},
    "50th card": {"wall": "50th_card", "may_throw_taken": True, "thrown_back_limit": None},
    "gin only, reshuffle": {"knock_limit": 0, "big_gin_bonus": 50, "wall": "reshuffle"},
    "short hands": {"pile_draw_limit": 2, "turn_limit": 7},
    "Oklahoma, ace is one": {"oklahoma": True, "oklahoma_ace": "one"},
}
"""Rules beside the presets that agents are seldom written for."""

GIN = "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh"
NEARLY_GIN = "Ac 2c 3c 7d 8d 9d Th Jh Qh 2s"
KNOCKS_WITH_JH = "Ac 2c 3c 5d 6d 7d 9h Th Kc Ks"
HEAVY = "Qs Qd Jd Jc 9s 8h 7h 7c 5s 4d"

COMPILED_DEALS = 400
"""Mirrored deals under each rules against each opponent."""


class _Timed(drive.Player):
    """A player of which it is known how long it took, and what it was asked last."""

    def __init__(
        self, agent: Agent, seconds: float | None, rules: Rules, times: list[float]
    ) -> None:
        super().__init__(agent, agent.label, seconds, rules)
        self.times = times
        self.last: tuple[str, Any] | None = None

    def ask(self, decision: str, record: Any, blame: Any = None) -> Any:
        """Return the answer, and take the time."""
        self.last = decision, record
        if self.line is not None:
            self.line.connect()  # to start is not to decide
        start = time.perf_counter()
        try:
            return super().ask(decision, record, blame)
        finally:
            self.times.append(time.perf_counter() - start)

    @property
    def asked(self) -> str:
        """The last question as a program would get it."""
        return "" if self.last is None else _as_asked(*self.last)


def check_agent(
    spec: str | Agent,
    *,
    seconds: float = 30.0,
    seed: int = SEED,
    time_limit: float | None = None,
    deals: int = COMPILED_DEALS,
    report: Callable[[Finding], None] | None = None,
) -> Checked:
    """Play an agent through everything that it has to stand.

    Parameters
    ----------
    spec : str or Agent
    seconds : float
        What hands of a Python agent or a program may take, about.
    deals : int
        How many mirrored deals a compiled agent plays under each rules against each of
        three opponents.
    seed : int
        Of the deals.
    time_limit : float, optional
        Seconds for a decision, as in a tournament.
    report : callable, optional
        Told of each finding as it comes.

    Raises
    ------
    AgentError
        For an agent that is not there, does not compile or does not start.

    Examples
    --------
    >>> check_agent("greedy", deals=20).passed
    True
    """
    agent = load_agent(spec)
    make_ready([agent, *map(load_agent, OPPONENTS)])
    battery = _Battery(agent, seconds, seed, decision_limit(time_limit), deals)
    findings = []
    try:
        for finding in battery.findings():
            findings.append(finding)
            if report is not None:
                report(finding)
    finally:
        bot.quit_idle()
    return Checked(agent, tuple(findings), battery.timing())


class _Battery:
    """An agent, and what was measured of it so far."""

    def __init__(
        self, agent: Agent, seconds: float, seed: int, limit: float | None, deals: int
    ) -> None:
        self.agent = agent
        self.seconds = seconds
        self.seed = seed
        self.deals = deals
        self.asked_limit = limit
        self.limit = None if agent.compiled else limit
        if agent.external and limit is None:
            self.limit = bot.DECISION_SECONDS
        self.times: list[float] = []
        self.opponents = [load_agent(name) for name in OPPONENTS]

    def findings(self) -> Iterator[Finding]:
        """Yield what comes of each check."""
        rules = {f"rules {name}": Rules.preset(name) for name in PRESETS}
        rules |= {f"odd rules: {name}": Rules(**fields) for name, fields in ODD_RULES.items()}
        for name, some in rules.items():
            yield self._legal(name, some, 0.7 * self.seconds / len(rules))
        yield self._whole_games()
        yield from self._awkward_hands()
        yield from self._awkward_views()
        yield self._same_twice()
        yield self.timing().finding()

    def timing(self) -> Timing:
        """Return how long decisions took."""
        return Timing.of(self.times, self.limit)

    def _player(self, rules: Rules) -> _Timed:
        return _Timed(self.agent, self.asked_limit, rules, self.times)

    # Whole hands

    def _legal(self, name: str, rules: Rules, seconds: float) -> Finding:
        """Play mirrored deals against each opponent."""
        deadline = time.monotonic() + seconds
        hands = 0
        if self.agent.compiled:
            for other in self.opponents:
                failed = self._first_failure(rules, other)
                if failed is not None:
                    return self._illegal(name, rules, other, failed)
                hands += 2 * self.deals
            return Finding(name, True, f"{hands:,} hands")
        for deal in itertools.count():
            for other in self.opponents:
                if hands and time.monotonic() > deadline:
                    return Finding(name, True, f"{hands:,} hands")
                try:
                    self._drive(rules, other, deal, 1)
                except PlayError as error:
                    return self._illegal(name, rules, other, error)
                hands += 2
        raise AssertionError

    def _first_failure(self, rules: Rules, other: Agent) -> PlayError | None:
        """Play many hands compiled; return what went wrong first."""
        entries = Entry.of(self.agent, self.agent.label), Entry.of(other, other.label)
        piece = Piece(0, 0, self.deals, entries, ((0, 1),), rules, self.seed, False, False)
        try:
            play_piece(piece)
        except PlayError as error:
            return error
        return None

    def _illegal(self, name: str, rules: Rules, other: Agent, error: PlayError) -> Finding:
        return Finding(name, False, str(error), self._command(rules, other, error))

    def _drive(self, rules: Rules, other: Agent, first: int, deals: int) -> Any:
        """Return the rows of mirrored deals, in which every action must be legal."""
        desk, order = new_desk(rules_record(rules)), Order(self.seed, first, deals, 0, 0)
        players = self._player(rules), drive.Player(other, other.label)
        rows = records(2 * deals, ROW_DTYPE)
        for i in range(2 * deals):
            drive.drive_mirror(desk, order, first + i // 2, i % 2, players, rows[i])
        return rows

    def _command(self, rules: Rules, other: Agent, error: PlayError, unit: str = "hands") -> str:
        """Return a command that comes to the same failure."""
        count = 2 * (error.deal // (MAX_GAME_HANDS if unit == "games" else 1) + 1)
        words = ["gin-sim", "tournament", self.agent.label_with_place, other.label]
        words += [f"--{unit}", str(count), "--seed", str(self.seed), "--jobs", "1"]
        plain = Rules().as_dict()
        for name, value in rules.as_dict().items():
            if value != plain[name]:
                words += ["--set", f"{name}={value}"]
        if self.asked_limit is not None:
            words += ["--time-limit", f"{self.asked_limit:g}"]
        return shlex.join(words)

    def _whole_games(self) -> Finding:
        """Play games to the target, of one column and of three."""
        name, hands = "whole games", 0
        for preset in ("standard", "hollywood"):
            rules, other = Rules.preset(preset), self.opponents[0]
            desk, order = new_desk(rules_record(rules)), Order(self.seed, 0, 1, 0, 0)
            players = self._player(rules), drive.Player(other, other.label)
            rows, game = records(MAX_GAME_HANDS, ROW_DTYPE), records(1, GAME_DTYPE)[0]
            for mirror in (0, 1):
                try:
                    hands += drive.drive_game(desk, order, 0, mirror, players, rows, game)
                except PlayError as error:
                    command = self._command(rules, other, error, "games")
                    return Finding(name, False, str(error), command)
        return Finding(name, True, f"{hands:,} hands")

    def _same_twice(self) -> Finding:
        """Play the same deals twice, a program anew, and compare the rows."""
        mean = max(self.timing().mean, 1e-6)
        deals = max(2, min(200, int(0.1 * self.seconds / (mean * 40))))
        other = self.opponents[0]
        both = []
        for _ in range(2):
            bot.quit_idle()
            try:
                both.append(self._drive(Rules(), other, 0, deals))
            except PlayError as error:
                command = self._command(Rules(), other, error)
                return Finding("same deals twice", False, str(error), command)
        first, second = both
        for one, two in zip(first, second, strict=True):
            if one != two:
                names = ROW_DTYPE.names or ()
                field = next(name for name in names if one[name] != two[name])
                return Finding(
                    "same deals twice",
                    False,
                    f"deal {one['deal']}, mirror {one['mirror']}: {field} was {one[field]}, "
                    f"then {two[field]}",
                    f"twice: gin-sim tournament {shlex.quote(self.agent.label_with_place)} "
                    f"{other.label} --hands {2 * deals} --seed {self.seed}",
                )
        return Finding("same deals twice", True, f"{len(first):,} hands, the same rows")

    # Hands and views made to order

    def _awkward_hands(self) -> Iterator[Finding]:
        """Play hands that seldom come, both ways to sit where that matters."""
        plain = Rules()
        deck, _ = quiet_deck(GIN, 0)
        yield self._stacked("gin dealt, non-dealer", Hand.from_deck(deck, plain), 0)
        deck, thrown = quiet_deck(GIN, 1)
        hand = Hand.from_deck(deck, plain)
        hand.take()
        hand.throw(thrown)
        yield self._stacked("gin dealt, dealer", hand, 1)
        hand = Hand.from_deck(stack_deck(NEARLY_GIN, HEAVY, "Kh"), plain)
        yield self._stacked("upcard makes gin, non-dealer", hand, 0)
        hand = Hand.from_deck(stack_deck(HEAVY, NEARLY_GIN, "Kh"), plain)
        hand.pass_()
        yield self._stacked("upcard makes gin, dealer", hand, 1)
        hand = Hand.from_deck(stack_deck(GIN, HEAVY, "4c"), "big-gin")
        yield self._stacked("upcard makes big gin", hand, 0)
        deck = wall_deck(KNOCKS_WITH_JH, HEAVY, "Jh")
        hand = Hand.from_deck(deck, Rules(wall="50th_card"))
        go_to_wall(hand, deck)
        yield self._stacked("last phase, two cards in the stock", hand, 1)

    def _stacked(self, name: str, hand: Hand, seat: int) -> Finding:
        """Play a hand on from where it is, the agent at a seat."""
        player, other = self._player(hand.rules), drive.Player(self.opponents[0], OPPONENTS[0])
        both = (player, other) if seat == 0 else (other, player)
        try:
            with drive.on_the_line(both):
                drive.drive_hand(hand.desk, both, 0)
        except PlayError as error:
            return Finding(name, False, str(error), asked=player.asked)
        return Finding(name, True, str(hand.facts()["outcome"]).replace("_", " "))

    def _awkward_views(self) -> Iterator[Finding]:
        """Ask about random and awkward hands, then again the other way round."""
        asked = list(awkward_views(60 if self.agent.compiled else 10, self.seed))
        found = "awkward views", "same view, same answer"
        answers: list[Any] = []
        for decision, view in asked:
            problem, answer = self._answer(decision, view)
            if problem:
                yield Finding(found[0], False, problem, asked=_as_asked(decision, view))
                return
            answers.append(answer)
        yield Finding(found[0], True, f"{len(asked)} views")
        bot.quit_idle()
        for (decision, view), before in zip(reversed(asked), reversed(answers), strict=True):
            problem, answer = self._answer(decision, view)
            if problem or answer != before:
                then, now = (card_name(a) if decision == "discard" else a for a in (before, answer))
                text = problem or f"answered {then} to {decision}, and later {now}"
                yield Finding(found[1], False, text, asked=_as_asked(decision, view))
                return
        yield Finding(found[1], True, f"{len(asked)} views")

    def _answer(self, decision: str, view: Any) -> tuple[str, Any]:
        """Ask; return what is wrong, if anything is, and the answer."""
        before = view.tobytes()
        player = self._player(Rules())
        try:
            answer = drive.answer_of(player, decision, view, view)
        except IllegalAnswerError as error:
            return str(error), 0
        finally:
            player.hang_up()
        if view.tobytes() != before:
            return f"{decision} wrote into its view", answer
        return "", answer


def _as_asked(decision: str, view: Any) -> str:
    """Return a question as a program would get it."""
    return encode(question(decision, as_view(view))).decode().strip()
