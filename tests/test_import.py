"""Help and import come at once: nothing heavy is loaded for them."""

import subprocess
import sys

import pytest

import gin_sim

HEAVY = ("numba", "pandas", "scipy", "matplotlib", "pyarrow", "joblib")


def loaded_by(code: str) -> set[str]:
    report = f"\nimport sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import gin_sim",
        "import gin_sim; gin_sim.parse_hand('Ah'); gin_sim.Rules()",
        "import gin_sim.cli",
        "from gin_sim.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from gin_sim.cli import main\ntry: main(['hand', '--help'])\nexcept SystemExit: pass",
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert loaded_by(code) == set()


def test_every_public_name_can_be_had_and_is_listed() -> None:
    names = set(gin_sim.__all__)
    assert names == {"__version__", *gin_sim._HOME}
    for name in names:
        assert getattr(gin_sim, name) is not None
    assert names <= set(dir(gin_sim))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gin_sim.nothing


def test_no_name_is_hidden_by_a_module_of_the_same_name() -> None:
    code = (
        "import pkgutil, importlib, gin_sim\n"
        "for m in pkgutil.iter_modules(gin_sim.__path__):\n"
        "    if m.name != '__main__': importlib.import_module('gin_sim.' + m.name)\n"
        "import types\n"
        "bad = [n for n in gin_sim.__all__ if isinstance(getattr(gin_sim, n), types.ModuleType)]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
