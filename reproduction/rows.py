"""Rows of the data sets: unit length and single precision, as the paper's experiments want them."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from craftmaps import datasets
from craftmaps._rows.randomness import permutations
from craftmaps.datasets import Split

VIEWS = {"36 views": 1, "18 views": 2}


@lru_cache(maxsize=8)
def load(name: str, split: str = "customary", max_rows: int | None = None) -> Split:
    """Return a data set in single precision.

    Parameters
    ----------
    name : str
        A name of `craftmaps.datasets`.
    split : {"customary", "36 views", "18 views"}, default="customary"
        The views are for COIL100, whose split the paper does not state: each object was photographed
        every 5 degrees, and trained on are the views every 10 or every 20 degrees.
    max_rows : int, optional
        Keep so many rows for training and as many for testing, for trials.
    """
    data = datasets.load(name)
    if split != "customary":
        data = _with_views(data, split)
    X_train, y_train, X_test, y_test = data
    chosen = [slice(None) if max_rows is None else _spread(len(y), max_rows) for y in (y_train, y_test)]
    return Split(
        X_train[chosen[0]].astype(np.float32),
        np.asarray(y_train)[chosen[0]],
        X_test[chosen[1]].astype(np.float32),
        np.asarray(y_test)[chosen[1]],
    )


def sample(name: str, n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray]:
    """Return training rows drawn at random, of unit length and in double precision, and their labels."""
    data = load(name)
    chosen = permutations(seed, f"rows of {name}", 1, len(data.y_train))[0, :n_rows]
    return normalize(data.X_train[chosen].astype(np.float64)), data.y_train[chosen]


def _with_views(data: Split, split: str) -> Split:
    """Split COIL100 by views; its training rows are every tenth degree of every object, in order."""
    if split not in VIEWS:
        raise ValueError(f"split must be 'customary' or one of {', '.join(map(repr, VIEWS))}, got {split!r}.")
    keep = np.arange(len(data.y_train)) % VIEWS[split] == 0
    return Split(
        data.X_train[keep],
        data.y_train[keep],
        np.concatenate([data.X_test, data.X_train[~keep]]),
        np.concatenate([data.y_test, data.y_train[~keep]]),
    )


def _spread(n: int, wanted: int) -> NDArray[np.int64]:
    """Return positions spread evenly, so that sorted labels all stay in."""
    return np.unique(np.linspace(0, n - 1, min(wanted, n)).astype(np.int64))
