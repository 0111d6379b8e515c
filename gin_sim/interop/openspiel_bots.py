"""OpenSpiel's bots as agents: what a seat sees made a state of OpenSpiel's, and asked there.

For hands under the preset `openspiel`, with the package `open_spiel`: where it is missing, this
module says so when it is loaded, not at the first decision.  The agent below stands in
this file, so that the command line finds it by the file's place::

    gin-sim tournament PLACE/openspiel_bots.py:openspiel_simple simple --rules openspiel
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from gin_sim.cards import DECK, cards_of
from gin_sim.errors import AgentError, RulesError
from gin_sim.interop.openspiel import DRAW, KNOCK, PASS, TAKE, action_of, card_of
from gin_sim.registry import Agent, Params
from gin_sim.view import DREW, LAST, PASSED, THREW, TOOK, View

MakeBot = Callable[[Any, int, int], Any]
"""Makes a bot from OpenSpiel's game, the player's number and a random whole number."""

_STOCK, _WALL = 31, 2
_MISSING = "OpenSpiel is not installed: pip install open_spiel"


@cache
def load_game(knock_card: int = 10, gin_bonus: int = 25, undercut_bonus: int = 25) -> Any:
    """Return OpenSpiel's game with some rules.

    Raises
    ------
    AgentError
        If OpenSpiel is not there.
    """
    try:
        import pyspiel  # noqa: PLC0415 - optional
    except ImportError as error:
        raise AgentError(_MISSING) from error
    rules = {"knock_card": knock_card, "gin_bonus": gin_bonus, "undercut_bonus": undercut_bonus}
    return pyspiel.load_game("gin_rummy", rules)


@cache
def _first_state(*rules: int) -> Any:
    return load_game(*rules).new_initial_state()


def first_state(knock_card: int = 10, gin_bonus: int = 25, undercut_bonus: int = 25) -> Any:
    """Return the first state of such a game: a copy, since a new one takes milliseconds."""
    return _first_state(knock_card, gin_bonus, undercut_bonus).clone()


def view_actions(view: View) -> list[int]:
    """Return OpenSpiel's actions that lead to what a seat sees, deal included.

    What the seat cannot know (the opponent's cards, the stock) is made up by the view's random
    word, so that it fits all that the seat has seen.

    Parameters
    ----------
    view : View
        Under rules without a second stock.

    Raises
    ------
    RulesError
        If the pile has been turned over, which OpenSpiel does not know.
    """
    events = [_event(entry) for entry in view.history[: view.history_len]]
    first = next((card for _, what, card in events if what in (PASSED, TOOK)), view.upcard)
    own, opponent, drawn = _dealt(view, events)
    stock, unseen = _STOCK, iter(drawn)
    hands = (opponent, own) if view.is_dealer else (own, opponent)
    actions = [action_of(card) for card in (*hands[0], *hands[1], first)]
    if sum(what == DREW for _, what, _ in events) > _STOCK - _WALL:
        raise RulesError("the pile has been turned over, which OpenSpiel does not know")
    for actor, what, card in events:
        if what == PASSED:
            actions.append(PASS)
        elif what == TOOK:
            actions.append(KNOCK if stock == _WALL else TAKE)
        elif what == THREW:
            actions.append(action_of(card))
        else:
            stock -= 1
            actions += [DRAW, action_of(next(unseen) if actor else card)]
    return actions


def _event(entry: int) -> tuple[int, int, int]:
    """Return actor (0: the seat itself), what and card of an entry of a history."""
    return int(entry) >> 8, int(entry) >> 6 & 3, int(entry) & 63


def _dealt(
    view: View, events: list[tuple[int, int, int]]
) -> tuple[list[int], list[int], list[int]]:
    """Return the own ten cards dealt, ten that fit the opponent, and what it drew."""
    own = view.hand
    for actor, what, card in reversed(events):
        if not actor and what in (DREW, TOOK):
            own &= ~(1 << card)
        elif not actor and what == THREW:
            own |= 1 << card
    dealt: list[int] = []  # of the opponent
    drawn: list[int] = []
    taken: set[int] = set()
    drew = False
    unknown: list[int] = []  # places in `drawn` of cards not seen
    for actor, what, card in events:
        if not actor:
            continue
        if what == TOOK:
            taken.add(card)
        elif what == DREW:
            drew = True
            unknown.append(len(drawn))
            drawn.append(-1)
        elif what == THREW:
            if card in taken:
                taken.remove(card)
            elif drew:
                drawn[unknown.pop()] = card
            else:
                dealt.append(card)
            drew = False
    pool = cards_of(DECK & ~view.seen)
    random.Random(view.word).shuffle(pool)
    for place in unknown:
        drawn[place] = pool.pop()
    while len(dealt) < 10:
        dealt.append(pool.pop())
    return cards_of(own), dealt, drawn


def _steps(view: View, make_bot: MakeBot) -> tuple[int, int]:
    """Return what a bot does at a decision and, if it knocks, what it throws (else -1)."""
    rules = view.knock_limit, view.gin_bonus, view.undercut_bonus
    bot = make_bot(load_game(*rules), view.is_dealer, view.word & 0x7FFFFFFF)
    actions = view_actions(view)
    state = first_state(*rules)
    for action in actions:
        if action == KNOCK:  # the last upcard, taken to knock: the bot has said so
            bot.step(state)
        state.apply_action(action)
    action = bot.step(state)
    if action != KNOCK or view.phase == LAST:
        return action, -1
    state.apply_action(action)
    return action, bot.step(state)


def bot_agent(name: str, make_bot: MakeBot, source: str) -> Agent:
    """Return a bot of OpenSpiel's as an agent, for the slow path.

    A new bot is made for every decision, and shown the hand so far as its seat saw it: bots
    that choose by the state they are shown play as they do in OpenSpiel.

    Parameters
    ----------
    name : str
        Of the agent.
    make_bot : callable
        Makes a bot from OpenSpiel's game, the player's number (0 the non-dealer, 1 the
        dealer) and a random whole number below 2**31 for its dice.
    source : str
        Where the strategy comes from.

    Raises
    ------
    AgentError
        If OpenSpiel is not there.
    """
    if find_spec("pyspiel") is None:
        raise AgentError(_MISSING)

    def draw(view: View, params: Params) -> bool:
        return _steps(view, make_bot)[0] in (TAKE, KNOCK)

    def discard(view: View, params: Params) -> int:
        action, thrown = _steps(view, make_bot)
        return card_of(action if thrown < 0 else thrown)

    def knock(view: View, params: Params) -> bool:
        return _steps(view, make_bot)[0] == KNOCK

    return Agent(
        name=name,
        summary=f"A bot of OpenSpiel's: {name}",
        source=source,
        params={},
        compiled=False,
        draw=draw,
        discard=discard,
        knock=knock,
        file=make_bot.__code__.co_filename,
    )


def simple_bot(game: Any, player: int, seed: int) -> Any:
    """Return OpenSpiel's `simple_gin_rummy_bot`: draws what lowers its deadwood, knocks at once."""
    import pyspiel  # noqa: PLC0415 - optional

    return pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), player)


def random_bot(game: Any, player: int, seed: int) -> Any:
    """Return a bot that takes any legal action."""
    import pyspiel  # noqa: PLC0415 - optional

    return pyspiel.make_uniform_random_bot(player, seed)


_SOURCE = "OpenSpiel, open_spiel/bots/gin_rummy/simple_gin_rummy_bot.cc"
OPENSPIEL_SIMPLE = bot_agent("openspiel_simple", simple_bot, _SOURCE)
