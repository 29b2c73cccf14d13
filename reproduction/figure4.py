"""Figure 4: error of the reconstructed kernel against E, four maps on six data sets.

Run it alone with `python -m reproduction.figure4 --only dataset=usps --seeds 3`.
"""

from collections.abc import Iterator
from typing import Any

from reproduction.cells import Cell
from reproduction.costs import Cost, Rates
from reproduction.kernel_errors import cost_of, measure_kernel_error
from reproduction.methods import PAPER_METHODS
from reproduction.running import main

NAME = "figure4"


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells; a seed is a fold: its own rows and its own map."""
    common = {key: settings[key] for key in ("rows", "degree", "coef0")}
    for dataset in settings["datasets"]:
        for components in settings["components"]:
            for seed in range(settings["seeds"]):
                for method in PAPER_METHODS:
                    yield common | {
                        "dataset": dataset,
                        "method": method,
                        "components": components,
                        "up_components": 2 * max(settings["components"]),
                        "seed": seed,
                    }


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell."""
    return cost_of(cell, rates)


def measure(cell: Cell) -> dict[str, Any]:
    """Return the relative kernel error."""
    return measure_kernel_error(cell)


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
