"""Scores of kernels themselves on a split: those of an exact kernel machine."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from craftmaps.kernels import Polynomial
from craftmaps.learners.search.scoring import _KERNEL_ALPHAS, Judge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 5)).astype(np.float32)
LABELS = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int)
TARGETS = np.eye(2)[LABELS]


def judge(weight):
    def errors(outputs, y):
        return (outputs.argmax(axis=1) != y).astype(float)

    return Judge(TARGETS, errors, LABELS, weight, 300, is_classification=True)


@pytest.mark.parametrize("weight", [np.ones(500), np.linspace(0.5, 2, 500)])
def test_a_split_of_the_kernel_is_kernel_ridge(weight):
    found = judge(weight).split_of_kernel(Polynomial(2), X.copy(), 200)
    kernel = (X.astype(np.float64) @ X.T + 1) ** 2
    train, test = slice(0, 200), slice(300, None)
    share = weight[train] / weight[train].mean()
    mean = np.average(TARGETS[train], axis=0, weights=share)
    unit = found.alpha * np.trace(kernel[train, train]) / 200
    machine = KernelRidge(alpha=unit, kernel="precomputed")
    machine.fit(kernel[train, train], TARGETS[train] - mean, sample_weight=share)
    wrong = (machine.predict(kernel[test, train]) + mean).argmax(axis=1) != LABELS[test]
    assert found.alpha in _KERNEL_ALPHAS
    assert np.mean(found.errors != wrong) <= 0.01
    assert found.error < 0.15


def test_rows_that_overflow_are_worst():
    assert judge(np.ones(500)).split_of_kernel(Polynomial(9), X * np.float32(1e30), 200).value > 500
