"""Kernel error, test error and cost of the ways up; results go to benchmarks/results/up_projections.json.

    python benchmarks/up_projections.py                       # everything, about ten minutes of a core
    python benchmarks/up_projections.py --only errors --data letter
    python benchmarks/up_projections_table.py                 # the picture; table.py makes the tables

Compared at equal width E are CraftMap as it is by default (D = 8E), with D = 32E, with up_components="auto", the
Maclaurin map without a down-projection, and a tree of products (`tree_sketch`) in place of the Maclaurin map.
CRAFTMAPS_DATA must name the folder of the data sets.
"""

import argparse
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import environment, interleaved, say, update_results
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler, normalize
from tree_sketch import TreeSketch

import craftmaps
from craftmaps import CraftClassifier, CraftMap, Polynomial, RandomMaclaurin, datasets

RESULTS = Path(__file__).parent / "results" / "up_projections.json"
DATA = ("mnist", "usps", "pendigits", "letter", "isolet", "cifar10_features")
NARROW = ("pendigits", "letter")
DEGREES = (3, 5, 7, 9)
WIDTHS = (256, 1024, 4096)
TIMED_WIDTHS = (256, 1024)
SEEDS = 4
NARROW_SEEDS = 16  # for all but trees: narrow rows have kernels near rank one, whose errors vary much between draws
N_ROWS = 400  # kernel errors are over the pairs of one half with the other
N_TIMED = 1024
WIDEST_TREE = 2**14


def seeds_of(name: str) -> int:
    """Return how many times maps of a data set are drawn."""
    return NARROW_SEEDS if name in NARROW else SEEDS


def rows_of(name: str, n: int) -> np.ndarray:
    """Return n random training rows of unit length."""
    if name == "cifar10_features":
        with np.load(Path(os.environ["CRAFTMAPS_DATA"]) / name / f"{name}.npz") as file:
            X = file["X_train"].astype(np.float32) * file["scale"].astype(np.float32)
    else:
        X = datasets.load(name).X_train
    return normalize(X[np.random.default_rng(0).permutation(X.shape[0])[:n]].astype(np.float32))


def maps(degree: int, E: int, seed: int) -> dict[str, BaseEstimator]:
    """Return the maps to compare, by name."""
    kernel = Polynomial(degree=degree)
    compared: dict[str, BaseEstimator] = {
        "default": CraftMap(kernel, E, random_state=seed),
        "auto": CraftMap(kernel, E, up_components="auto", random_state=seed),
        "D=32E": CraftMap(kernel, E, up_components=32 * E, random_state=seed),
        "direct": RandomMaclaurin(kernel, E, complex_weights=True, random_state=seed),
    }
    for factor, leaf in ((4, 4), (8, 1)):
        if degree > leaf and factor * E <= WIDEST_TREE:
            up = TreeSketch(degree, factor * E, leaf_degree=leaf, random_state=seed)
            compared[f"tree, D={factor}E, leaves of {leaf}"] = CraftMap(kernel, E, up=up, random_state=seed)
    return compared


