"""The statistic of a least-squares fit: a value that adds up.

One block of rows becomes a Gram matrix and a few sums; blocks combine with `+`; solving is separate.
In memory, out of core and on a cluster differ only in who calls `+`.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.linalg import blas

from craftmaps.parallel import blas_threads, for_row_blocks

_SHIFTS = (0.0, 0.01, 0.1, 1.0, 10.0, 1000.0)  # in units of the rounding errors of the Gram matrix


class Solution(NamedTuple):
    """Coefficients, one row for each target, and intercepts."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]


class NormalEquations:
    r"""Sums over rows from which ridge regressions on any penalty can be solved.

    Of features Z, targets Y and weights w it keeps :math:`Z^T W Z`, :math:`Z^T W Y`, the weighted
    sums of Z, Y and Y squared, and the number of rows. Adding two of them gives what all
    rows together would give, so `+` is associative and commutative up to rounding.

    Products of float32 features are formed in float32, a block of rows at a time, and added up in
    float64. Only the lower triangle of the Gram matrix is kept up to date.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import NormalEquations
    >>> Z, Y = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [5.0], [7.0]])
    >>> both = NormalEquations.of(Z[:2], Y[:2]) + NormalEquations.of(Z[2:], Y[2:])
    >>> coef, intercept = both.solve(alpha=0.0)
    >>> coef.round(6), intercept.round(6)
    (array([[2.]]), array([1.]))
    """

    def __init__(self, n_features: int, n_targets: int):
        self.n_rows = 0
        self.weight = 0.0
        self.rounding = 0.0  # of the products: that of the least precise features
        self.gram = np.zeros((n_features, n_features), order="F")
        self.cross = np.zeros((n_features, n_targets))
        self.feature_sums = np.zeros(n_features)
        self.target_sums = np.zeros(n_targets)
        self.target_squares = np.zeros(n_targets)

    @classmethod
    def of(cls, Z: ArrayLike, Y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the statistic of some rows: features Z, targets Y and perhaps weights."""
        Z, Y = np.asarray(Z), np.asarray(Y)
        Y = Y[:, None] if Y.ndim == 1 else Y
        if Z.ndim != 2 or Y.ndim != 2 or Z.shape[0] != Y.shape[0]:
            raise ValueError(f"Z and Y must be matrices with equally many rows, got shapes {Z.shape} and {Y.shape}.")
        statistic = cls(Z.shape[1], Y.shape[1])
        statistic.add(Z, Y, sample_weight)
        return statistic

    def add(self, Z: NDArray, Y: NDArray, sample_weight: ArrayLike | None = None, sign: float = 1.0) -> None:
        """Add rows in place; with sign=-1 take them away again."""
        if Z.dtype not in (np.float32, np.float64):
            Z = Z.astype(np.float64)
        if Z.shape[1:] != self.gram.shape[:1] or Y.shape != (Z.shape[0], self.cross.shape[1]):
            n_features, n_targets = self.cross.shape
            raise ValueError(
                f"Rows must have {n_features} features and {n_targets} targets, got shapes {Z.shape} and {Y.shape}."
            )
        w = np.ones(Z.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if w.shape != (Z.shape[0],) or not np.isfinite(w).all() or (w < 0).any():
            raise ValueError(f"sample_weight must be {Z.shape[0]} finite numbers, none negative, got shape {w.shape}.")
        weighted = Z if sample_weight is None else Z * w[:, None].astype(Z.dtype)
        rooted = Z if sample_weight is None else Z * np.sqrt(w)[:, None].astype(Z.dtype)
        Y64 = np.asarray(Y, dtype=np.float64)
        self.rounding = max(self.rounding, float(np.finfo(Z.dtype).eps))
        self.n_rows += int(sign) * Z.shape[0]
        self.weight += sign * float(w.sum())
        self.feature_sums += sign * weighted.sum(axis=0, dtype=np.float64)
        self.target_sums += sign * (w @ Y64)
        self.target_squares += sign * (w @ Y64**2)
        with blas_threads():
            self.cross += sign * (weighted.T.astype(np.float64) @ Y64)  # targets may be far from zero
            self._add_products(rooted, sign)

    def _add_products(self, Z: NDArray, sign: float) -> None:
        """Add the products of features to the lower triangle of the Gram matrix."""
        Z = np.ascontiguousarray(Z)
        if Z.dtype == np.float64:
            # Z.T is in Fortran order, so BLAS adds into the matrix without any copy.
            self.gram = blas.dsyrk(sign, Z.T, beta=1.0, c=self.gram, lower=1, overwrite_c=1)
            return
        block = blas.ssyrk(sign, Z.T, lower=1)
        _add_lower(self.gram, block)

    def __add__(self, other: "NormalEquations") -> "NormalEquations":
        if not isinstance(other, NormalEquations):
            return NotImplemented
        if self.cross.shape != other.cross.shape:
            raise ValueError(
                "Statistics must be of equally many features and targets to be added, "
                f"got {self.cross.shape} and {other.cross.shape}."
            )
        total = NormalEquations.__new__(NormalEquations)
        for name in vars(self):
            setattr(total, name, getattr(self, name) + getattr(other, name))
        total.rounding = max(self.rounding, other.rounding)
        return total

    def without(self, Z: NDArray, Y: NDArray, sample_weight: ArrayLike | None = None) -> "NormalEquations":
        """Return the statistic without some of its rows."""
        rest = NormalEquations.__new__(NormalEquations)
        for name, value in vars(self).items():
            setattr(rest, name, value.copy(order="F") if isinstance(value, np.ndarray) else value)
        rest.add(Z, Y, sample_weight, sign=-1.0)
        return rest

    def with_targets(self, positions: NDArray[np.int64], n_targets: int) -> "NormalEquations":
        """Return the statistic with its targets at other positions among n_targets, the others zero."""
        moved = NormalEquations.__new__(NormalEquations)
        vars(moved).update(vars(self))
        moved.cross = np.zeros((self.gram.shape[0], n_targets))
        moved.cross[:, positions] = self.cross
        moved.target_sums, moved.target_squares = np.zeros((2, n_targets))
        moved.target_sums[positions] = self.target_sums
        moved.target_squares[positions] = self.target_squares
        return moved

    def solve(
        self,
        alpha: float,
        *,
        fit_intercept: bool = True,
        targets: NDArray[np.float64] | None = None,
        penalty: NDArray[np.float64] | None = None,
    ) -> Solution:
        """Return the ridge solution for alpha, the weight of the squared coefficients.

        Parameters
        ----------
        alpha : float
            Zero or more, as in scikit-learn's `Ridge`.
        fit_intercept : bool, default=True
            Whether to have an unpenalised constant, by centring with the stored sums.
        targets : ndarray of shape (n_targets, n_outputs), optional
            Outputs as combinations of the targets, such as code words of labels.
        penalty : ndarray of shape (n_features, n_features), optional
            Used instead of the identity.
        """
        if not alpha >= 0 or not np.isfinite(alpha):
            raise ValueError(f"alpha must be a finite number of at least 0, got {alpha}.")
        right, mean, target_mean = self._centred_targets(fit_intercept)
        if not (np.isfinite(right).all() and np.isfinite(mean).all()):
            raise ValueError("Features and targets must be finite to be solved for.")
        if targets is not None:
            right, target_mean = right @ targets, target_mean @ targets
        for shift in _SHIFTS:
            system = self._centred_gram(fit_intercept)
            # Rounding can leave a matrix that is not positive definite. What the data does not
            # determine is then settled by a shift of the size of the rounding errors.
            diagonal = np.diag_indices_from(system)
            system[diagonal] += shift * self.rounding * (float(np.sum(self.gram.diagonal())) or 1.0)
            if penalty is None:
                system[diagonal] += alpha
            else:
                system += alpha * penalty
            with blas_threads():
                try:
                    factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
                except linalg.LinAlgError:
                    continue
                coefficients = linalg.cho_solve(factor, right, check_finite=False)
            return Solution(coefficients.T, target_mean - mean @ coefficients)
        raise ValueError("The features are not finite, or too ill-conditioned to be solved for.")

    def scale(self, fit_intercept: bool = True) -> float:
        """Return trace(G) / E of the centred Gram matrix, the natural unit of alpha."""
        diagonal = self.gram.diagonal().copy()
        if fit_intercept and self.weight > 0:
            diagonal -= self.feature_sums**2 / self.weight
        # Features that do not vary leave nothing but rounding errors.
        mean, nothing = float(diagonal.mean()), 16 * self.rounding * float(self.gram.diagonal().mean())
        return mean if mean > nothing else 0.0

    def _centred_gram(self, fit_intercept: bool) -> NDArray[np.float64]:
        """Return a copy of the lower triangle of the Gram matrix, centred."""
        gram = self.gram.copy(order="F")
        if fit_intercept and self.weight > 0:
            gram = blas.dsyr(-1 / self.weight, self.feature_sums, lower=1, a=gram, overwrite_a=1)
        return gram

    def _centred_targets(self, fit_intercept: bool) -> tuple[NDArray, NDArray, NDArray]:
        """Return a copy of the right-hand sides, centred, and the means of features and targets."""
        if not fit_intercept or self.weight <= 0:
            return self.cross.copy(), np.zeros(self.gram.shape[0]), np.zeros(self.cross.shape[1])
        mean, target_mean = self.feature_sums / self.weight, self.target_sums / self.weight
        return self.cross - np.outer(self.feature_sums, target_mean), mean, target_mean


def _add_lower(total: NDArray[np.float64], block: NDArray[np.float32]) -> None:
    """Add the lower triangle of a block, on all threads."""
    from craftmaps._loops.triangle import add_lower

    def columns(first: int, last: int) -> None:
        add_lower(total, block, first, last)

    for_row_blocks(columns, total.shape[0], 256)
