"""Table 1 without a map: the kernel itself in the same classifier, the limit that maps approach as E grows.

Only where all rows' kernel values fit in memory, which MNIST's do not. Run a part alone with
`python -m reproduction.exact --only part=e`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from reproduction.cells import Cell
from reproduction.classification import SIZES, classify_rows, kernel_of, row_space_settings
from reproduction.costs import Cost, Rates, row_space_bytes
from reproduction.rows import load
from reproduction.running import main

NAME = "exact"


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: parts of Table 1, splits, seeds, which draw the code and the folds."""
    keys = ("dataset", "degree", "coef0", "code_size", "cv", "log10_alphas", "max_rows")
    for part, own in settings["parts"].items():
        own = settings | own
        for split in own.get("splits", ["customary"]):
            for seed in range(own["seeds"]):
                yield {"part": part, "split": split, "seed": seed} | {key: own[key] for key in keys if key in own}


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell."""
    n_rows, width = SIZES[cell["dataset"], cell["split"]]
    n_rows = min(n_rows, cell.get("max_rows") or n_rows)
    low, high = cell["log10_alphas"]
    return Cost(rates.learning_in_rows(n_rows, width, cell["cv"] * (high - low + 1) + 1), row_space_bytes(n_rows))


def measure(cell: Cell) -> dict[str, Any]:
    """Return the test error in percent and the penalty chosen, in units of trace(K) / n of the centred K."""
    data = load(cell["dataset"], cell["split"], cell.get("max_rows"))
    X, X_test = (normalize(rows.astype(np.float64)) for rows in (data.X_train, data.X_test))
    kernel = kernel_of(cell)
    return classify_rows(data, kernel(X), kernel(X_test, X), len(X), **row_space_settings(cell))


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
