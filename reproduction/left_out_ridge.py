"""Ridge regression on a kernel matrix for one penalty: the outputs for left-out rows and for other rows.

`RowSpace` of the library has all penalties from one eigendecomposition. For one penalty a Cholesky factor and its
inverse are enough, at a tenth of the time, which is what brings a hundred kernels of 7,000 rows into reach.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from craftmaps.least_squares.row_space import RowSpace

Rows = NDArray[np.floating]


class Ridge(NamedTuple):
    """Dual coefficients, intercepts, and for every row the outputs of the regression on all others, if asked for."""

    dual: Rows
    intercept: Rows
    left_out: Rows

    def outputs(self, cross: Rows) -> Rows:
        """Return the outputs for other rows, from their products with the rows."""
        return cross @ self.dual + self.intercept


def fit(kernel: Rows, targets: Rows, alpha: float, *, leave_out: bool) -> Ridge:
    r"""Solve for one penalty, and leave every row out once in closed form.

    With :math:`A = (K + \alpha I)^{-1}` and :math:`P = A - A 1 1^T A / (1^T A 1)` the coefficients are :math:`P Y`, and
    row i, if it is left out, has the residual :math:`(P Y)_i / P_{ii}`. Costs :math:`n^3 / 3` multiplications, with
    rows left out twice as many again.

    Parameters
    ----------
    kernel : array of shape (n, n)
        Overwritten.
    targets : array of shape (n, n_targets)
    alpha : float
        In units of trace(K) / n of the centred K.
    leave_out : bool
        Whether to leave rows out; else there are no such outputs.
    """
    n_rows = len(kernel)
    means = kernel.mean(axis=0)
    kernel[np.diag_indices(n_rows)] += alpha * _unit(kernel)
    # A symmetric matrix is its own transpose, which is in the order that LAPACK overwrites in place.
    factor, info = lapack.dpotrf(kernel.T, lower=1, clean=1, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError(f"The kernel matrix is not positive definite with alpha {alpha:g}.")
    right = np.column_stack([targets, np.ones(n_rows)])
    if not leave_out:
        dual, _ = _projected(lapack.dpotrs(factor, right, lower=1)[0], targets)
        return Ridge(dual, targets.mean(axis=0) - means @ dual, targets[:0])
    inverse, _ = lapack.dtrtri(factor, lower=1, overwrite_c=1)
    dual, constant = _projected(inverse.T @ (inverse @ right), targets)
    diagonal = np.einsum("ki,ki->i", inverse, inverse) - constant
    return Ridge(dual, targets.mean(axis=0) - means @ dual, targets - dual / diagonal[:, None])


def squared_losses(kernel: Rows, targets: Rows, alphas: list[float]) -> Rows:
    """Return the mean squared loss of left-out rows for every penalty, in the units of `fit`."""
    rows = RowSpace(kernel, targets)
    unit = rows.trace / rows.n_rows
    return np.array([np.mean((rows.left_out(alpha * unit) - targets) ** 2) for alpha in alphas])


def _unit(kernel: Rows) -> float:
    """Return trace(K) / n of the centred kernel matrix."""
    return float(kernel.trace() - kernel.sum() / len(kernel)) / len(kernel)


def _projected(solved: Rows, targets: Rows) -> tuple[Rows, Rows]:
    """Return P Y from A Y and A 1, the last column, and what P has less than A on the diagonal."""
    ones = solved[:, -1]
    return solved[:, :-1] - np.outer(ones, ones @ targets) / ones.sum(), ones**2 / ones.sum()
