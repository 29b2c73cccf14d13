"""Lost workers, unfit workers and bad rows on a Dask cluster of real processes."""

import os
import pickle
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("distributed", reason="pip install 'craftmaps[dask]'")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
from dask import delayed

import craftmaps
from craftmaps import CraftClassifier, Polynomial
from craftmaps.dask import fit
from tests.engines.examples import EXPLICIT, SMALL, assert_same_model, labelled_rows

X, Y = labelled_rows(900)
PARTS = np.array_split(np.arange(len(Y)), 12)
COVARIANCE = SMALL | {"kernel": Polynomial(3), "metric": "covariance"}
LOGISTIC = EXPLICIT | {"loss": "logistic"}


def slow_block(rows, seconds):
    time.sleep(seconds)
    return X[rows], Y[rows]


def n_steps_done(dask_scheduler, prefix):
    tasks = dask_scheduler.tasks.items()
    return sum(task.state == "memory" and str(key).startswith(prefix) for key, task in tasks)


@pytest.mark.parametrize(
    ("phase", "settings", "memory_limit"),
    [
        ("survey", COVARIANCE, None),
        ("tally", COVARIANCE, None),
        ("features", LOGISTIC, None),  # those that are kept between looks
        ("look", LOGISTIC, "200 kB"),
    ],
)
def test_a_killed_worker_changes_nothing(client, phase, settings, memory_limit):
    model, victim = CraftClassifier(**settings), next(iter(client.run(os.getpid).values()))
    parts = [delayed(slow_block)(rows, 0.05 if phase == "look" else 0.2) for rows in PARTS]
    with ThreadPoolExecutor(1) as pool:
        fitted = pool.submit(fit, model, parts, client=client, memory_limit=memory_limit)
        deadline = time.monotonic() + 600
        while client.run_on_scheduler(n_steps_done, prefix=f"craftmaps_{phase}") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not fitted.done()
        os.kill(victim, signal.SIGKILL)
        fitted.result(timeout=600)
    assert_same_model(model, CraftClassifier(**settings).fit(X, Y))
    client.wait_for_workers(2, timeout=600)
    assert victim not in client.run(os.getpid).values()


def random_block(seed):
    rows = np.random.default_rng(seed).normal(size=(500, 32))
    return rows, (rows[:, 0] * rows[:, 1] > 0).astype(int)


def messages(client):
    def sent(dask_worker):
        return [(entry["who"], entry["compressed"]) for entry in dask_worker.transfer_outgoing_log]

    return [entry for log in client.run(sent).values() for entry in log]


@pytest.fixture
def no_stealing(client):
    """Keep idle workers from taking work, and rows with it, off a busy one: on a busy machine any may be idle."""

    async def stop(dask_scheduler):
        await dask_scheduler.extensions["stealing"].stop()

    async def start(dask_scheduler):
        await dask_scheduler.extensions["stealing"].start()

    client.run_on_scheduler(stop)
    yield
    client.run_on_scheduler(start)


def wide_classifier():
    return CraftClassifier(Polynomial(2), 512, metric=None, alphas=[1e-3], cv=2, holdout_rows=200, random_state=0)


def test_one_tally_a_worker_is_moved(client, no_stealing):
    model = wide_classifier()
    client.run(lambda dask_worker: dask_worker.transfer_outgoing_log.clear())
    fit(model, [delayed(random_block)(seed) for seed in range(16)], client=client)
    sent = messages(client)
    tally, settled = (len(pickle.dumps(it)) for it in (model.tally_, wide_classifier().settle(*random_block(0))))
    between = sum(size for receiver, size in sent if receiver is not None)
    to_here = sum(size for receiver, size in sent if receiver is None)
    # Between two workers a tally and the settled estimator, and to this process a tally and the survey of one row.
    assert 0.99 * tally < between < 1.01 * (tally + settled)
    assert 0.99 * tally < to_here < 1.01 * tally + 10_000


def test_what_a_tally_weighs():
    model = wide_classifier().fit(*random_block(0))
    square, sample = 512**2 * 8, 200 * 32 * 8
    assert square + sample < sys.getsizeof(model.tally_) < 1.05 * (square + sample)
    # Half of the square travels, and an estimator that has counted nothing takes none of it along.
    assert square / 2 + sample < len(pickle.dumps(model.tally_)) < 0.6 * square + 2 * sample
    assert len(pickle.dumps(model.settle(*random_block(0)))) < square / 10


