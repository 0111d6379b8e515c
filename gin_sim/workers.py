"""Work handed to threads, processes or a cluster through joblib.

What is to be done is a function of a task; results come back as they are finished, in
any order, and whoever asked puts them in order.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from gin_sim.checks import MAX_JOBS, whole_number
from gin_sim.errors import GinSimError, WorkerError
from gin_sim.stops import stops_blocked

CLUSTERS = ("dask", "ray")
BACKENDS = ("threads", "loky", *CLUSTERS)

Task = TypeVar("Task")
Done = TypeVar("Done")


@cache
def _leave_with(parent: int) -> None:
    """Let this process end, at once, when its parent has gone; for workers of loky's."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="gin-sim-parent", daemon=True).start()


@dataclass(frozen=True)
class _InProcess:
    """A function as it travels to a worker of loky's.

    A parent that is killed takes nobody along: without this, its workers would wait for
    minutes for more to do.
    """

    function: Callable[[Any], Any]
    parent: int

    def __call__(self, task: Any) -> Any:
        if os.getpid() != self.parent:  # for a single job joblib starts no process
            _leave_with(self.parent)
        return self.function(task)


@dataclass(frozen=True)
class Workers:
    """How many workers there are, and of what kind.

    Attributes
    ----------
    jobs : int
        Workers; -1 for one on each core, or for all of a cluster.
    backend : str
        ``threads``, ``loky`` (processes), or a cluster of ``dask`` or ``ray``.
    scheduler : str, optional
        Address of the cluster.
    """

    jobs: int = -1
    backend: str = "threads"
    scheduler: str | None = None

    @classmethod
    def choose(
        cls,
        jobs: int | None = None,
        backend: str | None = None,
        scheduler: str | None = None,
        *,
        compiled: bool = True,
    ) -> Workers:
        """Return workers as asked for; what is not asked for is chosen.

        Parameters
        ----------
        jobs : int, optional
            1 or more, or -1; all cores (or all of the cluster) if not given.
        backend : str, optional
            By default threads where the work is compiled, else processes.
        scheduler : str, optional
            For a cluster: address of Dask's scheduler or of Ray.  It is connected to once,
            to see that it can be used.
        compiled : bool
            Whether the work is.

        Raises
        ------
        GinSimError
            Naming what is not allowed and what is, or what is wrong with the cluster.
        """
        if backend is None:
            backend = "threads" if compiled else "loky"
        if not isinstance(backend, str) or backend not in BACKENDS:
            raise GinSimError(
                f"backend = {backend!r}: allowed is {', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}"
            )
        if jobs is None or (type(jobs) is int and jobs == -1):
            jobs = -1
        else:
            try:
                jobs = whole_number(jobs, "jobs", 1, MAX_JOBS)
            except GinSimError as error:
                raise GinSimError(f"{error}, or -1 for all cores") from None
        if scheduler is not None and (not isinstance(scheduler, str) or not scheduler.strip()):
            raise GinSimError(f"scheduler = {scheduler!r}: give an address")
        if scheduler is not None and backend not in CLUSTERS:
            raise GinSimError(
                f"scheduler = {scheduler!r}: backend '{backend}' has none; "
                f"allowed with {' or '.join(CLUSTERS)}"
            )
        if backend in CLUSTERS:
            from gin_sim.cluster import check_cluster  # noqa: PLC0415 - only where needed

            check_cluster(backend, scheduler)
        return cls(jobs, backend, scheduler)

    @contextmanager
    def _ready(self) -> Iterator[dict[str, Any]]:
        """Lend the arguments for `joblib.Parallel`."""
        if self.backend in CLUSTERS:
            from gin_sim.cluster import connected  # noqa: PLC0415

            with connected(self.backend, self.scheduler, self.jobs) as options:
                yield options
        else:
            backend = "threading" if self.backend == "threads" else self.backend
            yield {"backend": backend, "n_jobs": self.jobs, "pre_dispatch": "2*n_jobs"}

    def _calls(
        self, function: Callable[[Task], Done], tasks: Iterable[Task]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the calls to make, as `joblib.Parallel` takes them."""
        import joblib  # noqa: PLC0415

        if self.backend in CLUSTERS:
            from gin_sim.cluster import Job, installation  # noqa: PLC0415

            here = installation()
            for task in tasks:
                yield joblib.delayed(Job(function, task, here))()
        else:
            loky = self.backend == "loky"
            work = joblib.delayed(_InProcess(function, os.getpid()) if loky else function)
            for task in tasks:
                yield work(task)

    def run(
        self, function: Callable[[Task], Done], tasks: Iterable[Task]
    ) -> Generator[Done, None, None]:
        """Yield what `function` makes of each task, as it is finished.

        Tasks are taken in their order and only some ahead of the work, so that later ones
        may depend on how the first went.  Close the generator to drop what is not
        finished.

        Raises
        ------
        WorkerError
            If a process died.  Of a cluster only if a piece killed one worker after the
            other, or if there is no worker left.
        """
        import joblib  # noqa: PLC0415 - not needed to get help
        from joblib.externals.loky.process_executor import (  # noqa: PLC0415
            TerminatedWorkerError,
        )

        with self._ready() as options:
            parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered", **options)
            finished = None
            try:
                # Processes inherit what is blocked while they start: stops are ours to deal with.
                with stops_blocked() if self.backend == "loky" else nullcontext():
                    finished = parallel(self._calls(function, tasks))
                # Not `yield from`: that would hand a close to joblib, past the filter below.
                for done in finished:  # noqa: UP028
                    yield done
            except TerminatedWorkerError as error:
                raise WorkerError(
                    "a worker process died (killed, out of memory, or by an agent's own doing)"
                ) from error
            finally:
                if finished is not None:
                    with warnings.catch_warnings():
                        # That work was dropped is what closing asks for.
                        warnings.simplefilter("ignore")
                        finished.close()
