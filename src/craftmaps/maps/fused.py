"""A Maclaurin up-projection and a Hadamard down-projection in one loop."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.tiling import frozen, map_rows
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.projections import FoldedHadamard, HadamardProjection, SubsampledHadamard


def can_be_fused(up: Any, down: Any) -> bool:
    """Tell whether one loop can run both projections."""
    is_hadamard = isinstance(up, RandomMaclaurin) and up.projection != "rademacher"
    return is_hadamard and isinstance(down, HadamardProjection)


def fused_weights(up: RandomMaclaurin, down: HadamardProjection) -> NDArray[np.float64]:
    """Return the weights of the up-features, with the signs and the scale of the down-projection."""
    weights = up._weights.copy()
    weights[: down.signs_.size] *= down.signs_ * down._scale
    return weights


def fused_transform(
    X: Any,
    up: RandomMaclaurin,
    down: HadamardProjection,
    weights: NDArray[np.float64],
    out: NDArray | None = None,
    is_finished: bool = True,
) -> NDArray[np.floating]:
    """Project rows up and down; the columns that the down-projection does not take are kept.

    With `is_finished=False` a `FoldedHadamard` leaves out its last transform.
    """
    n_kept = weights.size - down.signs_.size
    if isinstance(down, FoldedHadamard):
        loop = _folded_loop(X.dtype, up, down, weights, n_kept, is_finished)
    else:
        loop = _subsampled_loop(X.dtype, up, down, weights, n_kept)  # type: ignore[arg-type]
    return map_rows(X, down.residues_.size + n_kept, loop, out=out, **up._loading(X.dtype))


def _folded_loop(
    dtype: np.dtype, up: RandomMaclaurin, down: FoldedHadamard, weights: NDArray, n_kept: int, is_finished: bool
) -> Any:
    """Return the loop that adds up chunks of up-features as they come."""
    from craftmaps._loops import hadamard, lanes

    draw, weight, fold = up._drawn.for_loops(), frozen(weights.astype(dtype)), down._fold(n_kept, is_finished)
    n_factor_lines, n_parts, n_sums = up._drawn.n_factor_lines, up._drawn.n_parts, down._chunk + n_kept

    def loop(tiles: NDArray, out: NDArray, line: tuple[int, ...]) -> None:
        factor, total = (lanes.aligned_empty(n * len(line), dtype) for n in (n_factor_lines, n_sums))
        hadamard.folded_craft_rows(tiles, draw, weight, fold, factor, total, out, line, line * n_parts)

    return loop


def _subsampled_loop(
    dtype: np.dtype, up: RandomMaclaurin, down: SubsampledHadamard, weights: NDArray, n_kept: int
) -> Any:
    """Return the loop that transforms every chunk of up-features."""
    from craftmaps._loops import hadamard, lanes

    draw, weight, subsample = up._drawn.for_loops(), frozen(weights.astype(dtype)), down._subsample()
    n_factor_lines, n_parts = up._drawn.n_factor_lines, up._drawn.n_parts
    # An unfinished chunk and one more group of features, padded to whole chunks.
    chunk = 1 << subsample.log2_chunk
    n_features = chunk * (1 + -(-2 * up._drawn.order // chunk))

    def loop(tiles: NDArray, out: NDArray, line: tuple[int, ...]) -> None:
        n_lines = (n_features, n_factor_lines, chunk)
        z, factor, total = (lanes.aligned_empty(n * len(line), dtype) for n in n_lines)
        hadamard.craft_rows(tiles, draw, weight, n_kept, subsample, z, factor, total, out, line, line * n_parts)

    return loop
