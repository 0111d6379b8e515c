"""What gin-sim and a program in another language say to each other, one line of JSON each.

`docs/protocol.md` describes it for those who write such a program.  Every value is text, a
whole number, true, false or null, never a list or an object, so that few lines read it;
cards are text, as everywhere.
"""

from __future__ import annotations

import json
from typing import Any

from gin_sim.cards import card_name, parse_card
from gin_sim.errors import CardError
from gin_sim.rules import Rules
from gin_sim.scoring import OUTCOMES
from gin_sim.view import DRAW, HIDDEN_CARD, PHASES, View

PROTOCOL = 1
"""The version; it changes when a bot that was right would not be any more."""

MOST_SHOWN = 200
"""Characters of a bot's words that are quoted."""

_MASKS = (
    "hand",
    "legal_discards",
    "best_discards",
    "pile",
    "seen",
    "opponent_known",
    "opponent_discards",
    "own_discards",
    "opponent_refused",
)
_NAMES = tuple(card_name(card) for card in range(52))
_CARDS = ("upcard", "drawn", "taken", "candidate")
_WHAT = ("pass", "take", "draw", "throw")

Message = dict[str, Any]


class IllegalAnswerError(Exception):
    """An agent's answer that cannot be, in words; it never leaves the package."""


def encode(message: Message) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def hello() -> Message:
    """Return what a bot is greeted with; it has to answer with the same `protocol`."""
    return {"type": "hello", "protocol": PROTOCOL, "game": "gin rummy"}


def rules_told(rules: Rules) -> Message:
    """Return the rules as a message."""
    return {"type": "rules", **rules.as_dict()}


def _cards_text(mask: int) -> str:
    """Return what :func:`gin_sim.format_hand` does, for a mask known to be one; quicker."""
    names = []
    while mask:
        names.append(_NAMES[(mask & -mask).bit_length() - 1])
        mask &= mask - 1
    return " ".join(names)


def history_text(view: View) -> str:
    """Return a history as text: ``you:throw:Td opponent:take:Td opponent:draw:?``."""
    words = []
    for entry in view.history[: view.history_len]:
        who = "opponent" if entry >> 8 else "you"
        card = entry & 63
        shown = "?" if card == HIDDEN_CARD else _NAMES[card]
        words.append(f"{who}:{_WHAT[entry >> 6 & 3]}:{shown}")
    return " ".join(words)


def question(decision: str, view: View) -> Message:
    """Return a decision to take as a message: what is allowed, and all that the view holds.

    Parameters
    ----------
    decision : str
        ``draw``, ``discard`` or ``knock``.
    """
    if decision == "discard":
        allowed = _cards_text(view.legal_discards)
    elif decision == "knock":
        allowed = "knock wait"
    else:
        allowed = "take draw" if view.phase == DRAW else "take pass"
    message: Message = {"type": "decide", "decision": decision, "allowed": allowed}
    values: dict[str, Any] = view._asdict()
    for name, value in values.items():
        if name in _MASKS:
            message[name] = _cards_text(value)
        elif name in _CARDS:
            message[name] = None if value < 0 else _NAMES[value]
        elif name not in ("history", "history_len"):
            message[name] = value
    message["phase"] = PHASES[view.phase]
    message["is_dealer"] = bool(view.is_dealer)
    message["big_gin_bonus"] = None if view.big_gin_bonus < 0 else view.big_gin_bonus
    # As text: in some languages a number of JSON is a float, and loses digits.
    message["word"] = str(view.word)
    message["history"] = history_text(view)
    return message


def quoted(line: bytes) -> str:
    """Return what a bot said, cut to a length that can be read."""
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…")


def _object(line: bytes) -> Message:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def check_hello(line: bytes) -> None:
    """Refuse an answer to the greeting that is none.

    Raises
    ------
    IllegalAnswerError
        Naming what came and what is allowed.
    """
    version = _object(line).get("protocol")
    if type(version) is not int or version != PROTOCOL:
        wanted = encode({"type": "hello", "protocol": PROTOCOL}).decode().strip()
        raise IllegalAnswerError(f"answered {quoted(line)} to hello; allowed is {wanted}")


def read_answer(line: bytes, asked: Message) -> bool | int:
    """Return a bot's answer as an agent gives it: a bool, or a card's number.

    Whether a card may be thrown is for others to see.

    Raises
    ------
    IllegalAnswerError
        Naming what came and what is allowed.
    """
    said = _object(line)
    answer = said.get("answer")
    same = type(said.get("id")) is int and said["id"] == asked["id"]
    if same and isinstance(answer, str):
        if asked["decision"] == "discard":
            try:
                return parse_card(answer)
            except CardError:
                pass
        elif answer in asked["allowed"].split():
            return answer in ("take", "knock")
    raise IllegalAnswerError(
        f"answered {quoted(line)} to {asked['decision']}; allowed is "
        f'{{"id":{asked["id"]},"answer":A}} with A one of {asked["allowed"]}'
    )


def hand_starts(state: Any, seat: int) -> Message:
    """Return what a seat is told when a hand has been dealt."""
    return {
        "type": "hand",
        "is_dealer": seat == 1,
        "score": int(state["scores"][seat]),
        "opponent_score": int(state["scores"][1 - seat]),
        "knock_limit": int(state["limit"]),
    }


def hand_ends(state: Any, seat: int) -> Message:
    """Return what a seat is told of a finished hand; points are signed, from its side."""
    winner, ender, points = (int(state[name]) for name in ("winner", "ender", "points"))
    return {
        "type": "hand_over",
        "outcome": OUTCOMES[int(state["outcome"])],
        "ender": _who(ender, seat),
        "winner": _who(winner, seat),
        "points": 0 if winner < 0 else points if winner == seat else -points,
    }


def game_ends(game: Any, player: int) -> Message:
    """Return what player a or b (0 or 1) is told of a finished game; the margin is signed."""
    margin = int(game["margin_a"])
    return {
        "type": "game_over",
        "winner": _who(int(game["winner"]), player),
        "margin": -margin if player else margin,
    }


def _who(seat_told: int, seat: int) -> str | None:
    if seat_told < 0:
        return None
    return "you" if seat_told == seat else "opponent"
