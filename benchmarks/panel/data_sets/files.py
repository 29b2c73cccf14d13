"""Data sets that are read from the folder that CRAFTMAPS_DATA names."""

import os
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import scipy.sparse as sp

from benchmarks.panel.splits import Table, pooled
from craftmaps import datasets

N_LARGE = 100_000
N_LARGE_TEST = 25_000


def pendigits(seed: int) -> Table:
    return _official("pendigits")


def usps(seed: int) -> Table:
    return _official("usps")


def pendigits_pooled(seed: int) -> Table:
    """Writers of test rows are among those of training rows."""
    return pooled(pendigits(seed))


def usps_pooled(seed: int) -> Table:
    return pooled(usps(seed))


def letter(seed: int) -> Table:
    return _official("letter")


def isolet(seed: int) -> Table:
    """Test speakers are not among the training speakers, and those of development are kept apart in the same way.

    Rows are ordered by 30 speakers, letter, speaker, and take of two; two rows are missing.
    """
    table = _official("isolet")
    is_start = np.diff(table.y, prepend=-1) != 0
    run = np.cumsum(is_start) - 1
    place = np.arange(table.y.size) - np.flatnonzero(is_start)[run]
    return table._replace(groups=run // 26 * 30 + place // 2)


def mnist(seed: int) -> Table:
    table = _official("mnist")
    return table._replace(X=table.X.astype(np.float32))


def a9a(seed: int) -> Table:
    """Sparse rows of 123 columns."""
    return _official("a9a")


def covtype(seed: int) -> Table:
    """100,000 training rows, drawn by seed."""
    parts = datasets.load("covtype")
    X, y = np.vstack([parts.X_train, parts.X_test]), np.concatenate([parts.y_train, parts.y_test])
    return Table(X, y, max_train=N_LARGE, max_test=N_LARGE_TEST)


def cifar10_features(seed: int) -> Table:
    """Features of pictures, in single precision."""
    with np.load(_folder("cifar10_features") / "cifar10_features.npz") as file:
        X = np.vstack([file["X_train"], file["X_test"]]).astype(np.float32) * file["scale"].astype(np.float32)
        return Table(X, np.concatenate([file["y_train"], file["y_test"]]), file["y_train"].size)


def flights(seed: int) -> Table:
    """Delay on arrival in minutes, from what is known at departure; 100,000 training rows, drawn by seed.

    Times of day are hours, dates are a day of the year and of the week, carrier and airports are numbers in
    alphabetical order. Flights without a delay on arrival (cancelled or diverted) are left out.
    """
    import pandas as pd

    with ZipFile(_folder("flights") / "flights.csv.zip") as archive, archive.open(archive.namelist()[0]) as file:
        frame = pd.read_csv(file)
    frame = frame[frame["arr_delay"].notna()]
    date = pd.to_datetime(frame[["year", "month", "day"]])
    columns = {
        "month": frame["month"],
        "day_of_year": date.dt.dayofyear,
        "day_of_week": date.dt.dayofweek,
        "sched_dep_hour": _hours(frame["sched_dep_time"]),
        "dep_hour": _hours(frame["dep_time"]),
        "dep_delay": frame["dep_delay"],
        "sched_arr_hour": _hours(frame["sched_arr_time"]),
        "distance": frame["distance"],
        "flight": frame["flight"],
        "carrier": frame["carrier"].astype("category").cat.codes,
        "origin": frame["origin"].astype("category").cat.codes,
        "dest": frame["dest"].astype("category").cat.codes,
    }
    X = np.column_stack([np.asarray(column, float) for column in columns.values()])
    return Table(X, frame["arr_delay"].to_numpy(float), max_train=N_LARGE, max_test=N_LARGE_TEST)


def _hours(times):
    """Convert 1745 to 17.75."""
    return times // 100 + times % 100 / 60


def _official(name: str) -> Table:
    """Return a data set with its given split, labels as numbers."""
    parts = datasets.load(name)
    stack = sp.vstack if sp.issparse(parts.X_train) else np.vstack
    X = stack([parts.X_train, parts.X_test])
    labels = np.unique(np.concatenate([parts.y_train, parts.y_test]), return_inverse=True)[1]
    return Table(sp.csr_matrix(X) if sp.issparse(X) else X, labels, parts.y_train.size)


def _folder(name: str) -> Path:
    """Return the folder of a data set."""
    return Path(os.environ["CRAFTMAPS_DATA"]) / name
