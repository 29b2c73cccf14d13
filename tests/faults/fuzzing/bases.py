"""Good files to mutate: models, tallies and checkpoints of every part that can be saved, notes of runs, data files."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import StandardScaler

from craftmaps import (
    CraftClassifier,
    CraftMap,
    CraftRegressor,
    Exponential,
    LandmarkMap,
    Laplace,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
)
from tests.streams import formats

KINDS = ("model", "tally", "checkpoint", "run", "data")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6)).astype(np.float32)
SPARSE = csr_matrix(np.where(X > 0.3, X, 0))
Y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] ** 2, axis=1)]
TARGETS = np.column_stack([X[:, 0] * X[:, 1], X[:, 2] ** 2]).astype(np.float64)
COMMON: dict[str, Any] = {"n_components": 32, "alphas": [1e-3, 1e-2], "cv": 3, "random_state": 0, "metric": None}
CUBIC, SQUARE = Polynomial(3), Polynomial(2, coef0=0.0)
# Parameters, rows and targets.
MODELS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "craft": ({"kernel": CUBIC}, X, Y),
    "craft with kept columns": ({"kernel": Polynomial(2, coef0=4.0), "up_components": 64}, X, Y),
    "covariance, exponential": ({"kernel": Exponential(0.5), "metric": "covariance"}, X, Y),
    "gradient, matrix scaling": ({"kernel": CUBIC, "metric": "gradient", "calibration": "matrix"}, X, Y),
    "standardised": ({"kernel": CUBIC, "metric": StandardScaler(), "normalize": False}, X, TARGETS),
    "sparse landmarks": ({"kernel": CUBIC, "feature_map": "landmarks"}, SPARSE, Y),
    "landmarks": ({"kernel": Exponential(0.3), "feature_map": LandmarkMap(CUBIC, 16, whiten=False)}, X, TARGETS[:, 0]),
    "tensorsketch": ({"kernel": Polynomial(2), "feature_map": "tensorsketch"}, SPARSE, Y),
    "maclaurin": ({"kernel": MaclaurinSeries([1, 2, 0.5]), "feature_map": "maclaurin"}, X, TARGETS),
    "neural tangent": ({"kernel": NeuralTangent(2, 6), "feature_map": "maclaurin"}, X, Y),
    "landmarks on a sphere": ({"kernel": Laplace(0.5), "feature_map": "landmarks"}, X, Y),
    "independent signs": (
        {"kernel": CUBIC, "feature_map": RandomMaclaurin(CUBIC, 32, projection="rademacher", degrees="proportional")},
        X,
        Y,
    ),
    "stratified, rows at random on the way down": (
        {
            "kernel": CUBIC,
            "feature_map": CraftMap(
                CUBIC, 32, up=RandomMaclaurin(CUBIC, 64, projection="stratified"), down=SubsampledHadamard()
            ),
        },
        X,
        Y,
    ),
    "exact quadratic columns": ({"kernel": CUBIC, "feature_map": CraftMap(CUBIC, 32, up_components="auto")}, X, Y),
    "no way down": (
        {"kernel": SQUARE, "feature_map": CraftMap(SQUARE, 16, up_components="auto", random_state=0)},
        X,
        TARGETS,
    ),
    "sketches on the way up": ({"kernel": CUBIC, "feature_map": CraftMap(CUBIC, 32, up="tensorsketch")}, X, Y == "a"),
    "projected": ({"kernel": CUBIC, "feature_map": SubsampledHadamard(4)}, X, Y),
    "linear": ({"kernel": Polynomial(1), "feature_map": None}, X, np.searchsorted(["a", "b", "c"], Y)),
    "random code": ({"kernel": CUBIC, "code": "random", "code_size": 12, "decoding": "hamming"}, X, Y),
    "hadamard code": ({"kernel": CUBIC, "code": "hadamard", "decoding": "loss"}, X, Y),
    "given code": ({"kernel": CUBIC, "code": 2 * np.eye(3) - 1}, X, Y),
}
CHECKPOINTS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "counting": ({"kernel": CUBIC}, X, Y),
    "counting, packed": ({"kernel": CUBIC, "packed": True}, X, Y),
    "counting, sparse": ({"kernel": CUBIC, "feature_map": "tensorsketch"}, SPARSE, TARGETS),
    "counting, no sample": ({"kernel": CUBIC, "cv": None, "alphas": 1e-2}, X, TARGETS[:, 0]),
    "waiting": ({"kernel": CUBIC, "metric": "covariance"}, X, Y),
    "waiting, sparse": ({"kernel": CUBIC, "feature_map": "landmarks"}, SPARSE, Y),
    "waiting, regression": ({"kernel": CUBIC, "normalize": False}, X.astype(np.float64), TARGETS),
}
# Each as a tally alone, as a recipe, which is a tally of no rows, and as a model with its tally.
PREFIXES = ("", "recipe of a ", "model with its ")
TALLIES: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "tally": ({"kernel": CUBIC}, X, Y),
    "tally, packed": ({"kernel": CUBIC, "packed": True}, X, Y),
    "tally, gradient": ({"kernel": CUBIC, "metric": "gradient", "calibration": "matrix"}, X, Y),
    "tally, sparse": ({"kernel": CUBIC, "feature_map": "landmarks"}, SPARSE, Y),
    "tally, no sample": ({"kernel": CUBIC, "cv": None, "alphas": 1e-2}, X, TARGETS),
}
RUN = {"batch_rows": 100, "max_rows": None, "size_in_bytes": 12345, "columns": {"target": "y", "columns": [{"a": 1}]}}


class Base(NamedTuple):
    """A good file: its kind, its name among those of its kind, and where it is."""

    kind: str
    name: str
    path: Path


def learner(parameters: dict[str, Any], y: Any) -> Any:
    """Return a learner of labels or of numbers."""
    kind = CraftRegressor if y.dtype == np.float64 else CraftClassifier
    return kind(**COMMON | parameters)


def blocks(X: Any, y: Any) -> list[tuple]:
    """Return rows in three blocks."""
    return [(X[start : start + 40], y[start : start + 40]) for start in (0, 40, 80)]


def write_bases(folder: Path, kinds: tuple[str, ...] = KINDS) -> list[Base]:
    """Write all good files of some kinds, each in a folder of its own: some have others beside them."""
    writers = {"model": _models, "tally": _tallies, "checkpoint": _checkpoints, "run": _runs, "data": _data}
    return [base for kind in kinds for base in writers[kind](folder / kind)]


def _place(folder: Path, name: str, file: str) -> Path:
    path = folder / name.replace(" ", "_").replace(",", "") / file
    path.parent.mkdir(parents=True)
    return path


def _models(folder: Path) -> list[Base]:
    bases = []
    for name, (parameters, rows, y) in MODELS.items():
        path = _place(folder, name, "model.craft")
        learner(parameters, y).fit(rows, y).save(path, notes={"columns": None})
        bases.append(Base("model", name, path))
    return bases


def tally_name(name: str) -> str:
    """Return the name among `TALLIES` of what a file is made of."""
    return next(name.removeprefix(prefix) for prefix in PREFIXES[::-1] if name.startswith(prefix))


def _tallies(folder: Path) -> list[Base]:
    bases = []
    for name, (parameters, rows, y) in TALLIES.items():
        model = learner(parameters, y).fit(rows, y)
        files = [_place(folder, f"{prefix}{name}", "day.tally") for prefix in PREFIXES]
        model.tally_.save(files[0], notes={"columns": None})
        model.tally_.emptied().save(files[1])
        model.save(files[2], tally=True)
        bases += [Base("tally", f"{prefix}{name}", path) for prefix, path in zip(PREFIXES, files, strict=True)]
    return bases


def _checkpoints(folder: Path) -> list[Base]:
    bases = []
    for name, (parameters, rows, y) in CHECKPOINTS.items():
        path = _place(folder, name, "run.checkpoint")
        try:
            learner(parameters, y).fit_stream(_interrupted(blocks(rows, y)), checkpoint=path, every=40)
        except KeyboardInterrupt:
            bases.append(Base("checkpoint", name, path))
    return bases


def _interrupted(some: list[tuple]):
    yield from some[:2]
    raise KeyboardInterrupt


def _runs(folder: Path) -> list[Base]:
    path = _place(folder, "run", "run.json")
    path.write_text(json.dumps(RUN), encoding="utf-8")
    (path.parent / "run.checkpoint").write_bytes(b"")
    return [Base("run", "run", path)]


def _data(folder: Path) -> list[Base]:
    rows, labels = formats.example()
    bases = []
    for name in formats.FORMATS:
        path = _place(folder, name, formats.FORMATS[name][0])
        formats.write(path.parent, name, rows, labels)
        bases.append(Base("data", name, path))
    return bases
