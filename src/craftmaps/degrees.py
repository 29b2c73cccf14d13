"""Which degrees the features of a Maclaurin map have, and what each is worth.

A kernel f(x.y) = sum a_n (x.y)^n is estimated degree by degree. A degree gets a fixed number of
features, or it shares a pool in which every feature draws its degree; either way the estimate
is unbiased, for as few as one feature. Low degrees may also be kept exactly.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from craftmaps import moments
from craftmaps.moments import EstimateMoments, Pairs, maclaurin_covariance, of_estimate, one_feature
from craftmaps.randomness import raw_words, uniforms

RULES = ("optimal", "proportional", "geometric")


@dataclass(frozen=True)
class DegreeShares:
    """How the features of a map are shared out to the degrees of the series.

    `counts[n]` features of degree n contribute `weights[n]` each; `n_linear` and `n_constant`
    columns are exact; `n_unused` columns are zero. A feature is `columns` wide: 2 if complex.
    """

    coefficients: NDArray[np.float64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_linear: int
    n_constant: int
    n_unused: int

    def mean(self, dot: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the map estimates on average over its signs, given these counts."""
        a = self.counts * self.weights
        a[0] += self.coefficients[0] * self.n_constant
        if self.n_linear:
            a[1] += self.coefficients[1]
        return np.asarray(np.polynomial.polynomial.polyval(dot, a))

    def without_exact(self, n_kept: int) -> "DegreeShares":
        """Return the shares without the last n_kept exact columns: none, the constant, or all."""
        if n_kept <= self.n_constant:
            return replace(self, n_constant=self.n_constant - n_kept)
        return replace(self, n_constant=0, n_linear=0)

    def estimate_moments(self, pairs: Pairs, order: int | None, complex_weights: bool) -> EstimateMoments:
        """Return the moments of the estimate, given how many features each degree has got."""
        groups = group_counts(self.counts, order)
        covariances = [
            maclaurin_covariance(pairing, self.weights, groups, order, complex_weights)
            for pairing in (of_estimate(pairs), moments.of_lengths(pairs))
        ]
        fourth = np.full(pairs.dot.shape, self.n_constant * self.coefficients[0] ** 2)
        if self.n_linear:
            fourth += self.coefficients[1] ** 2 * pairs.Q
        for n in np.flatnonzero(self.counts):
            fourth += self.counts[n] * self.weights[n] ** 2 * moments.maclaurin_fourth(pairs, int(n), complex_weights)
        lengths = self.mean(pairs.left) * self.mean(pairs.right) + covariances[1]
        return EstimateMoments(self.mean(pairs.dot), covariances[0], lengths, fourth)


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
) -> DegreeShares:
    """Share n_columns out by a rule; keep degrees 0 and 1 exactly where that is asked for or better.

    `pairs` is a sample of pairs of different rows; `n_features` is the width of the input.
    """
    columns = 2 if complex_weights else 1
    plans = []
    for n_exact in {"auto": (2, 1, 0), True: (2,), False: (0,)}[exact]:
        n_exact = min(n_exact, coefficients.size)
        n_constant = int(n_exact > 0 and coefficients[0] > 0)
        n_linear = n_features if n_exact > 1 and coefficients[1] > 0 else 0
        n_draws = (n_columns - n_linear - n_constant) // columns
        rest = np.where(np.arange(coefficients.size) < n_exact, 0.0, coefficients)
        if n_draws < (1 if rest.any() else 0):
            continue
        plan = _Plan.make(rest, n_exact, pairs, n_draws, rule, complex_weights)
        plans.append((plan.expected_variance(pairs, order, complex_weights), n_linear, n_constant, n_draws, plan))
    if not plans:
        raise ValueError(
            f"n_components must be at least {n_features + 1 + columns} to keep degrees 0 and 1 exactly "
            f"(exact_low_degrees=True) for {n_features} features, got {n_columns}."
        )
    _, n_linear, n_constant, n_draws, plan = min(plans, key=lambda candidate: candidate[0])
    counts = plan.draw(seed)
    # A constant is one column even where a feature is complex.
    n_unused = n_columns - n_linear - n_constant - columns * int(counts[1:].sum()) - int(counts[0])
    return DegreeShares(coefficients, counts, plan.weights, n_linear, n_constant, n_unused)


