"""The history of a hand: what was dealt and what was done, and the hand that it makes.

All else follows from these by the rules, so that a history that is no legal hand is refused
with the number of the move.  :mod:`gin_sim.history_lines` writes and reads them.

Examples
--------
>>> from gin_sim.recorder import record_hand
>>> history = record_hand("simple", "greedy", seed=1, deal=0)
>>> history.moves[0], history.result()["outcome"]
('a take As', 'undercut')
>>> history.hand(moves=2).phase
'draw'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gin_sim import state as machine
from gin_sim.cards import card_name, cards_of, format_hand, parse_card
from gin_sim.checks import whole_number
from gin_sim.compiled import records
from gin_sim.drive import Watcher
from gin_sim.errors import CardError, PlayError, ResultsError, RulesError
from gin_sim.play import ROW_DTYPE, write_row
from gin_sim.records import CARD_NAMES, PLAYERS, ROW_NUMBERS
from gin_sim.rules import Rules
from gin_sim.scoring import OUTCOMES
from gin_sim.table import Hand

_WITH_CARD = ("take", "draw", "throw", "knock")
_WITHOUT_CARD = ("pass", "forfeit")
_NUMBERS = {name: card for card, name in enumerate(CARD_NAMES)}
ALLOWED = "allowed is 'PLAYER take|draw|throw|knock CARD' or 'PLAYER pass|forfeit'"
"""What a move can be."""


@dataclass(frozen=True)
class History:
    """A hand: what was dealt, and each move.

    Attributes
    ----------
    rules : Rules
    agents : (str, str)
        Who players a and b are.
    dealer : str
        ``a`` or ``b``; the other one moves first.
    dealt : (int, int)
        The ten cards dealt to a and to b, as masks.
    upcard : int
        The card turned up after the deal.
    moves : tuple of str
        Player, verb, card: ``a pass``, ``b take 4h``, ``a draw 5c``, ``b throw Kd``,
        ``a knock 2s`` (throws the card and goes out), ``a forfeit``.  A draw of the
        non-dealer after two passes is a move like others; gin and big gin are declared
        by nobody: gin is a `knock`, and a hand ends with the draw that makes big gin.
    seed, deal, mirror : int, optional
        Of the run the hand comes from.  With a seed the cards must be those of its deal.
    game, number : int, optional
        Of the game, and of the hand in it.
    score : (int, int)
        Points of a and b in the game before the hand.
    fault : str, optional
        What the player that forfeits has done.
    """

    rules: Rules
    agents: tuple[str, str]
    dealer: str
    dealt: tuple[int, int]
    upcard: int
    moves: tuple[str, ...]
    seed: int | None = None
    deal: int | None = None
    mirror: int | None = None
    game: int | None = None
    number: int | None = None
    score: tuple[int, int] = (0, 0)
    fault: str | None = None

    def start(self) -> Hand:
        """Return the hand as it is dealt.

        Raises
        ------
        ResultsError
            If the cards cannot be, or are not those of the seed's deal.
        """
        first = "ab".index(self.dealer) ^ 1
        cards = (self.dealt[first], self.dealt[first ^ 1])
        scores = (self.score[first], self.score[first ^ 1])
        try:
            if self.seed is None or self.deal is None:
                known = [*cards_of(cards[0]), *cards_of(cards[1]), self.upcard]
                deck = [*known, *(card for card in range(52) if card not in known)]
                return Hand.from_deck(deck, self.rules, scores=scores)
            hand = Hand.dealt(self.seed, self.deal, self.rules, scores=scores)
        except (CardError, RulesError) as error:
            raise ResultsError(f"dealt: {error}") from error
        if hand.upcard != self.upcard or (hand.cards(0), hand.cards(1)) != cards:
            raise ResultsError(f"dealt: seed {self.seed} has other cards in deal {self.deal}")
        return hand

    def hand(self, moves: int | None = None) -> Hand:
        """Return the hand after some of its moves, or at its end.

        With a seed it goes on as it did in its run: the same cards and random words come.

        Parameters
        ----------
        moves : int, optional
            How many; all if not given, and the hand must then be over.

        Raises
        ------
        ResultsError
            Saying at which move it is no legal hand, and why.
        """
        hand = self.start()
        many = len(self.moves)
        self.play_in(hand, None, many if moves is None else whole_number(moves, "moves", 0, many))
        if moves is None and hand.phase != "over":
            player = PLAYERS[_player(hand, self.dealer)]
            raise ResultsError(
                f"after move {many} the hand is not over: {player} is to move ({hand.phase})"
            )
        return hand

    def play_in(self, hand: Hand, watch: Watcher | None, moves: int) -> None:
        """Make moves in a hand that has just been dealt; tell a watcher of each decision."""
        forced = False  # the draw after two passes, which the machine has made
        for i, text in enumerate(self.moves[:moves]):
            try:
                following = self.moves[i + 1] if i + 1 < len(self.moves) else ""
                forced = self._move(hand, watch, text, following, forced)
            except (CardError, RulesError, _WrongMoveError) as error:
                raise ResultsError(f"move {i + 1} '{text}': {error}") from error
        if forced and moves == len(self.moves):
            raise ResultsError(f"after move {moves} the non-dealer is to draw")

    def _move(
        self, hand: Hand, watch: Watcher | None, text: str, following: str, forced: bool
    ) -> bool:
        """Make a move; return whether the machine has made the next one as well."""
        player, verb, card = _read_move(text)
        if hand.phase == "over" and not forced:
            raise _WrongMoveError("the hand is over")
        state = hand.record
        seat = hand.seat
        if player != PLAYERS[_player(hand, self.dealer)]:
            raise _WrongMoveError(f"{PLAYERS[_player(hand, self.dealer)]} is to move")
        if forced:
            if verb != "draw":
                raise _WrongMoveError("after two passes the non-dealer draws")
            self._check_drawn(hand, card)
        elif verb in ("throw", "knock"):
            if watch is not None:
                self._tell_discard(watch, hand, seat, verb, card)
            (hand.throw if verb == "throw" else hand.knock)(card)
        elif verb == "forfeit":
            if watch is not None:
                watch.forfeited(PlayError(self.fault or "forfeits"))
            hand.forfeit()
        else:
            if verb == "take" and hand.upcard is not None and card != hand.upcard:
                raise _WrongMoveError(f"the upcard is {card_name(int(state['upcard']))}")
            if watch is not None:
                watch.decided(seat, "draw", verb == "take")
            forced = verb == "pass" and int(state["passes"]) == 1 and hand.phase == "upcard"
            if verb == "draw" or forced:
                self._stack(hand, text if verb == "draw" else following)
            {"take": hand.take, "draw": hand.draw, "pass": hand.pass_}[verb]()
            if verb == "draw":
                self._check_drawn(hand, card)
            return forced
        return False

    def _stack(self, hand: Hand, move: str) -> None:
        """Let the stock give the card of a draw, where no seed says what comes."""
        if self.seed is None:
            _, verb, card = _read_move(move)
            if verb == "draw":
                hand.stack(card)

    def _check_drawn(self, hand: Hand, card: int) -> None:
        drawn = int(hand.record["drawn"])
        if drawn != card:
            raise _WrongMoveError(f"the stock gives {card_name(drawn)}")

    def _tell_discard(self, watch: Watcher, hand: Hand, seat: int, verb: str, card: int) -> None:
        """Tell of a card and then, where an agent would be asked, of knocking with it."""
        watch.decided(seat, "discard", card)
        left = int(machine.deadwood_after(hand.record, card))
        if 0 < left <= hand.knock_limit and not hand.record["last_chance"]:
            watch.decided(seat, "knock", verb == "knock")

    def result(self) -> dict[str, Any]:
        """Return what came of the hand, named as the columns of rows.

        Raises
        ------
        ResultsError
            As :meth:`hand`.
        """
        return result_of(self.hand().record, PLAYERS.index(self.dealer))


class _WrongMoveError(Exception):
    """A move that cannot be, in words; it never leaves this module."""


def _player(hand: Hand, dealer: str) -> int:
    """Return who is to move: 0 for a, 1 for b."""
    return hand.seat ^ 1 ^ PLAYERS.index(dealer)


def _read_move(text: str) -> tuple[str, str, int]:
    """Return player, verb and card (-1 where there is none) of a move."""
    words = text.split(" ")
    if words[0] in PLAYERS and 2 <= len(words) <= 3:
        if len(words) == 3 and words[1] in _WITH_CARD:
            card = _NUMBERS.get(words[2])
            return words[0], words[1], parse_card(words[2]) if card is None else card
        if len(words) == 2 and words[1] in _WITHOUT_CARD:
            return words[0], words[1], -1
    raise _WrongMoveError(ALLOWED)


def result_of(state: Any, dealer: int) -> dict[str, Any]:
    """Return what came of a finished hand: its row in words, lay-offs and the last cards.

    Parameters
    ----------
    state : record
        See :mod:`gin_sim.hand_record`.
    dealer : int
        0 if player a deals, 1 if b does.
    """
    row = records(1, ROW_DTYPE)[0]
    write_row(row, state, dealer)

    def named(name: str, words: Sequence[str]) -> str | None:
        code = int(row[name])
        return None if code < 0 else words[code]

    found: dict[str, Any] = {
        "outcome": named("outcome", OUTCOMES),
        "ender": named("ender", PLAYERS),
        "winner": named("winner", PLAYERS),
        "points_a": int(row["points_a"]),
    }
    for name in ROW_NUMBERS:
        found[name] = None if row[name] < 0 else int(row[name])
    found["laid_off"] = format_hand(int(state["laid_off"]))
    first = 1 - dealer
    found["cards"] = {
        "a": format_hand(int(state["hands"][first])),
        "b": format_hand(int(state["hands"][1 - first])),
    }
    return found
