"""Down-projections: shorten feature vectors, keep their inner products.

The second half of a compact map. A down-projection looks at the width of the training data and never at its values,
so `fit` is cheap.
"""

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from craftmaps._rows.randomness import integers, permutations, signs
from craftmaps._rows.tiling import frozen, map_rows, next_power_of_two
from craftmaps.kernels import Polynomial
from craftmaps.maps.drawing_costs import LONGEST_PERMUTATION, DrawingCost
from craftmaps.maps.feature_map import SeededMap
from craftmaps.maps.moments import (
    EstimateMoments,
    folded_hadamard_variance,
    pairs_of,
    subsampled_hadamard_variance,
)


class HadamardProjection(SeededMap):
    """A projection by random signs, Hadamard transforms of size B, and E of their rows."""

    signs_: NDArray[np.int8]
    residues_: NDArray[np.int64]
    _shows_nonfinite_rows = True  # every feature is a sum over all entries

    def __init__(self, n_components: int = 64, *, random_state: Any = None):
        self.n_components = n_components
        self.random_state = random_state

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        check_scalar(self.n_components, "n_components", Integral, min_val=1)

    def _draw(self) -> None:
        """Draw the signs of the inputs and the kept rows of the transform."""
        super()._draw()
        self.signs_ = signs(self.seed_, "signs", (self.n_features_in_,))
        self.residues_ = np.sort(permutations(self.seed_, "residues", 1, self._chunk)[0, : self._n_features_out])

    @property
    def _estimated_kernel(self) -> Polynomial:
        return Polynomial(degree=1, coef0=0.0)

    @property
    def _chunk(self) -> int:
        """B, the size of the transforms."""
        return next_power_of_two(int(self.n_components))

    @property
    def _scale(self) -> float:
        return 1 / math.sqrt(self._n_features_out)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)


