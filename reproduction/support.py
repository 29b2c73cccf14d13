"""What training rows support: many exact kernels, compared on left-out training rows, and their test errors.

For parts c and e of Table 1. A candidate is a way to shape rows and a degree; it is solved on all training rows without
a random map. Its score is that of every training row left out once; test rows are looked at once and choose nothing.
With training and test rows pooled and split again at random, test rows are like training rows: the "pooled" split.
Run a part alone with `python -m reproduction.support --only part=e`.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from craftmaps._rows.randomness import permutations
from craftmaps.datasets import Split
from craftmaps.learners.search.shapings import Shaping
from craftmaps.shaping.row_shaping import RowShaping
from reproduction import left_out_ridge
from reproduction.cells import Cell
from reproduction.classification import SIZES, kernel_of
from reproduction.costs import Cost, Rates, row_space_bytes
from reproduction.rows import load
from reproduction.running import main

NAME = "support"
POOLED = "pooled"
CANDIDATE = ("columns", "axes", "length", "degree")  # what tells a candidate from another
N_GROUPS = 100  # of left-out rows: from their sums of losses standard errors of differences follow
_COMMON = ("coef0", "alpha_rows", "log10_alphas", "max_rows")
_DIGITS = 6  # of what is written
Rows = NDArray[np.floating]


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: candidates on the given split, then some of them with given penalties and on pooled rows."""
    common = {key: settings[key] for key in _COMMON if key in settings}
    for part, own in settings["parts"].items():
        place = {"part": part, "dataset": own["dataset"]}
        for group in [*settings["candidates"], *own["candidates"]]:
            for candidate in _candidates(group):
                yield place | {"split": "customary", "seed": 0} | candidate | common
        for group in own.get("penalties", []):
            for candidate, power in product(_candidates(group), group["log10_alphas"]):
                given = candidate | common | {"log10_alphas": [power, power]}
                yield place | {"split": "customary", "seed": 0} | given
        for group in own["pooled"]:
            for candidate in _candidates(group):
                for seed in range(settings["seeds"]):
                    yield place | {"split": POOLED, "seed": seed} | candidate | common


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell: a Cholesky factor is one solution, its inverse two."""
    n_rows, width = SIZES[cell["dataset"], "customary"]
    n_rows = min(n_rows, cell.get("max_rows") or n_rows)
    n_solutions = 7 if looks_at_labels(cell) else 3
    return Cost(rates.learning_in_rows(n_rows, width, n_solutions), row_space_bytes(n_rows))


def measure(cell: Cell) -> dict[str, Any]:
    """Return errors in percent and mean squared losses of left-out training rows and of test rows.

    Squared losses are of indicators of the classes, means over rows and classes. A metric that looks at labels is
    fitted to one half of the training rows, and the scores are those of the other half, rows left out one by one; then
    the halves change places. For test rows it is fitted to all training rows.
    """
    data = _data(cell["dataset"], cell["split"], cell["seed"], cell.get("max_rows"))
    n_rows = len(data.y_train)
    classes, labels = np.unique(data.y_train, return_inverse=True)
    targets, kernel = np.eye(classes.size)[labels], kernel_of(cell)
    order = permutations(cell["seed"], "rows of support", 1, n_rows)[0]
    views = [
        _View(*_shaped(cell, data, targets, known), scored)
        for known, scored in (_halves(order) if looks_at_labels(cell) else [(order, order)])
    ]
    alpha = _alpha(cell, views, targets)
    left_out = np.empty_like(targets)
    for view in views:
        ridge = left_out_ridge.fit(kernel(view.X_train), targets, alpha, leave_out=True)
        left_out[view.scored] = ridge.left_out[view.scored]
    if looks_at_labels(cell):
        view = _View(*_shaped(cell, data, targets, order), order)
        ridge = left_out_ridge.fit(kernel(view.X_train), targets, alpha, leave_out=False)
    outputs = ridge.outputs(kernel(view.X_test, view.X_train))
    test_targets = np.eye(classes.size)[np.searchsorted(classes, data.y_test)]
    wrong, losses = _judged(left_out, targets)
    test_wrong, test_losses = _judged(outputs, test_targets)
    return {
        "alpha": alpha,
        "left_out_error": _rounded(100 * wrong.mean()),
        "left_out_loss": _rounded(losses.mean()),
        "left_out_wrong": np.flatnonzero(wrong).tolist(),
        "left_out_losses": [_rounded(losses[group].mean()) for group in np.array_split(order, N_GROUPS)],
        "error": _rounded(100 * test_wrong.mean()),
        "loss": _rounded(test_losses.mean()),
    }


def has_given_penalty(cell: Cell) -> bool:
    """Tell whether the penalty of a cell is given and not chosen."""
    low, high = cell["log10_alphas"]
    return low == high


def looks_at_labels(cell: Cell) -> bool:
    """Tell whether the axes of a candidate are found with the help of labels."""
    return cell["axes"].startswith("gradient")


class _View(NamedTuple):
    """Shaped training and test rows, and the training rows that may be scored in this shape."""

    X_train: Rows
    X_test: Rows
    scored: NDArray[np.int64]


def _candidates(group: dict[str, Any]) -> Iterator[Cell]:
    """Yield all combinations of a group of the configuration."""
    for values in product(group["columns"], group["axes"], group["lengths"], group["degrees"]):
        yield dict(zip(CANDIDATE, values, strict=True))


@lru_cache(maxsize=2)
def _data(dataset: str, split: str, seed: int, max_rows: int | None) -> Split:
    """Return a data set as it is split, or with training and test rows pooled and split at random, sizes kept."""
    data = load(dataset, max_rows=max_rows)
    if split != POOLED:
        return data
    X, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    order = permutations(seed, "pooled rows", 1, len(y))[0]
    train, test = np.split(order, [len(data.y_train)])
    return Split(X[train], y[train], X[test], y[test])


def _halves(order: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows that a metric knows and those that are scored, each half once."""
    one, other = np.array_split(order, 2)
    return [(one, other), (other, one)]


