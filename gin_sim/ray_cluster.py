"""A cluster of Ray, through the backend that Ray has for joblib."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from gin_sim.cluster import check_nodes, installation, knock_at, missing, unanswered
from gin_sim.errors import GinSimError, WorkerError

RETRIES = 3
"""How often a task is done again whose worker died; as with Dask."""


@contextmanager
def connect(scheduler: str | None, jobs: int) -> Iterator[dict[str, Any]]:
    """Connect to Ray, or start it here; see :func:`gin_sim.cluster.connected`.

    It stays connected until the process ends.
    """
    backend = _backend()
    import ray  # noqa: PLC0415

    _start(ray, scheduler)
    room = int(ray.cluster_resources().get("CPU", 0))
    if room < 2:
        raise GinSimError(f"the Ray cluster has {room} CPU for workers: it takes two or more")
    check_nodes(_installations(ray), installation())
    # Of one, joblib would make a loop in this process.
    workers = max(2, min(room, jobs)) if jobs > 0 else room
    again = {"max_restarts": -1, "max_task_retries": RETRIES}
    try:
        yield {
            "backend": backend(ray_remote_args=again),
            "n_jobs": workers,
            "pre_dispatch": 1 if jobs == 1 else 2 * workers,
        }
    except ray.exceptions.RayError as error:
        text = " ".join(str(error).split())
        raise WorkerError(f"the Ray cluster failed ({type(error).__name__}: {text})") from error


def _start(ray: Any, scheduler: str | None) -> None:
    if ray.is_initialized():
        return
    place = ("Ray cluster", "ray start --head")
    if scheduler is not None and scheduler not in ("auto", "local"):
        knock_at(scheduler, *place, "192.0.2.1:6379")
    try:
        ray.init(
            # Without an address Ray would join what was last started here, alive or not.
            address=scheduler or "local",
            logging_level=logging.CRITICAL,
            log_to_driver=False,
            include_dashboard=None if scheduler else False,
        )
    except Exception as error:
        raise unanswered(scheduler, *place, error) from error
    # It prints on stdout, whatever is asked for, that a worker was ended or begun again.
    with suppress(AttributeError):
        ray._private.worker.print_to_stdstream = lambda *_, **__: None


def _installations(ray: Any) -> dict[str, Any]:
    """Return by node what is installed there, or the exception that looking raised."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

    found: dict[str, Any] = {}

    def look() -> dict[str, str]:  # Ray takes plain functions only
        return installation()

    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            task = ray.remote(num_cpus=0, scheduling_strategy=there)(look)
            try:
                found[node["NodeManagerAddress"]] = ray.get(task.remote())
            except Exception as error:
                found[node["NodeManagerAddress"]] = getattr(error, "cause", None) or error
    return found


@cache
def _backend() -> Any:
    try:
        from ray.util.joblib.ray_backend import RayBackend  # noqa: PLC0415
    except ImportError:
        raise missing("ray") from None

    class Backend(RayBackend):  # type: ignore[misc]
        # It inherits a no from the pool of processes that it stands in for.
        supports_return_generator = True

    return Backend
