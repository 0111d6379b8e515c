"""A fork is the same hand twice: each branch is what it would be, played from the deal."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gin_sim import AgentError, CardError, Hand, PlayError, Rules, agent, load_agent, showdown
from gin_sim.chance import pick
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.forks import PIECE_DEALS, ForkPlan, fork_hands
from gin_sim.play import ROW_DTYPE, Order, as_policy, new_desk, play_hands
from gin_sim.policy import prepare
from gin_sim.registry import Agent
from gin_sim.rules import as_rules
from gin_sim.scoring import OUTCOMES, rules_record
from gin_sim.view import KNOCK
from tests.helpers import scaled

DEALS = scaled(3000, 25)
SEED = 11


@agent("told", source="a test", turn=-1, most=10)
class Told:
    """Passes its chance to knock at one turn, and later knocks with `most` or less."""

    @staticmethod
    def draw(view: Any, params: Any) -> bool:
        return False

    @staticmethod
    def discard(view: Any, params: Any) -> int:
        return pick(view.best_discards, view.word)

    @staticmethod
    def knock(view: Any, params: Any) -> bool:
        return bool(view.turn != params[0] and view.deadwood <= params[1])


def told(player: Agent, turn: int, most: float) -> Agent:
    """Return a base player that is told to pass once, and what to knock with later."""
    return dataclasses.replace(
        Told.with_params({"turn": turn, "most": most}), draw=player.draw, discard=player.discard
    )


def play_deal(rules: Rules, deal: int, non_dealer: Agent, dealer: Agent) -> Any:
    """Return the row of one deal, a at seat 0, played by the kernel of tournaments."""
    rows = records(2, ROW_DTYPE)
    order = Order(SEED, deal, 1, 0, 0)
    play_hands(new_desk(rules_record(rules)), order, prepare(non_dealer), prepare(dealer), rows)
    return rows[0]


DEFINITIONS = {
    "D1": ("{base}", "{base}", 10, 10),
    "D2": ("{base}:knock_most=5", "{base}", 5, 10),
    "D3": ("{base}:knock_most=0", "{base}", 0, 10),
    "D4": ("{base}:knock_most=0", "{base}:knock_most=0", 0, 0),
}


@pytest.mark.parametrize("base", ["simple", "greedy"])
@pytest.mark.parametrize("name", list(DEFINITIONS))
def test_waiting_is_the_hand_of_one_who_was_told_to_pass(name: str, base: str) -> None:
    later, opponent, most, reply = DEFINITIONS[name]
    deals = DEALS if (name, base) == ("D1", "simple") else DEALS // 8
    forks = fork_hands(
        base,
        later.format(base=base),
        opponent.format(base=base),
        deals=deals,
        seed=SEED,
        rules="poozee",
    )
    assert len(forks) > 0.8 * deals
    player, rules = load_agent(base), as_rules("poozee")
    other = told(player, -1, reply)
    for fork in forks.itertuples():
        waiting = told(player, fork.turn, most)
        pair = (waiting, other) if fork.seat == 0 else (other, waiting)
        row = play_deal(rules, fork.deal, *pair)
        points = int(row["points_a"]) * (1 if fork.seat == 0 else -1)
        assert points == fork.wait_points, fork
        assert OUTCOMES[int(row["outcome"])] == fork.wait_outcome
        assert int(row["turns"]) == fork.turn + fork.wait_turns
        assert int(row["stock_left"]) == fork.wait_stock_left
        ender = int(row["ender"])
        assert fork.wait_ender == (-1 if ender < 0 else int(ender == fork.seat))


@pytest.mark.parametrize("rules", ["poozee", "oklahoma", "casual", "openspiel"])
def test_knocking_is_the_showdown_of_the_state(rules: str) -> None:
    deals = DEALS if rules == "poozee" else DEALS // 10
    forks = fork_hands("simple", deals=deals, seed=SEED, rules=rules)
    assert len(forks) > 0
    both: Any = as_policy(prepare(load_agent("simple")))
    for fork in forks.itertuples():
        hand = Hand.dealt(SEED, fork.deal, rules)
        state = hand._state
        assert play_until_knock(hand, both)
        # A knock that had been possible before would have been the fork.
        assert int(state["turn"]) == fork.turn
        assert hand.seat == fork.seat
        assert hand.stock_left == fork.stock_left
        candidate = int(state["candidate"])
        settled = showdown(
            hand.cards(fork.seat) ^ 1 << candidate,
            hand.cards(1 - fork.seat),
            rules,
            upcard=int(state["first_upcard"]),
            seen=int(state["pile"]) | 1 << candidate,
        )
        assert fork.deadwood == settled.knocker_deadwood
        assert 1 <= fork.deadwood <= hand.knock_limit
        assert fork.knock_outcome == settled.outcome
        assert fork.opponent_deadwood == settled.defender_deadwood
        sign = {"knocker": 1, "defender": -1, None: 0}[settled.winner]
        assert fork.knock_points == sign * settled.points


def play_until_knock(hand: Hand, both: Any) -> bool:
    state, rules = hand._desk.state, hand._desk.rules
    return bool(_to_knock(state, rules, tuple(both), tuple(both)))


def _to_knock(states: Any, rules: Any, non_dealer: Any, dealer: Any) -> bool:
    """Step a hand by hand to the first question whether to knock."""
    from gin_sim import state as machine
    from gin_sim.compiled import readable
    from gin_sim.show import fill_view
    from gin_sim.view import DISCARD, OVER

    state = states[0]
    while int(state["phase"]) not in (KNOCK, OVER):
        seat = int(state["seat"])
        draw, discard, _, params = (non_dealer, dealer)[seat]
        view = readable(state["views"])[seat]
        fill_view(state, view)
        if int(state["phase"]) == DISCARD:
            machine.decide_discard(state, rules[0], int(discard(view, params)))
        else:
            machine.decide_draw(state, rules[0], bool(draw(view, params)))
    return int(state["phase"]) == KNOCK


def test_a_fork_is_the_first_knock_that_anybody_may_make() -> None:
    forks = fork_hands("greedy", deals=DEALS, seed=SEED)
    rows = records(2 * DEALS, ROW_DTYPE)
    desk = new_desk(rules_record(Rules()))
    player = prepare(load_agent("greedy:knock_most=0"))
    play_hands(desk, Order(SEED, 0, DEALS, 0, 0), player, player, rows)
    whole = pd.DataFrame(rows.view(ROW_DTYPE, np.ndarray)[::2])
    chances = whole[["first_chance_a", "first_chance_b"]].to_numpy().astype(int)
    by_deal = dict(zip(forks.deal, forks.stock_left, strict=True))
    for deal, (a, b) in enumerate(chances):
        first = max(a, b)  # the stock only shrinks
        if deal in by_deal:
            assert by_deal[deal] == first
        else:
            # Dead, or gin at the first chance of the one who ended it.
            ended = whole.iloc[deal]
            assert first < 0 or (OUTCOMES[ended.outcome] == "gin" and ended.stock_left == first)


def test_forks_are_the_same_however_they_are_played() -> None:
    deals = scaled(2 * PIECE_DEALS + 100, 12)
    one = fork_hands("simple:knock_stock=20", "greedy", deals=deals, seed=3, jobs=1)
    two = fork_hands("simple:knock_stock=20", "greedy", deals=deals, seed=3, jobs=2)
    pd.testing.assert_frame_equal(one, two)
    few = fork_hands("simple:knock_stock=20", "greedy", deals=deals // 2, seed=3, backend="loky")
    pd.testing.assert_frame_equal(one[: len(few)], few)
    assert (one.difference == one.knock_points - one.wait_points).all()


def test_a_deal_without_a_chance_has_no_fork() -> None:
    assert fork_hands("simple", deals=5, seed=1, rules="straight").empty
    plan = ForkPlan.of("simple", seed=1)
    assert next(plan.pieces(1)).count == 1
    assert next(plan.pieces(2**53)).count == PIECE_DEALS  # cut as they are played


def test_a_hand_is_copied_whole_and_played_on() -> None:
    simple, greedy = load_agent("simple"), load_agent("greedy")
    for deal in range(scaled(25, 5)):
        hand = Hand.dealt(SEED, deal)
        steps = 0
        while hand.phase != "over":
            fork = hand.copy()
            before = hand._desk.state.tobytes()
            fork.play_on(simple, greedy)
            facts = fork.facts()
            assert hand._desk.state.tobytes() == before
            again = hand.copy()
            again.play_on(simple, greedy)
            assert again.facts() == facts
            if steps == 0:
                row = play_deal(Rules(), deal, simple, greedy)
                assert OUTCOMES[int(row["outcome"])] == facts["outcome"]
                assert abs(int(row["points_a"])) == facts["points"]
                assert int(row["turns"]) == facts["turns"]
            moves = [m for m in hand.legal_moves() if not m.startswith("knock")]
            word, _, card = moves[(deal + steps) % len(moves)].partition(" ")
            getattr(hand, "pass_" if word == "pass" else word)(*([card] if card else []))
            steps += 1


def test_python_agents_play_on_as_compiled_ones_do(tmp_path: Path) -> None:
    text = """
