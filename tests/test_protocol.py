"""Agents that are programs: what they are told, what they may answer, what they are called."""

from __future__ import annotations

import copy
import fcntl
import json
import pickle
import shlex
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gin_sim import (
    AgentError,
    Hand,
    ResultsError,
    Rules,
    bot,
    load_agent,
    play_tournament,
)
from gin_sim.awkward import Event, make_view
from gin_sim.command import CommandAgent
from gin_sim.compiled import JIT_DISABLED
from gin_sim.dataset import export_decisions
from gin_sim.env import GinRummyAgainstEnv
from gin_sim.protocol import IllegalAnswerError, check_hello, encode, question, read_answer
from gin_sim.recorder import record_hands
from gin_sim.view import DREW, KNOCK, LAST, THREW, TOOK, UPCARD, as_view
from tests.bots import LANGUAGES, PYTHON_BOT, compiled_bot, running, write_bot
from tests.command import ROOT
from tests.env_hands import mixed

HANDS = 6 if JIT_DISABLED else 30


def same_hands(one: pd.DataFrame, two: pd.DataFrame) -> None:
    """See that rows are the same, but for what the pairing is called."""
    one, two = (rows.drop(columns="pairing").reset_index(drop=True) for rows in (one, two))
    # Where a column has nothing missing it holds whole numbers, else floats.
    pd.testing.assert_frame_equal(one, two, check_dtype=False)


# --- what is said --------------------------------------------------------------------


def test_a_question_holds_all_that_the_view_holds() -> None:
    history = [Event(0, DREW, 9), Event(0, THREW, 51), Event(1, TOOK, 51), Event(1, DREW, 63)]
    view = make_view(
        "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh 2s", taken="2s", history=history, word=2**63 - 1
    )
    asked = question("discard", as_view(view))
    assert asked["allowed"] == asked["legal_discards"] == "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh"
    assert asked["hand"] == "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh 2s"
    assert (asked["phase"], asked["drawn"], asked["upcard"]) == ("discard", "2s", None)
    assert asked["word"] == "9223372036854775807"
    assert asked["history"] == "you:draw:Tc you:throw:Ks opponent:take:Ks opponent:draw:?"
    assert (asked["big_gin_bonus"], asked["is_dealer"]) == (None, False)
    told = set(view.dtype.names or ()) - {"history_len"}
    assert set(asked) == told | {"type", "decision", "allowed"}
    assert all(isinstance(value, str | int | bool | None) for value in asked.values())
    assert encode(asked).count(b"\n") == 1


@pytest.mark.parametrize(
    ("phase", "allowed"), [(None, "take draw"), (UPCARD, "take pass"), (LAST, "take pass")]
)
def test_what_is_allowed_depends_on_the_phase(phase: int | None, allowed: str) -> None:
    view = make_view("Ac 2c 3c 7d 8d 9d Th Jh Qh Kh", phase=phase, upcard="2s")
    assert question("draw", as_view(view))["allowed"] == allowed


def test_answers_are_read_in_any_form_of_a_card_and_in_one_of_a_word() -> None:
    eleven = make_view("Ac 2c 3c 7d 8d 9d Th Jh Qh Kh 2s", drawn="2s")
    asked = question("discard", as_view(eleven)) | {"id": 7}
    for text in ("Th", "10h", "th"):
        assert read_answer(encode({"id": 7, "answer": text}), asked) == 35
    knocking = make_view(
        "Ac 2c 3c 7d 8d 9d Th Jh Qh Kh 2s", phase=KNOCK, candidate="Kh", drawn="2s"
    )
    asked = question("knock", as_view(knocking)) | {"id": 7}
    assert read_answer(b'{"answer": "knock", "id": 7, "why": [1, {"x": 2}]}', asked) is True
    assert read_answer(b'{"id":7,"answer":"wait"}\r', asked) is False
    for bad in (
        *(b"", b"knock", b"[]", b"null", b'{"id":7}', b'{"id":6,"answer":"knock"}'),
        *(b'{"answer":"knock"}', b'{"id":7,"answer":"take"}', b'{"id":7,"answer":true}'),
        *(b'{"id":true,"answer":"knock"}', b'{"id":7,"answer":"Knock"}', b"\xff\xfe", b"[" * 9999),
    ):
        with pytest.raises(IllegalAnswerError, match="to knock; allowed is") as error:
            read_answer(bad, asked)
        assert len(str(error.value)) < 400


