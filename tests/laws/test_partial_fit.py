"""`partial_fit` on parts equals `fit` on all rows: landmarks exactly, covariances up to rounding."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from craftmaps import CovarianceMetric, LandmarkMap
from tests.catalogue import KERNEL
from tests.comparison import assert_rows_close

CUTS = pytest.mark.parametrize("cuts", [[30], [1, 2, 3, 59], [7, 14, 21, 50], list(range(1, 60))])


@pytest.fixture(scope="module")
def spread_rows():
    """Rows with clearly different variances along rotated axes, far from the origin."""
    rng = np.random.default_rng(5)
    rotation, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    X = (rng.normal(size=(60, 6)) * 2.0 ** -np.arange(6)) @ rotation + 1e4 * rng.random(6)
    X.flags.writeable = False
    return X


def learn(estimator, parts):
    for part in parts:
        estimator.partial_fit(part)
    return estimator


@CUTS
@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
def test_landmarks(rows, seed, cuts, whiten, layout):
    whole = LandmarkMap(KERNEL, 20, whiten=whiten, random_state=seed).fit(layout(rows))
    parts = learn(clone(whole), [layout(part) for part in np.split(rows, cuts)])
    assert (whole.landmarks_ != parts.landmarks_).sum() == 0
    np.testing.assert_array_equal(parts.penalty_, whole.penalty_)
    np.testing.assert_array_equal(parts.transform(rows), whole.transform(rows))


def test_landmarks_of_fewer_rows_than_asked_for_fill_up(rows):
    feature_map = LandmarkMap(KERNEL, 20, random_state=0).partial_fit(rows[:5])
    assert feature_map.transform(rows).shape == (60, 5)
    assert feature_map.partial_fit(rows[5:]).transform(rows).shape == (60, 20)


def test_landmarks_of_dense_and_csr_parts(rows, csr_rows):
    whole = LandmarkMap(KERNEL, 20, random_state=0).fit(rows)
    parts = learn(clone(whole), [rows[:30], csr_rows[30:]])
    np.testing.assert_array_equal(parts.landmarks_.toarray(), whole.landmarks_)


def direct_covariance_metric(X, power, normalize):
    """Return the transform of the rows that a centred metric is fitted on, from its definition."""
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    Z = centred @ vectors * (values / values[0]) ** (power / 2)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True) if normalize else Z


@pytest.mark.parametrize("power", [-0.5, 0, 0.5, 1.0])
@pytest.mark.parametrize("normalize", [True, False])
def test_metric_is_its_definition(spread_rows, power, normalize):
    Z = CovarianceMetric(power, normalize=normalize).fit_transform(spread_rows)
    assert_rows_close(Z, direct_covariance_metric(spread_rows, power, normalize), 1e-9)


@CUTS
@pytest.mark.parametrize("parameters", [{}, {"power": 0.5, "n_components": 4}, {"normalize": False}])
def test_metric_in_parts(spread_rows, cuts, parameters):
    whole = CovarianceMetric(**parameters).fit(spread_rows)
    parts = learn(CovarianceMetric(**parameters), np.split(spread_rows, cuts))
    assert parts.n_rows_seen_ == whole.n_rows_seen_ == 60
    np.testing.assert_allclose(parts.mean_, whole.mean_, rtol=1e-14)
    np.testing.assert_allclose(parts.transform(spread_rows), whole.transform(spread_rows), rtol=1e-9, atol=1e-11)


@CUTS
@pytest.mark.parametrize("parameters", [{}, {"center": False, "power": 0.5}])
def test_metric_merged(rows, spread_rows, cuts, parameters):
    # Without centring, a large mean would dominate the axes.
    X = spread_rows if parameters.get("center", True) else spread_rows - spread_rows.mean(axis=0) + 1
    whole = CovarianceMetric(**parameters).fit(X)
    first, *others = [CovarianceMetric(**parameters).fit(part) for part in np.split(X, cuts)]
    for other in others:
        before = other.transform(X)
        assert first.merge(other) is first
        np.testing.assert_array_equal(other.transform(X), before)
    assert first.n_rows_seen_ == 60
    np.testing.assert_allclose(first.transform(X), whole.transform(X), rtol=1e-9, atol=1e-11)


def test_merging_goes_in_any_order(spread_rows):
    a, b = (CovarianceMetric().fit(part) for part in np.split(spread_rows, [13]))
    c, d = (CovarianceMetric().fit(part) for part in np.split(spread_rows, [13]))
    np.testing.assert_allclose(
        a.merge(b).transform(spread_rows), d.merge(c).transform(spread_rows), rtol=1e-9, atol=1e-11
    )


def test_fit_forgets_what_partial_fit_learned(spread_rows):
    metric = CovarianceMetric().partial_fit(spread_rows[:20]).fit(spread_rows[20:])
    expected = CovarianceMetric().fit(spread_rows[20:])
    np.testing.assert_array_equal(metric.transform(spread_rows), expected.transform(spread_rows))
    assert metric.n_rows_seen_ == 40