from gin_sim import agent
from gin_sim.chance import pick
@agent("mine", source="a test", compiled={compiled})
class Mine:
    def draw(view, params):
        return view.word % 2 == 0
    def discard(view, params):
        return {discard}
    def knock(view, params):
        return view.word % 3 == 0
"""
    specs = []
    for name, compiled in (("fast", True), ("slow", False)):
        file = tmp_path / f"{name}.py"
        file.write_text(
            text.format(compiled=compiled, discard="pick(view.best_discards, view.word)")
        )
        specs.append(f"{file}:mine")
    for deal in range(scaled(100, 5)):
        facts = []
        for spec in specs:
            hand = Hand.dealt(SEED, deal)
            hand.play_on(spec, "simple")
            facts.append(hand.facts())
        assert facts[0] == facts[1]
    with pytest.raises(AgentError, match="is plain Python; forks take compiled agents"):
        fork_hands(specs[1], deals=5)
    for compiled in (True, False):
        bad = tmp_path / f"bad{compiled}.py"
        bad.write_text(text.format(compiled=compiled, discard="99"))
        hand = Hand.dealt(SEED, 0)
        before = hand._desk.state.tobytes()
        with pytest.raises(PlayError, match=rf"agent 'mine' threw 99.*\[seed {SEED}, deal 0"):
            hand.play_on(f"{bad}:mine", "simple")
        assert hand._desk.state.tobytes() == before
        twin = copy.copy(hand)
        twin.play_on("simple")
        assert copy.deepcopy(hand).phase == hand.phase == "upcard"


@pytest.mark.parametrize("where", [0, 1, 2])
@pytest.mark.parametrize("how", ["raise ValueError('no idea')", "return 99"])
def test_who_fails_in_a_fork_is_named(tmp_path: Path, where: int, how: str) -> None:
    (tmp_path / "bad.py").write_text(f"""
