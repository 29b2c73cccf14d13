"""Rows that the tests of Spark share, and what two models have in common that learned from them."""

import numpy as np
import pyarrow as pa

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
X[300:] = X[:100]  # copies, some with other labels
Y = np.array(["x", "y", "z"])[np.digitize(X[:, 0] * X[:, 1] + 0.4 * RNG.normal(size=400), [-0.5, 0.5])]
NUMBERS = X[:, 0] * X[:, 1]
WEIGHT = RNG.integers(0, 3, 400).astype(float)
SMALL = {"n_components": 24, "cv": 3, "alphas": [1e-4, 1e-2, 1.0], "random_state": 0}


def frame(spark, n_partitions, order=None, X=X, **columns):
    """Return rows, in some order, cut into consecutive partitions; `at` numbers them."""
    order = np.arange(len(X)) if order is None else order
    columns = {name: pa.array(values[order]) for name, values in ({"label": Y} | columns).items()}
    table = pa.table({"at": np.arange(len(X)), "features": pa.array(list(X[order])), **columns})
    return spark.createDataFrame(table).repartitionByRange(n_partitions, "at")


def assert_same(one, other):
    np.testing.assert_allclose(one.alpha_, other.alpha_, rtol=1e-10)
    np.testing.assert_array_equal(one.tally_.held_out.sample.hashes, other.tally_.held_out.sample.hashes)
    assert np.abs(one.coef_ - other.coef_).max() <= 1e-8 * np.abs(other.coef_).max()
    assert repr(one.choices_) == repr(other.choices_)
    assert one.n_rows_seen_ == other.n_rows_seen_
    assert getattr(one, "loss_", None) == getattr(other, "loss_", None)