@dataclass(frozen=True)
class _Plan:
    """Fixed counts a degree, and a pool of features that draw their degree."""

    fixed: NDArray[np.int64]
    pool_size: int
    pool_shares: NDArray[np.float64]  # may add up to less than 1: the rest of the pool is wasted
    weights: NDArray[np.float64]
    pool_start: int | None = None  # the geometric rule draws start + a geometric number

    @classmethod
    def make(cls, rest, n_exact, pairs, n_draws, rule, complex_weights) -> "_Plan":
        """Plan n_draws features for the degrees whose coefficient in `rest` is not zero."""
        n = np.arange(rest.size)
        if rule == "geometric":
            shares = np.where(n < n_exact, 0.0, 0.5 ** (n - n_exact + 1.0))
            weights = np.divide(rest, n_draws * shares, out=np.zeros(rest.size), where=shares > 0)
            return cls(np.zeros(rest.size, np.int64), n_draws, shares, weights, n_exact)
        want = rest.copy()
        if rule == "optimal":
            pairing = of_estimate(pairs)
            one = [np.mean(one_feature(pairing, i, complex_weights) - pairing.A**i) if i else 0.0 for i in n]
            want = rest * np.sqrt(np.maximum(one, 0.0))
        return cls._rounded(rest, want, n_draws)

    @classmethod
    def _rounded(cls, rest, want, n_draws) -> "_Plan":
        """Turn real-valued shares into whole counts; degrees worth less than a feature share a pool."""
        live = rest > 0
        fixed = np.zeros(rest.size, np.int64)
        if not live.any() or n_draws == 0:
            return cls(fixed, 0, np.zeros(rest.size), np.zeros(rest.size))
        # A degree without variance still needs a feature to have its mean right.
        want = np.where(live, np.maximum(want, 1e-9 * want.max() if want.max() > 0 else 1.0), 0.0)
        ideal = want / want.sum() * n_draws
        pooled = live & (ideal < 1)
        pool_size = 0
        if pooled.any():
            pool_size = max(1, round(float(ideal[pooled].sum())))
            while n_draws - pool_size < np.count_nonzero(live & ~pooled):
                smallest = np.argmin(np.where(live & ~pooled, ideal, np.inf))
                pooled[smallest] = True
                pool_size = min(n_draws, max(1, round(float(ideal[pooled].sum()))))
        alone = np.flatnonzero(live & ~pooled)
        if alone.size:
            room = n_draws - pool_size
            real = np.maximum(want[alone] / want[alone].sum() * room, 1.0)
            real *= room / real.sum()
            fixed[alone] = np.maximum(np.floor(real), 1).astype(np.int64)
            for i in np.argsort(fixed[alone] - real, kind="stable")[: max(0, room - int(fixed.sum()))]:
                fixed[alone[i]] += 1
            fixed[alone[np.argmax(fixed[alone])]] += room - int(fixed.sum())
        shares = np.where(pooled, want, 0.0)
        shares = shares / shares.sum() if pool_size else shares
        counts = np.where(pooled, pool_size * shares, fixed)
        weights = np.divide(rest, counts, out=np.zeros(rest.size), where=counts > 0)
        return cls(fixed, pool_size, shares, weights)

    def draw(self, seed: int) -> NDArray[np.int64]:
        """Return the number of features of each degree."""
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

        It must not depend on the draw itself: choosing the luckier of two draws would bias the map.
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
        return float(np.mean(total))


def group_counts(counts: NDArray[np.int64], order: int | None) -> NDArray[np.int64]:
    """Cut the features, highest degree first, into groups of `order`; count degrees in each."""
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
