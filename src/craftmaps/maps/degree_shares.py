"""How the columns of a Maclaurin map are allocated to degrees, and the moments that follow."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.fields import Fields
from craftmaps.kernels import HIGHEST_DEGREE
from craftmaps.maps.drawing_costs import WIDEST_ROWS
from craftmaps.maps.moments import (
    EstimateMoments,
    Pairs,
    maclaurin_covariance,
    maclaurin_fourth,
    of_estimate,
    of_lengths,
)


@dataclass(frozen=True)
class DegreeShares:
    """Counts and weights of the features of every degree.

    `counts[n]` features of degree n contribute `weights[n]` each to the kernel estimate. They are independent, or
    come from Hadamard blocks of the given `order`. A feature is one column, or two if its weights are complex. The
    order of the columns: features of degree 1 or more in groups of blocks, features of degree 0, `n_unused` zeros,
    and the exact part: `n_quadratic`, `n_linear` and `n_constant` columns. The quadratic ones are the products of
    two coordinates, x_1 x_1, x_1 x_2, ..., x_2 x_2, ...
    """

    coefficients: NDArray[np.float64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_unused: int
    n_linear: int
    n_constant: int
    order: int | None
    complex_weights: bool
    n_quadratic: int = 0

    @classmethod
    def from_fields(cls, values: Fields, n_columns: int) -> "DegreeShares":
        """Read shares of at most `n_columns` columns from an untrusted file; `check` compares them with a map."""
        values.only(field.name for field in fields(cls))
        most = HIGHEST_DEGREE + 1
        counts = values.numbers("counts", most, low=0)
        if not all(type(count) is int for count in values.value("counts")) or counts.sum() > n_columns:
            raise values.refuse("counts", f"a list of whole numbers that add up to at most {n_columns}")
        return cls(
            coefficients=values.numbers("coefficients", most, low=0),
            counts=counts.astype(np.int64),
            weights=values.numbers("weights", most, low=0),
            n_unused=values.whole("n_unused", 0, n_columns),
            n_linear=values.whole("n_linear", 0, n_columns),
            n_constant=values.whole("n_constant", 0, 1),
            order=None if values.value("order") is None else values.whole("order", 1, WIDEST_ROWS),
            complex_weights=values.flag("complex_weights"),
            # Files of earlier versions have no such columns.
            n_quadratic=values.whole("n_quadratic", 0, n_columns) if "n_quadratic" in values else 0,
        )

    def check(
        self, n_columns: int, n_features: int, order: int | None, complex_weights: bool, n_degrees: int | None = None
    ) -> None:
        """Refuse shares that contradict each other, or a map of `n_columns` columns for rows of `n_features`."""
        sizes = {"coefficients": self.coefficients.size, "weights": self.weights.size}
        for name, size in sizes.items():
            if size != self.counts.size:
                raise ValueError(f"there are counts of {self.counts.size} degrees, but {size} {name}")
        if n_degrees is not None and self.counts.size != n_degrees:
            raise ValueError(f"there are counts of {self.counts.size} degrees, but the kernel has {n_degrees}")
        if (self.counts < 0).any() or self.n_unused < 0:
            raise ValueError("a number of columns is negative")
        if self.order != order or self.complex_weights != complex_weights:
            raise ValueError(
                f"blocks of order {self.order} with complex_weights={self.complex_weights}, "
                f"expected order {order} and {complex_weights}"
            )
        if self.n_linear not in (0, n_features) or (self.n_linear and self.counts.size < 2):
            raise ValueError(f"n_linear must be 0 or the {n_features} columns of the rows, got {self.n_linear}")
        if self.n_constant not in (0, 1):
            raise ValueError(f"n_constant must be 0 or 1, got {self.n_constant}")
        n_products = n_features * (n_features + 1) // 2
        if self.n_quadratic not in (0, n_products) or (self.n_quadratic and self.counts.size < 3):
            raise ValueError(f"n_quadratic must be 0 or the {n_products} products, got {self.n_quadratic}")
        n_random = self.n_parts * int(self.counts[1:].sum()) + int(self.counts[0])
        total = n_random + self.n_unused + self.n_exact
        if total != n_columns:
            raise ValueError(f"the columns of all kinds add up to {total}, expected {n_columns}")

    @property
    def n_parts(self) -> int:
        """Columns of a feature: 2 if weights are complex, else 1."""
        return 2 if self.complex_weights else 1

    @property
    def n_exact(self) -> int:
        """Number of exact columns."""
        return self.n_quadratic + self.n_linear + self.n_constant

    @property
    def kept_choices(self) -> tuple[int, ...]:
        """The numbers of exact columns that a down-projection can spare, a whole degree at a time, lowest first."""
        return 0, self.n_constant, self.n_constant + self.n_linear, self.n_exact

    @property
    def groups(self) -> NDArray[np.int64]:
        """Features of every degree in every group of blocks, as a matrix."""
        return group_counts(self.counts, self.order)

    @property
    def n_factors(self) -> NDArray[np.int64]:
        """The highest degree of every group of blocks, which its first feature has; constants form no group."""
        return self._feature_degrees[:: self._group_size]

    @property
    def n_uses(self) -> NDArray[np.int64]:
        """Number of features that have the first factor of a group, the second, and so on, for all groups."""
        at_least = np.cumsum(self.groups[:, :0:-1], axis=1)[:, ::-1]  # features of degree 1, 2, ... or more
        return at_least[at_least > 0]

    @property
    def _feature_degrees(self) -> NDArray[np.int64]:
        """The degrees of all features but constants, highest first."""
        descending = np.arange(self.counts.size)[:0:-1]
        return np.repeat(descending, self.counts[descending])

    @property
    def _group_size(self) -> int:
        """The number of features of every group but the last, which may have fewer."""
        return self.order or max(1, int(self.counts.sum()))

    def without_exact(self, n_kept: int) -> "DegreeShares":
        """Return the shares without the last n_kept exact columns, one of `kept_choices`."""
        if n_kept <= self.n_constant:
            return replace(self, n_constant=self.n_constant - n_kept)
        if n_kept <= self.n_constant + self.n_linear:
            return replace(self, n_constant=0, n_linear=0)
        return replace(self, n_constant=0, n_linear=0, n_quadratic=0)

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return degree and squared weight of every column, in order."""
        n_parts, degrees, size = self.n_parts, self._feature_degrees, self._group_size
        last = degrees.size // size * size
        # The imaginary parts of a group follow its real parts.
        degree = np.concatenate(
            [
                np.repeat(degrees[:last].reshape(-1, 1, size), n_parts, axis=1).ravel(),
                np.tile(degrees[last:], n_parts),
                np.zeros(int(self.counts[0]) + self.n_unused + self.n_exact, np.int64),
            ]
        )
        # A complex weight is drawn as (+-1 +-i), so every factor is too long by sqrt(2).
        worth = (self.weights / float(n_parts) ** np.arange(self.counts.size))[degree]
        end = degree.size - self.n_exact
        worth[end - self.n_unused : end] = 0
        if self.n_quadratic:
            degree[end : end + self.n_quadratic] = 2
            worth[end : end + self.n_quadratic] = self.coefficients[2] * _multiplicities(self.n_quadratic)
            end += self.n_quadratic
        if self.n_linear:
            degree[end : end + self.n_linear] = 1
            worth[end : end + self.n_linear] = self.coefficients[1]
        worth[degree.size - self.n_constant :] = self.coefficients[0]
        return degree, worth

    def mean(self, dot: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expectation of the kernel estimate over the signs, given the counts."""
        a = self.counts * self.weights
        a[0] += self.coefficients[0] * self.n_constant
        if self.n_linear:
            a[1] += self.coefficients[1]
        if self.n_quadratic:
            a[2] += self.coefficients[2]
        return np.asarray(np.polynomial.polynomial.polyval(dot, a), dtype=np.float64)

    def estimate_moments(self, pairs: Pairs) -> EstimateMoments:
        """Return the moments of the kernel estimate over the signs, given the counts."""
        covariances = [
            maclaurin_covariance(pairing, self.weights, self.groups, self.order, self.complex_weights)
            for pairing in (of_estimate(pairs), of_lengths(pairs))
        ]
        fourth = np.full(pairs.dot.shape, self.n_constant * self.coefficients[0] ** 2)
        if self.n_linear:
            fourth += self.coefficients[1] ** 2 * pairs.Q
        if self.n_quadratic:  # a product of two different coordinates has the weight 2, so its square counts four times
            fourth += self.coefficients[2] ** 2 * (2 * pairs.Q**2 - pairs.quartic)
        for n in np.flatnonzero(self.counts):
            fourth += self.counts[n] * self.weights[n] ** 2 * maclaurin_fourth(pairs, int(n), self.complex_weights)
        lengths = self.mean(pairs.left) * self.mean(pairs.right) + covariances[1]
        return EstimateMoments(self.mean(pairs.dot), covariances[0], lengths, fourth)

    def chunk_sums(self, pairs: Pairs, chunk: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sum, over chunks of columns, the products of squared lengths and the squared kernel estimates.

        Both are expectations over the signs; chunks are taken to vary independently.
        """
        whole = self.estimate_moments(pairs)
        degree, worth = self.columns()
        # The expected square of a column of degree n is worth * |x|^2n, times 2^(n - 1) if complex; each of the
        # exact linear columns has an equal part of |x|^2, and of the quadratic ones of |x|^4.
        share = worth.copy()
        if self.complex_weights:
            random = np.arange(degree.size) < degree.size - self.n_exact
            share[random & (degree > 0)] *= 2.0 ** (degree[random & (degree > 0)] - 1.0)
        first_linear = degree.size - self.n_constant - self.n_linear
        if self.n_linear:
            share[first_linear : first_linear + self.n_linear] /= self.n_linear
        if self.n_quadratic:
            share[first_linear - self.n_quadratic : first_linear] = self.coefficients[2] / self.n_quadratic
        n_chunks = -(-degree.size // chunk)
        table = np.zeros((n_chunks, self.counts.size))
        np.add.at(table, (np.arange(degree.size) // chunk, degree), share)
        gram = table.T @ table
        powers = np.arange(self.counts.size)
        lengths = (pairs.left**powers) @ gram @ (pairs.right.T**powers).T
        # The sums of the anti-diagonals of the Gram matrix are the coefficients of the squared polynomials.
        squares = np.array(
            [np.trace(gram[:, ::-1], offset=gram.shape[0] - 1 - k) for k in range(2 * gram.shape[0] - 1)]
        )
        products = np.asarray(np.polynomial.polynomial.polyval(pairs.dot, squares), dtype=np.float64)
        spread = whole.lengths - self.mean(pairs.left) * self.mean(pairs.right)
        return lengths + spread, products + whole.variance


def _multiplicities(n_quadratic: int) -> NDArray[np.float64]:
    """Return how often each product of two coordinates occurs in (x.y)^2: squares once, others twice."""
    width = (math.isqrt(8 * n_quadratic + 1) - 1) // 2
    times = np.full(n_quadratic, 2.0)
    # Products that begin with coordinate i start with its square.
    times[np.cumsum(np.arange(width + 1, 1, -1)) - width - 1] = 1.0
    return times


def group_counts(counts: NDArray[np.int64], order: int | None) -> NDArray[np.int64]:
    """Cut the features, highest degree first, into groups of `order`; count the degrees in each group."""
    if order is None:
        return counts[None, :]
    positive = counts.copy()
    positive[0] = 0
    ends = np.cumsum(positive[::-1])[::-1]  # features of degree n or more
    starts = ends - positive
    n_groups = -(-int(positive.sum()) // order)
    edges = np.arange(n_groups + 1)[:, None] * order
    filled = np.clip(np.minimum(edges, ends) - starts, 0, None)
    groups = np.diff(filled, axis=0)
    if not n_groups:
        groups = np.zeros((1, counts.size), np.int64)
    groups[0, 0] = counts[0]
    return groups
