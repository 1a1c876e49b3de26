"""Clusters for the tests: workers that are threads of the test's process, or processes that can be killed."""

from __future__ import annotations

from collections.abc import Iterator

import dask
import pytest

pytest.importorskip("distributed", reason="a cluster needs Dask: pip install 'c45gpu[dask]'")

from distributed import Client, LocalCluster

MOST_WORKERS = 5


@pytest.fixture(scope="session")
def clients() -> Iterator[dict[int, Client]]:
    """Clients of clusters in this process, by the number of workers."""
    found: dict[int, Client] = {}
    with dask.config.set({"distributed.admin.system-monitor.interval": "10s"}):
        for n in (1, 2, 3, MOST_WORKERS):
            cluster = LocalCluster(
                n_workers=n, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="inproc"
            )
            found[n] = Client(cluster)
        yield found
        for client in found.values():
            client.close()
            client.cluster.close()
