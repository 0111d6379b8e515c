"""More than one machine: clusters of Dask and Ray, through joblib's own backends.

A cluster is somebody else's and has been started before.  What is done here is to connect
to it, to see to it that all of it runs the same gin-sim, and to say in one line what is
wrong with it.
"""

from __future__ import annotations

import platform
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gin_sim.errors import AgentError, GinSimError, PlayError, WorkerError

CONNECT_SECONDS = 5.0
"""How long a scheduler may take to answer."""


@cache
def installation() -> dict[str, str]:
    """Return what has to be the same wherever a run is played."""
    from gin_sim import __version__  # noqa: PLC0415 - of this process, not of the caller's
    from gin_sim.compiled import PACKAGE, source_hash  # noqa: PLC0415

    agents = find_spec("agents")
    folders = (agents.submodule_search_locations if agents is not None else None) or ()
    sources = [source_hash(folder) for folder in (PACKAGE, *map(Path, folders))]
    return {
        "gin_sim": __version__,
        "sources": "-".join(text[:8] for text in sources),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numba": version("numba"),
        "numpy": version("numpy"),
    }


def differences(there: dict[str, str], here: dict[str, str]) -> str:
    """Return in words how one installation differs from another; nothing if it does not."""
    return ", ".join(
        f"{name} {there.get(name, 'none')} there and {value} here"
        for name, value in here.items()
        if there.get(name) != value
    )


def check_nodes(found: dict[str, Any], here: dict[str, str]) -> None:
    """Refuse workers that do not run what runs here.

    Parameters
    ----------
    found : dict
        By the name of a worker its :func:`installation`, or the exception it raised.

    Raises
    ------
    GinSimError
        Naming the first worker that differs, and in what.
    """
    for name, there in found.items():
        if isinstance(there, BaseException):
            raise GinSimError(
                f"the worker {name} cannot run gin-sim {here['gin_sim']} "
                f"({type(there).__name__}: {there}); install there what is installed here"
            )
        if different := differences(there, here):
            raise GinSimError(
                f"the worker {name} has {different}; results must not depend on who played "
                "what: install the same everywhere and start the workers again"
            )


@dataclass(frozen=True, eq=False, repr=False)
class Job:
    """A function and its task, as they travel to a worker of a cluster.

    The task is not an argument of the call: Dask would keep a large one on one worker
    only, and it would be lost with that worker.
    """

    function: Callable[[Any], Any]
    task: Any
    expected: dict[str, str]

    def __repr__(self) -> str:
        """Return what a dashboard is to call it."""
        return str(getattr(self.function, "__name__", "job"))

    def __call__(self) -> Any:
        """Do the work.

        Raises
        ------
        WorkerError
            Where a worker that came later runs something else.
        """
        # What was there at the start has been looked at; others may have joined since.
        if different := differences(installation(), self.expected):
            raise WorkerError(
                f"a worker on {socket.gethostname()} has {different}: install the same everywhere"
            )
        try:
            return self.function(self.task)
        except PlayError:
            raise
        except AgentError as error:
            raise AgentError(f"on {socket.gethostname()}, a worker: {error}") from error


@contextmanager
def connected(backend: str, scheduler: str | None, jobs: int) -> Iterator[dict[str, Any]]:
    """Connect to a cluster and lend the arguments for `joblib.Parallel`.

    Parameters
    ----------
    backend : str
        ``dask`` or ``ray``.
    scheduler : str or None
        Its address.
    jobs : int
        The most tasks at a time; -1 for what the cluster has room for.

    Raises
    ------
    GinSimError
        If a package is missing, nobody answers, there is no worker or one runs another
        version.
    WorkerError
        From the block, if the cluster is lost.
    """
    if backend == "dask":
        from gin_sim.dask_cluster import connect  # noqa: PLC0415
    else:
        from gin_sim.ray_cluster import connect  # noqa: PLC0415
    with connect(scheduler, jobs) as options:
        yield options


def check_cluster(backend: str, scheduler: str | None) -> None:
    """Connect to a cluster once, to say what is wrong with it before anything is begun.

    Raises
    ------
    GinSimError
        As :func:`connected`.
    """
    with connected(backend, scheduler, -1):
        pass


def missing(backend: str) -> GinSimError:
    """Return the error for a backend whose package is not installed."""
    return GinSimError(f"backend '{backend}' needs the extra: pip install 'gin-sim[{backend}]'")


def knock_at(address: str, kind: str, start: str, example: str) -> None:
    """See whether anybody listens at an address of the form [scheme://]host:port.

    Parameters
    ----------
    kind, start : str
        What should be there, and the command that starts it.
    example : str
        An address of it.

    Raises
    ------
    GinSimError
        If nobody does within some seconds.
    """
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise GinSimError(
            f"scheduler = {address!r}: give the address of a {kind}, such as {example}"
        )
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:
        raise unanswered(address, kind, start, getattr(error, "strerror", None) or error) from error


def unanswered(address: str | None, kind: str, start: str, reason: object) -> GinSimError:
    """Return the error for an address at which there is no cluster."""
    text = " ".join(str(reason).split()) or type(reason).__name__
    return GinSimError(f"no {kind} answers at '{address}' ({text}); start one with: {start}")
