"""Blocks on any executor give the model that one fit on all rows gives."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, tally_blocks
from craftmaps.learners.partitions import to_ship
from tests.engines.examples import EXPLICIT, SETTINGS, assert_same_model, labelled_rows

X, Y = labelled_rows()
PARTS = np.split(np.arange(len(Y)), [0, 5, 200, 200, 350])


def read_block(rows):
    """Return a block where it is needed, as workers that read their own files do."""
    return X[rows], Y[rows]


def with_joblib(function, items):
    return joblib.Parallel(n_jobs=2)(joblib.delayed(function)(item) for item in items)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("settings", SETTINGS)
def test_any_executor(settings, processes):
    whole = CraftClassifier(loss="squared", **SETTINGS[settings]).fit(X, Y)
    blocks = [read_block(rows) for rows in PARTS]
    with ThreadPoolExecutor(2) as threads:
        for executor, parts in (
            (map, blocks),
            (threads, iter(blocks)),
            (processes, [partial(read_block, rows) for rows in PARTS]),
        ):
            model = CraftClassifier(loss="squared", **SETTINGS[settings])
            tally = tally_blocks(model, parts, executor, n_tasks=3)
            assert_same_model(model.finish(tally), whole)


def test_joblib():
    blocks = [partial(read_block, rows) for rows in PARTS]
    model = CraftClassifier(**EXPLICIT)
    assert_same_model(model.finish(tally_blocks(model, blocks, with_joblib)), CraftClassifier(**EXPLICIT).fit(X, Y))


def test_a_settled_estimator_keeps_its_features():
    model = CraftClassifier(loss="squared", **SETTINGS["covariance"]).fit(X[:150], Y[:150])
    features, coef = model.features_, model.coef_
    tally = tally_blocks(model, [(X[150:], Y[150:], np.full(300, 2.0))])
    assert tally.features.difference(features) is None
    assert (tally.n_rows, tally.statistic.weight, model.n_rows_seen_) == (300, 600.0, 150)
    np.testing.assert_array_equal(model.coef_, coef)
    assert (model.tally_ + tally).n_rows == 450
    assert tally_blocks(model, []).n_rows == 0


def test_no_rows_are_sent_with_the_estimator():
    model = CraftClassifier(loss="squared", **SETTINGS["automatic"]).fit(X, Y)
    assert X[0].tobytes() in pickle.dumps(model)
    assert not any(row.tobytes() in pickle.dumps(to_ship(model)) for row in X)


def test_bad_blocks_are_named():
    rows, y = X.copy(), X[:, 0].copy()
    rows[411, 2], y[5] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"^Block 3, row 11: Input X contains NaN"):
        tally_blocks(CraftClassifier(**EXPLICIT), [(rows[i : i + 100], Y[i : i + 100]) for i in (0, 100, 200, 400)])
    with pytest.raises(ValueError, match=r"^Block 0, row 5: Input y contains NaN"):
        tally_blocks(CraftRegressor(**EXPLICIT), [(X, y)])
    with pytest.raises(ValueError, match=r"Block 1 must be \(X, y\) or \(X, y, sample_weight\), got 4 parts"):
        tally_blocks(CraftClassifier(**EXPLICIT), [(X, Y), (X, Y, Y, Y)])
    with pytest.raises(ValueError, match="at least one row with a positive weight, got none"):
        tally_blocks(CraftClassifier(**EXPLICIT), [])
    waiting = CraftClassifier(loss="squared", **SETTINGS["automatic"]).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"call settle\(X, y\) first"):
        tally_blocks(waiting, [(X, Y)])
