"""Forget a customer: take their rows out of a model, without the rows of anybody else.

A model that was saved with its tally needs only the rows to forget. What is left is the model that never saw them. That
is exact because kernel and metric are given: nothing was settled on rows of customers. With automatic choices the
choices stay, even if the customer had a part in them.
"""

import tempfile
from pathlib import Path

import numpy as np

from craftmaps import CraftClassifier, Polynomial, load_model

CUSTOMER = 7


def main() -> None:
    """Learn from fifty customers, forget one, and compare with a model of the others."""
    rng = np.random.default_rng(0)
    customer = rng.integers(0, 50, 2000)
    X = rng.normal(size=(2000, 8))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2000) > 0, "buys", "leaves")
    is_gone = customer == CUSTOMER
    learner = CraftClassifier(Polynomial(2), 64, metric=None, random_state=0)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.craft"
        learner.fit(X, y).save(path, tally=True)
        n_found = count_rows(X[is_gone], path)
        print(f"{learner.n_rows_seen_} rows are learned; {n_found} of customer {CUSTOMER} in the file.")

        model = load_model(path).forget(X[is_gone], y[is_gone])
        model.save(path, tally=True)
        n_found = count_rows(X[is_gone], path)
        print(f"{model.n_rows_seen_} rows are left; {n_found} of customer {CUSTOMER} in the file.")

    never = learner.fit(X[~is_gone], y[~is_gone])
    difference = np.linalg.norm(model.coef_ - never.coef_) / np.linalg.norm(never.coef_)
    print(f"Same model as one that never saw them: {difference < 1e-7}, relative difference {difference:.0e}.")


def count_rows(rows: np.ndarray, path: Path) -> int:
    """Count the rows whose numbers stand in a file."""
    content = path.read_bytes()
    return sum(row.tobytes() in content for row in rows)


if __name__ == "__main__":
    main()
