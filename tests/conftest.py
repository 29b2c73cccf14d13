"""Data that tests share. Arrays are read-only, so that no test can change what another one sees."""

import signal

import numpy as np
import pytest
from scipy.sparse import csr_matrix

# What a script starts in the background ignores interrupts, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _read_only(array):
    array.flags.writeable = False
    return array


@pytest.fixture(scope="session")
def rows():
    """60 non-negative rows of unit length and width 12, a third of their entries zero."""
    rng = np.random.default_rng(20140)
    X = rng.random((60, 12)) * (rng.random((60, 12)) > 1 / 3)
    return _read_only(X / np.linalg.norm(X, axis=1, keepdims=True))


@pytest.fixture(scope="session")
def rows32(rows):
    """The same rows in single precision."""
    return _read_only(rows.astype(np.float32))


@pytest.fixture(scope="session")
def csr_rows(rows):
    """The same rows as a CSR matrix."""
    X = csr_matrix(rows)
    for array in (X.data, X.indices, X.indptr):
        _read_only(array)
    return X


@pytest.fixture(params=[0, 1, 2**63 + 11], ids=["seed0", "seed1", "seed_of_64_bits"])
def seed(request):
    """Seeds, so that no test hangs on a lucky one."""
    return request.param
