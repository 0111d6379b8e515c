"""Hand histories: what is written can be played again, and nothing else is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gin_sim import (
    History,
    ResultsError,
    Rules,
    load_agent,
    play_tournament,
    read_histories,
    read_history,
    record_hand,
    record_hands,
    write_histories,
    write_history,
)
from gin_sim.cards import card_name
from gin_sim.cli import main
from gin_sim.compiled import JIT_DISABLED, records
from gin_sim.drive import Player, drive_mirror
from gin_sim.errors import GinSimError
from gin_sim.play import ROW_DTYPE, Order, new_desk, write_row
from gin_sim.recorder import Recorder
from gin_sim.records import PLAYERS, hands_table, read_rows
from gin_sim.rules import PRESETS
from gin_sim.scoring import rules_record
from tests.command import refused
from tests.helpers import PASSIVE, scaled
from tests.test_runs import write_agent

RULES = {
    **{name: Rules.preset(name) for name in PRESETS},
    "reshuffle": Rules(wall="reshuffle", turn_limit=80),
    "spades": Rules(oklahoma=True, oklahoma_spades_double=True, oklahoma_ace="one"),
    "few pile draws": Rules(pile_draw_limit=3, may_throw_taken=True),
}
PAIRS = [("simple", "early_gin"), ("random", "greedy"), (PASSIVE, PASSIVE), ("gin_only", "random")]


@pytest.mark.parametrize("name", RULES)
def test_a_hand_that_is_read_has_the_row_of_the_hand_that_was_written(name: str) -> None:
    rules = RULES[name]
    desk = new_desk(rules_record(rules))
    recorder = Recorder(desk.state[0], rules, PLAYERS, 5, games=False)
    rows = records(2, ROW_DTYPE)
    for pair in PAIRS:
        players = Player(load_agent(pair[0]), ""), Player(load_agent(pair[1]), "")
        for number in range(scaled(10, 1)):
            order, row = Order(5, 0, 1, 0, 0), rows[0]
            drive_mirror(desk, order, number // 2, number % 2, players, row, recorder)
            (line,) = recorder.take_lines()
            history = read_history(line)
            assert write_history(history) + "\n" == line
            bare = replace(history, seed=None, deal=None, mirror=None)
            for again in (history, read_history(write_history(bare))):
                assert again.rules == rules
                twin = rows[1]
                for field in ("deal", "mirror", "game", "hand"):
                    twin[field] = row[field]
                write_row(twin, again.hand().record, PLAYERS.index(again.dealer))
                assert twin == row


def test_every_way_to_end_is_written_and_read() -> None:
    seen = set()
    for name in ("openspiel", "big-gin", "classic"):
        for a, b in PAIRS:
            many = scaled(600, 8)
            seen |= {
                history.result()["outcome"]
                for history in record_hands(a, b, seed=1, deals=range(many // 8), rules=name)
            }
    assert seen == {"dead", "knock", "undercut", "gin", "big_gin"} or JIT_DISABLED


def test_a_hand_goes_on_from_any_of_its_moves_as_it_did() -> None:
    for history in record_hands("random", "early_gin", seed=2, deals=[0]):
        seats = history.agents if history.dealer == "b" else history.agents[::-1]
        for moves in range(len(history.moves)):
            hand = history.hand(moves)
            if history.moves[moves].split()[1] != "draw":  # the machine may have made it
                hand.play_on(*seats)
                assert hand.facts() == history.hand().facts()


def histories() -> Iterator[History]:
    for rules in ("standard", "openspiel", "big-gin"):
        for agents in (("simple", "random"), (PASSIVE, "gin_only")):
            yield from record_hands(*agents, seed=8, deals=[0, 1][: scaled(100)], rules=rules)


def corrupted(history: History) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the history's moves with one of them replaced, removed or there twice."""
    moves = history.moves
    for i, move in enumerate(moves):
        words = move.split()
        for verb in ("take", "draw", "throw", "knock", "pass", "forfeit"):
            if verb != words[1]:
                card = [] if verb in ("pass", "forfeit") else [(words[2:] or ["Ac"])[0]]
                yield i, (*moves[:i], " ".join([words[0], verb, *card]), *moves[i + 1 :])
        if len(words) == 3:
            for card in range(i % 7, 52, 7):
                if card_name(card) != words[2]:
                    other = f"{words[0]} {words[1]} {card_name(card)}"
                    yield i, (*moves[:i], other, *moves[i + 1 :])
        other = f"{'ba'['ab'.index(words[0])]} {' '.join(words[1:])}"
        yield i, (*moves[:i], other, *moves[i + 1 :])
        yield i, (*moves[:i], "a nonsense", *moves[i + 1 :])
        yield i, moves[:i] + moves[i + 1 :]
        yield i, moves[: i + 1] + moves[i:]


