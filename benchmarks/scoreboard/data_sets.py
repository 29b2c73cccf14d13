"""Data sets of the scoreboard: those of the panel, all rows of covtype, and a generated stream."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.panel.data_sets import DATA_SETS as PANEL
from benchmarks.panel.data_sets import DataSet, files
from benchmarks.panel.splits import Table

N_COVTYPE_TEST = 50_000
N_STREAM_TEST = 100_000
STREAM_COLUMNS = 10
BLOCK_ROWS = 100_000
MEDIAN_TARGET = 14.4


def covtype(seed: int) -> Table:
    """All rows but the third that test rows are drawn from."""
    return files.covtype(seed)._replace(max_train=None, max_test=N_COVTYPE_TEST)


def stream(n_rows: int, seed: int) -> Table:
    """Tell whether Friedman's first function of ten uniform columns, with noise of deviation 1, is above its median.

    Shorter streams are the beginning of longer ones; the test rows come first, so they are the same for all lengths.
    """
    X = np.empty((n_rows + N_STREAM_TEST, STREAM_COLUMNS), np.float32)
    y = np.empty(len(X), np.int64)
    for number, start in enumerate(range(0, len(X), BLOCK_ROWS)):
        place = slice(start, start + BLOCK_ROWS)
        X[place], y[place] = _block(number, seed, len(X[place]))
    X, y = (np.concatenate([rows[N_STREAM_TEST:], rows[:N_STREAM_TEST]]) for rows in (X, y))
    return Table(X, y, n_official=n_rows)


def _block(number: int, seed: int, n_rows: int) -> tuple[Any, Any]:
    """Return a block of the stream, or its beginning."""
    rng = np.random.default_rng([seed, 5, number])
    X = rng.random((BLOCK_ROWS, STREAM_COLUMNS), dtype=np.float32)
    target = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    target += rng.standard_normal(BLOCK_ROWS, dtype=np.float32)
    return X[:n_rows], (target > MEDIAN_TARGET)[:n_rows]


STREAMS = {f"stream_1e{power}": 10**power for power in (4, 5, 6, 7)}
DATA_SETS = (
    {name: PANEL[name] for name in ("mnist", "letter", "isolet", "a9a", "cifar10_features")}
    | {"covtype": DataSet(covtype, folder="covtype")}
    | {name: DataSet(partial(stream, n_rows)) for name, n_rows in STREAMS.items()}
)