def _shaped(cell: Cell, data: Split, targets: NDArray[np.float64], known: NDArray[np.int64]) -> tuple[Rows, Rows]:
    """Return training and test rows in the shape that is learned from the known training rows, as the library does."""
    X_train, X_test = (X.astype(np.float64) for X in (data.X_train, data.X_test))
    known = np.sort(known)
    axes, _, number = cell["axes"].partition(" ")
    shaping = Shaping(
        None if cell["columns"] == "none" else cell["columns"],
        None if axes == "none" else axes,
        float(number) if axes == "covariance" else 1.0,
        unit_gradient=cell["length"] == "unit",
    )
    steps = [shaping.column_transformer(), shaping.metric(int(number) if axes == "gradient" else None)]
    steps = [step for step in steps if step is not None]
    way = RowShaping(make_pipeline(*steps) if steps else None, True if cell["length"] == "unit" else "common")
    features = way.fitted(X_train[known], way.fitted_metric(X_train[known], targets[known]))
    return features.shape_rows(X_train), features.shape_rows(X_test)


def _alpha(cell: Cell, views: list[_View], targets: Rows) -> float:
    """Return the penalty with the least squared loss of some training rows, each left out from all others of them."""
    low, high = cell["log10_alphas"]
    alphas = [10 ** (half / 2) for half in range(round(2 * low), round(2 * high) + 1)]
    kernel, losses = kernel_of(cell), np.zeros(len(alphas))
    for view in views:
        rows = view.scored[: cell["alpha_rows"]]
        losses += left_out_ridge.squared_losses(kernel(view.X_train[rows]), targets[rows], alphas)
    return alphas[int(np.argmin(losses))]


def _judged(outputs: Rows, targets: Rows) -> tuple[NDArray[np.bool_], Rows]:
    """Return which rows are wrong, and the mean squared loss of each."""
    return outputs.argmax(axis=1) != targets.argmax(axis=1), np.square(outputs - targets).mean(axis=1)


def _rounded(value: float) -> float:
    """Return a number with few digits."""
    return float(f"{value:.{_DIGITS}g}")


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
