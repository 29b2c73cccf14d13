"""Predictions of a Dask cluster are those of the model, block by block and when they are asked for."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="pip install 'craftmaps[dask]'")

import cloudpickle
import dask.array as da
import dask.dataframe as dd
from dask import delayed

from craftmaps import CraftClassifier, CraftMap, CraftRegressor, load_model
from craftmaps import dask as on_dask
from tests.engines.examples import EXPLICIT, labelled_rows

X, Y = labelled_rows(300)
MODEL = CraftClassifier(**EXPLICIT).fit(X, Y)
NAMED = CraftClassifier(**EXPLICIT).fit(pd.DataFrame(X, columns=list("abcdef")), Y)
METHODS = ("predict", "predict_proba", "decision_function")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays(client, method, dtype):
    rows = X.astype(dtype)
    lazy = getattr(on_dask, method)(MODEL, da.from_array(rows, chunks=((100, 0, 200), 3)))
    expected = getattr(MODEL, method)(rows)
    assert (lazy.dtype, lazy.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(lazy.compute(), expected)


@pytest.mark.parametrize("method", METHODS)
def test_dataframes(client, method):
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(1000, 1300)).assign(label=Y)
    table = dd.from_pandas(frame, npartitions=3)
    lazy = getattr(on_dask, method)(NAMED, dd.concat([table[table["a"] > 99], table]))  # the first ones are empty
    found, expected = lazy.compute(), getattr(NAMED, method)(frame[list("abcdef")])
    np.testing.assert_array_equal(found.to_numpy(), expected)
    np.testing.assert_array_equal(found.index, frame.index)
    if method != "predict":
        assert lazy.columns.tolist() == found.columns.tolist() == NAMED.classes_.tolist()


def test_delayed_blocks(client):
    first, second = on_dask.predict(MODEL, [delayed(X[:100]), delayed(X[100:])])
    np.testing.assert_array_equal(np.concatenate([first.compute(), second.compute()]), MODEL.predict(X))


def test_two_classes_and_numbers(client):
    rows = da.from_array(X, chunks=(100, -1))
    two = CraftClassifier(**EXPLICIT).fit(X, Y == "bee")
    np.testing.assert_array_equal(on_dask.decision_function(two, rows).compute(), two.decision_function(X))
    numbers = CraftRegressor(**EXPLICIT).fit(X, X[:, :2])
    np.testing.assert_array_equal(on_dask.predict(numbers, rows).compute(), numbers.predict(X))
    table = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    assert on_dask.predict(numbers, table).compute().shape == (300, 2)


def test_maps(client):
    feature_map = CraftMap(n_components=16, random_state=0).fit(X)
    expected = feature_map.transform(X)
    np.testing.assert_array_equal(on_dask.transform(feature_map, da.from_array(X, chunks=(70, -1))).compute(), expected)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    found = on_dask.transform(feature_map, table).compute()
    np.testing.assert_array_equal(found, expected)
    assert found.columns.tolist() == feature_map.get_feature_names_out().tolist()


def test_a_loaded_model(client, tmp_path):
    MODEL.save(tmp_path / "model.craft", dtype=np.float64)
    loaded = load_model(tmp_path / "model.craft")
    found = on_dask.predict_proba(loaded, da.from_array(X, chunks=(150, -1))).compute()
    np.testing.assert_allclose(found, loaded.predict_proba(X), rtol=1e-12)  # BLAS rounds by the number of rows


def test_the_tally_stays_here(client):
    before = MODEL.tally_.n_rows
    rows = da.ones((10, 6), chunks=(5, 6))
    small = on_dask.predict(CraftClassifier(**EXPLICIT | {"n_components": 512}).fit(X, Y), rows)
    assert len(cloudpickle.dumps(dict(small.dask))) < 512**2
    assert MODEL.tally_.n_rows == before


def test_what_is_no_collection():
    with pytest.raises(
        TypeError, match="X must be rows of a dask array or dataframe, or a list of blocks, got ndarray"
    ):
        on_dask.predict(MODEL, X)
