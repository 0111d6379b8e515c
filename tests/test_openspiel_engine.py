"""Hands of ours played in OpenSpiel itself: the same legal actions, deadwood and returns.

Where OpenSpiel is known to be wrong, and only there, they may differ; each kind is counted.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gin_sim import (
    Hand,
    History,
    ResultsError,
    RulesError,
    load_agent,
    parse_hand,
    play_tournament,
    record_hand,
    record_hands,
    shuffled_deck,
)
from gin_sim.cards import card_name, mask_of
from gin_sim.compiled import JIT_DISABLED
from gin_sim.interop import openspiel_bots
from gin_sim.interop.openspiel import (
    DEALT,
    DRAW,
    ELEVEN_CARDS,
    FIRST_MELD,
    KNOCK,
    KNOCK_REFUSED,
    RULES,
    action_of,
    card_of,
    from_actions,
    legal_actions,
    meld_actions,
    to_actions,
)
from gin_sim.interop.openspiel_bots import (
    OPENSPIEL_SIMPLE,
    bot_agent,
    first_state,
    load_game,
    random_bot,
    view_actions,
)
from tests import spiel
from tests.command import refused
from tests.helpers import scaled
from tests.test_openspiel_legal import games

pyspiel = pytest.importorskip("pyspiel", reason="needs open_spiel")

PAIRS = {
    ("simple", "early_gin"): 300,
    ("simple", "gin_only"): 300,
    ("greedy", "random"): 150,
    ("gin_only", "gin_only"): 150,
    ("random", "random"): 50,
    ("simple:knock_most=10,knock_stock=12", "greedy:knock_most=4"): 100,
}
"""Deals, each of two hands."""


class Beside:
    """A hand of ours and the same in OpenSpiel, move by move."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.actions = to_actions(history)
        self.hand: Hand = history.start()
        self.state: Any = first_state()
        self.at = self.nodes = 0
        self.found: Counter[str] = Counter()
        for _ in range(DEALT):
            self._apply()

    def _apply(self) -> None:
        action = self.actions[self.at]
        self.state.apply_action(action)
        self.at += 1

    def _compare(self) -> None:
        """Compare legal actions and deadwood where somebody is to move."""
        hand, state, seat = self.hand, self.state, self.hand.seat
        assert state.current_player() == seat
        self.nodes += 1
        if hand.record["last_chance"]:
            assert set(state.legal_actions()) == legal_actions(hand, declared=True)
            return
        ours, theirs = legal_actions(hand), set(state.legal_actions())
        counts = [int(count) for count in hand.record["deadwood"]]
        eleven = hand.phase == "discard"
        if eleven:
            counts[seat] = int(hand.record["best_deadwood"])
        found = state.deadwood()
        assert found[1 - seat] == counts[1 - seat]
        if found[seat] != counts[seat]:
            assert eleven
            assert found[seat] > counts[seat]
            self.found[ELEVEN_CARDS] += 1
        if ours != theirs:
            assert ours - theirs == {KNOCK}
            assert theirs < ours
            assert counts[seat] <= 10 < found[seat]
            self.found[KNOCK_REFUSED] += 1

    def play(self) -> Counter[str]:
        """Play the hand to its end; return the differences by kind."""
        hand = self.hand
        forced = False
        moves = self.history.moves
        for move, following in zip(moves, (*moves[1:], ""), strict=True):
            verb, *cards = move.split(" ")[1:]
            if forced:
                assert self.state.legal_actions() == [DRAW]
            elif hand.phase != "over":
                self._compare()
            if verb == "knock" and not hand.record["last_chance"]:
                if KNOCK not in self.state.legal_actions():
                    return self.found  # it cannot be played on there
                self._apply()
                assert set(self.state.legal_actions()) == legal_actions(hand, declared=True)
            self._apply()
            for text in (move, following) if verb == "pass" else (move,):
                if " draw " in text and not forced:
                    hand.stack(text.split(" ")[2])  # a hand of no seed
            if verb == "draw":
                if not forced:
                    hand.draw()
                self._apply()
                forced = False
            else:
                before = hand.phase
                {"take": hand.take, "pass": hand.pass_, "throw": hand.throw, "knock": hand.knock}[
                    verb
                ](*(cards if verb in ("throw", "knock") else []))
                forced = verb == "pass" and before == "upcard" and hand.phase != "upcard"
        while self.at < len(self.actions):
            assert self.actions[self.at] in self.state.legal_actions()
            self._apply()
        assert self.state.is_terminal()
        facts = hand.facts()
        points = 0 if facts["winner"] is None else facts["points"] * (1 - 2 * facts["winner"])
        assert self.state.returns() == [points, -points]
        return self.found


def test_hands_of_ours_are_the_same_there() -> None:
    found: Counter[str] = Counter()
    hands = 0
    for (a, b), deals in PAIRS.items():
        for history in record_hands(a, b, seed=77, deals=range(scaled(deals)), rules=RULES):
            found += Beside(history).play()
            hands += 1
    # None of these meets a knock that is refused there: the next test does.
    assert dict(found) == ({} if JIT_DISABLED else {ELEVEN_CARDS: 7})
    assert hands >= scaled(2000)


def refused_knocks() -> Iterator[History]:
    """Yield recorded hands that end with the knock that OpenSpiel refused."""
    for game in games():
        if game["kind"] != "knock10_refused":
            continue
        history = from_actions(spiel.actions(game))
        for i in range(len(history.moves)):
            hand = history.hand(i)
            if hand.phase == "discard" and history.moves[i].split(" ")[1] == "throw":
                for card in hand.legal_knocks():
                    player = history.moves[i][0]
                    moves = (*history.moves[:i], f"{player} knock {card_name(card)}")
                    yield dataclasses.replace(history, moves=moves)


