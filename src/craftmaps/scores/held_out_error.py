"""The error of the rows that a learner left out to choose alpha."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from craftmaps.scores.intervals import of_folds, wilson


class HeldOutError(NamedTuple):
    """The place of the chosen alpha in `cv_results_`, and the error of the rows that were left out.

    `error` is a share of rows, or the mean square error of numbers; `interval` is that of the share, or of the root
    mean square.
    """

    chosen: int
    error: float
    interval: list[float] | None
    n_rows: int
    is_share: bool

    def to_plain(self) -> dict[str, Any]:
        """Return rows, error or root mean square error, and its interval."""
        if self.is_share:
            return {"rows": self.n_rows, "error": self.error, "error_interval": self.interval}
        return {"rows": self.n_rows, "rmse": float(np.sqrt(self.error)), "rmse_interval": self.interval}


def held_out_error(model: Any) -> HeldOutError | None:
    """Return the held-out error of a fitted learner, or None if it chose no alpha or comes from a file."""
    results = getattr(model, "cv_results_", None)
    if results is None or model.cv is None:
        return None
    error, n_rows = float(results["error"]), int(results["n_rows"])
    if is_classifier(model):
        n_effective = float(results["n_effective"])
        return HeldOutError(results["chosen"], error, wilson(error * n_effective, n_effective), n_rows, True)
    ends = of_folds(results["error_by_fold"], error)
    return HeldOutError(results["chosen"], error, None if ends is None else np.sqrt(ends).tolist(), n_rows, False)
