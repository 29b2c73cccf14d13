"""Figure 6: test error against the number of training rows, up to millions of deformed digits.

Every point of a curve is solved from a sum of tallies, each of 100,000 rows, or of fewer where a point comes first. No
row is mapped twice. The 10,000 test digits are never deformed and never trained on. The sum is written to `state/`
beside the results after each tally. An interrupted run resumes from that file, which is removed when the next curve
begins. Run a curve alone with `python -m reproduction.figure6 --only components=4096 "method=CM RFM"`.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from craftmaps import datasets, load_model
from craftmaps._rows.randomness import child_seed
from craftmaps.learners.counting import Counting
from reproduction.cells import Cell
from reproduction.classification import OUR_SOLUTIONS, alphas_of, chosen_alpha, classifier, ours_of, selection_at
from reproduction.costs import Cost, Rates, learning_bytes
from reproduction.infinite_digits import SIDE, InfiniteDigits
from reproduction.methods import OURS
from reproduction.mnist8m import Mnist8m
from reproduction.rows import load
from reproduction.running import main

NAME = "figure6"
IN_ORDER = True  # a cell goes on from the one before it
BLOCK_ROWS = 10_000
TALLY_ROWS = 100_000
N_DIGITS = 60_000
INFINITE = "infinite digits"
_KEYS = ("source", "degree", "coef0", "code_size", "cv", "log10_alphas")


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: widths, methods, seeds, and along each pass the numbers of rows."""
    for components in settings["components"]:
        own = settings | selection_at(components, settings)
        for method in settings["methods"]:
            keys = ("source",) if method == OURS else _KEYS
            common = {key: own[key] for key in keys} | {"method": method, "components": components}
            if method == OURS:
                common |= ours_of(settings)
            else:
                common["up_components"] = settings["up_factor"] * components
            for seed in range(settings["seeds"]):
                for n_rows in settings["rows"]:
                    if n_rows <= settings["max_rows_at"].get(str(components), n_rows):
                        yield common | {"seed": seed, "rows": n_rows}


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell: the numbers of rows double, so half of them are new."""
    n_rows = cell["rows"] if cell["rows"] <= N_DIGITS else cell["rows"] // 2
    method, components = cell["method"], cell["components"]
    mapping = rates.mapping(method, n_rows + 10_000, components, 8 * components, cell.get("degree", 7))
    n_solutions = OUR_SOLUTIONS if method == OURS else cell["cv"] * len(alphas_of(cell)) + 1
    return Cost(mapping + rates.learning(n_rows, components, n_solutions), learning_bytes(components))


def measure(cell: Cell, state: Path) -> dict[str, Any]:
    """Return the test error in percent after so many rows, and the penalty chosen; the sum is kept in a folder."""
    curve = Curve.of(cell, state)
    curve.advance(cell["rows"])
    model = curve.model.finish(curve.total)
    test = load("mnist")
    error = 100.0 * (1.0 - model.score(test.X_test, test.y_test))
    return {"error": round(error, 4), "alpha": chosen_alpha(model)}


class Curve:
    """A settled classifier and the sum of the tallies of a stream of rows, which is on disk too."""

    _last: "tuple[tuple[Cell, Path], Curve] | None" = None

    def __init__(self, key: Cell, state: Path):
        name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
        self.path = state / f"{name}.tally"
        source = _source(key)
        if self.path.exists():
            self.model = load_model(self.path)
        else:
            self.model = classifier(key, SIDE**2)
            n_first = self.model.settle_rows
            self.model.settle(*next(source.blocks(0, n_first, n_first)))
        self.total = self.model.tally_
        self._blocks = source.blocks(self.total.n_rows, sys.maxsize, BLOCK_ROWS)

    @classmethod
    def of(cls, cell: Cell, state: Path) -> "Curve":
        """Return the curve that a cell belongs to, at or before its number of rows."""
        key = {name: value for name, value in cell.items() if name != "rows"}, state
        if cls._last is None or cls._last[0] != key:
            if cls._last is not None:
                cls._last[1].path.unlink(missing_ok=True)  # its cells are finished
            cls._last = None  # the tally of another curve may need all memory there is
            cls._last = (key, cls(*key))
        if cls._last[1].total.n_rows > cell["rows"]:
            cls._last[1].path.unlink(missing_ok=True)
            cls._last = (key, cls(*key))
        return cls._last[1]

    def advance(self, n_rows: int) -> None:
        """Add tallies until the sum has so many rows."""
        if n_rows % BLOCK_ROWS:
            raise ValueError(f"rows must be a multiple of {BLOCK_ROWS}, got {n_rows}.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while (n_left := n_rows - self.total.n_rows) > 0:
            blocks = islice(self._blocks, min(n_left, TALLY_ROWS) // BLOCK_ROWS)
            # A row above the theta of the sum would not be in its held-out sample: there is no need to keep it.
            theta = self.total.held_out.theta  # type: ignore[union-attr]
            tally = Counting(self.model, theta).tally_of(blocks, "training rows")
            tally += self.total  # in place: nobody else holds the new tally
            self.total = tally
            self.total.save(self.path)


def _source(key: Cell) -> Any:
    """Return the rows of a curve: an object with `blocks(start, stop, block_rows)`."""
    if key["source"] != INFINITE:
        return Mnist8m()
    digits = datasets.load("mnist")
    # Each seed has deformations of its own, beside a map of its own.
    return InfiniteDigits(digits.X_train, digits.y_train, seed=child_seed(key["seed"], "infinite digits"))


if __name__ == "__main__":
    main(sys.modules[__name__])
