"""One hand, played again and told move by move.

A hand of a run is a function of rules, agents, seed and deal, so nothing had to be stored for
it; one that was stored as a history is told from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gin_sim import drive
from gin_sim import state as machine
from gin_sim.cards import card_name, format_hand
from gin_sim.compiled import records as zeroed
from gin_sim.errors import PlayError, ResultsError
from gin_sim.history import History
from gin_sim.play import GAME_DTYPE, ROW_DTYPE, Order, new_desk
from gin_sim.records import PLAYERS
from gin_sim.registry import load_agent
from gin_sim.rules import Rules
from gin_sim.run import Run
from gin_sim.scoring import MAX_GAME_HANDS, OUTCOMES, rules_record
from gin_sim.settle import describe_layoff, showdown
from gin_sim.view import LAST, UPCARD


def replay(run: Run, deal: int, mirror: int = 0, pairing: str | None = None) -> Iterator[str]:
    """Yield a hand of a run, line by line.

    Parameters
    ----------
    deal : int
        As in the rows.
    mirror : int
        Which of the deal's two hands.
    pairing : str, optional
        As in the rows, ``"simple v greedy"``; the first if not given.

    Raises
    ------
    ResultsError
        For a deal or a pairing that the run does not have.
    """
    run.check_deal(deal)
    places = run.meeting(pairing)
    entries = [run.manifest["agents"][place] for place in places]
    limit = run.manifest.get("decision_seconds")
    players = tuple(
        drive.Player(load_agent(entry["spec"]), entry["label"], limit, run.rules)
        for entry in entries
    )
    order = Order(run.manifest["seed"], 0, 1, 0, int(run.manifest["on_illegal"] == "forfeit"))
    desk = new_desk(rules_record(run.rules))
    labels = players[0].label, players[1].label
    teller = _Teller(run.rules, order.seed, run.games, desk.state[0], labels, deal)
    row = zeroed(MAX_GAME_HANDS, ROW_DTYPE)
    try:
        if run.games:
            game = zeroed(1, GAME_DTYPE)[0]
            number = deal // MAX_GAME_HANDS
            drive.drive_game(
                desk, order, number, mirror, (players[0], players[1]), row, game, teller
            )
        else:
            drive.drive_mirror(desk, order, deal, mirror, (players[0], players[1]), row[0], teller)
    except PlayError as error:
        teller.lines.append(f"stopped: {error}")
    if not teller.lines:
        raise ResultsError(f"deal {deal} was not played: its game was over before")
    yield from teller.lines


def tell(history: History) -> list[str]:
    """Return a hand of a history, line by line.

    Raises
    ------
    ResultsError
        If it is no legal hand.
    """
    hand = history.start()
    state = hand.record
    state["dealer"] = PLAYERS.index(history.dealer)
    if history.deal is not None:
        state["deal"], state["mirror"] = history.deal, history.mirror or 0
    games, deal = history.game is not None, int(state["deal"])
    teller = _Teller(history.rules, history.seed, games, state, history.agents, deal)
    teller.start()
    history.play_in(hand, teller, len(history.moves))
    teller.end()
    return teller.lines


class _Teller:
    """Watches the decisions of one deal and puts them into words."""

    def __init__(
        self,
        rules: Rules,
        seed: int | None,
        games: bool,
        state: Any,
        labels: tuple[str, str],
        deal: int,
    ) -> None:
        self.rules = rules
        self.seed = seed
        self.games = games
        self.state = state
        self.labels = labels
        self.deal = deal
        self.left = 0  # deadwood that the card chosen leaves
        self.lines: list[str] = []
        self.hands = [0, 0]

    def _name(self, seat: int) -> str:
        return self.labels[seat ^ 1 ^ int(self.state["dealer"])]

    def _line(self, seat: int, text: str) -> None:
        width = max(len(label) for label in self.labels)
        turn = int(self.state["turn"]) + 1
        self.lines.append(f"{turn:4d}  {self._name(seat):<{width}}  {text}")

    def start(self) -> None:
        """Tell what was dealt."""
        if int(self.state["deal"]) != self.deal:
            return
        state = self.state
        what = "a hand of no seed"
        if self.seed is not None:
            what = f"deal {self.deal}, mirror {int(state['mirror'])}, seed {self.seed}"
        self.lines.append(
            f"{what}: {self._name(0)} plays first, "
            f"{self._name(1)} deals; knock limit {int(state['limit'])}"
        )
        if int(state["scores"].sum()) or self.games:
            scores = [int(s) for s in state["scores"]]
            self.lines.append(f"score: {self._name(0)} {scores[0]}, {self._name(1)} {scores[1]}")
        width = max(len(label) for label in self.labels)
        for seat in (0, 1):
            dealt = format_hand(int(state["hands"][seat]))
            points = int(state["deadwood"][seat])
            self.lines.append(f"      {self._name(seat):<{width}}  {dealt}  ({points})")
        self.lines.append(f"      {'upcard':<{width}}  {card_name(int(state['upcard']))}")

    def decided(self, seat: int, decision: str, answer: Any) -> None:
        """Tell a decision; called before it takes effect."""
        state = self.state
        if int(state["deal"]) != self.deal:
            return
        if decision == "draw":
            if not answer and int(state["phase"]) in (UPCARD, LAST):
                self._line(seat, f"passes {card_name(int(state['upcard']))}")
        elif decision == "discard":
            card = int(answer)
            verb = "takes" if int(state["taken"]) >= 0 else "draws"
            left = self.left = int(machine.deadwood_after(state, card))
            self._line(
                seat,
                f"{verb} {card_name(int(state['drawn']))}, throws {card_name(card)}"
                f"  ({left} left, stock {int(machine.stock_left(state))})",
            )
        elif answer:
            self._line(seat, f"knocks with {self.left}")
        else:
            self._line(seat, f"does not knock with {self.left}")

    def forfeited(self, error: PlayError) -> None:
        """Tell what a player did."""
        if int(self.state["deal"]) == self.deal:
            self.lines.append(f"      {error}")

    def end(self) -> None:
        """Tell how the hand ended."""
        state = self.state
        if int(state["deal"]) != self.deal:
            return
        outcome = OUTCOMES[int(state["outcome"])]
        if outcome == "dead":
            self.lines.append("      dead hand: nobody scores")
            return
        ender, winner = int(state["ender"]), int(state["winner"])
        if outcome == "forfeit":
            self.lines.append(
                f"      {self._name(ender)} forfeits by an illegal action: "
                f"{self._name(winner)} scores {int(state['points'])}"
            )
            return
        knocker, defender = int(state["hands"][ender]), int(state["hands"][1 - ender])
        settled = showdown(
            knocker,
            defender,
            self.rules,
            upcard=int(state["first_upcard"]),
            seen=int(state["pile"]),
        )
        if outcome == "big_gin":
            drawn = card_name(int(state["drawn"]))
            self._line(ender, f"draws {drawn}: all eleven cards are melded")
        for seat, melds, deadwood in (
            (ender, settled.knocker_melds, settled.knocker_deadwood),
            (1 - ender, settled.defender_melds, settled.defender_deadwood),
        ):
            shown = " | ".join(format_hand(meld) for meld in melds) or "no melds"
            self.lines.append(f"      {self._name(seat)} lays down {shown}; {deadwood} left")
            if seat == ender:
                for one in settled.layoffs:
                    words = describe_layoff(one)
                    self.lines.append(
                        f"      {self._name(1 - ender)} lays off {words['card']} on {words['onto']}"
                    )
        scorer = "nobody scores" if winner < 0 else f"{self._name(winner)} scores"
        points = "" if winner < 0 else f" {int(state['points'])}"
        self.lines.append(f"      {outcome.replace('_', ' ')}: {scorer}{points}")