def test_a_greeting_needs_the_version() -> None:
    check_hello(b'{"type":"hello","protocol":1,"name":"x"}')
    for bad in (b"hello", b'{"protocol":2}', b'{"protocol":true}', b"{}"):
        with pytest.raises(IllegalAnswerError, match=r'allowed is \{"type":"hello","protocol":1\}'):
            check_hello(bad)


def test_a_bot_is_told_rules_hands_and_games(tmp_path: Path) -> None:
    log = tmp_path / "log"
    note = f"open({str(log)!r}, 'a').write(line)"
    spec = write_bot(tmp_path, due=f"bool({note}) and False", other=note)
    rules = Rules(knock_limit=7, target=10)
    result = play_tournament([spec, "simple"], games=2, rules=rules, seed=2, jobs=1)
    said = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [message["type"] for message in said]
    assert said[0] == {"type": "rules", **rules.as_dict()}
    assert kinds[-1] == "quit"
    assert kinds.count("rules") == 1
    assert kinds.count("game") == kinds.count("game_over") == 2
    hands = [message for message in said if message["type"] == "hand_over"]
    assert [hand["points"] for hand in hands] == list(result.hands.points_a)
    assert [hand["outcome"] for hand in hands] == list(result.hands.outcome)
    won = {"you": "a", "opponent": "b", None: None}
    games = [message for message in said if message["type"] == "game_over"]
    assert [won[game["winner"]] for game in games] == list(result.games.winner)
    assert [game["margin"] for game in games] == list(result.games.margin_a)
    decisions = [message for message in said if message["type"] == "decide"]
    assert {message["seconds"] for message in decisions} == {10.0}
    assert {message["knock_limit"] for message in decisions} == {7}
    assert running(tmp_path) == []


def in_an_environment(spec: str, rules: Rules, out: Path) -> None:
    env = GinRummyAgainstEnv(spec, rules, on_illegal="error")
    for twin in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):  # noqa: S301
        for _ in range(2):
            twin.reset(seed=4)
            twin.reset()  # a hand that is not played to its end
            terminated, choose = False, mixed(1)
            seen, _ = twin.reset(seed=4)
            while not terminated:
                seen, _, terminated, _, _ = twin.step(choose(seen))
        twin.close()
        twin.close()


def in_an_export(spec: str, rules: Rules, out: Path) -> None:
    export_decisions(spec, "simple", out / "set.parquet", hands=2, seed=4, rules=rules)


def in_a_history(spec: str, rules: Rules, out: Path) -> None:
    assert list(record_hands(spec, "simple", seed=4, deals=range(2), rules=rules))


@pytest.mark.parametrize("play", [in_an_environment, in_an_export, in_a_history])
def test_a_bot_is_told_the_rules_and_the_hands_and_let_go_wherever_it_plays(
    tmp_path: Path, play: Callable[[str, Rules, Path], None]
) -> None:
    log = tmp_path / "log"
    note = f"open({str(log)!r}, 'a').write(line)"
    rules = Rules(knock_limit=7)
    play(write_bot(tmp_path, due=f"bool({note}) and False", other=note), rules, tmp_path)
    assert running(tmp_path) == []
    said = [json.loads(line) for line in log.read_text().splitlines()]
    told = [message for message in said if message["type"] == "rules"]
    assert told
    assert all(message == {"type": "rules", **rules.as_dict()} for message in told)
    kinds = [message["type"] for message in said if message["type"] != "rules"]
    assert kinds[0] == "hand"
    assert kinds.count("hand_over") >= 2
    for before, after in pairwise(kinds):
        assert after != "decide" or before in ("hand", "decide")


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="Linux")
def test_a_question_longer_than_the_pipe_arrives(tmp_path: Path) -> None:
    spec = write_bot(tmp_path)
    agent = load_agent(spec)
    assert isinstance(agent, CommandAgent)
    one = bot.Bot(agent.command)
    fcntl.fcntl(one._in, fcntl.F_SETPIPE_SZ, 4096)
    asked = question("draw", as_view(make_view("Ac 2c 3c 7d 8d 9d Th Jh Qh Kh", upcard="2s")))
    for _ in range(2):
        assert one.ask(asked | {"more": "x" * 200_000}, 10) is False
    one.quit()
    assert running(tmp_path) == []


