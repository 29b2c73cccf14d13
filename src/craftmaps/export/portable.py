"""Predictions as values that every language can read.

A recipe is a list of steps that shape a row, the up-features of the shaped row, a down-projection of them, and a head:
everything linear that follows, folded into one matrix in float64. docs/internals/portable_format.rst has the format.

A new kind of step is read in `row_steps.metric_steps`, and done by a function in `graph_steps._STEPS`, one in
`c_shaping._CALLS`, and a file `web/step_KIND.js`; features likewise.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Head(NamedTuple):
    """Outputs are weights @ sums + bias."""

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]


class Linear(NamedTuple):
    """Columns beside the features: weights @ the row after its first `n_steps` steps is added to the outputs."""

    n_steps: int
    weights: NDArray[np.float64]


class Classes(NamedTuple):
    """How outputs become scores and probabilities of classes.

    Without `decoding` the outputs are the scores. Otherwise it has `kind` ("hamming" or "loss"), `words`, and perhaps
    `matrix` and `offset` that correct the scores. Probabilities are the softmax of factor * scores.
    """

    labels: NDArray
    factor: float
    decoding: dict[str, Any] | None


@dataclass(frozen=True)
class Recipe:
    """A prediction, or the features of a map, as plain values and arrays.

    Attributes
    ----------
    n_features : int
        Width of the rows.
    steps : list of dict
        What rows go through first, in order; each has a `kind`: "columns", "levels", "table", "axes", "unit"
        or "multiply".
    features : dict
        The up-features; `kind` is "rows", "maclaurin", "tensorsketch" or "landmarks".
    down : dict or None
        The down-projection; `kind` is "folded", or for a map alone also "subsampled" or "matrix".
    head : Head or None
        None if the features themselves are the result.
    classes : Classes or None
        None for numbers and for features.
    columns : dict or None
        The rule by which tables become rows, as plain values.
    linear : Linear or None
        What the columns of rows add to the outputs of the head.
    """

    n_features: int
    steps: list[dict[str, Any]]
    features: dict[str, Any]
    down: dict[str, Any] | None = None
    head: Head | None = None
    classes: Classes | None = None
    columns: dict[str, Any] | None = None
    linear: Linear | None = None

    @property
    def n_outputs(self) -> int:
        """The number of scores, numbers or features of a row."""
        if self.head is not None:
            return self.head.bias.size if self.classes is None else self.classes.labels.size
        if self.down is None:
            return self.features["n_columns"]
        return self.down["n_components"] + self.down["kept"]
