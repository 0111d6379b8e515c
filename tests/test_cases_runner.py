"""Faults that public programs have had with running many games: bots that fail, seeds, names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gin_sim import PlayError, play_tournament
from gin_sim.cli import main
from gin_sim.compiled import JIT_DISABLED, cache_root
from tests.command import ROOT, refused
from tests.test_runs import write_agent

ODD = "if view.word % 64 == 5: raise ValueError('odd luck')"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("amount", [{"hands": 240}, {"games": 12}], ids=["hands", "games"])
def test_one_exception_costs_one_hand_and_is_told_with_its_seed(
    tmp_path: Path, compiled: bool, amount: dict[str, int]
) -> None:
    body = ODD.replace("'odd luck'", "") if compiled else ODD
    spec = write_agent(tmp_path, body, compiled=compiled)
    forgiven = play_tournament(
        [spec, "greedy", "simple"], seed=5, on_illegal="forfeit", jobs=1, **amount
    )
    document, hands = forgiven.as_dict(), forgiven.hands
    lost = hands[hands.outcome == "forfeit"]
    assert 0 < len(lost) < len(hands) / 2
    assert sum(row["a_illegal"] for row in document["pairings"]) == len(lost)
    others = document["pairings"][-1]
    assert others["a_illegal"] == others["b_illegal"] == 0
    (fault,) = document["faults"]
    assert fault["agent"] == "failing"
    assert "raised ValueError" in fault["what"]
    assert f"seed 5, deal {fault['deal']}, mirror {fault['mirror']}," in fault["what"]
    first = lost.sort_values(["deal", "mirror"]).iloc[0]
    assert (first.deal, first.mirror) == (fault["deal"], fault["mirror"])
    if not compiled:
        assert any(ODD in line for line in fault["traceback"])
    with pytest.raises(PlayError) as failed:
        play_tournament([spec, "greedy", "simple"], seed=5, jobs=1, **amount)
    assert str(failed.value) == fault["what"]


def test_an_illegal_card_costs_one_hand_and_is_told(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, "if view.word % 32 == 5: return 60", compiled=True)
    forgiven = play_tournament([spec, "greedy"], seed=5, hands=60, on_illegal="forfeit", jobs=1)
    (fault,) = forgiven.as_dict()["faults"]
    assert "threw 60; allowed are " in fault["what"]


def test_what_failed_is_the_same_however_the_work_is_cut(tmp_path: Path) -> None:
    spec = write_agent(tmp_path, ODD)
    told = []
    for i, jobs in enumerate((1, 2)):
        out = tmp_path / str(i)
        play_tournament(
            [spec, "greedy"], hands=80, seed=5, on_illegal="forfeit", jobs=jobs, out=out
        )
        told.append(json.loads((out / "summary.json").read_text())["faults"])
    assert told[0] == told[1] != []


def test_a_bot_that_never_starts_is_no_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, "tournament", f"{tmp_path}/none.py:bot", "greedy", "--hands", "2")
    assert "no file" in line
    dead = write_agent(tmp_path, "raise RuntimeError('dead')")
    words = ["tournament", dead, "greedy", "random", "--hands", "20", "--seed", "1", "--jobs", "1"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 1
    assert "raised RuntimeError: dead" in capsys.readouterr().err
    assert not (tmp_path / "run" / "summary.json").exists()
    words += ["--on-illegal", "forfeit", "--out", str(tmp_path / "forgiven"), "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)["pairings"][0]
    assert (found["a_illegal"], found["dead_hands"]) == (20, 0)
    assert found["b_hand_wins"] == 20


SCRIPT = """
import multiprocessing
multiprocessing.set_start_method("spawn")
from gin_sim import agent, play_tournament

{body}
result = play_tournament([{who}, "greedy"], hands=8, seed=1, jobs=2, backend="loky")
print(result.as_dict()["pairings"][0]["hands"])
"""
BY_LAMBDA = '''
@agent("mine", source="a test", compiled=False)
class Mine:
    """Made in a script, of lambdas' work."""
    def draw(view, params): return (lambda: False)()
    def discard(view, params): return view.history and min(
        card for card in range(52) if view.legal_discards >> card & 1)
    def knock(view, params): return True
'''
LOCKED = BY_LAMBDA.replace("(lambda: False)()", "LOCK.locked()") + "\n"


@pytest.mark.skipif(JIT_DISABLED, reason="has nothing to do with compilation")
@pytest.mark.parametrize(
    ("body", "who", "told"),
    [
        ("", '"simple"', "8"),
        (BY_LAMBDA.replace("view.history and ", ""), "Mine", "8"),
        (
            "import threading\nLOCK = threading.Lock()\n" + LOCKED.replace("view.history and ", ""),
            "Mine",
            "agent 'mine' cannot be sent to another process",
        ),
    ],
    ids=["by name", "in the script", "with a lock"],
)
def test_a_script_without_a_main_guard_under_spawn(
    tmp_path: Path, body: str, who: str, told: str
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.format(body=body, who=who))
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        cwd=ROOT,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": "/usr/bin:/bin",
            "GIN_SIM_CACHE_DIR": str(cache_root()),
        },
        check=False,
        capture_output=True,
        text=True,
    )
    said = done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
    assert told in said
