"""From a run to plain numbers: everything that the page says is in them."""

import datetime
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from craftmaps import __version__
from craftmaps._system.threads import n_threads
from craftmaps.kernels import DotProductKernel
from craftmaps.learners import CraftClassifier
from craftmaps.report.classification import classification
from craftmaps.report.intervals import ChosenAlpha, chosen_alpha
from craftmaps.report.kernel_check import check_kernel, weight_histogram
from craftmaps.report.regression import regression
from craftmaps.report.run import Run
from craftmaps.report.wording import shortened
from craftmaps.shaping.row_shaping import described

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "threadpoolctl")
_LONGEST_KERNEL = 80


def gather(run: Run) -> dict[str, Any]:
    """Return the numbers of a run, as plain data: None where there is nothing to say."""
    if run.model._model is None:
        run.model.finish()
    is_classifier = isinstance(run.model, CraftClassifier)
    test = run.test_rows()
    chosen = _chosen(run.model)
    numbers = {
        "task": "classification" if is_classifier else "regression",
        "run": _overview(run),
        "test": None if test is None else (classification if is_classifier else regression)(run, *test),
        "held_out": None if chosen is None else chosen.to_plain(is_classifier),
        "alphas": None if chosen is None else _alphas(run.model.cv_results_, chosen),
        "kernel": check_kernel(run),
        "weights": weight_histogram(run),
        "phases": dict(run.phases),
        "peak_memory": run.peak_memory,
        "choices": _choices(run.model),
        "versions": _versions(),
        "command": run.command or repr(run.model),
    }
    return _plain(numbers)


def _overview(run: Run) -> dict[str, Any]:
    """Return what was learned, from what, and with what."""
    model: Any = run.model
    feature_map = model.features_.feature_map
    return {
        "model": type(model).__name__,
        "data": run.data,
        "rows": model.n_rows_seen_,
        "columns": model.n_features_in_,
        "classes": model.classes_.size if isinstance(model, CraftClassifier) else None,
        "features": model.coef_.shape[-1],
        "targets": None if isinstance(model, CraftClassifier) else model.coef_[..., 0].size,
        "map": None if feature_map is None else type(feature_map).__name__,
        "kernel": _kernel_name(getattr(feature_map, "kernel", None)),
        "alpha": model.alpha_,
        "seed": model.seed_,
        "seconds": sum(run.phases.values()) if run.phases else None,
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _chosen(model: Any) -> ChosenAlpha | None:
    """Return the alpha that was chosen and its error, if it was chosen."""
    results = getattr(model, "cv_results_", None)
    if results is None or model.cv is None:
        return None
    return chosen_alpha(results, isinstance(model, CraftClassifier))


def _alphas(results: dict[str, Any], chosen: ChosenAlpha) -> dict[str, Any]:
    """Return the curve that alpha was chosen from."""
    fold_errors = np.asarray(results["fold_errors"])
    n_folds = np.isfinite(fold_errors).sum(axis=1)
    return {
        "alpha": results["alpha"],
        "mean_error": results["mean_error"],
        "std_error": np.where(n_folds > 1, results["std_error"], np.nan),
        "fold_errors": fold_errors,
        "folds": n_folds,
        "rows": chosen.n_rows,
        "chosen": chosen.index,
    }


def _choices(model: Any) -> dict[str, Any]:
    """Return the choices, given or automatic, and the trials they were made by."""
    choices = model.choices_
    taken = [i for i, trial in enumerate(choices.trials) if trial.is_taken]
    return {
        "kernel": _kernel_name(choices.kernel),
        "metric": None if choices.metric is None else described(choices.metric),
        "normalize": choices.normalize,
        "candidates": [[trial.name, trial.error] for trial in choices.trials],
        "taken": taken[0] if taken else None,
    }


def _kernel_name(kernel: Any) -> str | None:
    """Write a kernel with all its parameters: a reader does not know the defaults."""
    if not isinstance(kernel, DotProductKernel):
        return None
    values = ", ".join(f"{name}={value}" for name, value in vars(kernel).items())
    return shortened(f"{type(kernel).__name__}({values})", _LONGEST_KERNEL)


def _versions() -> dict[str, str]:
    """Return what the run was made with."""
    versions = {"craftmaps": __version__, "Python": platform.python_version()}
    versions |= {name: version(name) for name in _LIBRARIES}
    return versions | {"system": f"{platform.system()} {platform.machine()}", "threads": str(n_threads())}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what is not a finite number is None."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
