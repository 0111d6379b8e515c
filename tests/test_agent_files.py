"""Agents from files of the user's: good ones play, bad ones are named in one line."""

from pathlib import Path

import pandas as pd
import pytest

from gin_sim import Agent, AgentError, PlayError, load_agent, play_tournament
from gin_sim.compiled import JIT_DISABLED
from gin_sim.registry import registered

HANDS = 8 if JIT_DISABLED else 400
SLOW_HANDS = 6 if JIT_DISABLED else 60

NUMBA_AGENT = '''
from gin_sim import agent
from gin_sim.chance import pick
from gin_sim.melds import makes_meld

@agent("mine", source="a test", most=5)
class Mine:
    """Ten lines."""
    def draw(view, params): return makes_meld(view.hand, view.upcard)
    def discard(view, params): return pick(view.best_discards, view.word)
    def knock(view, params): return view.deadwood <= params[0]
'''
PYTHON_AGENT = NUMBA_AGENT.replace("most=5", "compiled=False, most=5")


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return f"{path}:mine"


def variant(draw: str = "False", discard: str = "", knock: str = "True", head: str = "") -> str:
    discard = discard or "pick(view.best_discards, view.word)"
    return f"""
from gin_sim import agent
from gin_sim.chance import pick
{head}
@agent("mine", source="a test")
class Mine:
    def draw(view, params): return {draw}
    def discard(view, params): return {discard}
    def knock(view, params): return {knock}
"""


def test_a_numba_agent_from_a_file_plays(tmp_path: Path) -> None:
    spec = write(tmp_path / "agent.py", NUMBA_AGENT)
    result = play_tournament([spec, f"{spec}:most=2", "simple"], hands=HANDS, seed=1)
    assert list(result.ranking.agent) != []
    assert set(result.ranking.agent) == {"mine", "mine:most=2", "simple"}


def test_python_and_compiled_play_the_same_hands(tmp_path: Path) -> None:
    fast = write(tmp_path / "fast.py", NUMBA_AGENT)
    slow = write(tmp_path / "slow.py", PYTHON_AGENT)
    for amount in ({"hands": SLOW_HANDS}, {"games": 4}):
        hands = [
            play_tournament([spec, "simple"], seed=5, backend="threads", **amount).hands
            for spec in (fast, slow)
        ]
        pd.testing.assert_frame_equal(*hands)


def test_python_agents_run_in_processes_by_default(tmp_path: Path) -> None:
    slow = write(tmp_path / "slow.py", PYTHON_AGENT)
    one = play_tournament([slow, "simple"], hands=SLOW_HANDS, seed=5, jobs=2)
    two = play_tournament([slow, "simple"], hands=SLOW_HANDS, seed=5, jobs=1, backend="threads")
    pd.testing.assert_frame_equal(one.hands, two.hands)


def test_an_agent_made_in_a_session_plays_too() -> None:
    namespace: dict[str, object] = {}
    exec(PYTHON_AGENT, namespace)  # noqa: S102 - as a notebook cell does
    mine = namespace["Mine"]
    assert isinstance(mine, Agent)
    assert play_tournament([mine, "simple"], hands=4, seed=1, backend="threads").out is None


def test_an_agent_answers_numpy_numbers_too(tmp_path: Path) -> None:
    text = variant(
        discard="np.int64(view.best_discards.bit_length() - 1)", head="import numpy as np"
    )
    spec = write(tmp_path / "agent.py", text.replace('"a test"', '"a test", compiled=False'))
    play_tournament([spec, "simple"], hands=4, seed=1, backend="threads")


