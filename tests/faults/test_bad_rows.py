"""Rows that no map can take are refused with a clear error, and a fitted map still works afterwards."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import craftmaps
from craftmaps import (
    CovarianceMetric,
    CraftMap,
    Exponential,
    LandmarkMap,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from craftmaps.maps.projections import FoldedHadamard
from tests.catalogue import MAPS


def with_entry(X, value):
    X = X.copy()
    X[3, 4] = value
    return X


# Name -> (how good rows become bad, the error, what its message says).
EVERYWHERE = {
    "NaN": (lambda X: with_entry(X, np.nan), ValueError, "contains NaN"),
    "infinity": (lambda X: with_entry(X, np.inf), ValueError, "contains infinity"),
    "minus infinity in single": (
        lambda X: with_entry(X.astype(np.float32), -np.inf),
        ValueError,
        "contains infinity",
    ),
    "NaN in CSR": (lambda X: csr_matrix(with_entry(X, np.nan)), ValueError, "contains NaN"),
    "no rows": (lambda X: X[:0], ValueError, r"0 sample\(s\)"),
    "no rows of CSR": (lambda X: csr_matrix(X[:0]), ValueError, r"0 sample\(s\)"),
    "no columns": (lambda X: X[:, :0], ValueError, r"0 feature\(s\)"),
    "one dimension": (lambda X: X[0], ValueError, "Expected 2D array, got 1D array"),
    "three dimensions": (lambda X: X[None], ValueError, "dim 3"),
    "a number": (lambda X: 3.0, ValueError, "Expected 2D array, got scalar"),
    "strings": (lambda X: [["a", "b"], ["c", "d"]], ValueError, "could not convert string to float: 'a'"),
    "complex numbers": (lambda X: X + 1j, ValueError, "Complex data not supported"),
    "nothing": (lambda X: None, ValueError, "Expected 2D array, got scalar"),
}
AT_TRANSFORM = {
    "too narrow": (lambda X: X[:, :11], ValueError, "X has 11 features, but .* is expecting 12"),
    "too wide": (lambda X: np.c_[X, X], ValueError, "X has 24 features, but .* is expecting 12"),
    "too wide CSR": (lambda X: csr_matrix(np.c_[X, X]), ValueError, "X has 24 features, but .* is expecting 12"),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("case", EVERYWHERE)
def test_fit_refuses(rows, name, case):
    spoil, error, message = EVERYWHERE[case]
    with pytest.raises(error, match=message):
        clone(MAPS[name]).fit(spoil(rows))


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("case", {**EVERYWHERE, **AT_TRANSFORM})
def test_transform_refuses_and_the_map_still_works(rows, name, case):
    spoil, error, message = {**EVERYWHERE, **AT_TRANSFORM}[case]
    feature_map = clone(MAPS[name]).fit(rows)
    expected = feature_map.transform(rows)
    with pytest.raises(error, match=message):
        feature_map.transform(spoil(rows))
    np.testing.assert_array_equal(feature_map.transform(rows), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("landmarks", [np.asarray, csr_matrix])
@pytest.mark.parametrize("lay_out", [np.asarray, np.asfortranarray, csr_matrix])
def test_landmarks_that_are_zero_there_do_not_hide_an_entry(rows, value, landmarks, lay_out):
    X = rows.copy()
    X[:, 4] = 0
    feature_map = LandmarkMap(Exponential(), n_components=5, random_state=0).fit(landmarks(X))
    with pytest.raises(ValueError, match="contains"):
        feature_map.transform(lay_out(with_entry(X, value)))


@pytest.mark.parametrize("name", MAPS)
def test_a_failed_fit_leaves_the_earlier_one(rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    expected = feature_map.transform(rows)
    with pytest.raises(ValueError, match="contains NaN"):
        feature_map.fit(with_entry(rows, np.nan))
    np.testing.assert_array_equal(feature_map.transform(rows), expected)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("width", [1, 5, 1000])
def test_a_failed_fit_of_another_width_leaves_the_earlier_one(rows, name, width):
    feature_map = clone(MAPS[name]).fit(rows)
    expected = feature_map.transform(rows)
    with pytest.raises(ValueError, match="contains NaN"):
        feature_map.fit(np.full((3, width), np.nan))
    with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 12"):
        feature_map.transform(np.ones((3, width)))
    np.testing.assert_array_equal(feature_map.transform(rows), expected)


@pytest.mark.parametrize("width", [1, 5, 1000])
@pytest.mark.parametrize("name", ["maclaurin", "craft", "tensorsketch", "subsampled"])
def test_a_fit_refused_for_other_reasons_leaves_the_earlier_one(rows, name, width):
    feature_map = clone(MAPS[name]).fit(rows)
    expected, n_components = feature_map.transform(rows), feature_map.n_components
    with pytest.raises(ValueError, match="n_components"):
        feature_map.set_params(n_components=-1).fit(np.ones((3, width)))
    feature_map.set_params(n_components=n_components)
    with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 12"):
        feature_map.transform(np.ones((3, width)))
    np.testing.assert_array_equal(feature_map.transform(rows), expected)


NARROW = {
    "maclaurin": RandomMaclaurin(Polynomial(degree=3), 40, random_state=0),
    "maclaurin complex": RandomMaclaurin(Polynomial(degree=2), 9, complex_weights=True, random_state=0),
    "maclaurin linear": RandomMaclaurin(Polynomial(degree=1), 101, random_state=0),
    "maclaurin rademacher": RandomMaclaurin(Polynomial(degree=3), 40, projection="rademacher", random_state=0),
    "maclaurin of a constant": RandomMaclaurin(Polynomial(degree=0), 40, random_state=0),
    "tensorsketch": TensorSketch(Polynomial(degree=3), 64, random_state=0),
    "tensorsketch of any width": TensorSketch(Polynomial(degree=3), 65, random_state=0),
    "tensorsketch of a constant": TensorSketch(Polynomial(degree=0), 64, random_state=0),
    "subsampled": SubsampledHadamard(9, random_state=0),
    "folded": FoldedHadamard(9, random_state=0),
    "craft": CraftMap(Polynomial(degree=3), 40, random_state=0),
    "craft subsampled": CraftMap(Polynomial(degree=3), 40, down=SubsampledHadamard(), random_state=0),
    "craft of a constant": CraftMap(Polynomial(degree=0), 40, random_state=0),
    "landmarks": LandmarkMap(Exponential(), 40, random_state=0),
}


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.array, csr_matrix])
def test_a_map_to_fewer_columns_refuses_what_is_not_finite(name, value, container):
    X = np.random.default_rng(0).normal(size=(50, 120)).astype(np.float32) / 11
    feature_map = clone(NARROW[name]).fit(X)
    for place in ((0, 0), (17, 64), (49, 119)):
        spoilt = X.copy()
        spoilt[place] = value
        message = "contains NaN" if np.isnan(value) else "contains infinity"
        with pytest.raises(ValueError, match=f"Input X {message}"):
            feature_map.transform(container(spoilt))
        if name == "craft":  # whose loops raise no warnings
            with config_context(assume_finite=True):
                assert not np.isfinite(feature_map.transform(container(spoilt))[place[0]]).all()


@pytest.mark.parametrize("place", [0, 150_000, -1])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_many_numbers_are_looked_through_to_the_last(place, value):
    X = np.ones((20_001, 30), np.float32)  # more than one thread looks at once
    feature_map = SubsampledHadamard(4, random_state=0).fit(X)
    X.ravel()[place] = value
    with craftmaps.threads(2), pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        feature_map.transform(X)


def test_finite_numbers_whose_sum_is_not_are_good():
    X = np.full((20_001, 30), 1e307)
    assert np.isfinite(SubsampledHadamard(4, random_state=0).fit_transform(X)).all()


@pytest.mark.parametrize("name", MAPS)
def test_an_unfitted_map_says_so(rows, name):
    with pytest.raises(NotFittedError, match=f"This {type(MAPS[name]).__name__} instance is not fitted yet"):
        clone(MAPS[name]).transform(rows)
    refused = clone(MAPS[name])
    with pytest.raises(ValueError, match="contains NaN"):
        refused.fit(with_entry(rows, np.nan))
    with pytest.raises(NotFittedError):
        refused.transform(rows)


@pytest.mark.parametrize("learner", [LandmarkMap(n_components=20, random_state=0), CovarianceMetric()])
@pytest.mark.parametrize("case", {**EVERYWHERE, **AT_TRANSFORM})
def test_partial_fit_refuses_and_loses_nothing(rows, learner, case):
    spoil, error, message = {**EVERYWHERE, **AT_TRANSFORM}[case]
    expected = clone(learner).partial_fit(rows[:30]).partial_fit(rows[30:])
    learner = clone(learner).partial_fit(rows[:30])
    with pytest.raises(error, match=message):
        learner.partial_fit(spoil(rows))
    np.testing.assert_array_equal(learner.partial_fit(rows[30:]).transform(rows), expected.transform(rows))


@pytest.mark.parametrize("case", EVERYWHERE)
def test_kernels_refuse(rows, case):
    spoil, error, message = EVERYWHERE[case]
    with pytest.raises(error, match=message):
        Polynomial()(spoil(rows))
    if case != "nothing":  # without Y the kernel is that of X
        with pytest.raises(error, match=message):
            Polynomial()(rows, spoil(rows))


def test_kernels_refuse_rows_of_two_widths(rows):
    with pytest.raises(ValueError, match="Y has 11 features, expected 12"):
        Polynomial()(rows, rows[:, :11])


def test_a_failed_fit_of_a_metric_does_not_forget_its_rows(rows):
    metric = CovarianceMetric().fit(rows[:30])
    with pytest.raises(ValueError, match="contains NaN"):
        metric.fit(with_entry(rows, np.nan))
    assert metric.n_rows_seen_ == 30
