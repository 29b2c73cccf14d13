"""What the tests of the command line share."""

import signal

import pytest

from tests.cli.processes import Server


@pytest.fixture(scope="session")
def started_server(tmp_path_factory):
    """Start the process that runs the program, which takes some seconds, once for all tests."""
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.close()


@pytest.fixture
def server(started_server):
    """Run the program in forked processes that can be interrupted."""
    yield started_server
    if started_server.is_running:  # the test failed
        started_server.signal(signal.SIGKILL)
        started_server.end()
