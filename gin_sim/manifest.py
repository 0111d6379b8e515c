"""The manifest of a run: all that decides its result, and in what two of them differ."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from gin_sim.errors import ResultsError

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest of a run.

    Raises
    ------
    ResultsError
        If there is none, or it cannot be read.
    """
    file = Path(path) / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultsError(f"'{path}' holds no run: there is no manifest.json in it") from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ResultsError(f"'{file}' cannot be read: {reason}") from error
    if not isinstance(manifest, dict) or repr(manifest.get("schema")) != repr(SCHEMA_VERSION):
        found = manifest.get("schema") if isinstance(manifest, dict) else None
        raise ResultsError(f"'{file}': schema {found!r}; this version reads {SCHEMA_VERSION}")
    return manifest


def differences(found: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Say in what two manifests differ, as far as it decides the result."""
    out = []
    for key in dict.fromkeys([*now, *found]):
        before, after = found.get(key), now.get(key)
        if key in ("command", "git_commit", "part_units", "pairings") or repr(before) == repr(
            after
        ):
            continue
        if key == "engine_sha256":
            out.append("the source of gin-sim has changed")
        elif isinstance(before, dict) and isinstance(after, dict):
            out += [
                _was(f"{key}: {name}", before.get(name), after.get(name))
                for name in dict.fromkeys([*before, *after])
                if repr(before.get(name)) != repr(after.get(name))
            ]
        elif key == "agents" and isinstance(before, list) and isinstance(after, list):
            out += _agents_differ(before, after)
        else:
            out.append(_was(key, before, after))
    return out


def _was(name: str, before: Any, after: Any) -> str:
    return f"{name} was {before!r}, now {after!r}"


def _agents_differ(before: list[Any], after: list[Any]) -> list[str]:
    names = [[str(agent.get("label")) for agent in agents] for agents in (before, after)]
    if names[0] != names[1]:
        return [_was("agents", *(", ".join(some) for some in names))]
    return [
        f"agent '{name}': its source has changed"
        if old.get("source_sha256") != new.get("source_sha256")
        else f"agent '{name}' is not what it was"
        for name, old, new in zip(names[0], before, after, strict=True)
        if old != new
    ]


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    import numba  # noqa: PLC0415

    from gin_sim import __version__  # noqa: PLC0415

    return {
        "gin_sim": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def git_commit() -> str | None:
    """Return the commit of the checkout this package runs from, with + if it is changed."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return commit + ("+" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603
        ["git", "-C", str(root), *words],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return done.stdout.strip()
