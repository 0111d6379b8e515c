"""Whole hands: the compiled loop and the oracle agree hand for hand, view for view."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gin_sim import shuffled_deck
from gin_sim import state as machine
from gin_sim.cards import parse_card, parse_cards
from gin_sim.chance import MAX_SEED
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.play import DONE, ROW_DTYPE, Order, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.rules import PRESETS, Rules
from gin_sim.scoring import OUTCOMES, rules_record
from gin_sim.table import Hand
from gin_sim.view import DISCARD, KNOCK, OVER
from tests.oracle import chance, game
from tests.oracle.bridge import dealt, look, move
from tests.oracle.hand import Facts, OracleHand
from tests.oracle.players import answers, player
from tests.oracle.strategies import PRESET_NAMES, SEEDS, all_rules, many, random_rules

PAIRS = [
    ("random", "random"),
    ("simple", "greedy"),
    ("gin_only", "early_gin"),
    ("magpie", "simple"),
    ("shuffler", "magpie"),
    ("waiter", "waiter"),
    ("digester", "digester"),
    ("random", "early_gin"),
]
NAMES = sorted({name for pair in PAIRS for name in pair})


def play(rules: Rules, order: Order, a: str, b: str) -> list[dict[str, int]]:
    """Return the rows that the compiled loop writes."""
    rows = records(2 * order.count, ROW_DTYPE)
    desk = new_desk(rules_record(rules))
    policies = prepare(player(a)), prepare(player(b))
    assert tuple(play_hands(desk, order, *policies, rows)) == (DONE, rows.size)
    return [{name: int(row[name]) for name in ROW_DTYPE.names or ()} for row in rows]


def check_hands(rules: Rules, order: Order, a: str, b: str) -> list[dict[str, int]]:
    rows = play(rules, order, a, b)
    numbers = range(order.first, order.first + order.count)
    players = answers(player(a)), answers(player(b))
    expected = list(game.hands(rules, order.seed, numbers, *players, bool(order.forgiving)))
    for row, wanted in zip(rows, expected, strict=True):
        assert row == wanted
    return rows


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_with_every_kind_of_agent(preset: str, a: str, b: str) -> None:
    seed = random.Random(f"{preset} {a} {b}").randrange(MAX_SEED)
    check_hands(Rules.preset(preset), Order(seed, 0, many(12, 1), 0, 0), a, b)


@settings(max_examples=many(150, 25), deadline=None)
@given(all_rules(), SEEDS, st.integers(0, 2**40), st.sampled_from(PAIRS))
def test_every_combination_of_rules(
    rules: Rules, seed: int, first: int, pair: tuple[str, str]
) -> None:
    check_hands(rules, Order(seed, first, many(3, 1), 0, 0), *pair)


def test_random_rules_reach_every_kind_of_end() -> None:
    dice = random.Random(7)
    ends: set[tuple[str, bool]] = set()
    for _ in range(many(150, 30)):
        rules = random_rules(dice)
        a, b = dice.choice(NAMES), dice.choice(NAMES)
        order = Order(dice.randrange(MAX_SEED), dice.randrange(1000), many(3, 1), 0, 0)
        for row in check_hands(rules, order, a, b):
            ends.add((OUTCOMES[row["outcome"]], row["winner"] < 0))
    reached = {outcome for outcome, _ in ends}
    assert {"dead", "knock", "gin"} <= reached
    if not JIT_DISABLED:  # so few hands then that the rarer ends need not be among them
        assert {"undercut", "big_gin"} <= reached
        assert ("knock", True) in ends  # a tie that pays nobody


@pytest.mark.parametrize("wall", ["dead", "50th_card", "reshuffle"])
@pytest.mark.parametrize("may_throw_taken", [False, True])
def test_the_wall(wall: str, may_throw_taken: bool) -> None:
    rules = Rules(wall=wall, may_throw_taken=may_throw_taken, thrown_back_limit=None)
    rows = check_hands(rules, Order(3, 0, many(30, 2), 0, 0), "waiter", "waiter")
    at_the_wall = [row for row in rows if row["stock_left"] == 2]
    assert at_the_wall or wall == "reshuffle"
    if wall == "50th_card" and not JIT_DISABLED:
        # Some knock with the last upcard after drawing and throwing 29 cards and one more.
        assert any(row["ender"] >= 0 and row["turns"] == 30 for row in at_the_wall)
    if wall == "reshuffle" and not JIT_DISABLED:
        assert any(row["turns"] > 29 for row in rows)


@pytest.mark.parametrize("longest_meld", [5, 6, 7])
@pytest.mark.parametrize("oklahoma_ace", ["one", "gin"])
def test_long_hands_with_the_rarer_rules(longest_meld: int, oklahoma_ace: str) -> None:
    rules = Rules(
        longest_meld=longest_meld,
        oklahoma=True,
        oklahoma_ace=oklahoma_ace,
        oklahoma_spades_double=True,
        big_gin_bonus=31,
        wall="reshuffle",
        undercut_on_tie=False,
    )
    check_hands(rules, Order(11, 0, many(30, 2), 0, 0), "gin_only", "digester")


def test_an_illegal_card_forgiven_is_a_hand_lost() -> None:
    for preset in ("standard", "openspiel", "oklahoma"):
        rules = Rules.preset(preset)
        rows = check_hands(rules, Order(1, 0, many(30, 4), 0, 1), "cheat", "digester")
        lost = [row for row in rows if OUTCOMES[row["outcome"]] == "forfeit"]
        assert lost
        assert all(row["winner"] == 1 for row in lost)


def test_the_deck_is_shuffled_as_specified() -> None:
    dice = random.Random(1)
    for _ in range(many(300, 100)):
        seed, deal = dice.randrange(MAX_SEED + 1), dice.choice([dice.randrange(MAX_SEED), 0, 1])
        expected = chance.dealt(chance.deal_key(seed, deal))
        assert shuffled_deck(seed, deal) == expected
        assert sorted(expected) == list(range(52))


def facts_of(state: Any) -> Facts:
    """Return the facts in a finished state."""
    return Facts(
        outcome=OUTCOMES[int(state["outcome"])],
        turns=int(state["turn"]),
        stock_left=int(machine.stock_left(state)),
        first_chance=[int(n) for n in state["first_chance"]],
        dealt_deadwood=[int(n) for n in state["dealt_deadwood"]],
        first_upcard=int(state["first_upcard"]),
        knock_limit=int(state["limit"]),
        multiplier=int(state["multiplier"]),
        ender=int(state["ender"]),
        winner=int(state["winner"]),
        points=int(state["points"]),
        knock_deadwood=int(state["knock_deadwood"]),
        before=int(state["defender_before"]),
        after=int(state["defender_after"]),
        laid_off=int(state["laid_off"]).bit_count(),
    )


def check_views(rules: Rules, seed: int, deal: int, scores: tuple[int, int], names: Any) -> int:
    """Hold the views of a hand against the oracle's; return how many there were."""
    library = dealt(rules, seed, deal, scores)
    state = library.state
    hand = OracleHand.dealt(rules, seed, deal, scores=scores)
    players = [answers(player(name)) for name in names]
    course = hand.play()
    expected = next(course)
    n = 0
    while True:
        assert int(state["seat"]) == hand.seat
        shown = look(state)
        assert shown._asdict() == expected._asdict()
        n += 1
        answer = players[hand.seat](expected)
        move(library, answer)
        try:
            expected = course.send(answer)
        except StopIteration as end:
            assert int(state["phase"]) == OVER
            assert facts_of(state) == end.value
            return n


