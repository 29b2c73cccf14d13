"""Kernels of unit rows against polynomial ones; results go to benchmarks/results/unit_row_kernels.json.

    python benchmarks/unit_row_kernels.py                      # over half an hour, most of it at 4096
    python benchmarks/unit_row_kernels.py --only usps letter   # the others keep their results
    python benchmarks/unit_row_kernels.py --table              # the results as a table

Every data set is cut from its training rows only: a random part to learn from, another to count errors on. The
automatic choice is made once for a seed and width; then only the kernel is exchanged, on rows of unit length, with
the metric that was chosen. Errors are percent of the held-out rows, means and standard deviations over three seeds.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from measuring import environment, say, update_results

import craftmaps
from craftmaps import ArcCosine, CraftClassifier, Gaussian, Laplace, NeuralTangent, Polynomial, datasets

RESULTS = Path(__file__).parent / "results" / "unit_row_kernels.json"
DATA_SETS = ("mnist", "usps", "pendigits", "letter", "isolet", "cifar10_features")
WIDTHS = (1024, 4096)
N_SEEDS, N_TRAIN, N_HELD_OUT = 3, 3_000, 2_000
KERNELS = {
    "Polynomial(2)": Polynomial(2),
    "Polynomial(4)": Polynomial(4),
    "Polynomial(7)": Polynomial(7),
    "Gaussian(1)": Gaussian(1.0),
    "Gaussian(2)": Gaussian(2.0),
    "Gaussian(4)": Gaussian(4.0),
    "Laplace(1)": Laplace(1.0),
    "ArcCosine()": ArcCosine(),
    "NeuralTangent(1)": NeuralTangent(1),
    "NeuralTangent(2)": NeuralTangent(2),
}


def training_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows of a data set and their labels."""
    if name == "cifar10_features":
        with np.load(Path(os.environ["CRAFTMAPS_DATA"]) / name / f"{name}.npz") as file:
            return file["X_train"].astype(np.float32) * file["scale"].astype(np.float32), file["y_train"]
    data = datasets.load(name)
    return data.X_train, data.y_train


def errors_of(name: str, width: int, seed: int, kernels: list[str]) -> dict[str, Any]:
    """Return the error in percent of the automatic choice and of some kernels, on held-out training rows."""
    all_rows, labels = training_rows(name)
    order = np.random.default_rng(seed).permutation(len(labels))
    train, held_out = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_HELD_OUT]
    X, y, X_out, y_out = all_rows[train], labels[train], all_rows[held_out], labels[held_out]
    options = {"n_components": width, "random_state": seed, "loss": "squared", "calibration": "temperature"}

    def error(model: CraftClassifier) -> float:
        return 100.0 * float(np.mean(model.predict(X_out) != y_out))

    automatic = CraftClassifier(**options).fit(X, y)
    chosen = automatic.choices_
    result: dict[str, Any] = {"automatic": error(automatic), "choice": f"{chosen.kernel!r}, {chosen.metric!r}"}
    feature_map = "craft" if chosen.feature_map is None else chosen.feature_map
    for label in kernels:
        parameters = chosen.parameters() | {"kernel": KERNELS[label], "normalize": True, "feature_map": feature_map}
        result[label] = error(CraftClassifier(**options, **parameters).fit(X, y))
    return result


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return mean and standard deviation over seeds, and what was chosen."""
    numbers = {
        name: [float(np.mean([run[name] for run in runs])), float(np.std([run[name] for run in runs], ddof=1))]
        for name in runs[0]
        if name != "choice"
    }
    return {"errors_mean_sd": numbers, "choices": [run["choice"] for run in runs]}


def table(results: dict[str, Any]) -> str:
    """Return the errors as a Markdown table, one line for a kernel."""
    lines = [["kernel", *results], ["---"] * (1 + len(results))]
    for name in ("automatic", *KERNELS):
        cells = [results[key]["result"]["errors_mean_sd"].get(name) for key in results]
        lines.append([name, *("" if cell is None else f"{cell[0]:.2f} ± {cell[1]:.2f}" for cell in cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run the data sets asked for and keep their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=DATA_SETS, default=DATA_SETS, help="data sets to run")
    parser.add_argument("--widths", nargs="+", type=int, default=WIDTHS, help="widths to run")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS), help="kernels to run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="print the results as a table and run nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads(arguments.out.read_text())))
        return
    with craftmaps.threads(1):
        for width in arguments.widths:
            for name in arguments.only:
                started = time.process_time()
                result = summary([errors_of(name, width, seed, arguments.kernels) for seed in range(N_SEEDS)])
                seconds = time.process_time() - started
                update_results(
                    arguments.out,
                    {f"{name}, E = {width}": {"environment": environment(), "seconds": seconds, "result": result}},
                )
                say(f"{name}, E = {width}: {seconds:.0f} s, {result['errors_mean_sd']}")


if __name__ == "__main__":
    main()
