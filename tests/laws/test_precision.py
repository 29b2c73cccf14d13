"""Single precision is kept, and is close to double precision."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from tests.catalogue import MAPS
from tests.comparison import assert_rows_close


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_result_has_the_precision_of_the_rows(rows, name, layout, dtype):
    X = layout(rows.astype(dtype))
    assert clone(MAPS[name]).fit_transform(X).dtype == dtype
    assert clone(MAPS[name]).fit(rows).transform(X).dtype == dtype


@pytest.mark.parametrize("name", MAPS)
def test_single_is_close_to_double(rows, rows32, name):
    feature_map = clone(MAPS[name]).fit(rows)
    assert_rows_close(feature_map.transform(rows32), feature_map.transform(rows), 1e-5)


@pytest.mark.parametrize("name", MAPS)
def test_fitting_in_single_is_close_to_fitting_the_same_numbers_in_double(rows32, name):
    single, double = (clone(MAPS[name]).fit_transform(rows32.astype(dtype)) for dtype in (np.float32, np.float64))
    assert_rows_close(single, double, 1e-5)