@pytest.mark.parametrize("preset", PRESETS)
def test_every_view_of_a_hand(preset: str) -> None:
    dice = random.Random(preset)
    for _ in range(many(15, 2)):
        names = dice.choice(NAMES), dice.choice(NAMES)
        scores = dice.randrange(100), dice.randrange(100)
        check_views(Rules.preset(preset), dice.randrange(MAX_SEED), 0, scores, names)


@settings(max_examples=many(150, 20), deadline=None)
@given(all_rules(), SEEDS, st.integers(0, 99), st.integers(0, 99), st.sampled_from(PAIRS))
def test_every_view_under_any_rules(
    rules: Rules, seed: int, score: int, other_score: int, pair: tuple[str, str]
) -> None:
    assert check_views(rules, seed, 0, (score, other_score), pair) > 0


def test_views_of_very_long_hands() -> None:
    """Hands that turn the pile over again and again, up to the limit of turns."""
    rules = Rules(wall="reshuffle", knock_limit=0, pile_draw_limit=100, may_throw_taken=True)
    longest = max(
        check_views(rules, seed, 0, (0, 0), ("random", "random")) for seed in range(many(12, 2))
    )
    assert longest > 200
    rules = Rules(wall="reshuffle", knock_limit=0, may_throw_taken=True, thrown_back_limit=None)
    check_views(rules, 0, 0, (0, 0), ("shuffler", "digester"))