# --- the examples --------------------------------------------------------------------


@pytest.mark.parametrize("amount", [{"hands": HANDS}, {"games": 2}], ids=["hands", "games"])
def test_the_python_bot_plays_as_greedy_does(amount: dict[str, Any]) -> None:
    rules = "oklahoma" if "hands" in amount else "standard"
    results = [
        play_tournament([one, "simple"], seed=5, jobs=1, rules=rules, **amount)
        for one in (PYTHON_BOT, "greedy")
    ]
    same_hands(*(result.hands for result in results))


def test_the_shortest_bot_of_the_docs_plays(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "protocol.md").read_text()
    file = tmp_path / "bot.py"
    file.write_text(text.split("```python\n")[1].split("```")[0])
    spec = f"cmd:{shlex.join((sys.executable, str(file)))}"
    result = play_tournament([spec, "simple"], hands=HANDS, seed=7, jobs=1)
    assert result.hands.winner.eq("a").any()


def test_there_is_a_compiler_for_one_of_the_examples() -> None:
    assert any(LANGUAGES.values()), "install g++, clang++ or a JDK: the examples are tested with it"


@pytest.mark.parametrize("language", [name for name, compiler in LANGUAGES.items() if compiler])
def test_compiled_bots_play_beside_agents(language: str) -> None:
    bot = compiled_bot(language)
    result = play_tournament([bot, PYTHON_BOT, "simple", "greedy"], hands=8, seed=3, jobs=1)
    assert not result.hands.outcome.eq("forfeit").any()
    two = play_tournament([bot, "simple"], hands=8, seed=3, jobs=2, backend="loky")
    pairing = f"{load_agent(bot).label} v simple"
    same_hands(result.hands[result.hands.pairing == pairing], two.hands)
    mirrored = play_tournament([bot, bot], hands=8, seed=3, jobs=1)
    assert mirrored.summary.points_per_hand[0] == 0


def test_threads_play_bots_too_with_a_time_limit() -> None:
    results = [
        play_tournament(
            [PYTHON_BOT, "simple"], hands=12, seed=4, jobs=2, backend=backend, time_limit=20
        )
        for backend in ("threads", "loky")
    ]
    same_hands(*(result.hands for result in results))


def test_a_hand_can_be_played_on_by_a_bot() -> None:
    hand = Hand.dealt(seed=1, deal=3)
    other = hand.copy()
    hand.play_on(PYTHON_BOT, "simple")
    other.play_on("greedy", "simple")
    assert hand.facts() == other.facts()
    bot, greedy = load_agent(PYTHON_BOT), load_agent("greedy")
    view = Hand.dealt(seed=1, deal=3).view()
    assert bot.draw(view, bot.param_values) == bool(greedy.draw(view, greedy.param_values))


# --- names ---------------------------------------------------------------------------


