"""Weights of classes, as learners take them."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_class_weight(class_weight: Any) -> None:
    """Refuse what does not weigh classes."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}.")
    bad = next((w for w in class_weight.values() if not (isinstance(w, Real) and 0 < float(w) < np.inf)), None)
    if bad is not None:
        raise ValueError(f"class_weight must have finite weights above 0, got {bad!r}.")


def balanced_weights(classes: NDArray, sums: NDArray[np.float64]) -> dict[Any, float]:
    """Return weights that make all classes count alike, from the weights of their rows."""
    seen = np.flatnonzero(sums)
    labels = classes.tolist()
    return {labels[i]: float(sums.sum() / (seen.size * sums[i])) for i in seen}


def weights_of_classes(class_weight: Any, classes: NDArray) -> NDArray[np.float64]:
    """Return the weight of each class, 1 for those that none is given for."""
    if isinstance(class_weight, str):
        raise ValueError(
            f"class_weight={class_weight!r} needs all rows: use fit, or give the weights of the classes as a dict."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
