"""Table 1: test errors on MNIST (a, b), USPS (c), COIL100 (d) and PENDIGITS (e), and the library's own beside them.

Run a part alone with `python -m reproduction.table1 --only part=e --seeds 3`.
"""

from collections.abc import Iterator
from typing import Any

from reproduction.cells import Cell
from reproduction.classification import cell_of, cost_of, measure_error
from reproduction.costs import Cost, Rates
from reproduction.methods import METHODS
from reproduction.rows import load
from reproduction.running import main

NAME = "table1"
PARTS = "abcde"


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: parts, splits, widths, methods, seeds."""
    for part in PARTS:
        own = {key: value for key, value in settings.items() if key not in PARTS} | settings[part]
        for split in own.pop("splits", ["customary"]):
            for components in own["components"]:
                for method in METHODS:
                    for seed in range(own["seeds"]):
                        yield {"part": part, **cell_of(own | {"split": split}, method, components, seed)}


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell."""
    return cost_of(cell, rates)


def measure(cell: Cell) -> dict[str, Any]:
    """Return the test error in percent, the kernel error of the map, and the penalty chosen."""
    return measure_error(cell, load(cell["dataset"], cell["split"], cell.get("max_rows")))


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
