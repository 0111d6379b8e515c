"""The compiled cache: never old code, never a dead start, nobody else's settings."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gin_sim
from gin_sim import compiled

pytestmark = pytest.mark.skipif(
    compiled.JIT_DISABLED, reason="there is no compiled code without numba"
)

PACKAGE = Path(gin_sim.__file__).parent
ASK = "from gin_sim import deadwood; print(deadwood('Ac 3d Kh'))"


def copied(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "gin_sim", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def ask(root: Path, cache: Path | None, code: str = ASK, **settings: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GIN_SIM", "NUMBA", "XDG"))}
    env |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"} | settings
    if cache is not None:
        env["GIN_SIM_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


def cached_files(cache: Path, ending: str) -> list[Path]:
    return sorted(cache.rglob(f"*.{ending}"))


def test_an_edited_callee_in_another_file_leads_to_new_code(tmp_path: Path) -> None:
    root, cache = copied(tmp_path / "src"), tmp_path / "cache"
    assert ask(root, cache) == "14"
    tables = root / "gin_sim" / "tables.py"
    text = tables.read_text()
    stamp = tables.stat()
    tables.write_text(text.replace("POINTS = (1, 2, 3,", "POINTS = (5, 2, 3,"))
    os.utime(tables, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as some installers do
    assert ask(root, cache) == "18"
    tables.write_text(text)
    assert ask(root, cache) == "14"


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 40])
def test_a_cut_file_is_compiled_again(tmp_path: Path, ending: str, left: int) -> None:
    root, cache = copied(tmp_path / "src"), tmp_path / "cache"
    ask(root, cache)
    files = cached_files(cache, ending)
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:left])
    assert ask(root, cache) == "14"
    # It is whole again, and used: the next start writes nothing.
    before = {f: f.stat().st_mtime_ns for f in cached_files(cache, "nbi")}
    assert ask(root, cache) == "14"
    assert {f: f.stat().st_mtime_ns for f in cached_files(cache, "nbi")} == before


def test_a_second_start_takes_everything_from_the_cache(tmp_path: Path) -> None:
    root, cache = copied(tmp_path / "src"), tmp_path / "cache"
    ask(root, cache)
    before = {f: f.stat().st_mtime_ns for f in cached_files(cache, "nbc")}
    ask(root, cache)
    assert {f: f.stat().st_mtime_ns for f in cached_files(cache, "nbc")} == before


def test_bounds_checks_have_code_of_their_own(tmp_path: Path) -> None:
    root, cache = copied(tmp_path / "src"), tmp_path / "cache"
    ask(root, cache)
    ask(root, cache, NUMBA_BOUNDSCHECK="1")
    assert len(list(cache.iterdir())) == 2


def test_without_a_home_a_temporary_folder_serves(tmp_path: Path) -> None:
    root = copied(tmp_path / "src")
    shutil.rmtree(root / "gin_sim" / "__pycache__", ignore_errors=True)
    before = sorted(p.name for p in (root / "gin_sim").iterdir())
    spare = tmp_path / "spare"
    spare.mkdir()
    assert ask(root, None, HOME="/proc/nowhere", TMPDIR=str(spare)) == "14"
    assert cached_files(spare, "nbi")
    # Nothing was written into the package, which may be read-only.
    assert sorted(p.name for p in (root / "gin_sim").iterdir()) == before


def test_without_any_folder_it_still_runs(tmp_path: Path) -> None:
    root = copied(tmp_path / "src")
    code = f"import gin_sim.compiled as c; c._writable = lambda folder: False\n{ASK}"
    assert ask(root, tmp_path / "cache", code) == "14"
    assert not cached_files(tmp_path, "nbi")


def test_a_cache_folder_that_is_a_file_is_no_trap(tmp_path: Path) -> None:
    root = copied(tmp_path / "src")
    (tmp_path / "cache").write_text("not a folder")
    assert ask(root, tmp_path / "cache", TMPDIR=str(tmp_path)) == "14"


def test_many_processes_may_start_on_an_empty_cache(tmp_path: Path) -> None:
    root, cache = copied(tmp_path / "src"), tmp_path / "cache"
    env = os.environ | {"PYTHONPATH": str(root), "GIN_SIM_CACHE_DIR": str(cache)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ASK], env=env, cwd=root, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    assert [process.communicate()[0].strip() for process in started] == ["14"] * 4


def test_the_cache_settings_of_others_are_left_alone(tmp_path: Path) -> None:
    code = "import numba; from gin_sim import deadwood; print(repr(numba.config.CACHE_DIR))"
    root = copied(tmp_path / "src")
    assert ask(root, tmp_path / "cache", code) == "''"
    assert ask(root, tmp_path / "cache", code, NUMBA_CACHE_DIR="/x") == "'/x'"


def test_clearing_drops_our_folders_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIN_SIM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_fallback_root", lambda: tmp_path / "none")
    (tmp_path / "0123456789abcdef").mkdir()
    (tmp_path / "photographs").mkdir()
    assert compiled.clear_cache() == [tmp_path / "0123456789abcdef"]
    assert [p.name for p in tmp_path.iterdir()] == ["photographs"]


def test_agents_in_files_of_the_users_are_not_cached(tmp_path: Path) -> None:
    text = """
from gin_sim import agent
@agent("mine", source="a test")
class Mine:
    def draw(view, params): return False
    def discard(view, params): return view.drawn
    def knock(view, params): return True
"""
    (tmp_path / "mine.py").write_text(text)
    cache = compiled.cache_folder()
    assert cache is not None
    before = set(cache.rglob("*mine*"))
    from gin_sim.policy import prepare
    from gin_sim.registry import load_agent

    prepare(load_agent(f"{tmp_path}/mine.py:mine"))
    assert set(cache.rglob("*mine*")) == before
