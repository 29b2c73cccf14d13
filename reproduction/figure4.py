"""Figure 4: error of the reconstructed kernel against E, four maps on six data sets.

Run it alone with `python -m reproduction.figure4 --only dataset=usps --seeds 3`.
"""

from collections.abc import Iterator
from typing import Any

from reproduction import kernel_errors
from reproduction.cells import Cell
from reproduction.methods import PAPER_METHODS
from reproduction.running import main

NAME = "figure4"
cost = kernel_errors.cost_of
measure = kernel_errors.measure_kernel_error


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


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
