r"""Closed-form moments of the random maps, for any pair of rows.

All maps here multiply signed sums of coordinates, so their second moments come from pairing the coordinates of four
sums. Four vectors (u, v, u', v') in one factor have three pairings, with the values A, B and C. They overlap where
all four coordinates coincide, with the value Q = sum x_i^2 y_i^2. Two choices of the four vectors are needed:

- the kernel estimate squared, (z(x).z(y))^2: A = S, B = N, C = S;
- the product of two squared lengths, abs(z(x))^2 abs(z(y))^2: A = N, B = C = S;

with S = (x.y)^2 and N = abs(x)^2 abs(y)^2. One formula serves both. The first choice gives the variance of a map,
the second the variance that a down-projection adds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from craftmaps.kernels import Rows, whole_power

Matrix = NDArray[np.float64]


class Pairs(NamedTuple):
    """Products and lengths of every pair (x, y), as matrices."""

    dot: Matrix  # x.y
    left: Matrix  # |x|^2, as a column
    right: Matrix  # |y|^2, as a row
    Q: Matrix  # sum x_i^2 y_i^2
    quartic: Matrix | float = np.nan  # sum x_i^4 y_i^4, where it is asked for

    @property
    def S(self) -> Matrix:  # noqa: N802 - the letters of the formulas
        """(x.y)^2."""
        return self.dot**2

    @property
    def N(self) -> Matrix:  # noqa: N802
        """|x|^2 |y|^2."""
        return self.left * self.right


class Pairing(NamedTuple):
    """The three pairings of four vectors, and the value of a factor that only one of two features has."""

    A: Matrix
    B: Matrix
    C: Matrix
    Q: Matrix
    left: Matrix
    right: Matrix


class EstimateMoments(NamedTuple):
    """Moments of the kernel estimate of a map over its draws, at every pair of rows, as matrices.

    The last two give the variance that a down-projection adds.
    """

    mean: Matrix
    variance: Matrix
    lengths: Matrix  # mean of |z(x)|^2 |z(y)|^2
    fourth: Matrix  # mean of sum_i z_i(x)^2 z_i(y)^2


def pairs_of(
    X: Rows, Y: Rows | None = None, scale: float = 1.0, constant: float = 0.0, *, has_quartic: bool = False
) -> Pairs:
    """Compute dot products, lengths and Q of the rows of X and Y, each scaled and with a constant appended."""
    X = X.astype(np.float64) * scale
    other = X if Y is None else Y.astype(np.float64) * scale
    quartic = np.nan
    if has_quartic:
        fourth, other_fourth = _squared(_squared(X)), _squared(_squared(other))
        quartic = safe_sparse_dot(fourth, other_fourth.T, dense_output=True) + constant**8
    return Pairs(
        dot=safe_sparse_dot(X, other.T, dense_output=True) + constant**2,
        left=row_norms(X, squared=True)[:, None] + constant**2,
        right=row_norms(other, squared=True)[None, :] + constant**2,
        Q=safe_sparse_dot(_squared(X), _squared(other).T, dense_output=True) + constant**4,
        quartic=quartic,
    )


def _squared(X):
    """Square the entries of a dense or sparse matrix."""
    return X.multiply(X).tocsr() if hasattr(X, "multiply") else X * X


def of_estimate(pairs: Pairs) -> Pairing:
    """Pair the four vectors of the squared kernel estimate."""
    return Pairing(pairs.S, pairs.N, pairs.S, pairs.Q, pairs.dot, pairs.dot)


def of_lengths(pairs: Pairs) -> Pairing:
    """Pair the four vectors of the product of the squared lengths."""
    return Pairing(pairs.N, pairs.S, pairs.S, pairs.Q, pairs.left, pairs.right)


def _power(base: Matrix, degree: int) -> Matrix:
    """Return base^degree without NumPy's slow general power."""
    return np.asarray(whole_power(base.copy(), degree), dtype=np.float64)


def one_feature(pairing: Pairing, degree: int, complex_weights: bool = False) -> Matrix:
    """Second moment of one Maclaurin feature, of unit weight, of the given degree."""
    A, B, C, Q = pairing[:4]
    if complex_weights:
        return (_power(A + B - Q, degree) + _power(A + C - Q, degree)) / 2
    return _power(A + B + C - 2 * Q, degree)


def two_features(pairing: Pairing, degree: int, order: int, complex_weights: bool = False) -> Matrix:
    """Mixed moment of two features that share all blocks of a Hadamard matrix of this order.

    Rows of a block are orthogonal, so the moment is below the A^degree of independent features.
    """
    A, B, C, Q = pairing[:4]
    others = max(order - 1, 1)
    if complex_weights:
        return (_power(A - (B - Q) / others, degree) + _power(A - (C - Q) / others, degree)) / 2
    return _power(A - (B + C - 2 * Q) / others, degree)


