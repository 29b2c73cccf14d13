"""Dense and CSR rows have equal features, and a fit on either gives the same map."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

from tests.catalogue import BIT_EQUAL, MAPS
from tests.comparison import assert_rows_close
from tests.sparse_rows import with_split_entries

CONTAINERS = pytest.mark.parametrize("container", [csr_matrix, csr_array])


@pytest.mark.parametrize("name", BIT_EQUAL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@CONTAINERS
def test_a_map_gives_both_equal_bits(rows, seed, name, dtype, container):
    X = rows.astype(dtype)
    for fit_rows in (X, container(X)):
        feature_map = clone(MAPS[name]).set_params(random_state=seed).fit(fit_rows)
        np.testing.assert_array_equal(feature_map.transform(container(X)), feature_map.transform(X))


@pytest.mark.parametrize("name", BIT_EQUAL)
def test_maps_fitted_on_either_have_equal_bits(rows, csr_rows, name):
    different = []
    for seed in range(10):
        on_dense, on_csr = (clone(MAPS[name]).set_params(random_state=seed).fit(X) for X in (rows, csr_rows))
        if not np.array_equal(on_dense.transform(rows), on_csr.transform(rows)):
            different.append(seed)
    assert different == []


@pytest.mark.parametrize("name", MAPS)
@CONTAINERS
def test_maps_fitted_on_either_are_equal_up_to_rounding(rows, name, container):
    on_dense, on_csr = (clone(MAPS[name]).fit(X) for X in (rows, container(rows)))
    expected = on_dense.transform(rows)
    for feature_map in (on_dense, on_csr):
        for X in (rows, container(rows)):
            Z = feature_map.transform(X)
            assert isinstance(Z, np.ndarray)
            assert_rows_close(Z, expected, 1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_entries_of_csr_that_stand_twice_add_up(rows, name):
    X = with_split_entries(rows)
    assert_rows_close(clone(MAPS[name]).fit(X).transform(X), clone(MAPS[name]).fit_transform(rows), 1e-12)
