"""Compact random feature maps: project up, then down (Algorithm 2 of the paper)."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.random_projection import BaseRandomProjection, GaussianRandomProjection
from sklearn.utils import check_scalar

from craftmaps._rows.randomness import child_seed, seed_of
from craftmaps._rows.sampling import Pick, bottom_rows, sample_halves
from craftmaps._rows.tiling import frozen, map_rows, next_power_of_two
from craftmaps._system.threads import blas_threads
from craftmaps.kernels import DotProductKernel, Polynomial, Rows
from craftmaps.maps.feature_map import FeatureMap, KernelMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.moments import (
    EstimateMoments,
    chunked_hadamard_variance,
    folded_hadamard_variance,
    random_projection_variance,
)
from craftmaps.maps.projections import FoldedHadamard, HadamardProjection, SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch

_BLOCK_BYTES = 2**24


class CraftMap(KernelMap):
    r"""Estimate a dot-product kernel with a compact random feature map.

    An up-projection :math:`Z: R^d \to R^D` estimates the kernel well but wastefully; a
    Johnson-Lindenstrauss down-projection :math:`G: R^D \to R^E` keeps its inner products in
    fewer numbers. At equal output width E the error is below that of the up-map alone, unless
    the kernel is so nearly linear that the up-map is almost exact.
    With Hadamard transforms for both a row costs a product a factor, :math:`O(D)` in all, and transforms
    of sizes d and E; the D numbers of a row are never all there at once.

    Parameters
    ----------
    kernel : Polynomial, Exponential or MaclaurinSeries, default=Polynomial()
    n_components : int, default=1024
        Output width E.
    up : {"maclaurin", "tensorsketch"} or transformer, default="maclaurin"
        The up-projection. "maclaurin" means `RandomMaclaurin` with complex weights and optimal
        degrees; where it lowers the predicted error, its exact constant and linear columns are
        spared from the down-projection. A transformer is cloned and its output projected down
        whole; if it is a map of this library, its own kernel and `n_components` count.
    up_components : int or None, default=None
        Width D of the up-projection that a name stands for; None means 8 * n_components, as
        in the paper's tables.
    down : {"hadamard", "gaussian"} or random projection, default="hadamard"
        The down-projection. "hadamard" adds up chunks of the D numbers with random signs and transforms
        the sum, which keeps the first rows of a randomised Hadamard transform of all of them (`FoldedHadamard`);
        "gaussian" is a Gaussian matrix. A `SubsampledHadamard`, which keeps rows at random as the
        paper does, or any of scikit-learn's random projections is cloned and set to `n_components`.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from. Transformers without a `random_state` of their own get one.

    Attributes
    ----------
    seed_ : int
        All that is needed to draw the map again, beside what the up-map learned in `fit`.
    up_ : transformer
        The fitted up-projection.
    down_ : transformer
        The fitted down-projection.
    n_kept_ : int
        Columns of the up-projection, its last ones, that are kept as they are.

    References
    ----------
    R. Hamid, Y. Xiao, A. Gittens, D. DeCoste, "Compact random feature maps", 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from craftmaps import CraftMap, Polynomial
    >>> X = normalize(load_digits().data)
    >>> CraftMap(Polynomial(degree=7), n_components=256, random_state=0).fit_transform(X).shape
    (1797, 256)
    """

    def __init__(
        self,
        kernel: DotProductKernel = Polynomial(),  # noqa: B008 - a kernel is never changed in place, see KernelMap
        n_components: int = 1024,
        *,
        up: Any = "maclaurin",
        up_components: int | None = None,
        down: Any = "hadamard",
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.up = up
        self.up_components = up_components
        self.down = down
        self.random_state = random_state

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Fit the up-projection and draw the down-projection for its width."""
        return self._fit(X, bottom_rows)

    def _fit(self, X: Rows, pick: Pick) -> Self:
        """Do the same with rows picked so."""
        X = self._validated(X)
        self._checked_kernel()
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        if self.up_components is not None:
            check_scalar(self.up_components, "up_components", Integral, min_val=1)
        self.seed_ = seed_of(self.random_state)
        self._make_down(0)  # a bad one is refused before an earlier fit is lost
        up = self._make_up()
        self.up_ = up._fit(X, pick) if isinstance(up, KernelMap) else up.fit(X)
        self.n_kept_ = self._choose_kept(X, pick)
        self._draw_down(self._up_width(X))
        return self

    def _draw_down(self, up_width: int | None = None) -> None:
        """Draw the down-projection for the columns that are not kept."""
        n_down = (self.up_._n_features_out if up_width is None else up_width) - self.n_kept_
        self.down_ = self._make_down(self.n_kept_)
        if isinstance(self.down_, SubsampledHadamard):
            # Columns of the up-maps are exchangeable enough to keep their places, which
            # lets the fused loop work on one chunk of them at a time.
            self.down_.n_features_in_ = n_down
            self.down_._draw(n_down, shuffle=False)
        else:
            self.down_.fit(np.zeros((1, n_down)))  # random projections look at the width alone
        if self._is_fused:
            # The signs and the scale of the down-projection ride on the weights of the up-features.
            self._fused_weights = self.up_._weights.copy()
            self._fused_weights[:n_down] *= self.down_.signs_ * self.down_._scale
        self._remember_parameters()

    def _up_width(self, X: Any) -> int:
        """Return the width of the up-projection; of a foreign one a row shows it."""
        if isinstance(self.up_, FeatureMap):
            return self.up_._n_features_out
        return _apply(self.up_, X[:1], X.dtype).shape[1]

    def _make_up(self) -> Any:
        """Return the up-projection, not yet fitted."""
        seed = child_seed(self.seed_, "up")
        width = self.up_components or 8 * int(self.n_components)
        if isinstance(self.up, str):
            if self.up == "maclaurin":
                return RandomMaclaurin(self.kernel, width, complex_weights=True, random_state=seed)
            if self.up == "tensorsketch":
                return TensorSketch(self.kernel, width, random_state=seed)
        elif hasattr(self.up, "fit") and hasattr(self.up, "transform"):
            return _seeded_clone(self.up, seed if isinstance(self.up, FeatureMap) else seed % 2**32)
        raise ValueError(f"up must be 'maclaurin', 'tensorsketch' or a transformer, got {self.up!r}.")

    def _choose_kept(self, X: Any, pick: Pick = bottom_rows) -> int:
        """Choose how many exact columns to spare from the down-projection: none, the constant, or all.

        A kept column is exact in the result too, and its energy does not add to the error of
        the others, but it takes one of their places.
        """
        if self.up != "maclaurin":
            return 0  # a given up-map goes through the down-projection whole
        shares, n_components = self.up_.shares_, int(self.n_components)
        left, right = sample_halves(X, self.seed_, pick=pick)
        errors = {
            n_kept: float(np.mean(self._added_variance(left, right, n_kept)))
            for n_kept in {0, shares.n_constant, shares.n_constant + shares.n_linear}
            if n_kept < min(n_components, self.up_.n_components)
        }
        return min(errors, key=lambda n_kept: errors[n_kept])

    def _make_down(self, n_kept: int) -> Any:
        """Return the down-projection, not yet fitted, for all but the columns that are kept."""
        seed = child_seed(self.seed_, "down")
        n_components = int(self.n_components) - n_kept
        if isinstance(self.down, str):
            if self.down == "hadamard":
                return FoldedHadamard(n_components, random_state=seed)
            if self.down == "gaussian":
                return GaussianRandomProjection(n_components, random_state=seed % 2**32)
        elif isinstance(self.down, (SubsampledHadamard, BaseRandomProjection)):
            small = isinstance(self.down, BaseRandomProjection)  # those take 32-bit seeds only
            return _seeded_clone(self.down, seed % 2**32 if small else seed).set_params(n_components=n_components)
        raise ValueError(
            "down must be 'hadamard', 'gaussian', a SubsampledHadamard or a random projection of scikit-learn, "
            f"got {self.down!r}."
        )

    @property
    def _is_fused(self) -> bool:
        """Whether one loop does both projections."""
        maclaurin = isinstance(self.up_, RandomMaclaurin) and self.up_.projection != "rademacher"
        return maclaurin and isinstance(self.down_, HadamardProjection)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map rows that are known to be good."""
        return self._transform_fused(X) if self._is_fused else self._transform_in_blocks(X)

    def _transform_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write what rows become into an array."""
        if self._is_fused:
            self._transform_fused(X, out)
        else:
            super()._transform_into(X, out)

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of the sum of chunks: those of features, through the last Hadamard transform."""
        return self.down_._folded_weights(weights, self.n_kept_) if self._is_foldable else weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the sum of chunks without the last transform, if both projections run in one loop."""
        if self._is_foldable:
            self._transform_fused(X, out, is_finished=False)
        else:
            self._transform_into(X, out)

    @property
    def _is_foldable(self) -> bool:
        """Whether the last step is a transform that weights can go through instead."""
        return self._is_fused and isinstance(self.down_, FoldedHadamard)

    def _transform_fused(self, X: Any, out: NDArray | None = None, is_finished: bool = True) -> NDArray[np.floating]:
        """Run the up- and the down-projection in one loop, perhaps without the last Hadamard transform."""
        from craftmaps._loops import hadamard, lanes

        draw, order, n_factor_lines = self.up_._loop_arguments()
        weights, n_kept, n_parts = frozen(self._fused_weights.astype(X.dtype)), self.n_kept_, draw.signs.shape[1]

        def room(n_lines: int, line: tuple[int, ...]) -> NDArray:
            return lanes.aligned_empty(n_lines * len(line), X.dtype)

        if isinstance(self.down_, FoldedHadamard):
            fold = self.down_._fold(n_kept, is_finished)
            n_sums = self.down_._chunk + n_kept

            def loop(tiles: NDArray, rows_out: NDArray, line: tuple[int, ...]) -> None:
                factor, total = room(n_factor_lines, line), room(n_sums, line)
                hadamard.folded_craft_rows(tiles, draw, weights, fold, factor, total, rows_out, line, line * n_parts)
        else:
            subsample = self.down_._subsample()
            # Room for an unfinished chunk and one more group of features, padded to whole chunks.
            chunk = 1 << subsample.log2_chunk
            n_features = chunk * (1 + -(-2 * order // chunk))

            def loop(tiles: NDArray, rows_out: NDArray, line: tuple[int, ...]) -> None:
                z, factor = room(n_features, line), room(n_factor_lines, line)
                total = room(subsample.residues.size, line)
                hadamard.craft_rows(
                    tiles, draw, weights, n_kept, subsample, z, factor, total, rows_out, line, line * n_parts
                )

        return map_rows(X, self._n_features_out, loop, out=out, **self.up_._loading(X.dtype))

    def _transform_in_blocks(self, X: Any) -> NDArray[np.floating]:
        """Run one projection after the other, on so few rows that no large array comes up."""
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        n_down = self.down_.n_features_in_
        block = max(16, _BLOCK_BYTES // (8 * n_down))
        with blas_threads():
            for start in range(0, X.shape[0], block):
                Z = _apply(self.up_, X[start : start + block], X.dtype)
                projected = _apply(self.down_, Z[:, :n_down], X.dtype)
                end = projected.shape[1]
                out[start : start + block, :end] = projected.toarray() if issparse(projected) else projected
                out[start : start + block, end:] = Z[:, n_down:] if self.n_kept_ else 0
        return out

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the moments of the estimate at all pairs of rows."""
        if not hasattr(self.up_, "_estimate_moments"):
            raise TypeError(f"The error of a map over a {type(self.up_).__name__} cannot be predicted.")
        up = self.up_._estimate_moments(X, Y)
        return up._replace(variance=up.variance + self._added_variance(X, Y, self.n_kept_))

    def _added_variance(self, X: Any, Y: Any, n_kept: int) -> NDArray[np.float64]:
        """Return the variance that the down-projection adds if it spares the last n_kept columns."""
        is_maclaurin = isinstance(self.up_, RandomMaclaurin)
        up = self.up_._estimate_moments(X, Y, n_kept) if is_maclaurin else self.up_._estimate_moments(X, Y)
        N, S, Q = up.lengths, up.mean**2 + up.variance, up.fourth
        E, D = int(self.n_components) - n_kept, int(self.up_.n_components) - n_kept
        is_spread = isinstance(self.down, SubsampledHadamard)
        if not (is_spread or self.down == "hadamard"):
            density = getattr(getattr(self, "down_", None), "density_", None)
            return random_projection_variance(N, S, Q, E, density)
        chunk = next_power_of_two(E)
        if is_maclaurin:
            sums = self.up_._chunk_sums(X, Y, n_kept, chunk)
        else:
            n_chunks = -(-D // chunk)
            sums = (N / n_chunks, S / n_chunks)
        if is_spread:
            return chunked_hadamard_variance(N, S, Q, sums, E, next_power_of_two(max(D, E)), chunk)
        return folded_hadamard_variance(N, S, Q, sums, E, chunk)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: the up-projection and the down-projection."""
        up = self.up_._operations(density)
        if isinstance(self.down_, HadamardProjection):
            return up + self.down_._operations(1.0)
        return up + 2.0 * self.down_.n_features_in_ * int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)


def _seeded_clone(transformer: Any, seed: int) -> Any:
    """Clone a transformer; if it has a free `random_state`, set it."""
    copy = clone(transformer)
    if "random_state" in copy.get_params() and copy.get_params()["random_state"] is None:
        copy.set_params(random_state=seed)
    return copy


def _apply(transformer: Any, X: Any, dtype: np.dtype) -> Any:
    """Transform rows that are known to be good, in the precision asked for."""
    rows = getattr(transformer, "_transform_rows", transformer.transform)(X)
    rows = rows if issparse(rows) else np.asarray(rows)
    return rows.astype(dtype, copy=False)
