"""Partitions on a Dask cluster of real processes give the model that one fit on all rows gives."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("distributed", reason="pip install 'craftmaps[dask]'")

import dask.array as da
import dask.dataframe as dd
from dask import delayed
from dask.highlevelgraph import HighLevelGraph
from distributed import Client, wait

from craftmaps import CraftClassifier, CraftRegressor
from craftmaps.dask import fit
from craftmaps.dask.blocks import blocks_of
from craftmaps.dask.cluster import Cluster, Worker
from tests.engines.examples import EXPLICIT, SETTINGS, SMALL, assert_same_model, labelled_rows

X, Y = labelled_rows()
NUMBERS = X[:, 0] * X[:, 1]
WEIGHT = np.random.default_rng(1).integers(0, 3, len(Y)).astype(float)
CUTS = {1: [], 2: [225], 4: [5, 10, 300], 7: [0, 1, 150, 150, 250, 449]}  # a hundred times larger, and empty ones


@pytest.fixture(scope="module")
def local():
    return {name: CraftClassifier(**settings).fit(X, Y) for name, settings in SETTINGS.items()}


def blocks(cuts, *arrays):
    return [delayed(part) for part in zip(*(np.split(array, cuts) for array in arrays), strict=True)]


def test_the_loss_that_is_compared(local):
    assert {name: model.loss_ for name, model in local.items()} == {
        "automatic": "logistic",
        "explicit": "squared",
        "covariance": "squared",
    }


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("n_parts", CUTS)
def test_any_number_of_partitions_in_any_order(client, local, settings, n_parts):
    order = np.random.default_rng(n_parts).permutation(len(Y))
    model = CraftClassifier(**SETTINGS[settings])
    assert fit(model, blocks(CUTS[n_parts], X[order], Y[order]), client=client) is model
    assert_same_model(model, local[settings])
    np.testing.assert_array_equal(model.predict(X), local[settings].predict(X))


def test_labels_of_one_partition_only(client, local):
    order = np.argsort(Y, kind="stable")
    for settings in ("automatic", "explicit"):
        parts = blocks([50, 425], X[order], Y[order])
        assert_same_model(fit(CraftClassifier(**SETTINGS[settings]), parts), local[settings])


@pytest.mark.parametrize("change", [{"loss": "logistic"}, {"class_weight": "balanced"}], ids=["logistic", "balanced"])
def test_what_needs_all_rows(client, change):
    order = np.argsort(Y, kind="stable")
    parts = blocks([0, 50, 425], X[order], Y[order], WEIGHT[order])
    model = fit(CraftClassifier(**EXPLICIT | change), parts)
    assert_same_model(model, CraftClassifier(**EXPLICIT | change).fit(X, Y, WEIGHT))


def test_features_are_kept_between_looks_if_they_fit(client, caplog):
    settings = EXPLICIT | {"loss": "logistic"}
    whole = CraftClassifier(**settings).fit(X, Y)
    for memory_limit, words in ((None, "kept between looks"), ("100 kB", "mapped at every look")):
        caplog.clear()
        with caplog.at_level("INFO", "craftmaps.dask"):
            assert_same_model(fit(CraftClassifier(**settings), blocks([150], X, Y), memory_limit=memory_limit), whole)
        assert words in caplog.text


def test_blocks_in_memory(client, local):
    parts = client.persist(blocks([50, 300], X, Y))
    assert_same_model(fit(CraftClassifier(**EXPLICIT), parts), local["explicit"])


def test_blocks_of_delayed_parts_with_threads_of_one_worker(local):
    with Client(processes=False, n_workers=1, threads_per_worker=3, dashboard_address=None):
        parts = [(delayed(rows), delayed(labels)) for rows, labels in zip(np.split(X, 9), np.split(Y, 9), strict=True)]
        assert_same_model(fit(CraftClassifier(**SMALL), parts), local["automatic"])


def test_chains_share_the_threads_of_a_worker():
    assert Worker(4, 100.0).chains(0) == (4, 1)
    assert Worker(4, 100.0).chains(20.0) == (4, 1)
    assert Worker(4, 100.0).chains(50.0) == (2, 2)
    assert Worker(4, 100.0).chains(60.0) == (1, 4)
    assert Worker(4, 100.0).chains(200.0) == (1, 4)
    assert Worker(3, math.inf).chains(200.0) == (3, 1)


def test_arrays(client, local):
    rows, labels = da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=167)
    assert_same_model(fit(CraftClassifier(**EXPLICIT), rows, labels), local["explicit"])
    unknown = rows[da.from_array(np.ones(len(Y), bool), chunks=100)]
    assert_same_model(fit(CraftClassifier(**EXPLICIT), unknown, labels.rechunk(100)), local["explicit"])


def test_numbers_with_weights(client):
    two = np.c_[NUMBERS, X[:, 2]]
    for y in (NUMBERS, two):
        rows, targets = da.from_array(X, chunks=(125, -1)), da.from_array(y, chunks=125)
        weight = da.from_array(WEIGHT, chunks=50)
        model = fit(CraftRegressor(**SMALL), rows, targets, sample_weight=weight)
        assert_same_model(model, CraftRegressor(**SMALL).fit(X, y, WEIGHT))


def test_sparse_chunks(client, local):
    rows = da.from_array(X, chunks=(150, -1)).map_blocks(csr_matrix)
    assert_same_model(fit(CraftClassifier(**EXPLICIT), rows, da.from_array(Y, chunks=150)), local["explicit"])


def test_float32_rows(client):
    rows = X.astype(np.float32)
    whole = CraftClassifier(**SMALL).fit(rows, Y)
    model = fit(CraftClassifier(**SMALL), da.from_array(rows, chunks=(100, -1)), da.from_array(Y))
    assert repr(model.choices_) == repr(whole.choices_)
    assert model.predict_proba(rows).dtype == np.float32
    scores = np.sort(whole.decision_function(rows), axis=1)
    clear = scores[:, -1] - scores[:, -2] > 1e-4
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(model.predict(rows)[clear], whole.predict(rows)[clear])


def test_dataframes(client):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    whole = CraftClassifier(**EXPLICIT).fit(frame, Y, WEIGHT)
    table = dd.from_pandas(frame.assign(label=Y, weight=WEIGHT), npartitions=5)
    model = fit(CraftClassifier(**EXPLICIT), table, "label", sample_weight="weight")
    assert_same_model(model, whole)
    assert model.feature_names_in_.tolist() == list("abcdef")
    model = fit(CraftClassifier(**EXPLICIT), table[list("abcdef")], table["label"], sample_weight=table["weight"])
    assert_same_model(model, whole)
    empty = table[table["weight"] > 5]  # no row is left in any partition, and all are in the others
    both = dd.concat([empty, table])
    assert_same_model(fit(CraftClassifier(**EXPLICIT), both, "label", sample_weight="weight"), whole)


def test_without_a_cluster(local):
    rows, labels = da.from_array(X, chunks=(100, -1)), da.from_array(Y, chunks=100)
    assert_same_model(fit(CraftClassifier(**SMALL), rows, labels), local["automatic"])


@pytest.mark.parametrize("packed", [False, True])
def test_columns_that_do_not_fit_a_worker_are_counted_one_share_after_another(client, caplog, packed):
    settings = EXPLICIT | {"n_components": 1400, "packed": packed}
    whole = CraftClassifier(**settings).fit(X, Y)
    parts = blocks([0, 50, 350], X, Y)
    with caplog.at_level("INFO", "craftmaps.dask"):
        model = fit(CraftClassifier(**settings), parts, memory_limit="12 MB" if packed else "16 MB")
    assert "in 2 passes" in caplog.text
    found, expected = (np.tril(one.tally_.statistic.gram) for one in (model, whole))
    assert np.abs(found - expected).max() < (1e-6 if packed else 1e-14) * expected.max()
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    if not packed:  # coefficients from sums in single precision depend on their order
        assert_same_model(model, whole)
    with pytest.raises(ValueError, match=r"Workers must have .* bytes for tallies of 1400 features, got 1,000,000"):
        fit(CraftClassifier(**settings), parts, memory_limit="1MB")


def test_rows_in_memory_are_counted_where_they_are(client):
    rows = da.random.default_rng(0).normal(size=(900, 6), chunks=(100, 6)).persist()
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    wait(rows)
    parts = blocks_of(rows, labels, None)
    tasks = dict(HighLevelGraph.merge(*(part.__dask_graph__() for part in parts)))
    owners = Cluster.of(client, None).owners(tasks, [part.key for part in parts])
    held = {key[1]: workers for key, workers in client.who_has(rows).items()}
    assert all(owners[part.key] in held[i] for i, part in enumerate(parts))
    model = fit(CraftClassifier(**SETTINGS["covariance"]), rows, labels)
    assert_same_model(model, CraftClassifier(**SETTINGS["covariance"]).fit(rows.compute(), labels.compute()))


def test_what_partitions_share_belongs_to_no_worker():
    cluster = Cluster(None, {"a": Worker(1, 1.0), "b": Worker(1, 1.0)})
    tasks = {
        "all": (list,),
        "x": (list, "all"),
        "y": (list, "all"),
        "own": (list,),
        "z": (list, "own"),
        "other": (list,),
    }
    owners = cluster.owners(tasks, ["x", "y", "z"])
    assert owners == {"x": "a", "y": "b", "z": "a", "all": None, "own": "a"}
