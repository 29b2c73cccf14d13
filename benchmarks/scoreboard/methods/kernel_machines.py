"""Kernel machines: support vectors of scikit-learn and of ThunderSVM, and xRFM.

`thundersvm` needs the package thundersvm-cpu, `xrfm` needs xrfm and torch.
"""

import tempfile
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmarks.panel.methods import support_vectors, xrfm_trees
from benchmarks.panel.methods.scaling import subsample
from benchmarks.scoreboard.methods.scaling import SCALERS, dense, inverse_spread
from benchmarks.scoreboard.task import Task

MAX_ROWS = support_vectors.MAX_ROWS


def svc(task: Task) -> Any:
    """SVC with a Gaussian kernel, C of 1, 10, 100 chosen on 3,000 rows; **at most 20,000 rows are learned**."""
    return support_vectors.kernel_machine(task.problem)


def svc_polynomial(task: Task, degree: int, C: float) -> Any:
    """SVC with the kernel (x.y + 1)^degree on rows of unit length, all rows."""
    return make_pipeline(
        SCALERS[task.scaling](), SVC(C=C, kernel="poly", degree=degree, gamma=1, coef0=1, cache_size=500)
    )


def thundersvm(task: Task, max_rows: int = MAX_ROWS, **parameters: Any) -> Any:
    """ThunderSVM on processors; a Gaussian kernel with gamma as SVC's "scale" if nothing else is said."""
    import thundersvm as package

    return _ThunderSVM(package.SVC, task, max_rows, parameters)


def xrfm(task: Task) -> Any:
    """Return xRFM with the settings of the panel."""
    return xrfm_trees.xrfm(task.problem)


class _ThunderSVM(BaseEstimator):
    """ThunderSVM on scaled rows; its model is measured as the file that it writes."""

    def __init__(self, kind: type, task: Task, max_rows: int, parameters: dict[str, Any]):
        self.kind, self.task, self.max_rows, self.parameters = kind, task, max_rows, parameters

    def fit(self, X, y) -> Self:
        kept = subsample(len(y), self.max_rows, self.task.problem.seed)
        X, y = dense(X[kept]), y[kept]
        self.scaler_ = SCALERS[self.task.scaling]().fit(X)
        X = self.scaler_.transform(X)
        settings = {"gamma": inverse_spread(X)} | self.parameters
        self.model_ = self.kind(n_jobs=self.task.problem.n_threads, **settings).fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(self.scaler_.transform(dense(X)))

    def model_bytes(self) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.model_.save_to_file(str(path))
            return path.stat().st_size
