"""How rows lie in memory does not matter: their features have equal bits."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from sklearn.base import clone

from craftmaps import CraftMap, Polynomial, RandomMaclaurin, SubsampledHadamard, TensorSketch
from craftmaps.maps.projections import FoldedHadamard
from tests.catalogue import BIT_EQUAL, MAPS


def of_records(X):
    """Return rows whose numbers are not aligned: each stands behind a byte."""
    records = np.zeros(X.shape, np.dtype([("byte", np.int8), ("number", X.dtype)]))
    records["number"] = X
    return records["number"]


def from_an_odd_byte(X):
    """Return contiguous rows that are not aligned."""
    content = np.frombuffer(b"x" + X.tobytes(), np.uint8)
    return content[1:].view(X.dtype).reshape(X.shape)


LAYOUTS = {
    "columns contiguous": np.asfortranarray,
    "some columns": lambda X: np.hstack([X, X])[:, 3 : 3 + X.shape[1]],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other row of contiguous columns": lambda X: np.asfortranarray(np.repeat(X, 2, axis=0))[::2],
    "rows backwards": lambda X: X[::-1].copy()[::-1],
    "columns backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
    "contiguous columns backwards": lambda X: np.asfortranarray(X[:, ::-1])[:, ::-1],
    "read-only": lambda X: as_strided(X, writeable=False),
    "not aligned": from_an_odd_byte,
    "not aligned and not contiguous": of_records,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", BIT_EQUAL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_have_equal_bits(rows, name, layout, dtype):
    X = rows.astype(dtype)
    strided = LAYOUTS[layout](X)
    feature_map = clone(MAPS[name]).fit(X)
    np.testing.assert_array_equal(feature_map.transform(strided), feature_map.transform(strided.copy(order="C")))


WIDE = {
    "maclaurin": RandomMaclaurin(Polynomial(degree=3), 40, random_state=0),
    "maclaurin complex": RandomMaclaurin(Polynomial(degree=3), 40, complex_weights=True, random_state=0),
    "tensorsketch": TensorSketch(Polynomial(degree=3), 64, random_state=0),
    "subsampled": SubsampledHadamard(16, random_state=0),
    "folded": FoldedHadamard(16, random_state=0),
    "craft": CraftMap(Polynomial(degree=3), 40, random_state=0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("width", [1024, 1031])
def test_wide_rows_have_equal_bits(name, layout, width):
    X = np.random.default_rng(0).normal(size=(83, width)).astype(np.float32) / 32
    strided = LAYOUTS[layout](X)
    feature_map = clone(WIDE[name]).fit(X)
    # One row at a time takes another way into the lanes.
    one_by_one = np.vstack([feature_map.transform(np.array(row)[None]) for row in strided])
    np.testing.assert_array_equal(feature_map.transform(strided), one_by_one)
