"""Landmark features (the Nystrom method): kernel values against rows of the data."""

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack
from scipy.sparse import issparse, vstack
from sklearn.utils import check_scalar
from sklearn.utils.extmath import safe_sparse_dot

from craftmaps._rows.randomness import seed_of
from craftmaps._rows.sampling import Pick, bottom_rows
from craftmaps._system.threads import blas_threads, cut, for_products_of_rows
from craftmaps.kernels import DotProductKernel, Polynomial, Rows
from craftmaps.maps.feature_map import KernelMap, check_choice
from craftmaps.maps.moments import EstimateMoments

_PANEL = 512


class LandmarkMap(KernelMap):
    r"""Map a row to its kernel values against landmarks drawn from the data.

    With E landmarks and their kernel matrix :math:`P = R^T R`, features are :math:`k(x, L) R^{-1}`, whose
    inner products are the best approximation of the kernel in the span of the landmarks. Without
    whitening they are :math:`k(x, L)` itself: a row then costs one product with the landmarks
    instead of two, and a ridge solver must use `penalty_` in place of the identity.

    Landmarks are the E different rows with the smallest content hash: a uniform draw
    that depends neither on the order of the rows nor on how they are cut into blocks.

    Parameters
    ----------
    kernel : Polynomial, Exponential or MaclaurinSeries, default=Polynomial()
    n_components : int, default=1024
        Number of landmarks E. If the data has fewer different rows, all of them are taken.
    whiten : bool, default=True
        Whether inner products of features should approximate the kernel.
    random_state : int, RandomState instance or None, default=None
        Where the seed of the hash comes from.

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

    def fit(self, X: Rows, y: None = None) -> Self:
        """Draw landmarks from the rows of X."""
        return self._fit(X, bottom_rows)

    def _fit(self, X: Rows, pick: Pick) -> Self:
        """Do the same with rows picked so."""
        X = self._validated(X)
        self._check_parameters()
        self._refuse_overflow(X)
        self.seed_ = seed_of(self.random_state)
        self._settle(X, pick)
        if self.landmarks_.shape[0] < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} landmarks were asked for, but X has only "
                f"{self.landmarks_.shape[0]} different rows; all of them are taken.",
                stacklevel=3,
            )
        return self

    def partial_fit(self, X: Rows, y: None = None) -> Self:
        """Draw landmarks from these rows and the earlier ones; the cuts between blocks do not matter."""
        first = not hasattr(self, "landmarks_")
        X = self._validated(X, reset=first)
        self._check_parameters()
        if first:
            self.seed_ = seed_of(self.random_state)
        else:
            both = (self.landmarks_, X)
            X = vstack(both, format="csr") if issparse(X) or issparse(self.landmarks_) else np.concatenate(both)
        self._settle(X, bottom_rows)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        self._checked_kernel()
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_choice("whiten", self.whiten, (True, False))

    def _settle(self, X: Any, pick: Pick) -> None:
        """Take the landmarks from X and factor their kernel matrix."""
        self._remember_parameters()
        self.landmarks_ = X[pick(X, int(self.n_components), self.seed_)]
        K = self.kernel(self.landmarks_.astype(np.float64))
        if not self.whiten:
            self.penalty_ = K
            return
        self.penalty_ = np.eye(K.shape[0])
        with blas_threads():
            self.whitening_ = np.ascontiguousarray(_inverse_factor(K, np.finfo(X.dtype).eps), dtype=X.dtype)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map rows that are known to be good, a block at a time."""
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        landmarks = self.landmarks_.astype(X.dtype, copy=False).T
        whitening = self.whitening_.astype(X.dtype, copy=False) if self.whiten else None
        panels = cut(self._n_features_out, _PANEL)

        def block(rows: slice) -> None:
            values = self.kernel.of_dot_products(safe_sparse_dot(X[rows], landmarks, dense_output=True))
            if whitening is None:
                out[rows] = values
                return
            for panel in panels:  # of an upper triangle, whose zeros need no product
                np.matmul(values[:, : panel.stop], whitening[: panel.stop, panel], out=out[rows, panel])

        for_products_of_rows(block, X.shape[0])
        return out

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of kernel values: those of features, whitened."""
        return self.whitening_.astype(np.float64) @ weights if self.whiten else weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write kernel values, not whitened."""
        landmarks = self.landmarks_.astype(X.dtype, copy=False).T

        def block(rows: slice) -> None:
            out[rows] = self.kernel.of_dot_products(safe_sparse_dot(X[rows], landmarks, dense_output=True))

        for_products_of_rows(block, X.shape[0])

    @property
    def _n_features_out(self) -> int:
        return self.landmarks_.shape[0]

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the estimate itself: once the landmarks are drawn, nothing is random any more."""
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
    """Return the inverse of the upper Cholesky factor of a kernel matrix.

    The diagonal is raised by the rounding errors of the features: what they left of directions
    that carry nothing would be blown up.
    """
    diagonal = np.diag_indices_from(K)
    raised = rounding * (float(np.trace(K)) or 1.0)
    while True:
        K[diagonal] += raised
        factor, info = lapack.dpotrf(K, lower=0, clean=1)
        if not info:
            return lapack.dtrtri(factor, lower=0, overwrite_c=1)[0]
        raised *= 10
