"""What cannot be counted is refused, and leaves the statistic as it was."""

import copy

import numpy as np
import pytest

from craftmaps import NormalEquations

Z = np.arange(12.0).reshape(4, 3) ** 0.5
Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5]])

BAD_ROWS = {
    "one dimension": (Z[0], Y, None, "Z and Y must be matrices with equally many rows, got shapes"),
    "three dimensions": (Z[None], Y[None], None, "Z and Y must be matrices"),
    "other lengths": (Z, Y[:3], None, r"equally many rows, got shapes \(4, 3\) and \(3, 2\)"),
    "negative weight": (Z, Y, [1, 1, -1, 1], "sample_weight must be 4 finite numbers, none negative"),
    "NaN weight": (Z, Y, [1, 1, np.nan, 1], "sample_weight must be 4 finite"),
    "too few weights": (Z, Y, [1, 1], r"sample_weight must be 4 .*got shape \(2,\)"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_rows(case):
    features, targets, weight, message = BAD_ROWS[case]
    with pytest.raises(ValueError, match=message):
        NormalEquations.of(features, targets, weight)


@pytest.mark.parametrize("alpha", [-1.0, -1e-300, np.nan, np.inf])
def test_alpha(alpha):
    with pytest.raises(ValueError, match=f"alpha must be a finite number of at least 0, got {alpha}"):
        NormalEquations.of(Z, Y).solve(alpha)


def test_sums_of_unlike_statistics():
    with pytest.raises(ValueError, match=r"equally many features and targets .*\(3, 2\) and \(2, 2\)"):
        NormalEquations.of(Z, Y) + NormalEquations.of(Z[:, :2], Y)
    with pytest.raises(ValueError, match=r"equally many features and targets"):
        NormalEquations.of(Z, Y) + NormalEquations.of(Z, Y[:, :1])
    with pytest.raises(TypeError):
        NormalEquations.of(Z, Y) + 1


UNLIKE = {
    "too few targets": (Z, Y[:3]),
    "too narrow rows": (Z[:, :2], Y),
    "rows of width 1": (Z[:, :1], Y),
    "one target of two": (Z, Y[:, :1]),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_rows_unlike_those_counted(case):
    statistic = NormalEquations.of(Z, Y)
    before = copy.deepcopy(statistic.to_plain() | {"gram": statistic.gram})
    with pytest.raises(ValueError, match=r"shape|features|targets|rows"):
        statistic.add(*UNLIKE[case])
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(statistic, name), value, err_msg=name)


def test_rows_that_are_not_finite_do_not_become_a_solution():
    spoilt = Z.copy()
    spoilt[1, 1] = np.nan
    with pytest.raises(ValueError, match="finite"):
        NormalEquations.of(spoilt, Y).solve(1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [0.0, 1e-12])
def test_a_singular_matrix_is_solved_all_the_same(dtype, alpha):
    """Rounding leaves some eigenvalues negative, and a mean far from zero makes them larger."""
    rng = np.random.default_rng(0)
    features = (rng.normal(size=(200, 5)) @ rng.normal(size=(5, 40)) + 10).astype(dtype)
    targets = features[:, :2].astype(np.float64)
    coef, intercept = NormalEquations.of(features, targets).solve(alpha)
    np.testing.assert_allclose(features @ coef.T + intercept, targets, atol=0.05 * targets.std())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 3, 100, 240, 1000])
def test_features_that_do_not_vary_leave_the_mean(dtype, n_rows):
    features = np.tile(np.random.default_rng(1).random(24).astype(dtype), (n_rows, 1))
    targets = np.random.default_rng(2).random((n_rows, 2))
    statistic = NormalEquations.of(features, targets)
    for alpha in (0.0, 1e-3 * statistic.scale()):
        coef, intercept = statistic.solve(alpha)
        expected = np.broadcast_to(targets.mean(axis=0), targets.shape)
        np.testing.assert_allclose(features @ coef.T + intercept, expected, rtol=1e-3)
