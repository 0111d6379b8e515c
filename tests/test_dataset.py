"""Training sets: what is written is what was seen and done, and what the hand brought."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gin_sim import ResultsError, RulesError, play_tournament
from gin_sim.cli import main
from gin_sim.compiled import JIT_DISABLED
from gin_sim.dataset import (
    _KEY,
    CARD_COLUMNS,
    NUMBER_COLUMNS,
    Decisions,
    about_decisions,
    decision_batches,
    export_decisions,
    read_decisions,
)
from gin_sim.env import GinRummyEnv
from gin_sim.env.actions import N_ACTIONS
from gin_sim.env.encode import FLAT_SHAPE, PLANES_SHAPE
from tests.command import refused
from tests.test_runs import write_agent

HANDS = 4 if JIT_DISABLED else 40
AGENTS = ("simple", "random")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "set.parquet"
    export_decisions(*AGENTS, path, hands=HANDS, seed=3, rules="openspiel")
    return path


def labels_of(data: Decisions) -> dict[tuple[int, int, int], set[tuple[int, int]]]:
    """Return the labels of all decisions of each seat in each hand."""
    found: dict[tuple[int, int, int], set[tuple[int, int]]] = {}
    for deal, mirror, player, won, points in zip(
        *(data.deals, data.mirrors, data.players, data.won, data.points), strict=True
    ):
        key = int(deal), int(mirror), int(player)
        found.setdefault(key, set()).add((int(won), int(points)))
    return found


def test_the_label_is_that_of_the_hand_and_no_running_count(file: Path) -> None:
    data = read_decisions(file)
    assert set(np.unique(data.won)) == {0, 1}
    found = labels_of(data)
    assert all(len(labels) == 1 for labels in found.values())
    rows = play_tournament(AGENTS, hands=HANDS, seed=3, rules="openspiel", jobs=1).hands
    for row in rows.itertuples():
        for player, name in enumerate("ab"):
            labels = found.get((row.deal, row.mirror, player))
            sign = 1 if player == 0 else -1
            if labels is not None:  # a hand may end before a player decides anything
                assert labels == {(int(row.winner == name), sign * row.points_a)}
    assert data.won.sum() > HANDS / 2  # several hands are won: a count would be above 1
    assert data.won.max() == 1


@pytest.mark.parametrize(("form", "shape"), [("flat", FLAT_SHAPE), ("planes", PLANES_SHAPE)])
def test_a_batch_of_one_has_the_shape_of_any_batch(
    file: Path, form: str, shape: tuple[int, ...]
) -> None:
    whole = read_decisions(file, form)
    for size in (1, 32):
        batch = next(decision_batches(file, size, form))
        assert batch.observations.shape == (size, *shape)
        assert batch.masks.shape == (size, N_ACTIONS)
        assert all(array.shape == (size,) for array in batch[2:])
        for part, all_of_it in zip(batch, whole, strict=True):
            assert part.dtype == all_of_it.dtype
            assert np.array_equal(part, all_of_it[:size])
    sizes = [len(batch.won) for batch in decision_batches(file, 32, form)]
    assert sum(sizes) == len(whole.won)


def test_an_environment_shows_the_same_and_comes_to_the_same_end(file: Path) -> None:
    data, planes = read_decisions(file), read_decisions(file, "planes")
    env, wide = (GinRummyEnv(rules="openspiel", observation=o) for o in ("flat", "planes"))
    at = 0
    while at < len(data.won):
        deal, mirror = int(data.deals[at]), int(data.mirrors[at])
        for one in (env, wide):
            one.reset(seed=3, options={"deal": deal})
        first = at
        while at < len(data.won) and (data.deals[at], data.mirrors[at]) == (deal, mirror):
            name = env.agent_selection
            assert name == f"player_{data.seats[at]}"
            seen = env.observe(name)
            assert np.array_equal(seen["observation"], data.observations[at])
            assert np.array_equal(wide.observe(name)["observation"], planes.observations[at])
            assert np.array_equal(seen["action_mask"], data.masks[at])
            for one in (env, wide):
                one.step(int(data.actions[at]))
            at += 1
        for i in range(first, at):
            assert env.rewards[f"player_{data.seats[i]}"] == data.points[i]


def test_the_file_says_what_it_is(file: Path) -> None:
    about = about_decisions(file)
    assert (about["schema"], about["hands"], about["seed"]) == (1, HANDS, 3)
    assert about["agents"] == list(AGENTS)
    assert about["rules"]["wall"] == "50th_card"
    text = (Path(__file__).parents[1] / "docs" / "data.md").read_text("utf-8")
    for name in pq.read_schema(file).names:
        assert f"`{name}`" in text
    assert len(CARD_COLUMNS) + len(NUMBER_COLUMNS) == 27


def test_the_same_command_gives_the_same_rows(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "again.parquet"
    words = ("export", *AGENTS, "--hands", str(HANDS - 1), "--seed", "3", "--rules", "openspiel")
    assert main([*words, "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["hands"] == HANDS
    assert document["decisions"] == len(read_decisions(file).won)
    assert out.read_bytes() == file.read_bytes()
    for refusal, place in (("there already", out), ("cannot be written", tmp_path / "no" / "x")):
        assert refusal in refused(capsys, *words, "--out", str(place))
        with suppress(SystemExit):
            main([*words, "--out", str(place)])
        assert "seed 3, into" not in capsys.readouterr().err  # nothing was begun
    assert main([*words, "--out", str(tmp_path / "third")]) == 0
    assert f"{HANDS} hands, seed 3, into" in capsys.readouterr().err


def test_an_agent_that_fails_leaves_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = write_agent(tmp_path, "return 99")
    out = tmp_path / "set.parquet"
    words = ("export", "simple", failing, "--hands", "2", "--seed", "1", "--out", str(out))
    assert "threw 99" in refused(capsys, *words, code=1)
    assert not list(tmp_path.glob("*.parquet*"))


def changed(file: Path, out: Path, metadata: dict[bytes, bytes] | None) -> Path:
    pq.write_table(pq.read_table(file).replace_schema_metadata(metadata), out)
    return out


def test_what_is_no_such_file_is_refused(file: Path, tmp_path: Path) -> None:
    other: Any = {b"gin_sim_decisions": b'{"schema": 2}'}
    cases = {
        "schema 2; this version reads 1": changed(file, tmp_path / "a", other),
        "holds no decisions": changed(file, tmp_path / "b", None),
        "cannot be read": tmp_path / "c",
        "cannot be read: max": changed(file, tmp_path / "d", {_KEY: b"[" * 100_000}),
    }
    (tmp_path / "c").write_bytes(b"PAR1")
    for words, path in cases.items():
        with pytest.raises(ResultsError, match=words):
            read_decisions(path)
    with pytest.raises(RulesError, match="observation"):
        read_decisions(file, "round")
    # Refused where it is asked for, not where the first batch is taken.
    with pytest.raises(RulesError, match="size"):
        decision_batches(file, 0)
    with pytest.raises(ResultsError, match="cannot be read"):
        decision_batches(tmp_path / "none", 1)
    for path in (3, None, [file]):
        with pytest.raises(ResultsError, match="give the path of a file"):
            read_decisions(path)  # type: ignore[arg-type]


def test_a_damaged_byte_of_the_rows_is_seen(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    end = pq.read_metadata(file).row_group(0)
    for number in range(0, end.num_columns, 5):
        column = end.column(number)
        start = column.dictionary_page_offset or column.data_page_offset
        for at in (start + 2, start + column.total_compressed_size - 2):
            damaged = bytearray(whole)
            damaged[at] ^= 0x55
            (tmp_path / "damaged").write_bytes(damaged)
            with pytest.raises(ResultsError, match="cannot be read") as raised:
                read_decisions(tmp_path / "damaged")
            assert "\n" not in str(raised.value)


def test_columns_must_be_there_with_their_types_and_rows(file: Path, tmp_path: Path) -> None:
    table, out = pq.read_table(file), tmp_path / "other"
    for name in table.column_names:
        place = table.schema.get_field_index(name)
        missing = pa.nulls(len(table), table.schema.field(name).type)
        text = pa.array(["x"] * len(table), pa.large_string())
        for other in (
            table.drop([name]),
            table.set_column(place, name, missing),
            table.set_column(place, name, text),
        ):
            pq.write_table(other, out)
            with pytest.raises(ResultsError, match=f"there is no column '{name}'"):
                read_decisions(out)
    pq.write_table(table.slice(0, 0), out)
    with pytest.raises(ResultsError, match="holds no decisions"):
        read_decisions(out)


def test_nothing_that_is_there_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("export", *AGENTS, "--hands", "2", "--seed", "1", "--out")
    (tmp_path / "set.tmp").write_text("mine")
    assert "'set.tmp' is there" in refused(capsys, *words, str(tmp_path / "set")).replace(
        f"{tmp_path}/", ""
    )
    assert (tmp_path / "set.tmp").read_text() == "mine"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is there already" in refused(capsys, *words, str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert "cannot be written" in refused(capsys, *words, str(tmp_path / ("x" * 300)))