def maclaurin_covariance(
    pairing: Pairing, weights: NDArray, groups: NDArray, order: int | None, complex_weights: bool
) -> Matrix:
    """Variance (or covariance of squared lengths) of a sum of Maclaurin features.

    Parameters
    ----------
    pairing : Pairing
        Choice of the moment: `of_estimate` or `of_lengths`.
    weights : ndarray of shape (n_degrees,)
        Contribution of one feature of each degree: a_n divided by the number of features.
    groups : ndarray of shape (n_groups, n_degrees)
        Features of each degree in each group of Hadamard blocks. With `order=None`
        features are independent, and groups do not matter.
    order : int or None
        Order of the Hadamard matrix of a block.
    complex_weights : bool
        Whether a feature is complex, and so has two columns.
    """
    counts = groups.sum(axis=0)
    total = np.zeros(np.broadcast_shapes(pairing.A.shape, pairing.left.shape, pairing.right.shape))
    live = [int(n) for n in np.flatnonzero(weights * counts) if n > 0]
    for n in live:
        single = one_feature(pairing, n, complex_weights) - _power(pairing.A, n)
        total += counts[n] * weights[n] ** 2 * single
        if order is None:
            continue
        shared = two_features(pairing, n, order, complex_weights) - _power(pairing.A, n)
        total += weights[n] ** 2 * float(groups[:, n] @ (groups[:, n] - 1)) * shared
        for m in (m for m in live if m > n):
            both = weights[n] * weights[m] * float(groups[:, n] @ groups[:, m])
            if both:
                total += both * shared * (_power(pairing.left, m - n) + _power(pairing.right, m - n))
    return total


def maclaurin_fourth(pairs: Pairs, degree: int, complex_weights: bool) -> Matrix:
    """Mean of z(x)^2 z(y)^2 of one feature; of a complex one, summed over real and imaginary part."""
    if degree == 0 or not complex_weights:
        return one_feature(of_estimate(pairs), degree)
    N, S, Q = pairs.N, pairs.S, pairs.Q
    # -Q, because a weight is drawn as (+-1 +-i) / sqrt(2), whose fourth power is -1.
    return (_power(N + S - Q, degree) + (_power(2 * S - Q, degree) + _power(-Q, degree)) / 2) / 2


def tensor_sketch_covariance(pairing: Pairing, degree: int, n_components: int) -> Matrix:
    """Variance (or covariance of squared lengths) of a TensorSketch."""
    A, B, C, Q = pairing[:4]
    D, g = n_components, np.gcd(2, n_components)
    first, second, third = (_power(base, degree) for base in (A + B - Q, A + C - Q, A + B + C - 2 * Q))
    base = _power(A, degree)
    return (first + second - 2 * base) / D + g * (third - first - second + base) / D**2


def subsampled_hadamard_variance(N: ArrayLike, S: ArrayLike, Q: ArrayLike, n_components: int, order: int) -> Matrix:
    """Variance of a subsampled Hadamard projection, with N, S and Q of its input."""
    E = n_components
    spread = np.asarray(N) + np.asarray(S) - 2 * np.asarray(Q)
    return spread / E * (1 - (E - 1) / max(order - 1, 1))


def chunked_hadamard_variance(
    N: ArrayLike, S: ArrayLike, Q: ArrayLike, sums: tuple[Matrix, Matrix], n_components: int, order: int, chunk: int
) -> Matrix:
    """Variance of a subsampled Hadamard projection whose input is not shuffled.

    Output rows differ in their residues modulo `chunk`, so their covariance depends on how
    squared lengths and products are distributed over chunks of the input. `sums` are two sums over chunks: of the
    products of two squared lengths, and of the squared inner products. An even distribution, or
    shuffled input, gives `subsampled_hadamard_variance`; an uneven one lowers the variance.
    """
    E, n_chunks = n_components, order // chunk
    N, S, Q = np.asarray(N), np.asarray(S), np.asarray(Q)
    if chunk == 1:  # a single output row
        return (N + S - 2 * Q) / E
    together = (2 * order * Q - n_chunks * (sums[0] + sums[1])) / (order - n_chunks) - 2 * Q
    return (N + S - 2 * Q) / E + (E - 1) / E * together


def folded_hadamard_variance(
    N: ArrayLike, S: ArrayLike, Q: ArrayLike, sums: tuple[Matrix, Matrix], n_components: int, chunk: int
) -> Matrix:
    """Variance of a Hadamard projection that adds up chunks of its input, with `sums` as above.

    Two numbers of different chunks share a place with probability 1 / `chunk`, numbers of one chunk never do. If
    not all rows of the transform are kept, the variance of a subsampled Hadamard projection of the sums is added.
    """
    N, S, Q = np.asarray(N), np.asarray(S), np.asarray(Q)
    lengths_apart, products_apart = (N - sums[0]) / chunk, (S - sums[1]) / chunk
    folding = lengths_apart + products_apart
    folded = (N + 2 * products_apart, S + folding, Q + lengths_apart + 2 * products_apart)
    return folding + subsampled_hadamard_variance(*folded, n_components, chunk)


def random_projection_variance(
    N: ArrayLike, S: ArrayLike, Q: ArrayLike, n_components: int, density: float | None = None
) -> Matrix:
    """Variance of a dense Gaussian projection, or of a sparse sign projection if `density` is given."""
    kurtosis = 0.0 if density is None else 1 / density - 3
    return (np.asarray(N) + np.asarray(S) + kurtosis * np.asarray(Q)) / n_components
