"""TensorSketch of Pham and Pagh: polynomial kernels by convolved count sketches."""

import math
from collections.abc import Iterator
from functools import cache, partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.sparse import issparse
from sklearn.utils import check_scalar

from craftmaps._rows.randomness import integers, signs
from craftmaps._rows.sampling import SampledRows
from craftmaps._rows.tiling import csr_block, frozen, load_tiles, next_power_of_two, rows_of_block
from craftmaps._system.threads import for_row_blocks
from craftmaps.kernels import DotProductKernel, Polynomial, check_kernel
from craftmaps.maps.drawing_costs import MOST_PRODUCTS, MOST_WORDS, DrawingCost
from craftmaps.maps.feature_map import KernelMap
from craftmaps.maps.moments import EstimateMoments, of_estimate, of_lengths, pairs_of, tensor_sketch_covariance

_BLOCK_BYTES = 2**18  # sketches of a block: with their spectra they fit into the second-level cache
_TILE_BYTES, _LANES_ROWS = 2**20, 256  # of a block on lanes, where only its rows take memory
_MIN_LANES_WIDTH = 16  # columns are written one vector at a time


class TensorSketch(KernelMap):
    r"""Estimate a polynomial kernel by convolving count sketches.

    The sketch of :math:`\tilde x^{\otimes r}`, :math:`\tilde x = (\sqrt\gamma x, \sqrt{q})`, is the
    circular convolution of r count sketches of :math:`\tilde x`, so a row costs
    :math:`O(r (d + D \log D))` and a sparse row :math:`O(r (nnz + D \log D))`. Fourier transforms
    keep single precision too.

    Parameters
    ----------
    kernel : Polynomial, default=Polynomial()
    n_components : int, default=1024
        Output width D. Odd widths have a slightly lower variance, powers of two are fastest.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from.

    Attributes
    ----------
    seed_ : int
        All that is needed to draw the map again.
    buckets_ : ndarray of shape (degree, n_features_in_ + 1), dtype int64
    signs_ : ndarray of shape (degree, n_features_in_ + 1), dtype int8

    References
    ----------
    N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import Polynomial, TensorSketch
    >>> TensorSketch(Polynomial(degree=2), n_components=64, random_state=0).fit_transform(np.eye(3)).shape
    (3, 64)
    """

    def __init__(
        self,
        kernel: DotProductKernel = Polynomial(),  # noqa: B008 - a kernel is never changed in place, see KernelMap
        n_components: int = 1024,
        *,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        check_kernel(self.kernel)
        if not isinstance(self.kernel, Polynomial):
            raise TypeError(
                f"kernel must be a Polynomial for TensorSketch, got {type(self.kernel).__name__}; "
                "RandomMaclaurin takes every dot-product kernel."
            )
        check_scalar(self.n_components, "n_components", Integral, min_val=1, max_val=2**31)

    def _allocate(self, rows: SampledRows) -> None:
        """Refuse rows whose kernel overflows; nothing is learned from the others."""
        self._refuse_overflow(rows.X)

    def _draw(self) -> None:
        """Draw buckets and signs."""
        super()._draw()
        shape = (int(self.kernel.degree), self.n_features_in_ + 1)
        self.buckets_ = integers(self.seed_, "buckets", shape, self._n_features_out)
        self.signs_ = signs(self.seed_, "signs", shape)
        self._scale, self._constant = math.sqrt(self.kernel.gamma), math.sqrt(self.kernel.coef0)

    def _drawing_costs(self) -> Iterator[DrawingCost]:
        """Yield the buckets, and the sketches of one row."""
        degree = int(self.kernel.degree)
        yield DrawingCost("Buckets", degree * (self.n_features_in_ + 1), MOST_WORDS)
        yield DrawingCost("Sketches of a row", degree * self._n_features_out, MOST_PRODUCTS)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map validated rows."""
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        self._sketch_into(X, out)
        return out

    def _transform_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the features of validated rows to `out`."""
        if out.flags.c_contiguous:
            self._sketch_into(X, out)
        else:
            super()._transform_into(X, out)

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the weights of features into weights of their spectra, if our Fourier transforms are used."""
        return _spectral_weights(weights) if self._is_for_lanes() else weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the spectra of the features, or the features if the weights are not folded."""
        self._sketch_into(X, out, is_spectrum=self._is_for_lanes())

    def _sketch_into(self, X: Any, out: NDArray[np.floating], is_spectrum: bool = False) -> None:
        """Write the features of rows, or their spectra, a block at a time."""
        if not len(self.buckets_):  # the sketch of the constant 1
            out[:] = 0
            out[:, 0] = 1
            return
        signs = self.signs_.astype(X.dtype)
        signs[:, :-1] *= X.dtype.type(self._scale)
        signs[:, -1] *= X.dtype.type(self._constant)  # an input that is 1 for every row
        write, block_rows = _sketch_by_rows, max(1, _BLOCK_BYTES // (X.dtype.itemsize * out.shape[1]))
        if self._is_for_lanes():
            tile_rows = _LANES_ROWS if issparse(X) else rows_of_block(X, X.shape[1], _TILE_BYTES)
            write, block_rows = partial(_sketch_on_lanes, is_spectrum=is_spectrum), min(_LANES_ROWS, tile_rows)
            # The transforms do not scale; the missing factors are powers of two, so this is exact.
            signs *= X.dtype.type(0.5)
            signs[0] /= out.shape[1]

        def block(start: int, stop: int) -> None:
            write(X, start, stop, self.buckets_, signs, out[start:stop])

        for_row_blocks(block, X.shape[0], block_rows)

    @property
    def _shows_nonfinite_rows(self) -> bool:
        return self._is_for_lanes()

    def _is_for_lanes(self) -> bool:
        """Tell whether a convolution is needed and our Fourier transforms, of powers of two, can do it."""
        D = self._n_features_out
        return len(self.buckets_) > 1 and D >= _MIN_LANES_WIDTH and D == next_power_of_two(D)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the moments of the estimate at all pairs of rows."""
        D, degree = int(self.n_components), int(self.kernel.degree)
        pairs = pairs_of(X, Y, math.sqrt(self.kernel.gamma), math.sqrt(self.kernel.coef0))
        N, S, Q = pairs.N**degree, pairs.S**degree, pairs.Q**degree
        return EstimateMoments(
            mean=pairs.dot**degree,
            variance=tensor_sketch_covariance(of_estimate(pairs), degree, D),
            lengths=N + tensor_sketch_covariance(of_lengths(pairs), degree, D),
            # Up to terms of order 1/D^2: four products in one bucket are all equal or form two pairs.
            fourth=Q + (N + 2 * S - 3 * Q) / D,
        )

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: count sketches, Fourier transforms and their products."""
        D, degree = int(self.n_components), int(self.kernel.degree)
        sketches = degree * (2.0 * self.n_features_in_ * density + 3.0 * D)
        return sketches + (degree + 1) * 2.5 * D * max(math.log2(D), 1)


def _sketch_on_lanes(
    X: Any, start: int, stop: int, buckets: NDArray, signs: NDArray, out: NDArray, is_spectrum: bool
) -> None:
    """Write the sketches of rows start to stop, or their spectra, several rows side by side."""
    from craftmaps._loops import lanes, tensor_sketch

    D = out.shape[1]
    # Two sketches of the rows of a line must fit into the second-level cache.
    line = lanes.line_for(stop - start, X.dtype, lanes.LINE_BYTES // 2)
    drawn = (frozen(buckets), frozen(signs), _twiddles(D, X.dtype))
    z, product = (lanes.aligned_empty(D * len(line), X.dtype) for _ in range(2))
    if issparse(X):
        tensor_sketch.convolve_csr(*csr_block(X, start, stop), *drawn, z, product, is_spectrum, out, line)
        return
    layout = frozen(np.arange(X.shape[1])), frozen(np.ones(X.shape[1], X.dtype))
    tiles = load_tiles(X, start, stop, layout, X.shape[1], line)
    tiles[:, -len(line) :] = 1  # the free line
    tensor_sketch.convolve_dense(tiles, *drawn, z, product, is_spectrum, out, line)


def _sketch_by_rows(X: Any, start: int, stop: int, buckets: NDArray, signs: NDArray, out: NDArray) -> None:
    """Write the sketches of rows start to stop, of any width: multiply spectra and transform back."""
    from craftmaps._loops import count_sketch

    rows: tuple = csr_block(X, start, stop) if issparse(X) else (frozen(np.ascontiguousarray(X[start:stop])),)
    sketch: Any = count_sketch.sketch_csr if issparse(X) else count_sketch.sketch_dense
    spectrum = None
    for factor_buckets, factor_signs in zip(buckets, signs, strict=True):
        sketch(*rows, frozen(factor_buckets), frozen(factor_signs), out)
        if len(buckets) == 1:
            return
        factor_spectrum = fft.rfft(out, axis=1)
        spectrum = factor_spectrum if spectrum is None else np.multiply(spectrum, factor_spectrum, out=spectrum)
    out[:] = fft.irfft(spectrum, n=out.shape[1], axis=1, overwrite_x=True)


def _spectral_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of spectra in the order of the loops: bit-reversed, with frequencies 0 and D/2 in one place.

    The frequencies between them count twice: a real spectrum has each of them a second time, conjugated.
    """
    m = weights.shape[0] // 2
    place = np.zeros(1, np.int64)
    while place.size < m:
        place = np.concatenate([2 * place, 2 * place + 1])
    spectrum = fft.rfft(weights, axis=0)
    folded = np.empty((m, 2, weights.shape[1]))
    folded[:, 0], folded[:, 1] = 2 * spectrum.real[place], 2 * spectrum.imag[place]
    folded[0] = spectrum.real[[0, m]]
    return folded.reshape(weights.shape)


@cache
def _twiddles(D: int, dtype: np.dtype) -> Any:
    """Return the tables of our Fourier transforms, made once for a width."""
    from craftmaps._loops.tensor_sketch import Twiddles, twiddles_for

    return Twiddles(*map(frozen, twiddles_for(D, dtype)))
