"""Random Maclaurin features: the up-projection of Kar and Karnick, and of the paper."""

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar
from sklearn.utils.extmath import row_norms

from craftmaps._rows.sampling import SampledRows
from craftmaps._rows.tiling import frozen, map_rows, next_power_of_two
from craftmaps._system.fields import DamagedError
from craftmaps.kernels import DotProductKernel, Polynomial, check_kernel
from craftmaps.maps.degree_allocation import EXACT_DEGREES, RULES, share_out
from craftmaps.maps.degree_shares import DegreeShares
from craftmaps.maps.drawing_costs import DrawingCost
from craftmaps.maps.feature_map import KernelMap, check_choice
from craftmaps.maps.maclaurin_draw import PROJECTIONS, MaclaurinDraw, dense_features, drawing_costs, n_blocks
from craftmaps.maps.moments import EstimateMoments, pairs_of


class MaclaurinState(NamedTuple):
    """What a Maclaurin map learns from rows."""

    scale_: float
    shares_: DegreeShares


class RandomMaclaurin(KernelMap):
    r"""Estimate a dot-product kernel by random products of projections.

    A feature of degree n is :math:`\sqrt{a_n / D_n} \prod_{j \le n} w_j^T x` with random signs
    :math:`w_j`, where :math:`a_n` is the Maclaurin coefficient of the kernel and :math:`D_n` the
    number of features of that degree. Inner products of the features are unbiased estimates of
    the kernel. With Hadamard projections a row costs one product for each factor, :math:`O(D)` in all, and one or
    two transforms of :math:`O(d \log d)` for each degree; with dense projections it costs :math:`O(D d)` a factor.

    Parameters
    ----------
    kernel : Polynomial, Exponential or another kernel, default=Polynomial()
    n_components : int, default=1024
        Output width D, which may be below the number of features.
    projection : {"hadamard", "stratified", "rademacher"}, default="hadamard"
        Signs from randomised Hadamard blocks, or independent signs ("rademacher", dense, the reference).
        Each factor takes its rows from blocks of its own: two factors of a feature that
        shared a block would bias the estimate. With "hadamard" the j-th factors of all features share one block,
        and every d features take its rows in another random order. Any two rows of the block then meet equally
        often, which adds no covariance: mean and variance are those of "stratified", the paper's
        construction, in which every d features have blocks of their own and cost :math:`O(d \log d)` a factor.
    degrees : {"optimal", "proportional", "geometric"}, default="optimal"
        How features are allocated to degrees. "geometric" is the paper's sampling,
        P[N = n] = 2^-(n+1), which wastes features above the degree of the kernel;
        "proportional" allocates in proportion to the coefficients; "optimal" minimises the
        variance over a sample of the rows given to `fit`.
    exact_low_degrees : bool, "auto" or "quadratic", default="auto"
        Whether to keep the constant and the linear term exactly, in 1 and d columns (the H0/1 heuristic).
        "auto" does so where it lowers the variance. "quadratic" keeps the quadratic term as well, as all products of
        two coordinates in d (d + 1) / 2 columns: for narrow rows and kernels of low degree the error falls to a half
        or a quarter.
    complex_weights : bool, default=False
        Draw weights from {1, -1, i, -i} and use real and imaginary parts as features
        (complex-to-real): lower variance at the same width and cost.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from.

    Attributes
    ----------
    seed_ : int
        Seed, `shares_` and `scale_` are all that is needed to draw the map again.
    degree_counts_ : ndarray of shape (n_degrees,), dtype int64
        Random features of each degree; a complex feature is two columns.
    n_exact_ : int
        Columns that hold the constant, the linear and the quadratic term exactly.
    scale_ : float
        Power of two that brings rows to about unit length.
    shares_ : DegreeShares
        Columns and weights of every degree.

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

    _State = MaclaurinState

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        check_kernel(self.kernel)
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_choice("projection", self.projection, PROJECTIONS)
        check_choice("degrees", self.degrees, RULES)
        check_choice("exact_low_degrees", self.exact_low_degrees, tuple(EXACT_DEGREES))
        check_choice("complex_weights", self.complex_weights, (True, False))

    def _allocate(self, rows: SampledRows) -> None:
        """Choose the scale of the rows and allocate the columns to degrees."""
        X = rows.X
        if X.dtype == np.float32:
            self._refuse_overflow(X)
        squared_lengths = row_norms(X, squared=True).astype(np.float64)
        self.scale_ = _power_of_two_scale(squared_lengths)
        self.shares_ = self._share_out(rows, float(squared_lengths.max()))[0]

    def _share_out(self, rows: SampledRows, radius: float) -> tuple[DegreeShares, float]:
        """Allocate the columns to degrees; return the expected variance of the estimate too."""
        return share_out(
            _scaled_coefficients(self.kernel, radius, self.scale_),
            pairs_of(*rows.halves(self.seed_), self.scale_),
            int(self.n_components),
            rule=self.degrees,
            exact=self.exact_low_degrees,
            n_features=rows.X.shape[1],
            order=self._block_order,
            complex_weights=self._is_complex,
            seed=self.seed_,
        )

    def _draw(self) -> None:
        """Draw signs and permutations for the allocated columns."""
        super()._draw()
        shares = self.shares_
        self.degree_counts_ = shares.counts
        self.n_exact_ = shares.n_exact
        self._drawn = MaclaurinDraw.of(shares, self.seed_, self.projection, self.n_features_in_)
        self._weights = np.sqrt(shares.columns()[1])

    def _checked_state(self, fields: Any, width: int) -> MaclaurinState:
        """Return the state from a file; the columns of all degrees must fit the parameters."""
        scale = fields.number("scale_", above=0.0)
        n_columns, order = self._n_features_out, self._block_order_for(width)
        shares = DegreeShares.from_fields(fields.object("shares_"), n_columns)
        try:
            shares.check(n_columns, width, order, self._is_complex, self.kernel.n_degrees)
        except ValueError as error:
            raise DamagedError(f"{fields.path('shares_')}: {error}") from None
        return MaclaurinState(scale, shares)

    def _drawing_costs(self) -> Iterator[DrawingCost]:
        """Yield the signs and permutations of the columns."""
        return drawing_costs(self.shares_, self.projection, self.n_features_in_)

    @property
    def _is_complex(self) -> bool:
        """Whether weights are complex; a complex feature needs two columns."""
        return self.complex_weights and self.n_components > 1

    @property
    def _block_order(self) -> int | None:
        """Order of the Hadamard matrix of a block; None if signs are independent."""
        return self._block_order_for(self.n_features_in_)

    def _block_order_for(self, width: int) -> int | None:
        return None if self.projection == "rademacher" else next_power_of_two(width)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map validated rows."""
        if self.projection == "rademacher":
            return dense_features(X, self.scale_, self._drawn, self._weights)
        from craftmaps._loops import hadamard, lanes

        draw, n_lines = self._drawn.for_loops(), (2 * self._drawn.order, self._drawn.n_factor_lines)
        weights, n_parts = frozen(self._weights.astype(X.dtype)), self._drawn.n_parts

        def loop(tiles: NDArray, out: NDArray, line: tuple[int, ...]) -> None:
            z, factor = (lanes.aligned_empty(n * len(line), X.dtype) for n in n_lines)
            hadamard.maclaurin_rows(tiles, draw, weights, z, factor, out, line, line * n_parts)

        return map_rows(X, self._n_features_out, loop, **self._loading(X.dtype))

    @property
    def _shows_nonfinite_rows(self) -> bool:
        """Whether there are features that are not constant; each is a product of sums over all entries."""
        return self.projection != "rademacher" and self._drawn.used.size + self._drawn.n_linear > 0

    def _loading(self, dtype: np.dtype) -> dict[str, Any]:
        """Return the arguments of `map_rows` that say how rows are loaded into tiles."""
        width = self.n_features_in_
        return {
            "width": self._drawn.order,
            "position": np.arange(width),
            "factor": np.full(width, self.scale_, dtype),
            "n_parts": self._drawn.n_parts,
        }

    def _estimate_moments(self, X: Any, Y: Any = None, n_kept: int = 0) -> EstimateMoments:
        """Return the moments of the estimate at all pairs of rows, without the last `n_kept` exact columns."""
        shares = self.shares_.without_exact(n_kept)
        return shares.estimate_moments(pairs_of(X, Y, self.scale_, has_quartic=shares.n_quadratic > 0))

    def _expected_variance(self, rows: SampledRows) -> float:
        """Return the variance of the estimate, averaged over pairs of rows and over the draw of the degrees."""
        return self._share_out(rows, float(row_norms(rows.X, squared=True).max()))[1]

    def _chunk_sums(self, X: Any, Y: Any, n_kept: int, chunk: int) -> tuple[NDArray, NDArray]:
        """Return moments of chunks of the columns, for a down-projection that keeps their order."""
        shares = self.shares_.without_exact(n_kept)
        return shares.chunk_sums(pairs_of(X, Y, self.scale_, has_quartic=shares.n_quadratic > 0), chunk)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: projections, and products of factors."""
        n_parts, order = self.shares_.n_parts, self._block_order
        n_factors = float(np.arange(self.shares_.counts.size) @ self.shares_.counts)
        if order is None:
            projections = 2.0 * self.n_features_in_ * n_factors
        else:
            projections = order * (math.log2(order) + 1) * n_blocks(self.shares_, self.projection)
        products = n_factors * (6 if n_parts == 2 else 1) + 2.0 * self.shares_.n_quadratic
        return n_parts * projections + products + int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)


def _power_of_two_scale(squared_lengths: NDArray[np.float64]) -> float:
    """Return the power of two that brings the mean squared length of the rows closest to 1."""
    with np.errstate(over="ignore"):
        mean = float(squared_lengths.mean())
    if not (mean > 0 and math.isfinite(mean)):
        return 1.0
    return 2.0 ** -min(max(round(math.log2(mean) / 2), -500), 500)


def _scaled_coefficients(kernel: Any, radius: float, scale: float) -> NDArray[np.float64]:
    """Return the coefficients of the kernel as a function of scaled rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = kernel.maclaurin_coefficients(radius=radius * scale**2, scale=scale**-2.0)
        largest = np.polynomial.polynomial.polyval(radius * scale**2, scaled)
        # The allocation is computed from squares of the kernel.
        square = largest**2
    if not np.isfinite(square):
        raise ValueError(
            f"The kernel overflows on the rows of X, whose squared length reaches {radius:.3g}: scale the rows first."
        )
    return scaled
