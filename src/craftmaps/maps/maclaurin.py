"""Random Maclaurin features, the up-projection of Kar and Karnick and of the paper."""

import math
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_scalar
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from craftmaps._rows.randomness import permutations, seed_of, signs
from craftmaps._rows.sampling import Pick, bottom_rows, sample_halves
from craftmaps._rows.tiling import frozen, map_rows, next_power_of_two
from craftmaps._system.threads import blas_threads
from craftmaps.kernels import DotProductKernel, Polynomial, Rows
from craftmaps.maps.degree_allocation import RULES, share_out
from craftmaps.maps.feature_map import KernelMap, check_choice
from craftmaps.maps.moments import EstimateMoments, pairs_of

_DENSE_BLOCK_BYTES = 2**23
# So many numbers further the loops read, to have in the cache what they need soon.
_LOOK_AHEAD = 8
# They find factors in these parts of a line.
_EIGHTHS = 8


class RandomMaclaurin(KernelMap):
    r"""Estimate a dot-product kernel by random products of projections.

    A feature of degree n is :math:`\sqrt{a_n / D_n} \prod_{j \le n} w_j^T x` with random signs
    :math:`w_j`, where :math:`a_n` is the Maclaurin coefficient of the kernel and :math:`D_n` the
    number of features of that degree. Inner products of the features are unbiased estimates of
    the kernel. With Hadamard projections a row costs a product a factor, :math:`O(D)` in all, and one or two
    transforms of :math:`O(d \log d)` for each degree; with dense ones it costs :math:`O(D d)` a factor.

    Parameters
    ----------
    kernel : Polynomial, Exponential or MaclaurinSeries, default=Polynomial()
    n_components : int, default=1024
        Output width D. Any width works, also one below the number of features.
    projection : {"hadamard", "stratified", "rademacher"}, default="hadamard"
        Signs from randomised Hadamard blocks, or independent ones (dense, the reference). A
        factor draws its rows from blocks of its own: two factors of a feature that
        shared a block would bias the estimate. With "hadamard" the j-th factors of all features share one block,
        and every d features take its rows in another random order. Since a row of a block is
        as often any other one, that adds no covariance: mean and variance are those of
        "stratified", the paper's way, where every d features have blocks of their own and cost
        :math:`O(d \log d)` a factor.
    degrees : {"optimal", "proportional", "geometric"}, default="optimal"
        How features are shared out to the degrees. "geometric" is the paper's sampling,
        P[N = n] = 2^-(n+1), which wastes features above the degree of the kernel;
        "proportional" gives shares like the coefficients; "optimal" shares that minimise the
        variance over a sample of the rows given to `fit`.
    exact_low_degrees : bool or "auto", default="auto"
        Keep the constant and the linear term exactly, in 1 and d columns (the H0/1 heuristic).
        "auto" does it where it lowers the variance.
    complex_weights : bool, default=False
        Draw weights from {1, -1, i, -i} and use real and imaginary parts as features
        (complex-to-real). Lower variance at the same width and cost.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from.

    Attributes
    ----------
    seed_ : int
        With `degree_counts_` and `scale_`, all that is needed to draw the map again.
    degree_counts_ : ndarray of shape (n_degrees,), dtype int64
        Random features of each degree; a complex one is two columns.
    n_exact_ : int
        Columns that hold the constant and the linear term exactly.
    scale_ : float
        Power of two by which rows are multiplied so that they are about of unit length.

    References
    ----------
    P. Kar and H. Karnick, "Random feature maps for dot product kernels", 2012.
    J. Wacker, M. Kanagawa, M. Filippone, "Improved random features for dot product kernels", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import Polynomial, RandomMaclaurin
    >>> X = np.eye(4)
    >>> Z = RandomMaclaurin(Polynomial(degree=2), n_components=256, random_state=0).fit_transform(X)
    >>> Z.shape
    (4, 256)
    """

    def __init__(
        self,
        kernel: DotProductKernel = Polynomial(),  # noqa: B008 - a kernel is never changed in place, see KernelMap
        n_components: int = 1024,
        *,
        projection: str = "hadamard",
        degrees: Any = "optimal",
        exact_low_degrees: bool | str = "auto",
        complex_weights: bool = False,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.projection = projection
        self.degrees = degrees
        self.exact_low_degrees = exact_low_degrees
        self.complex_weights = complex_weights
        self.random_state = random_state

    def fit(self, X: Rows, y: None = None) -> Self:
        """Share the features out to the degrees and draw their signs."""
        return self._fit(X, bottom_rows)

    def _fit(self, X: Rows, pick: Pick) -> Self:
        """Do the same with rows picked so."""
        self._share(self._validated(X), pick)
        self._draw()
        return self

    def _share(self, X: Any, pick: Pick = bottom_rows) -> None:
        """Check the parameters and share the features out to the degrees."""
        kernel = self._checked_kernel()
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_choice("projection", self.projection, ("hadamard", "stratified", "rademacher"))
        check_choice("degrees", self.degrees, RULES)
        check_choice("exact_low_degrees", self.exact_low_degrees, ("auto", True, False))
        check_choice("complex_weights", self.complex_weights, (True, False))
        if X.dtype == np.float32:
            self._refuse_overflow(X)
        seed = seed_of(self.random_state)
        squared_lengths = row_norms(X, squared=True).astype(np.float64)
        scale = _power_of_two_scale(squared_lengths)
        coefficients = _scaled_coefficients(kernel, float(squared_lengths.max()), scale)
        self.seed_, self.scale_ = seed, scale
        self.shares_ = share_out(
            coefficients,
            pairs_of(*sample_halves(X, self.seed_, pick=pick), self.scale_),
            int(self.n_components),
            rule=self.degrees,
            exact=self.exact_low_degrees,
            n_features=X.shape[1],
            order=self._block_order,
            complex_weights=self._is_complex,
            seed=seed,
        )

    def _draw(self) -> None:
        """Draw signs and permutations for the shares."""
        n_parts = 2 if self._is_complex else 1
        shares = self.shares_
        self.degree_counts_ = shares.counts
        self.n_exact_ = shares.n_linear + shares.n_constant
        used = shares.n_uses
        first_factor = np.concatenate([[0], np.cumsum(shares.n_factors)])
        rows = np.empty((0, 0), np.uint32)
        first_block = first_factor[:-1]
        if self._block_order is None:
            block_signs = signs(self.seed_, "signs", (int(used.sum()), n_parts, self.n_features_in_))
        else:
            if self.projection == "hadamard":
                first_block = np.zeros_like(first_block)  # all groups share their blocks
            block_signs = signs(self.seed_, "signs", (self._n_blocks, n_parts, self._block_order))
            number = np.arange(used.size) - np.repeat(first_factor[:-1], shares.n_factors)  # within its group
            rows = permutations(self.seed_, "rows", used.size, self._block_order)
            rows = _EIGHTHS * (rows + self._block_order * number[:, None])
            rows = rows.astype(np.uint32 if rows.max(initial=0) < 2**32 else np.uint64)
            rows = np.pad(rows, ((0, -(-_LOOK_AHEAD // self._block_order)), (0, 0)))
        exact = (int(shares.counts[0]) + shares.n_unused, shares.n_linear, shares.n_constant)
        block_signs = block_signs.astype(np.float32)  # as the loops want them
        places = (used, first_factor.astype(np.int64), first_block.astype(np.int64))
        self._drawn = (block_signs, rows, *places, *exact)
        self._weights = np.sqrt(shares.columns()[1])
        self._remember_parameters()

    @property
    def _is_complex(self) -> bool:
        """Whether weights are complex: a complex feature needs two columns."""
        return self.complex_weights and self.n_components > 1

    @property
    def _block_order(self) -> int | None:
        """Order of the Hadamard matrix of a block; none if signs are independent."""
        return None if self.projection == "rademacher" else next_power_of_two(self.n_features_in_)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map rows that are known to be good."""
        if self.projection == "rademacher":
            return self._transform_dense(X)
        from craftmaps._loops import hadamard, lanes

        draw, order, n_factor_lines = self._loop_arguments()
        weights = frozen(self._weights.astype(X.dtype))

        def loop(tiles: NDArray, out: NDArray, line: tuple[int, ...]) -> None:
            z, factor = (lanes.aligned_empty(n * len(line), X.dtype) for n in (2 * order, n_factor_lines))
            hadamard.maclaurin_rows(tiles, draw, weights, z, factor, out, line, line * draw.signs.shape[1])

        return map_rows(X, self._n_features_out, loop, **self._loading(X.dtype))

    def _loop_arguments(self) -> tuple[Any, int, int]:
        """Return the draw as the loops want it, the block order, and how many lines the blocks of a group take."""
        from craftmaps._loops.hadamard import MaclaurinDraw

        draw = MaclaurinDraw(*(frozen(v) if isinstance(v, np.ndarray) else v for v in self._drawn))
        n_parts, order = draw.signs.shape[1:]
        return draw, order, int(np.diff(draw.first_factor).max(initial=1)) * n_parts * order

    def _loading(self, dtype: np.dtype) -> dict[str, Any]:
        """Say how long a tile is, where input columns stand in it, their factors, and how many parts a number has."""
        width = self.n_features_in_
        return {
            "width": self._drawn[0].shape[2],
            "position": np.arange(width),
            "factor": np.full(width, self.scale_, dtype),
            "n_parts": 2 if self._is_complex else 1,
        }

    def _transform_dense(self, X: Any) -> NDArray[np.floating]:
        """Map rows by products with dense sign matrices."""
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        dense_signs = self._drawn[0].astype(X.dtype)
        block = max(1, _DENSE_BLOCK_BYTES // (X.dtype.itemsize * self._n_features_out))
        with blas_threads():
            for start in range(0, X.shape[0], block):
                rows = X[start : start + block] * X.dtype.type(self.scale_)
                self._write_dense_block(rows, dense_signs, out[start : start + block])
        return out

    def _write_dense_block(self, X: Any, dense_signs: NDArray, out: NDArray) -> None:
        """Write the features of a block of scaled rows."""
        used, n_loose, n_linear = self._drawn[2], *self._drawn[5:7]
        n_parts = dense_signs.shape[1]
        n_features = int(used[0]) if used.size else 0
        z: Any = np.ones((X.shape[0], n_features), X.dtype if n_parts == 1 else np.result_type(X.dtype, np.complex64))
        row = 0
        for count in used:
            parts = [safe_sparse_dot(X, dense_signs[row : row + count, p].T, dense_output=True) for p in range(n_parts)]
            z[:, :count] *= parts[0] if n_parts == 1 else parts[0] + 1j * parts[1]
            row += count
        if n_parts == 1:
            out[:, :n_features] = z
        else:
            out[:, :n_features], out[:, n_features : 2 * n_features] = z.real, z.imag
        end = n_parts * n_features
        out[:, end:] = 1
        if n_linear:
            out[:, end + n_loose : end + n_loose + n_linear] = X.toarray() if issparse(X) else X
        out *= self._weights.astype(X.dtype)

    def _estimate_moments(self, X: Any, Y: Any = None, n_kept: int = 0) -> EstimateMoments:
        """Return the moments of the estimate at all pairs of rows, without the last exact columns."""
        return self.shares_.without_exact(n_kept).estimate_moments(pairs_of(X, Y, self.scale_))

    def _chunk_sums(self, X: Any, Y: Any, n_kept: int, chunk: int) -> tuple[NDArray, NDArray]:
        """Return moments of chunks of the columns, for a down-projection that leaves them in place."""
        return self.shares_.without_exact(n_kept).chunk_sums(pairs_of(X, Y, self.scale_), chunk)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: projections, and products with them."""
        n_parts = 2 if self._is_complex else 1
        n_factors = float(np.arange(self.shares_.counts.size) @ self.shares_.counts)
        if self._block_order is None:
            projections = 2.0 * self.n_features_in_ * n_factors
        else:
            projections = self._block_order * (math.log2(self._block_order) + 1) * self._n_blocks
        return n_parts * projections + n_factors * (6 if n_parts == 2 else 1) + int(self.n_components)

    @property
    def _n_blocks(self) -> int:
        """How many Hadamard blocks there are: one a factor, for all groups of features or for each."""
        n_factors = self.shares_.n_factors
        return int(n_factors.max(initial=0) if self.projection == "hadamard" else n_factors.sum())

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)


def _power_of_two_scale(squared_lengths: NDArray[np.float64]) -> float:
    """Return the power of two that brings the rows nearest to unit length on average."""
    with np.errstate(over="ignore"):
        mean = float(squared_lengths.mean())
    if not (mean > 0 and math.isfinite(mean)):
        return 1.0
    return 2.0 ** -min(max(round(math.log2(mean) / 2), -500), 500)


def _scaled_coefficients(kernel: Any, radius: float, scale: float) -> NDArray[np.float64]:
    """Return the coefficients of the kernel as a function of scaled rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = kernel.coefficients(radius=radius * scale**2, scale=scale**-2.0)
        largest = np.polynomial.polynomial.polyval(radius * scale**2, scaled)
        # The shares are computed from squares of the kernel.
        square = largest**2
    if not np.isfinite(square):
        raise ValueError(
            f"The kernel overflows on the rows of X, whose squared length reaches {radius:.3g}: scale the rows first."
        )
    return scaled
