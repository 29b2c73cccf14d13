"""Metrics: spend random features on the directions that carry the data."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse
from sklearn.utils import check_scalar
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from craftmaps._system.threads import blas_threads, cut, for_products_of_rows
from craftmaps.kernels import Rows
from craftmaps.maps.feature_map import FeatureMap, check_choice

_BLOCK_BYTES = 2**24
_WIDEST = 2**15


class LinearMetric(FeatureMap):
    """Rows are centred and multiplied with scaled axes, and then perhaps scaled to unit length."""

    mean_: NDArray[np.float64]
    components_: NDArray[np.float64]

    @abstractmethod
    def truncated(self, n_components: int) -> "LinearMetric":
        """Return the same metric with its first axes alone."""

    @property
    def _has_unit_rows(self) -> bool:
        """Whether rows are scaled to unit length at the end."""
        return False

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map validated rows, a block at a time."""
        out = np.empty((X.shape[0], self._n_features_out), X.dtype)
        axes, mean = self.components_.T.astype(X.dtype), self.mean_.astype(X.dtype)

        def block(rows: slice) -> None:
            # Centring comes first: afterwards it would cancel digits of large means.
            Z = np.matmul(_dense(X[rows]) - mean, axes, out=out[rows])
            if self._has_unit_rows:
                lengths = np.sqrt(row_norms(Z.astype(np.float64), squared=True)).astype(Z.dtype)
                Z /= np.where(lengths > 0, lengths, 1)[:, None]

        for_products_of_rows(block, X.shape[0])
        return out

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]


