"""Named data sets, for examples, benchmarks and the reproduction of the paper.

`load` reads the original files of a data set (docs/reference/datasets.rst lists them) from the folder that the
environment variable `CRAFTMAPS_DATA` names. digits comes with scikit-learn. The other data sets, except a9a and
coil100, are fetched by scikit-learn's `fetch_openml` if the folder lacks them, and cached in a folder of the user.
"""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_digits, load_svmlight_file


class Split(NamedTuple):
    """Rows and labels for training and testing."""

    X_train: NDArray
    y_train: NDArray
    X_test: NDArray
    y_test: NDArray


class DataNotFound(FileNotFoundError):  # noqa: N818 - named like FileNotFoundError
    """A data set is neither in the folder of data sets nor available from OpenML."""


def load(name: str) -> Split:
    """Return a data set by name, with its customary split.

    Parameters
    ----------
    name : str
        One of `names()`.

    Examples
    --------
    >>> load("digits").X_train.shape
    (1438, 64)
    """
    if name not in _READERS:
        raise ValueError(f"name must be one of {', '.join(names())}, got {name!r}.")
    if name == "digits":
        return _digits()
    folder = os.environ.get("CRAFTMAPS_DATA")
    if folder and (Path(folder) / name).is_dir():
        return _READERS[name](Path(folder) / name)
    return _from_openml(name)


def names() -> list[str]:
    """Return the names of all data sets."""
    return sorted(_READERS)


def found(name: str) -> bool:
    """Tell whether a data set can be loaded without network access."""
    folder = os.environ.get("CRAFTMAPS_DATA")
    return name == "digits" or bool(folder and (Path(folder) / name).is_dir())


def _digits() -> Split:
    """8 x 8 digits of scikit-learn; every fifth row is a test row."""
    X, y = load_digits(return_X_y=True)
    test = np.arange(y.size) % 5 == 4
    return Split(X[~test], y[~test], X[test], y[test])


def _mnist(folder: Path) -> Split:
    """Handwritten digits in IDX files."""

    def read(file: str, header: int) -> NDArray[np.uint8]:
        with gzip.open(folder / file) as stream:
            return np.frombuffer(stream.read(), np.uint8, offset=header)

    parts = []
    for part in ("train", "t10k"):
        parts.append(read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784))
        parts.append(read(f"{part}-labels-idx1-ubyte.gz", 8))
    return Split(*parts)


def _usps(folder: Path) -> Split:
    """Handwritten digits as text, the label first."""
    train, test = (np.loadtxt(folder / f"zip.{part}.gz") for part in ("train", "test"))
    return Split(train[:, 1:], train[:, 0].astype(int), test[:, 1:], test[:, 0].astype(int))


def _pendigits(folder: Path) -> Split:
    """Pen trajectories of digits, the label last."""
    train, test = (np.loadtxt(folder / f"pendigits.{part}", delimiter=",") for part in ("tra", "tes"))
    return Split(train[:, :-1], train[:, -1].astype(int), test[:, :-1], test[:, -1].astype(int))


def _letter(folder: Path) -> Split:
    """Printed letters; the first 16,000 rows are training rows."""
    table = np.loadtxt(folder / "letter-recognition.data", delimiter=",", dtype=str)
    X, y = table[:, 1:].astype(float), table[:, 0]
    return Split(X[:16000], y[:16000], X[16000:], y[16000:])


def _isolet(folder: Path) -> Split:
    """Spoken letters; the fifth group of speakers is the test set."""
    train, test = (np.loadtxt(folder / f"isolet{part}.data.gz", delimiter=",") for part in ("1+2+3+4", "5"))
    return Split(train[:, :-1], train[:, -1].astype(int), test[:, :-1], test[:, -1].astype(int))


def _covtype(folder: Path) -> Split:
    """Forest cover types; every fifth row is a test row."""
    table = np.loadtxt(folder / "covtype.data.gz", delimiter=",", dtype=np.float32)
    test = np.arange(table.shape[0]) % 5 == 4
    X, y = table[:, :-1], table[:, -1].astype(int)
    return Split(X[~test], y[~test], X[test], y[test])


def _coil100(folder: Path) -> Split:
    """Objects on a turntable; every second view (0, 10, ... degrees) is a training row."""
    with np.load(folder / "coil100_32x32_gray.npz") as file:
        X, y, train = file["X"].reshape(-1, 1024), file["y"], file["angle"] % 10 == 0
    return Split(X[train], y[train], X[~train], y[~train])


def _a9a(folder: Path) -> Split:
    """Sparse census rows of two classes."""
    X_train, y_train = load_svmlight_file(str(folder / "a9a"), n_features=123)
    X_test, y_test = load_svmlight_file(str(folder / "a9a.t"), n_features=123)
    return Split(X_train, y_train.astype(int), X_test, y_test.astype(int))


_READERS: dict[str, Callable[[Path], Split]] = {
    "a9a": _a9a,
    "coil100": _coil100,
    "covtype": _covtype,
    "digits": lambda folder: _digits(),
    "isolet": _isolet,
    "letter": _letter,
    "mnist": _mnist,
    "pendigits": _pendigits,
    "usps": _usps,
}

# Number on OpenML, and how many of the rows there are training rows; None: every fifth row is a test row.
_OPENML = {
    "covtype": (1596, None),
    "isolet": (300, 6238),
    "letter": (6, 16000),
    "mnist": (554, 60000),
    "pendigits": (32, 7494),
    "usps": (41082, 7291),
}


def _from_openml(name: str) -> Split:
    """Fetch a data set from OpenML by its number."""
    if name not in _OPENML:
        raise DataNotFound(f"{name} must be in the folder {name} below CRAFTMAPS_DATA: it is not fetched.")
    number, n_train = _OPENML[name]
    try:
        X, y = fetch_openml(data_id=number, as_frame=False, return_X_y=True, parser="auto")
    except OSError as error:
        raise DataNotFound(
            f"{name} is not below CRAFTMAPS_DATA ({os.environ.get('CRAFTMAPS_DATA', 'not set')}) "
            f"and could not be fetched: {error}"
        ) from None
    y = _as_in_files(y)
    test = np.arange(y.size) % 5 == 4 if n_train is None else np.arange(y.size) >= n_train
    return Split(X[~test], y[~test], X[test], y[test])


def _as_in_files(labels: NDArray) -> NDArray:
    """Convert labels, which OpenML returns as strings, to the whole numbers of the original files, if they are."""
    try:
        return labels.astype(float).astype(int)
    except ValueError:
        return labels.astype(str)
