"""The rules of a hand and of a game, as one frozen record, and their presets.

Examples
--------
>>> Rules().knock_limit
10
>>> Rules.preset("classic").gin_bonus
20
>>> Rules.preset("casual").with_settings({"knock_limit": "10"}).knock_limit
10
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from gin_sim.cards import as_card, read_card
from gin_sim.errors import RulesError

NO_LIMIT = 13
"""The longest meld where there is no limit."""


def _rule(default: Any, allowed: Any, doc: str) -> Any:
    """Declare a rule: its default, what is allowed (a range or values), what it means."""
    return field(default=default, metadata={"allowed": allowed, "doc": doc})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """All rules; every field is checked when the record is made.

    See `docs/rules.md` for what each means and where it comes from; ``describe()`` says
    it for the values in force.

    Raises
    ------
    RulesError
        Naming the field, the value and what is allowed.
    """

    players: int = _rule(2, (2,), "players at the table")
    hand_size: int = _rule(10, (10,), "cards dealt to each player")
    knock_limit: int = _rule(10, range(11), "most points to knock with; 0: gin only")
    gin_bonus: int = _rule(25, range(1001), "points for gin, beside the other hand's deadwood")
    undercut_bonus: int = _rule(25, range(1001), "points for an undercut, beside the difference")
    undercut_on_tie: bool = _rule(True, bool, "equal counts are an undercut (else nobody scores)")
    big_gin_bonus: int | None = _rule(
        None, (None, *range(1001)), "points for eleven melded cards; none: no big gin"
    )
    longest_meld: int | None = _rule(
        None, (None, *range(5, 14)), "most cards in a meld; none: no limit"
    )
    oklahoma: bool = _rule(False, bool, "the upcard's value is the knock limit")
    oklahoma_ace: str = _rule("gin", ("gin", "one"), "what an ace upcard asks for")
    oklahoma_spades_double: bool = _rule(False, bool, "a spade upcard doubles the hand's points")
    double_boxes: bool = _rule(False, bool, "a doubled hand counts two boxes")
    may_throw_taken: bool = _rule(False, bool, "the card taken from the pile may be thrown at once")
    thrown_back_limit: int | None = _rule(
        2, (None, *range(1, 101)), "dead after so many turns in a row that throw the taken card"
    )
    wall: str = _rule(
        "dead",
        ("dead", "50th_card", "reshuffle"),
        "what a discard that leaves two stock cards leads to",
    )
    pile_draw_limit: int = _rule(
        50, range(1, 101), "the hand is dead at the draw from the pile with this number"
    )
    turn_limit: int = _rule(200, range(1, 201), "the hand is dead after so many turns")
    dead_hand: str = _rule(
        "same_dealer", ("same_dealer", "alternate"), "who deals after a dead hand"
    )
    next_dealer: str = _rule(
        "alternate", ("alternate", "winner", "loser"), "who deals after a scored hand"
    )
    target: int = _rule(100, range(1, 100_001), "points that win a game")
    game_bonus: int = _rule(100, range(100_001), "points for winning a game")
    line_bonus: int = _rule(25, range(1001), "points for each hand won (box)")
    line_bonus_when: str = _rule(
        "end", ("end", "at_once"), "boxes are added at the end, or at once towards the target"
    )
    shutout: str = _rule(
        "bonus", ("none", "bonus", "double"), "what a game against a blank opponent earns"
    )
    shutout_bonus: int = _rule(100, range(100_001), "the bonus, where shutout is 'bonus'")
    hollywood: bool = _rule(False, bool, "three games at once")
    hollywood_late_start: str = _rule(
        "next_open",
        ("next_open", "fixed"),
        "a first win that finds game one closed is entered in the next open game, or lost",
    )

    def __post_init__(self) -> None:
        for rule in fields(self):
            value = getattr(self, rule.name)
            if isinstance(value, np.integer | np.bool_):
                value = value.item()
                object.__setattr__(self, rule.name, value)
            allowed = rule.metadata["allowed"]
            if allowed is bool:
                good = isinstance(value, bool)
            elif isinstance(value, bool):
                good = False
            else:
                good = type(value) in (type(allowed[0]), type(allowed[-1])) and value in allowed
            if not good:
                raise RulesError(f"{rule.name} = {value!r}: allowed is {_allowed_text(allowed)}")

    @classmethod
    def preset(cls, name: str) -> Rules:
        """Return the rules of a preset; see :data:`PRESETS`."""
        key = str(name).strip().lower().replace("_", "-")
        if key not in PRESETS:
            raise RulesError(f"no rules preset '{name}'{_hint(key, PRESETS)}: {', '.join(PRESETS)}")
        return cls(**PRESETS[key])

    @classmethod
    def standard(cls) -> Rules:
        """Return the default rules."""
        return cls()

    def with_settings(self, settings: Mapping[str, str]) -> Rules:
        """Return these rules with fields changed, each value given as text.

        Parameters
        ----------
        settings : mapping
            Field to value; ``none`` and ``true``/``false`` are understood.
        """
        if not isinstance(settings, Mapping):
            raise RulesError(f"settings = {settings!r}: give a dict of field to value")
        known = {rule.name: rule for rule in fields(self)}
        changes: dict[str, Any] = {}
        for key, text in settings.items():
            name = str(key).strip().replace("-", "_")
            if name not in known:
                raise RulesError(f"no rule '{key}'{_hint(name, known)}: {', '.join(known)}")
            changes[name] = _read(name, text, known[name].metadata["allowed"])
        return dataclasses.replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return every field and its value, in the order of declaration."""
        return dataclasses.asdict(self)

    def nearest_preset(self) -> tuple[str, dict[str, Any]]:
        """Return the preset that differs in fewest rules, and those rules with their values.

        Examples
        --------
        >>> Rules(big_gin_bonus=31, target=50).nearest_preset()
        ('big-gin', {'target': 50})
        """
        return min(
            ((name, self._changes_from(Rules.preset(name))) for name in PRESETS),
            key=lambda found: len(found[1]),
        )

    def _changes_from(self, other: Rules) -> dict[str, Any]:
        before = other.as_dict()
        return {name: v for name, v in self.as_dict().items() if v != before[name]}

    def describe(self) -> list[str]:
        """Return one line for each rule in force: field, value, meaning."""
        return [f"{r.name} = {getattr(self, r.name)}  ({r.metadata['doc']})" for r in fields(self)]

    def limit_for(self, upcard: int | str | None) -> int:
        """Return the knock limit of a hand with this upcard (a card, or None).

        Raises
        ------
        RulesError
            Under Oklahoma rules without the upcard, which sets the limit.
        """
        if not self.oklahoma:
            return self.knock_limit
        if upcard is None:
            raise RulesError("oklahoma = True: the first upcard sets the limit; give the upcard")
        value = min(read_card(upcard) % 13 + 1, 10)
        return 0 if value == 1 and self.oklahoma_ace == "gin" else value

    def doubles(self, upcard: int | str | None) -> bool:
        """Return whether a hand with this upcard counts double."""
        card = as_card(upcard)
        doubling = self.oklahoma and self.oklahoma_spades_double
        return doubling and card is not None and card // 13 == 3


