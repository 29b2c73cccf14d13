"""What the tests of the command line share."""

import pytest

from tests.cli.processes import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Run the program in forked processes that can be interrupted."""
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.close()
