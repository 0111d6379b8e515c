"""How gin-sim compiles: one decorator, and a cache that cannot serve old code.

numba's own cache has traps: it keeps the old code when a callee in another file has
changed or when the bounds-check flag has, it dies on a file that was cut short, and it
refuses to work where neither the package nor the home folder can be written.  All of
them are dealt with here and nowhere else:

* compiled code is kept in a folder whose name is a hash of the package's sources, the
  flags and the versions, so that an edit anywhere leads to a fresh folder;
* an entry that cannot be read is dropped and compiled again;
* where no folder can be written, a temporary one is used, or none.

``GIN_SIM_CACHE_DIR`` moves the cache.  Agents in files of the user's are never cached.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])

JIT_DISABLED = bool(config.DISABLE_JIT)
PACKAGE = Path(__file__).resolve().parent


def cache_root() -> Path:
    """Return the folder that holds all of gin-sim's compiled code for this user."""
    if override := os.environ.get("GIN_SIM_CACHE_DIR"):
        return Path(override)
    base: str | Path
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser()
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches").expanduser()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "gin-sim"


def _fallback_root() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"gin-sim-{user}"


def source_hash(folder: Path) -> str:
    """Return a hash of all Python sources below a folder, by relative path and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _flags() -> str:
    return "|".join(
        (
            numba.__version__,
            np.__version__,
            platform.python_version(),
            platform.machine(),
            f"boundscheck={config.BOUNDSCHECK}",
            f"opt={config.OPT}",
        )
    )


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False  # compiled code of somebody else's is not to be trusted
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder(sources: Path = PACKAGE) -> Path | None:
    """Return the folder for code compiled from `sources`, made anew if need be.

    Parameters
    ----------
    sources : Path
        The package the functions stand in; its text and gin-sim's are in the key.

    Returns
    -------
    Path or None
        None where no folder can be written: code is then compiled in each process.
    """
    parts = [_flags(), source_hash(PACKAGE)]
    if sources != PACKAGE:
        parts.append(source_hash(sources))
    key = hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]
    for root in (cache_root(), _fallback_root()):
        if _writable(root) and _writable(root / key):
            return root / key
    return None


def clear_cache() -> list[Path]:
    """Delete all compiled code of gin-sim's; return the folders that were deleted."""
    gone = []
    for root in (cache_root(), _fallback_root()):
        for folder in sorted(root.iterdir()) if root.is_dir() else []:
            # Only folders that this module has made: a key is 16 hexadecimal digits.
            if len(folder.name) == 16 and set(folder.name) <= set("0123456789abcdef"):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder)
    return gone


class _SafeCache(FunctionCache):  # type: ignore[misc]
    """numba's function cache, in which a damaged entry counts as absent."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            self._drop()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            pass  # a full or read-only disk must not stop a run that has its code
        except Exception:
            self._drop()
            with contextlib.suppress(Exception):
                super().save_overload(sig, data)

    def _drop(self) -> None:
        with contextlib.suppress(OSError):
            Path(self._cache_file._index_path).unlink()


@contextlib.contextmanager
def _cache_dir(folder: Path) -> Iterator[None]:
    """Lend numba our folder while it looks for one; other users of numba keep theirs."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def compile_lazily(function: F, sources: Path | None = PACKAGE, **options: Any) -> F:
    """Return `function` compiled at its first call, and cached if `sources` is given.

    Parameters
    ----------
    function : callable
        What numba is to compile in nopython mode.
    sources : Path or None
        The package whose text decides whether cached code is still good; None keeps the
        function out of the cache.
    **options
        For numba's `njit`.

    Returns
    -------
    callable
        A numba dispatcher, or the function itself under ``NUMBA_DISABLE_JIT=1``.
    """
    if JIT_DISABLED:
        return function
    dispatcher = numba.njit(**({"nogil": True} | options))(function)
    folder = cache_folder(sources) if sources is not None else None
    if folder is not None:
        with _cache_dir(folder), contextlib.suppress(RuntimeError, OSError):
            dispatcher._cache = _SafeCache(function)
    return cast(F, dispatcher)


def once(function: Callable[[], None]) -> Callable[[], None]:
    """Decorate a function that is to run once in a process, whatever threads call it.

    Those that come while it runs wait for it: numba refuses to compile a loop that another
    thread has just closed for good.
    """
    running = threading.RLock()
    done = False

    @wraps(function)
    def run() -> None:
        nonlocal done
        with running:
            if not done:
                function()
                done = True

    return run


def kernel(function: F) -> F:
    """Decorate a function that is to run compiled.

    What an agent calls in its own file is compiled with bounds checks and not cached,
    as its decisions are; functions of this package are checked by its tests.
    """
    if Path(function.__code__.co_filename).resolve().is_relative_to(PACKAGE):
        return compile_lazily(function)
    return compile_lazily(function, None, boundscheck=True)


def records(count: int, dtype: np.dtype[Any]) -> Any:
    """Return `count` zeroed records whose fields both kernels and Python can read."""
    return readable(np.zeros(count, dtype))


def readable(array: Any) -> Any:
    """Return an array of records such that plain Python kernels can read its fields."""
    return array.view(np.recarray) if JIT_DISABLED else array
