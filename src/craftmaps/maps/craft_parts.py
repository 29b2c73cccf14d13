"""The two projections of a compact map: how they are made, applied and read from files, and their variance."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.random_projection import BaseRandomProjection, GaussianRandomProjection
from sklearn.utils import check_scalar

from craftmaps._rows.tiling import next_power_of_two
from craftmaps._system.fields import DamagedError
from craftmaps._system.threads import blas_threads
from craftmaps.kernels import DotProductKernel
from craftmaps.maps.drawing_costs import WIDEST_MAP
from craftmaps.maps.feature_map import FeatureMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.moments import chunked_hadamard_variance, folded_hadamard_variance, random_projection_variance
from craftmaps.maps.projections import FoldedHadamard, SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch

_BLOCK_BYTES = 2**24
# The maps that a name, or None for a given map, can stand for in a model file.
UP_MAPS: dict[str | None, tuple[type, ...]] = {
    "maclaurin": (RandomMaclaurin,),
    "tensorsketch": (TensorSketch,),
    None: (RandomMaclaurin, TensorSketch),
}


def check_up_components(up_components: Any) -> None:
    """Refuse a width of the up-projection that is not a whole number, "auto" or None."""
    if isinstance(up_components, str) and up_components != "auto":
        raise ValueError(f"up_components must be an int, 'auto' or None, got {up_components!r}.")
    if not (up_components is None or isinstance(up_components, str)):
        check_scalar(up_components, "up_components", Integral, min_val=1)


def make_up(up: Any, kernel: DotProductKernel, width: int, seed: int) -> Any:
    """Return the up-projection, not yet fitted."""
    if isinstance(up, str):
        if up == "maclaurin":
            return RandomMaclaurin(kernel, width, complex_weights=True, random_state=seed)
        if up == "tensorsketch":
            return TensorSketch(kernel, width, random_state=seed)
    elif hasattr(up, "fit") and hasattr(up, "transform"):
        return _seeded_clone(up, seed if isinstance(up, FeatureMap) else seed % 2**32)
    raise ValueError(f"up must be 'maclaurin', 'tensorsketch' or a transformer, got {up!r}.")


def make_down(down: Any, n_components: int, seed: int) -> Any:
    """Return the down-projection, not yet fitted."""
    if isinstance(down, str):
        if down == "hadamard":
            return FoldedHadamard(n_components, random_state=seed)
        if down == "gaussian":
            return GaussianRandomProjection(n_components, random_state=seed % 2**32)
    elif isinstance(down, SubsampledHadamard):
        return _seeded_clone(down, seed).set_params(n_components=n_components)
    elif isinstance(down, BaseRandomProjection):  # takes 32-bit seeds only
        return _seeded_clone(down, seed % 2**32).set_params(n_components=n_components)
    raise ValueError(
        "down must be 'hadamard', 'gaussian', a SubsampledHadamard or a random projection of scikit-learn, "
        f"got {down!r}."
    )


def apply_to_rows(transformer: Any, X: Any, dtype: np.dtype) -> Any:
    """Transform validated rows and return them in a precision."""
    rows = getattr(transformer, "_transform_rows", transformer.transform)(X)
    rows = rows if issparse(rows) else np.asarray(rows)
    return rows.astype(dtype, copy=False)


def transform_in_blocks(X: Any, up: Any, down: Any, n_down: int, n_components: int) -> NDArray[np.floating]:
    """Run one projection after the other, on blocks of rows that bound the size of the up-features.

    The first `n_down` columns of `up` are projected down, the others are kept.
    """
    out = np.empty((X.shape[0], n_components), X.dtype)
    block = max(16, _BLOCK_BYTES // (8 * n_down))
    with blas_threads():
        for start in range(0, X.shape[0], block):
            Z = apply_to_rows(up, X[start : start + block], X.dtype)
            projected = apply_to_rows(down, Z[:, :n_down], X.dtype)
            end = projected.shape[1]
            out[start : start + block, :end] = projected.toarray() if issparse(projected) else projected
            out[start : start + block, end:] = Z[:, n_down:] if n_down < Z.shape[1] else 0
    return out


def added_variance(
    up: Any, down: Any, n_components: int, X: Any, Y: Any, n_kept: int, density: float | None = None
) -> NDArray[np.float64]:
    """Return the variance that a down-projection adds if the last `n_kept` columns of `up` bypass it.

    `down` is the parameter of the compact map and `n_components` its output width; `density` is that of a sparse
    projection.
    """
    is_maclaurin = isinstance(up, RandomMaclaurin)
    moments = up._estimate_moments(X, Y, n_kept) if is_maclaurin else up._estimate_moments(X, Y)
    N, S, Q = moments.lengths, moments.mean**2 + moments.variance, moments.fourth
    E, D = n_components - n_kept, up._n_features_out - n_kept
    is_subsampled = isinstance(down, SubsampledHadamard)
    if not (is_subsampled or down == "hadamard"):
        return random_projection_variance(N, S, Q, E, density)
    chunk = next_power_of_two(E)
    if is_maclaurin:
        sums = up._chunk_sums(X, Y, n_kept, chunk)
    else:
        n_chunks = -(-D // chunk)
        sums = (N / n_chunks, S / n_chunks)
    if is_subsampled:
        return chunked_hadamard_variance(N, S, Q, sums, E, next_power_of_two(max(D, E)), chunk)
    return folded_hadamard_variance(N, S, Q, sums, E, chunk)


def checked_parts(fields: Any) -> dict[str, Any]:
    """Return the parameters up, up_components and down from an untrusted model file."""
    is_named = fields.value("up_components") in (None, "auto")
    if isinstance(fields.value("down"), dict):
        down = SubsampledHadamard(random_state=fields.object("down").seed("random_state"))
    else:
        down = fields.one_of("down", ("hadamard",))
    return {
        "up": fields.one_of("up", tuple(UP_MAPS)),
        "up_components": (fields.value("up_components") if is_named else fields.whole("up_components", 1, WIDEST_MAP)),
        "down": down,
    }


def checked_up(fields: Any, width: int, name: str | None, widths: set[int]) -> Any:
    """Return the up-projection from an untrusted model file; one given by name has one of the widths."""
    up = fields.map("up_", width, UP_MAPS[name])
    if name is not None and up._n_features_out not in widths:
        expected = " or ".join(map(str, sorted(widths)))
        raise DamagedError(f"{fields.path('up_')} has {up._n_features_out} columns, expected {expected}")
    return up


def checked_kept(fields: Any, up: Any, name: str | None, n_components: int, is_auto: bool) -> int:
    """Return the number of kept columns from an untrusted model file: whole degrees of exact ones, or all columns."""
    if is_auto and name is not None and up._n_features_out == n_components:
        return fields.whole("n_kept_", n_components, n_components)
    n_kept = fields.whole("n_kept_", 0, min(n_components, up._n_features_out) - 1)
    allowed = {0}
    if name == "maclaurin":
        allowed |= set(up.shares_.kept_choices)
    if n_kept not in allowed:
        raise fields.refuse("n_kept_", f"one of {', '.join(map(str, sorted(allowed)))}")
    return n_kept


def _seeded_clone(transformer: Any, seed: int) -> Any:
    """Clone a transformer; set its `random_state` if that is None."""
    copy = clone(transformer)
    if "random_state" in copy.get_params() and copy.get_params()["random_state"] is None:
        copy.set_params(random_state=seed)
    return copy
