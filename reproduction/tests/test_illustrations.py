"""The drawings of the algorithms show what the maps compute."""

import numpy as np
import pytest

from reproduction import illustrations


@pytest.mark.parametrize(("make", "width"), [(illustrations.independent_signs, 5), (illustrations.hadamard_blocks, 4)])
def test_matrices_make_factors_and_factors_make_features(make, width):
    feature_map, factors = make()
    x = illustrations.row_of(width)
    for factor in factors:
        numbers = x
        for matrix in reversed(factor.matrices.values()):
            numbers = matrix @ numbers
        np.testing.assert_allclose(numbers, factor.numbers)
    features = feature_map.transform(x[None])[0]
    np.testing.assert_allclose(factors[0].numbers * factors[1].numbers / 2, features)
    shown = [text.get_text() for text in illustrations.draw(feature_map, factors).axes[0].texts]
    for value in (*x, *features, *factors[0].numbers, *factors[1].numbers):
        assert f"{value:.2f}" in shown
