"""A Dask cluster of two worker processes, which all tests of a run share."""

import pytest


@pytest.fixture(scope="session")
def dask_cluster():
    """Two worker processes that talk over TCP, of one thread each."""
    distributed = pytest.importorskip("distributed", reason="pip install 'craftmaps[dask]'")
    import dask

    # This long after a loss the cluster gives a worker up if none of its name is there, be it that a later test has
    # just killed the one that came back: no test may take so long.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=":0",
            memory_limit="2GB",
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(dask_cluster):
    """Connect to the cluster, with both workers there: a test may have killed one."""
    from distributed import Client

    with Client(dask_cluster) as client:
        client.wait_for_workers(2, timeout=600)
        yield client
