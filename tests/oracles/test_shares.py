"""Groups and columns of degree shares against a plain loop over the groups."""

import numpy as np
import pytest

from craftmaps import Polynomial, RandomMaclaurin


@pytest.mark.parametrize("complex_weights", [False, True])
@pytest.mark.parametrize("projection", ["hadamard", "rademacher"])
@pytest.mark.parametrize("n_components", [1, 7, 40, 200])
@pytest.mark.parametrize("width", [1, 5, 16])
def test_groups_one_by_one(width, n_components, projection, complex_weights):
    rows = np.random.default_rng(0).standard_normal((10, width))
    kernel = Polynomial(5, coef0=0.7)
    feature_map = RandomMaclaurin(
        kernel, n_components, projection=projection, complex_weights=complex_weights, random_state=0
    )
    shares = feature_map.fit(rows).shares_
    n_factors, n_uses, degrees = [], [], []
    for group in shares.groups:
        present = [n for n in range(group.size) if n > 0 and group[n]]
        if present:
            n_factors.append(max(present))
            n_uses += [group[j:].sum() for j in range(1, max(present) + 1)]
        features = [n for n in reversed(present) for _ in range(group[n])]
        degrees += features * (2 if shares.complex_weights else 1)
    np.testing.assert_array_equal(shares.n_factors, n_factors)
    np.testing.assert_array_equal(shares.n_uses, n_uses)
    np.testing.assert_array_equal(shares.columns()[0][: len(degrees)], degrees)
    assert shares.columns()[0].size == n_components