class SubsampledHadamard(HadamardProjection):
    r"""Project with a subsampled randomised Hadamard transform.

    Maps :math:`x \in R^D` to :math:`E^{-1/2} S H_P \Delta x`: random signs :math:`\Delta`, the
    Hadamard matrix of order P, the next power of two, and E of its rows. Estimates of inner products are
    unbiased, with the variance

    .. math:: \frac{N + S - 2Q}{E} \left(1 - \frac{E - 1}{P - 1}\right).

    The kept rows have E different residues modulo B, the power of two at or above E. With the inputs
    in random order the variance is that of E random rows, but only transforms of size B are needed: the cost
    is :math:`O(P \log E)` instead of :math:`O(P \log P)`, and the buffer has length B instead of P.

    Parameters
    ----------
    n_components : int, default=64
        Output width E. Above the input width the map is an isometry onto more coordinates.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from.

    Attributes
    ----------
    seed_ : int
        All that is needed to draw the map again.
    order_ : int
        P, the order of the Hadamard matrix.
    signs_ : ndarray of shape (n_features_in_,), dtype int8
        The diagonal of the sign matrix.
    positions_ : ndarray of shape (n_features_in_,), dtype int64
        Position of each input among the P.
    residues_ : ndarray of shape (n_components,), dtype int64
        The residues modulo B that are kept.
    quotients_ : ndarray of shape (n_components,), dtype int64
        Row e of the projection is row quotients_[e] * B + residues_[e] of the matrix.

    References
    ----------
    J. Tropp, "Improved analysis of the subsampled randomized Hadamard transform", 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import SubsampledHadamard
    >>> SubsampledHadamard(n_components=4, random_state=0).fit_transform(np.eye(3, 8)).shape
    (3, 4)
    """

    def _draw(self, shuffle: bool = True) -> None:
        """Draw the map; without `shuffle`, inputs keep their positions."""
        super()._draw()
        width, self.order_ = self.n_features_in_, self._order
        self.positions_ = np.arange(width)
        if shuffle:
            self.positions_ = permutations(self.seed_, "positions", 1, self.order_)[0, :width]
        self.quotients_ = integers(self.seed_, "quotients", (self.residues_.size,), self.order_ // self._chunk)
        n_chunks = -(-(int(self.positions_.max()) + 1) // self._chunk)
        quotients = np.zeros(self._chunk, np.int64)  # of all residues, kept or not
        quotients[self.residues_] = self.quotients_
        common = np.bitwise_count(np.arange(n_chunks)[:, None] & quotients)
        self._outer_signs = np.where(common & 1, np.float32(-1), np.float32(1))  # the dtype of the loops

    def _drawing_costs(self) -> Iterator[DrawingCost]:
        """Yield the permutation of the inputs."""
        yield DrawingCost("A permutation", self._order, LONGEST_PERMUTATION)

    @property
    def _order(self) -> int:
        """P, the order of the Hadamard matrix."""
        return next_power_of_two(max(self.n_features_in_, self._n_features_out))

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Project validated rows."""
        from craftmaps._loops import hadamard, lanes

        subsample = self._subsample()

        def loop(tiles: NDArray, out: NDArray, line: tuple[int, ...]) -> None:
            total = lanes.aligned_empty(self._chunk * len(line), X.dtype)
            hadamard.subsampled_rows(tiles, subsample, total, out, line)

        width = subsample.outer.shape[0] << subsample.log2_chunk
        return map_rows(
            X,
            self.residues_.size,
            loop,
            width=width,
            position=self.positions_,
            factor=self.signs_ * self._scale,
        )

    def _subsample(self) -> Any:
        """Return the kept rows in the form that the loops take."""
        from craftmaps._loops.hadamard import Subsample

        return Subsample(frozen(self._outer_signs), frozen(self.residues_), self._chunk.bit_length() - 1)

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the moments of the estimate of x.y at all pairs of rows."""
        pairs = pairs_of(X, Y)
        return EstimateMoments(pairs.dot, self._added_variance(pairs.N, pairs.S, pairs.Q), pairs.N, pairs.Q)

    def _added_variance(self, N: NDArray, S: NDArray, Q: NDArray) -> NDArray[np.float64]:
        """Return the variance of projected inner products, from the moments of the input."""
        return subsampled_hadamard_variance(N, S, Q, self._n_features_out, self._order)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: transforms of chunks, and their sums."""
        return self.n_features_in_ * (math.log2(self._chunk) + 2.0)


class FoldedHadamard(HadamardProjection):
    r"""Project with a Hadamard transform of the sum of chunks.

    Keeps E of the first B rows of the matrix of order P in `SubsampledHadamard`, where B is the power of two at
    or above E. These rows repeat every B columns, so chunks of B numbers, with random signs and each in a shifted
    order, are added up before one transform of size B: the cost is :math:`O(D + B \log B)` instead of
    :math:`O(D \log B)`. Estimates of inner products are unbiased; for inputs in random order the
    variance is that of `SubsampledHadamard`. Two large entries rarely meet in one place, but then the error is
    large: the projection is made for wide rows without dominant entries, such as up-features.

    Parameters
    ----------
    n_components : int, default=64
        Output width E.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from.

    Attributes
    ----------
    seed_ : int
        All that is needed to draw the map again.
    signs_ : ndarray of shape (n_features_in_,), dtype int8
    shifts_ : ndarray of shape (n_chunks,), dtype int64
        Number k of chunk c is added to place k ^ shifts_[c].
    residues_ : ndarray of shape (n_components,), dtype int64
        The rows of the transform that are kept.
    """

    def _draw(self) -> None:
        """Draw the map."""
        super()._draw()
        width = self.n_features_in_
        self.shifts_ = integers(self.seed_, "shifts", (-(-width // self._chunk),), self._chunk)
        place = np.arange(width) & (self._chunk - 1)
        self._places = (place ^ np.repeat(self.shifts_, self._chunk)[:width]).astype(np.int32)

    def _drawing_costs(self) -> Iterator[DrawingCost]:
        """Yield the permutation of the rows of the transform."""
        yield DrawingCost("A permutation", self._chunk, LONGEST_PERMUTATION)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Project validated rows."""
        from craftmaps._loops import hadamard, lanes

        fold = self._fold()

        def loop(tiles: NDArray, out: NDArray, line: tuple[int, ...]) -> None:
            total = lanes.aligned_empty(self._chunk * len(line), X.dtype)
            hadamard.folded_rows(tiles, fold, total, out, line)

        width = self.signs_.size
        factor = self.signs_ * self._scale
        return map_rows(X, self.residues_.size, loop, width=width, position=np.arange(width), factor=factor)

    def _fold(self, n_kept: int = 0, is_finished: bool = True) -> Any:
        """Return places and kept rows in the form that the loops take; `n_kept` more columns bypass the projection.

        With `is_finished=False` the last transform has order 1, so the outputs are the sums of chunks.
        """
        from craftmaps._loops.hadamard import Fold

        kept = self._chunk + np.arange(n_kept)
        places = np.concatenate([self._places, kept], dtype=np.int32)
        if not is_finished:
            return Fold(frozen(places), frozen(np.arange(self._chunk + n_kept)), 0)
        outputs = np.concatenate([self.residues_, kept])
        return Fold(frozen(places), frozen(outputs), self._chunk.bit_length() - 1)

    def _folded_weights(self, weights: NDArray[np.float64], n_kept: int) -> NDArray[np.float64]:
        """Turn the weights of the outputs into weights of the sums of chunks: H is its own transpose."""
        n_outputs = self.residues_.size
        folded = np.zeros((self._chunk + n_kept, weights.shape[1]))
        folded[self.residues_] = weights[:n_outputs]
        half = 1
        while half < self._chunk:
            pairs = folded[: self._chunk].reshape(-1, 2, half, weights.shape[1])
            pairs[:] = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
            half *= 2
        folded[self._chunk :] = weights[n_outputs:]
        return folded

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the moments of the estimate of x.y at all pairs of rows."""
        pairs, B = pairs_of(X, Y), self._chunk
        chunks = [
            pairs_of(X[:, start : start + B], None if Y is None else Y[:, start : start + B])
            for start in range(0, X.shape[1], B)
        ]
        sums = (np.sum([chunk.N for chunk in chunks], axis=0), np.sum([chunk.S for chunk in chunks], axis=0))
        variance = folded_hadamard_variance(pairs.N, pairs.S, pairs.Q, sums, int(self.n_components), B)
        return EstimateMoments(pairs.dot, variance, pairs.N, pairs.Q)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: the sum of the chunks, and a transform."""
        return 2.0 * self.n_features_in_ + self._chunk * math.log2(self._chunk)
