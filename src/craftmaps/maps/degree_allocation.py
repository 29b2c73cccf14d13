"""Allocate the columns of a Maclaurin map to degrees.

A kernel f(x.y) = sum a_n (x.y)^n is estimated degree by degree. A degree gets a fixed number of features, or belongs
to a pool in which every feature draws its degree. Both give unbiased estimates, even with a single feature. Low
degrees may also be kept exactly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import raw_words, uniforms
from craftmaps.maps.degree_shares import DegreeShares, group_counts
from craftmaps.maps.moments import Pairs, maclaurin_covariance, of_estimate, one_feature

RULES = ("optimal", "proportional", "geometric")
# How many of the lowest degrees are kept exactly: the numbers to compare.
EXACT_DEGREES: dict[str | bool, tuple[int, ...]] = {"auto": (2, 1, 0), True: (2,), False: (0,), "quadratic": (3,)}


def share_out(
    coefficients: NDArray[np.float64],
    pairs: Pairs,
    n_columns: int,
    *,
    rule: str,
    exact: str | bool,
    n_features: int,
    order: int | None,
    complex_weights: bool,
    seed: int,
) -> tuple[DegreeShares, float]:
    """Allocate columns by a rule; keep the lowest degrees exactly, as many as `exact` says in `EXACT_DEGREES`.

    `pairs` is a sample of pairs of different rows; `n_features` is the width of the input. Beside the shares the
    variance of the estimate is returned, averaged over the pairs and over all that is drawn.
    """
    columns = 2 if complex_weights else 1
    candidates = []
    n_needed = 1
    for n_exact in EXACT_DEGREES[exact]:
        n_exact = min(n_exact, coefficients.size)
        n_constant = int(n_exact > 0 and coefficients[0] > 0)
        n_linear = n_features if n_exact > 1 and coefficients[1] > 0 else 0
        n_quadratic = n_features * (n_features + 1) // 2 if n_exact > 2 and coefficients[2] > 0 else 0
        n_draws = (n_columns - n_quadratic - n_linear - n_constant) // columns
        rest = np.where(np.arange(coefficients.size) < n_exact, 0.0, coefficients)
        n_needed = n_quadratic + n_linear + n_constant + (columns if rest.any() else 0)
        if n_columns < n_needed:
            continue
        allocation = _Allocation.make(rest, n_exact, pairs, n_draws, rule, complex_weights)
        variance = allocation.expected_variance(pairs, order, complex_weights)
        candidates.append((variance, (n_quadratic, n_linear, n_constant), allocation))
    if not candidates:
        raise ValueError(
            f"n_components must be at least {n_needed} to keep degrees 0 {'to 2' if exact == 'quadratic' else 'and 1'} "
            f"exactly (exact_low_degrees={exact!r}) for {n_features} features, got {n_columns}."
        )
    variance, (n_quadratic, n_linear, n_constant), allocation = min(candidates, key=lambda candidate: candidate[0])
    counts = allocation.draw(seed)
    shares = DegreeShares(
        coefficients=coefficients,
        counts=counts,
        weights=allocation.weights,
        # A constant is one column even if features are complex.
        n_unused=n_columns - (n_quadratic + n_linear + n_constant) - columns * int(counts[1:].sum()) - int(counts[0]),
        n_linear=n_linear,
        n_constant=n_constant,
        order=order,
        complex_weights=complex_weights,
        n_quadratic=n_quadratic,
    )
    return shares, variance


@dataclass(frozen=True)
class _Allocation:
    """A fixed number of features for every degree, and a pool of features that draw their degree."""

    fixed: NDArray[np.int64]
    pool_size: int
    pool_shares: NDArray[np.float64]  # may add up to less than 1: the rest of the pool is wasted
    weights: NDArray[np.float64]
    pool_start: int | None = None  # the geometric rule draws start + a geometric number

    @classmethod
    def make(cls, rest, n_exact, pairs, n_draws, rule, complex_weights) -> "_Allocation":
        """Allocate `n_draws` features to the degrees whose coefficient in `rest` is not zero."""
        n = np.arange(rest.size)
        if rule == "geometric":
            shares = np.where(n < n_exact, 0.0, 0.5 ** (n - n_exact + 1.0))
            weights = np.divide(rest, n_draws * shares, out=np.zeros(rest.size), where=shares > 0)
            return cls(np.zeros(rest.size, np.int64), n_draws, shares, weights, n_exact)
        pairing = of_estimate(pairs)
        second = np.array([np.mean(one_feature(pairing, int(i), complex_weights)) for i in n])
        variance = np.maximum(second - [np.mean(pairing.A**i) for i in n], 0.0)
        variance[second * 1e-12 >= variance] = 0  # rounding errors
        want = rest * np.sqrt(variance) if rule == "optimal" else rest
        # The maximum is for rows of zeros, on which all degrees look alike.
        return cls._rounded(rest, want, rest * np.sqrt(np.maximum(second, 1e-12)), n_draws)

    @classmethod
    def _rounded(cls, rest, want, spread, n_draws) -> "_Allocation":
        """Round the wanted numbers of features to integers.

        Degrees that deserve less than one feature form a pool, in which a degree is drawn in proportion to its
        `spread`, the root of its second moment: in a pool the mean of a degree adds to the variance
        too. A degree without variance gets one feature.
        """
        live = rest > 0
        fixed = np.zeros(rest.size, np.int64)
        steady = live & (want == 0)
        if steady.any() and n_draws > np.count_nonzero(steady):
            fixed[steady] = 1
            n_draws -= np.count_nonzero(steady)
            live &= ~steady
        want = np.where(live, want, 0.0)
        if not want.any():
            want = np.where(live, spread, 0.0)
        ideal = want / want.sum() * n_draws if want.any() else want
        pooled = live & (ideal < 1)
        pool_size = 0
        if pooled.any():
            pool_size = min(n_draws, max(1, round(float(ideal[pooled].sum()))))
            while n_draws - pool_size < np.count_nonzero(live & ~pooled):
                smallest = np.argmin(np.where(live & ~pooled, ideal, np.inf))
                pooled[smallest] = True
                pool_size = min(n_draws, max(1, round(float(ideal[pooled].sum()))))
        fixed += _largest_remainders(np.where(pooled, 0.0, want), n_draws - pool_size)
        shares = np.where(pooled, spread, 0.0)
        shares = shares / shares.sum() if pool_size else shares
        counts = np.where(pooled, pool_size * shares, fixed)
        weights = np.divide(rest, counts, out=np.zeros(rest.size), where=counts > 0)
        return cls(fixed, pool_size, shares, weights)

    def draw(self, seed: int) -> NDArray[np.int64]:
        """Return the number of features of each degree; the pool is drawn."""
        if self.pool_start is not None:
            # The number of trailing zero bits of a word is geometric, as in the paper with p = 2.
            words = raw_words(seed, "degrees", self.pool_size)
            degrees = np.array([self.pool_start + ((int(w) & -int(w)).bit_length() - 1) % 64 for w in words], int)
            return np.bincount(degrees[degrees < self.fixed.size], minlength=self.fixed.size)
        if not self.pool_size:
            return self.fixed
        edges = np.cumsum(self.pool_shares)
        drawn = np.searchsorted(edges / edges[-1], uniforms(seed, "degrees", self.pool_size), side="right")
        return self.fixed + np.bincount(drawn, minlength=self.fixed.size)

    def expected_variance(self, pairs: Pairs, order: int | None, complex_weights: bool) -> float:
        """Return the variance of the estimate, averaged over the pairs and over the draw of the pool.

        The variance of the draw itself will not do: choosing the luckier of two draws would bias the map.
        """
        counts = self.fixed + np.rint(self.pool_size * self.pool_shares).astype(np.int64)
        groups = group_counts(counts, order)
        total = maclaurin_covariance(of_estimate(pairs), self.weights, groups, order, complex_weights)
        if self.pool_size:
            powers = np.arange(self.fixed.size)
            square = np.polynomial.polynomial.polyval(pairs.S, self.pool_shares * self.weights**2)
            mean = np.polynomial.polynomial.polyval(pairs.dot, self.pool_shares * self.weights)
            total = total + self.pool_size * (square - mean**2)
            rounding = self.pool_size * self.pool_shares - np.rint(self.pool_size * self.pool_shares)
            for n in powers[(powers > 0) & (self.weights > 0)]:
                moment = one_feature(of_estimate(pairs), int(n), complex_weights) - pairs.S**n
                total = total + rounding[n] * self.weights[n] ** 2 * moment
        # Variances below rounding errors count as 0, so that of equally good candidates the most exact one wins.
        mean = float(np.mean(total))
        return mean if mean > 1e-12 * float(np.mean(pairs.N)) else 0.0


def _largest_remainders(want: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Split n into integers in proportion to `want`, at least 1 where `want` is not zero."""
    counts = np.zeros(want.size, np.int64)
    live = np.flatnonzero(want)
    if not live.size or n <= 0:
        return counts
    real = np.maximum(want[live] / want[live].sum() * n, 1.0)
    real *= n / real.sum()
    whole = np.maximum(np.floor(real), 1).astype(np.int64)
    for i in np.argsort(whole - real, kind="stable")[: max(0, n - int(whole.sum()))]:
        whole[i] += 1
    whole[np.argmax(whole)] += n - int(whole.sum())
    counts[live] = whole
    return counts