ILLEGAL = {
    "a card not held": ("(view.opponent_discards | view.pile).bit_length() - 1", "not in its hand"),
    "a number that is no card": ("77", "threw 77"),
    "a negative number": ("-1", "threw -1"),
    "the card just taken": ("view.taken if view.taken >= 0 else view.drawn", "just taken"),
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", list(ILLEGAL))
def test_an_illegal_card_stops_the_run_and_says_where(
    tmp_path: Path, kind: str, compiled: bool
) -> None:
    discard, what = ILLEGAL[kind]
    if compiled and "bit_length" in discard:
        discard = "view.upcard if view.upcard >= 0 else pick(view.pile & ~view.hand, 0)"
    if kind == "a card not held" and not compiled:
        discard = "0 if not view.hand & 1 else 1 if not view.hand & 2 else 51"
    text = variant(draw="True" if "taken" in kind else "False", discard=discard)
    if not compiled:
        text = text.replace('"a test"', '"a test", compiled=False')
    spec = write(tmp_path / "agent.py", text)
    with pytest.raises(PlayError) as caught:
        play_tournament([spec, "simple"], hands=20, seed=9, jobs=1, backend="threads")
    message = str(caught.value)
    assert "\n" not in message
    for part in ("agent 'mine'", what, "seed 9", "deal ", "mirror ", "decision ", "allowed are"):
        assert part in message


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("where", ["draw", "discard", "knock"])
def test_an_exception_is_not_swallowed(tmp_path: Path, where: str, compiled: bool) -> None:
    text = f"""
from gin_sim import agent
from gin_sim.chance import pick
from gin_sim.compiled import kernel

@kernel
def fail(view):
    if view.turn >= 4:
        raise ValueError("no idea")
    return True

@agent("mine", source="a test", compiled={compiled})
class Mine:
    def draw(view, params):
        return {"fail(view)" if where == "draw" else "False"}
    def discard(view, params):
        {"fail(view)" if where == "discard" else "pass"}
        return pick(view.best_discards, view.word)
    def knock(view, params):
        return {"fail(view)" if where == "knock" else "True"}
"""
    spec = write(tmp_path / "agent.py", text)
    with pytest.raises(PlayError, match=r"agent 'mine' raised ValueError: no idea \[seed 3, deal"):
        play_tournament(["simple", spec], hands=200, seed=3, jobs=1, backend="threads")
    forgiven = play_tournament(
        ["simple", spec], hands=20, seed=3, jobs=1, backend="threads", on_illegal="forfeit"
    )
    row = forgiven.as_dict()["pairings"][0]
    assert row["b_illegal"] > 0
    assert row["a_illegal"] == 0
    lost = forgiven.hands[forgiven.hands.outcome == "forfeit"]
    assert len(lost) == row["b_illegal"]
    assert (lost.winner == "a").all()
    assert (lost.points_a == 25 + lost.defender_deadwood).all()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("discard", "error"),
    [
        ("view.drawn // (view.turn - view.turn)", "ZeroDivisionError"),
        ("view.drawn % (view.turn - view.turn)", "ZeroDivisionError"),
        ("int(params[3])", "IndexError"),
        ("int(params[100_000_000])", "IndexError"),
        ("int(view.history[5_000])", "IndexError"),
    ],
)
def test_what_python_would_refuse_is_refused_compiled_too(
    tmp_path: Path, discard: str, error: str, compiled: bool
) -> None:
    if JIT_DISABLED and compiled and error == "ZeroDivisionError":
        pytest.skip("uncompiled kernels see numpy's numbers, which only warn of a division by zero")
    text = variant(discard=discard).replace('"a test"', f'"a test", compiled={compiled}, one=1')
    spec = write(tmp_path / "agent.py", text)
    with pytest.raises(PlayError, match=f"agent 'mine' raised {error}"):
        play_tournament([spec, "simple"], hands=4, seed=1, jobs=1, backend="threads")


def test_forfeits_are_the_same_for_games_compiled_or_not(tmp_path: Path) -> None:
    texts = [
        variant(discard="view.drawn if view.turn < 6 else 77"),
        variant(discard="view.drawn if view.turn < 6 else 77").replace(
            '"a test"', '"a test", compiled=False'
        ),
    ]
    frames = []
    for i, text in enumerate(texts):
        spec = write(tmp_path / f"agent{i}.py", text)
        result = play_tournament(
            [spec, "simple"], games=4, seed=3, backend="threads", on_illegal="forfeit"
        )
        assert (result.hands.outcome == "forfeit").any()
        frames.append((result.hands, result.games))
    for one, two in zip(*frames, strict=True):
        pd.testing.assert_frame_equal(one, two)


