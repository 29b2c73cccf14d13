"""Figure 7: seconds of projection and Hessian against the test error, on MNIST.

Run it alone with `python -m reproduction.figure7 --seeds 3`, on a machine that does nothing else: time is measured.
"""

from collections.abc import Iterator
from typing import Any

from craftmaps._system.progress import Phase, PhaseClock, heard_by
from reproduction.cells import Cell
from reproduction.classification import cell_of, chosen_alpha, classifier, cost_of
from reproduction.costs import Cost, Rates
from reproduction.rows import load
from reproduction.running import main

NAME = "figure7"
BLOCK_ROWS = 10_000
_TIMED_AS = {
    Phase.CHOICES: "choices",
    Phase.METRIC: "choices",
    Phase.MAP: "pass",
    Phase.PENALTY: "finish",
    Phase.SOLUTION: "finish",
}


def cells(settings: dict[str, Any]) -> Iterator[Cell]:
    """Yield all cells: widths, methods, seeds."""
    for components in settings["components"]:
        for method in settings["methods"]:
            for seed in range(settings["seeds"]):
                yield cell_of(settings, method, components, seed)


def cost(cell: Cell, rates: Rates) -> Cost:
    """Estimate a cell."""
    return cost_of(cell, rates)


def measure(cell: Cell) -> dict[str, Any]:
    """Return the test error, and the seconds of the pass, of automatic choices, and of choosing alpha and solving."""
    data = load(cell["dataset"], max_rows=cell.get("max_rows"))
    n_features = data.X_train.shape[1]
    # What is compiled or loaded on first use is not what is measured.
    classifier(cell | {"seed": cell["seed"] + 1000}, n_features).partial_fit(data.X_train[:500], data.y_train[:500])
    model = classifier(cell, n_features)
    clock = PhaseClock("pass")
    with heard_by(lambda step: clock.turn_to(_TIMED_AS[step.phase])):
        for first in range(0, len(data.y_train), BLOCK_ROWS):
            block = slice(first, first + BLOCK_ROWS)
            model.partial_fit(data.X_train[block], data.y_train[block])
            clock.turn_to("pass")
        model.finish()
    seconds = clock.read()
    error = 100.0 * (1.0 - model.score(data.X_test, data.y_test))
    return {
        "error": round(error, 4),
        "alpha": chosen_alpha(model),
        "pass_seconds": round(seconds["pass"], 3),
        "choice_seconds": round(seconds.get("choices", 0.0), 3),
        "finish_seconds": round(seconds["finish"], 3),
    }


if __name__ == "__main__":
    import sys

    main(sys.modules[__name__])
