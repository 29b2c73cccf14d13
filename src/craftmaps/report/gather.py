"""From a run to plain numbers: everything that the page says."""

import datetime
import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from craftmaps import __version__
from craftmaps._system.plain_values import plain
from craftmaps._system.threads import n_threads
from craftmaps.report.classification import classification
from craftmaps.report.evaluation import evaluate
from craftmaps.report.kernel_check import check_kernel, weight_histogram
from craftmaps.report.model_facts import choice_facts, kernel_name
from craftmaps.report.regression import regression
from craftmaps.report.run import Run
from craftmaps.scores import held_out_error
from craftmaps.scores.held_out_error import HeldOutError

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "threadpoolctl")


def gather(run: Run) -> dict[str, Any]:
    """Return the numbers of a run as plain data; None where there is nothing to say."""
    held_out = held_out_error(run.model)
    numbers = {
        "task": "classification" if is_classifier(run.model) else "regression",
        "run": _overview(run),
        "test": _test(run),
        "held_out": None if held_out is None else held_out.to_plain(),
        "alphas": None if held_out is None else _alphas(run.model.cv_results_, held_out),
        "kernel": check_kernel(run),
        "weights": weight_histogram(run),
        "phases": dict(run.phases),
        "peak_memory": run.peak_memory,
        "choices": choice_facts(run.model, run.column_names())._asdict(),
        "versions": _versions(),
        "command": run.command or repr(run.model),
    }
    return plain(numbers)


def _overview(run: Run) -> dict[str, Any]:
    """Return the model, its size and its data."""
    model: Any = run.model
    feature_map, classes = model.features_.feature_map, getattr(model, "classes_", None)
    return {
        "model": type(model).__name__,
        "data": run.data,
        "rows": model.n_rows_seen_,
        "columns": model.n_features_in_,
        "classes": None if classes is None else classes.size,
        "features": model.coef_.shape[-1],
        "targets": model.coef_[..., 0].size if classes is None else None,
        "map": None if feature_map is None else type(feature_map).__name__,
        "kernel": kernel_name(getattr(feature_map, "kernel", None)),
        "alpha": model.alpha_,
        "seed": model.seed_,
        "seconds": sum(run.phases.values()) if run.phases else None,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _test(run: Run) -> dict[str, Any] | None:
    """Return the scores on test rows with examples, or None if there are no test rows."""
    evaluation = run.evaluation
    if evaluation is None and (rows := run.test_rows()) is not None:
        evaluation = evaluate(run.model, *rows)
    if evaluation is None or evaluation.examples is None:
        return None
    described: Any = classification if is_classifier(run.model) else regression
    return described(evaluation.scores, evaluation.examples.to_plain(run.column_names()))


def _alphas(results: dict[str, Any], held_out: HeldOutError) -> dict[str, Any]:
    """Return the curve that alpha was chosen from."""
    fold_errors = np.asarray(results["fold_errors"])
    n_folds = np.isfinite(fold_errors).sum(axis=1)
    return {
        "alpha": results["alpha"],
        "mean_error": results["mean_error"],
        "std_error": np.where(n_folds > 1, results["std_error"], np.nan),
        "fold_errors": fold_errors,
        "folds": n_folds,
        "rows": held_out.n_rows,
        "chosen": held_out.chosen,
    }


def _versions() -> dict[str, str]:
    """Return the versions of the libraries, the system and the number of threads."""
    versions = {"craftmaps": __version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in _LIBRARIES}
    return versions | {"system": f"{platform.system()} {platform.machine()}", "threads": str(n_threads())}
