"""A cluster of Dask: what joblib's backend for it leaves open.

joblib's backend (looked at in 1.6) does not tell of a task that Dask itself gave up or of
a result that cannot be fetched, waits for ever when the last worker has gone, and plays in
this process where the cluster has one thread.  All of them are dealt with here and nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from gin_sim.cluster import (
    CONNECT_SECONDS,
    check_nodes,
    installation,
    knock_at,
    missing,
    unanswered,
)
from gin_sim.errors import GinSimError, WorkerError
from gin_sim.progress import note

WORKERS_SECONDS = 10.0
"""How long a scheduler may be without workers at the start."""

ALONE_SECONDS = 20.0
"""How long it may be without workers later: a nanny starts a new one within some seconds."""

LOOK_SECONDS = 0.5


@contextmanager
def connect(scheduler: str | None, jobs: int) -> Iterator[dict[str, Any]]:
    """Connect to a scheduler of Dask's; see :func:`gin_sim.cluster.connected`."""
    backend = _backend()
    if scheduler is None:
        raise GinSimError(
            "backend 'dask' needs the address of a scheduler: --scheduler tcp://HOST:8786 "
            "(start one with: dask scheduler)"
        )
    with _quiet(), _client(scheduler) as client:
        threads = _threads(client, scheduler)
        check_nodes(client.run(installation, on_error="return"), installation())
        yield {
            "backend": backend(client=client, wait_for_workers_timeout=0),
            "n_jobs": -1,
            # Of the jobs asked for joblib's backend knows nothing: it is what is on its way
            # that is limited.
            "pre_dispatch": jobs if jobs > 0 else 2 * threads,
        }


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    from distributed import Client  # noqa: PLC0415

    _see_whether_it_answers(scheduler)
    client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    try:
        yield client
    finally:
        # Takes back what has not been played; what is being played comes to its end.
        with suppress(Exception):
            client.close(timeout=CONNECT_SECONDS)


def _see_whether_it_answers(scheduler: str) -> None:
    """Ask a scheduler who it is: a client that fails tells of it twice, and late."""
    from distributed.core import rpc  # noqa: PLC0415

    kind, start = "Dask scheduler", "dask scheduler"
    if "://" not in scheduler or scheduler.startswith("tcp://"):
        knock_at(scheduler, kind, start, "tcp://192.0.2.1:8786")

    async def ask() -> None:
        async with asyncio.timeout(CONNECT_SECONDS), rpc(scheduler) as other:
            await other.identity()

    try:
        # In a thread, as a notebook has a loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, ask()).result()
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise unanswered(scheduler, kind, start, error) from error
    except Exception as error:
        raise unanswered(scheduler, kind, start, "what answers is something else") from error


def _threads(client: Any, scheduler: str) -> int:
    """Return how many threads the workers have together; wait a little for the first."""
    start = time.monotonic()
    told = False
    while not (threads := sum(client.ncores().values())):
        waited = time.monotonic() - start
        if waited > WORKERS_SECONDS:
            raise GinSimError(
                f"the scheduler at '{scheduler}' has no workers; start one with: "
                f"dask worker {scheduler}"
            )
        if waited > 1 and not told:
            note(f"the scheduler at '{scheduler}' has no workers yet: waiting for the first")
            told = True
        time.sleep(0.1)
    return int(threads)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's own talk off the terminal; what matters is said in errors of ours."""
    names = [
        name
        for name in (*logging.root.manager.loggerDict, "asyncio")
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio")
    ]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@cache
def _backend() -> Any:
    """Return joblib's backend for Dask, in which nothing waits for ever."""
    try:
        from distributed import as_completed  # noqa: PLC0415
        from joblib._dask import DaskDistributedBackend  # noqa: PLC0415
    except ImportError:
        raise missing("dask") from None

    class Waiting(as_completed):  # type: ignore[misc]
        failed: Callable[[Any, Exception], None]

        async def _track_future(self, future: Any) -> None:
            try:
                await super()._track_future(future)
            except Exception as error:
                self.failed(future, error)

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.waiting_futures = Waiting(
                [], loop=self.client.loop, with_results=True, raise_errors=False
            )
            self.waiting_futures.failed = self._failed

        def _failed(self, future: Any, error: Exception) -> None:
            """Tell of a result that does not come: else only a log would know."""
            if (done := self._results.get(future)) is not None and not done.done():
                done.set_exception(error)

        def effective_n_jobs(self, n_jobs: int) -> int:
            # Of one, joblib would make a loop in this process.
            return max(2, int(sum(self.client.ncores().values())))

        def start_call(self) -> None:
            super().start_call()
            self.client.loop.add_callback(self._watch)

        def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
            done = super().submit(func, callback)

            def tell(future: Any) -> None:
                error = future.exception()
                if error is not None and callback is not None:
                    callback(_lost(error))

            # joblib's backend keeps to itself that Dask has given a task up.
            done.add_done_callback(tell)
            return done

        def retrieve_result_callback(self, out: Any) -> Any:
            try:
                return super().retrieve_result_callback(out)
            except (asyncio.CancelledError, CancelledError):
                raise WorkerError("the connection to the Dask scheduler was lost") from None

        async def _watch(self) -> None:
            """Give up when there has been no worker for long."""
            seen = time.monotonic()
            while self._continue:
                await asyncio.sleep(LOOK_SECONDS)
                # If the scheduler has gone, the client takes its futures back by itself.
                with suppress(OSError, AttributeError):
                    if await self.client.scheduler.ncores():
                        seen = time.monotonic()
                if time.monotonic() - seen > ALONE_SECONDS:
                    gone = WorkerError("all workers of the Dask cluster have gone")
                    for future in list(self._results):
                        self._failed(future, gone)
                    return

    return Backend


def _lost(error: BaseException) -> WorkerError:
    """Return the error for a task that Dask gave up."""
    if isinstance(error, WorkerError):
        return error
    from distributed import KilledWorker  # noqa: PLC0415

    if isinstance(error, KilledWorker):
        return WorkerError(
            "the workers that a piece was given to died one after the other (killed, out of "
            "memory, or by an agent's own doing)"
        )
    text = " ".join(str(error).split())
    return WorkerError(
        f"a piece cannot travel to the workers or back: {type(error).__name__}: {text}"
    )
