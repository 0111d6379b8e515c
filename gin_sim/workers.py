"""Work handed to threads or processes through joblib.

What is to be done is a function of a task; results come back as they are finished, in
any order, and whoever asked puts them in order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from gin_sim.checks import MAX_JOBS, whole_number
from gin_sim.errors import GinSimError, WorkerError
from gin_sim.stops import stops_blocked

BACKENDS = ("threads", "loky")

Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Workers:
    """How many workers there are, and of what kind.

    Attributes
    ----------
    jobs : int
        Workers; -1 for one on each core.
    backend : str
        ``threads`` or ``loky`` (processes).
    """

    jobs: int = -1
    backend: str = "threads"

    @classmethod
    def choose(
        cls, jobs: int | None = None, backend: str | None = None, *, compiled: bool = True
    ) -> Workers:
        """Return workers as asked for; what is not asked for is chosen.

        Parameters
        ----------
        jobs : int, optional
            1 or more, or -1; all cores if not given.
        backend : str, optional
            By default threads where the work is compiled, else processes.
        compiled : bool
            Whether the work is.

        Raises
        ------
        GinSimError
            Naming what is not allowed and what is.
        """
        if backend is None:
            backend = "threads" if compiled else "loky"
        if not isinstance(backend, str) or backend not in BACKENDS:
            raise GinSimError(f"backend = {backend!r}: allowed is {' or '.join(BACKENDS)}")
        if jobs is None or (type(jobs) is int and jobs == -1):
            return cls(-1, backend)
        try:
            return cls(whole_number(jobs, "jobs", 1, MAX_JOBS), backend)
        except GinSimError as error:
            raise GinSimError(f"{error}, or -1 for all cores") from None

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
            If a process died.
        """
        import joblib  # noqa: PLC0415 - not needed to get help
        from joblib.externals.loky.process_executor import (  # noqa: PLC0415
            TerminatedWorkerError,
        )

        parallel = joblib.Parallel(
            n_jobs=self.jobs,
            backend="threading" if self.backend == "threads" else self.backend,
            batch_size=1,
            pre_dispatch="2*n_jobs",
            return_as="generator_unordered",
        )
        work: Any = joblib.delayed(function)
        finished = None
        try:
            # Processes inherit what is blocked while they start: stops are ours to deal with.
            with stops_blocked() if self.backend == "loky" else nullcontext():
                finished = parallel(work(task) for task in tasks)
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
