"""What test rows say about a regressor."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps.report.intervals import bootstrap, of_root_mean_square
from craftmaps.report.run import Run

_MOST_TARGETS = 4
_MOST_POINTS = 800
_BINS = 41


def regression(run: Run, X: Any, y: NDArray) -> dict[str, Any]:
    """Return error, R2 and residuals of a regressor on test rows."""
    predicted = np.asarray(run.model.predict(X), dtype=np.float64)
    try:
        true = np.asarray(y, dtype=np.float64).reshape(predicted.shape)
    except (TypeError, ValueError):
        raise ValueError(
            f"y_test must be numbers of shape {predicted.shape}, got {y.dtype} of shape {y.shape}."
        ) from None
    if not np.isfinite(true).all():
        raise ValueError("y_test must be finite, got NaN or infinity.")
    true, predicted = (values.reshape(len(values), -1) for values in (true, predicted))
    n_targets = true.shape[1]
    # Centred, so that no digits are lost to a large mean.
    centred = true - true.mean(axis=0)
    with np.errstate(over="ignore"):
        columns = np.hstack([(true - predicted) ** 2, centred, centred**2])
        square, fourth = _means_of_powers(columns[:, :n_targets].mean(axis=1))
    means = columns.mean(axis=0, keepdims=True)
    targets = []
    for i in range(min(n_targets, _MOST_TARGETS)):
        own = means[:, i::n_targets]
        targets.append({"r2": _r2(own)[0], "rmse": _rmse(own)[0], **_residuals(true[:, i], predicted[:, i])})
    return {
        "rows": true.shape[0],
        "rmse": _rmse(means)[0],
        "rmse_interval": of_root_mean_square(square, (fourth - square**2) / len(true), len(true)),
        "r2": _r2(means)[0],
        "r2_interval": bootstrap(columns, _r2),
        "n_targets": n_targets,
        "targets": targets,
    }


def _means_of_powers(squares: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of squared errors, and that of their squares."""
    return float(squares.mean()), float((squares**2).mean())


def _rmse(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the root of the mean squared error over all targets."""
    return np.sqrt(np.split(means, 3, axis=1)[0].mean(axis=1))


def _r2(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the explained share of the variance, averaged over targets; NaN where nothing varies."""
    squared_error, mean, square = np.split(means, 3, axis=1)
    with np.errstate(all="ignore"):
        variance = square - mean**2
        return (1 - squared_error / np.where(variance > 0, variance, np.nan)).mean(axis=1)


def _residuals(true: NDArray[np.float64], predicted: NDArray[np.float64]) -> dict[str, Any]:
    """Return points of predicted against true values, and a histogram of the differences."""
    shown = slice(None, None, max(1, -(-true.size // _MOST_POINTS)))
    residual = predicted - true
    reach = float(np.abs(residual).max()) or 1.0
    counts, edges = np.histogram(residual, bins=min(_BINS, 2 * int(np.sqrt(true.size)) + 1), range=(-reach, reach))
    return {
        "points": np.column_stack([true[shown], predicted[shown]]),
        "residuals": {"counts": counts, "edges": edges},
    }