def errors(name: str) -> dict[str, Any]:
    """Relative kernel error of every seed."""
    X = rows_of(name, N_ROWS)
    left, right = X[: N_ROWS // 2], X[N_ROWS // 2 :]
    result: dict[str, Any] = {"columns": X.shape[1]}
    for degree in DEGREES:
        K = Polynomial(degree=degree)(left.astype(float), right.astype(float))
        for E in WIDTHS:
            lines: dict[str, Any] = {}
            for seed in range(seeds_of(name)):
                for kind, feature_map in maps(degree, E, seed).items():
                    if kind.startswith("tree") and seed >= SEEDS:  # slow in NumPy
                        continue
                    Z = feature_map.fit(X).transform(X).astype(float)
                    error = float(np.linalg.norm(Z[: len(left)] @ Z[len(left) :].T - K) / np.linalg.norm(K))
                    lines.setdefault(kind, {"error": []})["error"].append(error)
                    if isinstance(feature_map, CraftMap):
                        lines[kind]["kept"] = int(feature_map.n_kept_)
            result[f"degree {degree}, E = {E}"] = lines
            say(
                f"{name}, degree {degree}, E = {E}: "
                + ", ".join(f"{k} {np.mean(v['error']):.4f}" for k, v in lines.items())
            )
    return result


def times(name: str) -> dict[str, Any]:
    """Processor microseconds of a row, one thread; those of a tree are an estimate.

    A tree is taken to cost its Hadamard transforms, in the loops of the maps, and a Maclaurin map of as many features,
    all of its degree: the products of its leaves and the way down.
    """
    X = rows_of(name, N_ROWS)
    many = np.tile(X, (-(-N_TIMED // N_ROWS), 1))[:N_TIMED]
    result = {}
    for degree in DEGREES:
        for E in TIMED_WIDTHS:
            tasks = {}
            for kind, feature_map in maps(degree, E, 0).items():
                tree = getattr(feature_map, "up", None)
                if isinstance(tree, TreeSketch):
                    tasks[f"transforms of {kind}"] = partial(_transforms, tree, len(many))
                    kernel = Polynomial(degree=degree, coef0=0.0)
                    feature_map = CraftMap(kernel, E, up_components=tree.n_components, random_state=0)
                tasks[kind] = partial(feature_map.fit(X).transform, many)
            with craftmaps.threads(1):
                seconds = interleaved(tasks, 5, clock=time.process_time)
            lines = {kind: 1e6 * float(np.median(values)) / len(many) for kind, values in seconds.items()}
            for kind in [kind for kind in lines if kind.startswith("tree")]:
                lines[kind] += lines[f"transforms of {kind}"]
            result[f"degree {degree}, E = {E}"] = lines
            say(f"{name}, degree {degree}, E = {E}: " + ", ".join(f"{k} {v:.2f}" for k, v in lines.items()))
    return result


def _transforms(tree: TreeSketch, n_rows: int) -> None:
    """Run the Hadamard transforms that a tree needs for some rows."""
    from craftmaps._loops.hadamard import transform
    from craftmaps._loops.lanes import aligned_empty, line_for

    log2, line = (tree.n_components // 2).bit_length() - 1, line_for(n_rows, np.dtype(np.float32))
    x = aligned_empty(len(line) << log2, np.dtype(np.float32))
    x[:] = 0
    for _ in range(2 * tree.n_transforms() * n_rows // len(line)):  # a complex transform is two real ones
        transform(x, 0, log2, line)


def learning(name: str) -> dict[str, Any]:
    """Test error of a classifier over the default and over "auto", standardised columns, rows of unit length."""
    parts = datasets.load(name)
    result = {}
    for degree in (3, 5, 7):
        for E in (256, 512, 1024):
            kernel, lines = Polynomial(degree=degree), {}
            for kind, up in (("default", None), ("auto", "auto")):
                lines[kind] = [
                    float(np.mean(_classifier(kernel, E, up, s).fit(*parts[:2]).predict(parts.X_test) != parts.y_test))
                    for s in range(SEEDS)
                ]
            result[f"degree {degree}, E = {E}"] = lines
            say(f"{name}, degree {degree}, E = {E}: {lines}")
    return result


def _classifier(kernel: Polynomial, E: int, up: Any, seed: int) -> CraftClassifier:
    """Return a classifier with everything but the up-projection fixed."""
    feature_map = CraftMap(kernel, E, up_components=up, random_state=seed)
    return CraftClassifier(
        kernel,
        E,
        metric=StandardScaler(),
        normalize=True,
        feature_map=feature_map,
        linear_columns=False,
        loss="squared",
        random_state=seed,
    )


PARTS = {"errors": (errors, DATA), "times": (times, DATA), "learning": (learning, NARROW)}


def main() -> None:
    """Run the parts asked for and keep their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), help="data sets")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default: %(default)s)")
    arguments = parser.parse_args()
    for part, (run, known) in PARTS.items():
        for name in (name for name in known if part in arguments.only and name in arguments.data):
            seeds = seeds_of(name) if part == "errors" else SEEDS
            result = {"environment": environment(), "seeds": list(range(seeds)), "result": run(name)}
            update_results(arguments.out, {f"{part}, {name}": result})


if __name__ == "__main__":
    main()
