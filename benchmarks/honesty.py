"""Are reported errors those of new rows? Results go to benchmarks/results/honesty.json.

    python benchmarks/honesty.py                 # 100 seeds of noise, and splits of small tables
    python benchmarks/honesty.py --seeds 20      # fewer
    python benchmarks/table.py                   # the results as a table

On noise there is nothing to learn: the true error of every classifier of balanced classes is one half, and that of a
regressor is measured on 20,000 new rows. An interval of 95 % should hold it in 95 of 100 runs. On tables the
cross-validated error of the default model is compared with the error of rows that were put aside.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from measuring import environment, say, update_results
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import train_test_split

from craftmaps import CraftClassifier, CraftRegressor
from craftmaps.scores import held_out_error

RESULTS = Path(__file__).parent / "results" / "honesty.json"
WIDTH, N_ROWS, N_COLUMNS = 128, 1000, 10
TABLES = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits, "diabetes": load_diabetes}


def noise(n_rows: int, seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and targets that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    return X, rng.integers(0, 2, n_rows) if kind == "classes" else rng.normal(size=n_rows)


def cross_validated(model: CraftClassifier | CraftRegressor) -> tuple[float, list[float]]:
    """Return the error, or root mean square error, that a model reports, and its interval."""
    is_classifier = isinstance(model, CraftClassifier)
    plain = held_out_error(model).to_plain()
    name = "error" if is_classifier else "rmse"
    return plain[name], plain[f"{name}_interval"]


def on_noise(kind: str, n_seeds: int) -> dict[str, Any]:
    """Count the intervals that hold the true error."""
    errors, truths, held = [], [], []
    for seed in range(n_seeds):
        learner = CraftClassifier if kind == "classes" else CraftRegressor
        model = learner(n_components=WIDTH, random_state=seed).fit(*noise(N_ROWS, seed, kind))
        error, interval = cross_validated(model)
        X, y = noise(20_000, 10_000 + seed, kind)
        truth = 0.5 if kind == "classes" else float(np.mean((model.predict(X) - y) ** 2)) ** 0.5
        errors.append(error)
        truths.append(truth)
        held.append(bool(interval[0] <= truth <= interval[1]))
    say(f"noise, {kind}: {sum(held)} of {n_seeds} intervals hold the truth, mean {np.mean(errors):.3f}")
    return {"cross_validated": errors, "truth": truths, "held": held}


def on_tables(n_seeds: int) -> dict[str, Any]:
    """Compare cross-validated errors with those of a third of the rows that was put aside."""
    result = {}
    for name, load in TABLES.items():
        X, y = load(return_X_y=True)
        lines = []
        for seed in range(n_seeds):
            learner = CraftRegressor if name == "diabetes" else CraftClassifier
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
            model = learner(n_components=WIDTH, random_state=seed).fit(X_train, y_train)
            error, interval = cross_validated(model)
            wrong = model.predict(X_test) - y_test if name == "diabetes" else model.predict(X_test) != y_test
            truth = float(np.mean(np.square(wrong, dtype=float)))
            truth = truth**0.5 if name == "diabetes" else truth
            lines.append({"cross_validated": error, "interval": interval, "test": truth})
        result[name] = lines
        means = {key: np.mean([line[key] for line in lines]) for key in ("cross_validated", "test")}
        say(f"{name}: cross-validated {means['cross_validated']:.4g}, test {means['test']:.4g}")
    return result


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    for kind in ("classes", "numbers"):
        update_results(RESULTS, {f"noise, {kind}": on_noise(kind, arguments.seeds)})
    update_results(RESULTS, {"tables": on_tables(10), "environment": environment()})


if __name__ == "__main__":
    main()