def hide_numba():
    sys.modules["numba"], sys.modules["hidden_numba"] = None, sys.modules.get("numba")


def show_numba():
    hidden = sys.modules.pop("hidden_numba")
    if hidden is None:
        del sys.modules["numba"]
    else:
        sys.modules["numba"] = hidden


def test_a_worker_without_numba(client):
    address = next(iter(client.nthreads()))
    client.run(hide_numba, workers=[address])
    try:
        with pytest.raises(RuntimeError, match=rf"Workers must have .* as here, but {address} has an error: .*numba"):
            fit(CraftClassifier(**SMALL), [delayed((X, Y))])
    finally:
        client.run(show_numba, workers=[address])


def set_version(version):
    craftmaps.__version__ = version


def test_a_worker_of_another_version(client):
    here = craftmaps.__version__
    address = next(iter(client.nthreads()))
    client.run(set_version, "9.0", workers=[address])
    try:
        with pytest.raises(RuntimeError, match=rf"Workers must have craftmaps {here} as here, but {address} has 9.0"):
            fit(CraftClassifier(**SMALL), [delayed((X, Y))])
    finally:
        client.run(set_version, here, workers=[address])


@pytest.mark.parametrize("settings", [SMALL, EXPLICIT], ids=["survey", "tally"])
def test_bad_rows_are_named(client, settings):
    rows = X.copy()
    rows[437, 2] = np.nan
    with pytest.raises(ValueError, match=r"^Partition 4, row 37: Input X contains NaN"):
        fit(CraftClassifier(**settings), da.from_array(rows, chunks=(100, -1)), da.from_array(Y))
    with pytest.raises(ValueError, match=r"^Partition 1, row 37: Input X contains NaN"):
        fit(CraftClassifier(**settings), [(X[:0], Y[:0]), (rows[400:], Y[400:])])
    y = X[:, 0].copy()
    y[891] = np.inf
    with pytest.raises(ValueError, match=r"^Partition 8, row 91: Input y contains infinity"):
        fit(craftmaps.CraftRegressor(**settings), da.from_array(X, chunks=(100, -1)), da.from_array(y))


def test_partitions_that_do_not_fit_each_other(client):
    parts = [delayed((X, Y)), delayed((X[:, :3], Y))]
    with pytest.raises(ValueError, match="the same n_features_in_, got"):
        fit(CraftClassifier(**SMALL), parts)
    with pytest.raises(ValueError, match=r"^Partition 1: X has 3 features, but CraftClassifier is expecting 6"):
        fit(CraftClassifier(**EXPLICIT), parts)
    with pytest.raises(ValueError, match=r"^Partition 0 must be \(X, y\) or \(X, y, sample_weight\), got 1 parts"):
        fit(CraftClassifier(**EXPLICIT), [delayed((X,))])
    with pytest.raises(ValueError, match=r"^Partition 0 must be .*, got ndarray"):
        fit(CraftClassifier(**EXPLICIT), [delayed(X)])


def test_bad_calls():
    rows, labels = da.from_array(X, chunks=(300, -1)), da.from_array(Y, chunks=300)
    table = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")).assign(label=Y), npartitions=3)
    model = CraftClassifier(**EXPLICIT)
    for error, words, arguments in (
        (TypeError, "X must be rows of a dask array or dataframe, or a list of blocks, got ndarray", (X, Y)),
        (ValueError, "X must have at least one partition, got none", ([],)),
        (ValueError, "y and sample_weight must be parts of the blocks", ([delayed((X, Y))], labels)),
        (ValueError, "y must have 900 rows as X, got 600", (rows, labels[:600])),
        (ValueError, "y must be a column of X or a dask series, got 'lable'", (table, "lable")),
        (ValueError, "y must be a column of X or a dask series, got None", (table,)),
        (ValueError, "y must be a column of X or a dask series, got array", (table, Y)),
        (TypeError, "X must be rows of a dask array", (rows[:, 0], labels)),
        (ValueError, "y must have the partitions of X", (table, table["label"].repartition(npartitions=2))),
    ):
        with pytest.raises(error, match=words):
            fit(model, *arguments)
    with pytest.raises(TypeError, match="cv must be an int or None to learn part by part, got list"):
        fit(CraftClassifier(**EXPLICIT | {"cv": [(np.arange(9), np.arange(9, 12))]}), rows, labels)
    with pytest.raises(ValueError, match="at least 2 classes"):
        fit(CraftClassifier(**EXPLICIT), rows, da.full(900, "ant", chunks=300))