def test_what_a_bot_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.bin").write_text("1")
    (tmp_path / "cat").write_text("a file of a program's name is not the program")
    agent = load_agent("cmd:cat --from net.bin '--two words' cat")
    assert isinstance(agent, CommandAgent)
    assert agent.command == ("cat", "--from", str(tmp_path / "net.bin"), "--two words", "cat")
    assert agent.label == "cat_--from_net.bin_--two_words_cat"
    assert load_agent(agent.label_with_place) == agent
    ruled = load_agent("cmd:cat net.bin:knock_most=3,knock_stock=20")
    assert ruled.label == "cat_net.bin:knock_most=3,knock_stock=20"
    assert ruled.label_with_place == f"cmd:cat {tmp_path / 'net.bin'}:knock_most=3,knock_stock=20"
    assert load_agent(ruled.label_with_place) == ruled
    assert load_agent("cmd:cat net.bin").with_params({"knock_most": 3.0}).params == {
        "knock_most": 3.0,
        "knock_stock": 0.0,
    }


def test_a_knock_rule_on_a_bot_is_that_on_its_likeness() -> None:
    results = [
        play_tournament([f"{one}:knock_most=4", "simple"], hands=8, seed=6, jobs=1)
        for one in (PYTHON_BOT, "greedy")
    ]
    same_hands(*(result.hands for result in results))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cmd:", "write cmd:PROGRAM ARGUMENTS"),
        ("cmd:'", "No closing quotation; write cmd:PROGRAM ARGUMENTS"),
        ("cmd:no-such-program x", "there is no program 'no-such-program' that can be run"),
        ("cmd:/", "there is no program '/' that can be run"),
        ("cmd:cat:knock_most=x", "'knock_most=x' is not param=number"),
    ],
)
def test_a_command_that_cannot_be_is_refused(spec: str, message: str) -> None:
    with pytest.raises(AgentError, match=message) as error:
        load_agent(spec)
    assert "\n" not in str(error.value)


def test_a_program_that_may_not_be_run_is_told_from_one_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text("")
    file.chmod(0o644)
    with pytest.raises(AgentError, match="is a file that may not be run: chmod"):
        load_agent(f"cmd:{file}")


def test_a_run_goes_on_only_with_the_bot_it_began_with(tmp_path: Path) -> None:
    spec = write_bot(tmp_path)
    out = tmp_path / "run"
    play_tournament([spec, "simple"], hands=4, seed=1, jobs=1, out=out)
    entry = json.loads((out / "manifest.json").read_text())["agents"][0]
    assert entry["spec"] == spec
    assert not entry["compiled"]
    again = play_tournament([spec, "simple"], hands=4, jobs=1, resume=out)
    assert len(again.hands) == 4
    write_bot(tmp_path, due="True")
    with pytest.raises(ResultsError, match=r"agent '.*bot.py': its source has changed"):
        play_tournament([spec, "simple"], hands=4, jobs=1, resume=out)


def test_a_folder_that_a_command_names_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "classes").mkdir()
    (tmp_path / "classes" / "Bot.class").write_text("1")
    for words in (
        ("cat", f"{tmp_path}/classes"),
        ("cat", f"--path={tmp_path}/classes"),
        ("cat", f"nowhere:{tmp_path}/classes/Bot.class"),
    ):
        agent = load_agent(f"cmd:{shlex.join(words)}")
        (tmp_path / "classes" / "Bot.class").write_text("1")
        before = agent.source_hash()
        assert agent.source_hash() == before
        (tmp_path / "classes" / "Bot.class").write_text("2")
        assert agent.source_hash() != before


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit('no licence')", "ended with exit code 1 before it answered hello; its "),
        ("print('hello', flush=True); input()", r"answered 'hello' to hello; allowed is \{"),
        ("import time; time.sleep(60)", r"took longer than 0.5 s for hello"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9 before it answered hello"),
        ("import os, time; os.close(1); time.sleep(60)", "closed its output before it answered"),
    ],
)
def test_a_bot_that_does_not_greet_stops_the_run_before_it_begins(
    code: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gin_sim.bot.HELLO_SECONDS", 0.5 if "60" in code else 30)
    spec = f"cmd:{shlex.join((sys.executable, '-c', code))}"
    with pytest.raises(AgentError, match=f"agent '.*' {message}") as error:
        play_tournament([spec, "simple"], hands=4, seed=1, jobs=1, on_illegal="forfeit")
    assert type(error.value) is AgentError
    assert "\n" not in str(error.value)
