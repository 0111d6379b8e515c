"""The command line: what it prints, what it refuses, and how it exits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gin_sim import PlayError, Rules, __version__, showdown
from gin_sim.cli import main
from gin_sim.compiled import JIT_DISABLED
from gin_sim.rules import PRESETS
from tests.command import ROOT, refused

HANDS = "4" if JIT_DISABLED else "400"

KNOCKER = "5s 6s 7s Kc Kd Kh Qc Qd Qh 3c"
DEFENDER = "4s 8s Ad 2d 5h 9d 6c Tc Jh 2h"
ELEVEN = "6d 7d 8d 7c 8c 9c Ah Ad As 5h 2s"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    return json.loads(run(capsys, *words, "--json"), parse_constant=refuse)


def test_hand_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "hand", ELEVEN) == (
        "7c 8c 9c Ad 6d 7d 8d Ah 5h As 2s: deadwood 7\n"
        "  melds      7c 8c 9c | 6d 7d 8d | Ad Ah As\n"
        "  unmatched  5h 2s\n"
        "  throw      5h  (leaves 2)\n"
        "  knock by   Ad (9), Ah (9), 5h (2), As (9), 2s (5)\n"
    )


def test_hand_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_json(capsys, "hand", ELEVEN) == {
        "cards": "7c 8c 9c Ad 6d 7d 8d Ah 5h As 2s",
        "deadwood": 7,
        "melds": ["7c 8c 9c", "6d 7d 8d", "Ad Ah As"],
        "unmatched": "5h 2s",
        "best_discards": ["5h"],
        "deadwood_after_best_discard": 2,
        "knocks": {"Ad": 9, "Ah": 9, "5h": 2, "As": 9, "2s": 5},
        "big_gin": False,
    }
    ten = run_json(capsys, "hand", " ".join(ELEVEN.split()[:10]))
    assert set(ten) == {"cards", "deadwood", "melds", "unmatched"}
    assert run_json(capsys, "hand", "Kc Qd 2h")["deadwood"] == 22
    deck = " ".join(r + s for s in "cdhs" for r in "A23456789TJQK")
    assert run_json(capsys, "hand", deck)["deadwood"] == 0


def test_hand_tells_of_big_gin_where_the_rules_know_it(capsys: pytest.CaptureFixture[str]) -> None:
    melded = "Ac 2c 3c 4c 5d 6d 7d Kc Kd Kh Ks"
    assert "big gin    all eleven cards are melded (50" in run(
        capsys, "hand", melded, "--rules", "casual"
    )
    assert run_json(capsys, "hand", melded, "--rules", "big-gin")["big_gin"] is True
    for words in ((melded,), (ELEVEN, "--rules", "big-gin")):
        assert run_json(capsys, "hand", *words)["big_gin"] is False
        assert "big gin" not in run(capsys, "hand", *words)


def test_hand_reads_cards_however_they_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    one = run(capsys, "hand", "10h,ah", "TD;2♣")
    assert one == run(capsys, "hand", "2c td AH th")


def test_hand_takes_the_rules_into_account(capsys: pytest.CaptureFixture[str]) -> None:
    def knocks(*words: str) -> dict[str, int]:
        out: dict[str, int] = run_json(capsys, "hand", ELEVEN, *words)["knocks"]
        return out

    assert knocks("--rules", "straight") == {}
    assert knocks("--set", "knock_limit=5") == {"5h": 2, "2s": 5}
    assert knocks("--taken", "5h") == {"Ad": 9, "Ah": 9, "As": 9, "2s": 5}
    assert knocks("--taken", "5h", "--rules", "openspiel")["5h"] == 2
    assert knocks("--rules", "oklahoma", "--upcard", "3c") == {"5h": 2}


def test_showdown_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "showdown", KNOCKER, DEFENDER) == (
        "knock: knocker scores 42\n"
        "  knocker   5s 6s 7s | Qc Qd Qh | Kc Kd Kh; 3 left\n"
        "  defender  no melds; 45 left\n"
        "  laid off  4s on 5s 6s 7s\n"
        "  laid off  8s on 5s 6s 7s\n"
    )


def test_showdown_as_json_says_what_python_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "showdown", KNOCKER, DEFENDER)
    settled = showdown(KNOCKER, DEFENDER)
    assert found == {
        "outcome": "knock",
        "winner": "knocker",
        "points": 42,
        "knocker_deadwood": 3,
        "defender_deadwood_before_layoff": settled.defender_deadwood_before_layoff,
        "defender_deadwood": 45,
        "knocker_melds": ["5s 6s 7s", "Qc Qd Qh", "Kc Kd Kh"],
        "defender_melds": [],
        "layoffs": [{"card": "4s", "onto": "5s 6s 7s"}, {"card": "8s", "onto": "5s 6s 7s"}],
    }
    tie = ["Ac 2c 3c 7d 8d 9d Jh Qh Kh 5s", "2h 3h 4h 6c 6s 6h Tc Td Ts 5d"]
    assert run_json(capsys, "showdown", *tie)["points"] == 25
    nobody = run_json(capsys, "showdown", *tie, "--set", "undercut_on_tie=off")
    assert (nobody["outcome"], nobody["winner"], nobody["points"]) == ("knock", None, 0)


def test_showdown_on_melds_as_given(capsys: pytest.CaptureFixture[str]) -> None:
    hands = ["As 5s 6s 7s 5c 6c 7c 5d 6d 7d", "3s 4s 8s 4c 8c 4d 8d 5h 6h 7h"]
    assert run_json(capsys, "showdown", *hands)["points"] == 2
    runs = run_json(capsys, "showdown", *hands, "--melds", "5s 6s 7s|5c 6c 7c|5d 6d 7d")
    assert (runs["outcome"], runs["points"]) == ("undercut", 26)


def test_agents(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "agents")
    rows = run_json(capsys, "agents")
    assert {row["name"] for row in rows} >= {"random", "simple", "early_gin", "greedy", "gin_only"}
    for row in rows:
        assert row["summary"] in text
        assert row["source"] in text
    assert "turns=3" in text


def test_tournament_prints_a_table_and_leaves_a_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert (
        main(["tournament", "simple", "greedy", "--hands", HANDS, "--seed", "3", "--out", str(out)])
        == 0
    )
    captured = capsys.readouterr()
    assert "simple v greedy" in captured.out
    assert "±" in captured.out
    assert f"results: {out}" in captured.out
    assert (
        f"gin-sim tournament simple greedy --hands {HANDS} --rules standard --seed 3"
        in captured.out
    )
    assert "seed 3" in captured.err
    assert "\r" not in captured.err
    assert "\x1b" not in captured.out + captured.err
    assert sorted(p.name for p in out.iterdir()) == [
        "hands",
        "manifest.json",
        "summary.csv",
        "summary.json",
        "sums",
    ]


def test_tournament_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["simple", "random", "early_gin", "--hands", HANDS, "--out", str(tmp_path / "run")]
    found = run_json(capsys, "tournament", *words)
    assert found["out"] == str(tmp_path / "run")
    assert found["rules"] == Rules().as_dict()
    assert isinstance(found["seed"], int)
    assert [(p["a"], p["b"]) for p in found["pairings"]] == [
        ("simple", "random"),
        ("simple", "early_gin"),
        ("random", "early_gin"),
    ]
    for pairing in found["pairings"]:
        low, high = pairing["ci95"]
        assert low <= pairing["points_per_hand"] <= high
        assert pairing["hands"] == int(HANDS) == 2 * pairing["deals"]
    assert [row["agent"] for row in found["ranking"]][-1] == "random"
    again = run_json(
        capsys, "tournament", *words[:-1], str(tmp_path / "two"), "--seed", str(found["seed"])
    )
    assert again["pairings"] == found["pairings"]


def test_tournament_over_games_and_by_default_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "tournament",
        "simple",
        "early_gin",
        "--games",
        "4",
        "--seed",
        "1",
        "--rules",
        "hollywood",
    ]
    text = run(capsys, *words)
    assert "games won" in text
    run(capsys, *words)
    folders = sorted((tmp_path / "results").iterdir())
    assert len(folders) == 2
    assert folders[1].name == f"{folders[0].name}-2"


def test_replay_tells_what_the_rows_hold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from gin_sim.records import read_rows

    for amount in (["--hands", "4" if JIT_DISABLED else "40"], ["--games", "2"]):
        out = tmp_path / amount[0]
        run(
            capsys,
            "tournament",
            "simple",
            "early_gin",
            "random",
            *amount,
            "--seed",
            "8",
            "--out",
            str(out),
        )
        rows = read_rows(out)
        for row in rows.groupby(["pairing", "outcome"], observed=True).head(2).itertuples():
            text = run(
                capsys,
                *("replay", str(out), "--deal", str(row.deal)),
                *("--mirror", str(row.mirror), "--pairing", row.pairing),
            )
            names = row.pairing.split(" v ")
            dealer = names["ab".index(row.dealer)]
            assert f"deal {row.deal}, mirror {row.mirror}, seed 8" in text
            assert f"{dealer} deals" in text
            last = text.strip().splitlines()[-1]
            if row.outcome == "dead":
                assert last.endswith("nobody scores")
                continue
            winner = names["ab".index(row.winner)]
            assert f"{row.outcome}: {winner} scores {abs(row.points_a)}" in last
            assert f"; {int(row.knock_deadwood)} left" in text
            assert f"; {int(row.defender_deadwood)} left" in text
            assert text.count(" lays off ") == row.cards_laid_off


def test_replay_names_what_it_cannot_find(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(capsys, "tournament", "simple", "greedy", "--hands", "10", "--seed", "1", "--out", str(out))
    assert "has 0..4" in refused(capsys, "replay", str(out), "--deal", "5")
    message = refused(capsys, "replay", str(out), "--deal", "1", "--pairing", "a v b")
    assert "there are: simple v greedy" in message
    assert "holds no run" in refused(capsys, "replay", str(tmp_path), "--deal", "1")
    (out / "manifest.json").write_text("{")
    assert "cannot be read" in refused(capsys, "replay", str(out), "--deal", "1")


BAD = [
    (["hand", "Ah Ah"], "Ah is there twice"),
    (["hand", "Ah 1x"], "'1x' is not a card"),
    (["hand", ""], "no cards were given"),
    (["hand", "Ah", "--taken", "2c"], "error"),
    (["hand", ELEVEN, "--taken", "Ks"], "Ks, is not in the hand"),
    (["showdown", KNOCKER, DEFENDER + " 3s"], "defender's hand has 11 cards"),
    (["showdown", KNOCKER[3:], DEFENDER], "knocker's hand has 9 cards"),
    (["showdown", KNOCKER, DEFENDER.replace("4s", "3c")], "3c is in both hands"),
    (["showdown", DEFENDER, KNOCKER], "the limit is 10"),
    (["showdown", KNOCKER, DEFENDER, "--melds", "5s 6s Kc"], "'Kc 5s 6s' is not a meld"),
    (["showdown", KNOCKER, DEFENDER, "--melds", "Jc Qc Kc"], "Jc is melded but not in"),
    (["showdown", KNOCKER, DEFENDER, "--melds", "5s 6s 7s"], "the limit is 10"),
    (["showdown", KNOCKER, DEFENDER, "--rules", "nice"], "no rules preset 'nice'"),
    (["showdown", KNOCKER, DEFENDER, "--set", "gin_bonus"], "write FIELD=VALUE"),
    (["showdown", KNOCKER, DEFENDER, "--set", "gin_bonus=x"], "allowed is 0..1000"),
    (["showdown", KNOCKER, DEFENDER, "--set", "gin_bones=1"], "did you mean 'gin_bonus'"),
    (["showdown", KNOCKER, DEFENDER, "--set", "knock_limit=11"], "allowed is 0..10"),
    (["tournament", "simple"], "has no opponent"),
    (["tournament", "simple", "nobody"], "there are: bayes, early_gin"),
    (["tournament", "--hands", "many"], "'many': allowed is a whole number 1.."),
    (["tournament", "--hands", "0"], "'0': allowed is a whole number 1.."),
    (["tournament", "--hands", "2", "--games", "2"], "not allowed with"),
    (["tournament", "--seed", "-3"], "--seed: '-3': allowed is a whole number 0.."),
    (["tournament", "--jobs", "0", "--hands", "2"], "jobs = 0"),
    (["tournament", "--backend", "cloud"], "invalid choice: 'cloud'"),
    (["tournament", "--out", "/proc/nowhere/x", "--hands", "2"], "cannot be written"),
    (["nonsense"], "invalid choice: 'nonsense'"),
    (["cache", "eat"], "invalid choice: 'eat'"),
    ([], "required"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(w)[:40] for w, _ in BAD])
def test_a_mistake_gets_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--taken" in words and len(words) == 4 and words[1] == "Ah":
        run(capsys, *words)  # of fewer than eleven cards nothing is thrown
        return
    assert message in refused(capsys, *words)


def test_a_run_that_fails_exits_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from gin_sim import agent\n"
        '@agent("bad", source="a test")\n'
        "class Bad:\n"
        "    def draw(view, params): return False\n"
        "    def discard(view, params): return 77\n"
        "    def knock(view, params): return True\n"
    )
    words = ["tournament", f"{tmp_path}/bad.py:bad", "simple", "--hands", "10", "--seed", "5"]
    message = refused(capsys, *words, "--out", str(tmp_path / "run"), code=PlayError.exit_code)
    assert "agent 'bad' threw 77" in message
    assert "seed 5, deal 0" in message
    text = run(capsys, "replay", str(tmp_path / "run"), "--deal", "0", "--mirror", "0")
    assert "stopped: agent 'bad' threw 77" in text
    forfeited = run_json(capsys, *words, "--on-illegal", "forfeit", "--out", str(tmp_path / "run2"))
    assert forfeited["pairings"][0]["a_illegal"] == 10


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        [],
        ["tournament"],
        ["agents"],
        ["hand"],
        ["showdown"],
        ["replay"],
        ["report"],
        ["sprt"],
        ["compare"],
        ["cache"],
        ["cache", "clear"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*words, "--help"])
        assert stopped.value.code == 0
        assert "usage: gin-sim" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"gin-sim {__version__}\n"


def test_cache_clear(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIN_SIM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("gin_sim.compiled._fallback_root", lambda: tmp_path / "none")
    (tmp_path / "0123456789abcdef").mkdir()
    assert run(capsys, "cache", "clear") == f"dropped {tmp_path / '0123456789abcdef'}\n"
    assert run(capsys, "cache", "clear") == f"nothing to drop in {tmp_path}\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = "import sys; from gin_sim.cli import main; sys.exit(main(['hand', 'Ah 2h 3h']))"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False
    )
    os.close(writing)
    assert b"Traceback" not in done.stderr


def test_the_documents_know_all_rules_presets_and_columns(tmp_path: Path) -> None:
    from gin_sim import play_tournament

    rules = (ROOT / "docs" / "rules.md").read_text()
    for name, value in Rules().as_dict().items():
        assert f"| `{name}` | {value} |" in rules
    readme = (ROOT / "README.md").read_text()
    for preset in PRESETS:
        assert f"| `{preset}` |" in rules
        assert f"`{preset}`" in readme
    columns = (ROOT / "docs" / "results.md").read_text()
    result = play_tournament(["greedy", "random"], games=2, seed=1)
    for name in (*result.hands.columns, *result.games.columns):
        assert f"`{name}`" in columns


def test_the_agent_of_the_readme_plays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    start = readme.index("from gin_sim import agent")
    (tmp_path / "patient.py").write_text(readme[start : readme.index("```", start)])
    spec = f"{tmp_path}/patient.py:patient"
    found = run_json(
        capsys,
        *("tournament", spec, f"{spec}:most=2", "simple"),
        *("--hands", HANDS, "--seed", "1", "--out", str(tmp_path / "run")),
    )
    assert {row["agent"] for row in found["ranking"]} == {"patient", "patient:most=2", "simple"}


def test_no_number_is_cut_however_narrow_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gin_sim.cli.common import print_table

    for columns in ("20", "80", "400"):
        monkeypatch.setenv("COLUMNS", columns)
        print_table("", ["name", "points"], [["x" * 300, "1,234,567"], ["[open, +3]", "-0.001"]])
        said = capsys.readouterr().out
        assert "x" * 300 in said
        assert "1,234,567" in said
        assert "[open, +3]" in said
        assert "…" not in said
