"""Figure 6: test error against the number of training rows, up to millions of deformed digits.

The errors along a curve come from one pass: at each number of rows the classifier is solved, and goes on. The
10,000 test digits are never deformed and never trained on. A pass that was interrupted goes on from
its last checkpoint in `state/` beside the results, which is removed when the next pass begins. Run a curve alone
with `python -m reproduction.figure6 --only components=4096 "method=CM RFM"`.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from craftmaps import datasets
from craftmaps._rows.randomness import child_seed
from craftmaps.learners.persistence import checkpoint
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
CHECKPOINT_ROWS = 500_000
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
    """Return the test error in percent after so many rows, and the penalty chosen; checkpoints go to a folder."""
    training = Pass.of(cell, state)
    training.advance(cell["rows"])
    training.model.finish()
    test = load("mnist")
    error = 100.0 * (1.0 - training.model.score(test.X_test, test.y_test))
    return {"error": round(error, 4), "alpha": chosen_alpha(training.model)}


class Pass:
    """A classifier that is learning from a stream of rows, with a checkpoint on disk."""

    _last: "tuple[tuple[Cell, Path], Pass] | None" = None

    def __init__(self, key: Cell, state: Path):
        self.model = classifier(key, SIDE**2)
        name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
        self.path = state / f"{name}.checkpoint"
        self.position = 0
        if self.path.exists():
            self.model, self.position = checkpoint.read(self.path, self.model)
        if key["source"] == INFINITE:
            digits = datasets.load("mnist")
            # Each seed has deformations of its own, beside a map of its own.
            source: Any = InfiniteDigits(
                digits.X_train, digits.y_train, seed=child_seed(key["seed"], "infinite digits")
            )
        else:
            source = Mnist8m()
        self._blocks = source.blocks(self.position * BLOCK_ROWS, sys.maxsize, BLOCK_ROWS)
        self._written = self.position

    @classmethod
    def of(cls, cell: Cell, state: Path) -> "Pass":
        """Return the pass that a cell belongs to, at or before its number of rows."""
        key = {name: value for name, value in cell.items() if name != "rows"}, state
        if cls._last is None or cls._last[0] != key:
            if cls._last is not None:
                cls._last[1].path.unlink(missing_ok=True)  # its cells are finished
            cls._last = None  # the statistic of another pass may need all memory there is
            cls._last = (key, cls(*key))
        if cls._last[1].position * BLOCK_ROWS > cell["rows"]:
            cls._last[1].path.unlink(missing_ok=True)
            cls._last = (key, cls(*key))
        return cls._last[1]

    def advance(self, n_rows: int) -> None:
        """Learn from the stream until so many rows have been seen."""
        if n_rows % BLOCK_ROWS:
            raise ValueError(f"rows must be a multiple of {BLOCK_ROWS}, got {n_rows}.")
        while self.position * BLOCK_ROWS < n_rows:
            self.model.partial_fit(*next(self._blocks))
            self.position += 1
            if (self.position - self._written) * BLOCK_ROWS >= CHECKPOINT_ROWS:
                self._keep()
        if self.position > self._written:
            self._keep()

    def _keep(self) -> None:
        """Write a checkpoint."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.write(self.path, self.model, self.position)
        self._written = self.position


if __name__ == "__main__":
    main(sys.modules[__name__])
