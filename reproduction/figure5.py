"""Figure 5: error of the reconstructed kernel against the degree, on MNIST.

Run it alone with `python -m reproduction.figure5 --seeds 3`.
"""

from collections.abc import Iterator
from typing import Any

from reproduction.cells import Cell
from reproduction.costs import Cost, Rates
from reproduction.kernel_errors import cost_of, measure_kernel_error
from reproduction.methods import PAPER_METHODS
from reproduction.running import main

NAME = "figure5"


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells; a seed is a set of rows and a map."""
    common = {key: settings[key] for key in ("dataset", "rows", "coef0", "components", "up_components")}
    for degree in settings["degrees"]:
        for seed in range(settings["seeds"]):
            for method in PAPER_METHODS:
                yield common | {"degree": degree, "method": method, "seed": seed}


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell."""
    return cost_of(cell, rates)


def measure(cell: Cell) -> dict[str, Any]:
    """Return the relative kernel error."""
    return measure_kernel_error(cell)


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
