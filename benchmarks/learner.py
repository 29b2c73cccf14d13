"""Speed, memory and accuracy of the learner; results go to benchmarks/results/learner.json.

    python benchmarks/learner.py                     # everything but accuracy, about ten minutes
    python benchmarks/learner.py --only fit          # one part; the others keep their results
    python benchmarks/learner.py --only accuracy     # an hour; cells that are there are not run again
    python benchmarks/learner.py --only accuracy --cells landmarks
    python benchmarks/table.py                       # the results as a table

Rows are those of MNIST (CRAFTMAPS_DATA), as they are: 784 pixels in float32.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from measuring import environment, interleaved, median_ratio, say, update_results
from scipy.linalg import blas
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, normalize

from craftmaps import (
    CovarianceMetric,
    CraftClassifier,
    CraftMap,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    datasets,
)

RESULTS = Path(__file__).parent / "results" / "learner.json"
WIDTH = 4096
METRIC = CovarianceMetric(1.0, 64)
SETTINGS = {"paper": (Polynomial(7), None), "shaped rows": (Polynomial(3), METRIC)}


def mnist() -> tuple[np.ndarray, ...]:
    """Return training and test rows and labels."""
    data = datasets.load("mnist")
    return data.X_train.astype(np.float32), data.y_train, data.X_test.astype(np.float32), data.y_test


def learner(kernel: Polynomial, metric: Any, **settings: Any) -> CraftClassifier:
    """Return a classifier with nothing left to choose but alpha."""
    return CraftClassifier(kernel, WIDTH, metric=metric, normalize=True, random_state=0, **settings)


def one_pass() -> dict[str, Any]:
    """The pass over 20,000 rows against the bare products of ready features."""
    X, y, _, _ = mnist()
    X, y = X[:20_000], y[:20_000]
    result = {}
    for name, (kernel, metric) in SETTINGS.items():
        model = learner(kernel, metric).settle(X, y)
        Z = model.features_(X[:WIDTH])
        products = np.zeros((WIDTH, WIDTH), np.float32, order="F")

        def bare(Z=Z, products=products):
            for start in range(0, len(X), WIDTH):
                rows = Z[: min(WIDTH, len(X) - start)]
                blas.ssyrk(1.0, rows.T, beta=0.0, c=products, lower=1, overwrite_c=1)

        seconds = interleaved({"pass": lambda model=model: model.partial_fit(X, y), "ssyrk": bare}, rounds=5)
        result[name] = {"seconds": seconds, "ratio": median_ratio(seconds["pass"], seconds["ssyrk"])}
        say(f"pass, {name}: {result[name]['ratio']:.2f} x the bare ssyrk")
    return result


def fit() -> dict[str, Any]:
    """The whole fit of 60,000 rows, ten alphas and five folds, against its pass."""
    X, y, _, _ = mnist()
    result = {}
    for name, (kernel, metric) in SETTINGS.items():
        tasks = {
            "pass": lambda kernel=kernel, metric=metric: learner(kernel, metric).partial_fit(X, y),
            "fit": lambda kernel=kernel, metric=metric: learner(kernel, metric).fit(X, y),
        }
        seconds = interleaved(tasks, rounds=3)
        result[name] = {"seconds": seconds, "ratio": median_ratio(seconds["fit"], seconds["pass"])}
        say(f"fit, {name}: {result[name]['ratio']:.2f} x the pass")
    return result


def nystroem() -> dict[str, Any]:
    """Alpha given on both sides, 60,000 rows: Nystroem and a ridge classifier."""
    X, y, X_test, y_test = mnist()
    # Rows of unit length for scikit-learn, which has no such option; the same kernel as the paper.
    U, U_test = normalize(X), normalize(X_test)
    theirs = make_pipeline(
        Nystroem(n_components=WIDTH, kernel="poly", degree=7, gamma=1, coef0=1, random_state=0), RidgeClassifier(1e-3)
    )
    ours = {
        "craft": learner(Polynomial(3), METRIC, alphas=1e-6, cv=None),
        "landmarks": learner(Polynomial(3), METRIC, alphas=1e-6, cv=None, feature_map="landmarks"),
    }
    tasks = {"nystroem": lambda: theirs.fit(U, y)} | {
        name: lambda model=model: model.fit(X, y) for name, model in ours.items()
    }
    seconds = interleaved(tasks, rounds=2)
    errors = {"nystroem": 1 - theirs.score(U_test, y_test)}
    errors |= {name: 1 - model.score(X_test, y_test) for name, model in ours.items()}
    result: dict[str, Any] = {"seconds": seconds, "error": errors}
    for name in ours:
        result[f"ratio {name}"] = median_ratio(seconds["nystroem"], seconds[name])
        say(f"{name}: {result[f'ratio {name}']:.1f} x faster than Nystroem, errors {errors}")
    return result


def predict() -> dict[str, Any]:
    """Rows a second, and the time of one row."""
    X, y, _, _ = mnist()
    result = {}
    for factor in (2, 8):
        model = CraftClassifier(
            Polynomial(7), WIDTH, metric=None, up_components=factor * WIDTH, alphas=1e-4, cv=None, random_state=0
        ).fit(X[:5000], y[:5000])
        seconds = interleaved({"rows": lambda model=model: model.predict(X[:20_000])}, rounds=5)["rows"]
        single = interleaved({"row": lambda model=model: model.predict(X[:1])}, rounds=200)["row"]
        result[f"D={factor}E"] = {
            "rows_per_second": 20_000 / float(np.median(seconds)),
            "one_row_ms": 1000 * float(np.median(single)),
        }
        say(f"predict, D = {factor} E: {result[f'D={factor}E']}")
    return result


STREAM = """
import json, resource, sys
import numpy as np
from craftmaps import CraftClassifier