@pytest.mark.parametrize("seeded", [True, False])
def test_a_move_changed_is_refused_with_its_number(seeded: bool) -> None:
    for history in list(histories())[:: 2 if seeded else 5]:
        one = history if seeded else replace(history, seed=None, deal=None, mirror=None)
        document = json.loads(write_history(one))
        for place, moves in list(corrupted(one))[:: scaled(5)]:
            document["moves"] = list(moves)
            with pytest.raises(ResultsError, match=r"^(after )?move \d+") as raised:
                read_history(json.dumps(document))
            number = int(str(raised.value).split("move ")[1].split(" ")[0].rstrip(":"))
            assert number >= place + 1 or (place == len(history.moves) - 1 and number == place)
            assert "\n" not in str(raised.value)


CHANGES: dict[str, tuple[Any, str]] = {
    "gin_sim_history": (2, "gin_sim_history 2; this version reads 1"),
    "rules": ({"preset": "nobody's"}, "no rules preset"),
    "agents": ({"a": "simple"}, "one for a and one for b"),
    "seed": (4, "seed 4 has other cards in deal 0"),
    "deal": (1, "seed 8 has other cards in deal 1"),
    "dealer": ("c", "dealer = 'c': allowed is 'a' or 'b'"),
    "score": ({"a": -1, "b": 0}, "score = -1"),
    "mirror": (1, "dealer = 'b': with mirror 1 the other one deals"),
    "mirror 5": (5, "mirror = 5: allowed is 0 or 1"),
    "game": (0, "game and hand: give both or none"),
    "hand": (0, "game and hand: give both or none"),
    "fault": ("", "fault = '': nobody forfeits"),
    "agents, a control": ({"a": "simple\x1b[2J", "b": "greedy"}, "cannot be printed in one line"),
    "agents, half a character": ({"a": "\ud800", "b": "greedy"}, "cannot be printed"),
    "upcard": ("Xx", "'Xx' is not a card"),
    "moves": (["a pass", 3], "move 2 3"),
    "result": ({}, "'outcome' is missing"),
    "colour": ("red", "'colour' is no field"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_that_cannot_be_is_named(name: str) -> None:
    document = json.loads(write_history(record_hand("simple", "greedy", seed=8, deal=0)))
    document[re.match(r"\w+", name)[0]], words = CHANGES[name]  # type: ignore[index]
    with pytest.raises(ResultsError) as raised:
        read_history(json.dumps(document))
    assert words in str(raised.value)


def test_numbers_of_a_game_go_together(tmp_path: Path) -> None:
    play_tournament(["simple", "greedy"], games=2, seed=3, jobs=1, out=tmp_path / "run", log=True)
    history = list(read_histories(tmp_path / "run"))[1]
    document = json.loads(write_history(history))
    for name in ("game", "hand"):
        with pytest.raises(ResultsError, match="is not deal"):
            read_history(json.dumps(document | {name: document[name] + 1}))
    free = {name: document[name] for name in document if name not in ("seed", "deal")}
    with pytest.raises(ResultsError, match="hand = 1024"):
        read_history(json.dumps(free | {"hand": 1024}))


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '"gin_sim_history"', "[" * 100_000])
def test_what_is_no_history_is_refused(line: str) -> None:
    with pytest.raises(ResultsError, match="not a"):
        read_history(line)


def test_a_card_twice_and_a_wrong_result_are_refused() -> None:
    text = write_history(record_hand("simple", "greedy", seed=8, deal=0))
    document = json.loads(text)
    cards = document["dealt"]["a"].split()
    for player in PLAYERS:
        document["dealt"][player] = " ".join([cards[1], *document["dealt"][player].split()[1:]])
        with pytest.raises(ResultsError, match="twice"):
            read_history(json.dumps(document))
    document = json.loads(text)
    for name, value in document["result"].items():
        wrong = dict(document["result"], **{name: 99 if value != 99 else 98})
        with pytest.raises(ResultsError, match=rf"after move {len(document['moves'])}: {name} is"):
            read_history(json.dumps(document | {"result": wrong}))


def test_a_forfeit_is_written_and_read(tmp_path: Path) -> None:
    agents = ["simple", write_agent(tmp_path, "if view.own_turn > 2: return 99")]
    play_tournament(agents, hands=6, seed=1, out=tmp_path / "run", on_illegal="forfeit", log=True)
    found = list(read_histories(tmp_path / "run"))
    lost = [history for history in found if history.fault]
    assert lost
    for history in lost:
        assert history.moves[-1] == "b forfeit"
        assert "threw 99" in str(history.fault)
    assert main(["replay", str(tmp_path / "run" / "histories" / "part-000000.jsonl")]) == 0


