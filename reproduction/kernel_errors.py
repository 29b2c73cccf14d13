"""Kernel errors of the maps as in Figures 4 and 5: random rows, the exact kernel, a map, their difference."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps import Polynomial
from craftmaps.diagnostics import kernel_error
from reproduction.cells import Cell
from reproduction.costs import Cost, Rates
from reproduction.methods import make_map
from reproduction.rows import sample


def measure_kernel_error(cell: Cell) -> dict[str, Any]:
    """Return the relative error |ZZ' - K| / |K| of a map, and of its up-map alone, on rows of its own seed."""
    X, K = _rows_and_kernel(cell["dataset"], cell["rows"], cell["seed"], cell["degree"], cell["coef0"])
    kernel = Polynomial(degree=cell["degree"], coef0=cell["coef0"])
    sizes = cell["components"], cell["up_components"]
    # Algorithm 1 to the letter: the paper mentions H0/1 with classifiers only.
    feature_map = make_map(cell["method"], kernel, *sizes, False, cell["seed"])
    X32 = X.astype(np.float32)
    values = {"kernel_error": rounded_error(feature_map.fit_transform(X32), K)}
    if cell["method"].startswith("CM"):
        values["up_kernel_error"] = rounded_error(feature_map.up_.transform(X32), K)
    return values


def rounded_error(Z: NDArray, K: NDArray) -> float:
    """Return the relative error without the digits that depend on how many threads add up."""
    return round(kernel_error(Z, K), 6)


def cost_of(cell: Cell, rates: Rates) -> Cost:
    """Return what a cell will cost."""
    mapping = rates.mapping(cell["method"], cell["rows"], cell["components"], cell["up_components"], cell["degree"])
    products = 4 * cell["rows"] ** 2 * cell["components"] / rates.products
    if cell["method"].startswith("CM"):
        mapping, products = 2 * mapping, products * (1 + cell["up_components"] / cell["components"])
    return Cost(mapping + products + 0.1, 2.0**31)


@lru_cache(maxsize=4)
def _rows_and_kernel(name: str, n_rows: int, seed: int, degree: int, coef0: float) -> tuple[NDArray, NDArray]:
    """Return rows and their exact kernel matrix."""
    X, _ = sample(name, n_rows, seed)
    return X, Polynomial(degree=degree, coef0=coef0)(X)