def resident():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * resource.getpagesize() / 1e6

sizes = []

def blocks(n_blocks, rows):
    for i in range(n_blocks):
        rng = np.random.default_rng(i)
        X = rng.standard_normal((rows, 64), dtype=np.float32)
        sizes.append(resident())
        yield X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)

model = CraftClassifier(n_components=1024, random_state=0).fit_stream(blocks(200, 10_000))
# Not the maximum of getrusage, which a process inherits from the one that started it.
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1.024e-3
print(json.dumps({"resident_mb": sizes[::10], "peak_mb": peak, "rows": model.n_rows_seen_}))
"""


def memory() -> dict[str, Any]:
    """Resident memory of a process that learns from a stream of 2,000,000 rows at E = 1024."""
    done = subprocess.run([sys.executable, "-c", STREAM], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    say(f"memory: peak {result['peak_mb']:.0f} MB; along the stream {[round(size) for size in result['resident_mb']]}")
    return result


def paper_map(width: int, seed: int, exact: Any = "auto") -> CraftMap:
    """Return the map of the paper: degrees drawn geometrically, exact low degrees, D = 8 E, rows of H at random."""
    up = RandomMaclaurin(
        Polynomial(7),
        8 * width,
        projection="stratified",
        degrees="geometric",
        exact_low_degrees=exact,
        random_state=seed,
    )
    return CraftMap(Polynomial(7), width, up=up, down=SubsampledHadamard(), random_state=seed)


def paper_map_beside(width: int, seed: int) -> FeatureUnion:
    """Return the same with the rows themselves beside the E columns: exact features of degree 1."""
    return FeatureUnion([("rows", FunctionTransformer()), ("craft", paper_map(width, seed, exact=False))])


PAPER_MAPS = {"paper": paper_map, "paper beside": paper_map_beside}


def accuracy(prefix: str, seeds: int = 3) -> dict[str, Any]:
    """Test error on MNIST, alpha from the training rows, one cell at a time: those that begin with a prefix."""
    X, y, X_test, y_test = mnist()
    cells = {f"paper {width}": (width, "paper") for width in (500, 700, 4096)}
    cells |= {f"paper beside {width}": (width, "paper beside") for width in (300, 500, 700)}
    cells |= {f"auto {width}": (width, "craft") for width in (1024, 4096, 8192)}
    cells |= {f"landmarks {width}": (width, "landmarks") for width in (1024, 4096)}
    found = json.loads(RESULTS.read_text()).get("accuracy", {}) if RESULTS.exists() else {}
    for name, (width, kind) in cells.items():
        for seed in range(seeds):
            if str(seed) in found.get(name, {}) or not name.startswith(prefix):
                continue
            if kind in PAPER_MAPS:
                settings = {"feature_map": PAPER_MAPS[kind](width, seed), "metric": None, "normalize": True}
                model = CraftClassifier(Polynomial(7), width, code="random", code_size=200, random_state=seed)
                model.set_params(**settings)
            else:
                model = CraftClassifier(n_components=width, feature_map=kind, random_state=seed)
            started = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - started
            error = 100 * (1 - model.score(X_test, y_test))
            chosen = {name: repr(value) for name, value in model.choices_.parameters().items()}
            found.setdefault(name, {})[str(seed)] = {"error": error, "seconds": seconds, "choices": chosen}
            update_results(RESULTS, {"accuracy": found})
            say(f"{name}, seed {seed}: {error:.2f} % in {seconds:.0f} s, {chosen}")
    return found


PARTS = {"pass": one_pass, "fit": fit, "nystroem": nystroem, "predict": predict, "memory": memory}


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[*PARTS, "accuracy"], nargs="+", default=list(PARTS))
    parser.add_argument("--cells", default="", help="run only these cells of the accuracy part, such as 'auto'")
    chosen, cells = parser.parse_args().only, parser.parse_args().cells
    if not datasets.found("mnist"):
        sys.exit("MNIST was not found: set CRAFTMAPS_DATA to the folder of the data sets.")
    threads = {"threads": os.environ.get("CRAFTMAPS_NUM_THREADS", "all"), "seed": 0}
    for name in chosen:
        result = accuracy(cells) if name == "accuracy" else PARTS[name]()
        update_results(RESULTS, {name: result, f"environment {name}": environment() | threads})


if __name__ == "__main__":
    main()
