"""Figure 5: error of the reconstructed kernel against the degree, on MNIST.

Run it alone with `python -m reproduction.figure5 --seeds 3`.
"""

from collections.abc import Iterator
from typing import Any

from reproduction import kernel_errors
from reproduction.cells import Cell
from reproduction.methods import PAPER_METHODS
from reproduction.running import main

NAME = "figure5"
cost = kernel_errors.cost_of
measure = kernel_errors.measure_kernel_error


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells; a seed is a set of rows and a map."""
    common = {key: settings[key] for key in ("dataset", "rows", "coef0", "components", "up_components")}
    for degree in settings["degrees"]:
        for seed in range(settings["seeds"]):
            for method in PAPER_METHODS:
                yield common | {"degree": degree, "method": method, "seed": seed}


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