from gin_sim import agent
from gin_sim.chance import pick
@agent("bad", source="a test")
class Bad:
    def draw(view, params):
        return False
    def discard(view, params):
        if view.turn >= {0 if where == 0 else 12}:
            {how}
        return pick(view.best_discards, view.word)
    def knock(view, params):
        return False
""")
    agents = ["simple", "simple:knock_most=0", "simple:knock_most=0"]
    agents[where] = f"{tmp_path}/bad.py:bad"
    with pytest.raises(
        PlayError, match=r"agent 'bad' (threw 99|raised ValueError: no idea)"
    ) as told_:
        fork_hands(*agents, deals=2000, seed=1, jobs=1)
    assert "[seed 1, deal " in str(told_.value)


def test_a_knock_rule_can_be_put_on_any_agent() -> None:
    ruled = load_agent("early_gin:turns=2,knock_stock=23")
    assert ruled.label == "early_gin:turns=2,knock_most=10,knock_stock=23"
    assert list(ruled.params) == ["turns", "knock_most", "knock_stock"]
    assert ruled.with_params({"knock_most": 5}).params["knock_most"] == 5
    assert load_agent("early_gin").params == {"turns": 3}
    with pytest.raises(AgentError, match="it has: turns, knock_most, knock_stock"):
        load_agent("early_gin:knock=3")
    with pytest.raises(AgentError, match="has a parameter 'knock_most' already"):
        agent("mine", source="a test", knock_most=3)(
            type("Mine", (), {name: getattr(Told, name) for name in ("draw", "discard", "knock")})
        )
    for most, stock in ((10, 0), (4, 20), (0, 0), (10, 26)):
        spec = f"simple:knock_most={most},knock_stock={stock}"
        rows = records(scaled(4000, 20), ROW_DTYPE)
        player = prepare(load_agent(spec))
        desk = new_desk(rules_record(Rules()))
        play_hands(desk, Order(1, 0, rows.size // 2, 0, 0), player, player, rows)
        knocked = rows[np.isin(rows["outcome"], [OUTCOMES.index(o) for o in ("knock", "undercut")])]
        assert (knocked["knock_deadwood"] <= most).all()
        assert (knocked["stock_left"] >= stock).all()
        assert (knocked.size > 0) == (most > 0) or JIT_DISABLED


def test_bad_numbers_are_refused() -> None:
    for deals in (0, -1, 1.5, "many"):
        with pytest.raises(Exception, match="allowed is a whole number 1"):
            fork_hands(deals=deals)  # type: ignore[arg-type]
    with pytest.raises(CardError, match="once"):
        Hand.from_deck([0] * 52)
