"""Workers elsewhere: a cluster of Dask on the loopback, started by the commands of docs/scale.md.

None of it has to do with compilation.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gin_sim import AgentError, GinSimError, play_tournament
from gin_sim.cli import main
from gin_sim.cluster import Job, installation
from gin_sim.compiled import once
from gin_sim.errors import WorkerError
from gin_sim.folder import RunFolder
from gin_sim.plan import make_plan
from gin_sim.runner import Entry
from gin_sim.tournament import run_plan
from gin_sim.workers import Workers
from tests.command import ROOT, press_ctrl_c, refused, start

PLAYERS = ("simple", "greedy", "gin_only")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(*words: str, path: Path = ROOT, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of Dask's in a process group of its own; end all of it afterwards."""
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "dask"), *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}"} | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduler(**settings: str) -> Iterator[str]:
    port = free_port()
    words = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with running(*words, **settings):
        yield f"tcp://127.0.0.1:{port}"


@contextmanager
def asking(address: str) -> Iterator[Any]:
    from distributed import Client

    with Client(address, timeout=60, set_as_default=False) as client:
        yield client


def wait_until(true: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A scheduler and two workers that are started again when they die."""
    two = ("--nworkers", "2", "--nthreads", "1", "--no-dashboard")
    with scheduler() as address, running("worker", address, *two):
        with asking(address) as client:
            client.wait_for_workers(2, timeout=60)
        yield address


@pytest.fixture(scope="module")
def empty() -> Iterator[str]:
    """A scheduler without workers, which forgives no death."""
    with scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as address, asking(address):
        yield address


@contextmanager
def lone_worker(
    address: str, path: Path = ROOT, threads: int = 1
) -> Iterator[subprocess.Popen[bytes]]:
    words = ("worker", address, "--nthreads", str(threads), "--no-nanny", "--no-dashboard")
    with running(*words, path=path) as process, asking(address) as client:
        client.wait_for_workers(1, timeout=60)
        yield process
    with asking(address) as client:
        wait_until(lambda: not client.ncores())


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


# --- results --------------------------------------------------------------------------


def test_a_cluster_gives_the_same_bytes(tmp_path: Path, cluster: str) -> None:
    common = ("tournament", *PLAYERS, "--hands", "10000", "--seed", "1")
    there = ("--backend", "dask", "--scheduler", cluster)
    assert main([*common, "--out", str(tmp_path / "threads")]) == 0
    assert main([*common, *there, "--out", str(tmp_path / "dask")]) == 0
    assert main([*common, *there, "--jobs", "1", "--out", str(tmp_path / "one")]) == 0
    here = contents(tmp_path / "threads")
    assert len(here) >= 4
    assert contents(tmp_path / "dask") == here
    assert contents(tmp_path / "one") == here


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, cluster: str) -> None:
    plan = make_plan(PLAYERS, hands=6000, seed=2)
    killed: list[int] = []
    with asking(cluster) as client:

        def kill(done: int, total: int, found: str = "") -> None:
            if not killed:
                assert done < total / 2
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        folders = []
        for backend, report in (("threads", None), ("dask", kill)):
            folder = RunFolder.create(tmp_path / backend, plan.manifest())
            workers = Workers(2, backend, cluster if backend == "dask" else None)
            run_plan(plan, workers, folder, piece_units=50, report=report)
            folders.append(contents(folder.path))
        assert killed
        assert folders[0] == folders[1]
        wait_until(lambda: len(client.ncores()) == 2)


def test_jobs_limit_what_is_played_at_once_and_nothing_is_played_here(cluster: str) -> None:
    def when(task: int) -> tuple[float, float, int]:
        begin = time.time()
        time.sleep(0.02)
        return begin, time.time(), os.getpid()

    spans = sorted(Workers.choose(1, "dask", cluster).run(when, range(6)))
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    found = list(Workers.choose(-1, "dask", cluster).run(when, range(20)))
    assert len(found) == 20
    assert os.getpid() not in {pid for *_, pid in (*spans, *found)}


def test_the_threads_of_a_new_worker_do_not_get_in_each_others_way(empty: str) -> None:
    with lone_worker(empty, threads=2):
        there = play_tournament(PLAYERS, hands=4000, seed=3, backend="dask", scheduler=empty)
    assert there.as_dict() == play_tournament(PLAYERS, hands=4000, seed=3).as_dict()


def test_what_is_to_be_done_once_is_done_once_and_waited_for() -> None:
    done: list[int] = []
    together = threading.Barrier(4)

    @once
    def slow() -> None:
        time.sleep(0.05)
        done.append(1)

    def use() -> int:
        together.wait()
        slow()
        return len(done)

    with ThreadPoolExecutor(4) as threads:
        assert [use.result() for use in [threads.submit(use) for _ in range(4)]] == [1] * 4


def test_a_comparison_on_a_cluster(capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    common = ("compare", "simple", "gin_only", "--max-hands", "20000", "--seed", "1")
    said = []
    for more in ((), ("--backend", "dask", "--scheduler", cluster)):
        assert main([*common, *more]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_ctrl_c_takes_back_what_is_not_played(tmp_path: Path, cluster: str) -> None:
    command = start(
        *("tournament", "simple", "greedy", "--hands", "1e9", "--no-hands", "--seed", "1"),
        *("--backend", "dask", "--scheduler", cluster, "--out", str(tmp_path / "run")),
    )

    def count(dask_scheduler: Any) -> int:
        return len(dask_scheduler.tasks)

    with asking(cluster) as client:
        wait_until(lambda: client.run_on_scheduler(count))
        press_ctrl_c(command)
        wait_until(lambda: not client.run_on_scheduler(count))


# --- what goes wrong ------------------------------------------------------------------


def test_an_agents_file_that_a_worker_has_not_got(tmp_path: Path, cluster: str) -> None:
    file = tmp_path / "mine.py"
    text = (ROOT / "agents" / "random.py").read_text()
    file.write_text(text)
    plan = make_plan([f"{file}:random", "greedy"], hands=20, seed=1)
    folder = RunFolder.create(tmp_path / "run", plan.manifest())
    file.unlink()
    with pytest.raises(AgentError, match=r"on .*, a worker: no file '.*mine.py'") as failed:
        run_plan(plan, Workers.choose(1, "dask", cluster), folder)
    assert "\n" not in str(failed.value)
    file.write_text(text)
    entry = Entry.of(plan.agents[0], "random")
    assert entry.load().name == "random"
    other = Entry(entry.label, entry.spec, entry.params, "another text", None)
    with pytest.raises(AgentError, match=r"mine\.py:random': the file differs"):
        other.load()


def test_what_cannot_be_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    for words, said in (
        (("dask",), "needs the address of a scheduler: --scheduler tcp://HOST:8786"),
        (("dask", nobody), f"no Dask scheduler answers at '{nobody}'"),
        (("dask", f"tcp://{nobody}"), "start one with: dask scheduler"),
        (("dask", "foo://x:1"), "unknown address scheme 'foo'"),
        (("dask", "nowhere"), "scheduler = 'nowhere': give the address of a Dask scheduler"),
        (("dask", "tcp://x:y"), "give the address of a Dask scheduler"),
        (("threads", nobody), "backend 'threads' has none; allowed with dask or ray"),
        (("loky", nobody), "backend 'loky' has none; allowed with dask or ray"),
        (("dask", " "), "scheduler = ' ': give an address"),
    ):
        options = dict(zip(("--backend", "--scheduler"), words, strict=False))
        flat = [word for pair in options.items() for word in pair]
        assert said in refused(capsys, "tournament", "simple", "greedy", *flat)
        assert said in refused(capsys, "compare", "simple", "greedy", *flat)
    with pytest.raises(GinSimError, match="scheduler = 3: give an address"):
        play_tournament(PLAYERS, hands=2, backend="dask", scheduler=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, backend: str, package: str
) -> None:
    from gin_sim import dask_cluster, ray_cluster

    module = {"dask": dask_cluster, "ray": ray_cluster}[backend]
    for name in [*sys.modules]:
        if name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(module, "_backend", module._backend.__wrapped__)
    with pytest.raises(GinSimError, match=rf"needs the extra: pip install 'gin-sim\[{backend}\]'"):
        Workers.choose(backend=backend, scheduler="127.0.0.1:1")


def test_a_scheduler_without_workers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, empty: str
) -> None:
    monkeypatch.setattr("gin_sim.dask_cluster.WORKERS_SECONDS", 0.2)
    words = ("tournament", "simple", "greedy", "--backend", "dask", "--scheduler", empty)
    said = refused(capsys, *words)
    assert f"at '{empty}' has no workers; start one with: dask worker {empty}" in said


@pytest.mark.parametrize("there", ["another version", "nothing"])
def test_a_worker_that_runs_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], empty: str, there: str
) -> None:
    copy = tmp_path / "gin_sim"
    if there == "nothing":
        copy.mkdir()
        (copy / "__init__.py").write_text("raise ImportError('there is none')")
        expected = "cannot run gin-sim"
    else:
        shutil.copytree(ROOT / "gin_sim", copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / "__init__.py"
        file.write_text(file.read_text().replace('__version__ = "', '__version__ = "99.'))
        expected = "has gin_sim 99."
    with lone_worker(empty, tmp_path):
        words = ("tournament", "simple", "greedy", "--backend", "dask", "--scheduler", empty)
        said = refused(capsys, *words)
    assert expected in said
    assert "install" in said


def test_a_worker_that_comes_later_and_runs_something_else() -> None:
    assert Job(abs, -3, installation())() == 3
    with pytest.raises(WorkerError, match=r"numpy .* there and 1\.0 here"):
        Job(abs, -3, installation() | {"numpy": "1.0"})()


def test_a_piece_that_kills_its_worker_is_given_up(empty: str) -> None:
    def die(task: int) -> None:
        os._exit(3)

    with lone_worker(empty):
        workers = Workers.choose(1, "dask", empty)
        with pytest.raises(WorkerError, match="died one after the other"):
            list(workers.run(die, [1]))


def test_a_result_that_cannot_travel_is_told(cluster: str) -> None:
    class Mute:
        def __reduce__(self) -> Any:
            raise ValueError("not for others")

    with pytest.raises(WorkerError, match="not for others"):
        list(Workers.choose(1, "dask", cluster).run(lambda task: Mute(), [1, 2]))


def test_without_workers_a_run_ends(monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.setattr("gin_sim.dask_cluster.ALONE_SECONDS", 0.5)

    def tasks() -> Iterator[int]:
        yield 1
        process.terminate()  # a worker that is asked to go is no failure of the task
        yield from range(2, 50)

    with lone_worker(empty) as process:
        workers = Workers.choose(-1, "dask", empty)
        with pytest.raises(WorkerError, match="all workers of the Dask cluster have gone"):
            list(workers.run(lambda task: time.sleep(0.1), tasks()))


def test_without_its_scheduler_a_run_ends() -> None:
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    words = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with running(*words) as process, running("worker", address, "--nthreads", "1", "--no-nanny"):
        with asking(address) as client:
            client.wait_for_workers(1, timeout=60)
        found = Workers.choose(1, "dask", address).run(lambda task: task, iter(int, 1))
        assert next(found) == 0
        os.killpg(process.pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="connection to the Dask scheduler was lost"):
            list(found)


# --- other workers --------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_processes_do_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    command = start(
        *("tournament", "simple", "greedy", "--hands", "1e9", "--no-hands", "--seed", "1"),
        *("--backend", "loky", "--jobs", "2", "--out", str(tmp_path / "run")),
    )

    def group() -> list[str]:
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, fields = stat.read_text().rsplit(")", 1)
            except OSError:
                continue
            if int(fields.split()[2]) == command.pid and fields.split()[0] != "Z":
                found.append(name)
        return found

    # The bar of the progress stands still where nobody looks: a note comes after 5 s.
    assert command.stderr is not None
    lines = iter(command.stderr.readline, "")
    assert any(" of 1,000,000,000 hands" in line for line in lines)
    assert len(group()) >= 3
    os.kill(command.pid, signal.SIGKILL)
    wait_until(lambda: not group(), 20)
    command.communicate()


def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray has no wheel for this Python")
    common = (sys.executable, "-m", "gin_sim", "tournament", *PLAYERS, "--hands", "4000")
    found = []
    for backend in ("threads", "ray"):
        out = tmp_path / backend
        done = subprocess.run(
            [*common, "--seed", "1", "--backend", backend, "--out", str(out)],
            cwd=ROOT,
            check=False,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        found.append(contents(out))
    assert found[0] == found[1]
