"""Figure 2: (a) log-scree of the exact kernel and of four maps; (b, c) histograms of learned weights.

Run it alone with `python -m reproduction.figure2 --seeds 3`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from craftmaps import Polynomial
from craftmaps.diagnostics import feature_log_scree, log_scree, weight_histogram
from reproduction.cells import Cell
from reproduction.costs import Cost, Rates
from reproduction.methods import PAPER_METHODS, make_map
from reproduction.rows import sample
from reproduction.running import main

NAME = "figure2"
EXACT = "exact"


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: the exact kernel and the four maps."""
    keys = ("dataset", "rows", "degree", "coef0", "components", "up_components", "bins")
    common = {key: settings[key] for key in keys}
    for seed in range(settings["seeds"]):
        for method in (EXACT, *PAPER_METHODS):
            yield common | {"method": method, "seed": seed}


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell: a map and a few decompositions of its features."""
    decompositions = 8 * cell["rows"] ** 2 * (cell["rows"] + cell["components"]) / rates.factors
    if cell["method"] == EXACT:
        return Cost(decompositions, 2.0**31)
    mapping = rates.mapping(cell["method"], cell["rows"], cell["components"], cell["up_components"], cell["degree"])
    return Cost(mapping + decompositions, 2.0**31)


def measure(cell: Cell) -> dict[str, Any]:
    """Return log10 of the eigenvalues, and of maps the weights that tell digits 0-4 from 5-9."""
    X, y = sample(cell["dataset"], cell["rows"], cell["seed"])
    kernel = Polynomial(degree=cell["degree"], coef0=cell["coef0"])
    if cell["method"] == EXACT:
        return {"log_scree": _plain(log_scree(kernel(X)))}
    # Algorithm 1 to the letter, without H0/1: it is the rank of that map that the figure is about.
    feature_map = make_map(cell["method"], kernel, cell["components"], cell["up_components"], False, cell["seed"])
    Z = feature_map.fit_transform(X)
    histogram = weight_histogram(Z, y >= 5, bins=cell["bins"])
    return {
        "log_scree": _plain(feature_log_scree(Z)),
        "counts": histogram.counts.tolist(),
    }


def _plain(log_eigenvalues: np.ndarray) -> list[float | None]:
    """Return numbers as JSON takes them; what is not there is None."""
    return [round(float(value), 4) if np.isfinite(value) else None for value in log_eigenvalues]


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
