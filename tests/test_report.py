"""Reports of tournaments: one set of numbers everywhere, finished or not, whatever names are."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gin_sim import play_tournament
from gin_sim.cli import main
from gin_sim.folder import RunFolder
from gin_sim.page import escape_markdown
from gin_sim.plan import make_plan, make_sweep
from gin_sim.records import read_rows
from gin_sim.report import write_report
from gin_sim.tournament import play_sweep
from gin_sim.wording import remarks
from tests.helpers import scaled

Rows = list[dict[str, str]]
AGENTS = ["simple", "random", "gin_only"]


def unescaped(text: str) -> str:
    return html.unescape(re.sub(r"\\(.)", r"\1", text))


def tables(page: Path) -> list[Rows]:
    """Return the tables of a report in Markdown."""
    out = []
    for block in page.read_text().split("\n\n"):
        if block.startswith("| "):
            cells = [
                [unescaped(cell) for cell in re.split(r"(?<!\\) \| ", line[2:-2])]
                for line in block.strip().split("\n")
            ]
            assert {len(row) for row in cells} == {len(cells[0])}
            out.append([dict(zip(cells[0], row, strict=True)) for row in cells[2:]])
    return out


def html_tables(page: Path) -> list[Rows]:
    out = []
    for block in re.findall("<table>(.*?)</table>", page.read_text()):
        rows = [
            [html.unescape(cell) for cell in re.findall("<t[hd]>(.*?)</t[hd]>", row)]
            for row in re.findall("<tr>(.*?)</tr>", block)
        ]
        out.append([dict(zip(rows[0], row, strict=True)) for row in rows[1:]])
    return out


def with_column(some: list[Rows], column: str) -> Rows:
    return next(table for table in some if column in table[0])


def terminal_tables(text: str) -> list[Rows]:
    """Return what was printed as tables: under a line of dashes, cells two spaces apart."""
    out: list[Rows] = []
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if re.fullmatch(r"\s*─+\s*", line):
            cells = [re.split(r"\s{2,}", lines[i - 1].strip())]
            for row in lines[i + 1 :]:
                if not row.strip():
                    break
                cells.append(re.split(r"\s{2,}", row.strip()))
            out.append([dict(zip(cells[0], row, strict=True)) for row in cells[1:]])
    return out


def recount(hands: pd.DataFrame, agent: str) -> tuple[float, float, int]:
    """Return points a hand, the hand share and the number of hands of an agent."""
    first = hands[hands.pairing.str.startswith(f"{agent} v ")]
    second = hands[hands.pairing.str.endswith(f" v {agent}")]
    n = len(first) + len(second)
    points = first.points_a.sum() - second.points_a.sum()
    won = (first.winner == "a").sum() + (second.winner == "b").sum()
    nobody = first.winner.isna().sum() + second.winner.isna().sum()
    return points / n, (won + nobody / 2) / n, n


@pytest.mark.parametrize("kind", ["--hands", "--games"])
def test_all_that_tells_of_a_run_has_the_same_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    amount = str(scaled(400 if kind == "--hands" else 60, 4))
    words = ["tournament", *AGENTS, kind, amount, "--seed", "3", "--rules", "eaai"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert main([*words, "--out", str(tmp_path / "json"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    del document["out"]
    assert document == summary
    page = write_report(tmp_path / "run")
    shown = tables(page.with_suffix(".md"))
    assert shown == html_tables(page)
    printed_pairings, printed_ranking = terminal_tables(text)
    hands = read_rows(tmp_path / "run")
    hands["pairing"] = hands.pairing.astype(str)
    hands["winner"] = hands.winner.astype(object)

    # Ranked rows carry the numbers of the agent that they name.
    ranking = with_column(shown, "agent")
    points_key, share_key = "points a hand (95 %)", "hand share (95 %)"
    elo_key = f"Elo of {kind[2:]} (95 %)"
    assert sorted(row["agent"].split(" ")[1] for row in ranking) == sorted(AGENTS)
    for row, printed, found in zip(ranking, printed_ranking, summary["ranking"], strict=True):
        assert row["agent"] == printed["ranking"]
        assert row["agent"].endswith(f" {found['agent']}")
        assert (row[points_key], row[elo_key]) == (printed[points_key], printed[elo_key])
        points, share, n = recount(hands, found["agent"])
        assert (found["points_per_hand"], found["hands"]) == (pytest.approx(points), n)
        assert found["hand_share"] == pytest.approx(share)
        assert row[points_key].startswith(f"{points:+.3f} ")
        assert row[share_key].startswith(f"{100 * share:.1f} % [")
        if kind == "--games":
            games = read_rows(tmp_path / "run", "games")
            mine = [
                row.winner == ("a" if str(row.pairing).startswith(f"{found['agent']} v ") else "b")
                for row in games.itertuples()
                if found["agent"] in str(row.pairing).split(" v ")
            ]
            assert found["game_share"] == pytest.approx(np.mean(mine))
            assert row["game share (95 %)"] == printed["games won (95 %)"]

    pairings = with_column(shown, "pairing")
    for row, printed, found in zip(pairings, printed_pairings, summary["pairings"], strict=True):
        name = f"{found['a']} v {found['b']}"
        assert row["pairing"] == printed["pairing"] == name
        mine = hands[hands.pairing == name]
        assert row[points_key] == printed["points a hand of the first (95 %)"]
        assert row[points_key].startswith(f"{mine.points_a.mean():+.3f} ")
        share = ((mine.winner == "a").sum() + mine.winner.isna().sum() / 2) / len(mine)
        assert row[share_key].startswith(f"{100 * share:.1f} % [")
        for column, other in {"won": "first won", "lost": "second won", "gin": "gin"}.items():
            assert row[column].replace(" %", "%") == printed[other]

    # Each against each, in the table, in the file and in the summary.
    labels = [agent["label"] for agent in summary["agents"]]
    with (tmp_path / "run" / "tables" / "matrix.csv").open() as file:
        raw = list(csv.DictReader(file))
    for row, digits in zip(with_column(shown, "points a hand of"), raw, strict=True):
        one = labels.index(row["points a hand of"])
        assert digits["agent"] == labels[one]
        for j, other in enumerate(labels):
            value = summary["matrix"][one][j]
            if value is None:
                assert (row[f"v {other}"], digits[other]) == ("", "")
                continue
            star = summary["beats"][one][j] or summary["beats"][j][one]
            assert row[f"v {other}"] == f"{value:+.3f}{' *' if star else ''}"
            assert float(digits[other]) == value

    for row, found in zip(with_column(shown, "p after Holm"), summary["pairings"], strict=True):
        assert (row["p"], row["p after Holm"]) == (found["p"], found["p_holm"])
        assert row["significant"] == ("yes" if found["significant"] else "no")
    for row, found in zip(with_column(shown, "LL"), summary["pairings"], strict=True):
        counts = [int(row[key].replace(",", "")) for key in list(row)[1:]]
        assert counts == [*found["pairs"], sum(found["pairs"])]
    for line in remarks(summary):
        assert line in text
        assert line in unescaped(page.with_suffix(".md").read_text())


def test_a_two_agents_share_is_the_same_in_the_ranking_and_in_the_pairing() -> None:
    found = play_tournament(["simple", "early_gin"], games=scaled(20, 4), seed=1).as_dict()
    (pairing,) = found["pairings"]
    (row,) = (row for row in found["ranking"] if row["agent"] == "simple")
    for mine, theirs in (("game_share", "game_score"), ("hand_share", "hand_score")):
        assert row[mine] == pairing[theirs]["share"]
        assert row[f"{mine}_ci95"] == pairing[theirs]["ci95"]


def test_orders_that_differ_and_cycles_are_told() -> None:
    pairing = {"undecided_games": 0, "a_illegal": 0, "b_illegal": 0}
    places = [("a", 3.0, 10.0), ("b", 1.0, 40.0), ("c", -4.0, -50.0), ("d", None, 0.0)]
    ranking = [{"agent": a, "points_per_hand": p, "elo": elo} for a, p, elo in places]
    found: dict[str, Any] = {"pairings": [pairing], "cycle": None, "rated": "hands"}
    found["ranking"] = ranking
    assert remarks(found) == ["hands won and points rank differently; by hands won: b > a > c"]
    ranking[1]["elo"] = 10.0  # a tie turns nothing round
    assert remarks(found) == []
    found |= {"cycle": ["x", "y", "z"], "pairings": [pairing | {"a_illegal": 1200}]}
    assert remarks(found) == [
        "no order: each of these beats the next significantly: x > y > z > x",
        "hands forfeited by illegal actions: 1,200",
    ]
    found |= {"cycle": None, "faults": [{"what": "x lost deal 3"}]}
    assert remarks(found) == [
        "hands forfeited by illegal actions: 1,200; of each agent the first:",
        "x lost deal 3",
    ]


def nothing_played(out: Path) -> None:
    plan = make_plan(["simple", "greedy", "random"], games=4, seed=1)
    RunFolder.create(out, plan.manifest())


def nothing_swept(out: Path) -> None:
    plan = make_sweep("early_gin", "turns", [0, 3], ["simple"], hands=20, seed=7)
    RunFolder.create(out, plan.manifest())


ODD_RUNS: dict[str, Callable[[Path], object]] = {
    "one deal": lambda out: play_tournament(AGENTS, hands=2, seed=1, out=out),
    "one pair of games": lambda out: play_tournament(
        ["simple", "greedy"], games=2, seed=1, out=out
    ),
    "self-play": lambda out: play_tournament(["simple", "simple"], hands=60, seed=1, out=out),
    "no bounds": lambda out: play_tournament(AGENTS, hands=60, seed=3, out=out),
    "without rows": lambda out: play_tournament(AGENTS, hands=20, out=out, keep_hands=False),
    "gauntlet": lambda out: play_tournament(AGENTS, hands=20, out=out, format="gauntlet"),
    "sweep": lambda out: play_sweep("early_gin", "turns", [0, 2], ["simple"], hands=20, out=out),
    "nothing yet": nothing_played,
    "nothing swept yet": nothing_swept,
}


@pytest.mark.parametrize("kind", ODD_RUNS)
def test_both_forms_say_the_same_without_a_word_for_nothing(tmp_path: Path, kind: str) -> None:
    ODD_RUNS[kind](tmp_path / "run")
    page = write_report(tmp_path / "run")
    written, marked = page.read_text(), page.with_suffix(".md").read_text()
    words = re.sub('base64,[^"]*|<style>.*?</style>', "", written, flags=re.DOTALL)
    for text in (words, marked, *(p.read_text() for p in (page.parent / "tables").iterdir())):
        # On the scale of Elo all won or lost is infinite, and said with its sign.
        signed = re.sub(r"[+-]inf\b", "", text)
        assert not re.search(r"\b(nan|none|null|inf)\b", signed, re.IGNORECASE)
        assert "win rate" not in text
    assert html_tables(page) == tables(page.with_suffix(".md"))
    headings = [html.unescape(h) for h in re.findall("<h[12]>(.*?)</h[12]>", written)]
    assert [unescaped(h) for h in re.findall("^##? (.*)$", marked, re.MULTILINE)] == headings
    links = re.findall(r"!\[[^]]*\]\(([^)]*)\)", marked)
    assert len(links) == written.count("<img ") == len(set(links)) > 0
    for link in links:
        assert re.fullmatch(r"figures/[\w.-]+\.png", link)
        assert (page.parent / link).stat().st_size > 1000
    assert set(links) == {f"figures/{p.name}" for p in page.parent.glob("figures/*")}
    assert ("Ranking" in headings) == ("swe" not in kind)
    assert ("Each against each" in headings) == (
        kind not in ("self-play", "one pair of games", "sweep", "nothing swept yet")
    )
    assert ("How hands go" in headings) == (
        kind not in ("without rows", "nothing yet", "nothing swept yet")
    )


def test_the_table_of_a_sweep_is_that_of_its_result(tmp_path: Path) -> None:
    found = play_sweep(
        "early_gin", "turns", [3, 0.5], ["simple", "greedy"], hands=20, seed=1, out=tmp_path / "run"
    ).sweep
    page = write_report(tmp_path / "run")
    rows = with_column(tables(page.with_suffix(".md")), "against")
    assert [row["turns"] for row in rows] == ["3", "3", "0.5", "0.5"]
    assert [row["against"] for row in rows] == list(found.against)
    for row, points in zip(rows, found.points_per_hand, strict=True):
        assert row["points a hand (95 %)"].startswith(f"{points:+.3f} ± ")
    raw = pd.read_csv(tmp_path / "run" / "tables" / "sweep.csv")
    columns = ["value", "against", "hands", "points_per_hand", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(raw[columns], found[columns], check_dtype=False, rtol=1e-12)


ODD_NAMES = [
    "<script>alert(1)</script>",
    "a|b||c",
    "$x_1$ `y` *z* [w](v) \\ ~s~ # &lt;",
    "麻雀の達人",
    "long" * 60,
    "agent",
    "points a hand of",
]


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a document with agents called otherwise."""
    if isinstance(value, dict):
        return {key: renamed(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [renamed(one, names) for one in value]
    if isinstance(value, str):
        return " v ".join(names.get(part, part) for part in value.split(" v "))
    return value


@pytest.mark.parametrize("finished", [True, False])
def test_names_come_out_as_they_are(tmp_path: Path, finished: bool) -> None:
    out = tmp_path / "run"
    found = play_tournament(["random"] * len(ODD_NAMES), hands=2, seed=2, out=out)
    names = dict(zip(found.plan.labels, ODD_NAMES, strict=True))
    for path in (out / "manifest.json", out / "summary.json"):
        path.write_text(json.dumps(renamed(json.loads(path.read_text()), names)))
    if not finished:
        (out / "summary.json").unlink()
    page = write_report(out)
    marked = page.with_suffix(".md").read_text()
    shown = tables(page.with_suffix(".md"))
    assert shown == html_tables(page)
    assert {row["agent"].split(". ", 1)[1] for row in with_column(shown, "agent")} == {*ODD_NAMES}
    for row in with_column(shown, "points a hand of"):
        assert {f"v {name}" for name in ODD_NAMES} == row.keys() - {"points a hand of"}
    pairs = [f"{ODD_NAMES[a]} v {ODD_NAMES[b]}" for a, b in found.plan.pairings]
    assert [row["pairing"] for row in with_column(shown, "LL")] == pairs
    for text in (page.read_text(), marked):
        assert "<script>" not in text
    # Nothing of a name is a sign of Markdown.
    for name in ODD_NAMES:
        assert not re.search(r"(?<!\\)[$`*|]", escape_markdown(name).replace("\\\\", ""))


def test_an_open_end_is_on_the_terminal_and_an_arrow_in_the_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(["tournament", *AGENTS, "--hands", "60", "--seed", "3", "--out", str(out)]) == 0
    _, ranking = terminal_tables(capsys.readouterr().out)
    summary = json.loads((out / "summary.json").read_text())
    for row, found in zip(ranking, summary["ranking"], strict=True):
        low, high = found["elo_ci95"]
        ends = ", ".join("open" if end is None else f"{end:+.0f}" for end in (low, high))
        assert row["Elo of hands (95 %)"] == f"{found['elo']:+.0f} [{ends}]"
    assert summary["ranking"][-1]["elo_ci95"][0] is None
    page = write_report(out)
    last = with_column(tables(page.with_suffix(".md")), "agent")[-1]
    assert "[open, " in last["Elo of hands (95 %)"]
    assert last["note"] == summary["ranking"][-1]["elo_note"]
