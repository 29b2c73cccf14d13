"""The search itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.memory_budget import SETTLE_ROWS
from craftmaps.learners.search.candidates import FIRST_DEGREE, Candidate, Found, SearchSpec
from craftmaps.learners.search.few_rows import FewRows
from craftmaps.learners.search.many_rows import ManyRows
from craftmaps.learners.search.shapings import ShapedRows
from craftmaps.learners.targets import Targets

FEWEST_ROWS = 24
_FEW_ROWS = 1024  # up to here every row is left out in closed form


def search(
    X: Any, y: NDArray, targets: Targets, spec: SearchSpec, sample_weight: NDArray[np.float64] | None = None
) -> Found:
    """Choose what is "auto" in a specification.

    The result depends on the rows, on the specification and on the seed of its maps, but not on the number of threads.

    Parameters
    ----------
    X : ndarray or CSR matrix of float32 or float64
        Rows in random order; the first 12,288 are looked at.
    y : ndarray
        Labels as `targets` takes them.
    targets : Targets
    spec : SearchSpec
    sample_weight : ndarray of shape (n_rows,), optional
    """
    X, y = X[:SETTLE_ROWS], y[:SETTLE_ROWS]
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[: len(y)]
    known = weight > 0
    if not known.all():
        X, y, weight = X[known], y[known], weight[known]
    if len(y) < FEWEST_ROWS:
        # Too few rows to tell: columns of unlike units are the commonest trap.
        candidate = Candidate(spec.shapings(issparse(X))[0], spec.kernels((FIRST_DEGREE,))[0])
        rows = ShapedRows(X, targets.encoded(y), len(y))
        if candidate.shaping.axes is not None:
            rows.prepare(candidate.shaping, len(y))
        return Found.of(candidate, rows, "squared", 0.0, ())
    if len(y) <= _FEW_ROWS:
        return FewRows(X, y, targets, spec, weight, len(y)).run()
    return ManyRows(X, y, targets, spec, weight).run()
