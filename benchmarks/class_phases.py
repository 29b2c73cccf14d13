"""Class-incremental learning on features of CIFAR-10, as ACIL and RanPAC measure it.

    python benchmarks/class_phases.py          # about two minutes; writes benchmarks/results/class_phases.json
    python benchmarks/table.py                 # writes the table into benchmarks/README.md

Ten classes arrive in five phases of two, in several orders. Rows of a phase are seen once and not kept, but for the
held-out sample of the learner, 10,000 rows; `partial_fit` adds them to the tally. After each phase the model is tested
on the test rows of all classes that came so far. Kernel, metric and scale are given, not chosen, as the random layers
of ACIL and RanPAC are: so features depend on no rows, and tallies add up to that of all rows at once, whatever the
order. Beside it stands a model whose features are chosen on all rows at once.

Reported: the error after the last phase; the mean over phases of the accuracy on the classes so far ("average
incremental accuracy"); the mean over earlier classes of the accuracy when they came minus the one at the end
("forgetting"), which is not zero, because later classes compete; and how far weights are from those of all rows at
once.
"""

import argparse
import os
import time
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from measuring import environment, say, update_results

from craftmaps import CraftClassifier, Polynomial

RESULTS = Path(__file__).parent / "results" / "class_phases.json"
N_CLASSES, N_PHASES = 10, 5
# Smaller ones are below the rounding of single precision, where rows in another order may choose another one.
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def read_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows in double precision, in which sums hardly depend on the order of rows."""
    with np.load(Path(os.environ["CRAFTMAPS_DATA"]) / "cifar10_features" / "cifar10_features.npz") as file:
        scale = file["scale"].astype(np.float64)
        return file["X_train"] * scale, file["y_train"], file["X_test"] * scale, file["y_test"]


def learner(width: int) -> CraftClassifier:
    """Return a classifier whose features depend on no rows; linear columns would be scaled by the first ones."""
    return CraftClassifier(
        Polynomial(2), width, metric=None, normalize=True, linear_columns=False, alphas=ALPHAS, random_state=0
    )


def in_phases(width: int, order: np.ndarray, rows: tuple, whole: CraftClassifier) -> dict[str, Any]:
    """Learn classes in this order; compare with a model of all rows at once."""
    X, y, X_test, y_test = rows
    model = learner(width)
    accuracies, by_class = [], {}
    begun = time.process_time()
    for phase in np.split(order, N_PHASES):
        new = np.isin(y, phase)
        model.partial_fit(X[new], y[new])
        seen = np.isin(y_test, model.classes_)
        is_right = model.finish().predict(X_test[seen]) == y_test[seen]
        accuracies.append(float(is_right.mean()))
        last = {int(label): float(is_right[y_test[seen] == label].mean()) for label in model.classes_}
        by_class = last | by_class
    forgotten = [by_class[int(label)] - last[int(label)] for label in order[: -N_CLASSES // N_PHASES]]
    predicted, expected = model.predict(X_test), whole.predict(X_test)
    return {
        "order": order.tolist(),
        "error": 1 - accuracies[-1],
        "accuracy_by_phase": accuracies,
        "average_incremental_accuracy": mean(accuracies),
        "forgetting": mean(forgotten),
        "processor_seconds": time.process_time() - begun,
        "relative_difference_of_alpha": abs(model.alpha_ / whole.alpha_ - 1),
        "largest_difference_of_weights": float(np.abs(model.coef_ - whole.coef_).max() / np.abs(whole.coef_).max()),
        "predictions_that_differ": int((predicted != expected).sum()),
    }


def measured(width: int, n_orders: int) -> dict[str, Any]:
    """Return results of several orders, and of all rows at once."""
    rows = read_rows()
    X, y, X_test, y_test = rows
    whole = learner(width).fit(X, y)
    say(f"all at once: alpha {whole.alpha_:.3g}")
    rng = np.random.default_rng(0)
    orders = []
    for _ in range(n_orders):
        orders.append(in_phases(width, rng.permutation(N_CLASSES), rows, whole))
        say(f"order {orders[-1]['order']}: {orders[-1]['predictions_that_differ']} predictions differ")
    chosen = CraftClassifier(n_components=width, random_state=0).fit(X, y)
    return {
        "width": width,
        "n_train": len(y),
        "n_test": len(y_test),
        "at_once": {"error": float(np.mean(whole.predict(X_test) != y_test))},
        "at_once_with_choices": {"error": float(np.mean(chosen.predict(X_test) != y_test))},
        "orders": orders,
        "environment": environment(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--orders", type=int, default=3)
    arguments = parser.parse_args()
    update_results(RESULTS, measured(arguments.width, arguments.orders))
