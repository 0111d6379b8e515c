"""Histories of hands as text: each a line of JSON that people can read.

``docs/histories.md`` describes the format.  Reading a hand plays it, move by move, and
compares what comes of it with what is written.

Examples
--------
>>> from gin_sim.recorder import record_hand
>>> history = record_hand("simple", "greedy", seed=1, deal=0)
>>> read_history(write_history(history)) == history
True
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gin_sim.cards import card_name, format_hand, parse_card, parse_hand
from gin_sim.checks import MAX_SEED, whole_number
from gin_sim.errors import CardError, GinSimError, ResultsError, RulesError
from gin_sim.folder import HISTORIES
from gin_sim.history import ALLOWED, History
from gin_sim.records import PLAYERS, parts
from gin_sim.rules import Rules
from gin_sim.scoring import MAX_GAME_HANDS

FORMAT_VERSION = 1
_FORMAT = "gin_sim_history"


@cache
def _rules_in_words(rules: Rules) -> dict[str, Any]:
    preset, changes = rules.nearest_preset()
    return {"preset": preset} | changes


def write_history(history: History, result: dict[str, Any] | None = None) -> str:
    """Return a history as one line of JSON, without the end of the line.

    Parameters
    ----------
    history : History
    result : dict, optional
        What came of it, for who has just played it; else it is played for that.

    Raises
    ------
    ResultsError
        If it is not a legal hand.
    """
    document: dict[str, Any] = {
        _FORMAT: FORMAT_VERSION,
        "rules": _rules_in_words(history.rules),
        "agents": dict(zip(PLAYERS, history.agents, strict=True)),
    }
    for name in ("seed", "deal", "mirror", "game"):
        if getattr(history, name) is not None:
            document[name] = getattr(history, name)
    if history.number is not None:
        document["hand"] = history.number
    if history.number is not None or any(history.score):
        document["score"] = dict(zip(PLAYERS, history.score, strict=True))
    document["dealer"] = history.dealer
    document["dealt"] = {
        player: format_hand(cards) for player, cards in zip(PLAYERS, history.dealt, strict=True)
    }
    document["upcard"] = card_name(history.upcard)
    document["moves"] = list(history.moves)
    if history.fault is not None:
        document["fault"] = history.fault
    document["result"] = history.result() if result is None else result
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def read_history(line: str) -> History:
    """Return the hand that a line tells, played and found legal.

    Raises
    ------
    ResultsError
        Naming what cannot be: the field, or the move by its number.
    """
    if not isinstance(line, str):
        raise ResultsError(f"line = {line!r}: must be text, a line of a file of histories")
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"not a line of JSON: {error}") from error
    if not isinstance(document, dict) or _FORMAT not in document:
        raise ResultsError(f"not a hand history: there is no '{_FORMAT}'")
    version = document[_FORMAT]
    if type(version) is not int or version != FORMAT_VERSION:
        raise ResultsError(f"{_FORMAT} {version!r}; this version reads {FORMAT_VERSION}")
    history = _read_fields(document)
    result, number = history.result(), len(history.moves)
    if history.fault is not None and not history.moves[-1].endswith(" forfeit"):
        raise ResultsError(f"fault = {history.fault!r}: nobody forfeits")
    written = _field(document, "result", dict)
    for name in dict.fromkeys([*result, *written]):
        if name not in written or name not in result:
            missing = "is missing" if name in result else "is not known"
            raise ResultsError(f"result: '{name}' {missing}")
        if repr(result[name]) != repr(written[name]):
            raise ResultsError(
                f"after move {number}: {name} is {result[name]!r}, not {written[name]!r}"
            )
    return history


_OPTIONAL = ("seed", "deal", "mirror", "game", "hand", "score", "fault")
_REQUIRED = (_FORMAT, "rules", "agents", "dealer", "dealt", "upcard", "moves", "result")


def _field(document: dict[str, Any], name: str, kind: type) -> Any:
    value = document.get(name)
    if type(value) is not kind:
        raise ResultsError(f"{name} = {value!r} cannot be")
    return value


def _of_both(document: dict[str, Any], name: str, kind: type) -> tuple[Any, Any]:
    """Return what a field has for a and for b."""
    both = _field(document, name, dict)
    if both.keys() != {*PLAYERS} or any(type(value) is not kind for value in both.values()):
        raise ResultsError(f"{name} = {both!r}: one for a and one for b, of {kind.__name__}")
    return both["a"], both["b"]


def _read_fields(document: dict[str, Any]) -> History:
    """Return a history whose fields can be, whatever its moves are."""
    for name in document:
        if name not in _OPTIONAL and name not in _REQUIRED:
            raise ResultsError(f"'{name}' is no field of a history")
    numbers = {
        name: None
        if document.get(name) is None
        else whole_number(document[name], name, 0, MAX_SEED, ResultsError)
        for name in ("seed", "deal", "mirror", "game", "hand")
    }
    if (numbers["seed"] is None) != (numbers["deal"] is None):
        raise ResultsError("seed and deal: give both or none")
    if document.get("dealer") not in PLAYERS:
        raise ResultsError(f"dealer = {document.get('dealer')!r}: allowed is 'a' or 'b'")
    _check_place(numbers, document["dealer"])
    moves = _field(document, "moves", list)
    for i, move in enumerate(moves):
        if not isinstance(move, str):
            raise ResultsError(f"move {i + 1} {move!r}: {ALLOWED}")
    fault = None if document.get("fault") is None else _field(document, "fault", str)
    agents = _of_both(document, "agents", str)
    for name, text in (("agents", agents[0]), ("agents", agents[1]), ("fault", fault or "")):
        if not text.isprintable():
            raise ResultsError(f"{name}: {text!r} cannot be printed in one line")
    try:
        dealt = [parse_hand(cards, 10, "hand dealt") for cards in _of_both(document, "dealt", str)]
        upcard = parse_card(_field(document, "upcard", str))
        if both := dealt[0] & dealt[1] | (dealt[0] | dealt[1]) & 1 << upcard:
            raise CardError(f"{format_hand(both)} is there twice")
    except CardError as error:
        raise ResultsError(f"dealt: {error}") from error
    return History(
        rules=_read_rules(_field(document, "rules", dict)),
        agents=agents,
        dealer=document["dealer"],
        dealt=(dealt[0], dealt[1]),
        upcard=upcard,
        moves=tuple(moves),
        seed=numbers["seed"],
        deal=numbers["deal"],
        mirror=numbers["mirror"],
        game=numbers["game"],
        number=numbers["hand"],
        score=_of_both(document, "score", int) if "score" in document else (0, 0),
        fault=fault,
    )


def _check_place(numbers: dict[str, int | None], dealer: str) -> None:
    """See that the numbers of a hand of a run go together, and with who deals."""
    deal, mirror, game, hand = (numbers[name] for name in ("deal", "mirror", "game", "hand"))
    if mirror not in (None, 0, 1):
        raise ResultsError(f"mirror = {mirror}: allowed is 0 or 1")
    if game is not None and hand is not None:
        if deal not in (None, MAX_GAME_HANDS * game + hand) or hand >= MAX_GAME_HANDS:
            raise ResultsError(f"hand = {hand}: hand {hand} of game {game} is not deal {deal}")
    elif game is not None or hand is not None:
        raise ResultsError("game and hand: give both or none")
    if mirror is not None and not hand and dealer != "ba"[mirror]:
        raise ResultsError(f"dealer = '{dealer}': with mirror {mirror} the other one deals")


def _read_rules(values: dict[str, Any]) -> Rules:
    changes = dict(values)
    try:
        return dataclasses.replace(Rules.preset(changes.pop("preset", None)), **changes)
    except (TypeError, RulesError) as error:
        raise ResultsError(f"rules: {error}") from error


def read_histories(path: str | Path) -> Iterator[History]:
    """Yield the hands of a file, one a line, or of a run, in the order of its rows.

    Parameters
    ----------
    path : path
        A file, in which empty lines are passed over, or the folder of a run.  Of a run that
        is not finished, the parts that are whole are read.

    Raises
    ------
    ResultsError
        If nothing can be read there, or naming the line that is no legal hand.
    """
    if Path(path).is_dir():
        files = parts(Path(path), HISTORIES)
        if not files:
            raise ResultsError(f"'{path}' holds no histories: its run was not told to --log")
        for part in files:
            yield from read_histories(part)
        return
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        history = read_history(line)
                    except GinSimError as error:
                        raise ResultsError(f"'{path}' line {number}: {error}") from error
                    yield history
    except (OSError, ValueError) as error:
        if isinstance(error, GinSimError):
            raise
        if isinstance(error, UnicodeDecodeError):
            raise ResultsError(f"'{path}' is not a file of histories: no text") from error
        reason = getattr(error, "strerror", None) or error
        raise ResultsError(f"'{path}' cannot be read: {reason}") from error


def write_histories(path: str | Path, histories: Iterable[History]) -> None:
    """Write hands into a file, one a line.

    Raises
    ------
    ResultsError
        If one is not a legal hand, or the file cannot be written.
    """
    lines = [write_history(history) + "\n" for history in histories]
    try:
        Path(path).write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"'{path}' cannot be written: {error.strerror}") from error
