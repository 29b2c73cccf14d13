"""Feature maps, the exact kernel and a support vector machine compared on one data set."""

import pickle
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import LabelBinarizer, normalize
from sklearn.svm import SVC

from craftmaps import CraftClassifier, CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, TensorSketch
from craftmaps.datasets import Split
from craftmaps.diagnostics import kernel_error

KERNEL = Polynomial(7)
UP_FACTOR = 8
_SCIKIT_LEARN = {"degree": KERNEL.degree, "coef0": KERNEL.coef0, "gamma": KERNEL.gamma}


class Measured(NamedTuple):
    """Measurements of one method with one seed."""

    kernel_error: float
    test_error: float
    train_seconds: float
    predict_seconds: float
    model_bytes: int


class Method(NamedTuple):
    """A method and its measurements, one for each seed."""

    name: str
    runs: list[Measured]

    def to_plain(self) -> dict[str, Any]:
        """Return means over the seeds, and the standard deviations of the errors if there are several seeds."""
        plain: dict[str, Any] = {"method": self.name, "seeds": len(self.runs)}
        for name in Measured._fields:
            values = [getattr(run, name) for run in self.runs]
            plain[name] = statistics.mean(values)
            if name.endswith("error"):
                plain[f"{name}_sd"] = statistics.stdev(values) if len(values) > 1 else None
        return plain


def makers(width: int) -> dict[str, Callable[[int], Any]]:
    """Return the maps to compare: a function of the seed for each name."""
    up = UP_FACTOR * width
    return {
        "Maclaurin, geometric": lambda s: RandomMaclaurin(KERNEL, width, degrees="geometric", random_state=s),
        "Maclaurin, complex": lambda s: RandomMaclaurin(KERNEL, width, complex_weights=True, random_state=s),
        "TensorSketch": lambda s: TensorSketch(KERNEL, width, random_state=s),
        "Craft over TensorSketch": lambda s: CraftMap(
            KERNEL, width, up="tensorsketch", up_components=up, random_state=s
        ),
        "Craft over Maclaurin": lambda s: CraftMap(KERNEL, width, up_components=up, random_state=s),
        "landmarks": lambda s: LandmarkMap(KERNEL, width, random_state=s),
    }


def measure_map(name: str, make: Callable[[int], Any], split: Split, n_seeds: int) -> Method:
    """Train with a map for every seed; alpha is chosen by cross-validation."""
    rows = normalize(split.X_test)
    exact = KERNEL(rows)
    runs = []
    for seed in range(n_seeds):
        feature_map: Any = make(seed)
        parameters: dict[str, Any] = {"n_components": feature_map.n_components, "metric": None, "random_state": seed}
        model = CraftClassifier(KERNEL, feature_map=feature_map, **parameters)
        if not seed:  # compile
            model.fit(split.X_train, split.y_train).predict(split.X_test)
        train_seconds = _seconds(lambda model=model: model.fit(split.X_train, split.y_train))
        predict_seconds = _seconds(lambda model=model: model.predict(split.X_test))
        Z = feature_map.fit(normalize(split.X_train)).transform(rows)
        error = float(1 - model.score(split.X_test, split.y_test))
        runs.append(Measured(kernel_error(Z, exact), error, train_seconds, predict_seconds, _saved_bytes(model)))
    return Method(name, runs)


def measure_exact(split: Split) -> list[Method]:
    """Train with the exact kernel: ridge regression on the classes, and a support vector machine."""
    labels = LabelBinarizer(neg_label=-1).fit(split.y_train)
    X_train, X_test = normalize(split.X_train), normalize(split.X_test)
    ridge = GridSearchCV(KernelRidge(kernel="polynomial", **_SCIKIT_LEARN), {"alpha": 10.0 ** np.arange(-4, 1)})
    machine = GridSearchCV(SVC(kernel="poly", **_SCIKIT_LEARN), {"C": 10.0 ** np.arange(-2, 3)})
    methods = []
    for name, search, y in (
        ("exact kernel ridge", ridge, labels.transform(split.y_train)),
        ("support vector machine", machine, split.y_train),
    ):
        train_seconds = _seconds(lambda search=search, y=y: search.fit(X_train, y))
        predict_seconds = _seconds(lambda search=search: search.predict(X_test))
        predicted = search.predict(X_test)
        predicted = labels.classes_[predicted.argmax(axis=1)] if predicted.ndim == 2 else predicted
        error = float(np.mean(predicted != split.y_test))
        size = len(pickle.dumps(search.best_estimator_))  # only the length is used
        methods.append(Method(name, [Measured(0.0, error, train_seconds, predict_seconds, size)]))
    return methods


def _seconds(task: Callable[[], Any]) -> float:
    """Return the seconds that a task takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def _saved_bytes(model: CraftClassifier) -> int:
    """Return the size of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.craft"
        model.save(path)
        return path.stat().st_size