def walk_table(hand: Hand, oracle: OracleHand, answer: game.Answer) -> Facts:
    """Play a hand at the table; hold every view there against the oracle's."""
    course = oracle.play()
    view = next(course)
    while True:
        assert hand.seat == oracle.seat
        assert hand.view()._asdict() == view._asdict()
        move = answer(view)
        try:
            if view.phase == DISCARD:
                view = course.send(move)
                if view.phase == KNOCK:
                    go = answer(view)
                    (hand.knock if go else hand.throw)(move)
                    view = course.send(go)
                else:
                    hand.throw(move)
            else:
                refuse = hand.draw if hand.phase == "draw" else hand.pass_
                (hand.take if move else refuse)()
                view = course.send(move)
        except StopIteration as end:
            facts: Facts = end.value
            if hand.phase == "discard":  # the throw that ended it is still to be made
                (hand.throw if facts.outcome == "dead" else hand.knock)(move)
            return facts


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_hand_at_the_table_shows_the_same_views(preset: str) -> None:
    rules = Rules.preset(preset)
    for deal in range(many(10, 2)):
        hand = Hand.dealt(9, deal, rules)
        oracle = OracleHand.dealt(rules, 9, deal)
        facts = walk_table(hand, oracle, answers(player("digester")))
        found = hand.facts()
        for name in ("outcome", "points", "turns", "stock_left"):
            assert found[name] == getattr(facts, name)
        assert found["defender_deadwood"] == (None if facts.after < 0 else facts.after)
        assert len(found["laid_off"]) == facts.laid_off


@pytest.mark.parametrize(
    ("drawn", "laid_off"),
    # Three runs stand open to six cards, three sets to three: the sets are laid down, unless
    # four of the six lie in the pile.
    [("8c 4d 8d", []), ("Ks 4d 8d", ["5s", "7s"])],
)
def test_a_knocker_counts_on_what_lies_in_the_pile(drawn: str, laid_off: list[str]) -> None:
    non_dealer = "5c 5d 5h 6c 6d 6h 7c 7d 7h Ac"
    dealer = "5s 7s Kc Qd Jh 9s 9d 2h 2d Ts"
    deck = parse_cards(f"{non_dealer} {dealer} 4c {drawn}")
    deck += [card for card in range(52) if card not in deck]
    first, second, last = drawn.split()
    hand = Hand.from_deck(deck)
    hand.pass_()
    hand.pass_()
    hand.throw(first)
    hand.draw()
    hand.throw(second)
    hand.draw()
    hand.knock(last)
    assert hand.facts()["laid_off"] == parse_cards(laid_off)

    # The same under the eyes of the oracle, where a knock that may be made is asked for.
    course = OracleHand(Rules(), deck).play()
    next(course)
    for answer in (False, False, parse_card(first), False, False, parse_card(second)):
        course.send(answer)
    course.send(False)
    course.send(parse_card(last))
    with pytest.raises(StopIteration) as end:
        course.send(True)
    assert end.value.value.laid_off == len(laid_off)
