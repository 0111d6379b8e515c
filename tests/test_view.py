"""Nothing hidden reaches an agent: what a seat cannot see never changes its view."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gin_sim import Params, View, agent
from gin_sim import state as machine
from gin_sim.chance import pick
from gin_sim.compiled import kernel, records
from gin_sim.play import ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.rules import PRESETS, Rules
from gin_sim.scoring import rules_record
from gin_sim.view import (
    DISCARD,
    DREW,
    HIDDEN_CARD,
    HISTORY,
    KNOCK,
    OVER,
    THREW,
    VIEW_DTYPE,
    describe_history,
)
from tests.oracle import chance
from tests.oracle.bridge import blank, look, move, swap_hidden, view_record
from tests.oracle.melds import cards_in
from tests.oracle.players import answers, player
from tests.oracle.strategies import PRESET_NAMES, SEEDS, all_rules, many

ANY_RULES = st.one_of(
    st.sampled_from(PRESET_NAMES).map(Rules.preset),
    st.just(Rules(wall="reshuffle", knock_limit=0, may_throw_taken=True, thrown_back_limit=None)),
    st.just(Rules(wall="reshuffle", knock_limit=0, big_gin_bonus=31)),
    all_rules(),
)
PLAYERS = ("random", "digester", "waiter", "shuffler", "greedy")


class World:
    """A hand in the machine, whose every new stock is laid by the test."""

    def __init__(self, rules: Rules, deck: list[int], key: int, moved: dict[int, int]) -> None:
        """Start a hand in which every card of `moved` stands where another one stood."""
        self.hand = blank(rules)
        self.state = self.hand.state
        self.state["key"] = np.uint64(key)
        self.state["lazy"] = 0
        self.state["deck"][:] = [moved.get(card, card) for card in deck]
        self.key, self.moved = key, moved
        machine.start_dealt(self.state, self.hand.rules)

    @property
    def phase(self) -> int:
        return int(self.state["phase"])

    @property
    def seat(self) -> int:
        return int(self.state["seat"])

    def _lay_new_stock(self, turned_over: int) -> None:
        if int(self.state["reshuffles"]) > turned_over:
            back = {there: card for card, there in self.moved.items()}
            cards = {back.get(int(c), int(c)) for c in self.state["deck"][21:]}
            stock = chance.new_stock(self.key, turned_over + 1, cards)
            self.state["deck"][21:] = [self.moved.get(card, card) for card in stock]
            self.state["lazy"] = 0

    def answer(self, answer: Any) -> None:
        """Make a decision."""
        turned_over = int(self.state["reshuffles"])
        move(self.hand, answer)
        self._lay_new_stock(turned_over)

    def throw(self, card: int) -> None:
        """Throw a card and do not go out, whatever it leaves."""
        turned_over = int(self.state["reshuffles"])
        left = int(machine.deadwood_after(self.state, card))
        machine.throw(self.state, self.hand.rules, card, left)
        self._lay_new_stock(turned_over)


@dataclass
class Moment:
    """A decision of a hand: who, what it was shown and had seen by then, what it did."""

    seat: int
    view: View
    answer: Any
    seen: frozenset[int] = field(default_factory=frozenset)


def play(world: World, names: tuple[str, str], deck: list[int]) -> list[Moment]:
    """Play a hand; note at each decision all cards that the seat has ever seen."""
    seen = [set(deck[:10]) | {deck[20]}, set(deck[10:20]) | {deck[20]}]
    players = [answers(player(name)) for name in names]
    moments = []
    while world.phase != OVER:
        view = look(world.state)
        seen[world.seat] |= cards_in(view.hand) | {view.upcard} - {-1}
        answer = players[world.seat](view)
        moments.append(Moment(world.seat, view, answer, frozenset(seen[world.seat])))
        if view.phase == DISCARD:
            seen[0].add(answer)
            seen[1].add(answer)
        world.answer(answer)
    return moments


def replay(world: World, moments: list[Moment], seat: int) -> None:
    """Play the same hand in another world; hold what a seat is shown against before."""
    last = moments[-1]
    for moment in moments:
        if world.phase == OVER:
            return  # big gin for the other seat, in this world
        if moment.seat == seat:
            assert world.seat == seat
            assert look(world.state) == moment.view
            if moment is not last:
                world.answer(moment.answer)
        elif moment.view.phase == DISCARD:
            # In this world the card may leave so little that another question follows.
            world.throw(moment.answer)
        elif moment.view.phase != KNOCK:
            world.answer(moment.answer)


@settings(max_examples=many(150, 20), deadline=None)
@given(ANY_RULES, SEEDS, st.sampled_from(PLAYERS), st.sampled_from(PLAYERS), SEEDS)
def test_a_view_is_the_same_in_every_world_that_fits_it(
    rules: Rules, seed: int, first: str, second: str, chosen: int
) -> None:
    dice = random.Random(chosen)
    key = chance.deal_key(seed, 0)
    deck = chance.dealt(key)
    moments = play(World(rules, deck, key, {}), (first, second), deck)
    for at in {len(moments) - 1, dice.randrange(len(moments)), dice.randrange(len(moments))}:
        moment = moments[at]
        hidden = [card for card in range(52) if card not in moment.seen]
        elsewhere = hidden[:]
        dice.shuffle(elsewhere)
        moved = dict(zip(hidden, elsewhere, strict=True))
        replay(World(rules, deck, key, moved), moments[: at + 1], moment.seat)


@settings(max_examples=many(70, 15), deadline=None)
@given(ANY_RULES, SEEDS, st.sampled_from(PLAYERS), st.sampled_from(PLAYERS), SEEDS)
def test_a_view_does_not_read_what_is_hidden(
    rules: Rules, seed: int, first: str, second: str, chosen: int
) -> None:
    dice = random.Random(chosen)
    key = chance.deal_key(seed, 1)
    world = World(rules, chance.dealt(key), key, {})
    players = [answers(player(name)) for name in (first, second)]
    while world.phase != OVER:
        seat = world.seat
        twin = world.hand.fork().state
        swap_hidden(twin, int(twin["seat"]), dice)
        look(twin)
        view = look(world.state)
        # Every field, and all of the history: also what is beyond its length.
        for name in VIEW_DTYPE.names or ():
            shown, shown_there = (view_record(state, seat)[name] for state in (world.state, twin))
            assert np.array_equal(shown, shown_there), name
        world.answer(players[seat](view))


@settings(max_examples=many(60, 10), deadline=None)
@given(ANY_RULES, SEEDS, st.sampled_from(PLAYERS), st.sampled_from(PLAYERS))
def test_a_view_names_only_cards_that_were_seen(
    rules: Rules, seed: int, first: str, second: str
) -> None:
    key = chance.deal_key(seed, 2)
    deck = chance.dealt(key)
    words = set()
    for moment in play(World(rules, deck, key, {}), (first, second), deck):
        view, seen = moment.view, moment.seen
        for name in (
            "hand",
            "legal_discards",
            "best_discards",
            "pile",
            "seen",
            "opponent_known",
            "opponent_discards",
            "own_discards",
            "opponent_refused",
        ):
            assert cards_in(getattr(view, name)) <= seen, name
        shown = {view.upcard, view.drawn, view.taken, view.candidate} - {-1}
        assert shown <= seen
        assert {entry & 63 for entry in view.history} - {HIDDEN_CARD} <= seen
        assert view.history_len == len(view.history)
        for entry in view.history:
            hidden = entry & 63 == HIDDEN_CARD
            assert hidden == (entry >> 8 == 1 and entry >> 6 & 3 == DREW)
        assert len(describe_history(view)) == view.history_len
        throws = [entry for entry in view.history if entry >> 6 & 3 == THREW]
        assert len(throws) == view.turn
        assert sum(entry >> 8 == 0 for entry in throws) == view.own_turn
        assert 0 <= view.word < 2**63
        words.add(view.word)
    assert len(words) > 0


@pytest.mark.parametrize("preset", PRESETS)
def test_every_decision_has_its_own_random_word(preset: str) -> None:
    words = []
    for seed in range(many(20, 3)):
        key = chance.deal_key(seed, 3)
        deck = chance.dealt(key)
        hand = play(World(Rules.preset(preset), deck, key, {}), ("digester", "digester"), deck)
        words += [moment.view.word for moment in hand]
    assert len(words) == len(set(words))


@kernel
def spoil(view: Any) -> None:
    """Write nonsense into everything that tells of cards, and into the history."""
    view.hand = 0
    view.pile = 0
    view.upcard = 77
    view.legal_discards = (1 << 52) - 1
    view.stock_left = -1
    view.knock_limit = 99
    view.big_gin_bonus = 1000
    for i in range(HISTORY):
        view.history[i] = 99


@agent("scribbler", source="made to write into what it is shown")
class Scribbler:
    """Plays at random, and spoils its view each time."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        answer = view.word & 1 == 1
        spoil(view)
        return answer

    @staticmethod
    def discard(view: View, params: Params) -> int:
        answer = pick(view.best_discards, view.word)
        spoil(view)
        return answer

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        answer = view.word & 1 == 1
        spoil(view)
        return answer


@agent("reader", source="the scribbler without its vice")
class Reader:
    """Plays as the scribbler, and leaves its view alone."""

    @staticmethod
    def draw(view: View, params: Params) -> bool:
        return view.word & 1 == 1

    @staticmethod
    def discard(view: View, params: Params) -> int:
        return pick(view.best_discards, view.word)

    @staticmethod
    def knock(view: View, params: Params) -> bool:
        return view.word & 1 == 1


def rows_of(rules: Rules, a: Any, b: Any) -> bytes:
    count = many(200, 5)
    rows = records(2 * count, ROW_DTYPE)
    policies = prepare(a), prepare(b)
    play_hands(new_desk(rules_record(rules)), Order(5, 0, count, 0, 0), *policies, rows)
    return bytes(rows.tobytes())


@pytest.mark.parametrize("preset", PRESETS)
def test_what_an_agent_writes_into_its_view_changes_nothing(preset: str) -> None:
    rules = Rules.preset(preset)
    digester = player("digester")
    assert rows_of(rules, Scribbler, digester) == rows_of(rules, Reader, digester)
