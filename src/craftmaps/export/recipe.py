"""The recipe of a prediction: what another language needs to predict as a model does.

The only module that reads the inside of maps and learners; `row_steps` reads metrics.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.random_projection import BaseRandomProjection
from sklearn.utils.validation import check_is_fitted

from craftmaps.export.portable import Classes, Head, Recipe
from craftmaps.export.row_steps import METRICS, length_steps, linear_part, metric_steps, refused, width_after
from craftmaps.export.transforms import hadamard_transformed
from craftmaps.kernels import Exponential, Polynomial, spelled_out
from craftmaps.learners import CraftClassifier, CraftRegressor
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.feature_map import FeatureMap
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.projections import FoldedHadamard, HadamardProjection, SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch
from craftmaps.shaping.row_shaping import steps_of
from craftmaps.tables import Column, Columns

_IDENTITY_ROWS = 1024


def recipe_of(model: Any) -> Recipe:
    """Return the recipe of a fitted learner or map, or a recipe itself; refuse what cannot be exported."""
    if isinstance(model, Recipe):
        return model
    if isinstance(model, (CraftClassifier, CraftRegressor)):
        return _of_learner(model)
    if isinstance(model, METRICS):
        check_is_fitted(model)
        return Recipe(model.n_features_in_, metric_steps(model), _rows(width_after(model, model.n_features_in_)))
    if isinstance(model, FeatureMap):
        check_is_fitted(model)
        features, down = _whole_map(model)
        return Recipe(model.n_features_in_, [], features, down)
    raise TypeError(
        f"model must be a fitted learner or map of craftmaps to be exported, got {type(model).__name__}, "
        "which is none of them."
    )


def _of_learner(model: Any) -> Recipe:
    """Return the recipe of a learner, with all that is linear in one matrix."""
    fitted = model._solved
    shaping, targets = fitted.features, fitted.targets
    steps = metric_steps(shaping.metric) + length_steps(shaping.scale)
    weights, bias, classes = fitted.coef.T, fitted.intercept, None
    if isinstance(model, CraftClassifier):
        weights, bias, classes = _decoded(weights, bias, targets, model.calibration_)
    width = width_after(shaping.metric, model.n_features_in_)
    n_mapped = weights.shape[0] - fitted.n_linear
    linear = linear_part(shaping, weights[n_mapped:])
    features, down, weights = _folded(shaping.feature_map, weights[:n_mapped], width)
    head = Head(weights.T, bias)
    return Recipe(model.n_features_in_, steps, features, down, head, classes, _column_rule(model), linear)


def _column_rule(model: Any) -> dict[str, Any] | None:
    """Return the rule of the columns of a table, checked: a model file may say anything.

    Columns of a data frame of numbers have names alone; none of them may be missing.
    """
    notes = getattr(model, "notes_", None)
    if not isinstance(notes, dict) or notes.get("columns") is None:
        names = getattr(model, "feature_names_in_", None)
        return None if names is None else Columns(tuple(Column(name, "number") for name in names.tolist())).to_plain()
    rule = Columns.from_plain(notes["columns"])
    if rule.n_features != model.n_features_in_:
        raise ValueError(
            f"The model takes rows of {model.n_features_in_} columns, but its notes describe {rule.n_features}."
        )
    return rule.to_plain()


def facts_of(model: Any) -> list[tuple[str, str]]:
    """Describe a fitted learner as pairs of a name and a text."""
    if isinstance(model, Recipe):
        return []
    shaping = model.features_
    feature_map: Any = shaping.feature_map
    facts = [
        ("learned from", f"{model.n_rows_seen_:,} rows of {model.n_features_in_:,} numbers"),
        ("features", "the columns themselves" if feature_map is None else f"{model.coef_.shape[-1]:,}"),
    ]
    kernel = getattr(feature_map, "kernel", None)
    if kernel is not None:
        facts.append(("kernel", spelled_out(kernel)))
    if shaping.metric is not None:
        facts.append(("metric", ", ".join(type(step).__name__ for step in steps_of(shaping.metric))))
    error = getattr(model, "cv_results_", {}).get("error")
    if error is not None and isinstance(model, CraftClassifier):
        facts.append(("held-out error", f"{100 * float(error):.2f} %"))
    return [*facts, ("seed", str(model.seed_))]


def _decoded(
    weights: NDArray[np.float64], bias: NDArray[np.float64], targets: Any, calibration: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], Classes]:
    """Fold euclidean decoding and the calibration matrix into the weights; keep other decodings apart."""
    words, kind = targets.words, targets.code.decoding
    matrix, offset = calibration.matrix, calibration.offset
    if kind != "euclidean":
        decoding = {"kind": kind, "words": words, "matrix": matrix, "offset": offset}
        return weights, bias, Classes(targets.classes, float(calibration.factor), decoding)
    decode = words @ words.T / words.shape[1]
    if matrix is not None:
        decode = decode @ matrix
    bias = bias @ decode if offset is None else bias @ decode + offset
    return weights @ decode, bias, Classes(targets.classes, float(calibration.factor), None)


# Features, with weights that are pulled back through what is linear, and without.


def _folded(
    feature_map: Any, weights: NDArray[np.float64], width: int
) -> tuple[dict[str, Any], dict[str, Any] | None, NDArray[np.float64]]:
    """Return features, a down-projection, and the weights of its sums from those of a map's outputs."""
    if feature_map is None:
        return _rows(width), None, weights
    if isinstance(feature_map, CraftMap):
        up, down, kept = feature_map.up_, feature_map.down_, feature_map.n_kept_
        if down is None:
            return _folded(up, weights, width)
        if isinstance(down, FoldedHadamard) and isinstance(up, (RandomMaclaurin, TensorSketch)):
            return _columns(up), _fold(down, kept), _weights_of_sums(down, weights)
        n_out = weights.shape[0] - kept
        weights = np.concatenate([_pulled_back(down, weights[:n_out]), weights[n_out:]])
        return _folded(up, weights, width)
    if isinstance(feature_map, HadamardProjection):
        return _rows(width), None, _pulled_back(feature_map, weights)
    if isinstance(feature_map, LandmarkMap) and feature_map.whiten:
        weights = feature_map.whitening_.astype(np.float64) @ weights
    return _columns(feature_map), None, weights