def test_whatever_an_agent_says_is_logged_in_one_line_that_is_read(tmp_path: Path) -> None:
    failing = write_agent(tmp_path, "raise ValueError('\\ud800 \\x1b[2J \\n odd')")
    out = tmp_path / "run"
    play_tournament(
        ["simple", failing], hands=2, seed=1, jobs=1, out=out, on_illegal="forfeit", log=True
    )
    history = next(read_histories(out))
    assert r"raised ValueError: \ud800 \x1b[2J odd" in str(history.fault)


@pytest.mark.parametrize("amount", [{"hands": 12}, {"games": 4}], ids=["hands", "games"])
def test_a_run_tells_its_hands(
    tmp_path: Path, amount: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    agents = ["simple", "greedy", "random"]
    out = tmp_path / "run"
    result = play_tournament(agents, seed=3, jobs=2, out=out, log=True, **amount)
    plain = play_tournament(agents, seed=3, jobs=1, **amount)
    assert result.summary.equals(plain.summary)
    rows, found = read_rows(out), list(read_histories(out))
    assert len(rows) == len(found)
    for row, history in zip(rows.itertuples(), found, strict=True):
        told = history.result()
        assert row.pairing == " v ".join(history.agents)
        assert (row.deal, row.mirror, row.dealer) == (
            *(history.deal, history.mirror),
            history.dealer,
        )
        assert (row.outcome, row.points_a, row.turns) == tuple(
            told[name] for name in ("outcome", "points_a", "turns")
        )
    file = out / "histories" / "part-000000.jsonl"
    for history in found[:: scaled(3)][:4]:
        words = ("--deal", str(history.deal), "--pairing", " v ".join(history.agents))
        assert main(["replay", str(out), *words]) == 0
        of_run = capsys.readouterr().out
        assert main(["replay", str(file), *words]) == 0
        assert capsys.readouterr().out == of_run


def test_the_bytes_depend_on_neither_jobs_nor_backend(tmp_path: Path) -> None:
    texts = set()
    for i, (jobs, backend) in enumerate([(1, "threads"), (3, "threads"), (2, "loky")]):
        out = tmp_path / str(i)
        words = ["--hands", "40", "--seed", "3", "--jobs", str(jobs), "--backend", backend]
        assert main(["tournament", "simple", "greedy", *words, "--log", "--out", str(out)]) == 0
        texts.add((out / "histories" / "part-000000.jsonl").read_bytes())
        assert b"--log" in (out / "manifest.json").read_bytes()
    assert len(texts) == 1


def test_files_are_written_and_read(tmp_path: Path) -> None:
    hands = list(record_hands("simple", "random", seed=1, deals=range(2)))
    write_histories(tmp_path / "hands.jsonl", hands)
    assert list(read_histories(tmp_path / "hands.jsonl")) == hands
    with pytest.raises(ResultsError, match="cannot be written"):
        write_histories(tmp_path / "no" / "hands.jsonl", hands)
    with (tmp_path / "hands.jsonl").open("a") as file:
        file.write("\n{}\n")
    with pytest.raises(ResultsError, match="line 6: not a hand history"):
        list(read_histories(tmp_path / "hands.jsonl"))


def test_what_cannot_be_told_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hands.jsonl"
    write_histories(file, record_hands("simple", "random", seed=1, deals=range(1)))
    assert "holds no such hand" in refused(capsys, "replay", str(file), "--deal", "9")
    file.write_bytes(b"\xff\xfe")
    assert "is not a file of histories" in refused(capsys, "replay", str(file))
    file.write_text("\n")
    assert "holds no hands" in refused(capsys, "replay", str(file))
    assert "holds no such hand" in refused(capsys, "replay", str(file), "--mirror", "0")
    for line in (3, None, b"{}"):
        with pytest.raises(ResultsError, match="must be text"):
            read_history(line)  # type: ignore[arg-type]
    assert "say which --deal" in refused(capsys, "replay", str(tmp_path))
    with pytest.raises(ResultsError, match="holds no histories"):
        list(read_histories(tmp_path))
    words = ("tournament", "simple", "greedy", "--hands", "2", "--log", "--no-hands")
    assert "go with rows" in refused(capsys, *words, "--out", str(tmp_path / "run"))
    with pytest.raises(GinSimError, match="into a folder"):
        play_tournament(["simple", "greedy"], hands=2, log=True)


def test_rows_of_histories_are_a_table_too() -> None:
    """What `result` calls its facts are the columns of rows."""
    columns = hands_table([records(1, ROW_DTYPE)], ["a v b"], games=False).column_names
    told = record_hand("simple", "greedy", seed=1, deal=0).result()
    known = {"pairing", "deal", "mirror", "dealer", "first_upcard"}
    assert set(columns) - set(told) == known
    assert set(told) - set(columns) == {"laid_off", "cards"}