class CovarianceMetric(LinearMetric):
    r"""Rotate rows into the principal axes and shrink the axes of small variance.

    With the eigenvalues :math:`w_1 \ge w_2 \ge \dots` of the covariance of the training rows,
    axis i is scaled by :math:`(w_i / w_1)^{power / 2}`; then rows are brought to unit length.
    Power 0 is a rotation; power 1 doubles every contrast in variance. What is learned are
    sums over rows, so `partial_fit` and `merge` give what one `fit` on all rows gives. A row costs
    :math:`O(d \cdot n\_components)`.

    Parameters
    ----------
    power : float, default=1.0
        How strongly axes of small variance shrink; a negative power stretches them.
    n_components : int or None, default=None
        How many axes to keep, those of largest variance; None keeps all.
    center : bool, default=True
        Whether to subtract the mean of the training rows, and to use the covariance
        and not the raw second moments.
    normalize : bool, default=True
        Whether to scale rows to unit length at the end. A row of zeros stays zero.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features_in_,), dtype float64
        What is subtracted: zeros without centring.
    eigenvalues_ : ndarray of shape (n_components,), dtype float64
        Variances along the axes, largest first.
    components_ : ndarray of shape (n_components, n_features_in_), dtype float64
        The axes, each scaled as above.
    n_rows_seen_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from craftmaps import CovarianceMetric
    >>> CovarianceMetric(n_components=16).fit_transform(load_digits().data).shape
    (1797, 16)
    """

    def __init__(
        self, power: float = 1.0, n_components: int | None = None, *, center: bool = True, normalize: bool = True
    ):
        self.power = power
        self.n_components = n_components
        self.center = center
        self.normalize = normalize

    @property
    def _has_unit_rows(self) -> bool:
        return self.normalize

    def fit(self, X: Rows, y: None = None) -> Self:
        """Learn the axes from the rows of X alone."""
        return self._learn(X, first=True)

    def partial_fit(self, X: Rows, y: None = None) -> Self:
        """Learn the axes from the rows of X and all earlier ones."""
        return self._learn(X, first=not hasattr(self, "n_rows_seen_"))

    def _learn(self, X: Rows, first: bool) -> Self:
        """Add the rows of X to the sums, after none or after all earlier ones."""
        X = self._validated(X, reset=first)
        self._check_parameters(X.shape[1])
        if first:
            self.n_rows_seen_ = 0
            self._mean = np.zeros(X.shape[1])
            self._scatter = np.zeros((X.shape[1], X.shape[1]))
        with blas_threads():
            for rows in _dense_blocks(X):
                rows = rows.astype(np.float64)
                mean = rows.mean(axis=0)
                rows -= mean
                self._add(rows.shape[0], mean, rows.T @ rows)
            self._settle()
        return self

    def truncated(self, n_components: int) -> "CovarianceMetric":
        """Return the same metric with fewer axes, those of largest variance."""
        check_is_fitted(self)
        check_scalar(n_components, "n_components", Integral, min_val=1, max_val=self._n_features_out)
        metric = CovarianceMetric(self.power, int(n_components), center=self.center, normalize=self.normalize)
        metric.__dict__.update({name: value for name, value in vars(self).items() if name not in metric.get_params()})
        metric.eigenvalues_ = self.eigenvalues_[:n_components].copy()
        metric.components_ = self.components_[:n_components].copy()
        return metric

    def merge(self, other: "CovarianceMetric") -> Self:
        """Learn the axes from the rows seen here and the rows that another metric has seen."""
        check_is_fitted(self)
        if not isinstance(other, CovarianceMetric):
            raise TypeError(f"other must be a CovarianceMetric, got {type(other).__name__} {other!r}.")
        check_is_fitted(other)
        if self.n_features_in_ != other.n_features_in_:
            raise ValueError(f"other has {other.n_features_in_} features, expected {self.n_features_in_} as here.")
        self._add(other.n_rows_seen_, other._mean, other._scatter)
        self._settle()
        return self

    def _check_parameters(self, width: int) -> None:
        """Refuse parameters that cannot work."""
        check_scalar(self.power, "power", Real)
        if not np.isfinite(self.power):
            raise ValueError(f"power must be a finite number, got {self.power!r}.")
        if self.n_components is not None:
            check_scalar(self.n_components, "n_components", Integral, min_val=1, max_val=width)
        for name in ("center", "normalize"):
            check_choice(name, getattr(self, name), (True, False))
        if width > _WIDEST:
            raise ValueError(
                f"X has {width} features, and a covariance of more than {_WIDEST} does not fit: "
                "project the rows down first, for example with SubsampledHadamard."
            )

    def _add(self, count: int, mean: NDArray[np.float64], scatter: NDArray[np.float64]) -> None:
        """Add count, mean and centred products of other rows (the update of Chan et al.)."""
        total = self.n_rows_seen_ + count
        step = mean - self._mean
        self._scatter = self._scatter + scatter + np.outer(step, step) * (self.n_rows_seen_ * count / total)
        self._mean = self._mean + step * (count / total)
        self.n_rows_seen_ = total

    def _settle(self) -> None:
        """Turn the sums into axes."""
        second = self._scatter / self.n_rows_seen_
        self.mean_ = self._mean.copy() if self.center else np.zeros_like(self._mean)
        if not self.center:
            second = second + np.outer(self._mean, self._mean)
        width = second.shape[0]
        n_axes = width if self.n_components is None else int(self.n_components)
        values, vectors = linalg.eigh(second, subset_by_index=(width - n_axes, width - 1))
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1].T
        vectors = with_signs(vectors)
        self.eigenvalues_ = values
        self.components_ = vectors * self._axis_scales(values)[:, None]

    def _axis_scales(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (w_i / w_1)^(power / 2), and 0 for axes that the data never leaves."""
        live = values > values[0] * values.size * np.finfo(float).eps
        scales = np.zeros_like(values)
        if live.any():
            scales[live] = (values[live] / values[0]) ** (float(self.power) / 2)
        return scales if self.power != 0 else np.ones_like(values)


def with_signs(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return eigenvectors, one a row, with their largest entry positive: they have no sign of their own."""
    largest = np.abs(vectors).argmax(axis=1)
    return vectors * np.where(vectors[np.arange(len(vectors)), largest] < 0, -1.0, 1.0)[:, None]


def _dense(X: Any) -> NDArray[np.floating]:
    """Return rows as an array."""
    return X.toarray() if issparse(X) else X


def _dense_blocks(X: Any) -> Iterator[NDArray[np.floating]]:
    """Yield the rows of X as dense blocks of bounded size."""
    for rows in cut(X.shape[0], max(1, _BLOCK_BYTES // (8 * X.shape[1]))):
        yield _dense(X[rows])