def _weights_of_sums(down: FoldedHadamard, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the sums of chunks: H is its own transpose."""
    n_out = down.residues_.size
    chunk = _chunk(down)
    scattered = np.zeros((chunk, weights.shape[1]))
    scattered[down.residues_] = weights[:n_out] / math.sqrt(n_out)
    return np.concatenate([hadamard_transformed(scattered), weights[n_out:]])


def _pulled_back(down: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of a linear map's inputs: what the map makes of unit vectors, a block at a time."""
    width = down.n_features_in_
    blocks = []
    for start in range(0, width, _IDENTITY_ROWS):
        rows = np.eye(min(_IDENTITY_ROWS, width - start), width, k=start)
        projected = down.transform(rows)
        blocks.append(np.asarray(projected.todense() if issparse(projected) else projected) @ weights)
    return np.concatenate(blocks)


def _whole_map(feature_map: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return features and down-projection of a map whose outputs are the result."""
    if isinstance(feature_map, CraftMap):
        features, between = _whole_map(feature_map.up_)
        if between is not None:
            raise refused("up-projection", feature_map.up_)
        if feature_map.down_ is None:
            return features, None
        return features, _down(feature_map.down_, feature_map.n_kept_)
    if isinstance(feature_map, HadamardProjection):
        return _rows(feature_map.n_features_in_), _down(feature_map, 0)
    if isinstance(feature_map, LandmarkMap) and feature_map.whiten:
        matrix = feature_map.whitening_.astype(np.float64)
        return _columns(feature_map), {"kind": "matrix", "matrix": matrix, "n_components": matrix.shape[1], "kept": 0}
    return _columns(feature_map), None


def _down(down: Any, kept: int) -> dict[str, Any]:
    """Return a whole down-projection."""
    if isinstance(down, FoldedHadamard):
        return _fold(down, kept)
    if isinstance(down, SubsampledHadamard):
        is_shuffled = not np.array_equal(down.positions_, np.arange(down.positions_.size))
        return _fold(down, kept) | {"kind": "subsampled", "order": int(down.order_), "shuffled": is_shuffled}
    if isinstance(down, BaseRandomProjection):
        matrix = _pulled_back(down, np.eye(down.n_components_))
        return {"kind": "matrix", "matrix": matrix, "n_components": matrix.shape[1], "kept": kept}
    raise refused("down-projection", down)


def _fold(down: HadamardProjection, kept: int) -> dict[str, Any]:
    """Return what draws a Hadamard projection again."""
    return {
        "kind": "folded",
        "seed": str(down.seed_),
        "chunk": _chunk(down),
        "width": int(down.n_features_in_),
        "n_components": int(down.residues_.size),
        "kept": int(kept),
    }


def _chunk(down: HadamardProjection) -> int:
    """Return the size of the transforms of a projection."""
    return 1 << (int(down.n_components) - 1).bit_length()


# Up-features.


def _columns(feature_map: Any) -> dict[str, Any]:
    """Return the up-features of a map."""
    for map_class, read in _READERS.items():
        if isinstance(feature_map, map_class):
            return read(feature_map)
    raise refused("feature map", feature_map)


def _rows(width: int) -> dict[str, Any]:
    """Return features that are the shaped rows."""
    return {"kind": "rows", "width": int(width), "n_columns": int(width)}


def _maclaurin(feature_map: RandomMaclaurin) -> dict[str, Any]:
    """Return what draws a Maclaurin map again."""
    shares = feature_map.shares_
    if shares.n_quadratic:
        raise TypeError(
            "A map with exact quadratic columns cannot be exported: set up_components to an int or None "
            "instead of 'auto', or exact_low_degrees to 'auto' instead of 'quadratic', and fit again."
        )
    return {
        "kind": "maclaurin",
        "seed": str(feature_map.seed_),
        "width": int(feature_map.n_features_in_),
        "n_columns": int(feature_map.n_components),
        "order": None if shares.order is None else int(shares.order),
        "parts": 2 if shares.complex_weights else 1,
        "shared": feature_map.projection == "hadamard",
        "scale": float(feature_map.scale_),
        "counts": shares.counts.tolist(),
        "weights": shares.weights.tolist(),
        "coefficients": shares.coefficients.tolist(),
        "unused": int(shares.n_unused),
        "linear": int(shares.n_linear),
        "constant": int(shares.n_constant),
    }


def _tensor_sketch(feature_map: TensorSketch) -> dict[str, Any]:
    """Return what draws a TensorSketch again."""
    kernel: Any = feature_map.kernel
    return {
        "kind": "tensorsketch",
        "seed": str(feature_map.seed_),
        "width": int(feature_map.n_features_in_),
        "n_columns": int(feature_map.n_components),
        "degree": int(kernel.degree),
        "scale": math.sqrt(kernel.gamma),
        "constant": math.sqrt(kernel.coef0),
    }


def _landmarks(feature_map: LandmarkMap) -> dict[str, Any]:
    """Return landmarks and the kernel."""
    landmarks: Any = feature_map.landmarks_
    landmarks = np.asarray(landmarks.todense() if issparse(landmarks) else landmarks, dtype=np.float64)
    return {
        "kind": "landmarks",
        "width": landmarks.shape[1],
        "n_columns": landmarks.shape[0],
        "kernel": _kernel(feature_map.kernel),
        "landmarks": landmarks,
    }


def _kernel(kernel: Any) -> dict[str, Any]:
    """Return a kernel as plain values."""
    if isinstance(kernel, Polynomial):
        numbers = {"degree": int(kernel.degree), "gamma": float(kernel.gamma), "coef0": float(kernel.coef0)}
        return {"kind": "polynomial", **numbers}
    if isinstance(kernel, Exponential):
        return {"kind": "exponential", "gamma": float(kernel.gamma)}
    if kernel.is_for_unit_rows:
        raise TypeError(
            f"Landmarks with the kernel {kernel!r} cannot be exported: use a Polynomial, Exponential or "
            "MaclaurinSeries kernel, or a random map of this one."
        )
    return {"kind": "series", "coefficients": kernel.maclaurin_coefficients().tolist()}


_READERS = {RandomMaclaurin: _maclaurin, TensorSketch: _tensor_sketch, LandmarkMap: _landmarks}