@pytest.mark.skipif(JIT_DISABLED, reason="there is nothing to compile without numba")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (variant(discard="2.5"), "discard returns float64; it must return a card number"),
        (variant(draw="view.hand"), "draw returns int64; it must return True or False"),
        (variant(knock="'yes'"), "knock returns .*; it must return True or False"),
        (variant(discard="view.hand_of_opponent"), "discard does not compile .*hand_of_opponent"),
        (variant(discard="open('x')"), "discard does not compile .*compiled=False"),
    ],
)
def test_what_cannot_be_compiled_right_is_refused(tmp_path: Path, text: str, message: str) -> None:
    spec = write(tmp_path / "agent.py", text)
    with pytest.raises(AgentError, match=message) as caught:
        play_tournament([spec, "simple"], hands=2, seed=1)
    assert "\n" not in str(caught.value)


def test_a_python_agent_that_answers_a_float_stops_the_run(tmp_path: Path) -> None:
    text = variant(discard="2.5").replace('"a test"', '"a test", compiled=False')
    spec = write(tmp_path / "agent.py", text)
    with pytest.raises(PlayError, match=r"threw 2\.5; allowed are"):
        play_tournament([spec, "simple"], hands=2, seed=1)
    text = variant(knock="1").replace('"a test"', '"a test", compiled=False')
    spec = write(tmp_path / "other.py", text)
    with pytest.raises(PlayError, match="answered 1 to knock; allowed is True or False"):
        play_tournament([spec, "simple"], hands=50, seed=1)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (NUMBA_AGENT, "yours", "no agent 'yours' in .*; there are: mine"),
        ("x = 1", "mine", "none .is there an @agent class.*'cmd:PROGRAM"),
        ("x = 1/0", "mine", "line 1 cannot be loaded: ZeroDivisionError"),
        ("def f(:", "mine", "cannot be loaded: SyntaxError"),
        ("import nowhere_at_all", "mine", "ModuleNotFoundError"),
        (NUMBA_AGENT.replace("def knock", "def knick"), "mine", "has no method knock"),
        (
            NUMBA_AGENT.replace("draw(view, params)", "draw(self, view, params)"),
            "mine",
            "without self",
        ),
        (NUMBA_AGENT.replace('"mine"', '"my agent"'), "mine", "allowed are letters"),
        (NUMBA_AGENT.replace(', source="a test"', ""), "mine", "source"),
    ],
)
def test_a_file_that_will_not_do_is_explained(
    tmp_path: Path, text: str, name: str, message: str
) -> None:
    path = tmp_path / "agent.py"
    path.write_text(text)
    with pytest.raises(AgentError, match=message) as caught:
        load_agent(f"{path}:{name}")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(AgentError, match=r"no file 'nowhere/agent\.py'"):
        load_agent("nowhere/agent.py:mine")


def test_a_file_with_one_agent_needs_no_name(tmp_path: Path) -> None:
    write(tmp_path / "agent.py", NUMBA_AGENT)
    assert load_agent(str(tmp_path / "agent.py")).name == "mine"


def test_a_file_edited_in_between_is_read_again(tmp_path: Path) -> None:
    spec = write(tmp_path / "agent.py", NUMBA_AGENT)
    assert load_agent(spec).params == {"most": 5.0}
    write(tmp_path / "agent.py", NUMBA_AGENT.replace("most=5", "most=7, least=0"))
    assert load_agent(spec).params == {"most": 7.0, "least": 0.0}


def test_all_registered_agents_load() -> None:
    agents, problems = registered()
    assert not problems
    assert {"random", "simple", "early_gin", "greedy", "gin_only"} <= set(agents)
    for name in agents:
        assert load_agent(name).spec == name
