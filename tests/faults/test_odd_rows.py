"""Rows that are odd but good are mapped like the plain rows they stand for."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, lil_matrix
from sklearn.base import clone

from tests.catalogue import MAPS
from tests.comparison import assert_rows_close
from tests.sparse_rows import with_explicit_zeros, with_reversed_entries, with_wide_indices

ALL_MAPS = pytest.mark.parametrize("name", MAPS)


def strided(X):
    room = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    room[::2, ::3] = X
    return room[::2, ::3]


LAYOUTS = {
    "strided": strided,
    "Fortran": np.asfortranarray,
    "reversed twice": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "CSC": csc_matrix,
    "COO": coo_matrix,
    "LIL": lil_matrix,
    "explicit zeros": with_explicit_zeros,
    "unsorted indices": with_reversed_entries,
    "64-bit indices": with_wide_indices,
}


@ALL_MAPS
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(rows, name, layout):
    X, feature_map = LAYOUTS[layout](rows), clone(MAPS[name])
    expected = clone(MAPS[name]).fit_transform(rows)
    assert_rows_close(feature_map.fit(X).transform(X), expected, 1e-12)
    assert_rows_close(feature_map.transform(rows), expected, 1e-12)


@ALL_MAPS
@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.int8, np.uint16, bool], ids=lambda dtype: dtype.__name__)
def test_other_numbers_are_mapped_in_double(rows, name, dtype):
    X = (5 * rows).astype(dtype)
    Z = clone(MAPS[name]).fit(X).transform(X)
    assert Z.dtype == np.float64
    np.testing.assert_array_equal(Z, clone(MAPS[name]).fit_transform(X.astype(np.float64)))


@ALL_MAPS
def test_a_memory_map(rows, name, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert not X.flags.writeable
    Z = clone(MAPS[name]).fit(X).transform(X)
    assert type(Z) is np.ndarray
    np.testing.assert_array_equal(Z, clone(MAPS[name]).fit_transform(rows))


@ALL_MAPS
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
def test_the_rows_are_not_changed(rows, name, layout):
    X = layout(rows.copy())
    clone(MAPS[name]).fit(X).transform(X)
    assert (X != layout(rows)).sum() == 0


@ALL_MAPS
def test_a_frame_with_names(rows, name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=[f"column {k}" for k in range(12)])
    feature_map = clone(MAPS[name]).fit(frame)
    assert feature_map.feature_names_in_.tolist() == frame.columns.tolist()
    assert_rows_close(feature_map.transform(frame), clone(MAPS[name]).fit_transform(rows), 1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        feature_map.transform(frame.rename(columns={"column 3": "another"}))


@ALL_MAPS
@pytest.mark.filterwarnings("ignore:n_components=20 landmarks were asked for:UserWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda X: X[:1],
        lambda X: np.repeat(X[:1], 60, axis=0),
        np.zeros_like,
        np.ones_like,
        lambda X: np.where(np.arange(12) < 3, 1.0, X),
        lambda X: np.where(np.arange(60)[:, None] < 5, 0.0, X),
    ],
    ids=["one row", "one row many times", "zeros", "ones", "constant columns", "some zero rows"],
)
@pytest.mark.parametrize("layout", [np.asarray, csr_matrix], ids=["dense", "csr"])
def test_rows_with_little_in_them(rows, name, make, layout):
    X = make(rows)
    feature_map = clone(MAPS[name]).fit(layout(X))
    Z = feature_map.transform(X)
    assert Z.shape[0] == len(X)
    assert np.isfinite(Z).all()
    assert np.isfinite(feature_map.transform(rows)).all()
    if np.ptp(X, axis=0).max() == 0:
        assert_rows_close(Z, np.repeat(Z[:1], len(X), axis=0), 1e-12)
