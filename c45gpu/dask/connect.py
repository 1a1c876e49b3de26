"""The cluster that is at hand: its client, its workers and what they have to offer."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from c45gpu.errors import EngineError, MissingPackageError, OptionError

if TYPE_CHECKING:
    from distributed import Client as Client  # for whoever may not know Dask

WATCHING: Final = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
PATIENCE: Final = 30  # seconds that a cluster may take to have its first worker


class Worker(NamedTuple):
    """A worker of the cluster.

    Attributes
    ----------
    address : str
    threads : int
        Tasks that it does at a time, and threads that an engine on it uses.
    limit : int or None
        Bytes of memory that it was given, None where it was given no limit.
    """

    address: str
    threads: int
    limit: int | None


def require_packages() -> None:
    """Refuse to go on without Dask.

    Raises
    ------
    MissingPackageError
    """
    from importlib.util import find_spec

    if find_spec("dask") is None or find_spec("distributed") is None:
        raise MissingPackageError("c45gpu.dask needs Dask and distributed: pip install 'c45gpu[dask]'")


def current_client(client: Client | None = None) -> Client:
    """The client given, or else the one in use here: of the task that this is, or the last one made.

    Raises
    ------
    EngineError
        When there is none.
    MissingPackageError
        When Dask is not installed.
    """
    if client is not None:
        return client
    require_packages()
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise EngineError(
            "there is no Dask client: make one, client = distributed.Client(ADDRESS), and give it as client=client"
        ) from None


@contextmanager
def cluster_of(where: str, patience: float = PATIENCE) -> Iterator[Client]:
    """A new client of a cluster, for as long as it is needed.

    Parameters
    ----------
    where : str
        The address of a scheduler, or ``local:N`` for N processes of this machine, which share its cores.
    patience : float
        Seconds that the scheduler may take to answer.

    Raises
    ------
    EngineError
        When no scheduler answers.
    OptionError
        When it is neither.
    """
    require_packages()
    from distributed import Client

    if where.startswith("local"):
        with cluster_here(*_local(where)) as client:
            yield client
        return
    try:
        client = Client(where, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as fault:
        reason = str(fault).partition("\n")[0]
        raise EngineError(
            f"no Dask scheduler answers at {where} ({reason}): start one with 'dask scheduler' and give the address "
            "that it prints, or local:N"
        ) from None
    with client:
        yield client


@contextmanager
def cluster_here(n_workers: int, threads_per_worker: int) -> Iterator[Client]:
    """A client of a new cluster of processes of this machine, for as long as it is needed.

    What Dask watches them by, for its pages, is turned down: it takes a tenth of a core (:data:`WATCHING`).
    """
    require_packages()
    import dask
    from distributed import Client, LocalCluster

    size = {"n_workers": n_workers, "threads_per_worker": threads_per_worker}
    how = {"processes": True, "dashboard_address": ":0", "silence_logs": logging.ERROR}
    with (
        dask.config.set(WATCHING),
        LocalCluster(**size, **how) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _local(where: str) -> tuple[int, int]:
    from c45gpu.kernels.cpu_crew import cores

    number = re.fullmatch(r"local:([1-9]\d*)", where)
    if number is None:
        raise OptionError(f"{where!r} is no cluster: write local:N for N workers of this machine, such as local:2")
    n_workers = int(number[1])
    return n_workers, max(1, cores() // n_workers)


def require_workers(client: Client, patience: float = PATIENCE) -> list[str]:
    """The addresses of the workers, in order; a cluster that has none yet is waited for.

    Raises
    ------
    EngineError
        When it still has none.
    """
    if not client.nthreads():
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError:
            raise EngineError(
                f"the Dask cluster at {client.scheduler.address} has no workers: start some with 'dask worker ADDRESS'"
            ) from None
    return sorted(client.nthreads())


def workers_of(client: Client) -> list[Worker]:
    """The workers of a cluster, with what they have.

    Raises
    ------
    EngineError
        When there are none.
    """
    require_workers(client)
    threads, limits = client.nthreads(), client.run(_limit)
    return [Worker(address, threads[address], limits[address]) for address in sorted(limits)]


def _limit(dask_worker: Any) -> int | None:
    return dask_worker.memory_manager.memory_limit or None
