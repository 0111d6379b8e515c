"""``gin-sim check-agent``: what passes, what fails, and how a failure is told."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from gin_sim.battery import check_agent
from gin_sim.cli import main
from gin_sim.compiled import JIT_DISABLED
from gin_sim.rules import PRESETS
from tests.bots import LANGUAGES, PYTHON_BOT, compiled_bot, running, write_bot
from tests.command import refused

AGENT = """
import time
from gin_sim import agent
from gin_sim.chance import pick

COUNT = []

@agent("mine", source="a test", compiled=False)
class Mine:
    def draw(view, params):
        return {draw}
    def discard(view, params):
        COUNT.append(1)
        return {discard}
    def knock(view, params):
        return {knock}
"""


def write(folder: Path, draw: str = "False", discard: str = "", knock: str = "True") -> str:
    file = folder / "mine.py"
    best = "pick(view.best_discards, view.word)"
    file.write_text(AGENT.format(draw=draw, discard=discard or best, knock=knock))
    return f"{file}:mine"


def failures(spec: str, **options: Any) -> dict[str, Any]:
    checked = check_agent(spec, seconds=options.pop("seconds", 0), **options)
    assert checked.as_dict()["passed"] == checked.passed
    return {finding.check: finding for finding in checked.findings if not finding.passed}


def test_every_example_is_clean() -> None:
    bots = [PYTHON_BOT]
    bots += [compiled_bot(language) for language, compiler in LANGUAGES.items() if compiler]
    for bot in bots:
        assert failures(bot) == {}


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path)
    assert main(("check-agent", good, "--seconds", "0.5")) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == "mine: clean"
    assert all(line.startswith("pass  ") for line in out[:-1])
    assert [line.split(":")[0] for line in out[: len(PRESETS)]] == [
        f"pass  rules {name}" for name in PRESETS
    ]
    assert main(("check-agent", good, "--seconds", "0.5", "--json")) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["passed"] is True
    assert document["spec"] == good
    assert {"check", "passed", "detail", "replay", "asked"} == set(document["checks"][0])
    assert document["timing"]["decisions"] > 100
    assert document["timing"]["limit"] is None


def test_an_illegal_card_is_told_with_what_shows_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write(tmp_path, draw="True", discard="view.drawn")
    assert main(("check-agent", spec, "--seconds", "0", "--json")) == 1
    checks = {one["check"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    first = checks["rules standard"]
    assert not first["passed"]
    assert "just taken from the pile); allowed are " in first["detail"]
    words = shlex.split(first["replay"])
    assert words[0] == "gin-sim"
    assert main((*words[1:], "--out", str(tmp_path / "run"))) == 1
    assert first["detail"] in capsys.readouterr().err
    asked = json.loads(checks["awkward views"]["asked"])
    assert asked["decision"] == "discard"
    assert main(("check-agent", spec, "--seconds", "0")) == 1
    out = capsys.readouterr().out
    assert "FAIL  rules standard: agent 'mine' threw " in out
    assert "      again: gin-sim tournament " in out
    assert "      asked: {" in out
    assert "checks failed" in out.splitlines()[-1]


def test_state_is_found(tmp_path: Path) -> None:
    changing = "pick(view.legal_discards, len(COUNT) * 0x123456789ABCDEF % 2**63)"
    found = failures(write(tmp_path, discard=changing))
    assert {"same view, same answer", "same deals twice"} <= found.keys()
    assert "answered " in found["same view, same answer"].detail
    assert "--seed 11" in found["same deals twice"].replay


def test_a_bot_that_tosses_coins_of_its_own_is_found(tmp_path: Path) -> None:
    harm = "import random\nreturn random.choice(view['allowed'].split())"
    found = failures(write_bot(tmp_path, harm, "view['decision'] == 'discard'"))
    assert {"same view, same answer", "same deals twice"} <= found.keys()
    assert running(tmp_path) == []


def test_what_takes_too_long_is_found(tmp_path: Path) -> None:
    dawdles = "time.sleep(0.5) or True"
    found = failures(write(tmp_path, knock=dawdles), time_limit=0.25)
    assert (
        "took longer than 0.25 s" in found["rules straight"].detail
        if ("rules straight" in found)
        else "took longer than 0.25 s" in found["rules standard"].detail
    )
    assert "limit 0.25 s" in found["time"].detail


@pytest.mark.skipif(JIT_DISABLED, reason="compiled")
def test_a_compiled_agent_that_raises_is_found(tmp_path: Path) -> None:
    spec = write(tmp_path, draw="view.turn // (view.turn - 4) > 99", discard="")
    file = Path(spec.removesuffix(":mine"))
    text = file.read_text().replace(", compiled=False", "").replace("COUNT.append(1)", "pass")
    file.write_text(text)
    found = failures(spec, deals=20)
    assert "raised ZeroDivisionError" in found["rules standard"].detail


def test_what_cannot_be_checked_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no agent 'nobody'" in refused(capsys, "check-agent", "nobody")
    assert "there is no program 'none'" in refused(capsys, "check-agent", "cmd:none")
    line = refused(capsys, "check-agent", "simple", "--seconds", "-1")
    assert "--seconds -1: allowed is 0..86400" in line
    line = refused(capsys, "check-agent", "simple", "--time-limit", "0")
    assert "allowed is a number 0.001..3600" in line
