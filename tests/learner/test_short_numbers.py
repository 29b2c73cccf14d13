"""Rows of numbers of at most 16 bits, such as pixels, are computed in single precision."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import CraftClassifier, Polynomial

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 100, (300, 8)).astype(np.uint8)
LABELS = (PIXELS[:, 0].astype(int) * PIXELS[:, 1] > 2500).astype(int)
SETTINGS = {"n_components": 64, "kernel": Polynomial(2), "metric": None, "loss": "squared", "random_state": 0}


def outputs(rows):
    return CraftClassifier(**SETTINGS).fit(rows, LABELS).decision_function(rows)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.float16])
def test_they_give_the_model_of_float32_rows(dtype):
    expected = outputs(PIXELS.astype(np.float32))
    found = outputs(PIXELS.astype(dtype))
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def test_sparse_rows_too():
    assert outputs(csr_matrix(PIXELS)).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_longer_numbers_stay_in_double_precision(dtype):
    assert outputs(PIXELS.astype(dtype)).dtype == np.float64
