"""Unfinished features times folded weights equal features times weights."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import craftmaps
from craftmaps import CraftClassifier, CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, TensorSketch, load_model
from craftmaps._system.threads import PRODUCT_ROWS
from craftmaps.learners.blocks import block_rows
from craftmaps.learners.fitted_model import FittedModel
from craftmaps.learners.targets import NumberTargets
from craftmaps.shaping.row_features import RowFeatures
from tests.catalogue import KERNEL, MAPS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 11)) / 4
WIDE = {
    **MAPS,
    "craft, a power of two": CraftMap(KERNEL, 32, random_state=0),
    "craft, exact columns kept": CraftMap(Polynomial(2), 64, random_state=0),
    "craft of one feature": CraftMap(KERNEL, 1, random_state=0),
    "tensorsketch, a power of two": TensorSketch(KERNEL, 64, random_state=0),
    "tensorsketch, the narrowest on lanes": TensorSketch(Polynomial(2), 16, random_state=0),
    "tensorsketch of degree 1": TensorSketch(Polynomial(1), 64, random_state=0),
    "tensorsketch of degree 0": TensorSketch(Polynomial(0), 64, random_state=0),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_outputs_are_those_of_the_features(name, dtype, form):
    feature_map, rows = clone(WIDE[name]).fit(X), form(X.astype(dtype))
    Z = feature_map.transform(X)
    coef, intercept = RNG.normal(size=(3, Z.shape[1])), RNG.normal(size=3)
    features = RowFeatures(None, 1.0, feature_map)
    outputs = FittedModel(features, NumberTargets(3), coef, intercept, alpha=1.0, n_rows=70).outputs(rows, dtype, 32)
    assert outputs.dtype == dtype
    tolerance = (1e-12 if dtype == np.float64 else 2e-5) * np.abs(Z).max() * np.abs(coef).sum(axis=1).max()
    np.testing.assert_allclose(outputs, Z @ coef.T + intercept, rtol=0, atol=tolerance)


def test_there_is_something_to_fold():
    weights = RNG.normal(size=(32, 2))
    for family in (CraftMap, LandmarkMap, TensorSketch):
        folded = family(KERNEL, 32, random_state=0).fit(X)._folded(weights)
        assert not np.allclose(folded[:32], weights)
    assert RandomMaclaurin(KERNEL, 32, random_state=0).fit(X)._folded(weights) is weights


@pytest.mark.parametrize("feature_map", ["craft", "landmarks", "maclaurin", "tensorsketch"])
def test_a_loaded_model_has_the_same_outputs(tmp_path, feature_map):
    y = (X[:, 0] > 0).astype(int)
    model = CraftClassifier(Polynomial(3), 24, feature_map=feature_map, metric=None, random_state=0).fit(X, y)
    model.save(tmp_path / "model", dtype=np.float64)
    np.testing.assert_array_equal(load_model(tmp_path / "model").decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("n_features", [3, 4096, 10**6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_thread_predicts_whole_products_that_fit_into_a_cache(n_features, dtype):
    with craftmaps.threads(1):
        n_rows = block_rows("auto", n_features, dtype)
        assert n_rows % PRODUCT_ROWS == 0
        assert n_rows == PRODUCT_ROWS or n_rows * n_features * np.dtype(dtype).itemsize <= 2**22
        assert block_rows(7, n_features, dtype) == 7
    with craftmaps.threads(2):
        assert block_rows("auto", n_features, dtype) > n_rows


def test_outputs_do_not_depend_on_the_number_of_threads():
    """One thread predicts these rows in three blocks, several predict them in one."""
    rows = np.random.default_rng(1).normal(size=(700, 11)).astype(np.float32)
    model = CraftClassifier(KERNEL, 4096, metric=None, alphas=1.0, cv=None, random_state=0)
    model.fit(rows[:60], (rows[:60, 0] > 0).astype(int))
    outputs = []
    for n in (1, 2, 4):
        with craftmaps.threads(n):
            outputs.append(model.decision_function(rows))
    np.testing.assert_array_equal(outputs[1], outputs[0])
    np.testing.assert_array_equal(outputs[2], outputs[0])
