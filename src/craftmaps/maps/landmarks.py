"""Landmark features (the Nystrom method): kernel values against rows of the data."""

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack
from scipy.sparse import issparse, vstack
from sklearn.utils import check_scalar
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from craftmaps._rows.canonical import has_finite_sums
from craftmaps._rows.randomness import seed_of
from craftmaps._rows.sampling import SampledRows, first_rows
from craftmaps._system.fields import DamagedError, refuse_costly
from craftmaps._system.threads import blas_threads, cut, for_products_of_rows
from craftmaps.kernels import DotProductKernel, MaclaurinSeries, Polynomial, Rows, check_kernel
from craftmaps.maps.drawing_costs import DrawingCost
from craftmaps.maps.feature_map import KernelMap, check_choice
from craftmaps.maps.moments import EstimateMoments

_PANEL = 512


class LandmarkState(NamedTuple):
    """What a landmark map learns from rows: some of them."""

    landmarks_: Any


class LandmarkMap(KernelMap):
    r"""Map a row to its kernel values against landmarks drawn from the data.

    With E landmarks and their kernel matrix :math:`P = R^T R`, features are :math:`k(x, L) R^{-1}`, whose
    inner products are the best approximation of the kernel in the span of the landmarks. Without
    whitening they are :math:`k(x, L)` itself: a row then costs one product with the landmarks
    instead of two, and a ridge solver must use `penalty_` in place of the identity.

    Landmarks are the E different rows with the smallest content hash: a uniform draw
    that depends neither on the order of the rows nor on their division into blocks.

    Parameters
    ----------
    kernel : Polynomial, Exponential or another kernel, default=Polynomial()
    n_components : int, default=1024
        Number of landmarks E; all different rows if the data has fewer.
    whiten : bool, default=True
        Whether inner products of features should approximate the kernel.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of the hash.

    Attributes
    ----------
    seed_ : int
    landmarks_ : ndarray or CSR matrix of shape (n_landmarks, n_features_in_)
        In the precision of the data.
    penalty_ : ndarray of shape (n_landmarks, n_landmarks), dtype float64
        Kernel matrix of the landmarks; the identity if features are whitened.
    whitening_ : ndarray of shape (n_landmarks, n_landmarks)
        Inverse of the Cholesky factor R of the kernel matrix, upper triangular, if `whiten`.

    References
    ----------
    C. Williams and M. Seeger, "Using the Nystrom method to speed up kernel machines", 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import LandmarkMap, Polynomial
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> Z = LandmarkMap(Polynomial(degree=2), n_components=20, random_state=0).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, Polynomial(degree=2)(X)))
    True
    """

    def __init__(
        self,
        kernel: DotProductKernel = Polynomial(),  # noqa: B008 - a kernel is never changed in place, see KernelMap
        n_components: int = 1024,
        *,
        whiten: bool = True,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.whiten = whiten
        self.random_state = random_state

    _State = LandmarkState

    def partial_fit(self, X: Rows, y: None = None) -> Self:
        """Draw landmarks from these rows and all earlier ones; the division into blocks does not matter."""
        with self._unchanged_on_error():
            is_first = not hasattr(self, "landmarks_")
            X = self._validated(X, reset=is_first)
            self._check_parameters()
            self._refuse_overflow(X)
            if is_first:
                self.seed_ = seed_of(self.random_state)
            else:
                both = (self.landmarks_, X)
                X = vstack(both, format="csr") if issparse(X) or issparse(self.landmarks_) else np.concatenate(both)
            self.landmarks_ = SampledRows(X).sample(int(self.n_components), self.seed_)
            self._draw()
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        check_kernel(self.kernel)
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_choice("whiten", self.whiten, (True, False))

    def _allocate(self, rows: SampledRows) -> None:
        """Choose the landmarks."""
        self._refuse_overflow(rows.X)
        self.landmarks_ = rows.sample(int(self.n_components), self.seed_)
        if self.landmarks_.shape[0] < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} landmarks were asked for, but X has only "
                f"{self.landmarks_.shape[0]} different rows; all of them are taken.",
                stacklevel=4,
            )

    def _draw(self) -> None:
        """Factor the kernel matrix of the landmarks; nothing else is random."""
        super()._draw()
        K = self.kernel(self.landmarks_.astype(np.float64))
        if not self.whiten:
            self.penalty_ = K
            return
        self.penalty_ = np.eye(K.shape[0])
        dtype = self.landmarks_.dtype
        with blas_threads(), np.errstate(over="ignore"):
            self.whitening_ = np.ascontiguousarray(_inverse_factor(K, np.finfo(dtype).eps), dtype=dtype)
        if not np.isfinite(self.whitening_).all():
            raise ValueError(f"The kernel values of the landmarks are too small for {dtype}: scale the rows first.")

    def _checked_state(self, fields: Any, width: int) -> LandmarkState:
        """Return the state from a file: different rows whose kernel matrix is affordable and can be factored."""
        name, landmarks = fields.path("landmarks_"), fields.rows("landmarks_", width)
        n_landmarks = landmarks.shape[0]
        if not 1 <= n_landmarks <= self.n_components:
            raise DamagedError(f"{name} must have 1 to n_components={self.n_components} rows, got {n_landmarks}")
        _refuse_bad_kernel_matrix(self.kernel, landmarks, name)
        if first_rows(landmarks, n_landmarks, 0).size < n_landmarks:
            raise DamagedError(f"{name} must be different rows, got duplicates")
        return LandmarkState(landmarks.copy())  # a view would keep the whole content of the file in memory

    def _drawing_costs(self) -> Iterator[DrawingCost]:
        """Yield nothing: the size of the kernel matrix was compared with the size of the landmarks."""
        return iter(())

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map validated rows, a block at a time."""
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        landmarks = self.landmarks_.astype(X.dtype, copy=False).T
        whitening = self.whitening_.astype(X.dtype, copy=False) if self.whiten else None
        panels = cut(self._n_features_out, _PANEL)

        def block(rows: slice) -> None:
            values = self._kernel_values(X[rows], landmarks)
            if whitening is None:
                out[rows] = values
                return
            for panel in panels:  # of an upper triangle: products with its zeros are skipped
                np.matmul(values[:, : panel.stop], whitening[: panel.stop, panel], out=out[rows, panel])

        for_products_of_rows(block, X.shape[0])
        return out

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the weights of features into weights of kernel values."""
        return self.whitening_.astype(np.float64) @ weights if self.whiten else weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write kernel values without whitening."""
        landmarks = self.landmarks_.astype(X.dtype, copy=False).T

        def block(rows: slice) -> None:
            out[rows] = self._kernel_values(X[rows], landmarks)

        for_products_of_rows(block, X.shape[0])

    def _kernel_values(self, X: Any, landmarks: Any) -> NDArray[np.floating]:
        """Return the kernel of rows and landmarks; refuse rows that are not finite, which some kernels hide."""
        with np.errstate(over="ignore", invalid="ignore"):
            dot = safe_sparse_dot(X, landmarks, dense_output=True)
        # A product with an entry that is not finite is not finite either, not even with zero.
        if not has_finite_sums(dot):
            self._refuse_nonfinite(X)
        return self.kernel.of_dot_products(dot)

    @property
    def _shows_nonfinite_rows(self) -> bool:
        """Whether every entry is multiplied: zeros of sparse landmarks are not there."""
        return not issparse(self.landmarks_)

    def _penalty(self) -> NDArray[np.float64] | None:
        """Return the kernel matrix of the landmarks unless features are whitened."""
        return None if self.whiten else self.penalty_

    @property
    def _n_features_out(self) -> int:
        return self.landmarks_.shape[0]

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the estimate itself, which is not random once the landmarks are chosen."""
        Z = self.transform(X)
        W = Z if Y is None else self.transform(Y)
        if not self.whiten:
            Z = Z @ linalg.pinvh(self.penalty_)
        mean = (Z @ W.T).astype(np.float64)
        lengths = np.einsum("ij,ij->i", Z, Z)[:, None] * np.einsum("ij,ij->i", W, W)[None, :]
        return EstimateMoments(mean, np.zeros_like(mean), lengths, Z**2 @ (W**2).T)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: one product with the landmarks, one with the whitening."""
        E = int(self.n_components)
        return 2.0 * self.n_features_in_ * density * E + (1.0 * E * E if self.whiten else 0.0) + 8 * E


def _inverse_factor(K: NDArray[np.float64], rounding: float) -> NDArray[np.float64]:
    """Return the inverse of the upper Cholesky factor of a finite kernel matrix, which is overwritten.

    The diagonal is raised by the rounding errors of the features: whitening would amplify them in directions
    without data.
    """
    trace = float(np.trace(K)) or 1.0
    # Scaled to a trace of about 1, tiny values do not underflow; scaling by a power of 4 changes no bits.
    half_exponent = int(np.frexp(trace)[1]) // 2
    np.ldexp(K, -2 * half_exponent, out=K)
    raised = rounding * float(np.ldexp(trace, -2 * half_exponent))
    diagonal = np.diag_indices_from(K)
    while True:
        K[diagonal] += raised
        factor, info = lapack.dpotrf(K, lower=0, clean=1)
        if not info:
            return np.ldexp(lapack.dtrtri(factor, lower=0, overwrite_c=1)[0], -half_exponent)
        raised *= 10


def _refuse_bad_kernel_matrix(kernel: DotProductKernel, landmarks: Any, name: str) -> None:
    """Refuse landmarks from a file whose kernel matrix is too large, not finite, or too small to factor."""
    n_landmarks = landmarks.shape[0]
    arrays = [landmarks.data, landmarks.indices, landmarks.indptr] if issparse(landmarks) else [landmarks]
    refuse_costly(
        f"The kernel matrix of {n_landmarks} landmarks", 8 * n_landmarks**2, sum(array.nbytes for array in arrays)
    )
    # Every coefficient is a pass over the matrix; all passes together may cost about as much as its factor.
    n_passes = kernel.n_degrees or 1 if isinstance(kernel, MaclaurinSeries) else 1
    if n_passes * n_landmarks**2 > 2**30 + n_landmarks**3 // 64:
        raise DamagedError(f"A kernel of {n_passes} coefficients takes too long for {n_landmarks} landmarks")
    with np.errstate(over="ignore", invalid="ignore"):
        # The diagonal bounds all other values: the coefficients of the kernel are not negative.
        try:
            values = kernel.of_dot_products(row_norms(landmarks.astype(np.float64), squared=True))
        except ValueError as error:
            raise DamagedError(f"{name}: {error}") from None
        trace = float(values.sum())
    # Rounding errors of this size make the matrix positive definite, so they must not vanish or overflow.
    if not np.isfinite(16 * n_landmarks * trace) or 0 < trace < 1e-290:
        raise DamagedError(f"{name} must have kernel values that are finite and not too small, got a sum of {trace:g}")
