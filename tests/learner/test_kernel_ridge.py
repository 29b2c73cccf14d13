"""Kernel machines are kernel ridge regressions, whatever the lengths of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import normalize

from craftmaps import Exponential, Polynomial
from craftmaps.least_squares.kernel_ridge import KernelMachine
from tests.learner.examples import labelled_rows

X, NAMES = labelled_rows()
Y = np.unique(NAMES, return_inverse=True)[1]


@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(2, coef0=0.5, gamma=2.0), Exponential(0.7)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_machine_is_kernel_ridge_regression(kernel, dtype):
    rows = normalize(X).astype(dtype)  # so that the diagonal is constant
    targets = np.eye(3)[Y]
    machine, K = KernelMachine(kernel, rows[:200]), kernel(rows.astype(np.float64))
    for penalty in (0.03, 3.0, 0.03):  # what one penalty leaves is as good for the next one
        weights = machine.weights(targets[:200], penalty)
        exact = KernelRidge(alpha=penalty * K[0, 0], kernel="precomputed").fit(K[:200, :200], targets[:200])
        np.testing.assert_allclose(machine.outputs(weights, rows[200:]), exact.predict(K[200:, :200]), atol=2e-4)


def test_penalties_do_not_know_of_each_other():
    """To the bit; with more rows than are copied at a time, and one penalty that is lost in rounding errors."""
    rows = np.random.default_rng(0).normal(size=(600, 3))
    targets = rows[:, :1]
    used = KernelMachine(Polynomial(3), rows)
    for penalty in (1e-2, 1e-12, 1.0, 1e-2):
        fresh = KernelMachine(Polynomial(3), rows).weights(targets, penalty)
        np.testing.assert_array_equal(used.weights(targets, penalty), fresh)
        assert fresh.any()


def test_rows_of_unlike_lengths_keep_their_digits():
    """The penalty is relative to the diagonal, which goes from 1 to 1e12 here; a longer row does not overflow."""
    rows, targets = X * 10.0 ** np.linspace(-2, 1, X.shape[0])[:, None], np.eye(3)[Y]
    machine, K = KernelMachine(Polynomial(4), rows), Polynomial(4)(rows)
    weights = machine.weights(targets, 1e-2)
    expected = K @ np.linalg.solve(K + 1e-2 * np.diag(K.diagonal()), targets)
    distances = np.linalg.norm(machine.outputs(weights, rows) - expected, axis=1)
    assert (distances < 0.05 * np.linalg.norm(expected, axis=1)).all()
    assert np.isfinite(machine.outputs(weights, 1e9 * rows)).all()


def test_sparse_rows_give_the_same():
    dense, sparse = KernelMachine(Polynomial(3), X), KernelMachine(Polynomial(3), csr_array(X))
    weights, expected = sparse.weights(np.eye(3)[Y], 1e-2), dense.weights(np.eye(3)[Y], 1e-2)
    np.testing.assert_allclose(weights, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(sparse.outputs(weights, csr_array(X[:50])), dense.outputs(weights, X[:50]), rtol=1e-9)


def test_zeros_if_the_kernel_overflows():
    machine = KernelMachine(Polynomial(9), 1e12 * X)  # not finite in single precision
    np.testing.assert_array_equal(machine.weights(np.eye(3)[Y], 1e-2), 0)
    rows = np.vstack([np.zeros((1, 6)), X])  # and a diagonal with a zero
    weights = KernelMachine(Polynomial(2, coef0=0.0), rows).weights(np.eye(3)[np.r_[0, Y]], 1e-2)
    assert np.isfinite(weights).all()
    assert weights.any()
