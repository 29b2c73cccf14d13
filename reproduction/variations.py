"""Cells of Table 1 with one thing changed: what explains a difference from the paper, and what does not.

Run one alone with `python -m reproduction.variations --only part=e`.
"""

from collections.abc import Iterator
from typing import Any

from craftmaps.datasets import Split
from reproduction.cells import Cell
from reproduction.classification import cell_of, cost_of, measure_error
from reproduction.costs import Cost, Rates
from reproduction.methods import OURS
from reproduction.rows import load
from reproduction.running import main, settings_of

NAME = "variations"


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: those of Table 1 that are named, each with its change."""
    parts = settings_of("table1")
    common = {key: value for key, value in parts.items() if not isinstance(value, dict)}
    common |= {key: settings[key] for key in ("max_rows",) if key in settings}
    for varied in settings["cells"]:
        own = common | parts[varied["part"]]
        split = own.pop("splits", ["customary"])[0]
        for components in varied["components"]:
            for method in varied["methods"]:
                for seed in range(varied.get("seeds", settings["seeds"])):
                    cell = cell_of(own | {"split": split}, method, components, seed)
                    cell |= {"part": varied["part"], "change": varied["change"]}
                    yield cell | varied["set"] | _up_components(cell, varied)


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell."""
    return cost_of(cell, rates)


def measure(cell: Cell) -> dict[str, Any]:
    """Return what Table 1 would have for the changed cell."""
    data = load(cell["dataset"], cell["split"], cell.get("max_rows"))
    if "pixels" in cell:
        data = _with_pixels(data, *cell["pixels"])
    return measure_error(cell, data)


def _up_components(cell: Cell, varied: dict[str, Any]) -> Cell:
    """Return D, where its ratio to E is what is changed."""
    factor = varied.get("up_factor")
    return {} if factor is None or cell["method"] == OURS else {"up_components": factor * cell["components"]}


def _with_pixels(data: Split, low: float, high: float) -> Split:
    """Bring the range of all numbers to another one, the same for all columns."""
    first, last = data.X_train.min(), data.X_train.max()
    X_train, X_test = (low + (high - low) * (X - first) / (last - first) for X in (data.X_train, data.X_test))
    return data._replace(X_train=X_train.astype("float32"), X_test=X_test.astype("float32"))


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
