"""Logistic steps reach the solution of logistic regression, whatever the number of threads."""

from itertools import islice

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import craftmaps
from craftmaps.least_squares.logistic_steps import logistic_regressions
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.least_squares.row_looks import WeightedRows


def example(n_rows=3000, width=6, n_classes=3, seed=0):
    """Rows of unlike columns far from zero, noisy classes and weights."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, width)) * 10.0 ** np.linspace(-1, 1, width) + 3
    scores = ((Z - Z.mean(axis=0)) / Z.std(axis=0)) @ rng.normal(size=(width, n_classes)) + rng.gumbel(
        size=(n_rows, n_classes)
    )
    labels = scores.argmax(axis=1)
    return Z, labels, np.eye(n_classes)[labels], rng.uniform(0.5, 2.0, n_rows)


def steps(Z, Y, weight, penalty=1e-3, alpha=1e-3):
    statistic = NormalEquations.of(Z, Y, weight)
    return (one for (one,) in logistic_regressions(WeightedRows(Z, Y, weight).in_blocks(), statistic, alpha, penalty))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_limit_is_that_of_scikit_learn(n_classes):
    Z, labels, Y, weight = example(n_classes=n_classes)
    *_, last = islice(steps(Z, Y, weight), 60)
    unit = NormalEquations.of(Z, Y, weight).scale()
    # Of two classes scikit-learn has one column of coefficients: w and not -w / 2 and w / 2.
    judge = LogisticRegression(C=(2 if n_classes == 2 else 1) / (1e-3 * unit), tol=1e-10, max_iter=10_000)
    expected = judge.fit(Z - Z.mean(axis=0), labels, sample_weight=weight).predict_proba(Z - Z.mean(axis=0))
    outputs = np.exp(Z @ last.coef.T + last.intercept)
    np.testing.assert_allclose(outputs / outputs.sum(axis=1, keepdims=True), expected, atol=1e-4)


def test_few_steps_are_enough_where_squares_are_misled():
    """The sign of a product plus a column: the best squares lie a good way off."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 3))
    Z = np.column_stack([x, x[:, 0] * x[:, 1], x**2]).astype(np.float32)
    labels = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(int)
    Y, weight = np.eye(2)[labels], np.ones(len(Z))
    train = slice(0, 10_000)
    statistic = NormalEquations.of(Z[train], Y[train])
    squares = statistic.solve(1e-6 * statistic.scale())

    def error(solution):
        return np.mean((Z[10_000:] @ solution.coef.T + solution.intercept).argmax(axis=1) != labels[10_000:])

    *_, last = islice(steps(Z[train], Y[train], weight[train], 1e-6), 10)
    assert error(squares) > 0.03
    assert error(last) < 0.01


def test_the_number_of_threads_does_not_matter():
    Z, _, Y, weight = example()
    found = []
    for n in (1, 2):
        with craftmaps.threads(n):
            *_, last = islice(steps(Z.astype(np.float32), Y, weight), 5)
            found.append(last.coef)
    np.testing.assert_array_equal(*found)


def test_a_regression_without_some_rows_is_that_of_the_others():
    Z, _, Y, weight = example()
    statistic, rest = NormalEquations.of(Z, Y, weight), slice(700, None)
    left_out = [None, WeightedRows(Z[:700], Y[:700], weight[:700])]
    both = logistic_regressions(WeightedRows(Z, Y, weight).in_blocks(), statistic, 1e-6, 1e-9, left_out)
    *_, (whole, without) = islice(both, 100)
    *_, alone = islice(steps(Z[rest], Y[rest], weight[rest], 1e-9, 1e-6), 100)
    outputs = [Z @ s.coef.T + s.intercept for s in (whole, without, alone)]
    shares = [np.exp(o) / np.exp(o).sum(axis=1, keepdims=True) for o in outputs]
    np.testing.assert_allclose(shares[1], shares[2], atol=1e-4)
    assert np.abs(shares[0] - shares[2]).max() > 1e-3  # so the rows do matter