def test_a_knock_refused_there_is_counted() -> None:
    found = [Beside(history).play() for history in refused_knocks()]
    assert found
    assert sum(one[KNOCK_REFUSED] for one in found) >= 1
    assert all(one[KNOCK_REFUSED] == 0 or one[ELEVEN_CARDS] for one in found)


@pytest.mark.parametrize("pair", PAIRS)
def test_action_lists_make_the_same_hands_again(pair: tuple[str, str]) -> None:
    for history in record_hands(*pair, seed=5, deals=range(scaled(5)), rules=RULES):
        actions = to_actions(history)
        again = from_actions(actions)
        swapped = str.maketrans("ab", "ab" if history.dealer == "b" else "ba")
        players = [move[0].translate(swapped) + move[1:] for move in history.moves]
        assert list(again.moves) == players
        assert to_actions(again) == actions
        first = "ab".index(history.dealer) ^ 1
        assert again.dealt == (history.dealt[first], history.dealt[first ^ 1])
        assert again.hand().facts() == history.hand().facts()
        for place in range(0, len(actions), 9):
            broken = [*actions[:place], actions[place] ^ 1, *actions[place + 1 :]]
            try:
                other = from_actions(broken)
            except ResultsError as error:
                assert str(error).startswith(("action ", "the deal: ", "after "))
            else:
                assert other.hand().phase == "over"


def test_every_meld_has_the_number_it_has_there() -> None:
    numbers = pyspiel.gin_rummy.GinRummyUtils(13, 4, 10).int_to_meld
    for number, cards in numbers.items():
        assert meld_actions(mask_of(map(card_of, cards))) == [FIRST_MELD + number]
    long = parse_hand("2h 3h 4h 5h 6h 7h 8h")
    parts = [numbers[action - FIRST_MELD] for action in meld_actions(long)]
    assert mask_of(card_of(card) for part in parts for card in part) == long


def test_what_has_no_action_list_is_refused() -> None:
    history = record_hand("simple", "greedy", seed=1, deal=0)
    with pytest.raises(RulesError, match="other rules"):
        to_actions(history)
    with pytest.raises(ResultsError, match="the deal"):
        from_actions([1, 2, 3, 3])
    for action in ("x", None, 1.5, True, -1):
        with pytest.raises(ResultsError, match="action 1 = "):
            from_actions([1, action])  # type: ignore[list-item]
    own = record_hand("simple", "greedy", seed=1, deal=0, rules=RULES)
    with pytest.raises(ResultsError, match="is not over"):
        from_actions(to_actions(own)[:DEALT])
    with pytest.raises(RulesError, match="forfeited"):
        to_actions(dataclasses.replace(own, moves=(own.moves[0][0] + " forfeit",)))


def test_what_a_seat_sees_is_a_state_there() -> None:
    """Whatever is made up of hidden cards, the seat sees the same as in the real hand."""
    seen = 0
    for history in record_hands("random", "greedy", seed=6, deals=range(scaled(4)), rules=RULES):
        for i in range(len(history.moves)):
            hand = history.hand(i)
            view = hand.view()
            state = first_state()
            for action in view_actions(view):
                assert action in state.legal_actions()
                state.apply_action(action)
            seat = view.is_dealer
            assert mask_of(card_of(card) for card in state.hands()[seat]) == view.hand
            assert state.stock_size() == view.stock_left
            assert mask_of(map(card_of, state.known_cards()[1 - seat])) == view.opponent_known
            if hand.phase != "discard":
                assert set(state.legal_actions()) == legal_actions(hand)
                assert card_of(state.upcard()) == view.upcard
            seen += 1
    assert seen


def own_hand_of_the_bots(deal: int) -> list[int]:
    """Return the actions of two simple bots in OpenSpiel on one of our deals."""
    game = load_game()
    start = to_actions(record_hand("simple", "simple", seed=9, deal=deal, rules=RULES))[:DEALT]
    stock = [action_of(card) for card in shuffled_deck(9, deal)[DEALT:]]
    bots = [pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), p) for p in (0, 1)]
    state = game.new_initial_state()
    for action in start:
        state.apply_action(action)
    while not state.is_terminal():
        chance = state.is_chance_node()
        action = stock.pop(0) if chance else bots[state.current_player()].step(state)
        state.apply_action(action)
    return [int(action) for action in state.history()]


def test_a_bot_plays_here_as_it_plays_there() -> None:
    for deal in range(scaled(20, 2)):
        there = from_actions(own_hand_of_the_bots(deal))
        here = record_hand(OPENSPIEL_SIMPLE, OPENSPIEL_SIMPLE, seed=9, deal=deal, rules=RULES)
        assert here.moves == there.moves


def test_bots_without_openspiel_are_refused_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    file = tmp_path / "bots.py"
    file.write_text(Path(openspiel_bots.__file__).read_text())
    words = ("tournament", f"{file}:openspiel_simple", "simple", "--hands", "2")
    said = refused(capsys, *words, "--on-illegal", "forfeit", "--out", str(tmp_path / "run"))
    assert "OpenSpiel is not installed" in said
    assert not (tmp_path / "run").exists()


def test_bots_are_agents() -> None:
    dice = bot_agent("dice", random_bot, "a test")
    result = play_tournament(
        ["simple", OPENSPIEL_SIMPLE, dice], hands=scaled(16, 2), seed=1, rules=RULES, jobs=1
    )
    assert len(result.hands) == 3 * scaled(16, 2)
    file = Path(openspiel_bots.__file__)
    assert load_agent(f"{file}:openspiel_simple").name == "openspiel_simple"
    if not JIT_DISABLED:
        assert result.ranking.agent.iloc[-1] == "dice"