def as_rules(rules: Rules | str | None) -> Rules:
    """Return rules given as such, by the name of a preset, or not at all (standard)."""
    if rules is None:
        return Rules()
    if isinstance(rules, str):
        return Rules.preset(rules)
    if not isinstance(rules, Rules):
        raise RulesError(f"rules = {rules!r}: allowed are Rules or the name of a preset")
    return rules


def _allowed_text(allowed: Any) -> str:
    if allowed is bool:
        return "True or False"
    if isinstance(allowed, range):
        return f"{allowed[0]}..{allowed[-1]}"
    if allowed[0] is None:
        return f"None or {allowed[1]}..{allowed[-1]}"
    return " or ".join(repr(value) for value in allowed)


def _hint(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _read(name: str, text: str, allowed: Any) -> Any:
    """Read a value given as text, by the kind of rule it is for."""
    word = str(text).strip().lower()
    if allowed is bool:
        words = {"true": True, "yes": True, "on": True, "1": True}
        words |= {"false": False, "no": False, "off": False, "0": False}
        if word in words:
            return words[word]
    elif None in allowed and word in ("none", "off", "no"):
        return None
    elif isinstance(allowed[-1], str):
        return word
    else:
        try:
            return int(word)
        except ValueError:
            pass
    raise RulesError(f"{name} = '{text}': allowed is {_allowed_text(allowed)}")


PRESETS: dict[str, dict[str, Any]] = {
    "standard": {},
    # A how-to-play page with the tip "knock at once while 23 or more cards are left".
    "poozee": {"dead_hand": "alternate"},
    # A second page of rules: "less than ten", melds of three to five.
    "casual": {
        "knock_limit": 9,
        "gin_bonus": 30,
        "undercut_bonus": 10,
        "big_gin_bonus": 50,
        "longest_meld": 5,
    },
    # The EAAI-2021 Gin Rummy challenge.
    "eaai": {"game_bonus": 0, "line_bonus": 0, "shutout": "none"},
    # OpenSpiel's gin_rummy; it plays single hands, so games have no bonuses.
    "openspiel": {
        "undercut_on_tie": False,
        "may_throw_taken": True,
        "wall": "50th_card",
        "game_bonus": 0,
        "line_bonus": 0,
        "shutout": "none",
    },
    "oklahoma": {"oklahoma": True},
    "straight": {"knock_limit": 0},
    "big-gin": {"big_gin_bonus": 31},
    "hollywood": {"hollywood": True},
    # As in Bicycle's rules.
    "classic": {"gin_bonus": 20, "undercut_bonus": 10, "line_bonus": 20},
}
"""Preset name to the fields in which it differs from the default."""
