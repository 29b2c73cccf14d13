"""Quick solutions of wide packed systems are those of a decomposition, to about a thousandth of the outputs."""

from dataclasses import replace

import numpy as np
import pytest

import craftmaps
from craftmaps import NormalEquations, Polynomial, RandomMaclaurin
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.penalty_search import PenaltySearch
from craftmaps.least_squares.conjugate_gradients import Deflation, QuickSolver, SolverLimits
from craftmaps.least_squares.packed_gram import ChangedGram, PackedGram, PackedLimits
from craftmaps.least_squares.ridge_path import RidgePath

WIDTH, ALPHAS = 400, [1e-4, 1e-2, 1.0]
# Conjugate gradients in narrow systems too, or decompositions alone.
QUICK, NEVER = SolverLimits(fewest_steps=1, steps_of_factor=3.0), SolverLimits(fewest_steps=WIDTH * WIDTH)


def packed_statistic(Z, Y, solver=QUICK):
    """Return a statistic in panels of about a hundred columns."""
    return NormalEquations.of(Z, Y, packed=PackedLimits(panel=96, solver=solver))


@pytest.fixture(scope="module")
def data():
    """Features far from the origin, whose eigenvalues span four orders of magnitude, and targets to learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20)) * np.geomspace(1, 0.1, 20) + 0.3
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    feature_map = RandomMaclaurin(Polynomial(4), WIDTH, exact_low_degrees=False, random_state=0)
    Z = feature_map.fit_transform(X.astype(np.float32)) + np.float32(0.2)
    Y = np.sign(X[:, :3] * X[:, 3:6] + 0.05 * rng.normal(size=(3000, 3)))
    return Z, Y


def no_decompositions(monkeypatch):
    def factored(*_):
        raise AssertionError("a decomposition was made")

    monkeypatch.setattr(PackedGram, "factored_in_place", factored)


def fold_path(statistic, rows):
    """Return ridge solutions without some rows, and the unit of alpha."""
    rest = statistic.branch()
    rest.add(*rows, sign=-1.0)
    scale = rest.scale()
    path = rest.into_ridge_path()
    path.prepare([alpha * scale for alpha in (1e-3, *ALPHAS)])
    return path, scale


def spread(outputs):
    return np.linalg.norm(outputs - outputs.mean(axis=0))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_outputs_of_rows_left_out(data, alpha, monkeypatch):
    Z, Y = data
    statistic = packed_statistic(Z, Y)
    rows = (Z[::5], Y[::5])
    exact = NormalEquations.of(Z, Y) - NormalEquations.of(*rows)
    coef, intercept = exact.solve(alpha * exact.scale())
    expected = rows[0] @ coef.T + intercept
    whole = statistic.solve(alpha * exact.scale())
    with monkeypatch.context() as context:
        no_decompositions(context)
        path, scale = fold_path(statistic, rows)
        quick = path.solve(alpha * scale, quick=True)
    outputs = rows[0] @ quick.coef.T + quick.intercept
    assert np.linalg.norm(outputs - expected) < 5e-3 * spread(expected)
    # Rows that were not left out would show.
    assert np.linalg.norm(rows[0] @ whole.coef.T + whole.intercept - expected) > 2e-2 * spread(expected)


def test_the_choice_of_alpha_is_the_same(data, monkeypatch):
    Z, Y = data
    folds = [HeldOutFold(Z[i:1500:5], Y[i:1500:5], np.ones(300), np.ones(300, int)) for i in range(5)]

    def choice(solver):
        def errors(outputs, Y):
            return (np.sign(outputs) != Y).mean(axis=1)

        statistic = packed_statistic(Z, Y, solver)
        return PenaltySearch([1e-6, *ALPHAS, 100.0]).compare(statistic, folds, lambda Z: Z, lambda Y: Y, errors)

    with monkeypatch.context() as context:
        no_decompositions(context)
        quick = choice(QUICK)
    slow = choice(NEVER)
    assert quick.relative == slow.relative
    np.testing.assert_allclose(quick.results["mean_error"], slow.results["mean_error"], atol=2 / 1500, rtol=0)
    assert np.linalg.norm(quick.outputs - slow.outputs) < 5e-3 * spread(slow.outputs)
    assert np.ptp(slow.results["mean_error"]) > 20 / 1500  # the curve is not flat


def test_the_same_on_any_number_of_threads(data):
    Z, Y = data
    statistic = packed_statistic(Z, Y)
    coefs = []
    for n in (1, 2, 3):
        with craftmaps.threads(n):
            path, scale = fold_path(statistic, (Z[::5], Y[::5]))
            coefs.append(path.solve(1e-3 * scale, quick=True).coef)
    np.testing.assert_array_equal(coefs[0], coefs[1])
    np.testing.assert_array_equal(coefs[0], coefs[2])


def test_later_matrices_use_the_deflation_of_the_first():
    """The products for a deflation have as many columns as its rank, those of steps as many as the right side."""
    values, right = np.geomspace(1e4, 1, WIDTH).astype(np.float32)[:, None], np.ones((WIDTH, 2))
    solver, n_columns = QuickSolver(QUICK), []
    for factor in (1.0, 1.01):
        (X,) = solver.solve(lambda X, f=factor: n_columns.append(X.shape[1]) or f * values * X, right, [1.0])
        expected = right / (factor * values + 1)
        assert np.linalg.norm(X - expected) < 3e-3 * np.linalg.norm(expected)
    assert n_columns[:2] == [QUICK.rank(WIDTH)] * 2
    assert set(n_columns[2:]) == {2}


def test_later_folds_use_the_solver_of_the_first():
    gram = PackedGram(WIDTH)
    first = gram.branch()
    assert gram.branch(first).quick is first.quick
    assert gram.branch().quick is not first.quick


def test_deflation_takes_far_fewer_steps():
    values = np.concatenate([np.geomspace(1e5, 10, 20), np.linspace(5, 1, WIDTH - 20)])
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0]
    matrix = ((rotation * values) @ rotation.T).astype(np.float32)
    right = np.random.default_rng(1).normal(size=(WIDTH, 4))
    expected = np.linalg.solve(matrix.astype(np.float64) + 0.1 * np.eye(WIDTH), right)

    def n_steps(width_of_rank):
        products = []
        (X,) = QuickSolver(replace(QUICK, width_of_rank=width_of_rank)).solve(
            lambda X: products.append(X) or matrix @ X, right, [0.1]
        )
        assert np.linalg.norm(X - expected) < 3e-3 * np.linalg.norm(expected)
        return len(products)

    assert n_steps(10) < 0.5 * n_steps(10 * WIDTH)


def test_deflation_finds_eigenvalues_down_to_rounding_errors():
    top = np.geomspace(1, 1e-5, SolverLimits().rank(WIDTH))
    values = np.concatenate([top, np.full(WIDTH - top.size, 1e-8)])
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0]
    matrix = ((rotation * values) @ rotation.T).astype(np.float32)
    deflation = Deflation.of(lambda X: matrix @ X, WIDTH, top.size)
    np.testing.assert_allclose(deflation.values[::-1], top, rtol=0.1)
    np.testing.assert_allclose(deflation.vectors.T @ deflation.vectors, np.eye(top.size), atol=0.02)


@pytest.mark.parametrize("diagonals", [[0.1], [10.0, 0.1, 1000.0]])
def test_each_diagonal_has_its_own_solution(diagonals):
    matrix = np.diag(np.geomspace(1e4, 1, WIDTH)).astype(np.float32)
    right = np.random.default_rng(1).normal(size=(WIDTH, 3))
    n_columns = []
    solutions = QuickSolver(QUICK).solve(lambda X: n_columns.append(X.shape[1]) or matrix @ X, right, diagonals)
    for diagonal, X in zip(diagonals, solutions, strict=True):
        expected = right / (np.diag(matrix)[:, None] + diagonal)
        assert np.linalg.norm(X - expected) < 3e-3 * np.linalg.norm(expected)
    assert n_columns[2] == 3 * len(diagonals)  # after two products for the deflation
    assert n_columns[-1] == 3  # what is solved takes no more steps


def test_what_takes_too_long_is_left_to_a_decomposition_and_not_tried_again():
    matrix, right = np.diag(np.geomspace(1e6, 1, WIDTH)).astype(np.float32), np.ones((WIDTH, 1))
    products = []
    solver = QuickSolver(replace(QUICK, steps_of_factor=0.2))
    low, high = solver.solve(lambda X: products.append(X) or matrix @ X, right, [1e-3, 1e7])
    assert low is None
    np.testing.assert_allclose(high[-1], 1e-7, rtol=1e-2)
    assert len(products) > 10
    products.clear()
    assert solver.solve(lambda X: products.append(X) or matrix @ X, right, [1e-4, 1.01e-3]) == [None, None]
    assert not products
    assert solver.solve(lambda X: matrix @ X, right, [1e-4, 1e7])[1] is not None


def test_products_are_in_single_precision():
    def times(X):
        assert X.dtype == np.float32
        return 2 * X

    (X,) = QuickSolver(QUICK).solve(times, np.ones((WIDTH, 2)), [np.float64(2)])
    np.testing.assert_allclose(X, 0.25, rtol=1e-5)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_matrix_that_is_not_positive_is_refused(value):
    diagonal = np.ones(WIDTH, np.float32)
    diagonal[7] = value
    with np.errstate(invalid="ignore"):
        solver = QuickSolver(QUICK)
        low, high = solver.solve(lambda X: diagonal[:, None] * X, np.ones((WIDTH, 2)), [0.5, 10.0])
    assert low is None
    limits = (0.5, 1.0) if np.isfinite(value) else (10.0, 20.0)
    assert limits[0] < solver.lost < limits[1]  # and those of other folds, which are a little larger
    if np.isfinite(value):
        np.testing.assert_allclose(high[0], 1 / 11, rtol=1e-2)
    else:
        assert high is None


class ObservedSolver(QuickSolver):
    """Keeps the diagonals that it was asked for."""

    def __init__(self, limits):
        super().__init__(limits)
        self.asked = []

    def solve(self, times, right, diagonals):
        self.asked.append(diagonals)
        return super().solve(times, right, diagonals)


@pytest.mark.parametrize("is_quick", [True, False])
def test_alphas_that_are_lost_in_rounding_errors_are_one(data, monkeypatch, is_quick):
    """A matrix with an eigenvalue below zero is not positive until a shift makes it so, which is found out once."""
    Z, Y = data
    Z = np.concatenate([Z, Z[:, :1]], axis=1)
    gram = PackedGram(WIDTH + 1, PackedLimits(panel=96))
    gram.add(Z)
    unit = float(np.finfo(np.float32).eps) * gram.diagonal().sum()
    gram.panels[-1][-1, -1] -= np.float32(unit)
    solver = ObservedSolver(replace(QUICK, steps_of_factor=30.0) if is_quick else NEVER)
    if is_quick:
        no_decompositions(monkeypatch)

    def fold_path(test):
        rest, right = ChangedGram(gram, [], solver), Z.T @ Y - Z[test].T @ Y[test]
        rest.add(Z[test], -1.0)
        right[-1] *= 1.5  # so that the right side has a part along the vector of that eigenvalue
        path = RidgePath(rest, right, np.zeros(WIDTH + 1), np.zeros(3), rounding=[unit], is_single=True)
        return path, float(rest.diagonal().mean())

    path, scale = fold_path(slice(None, None, 5))
    small = [1e-12 * scale, 1e-11 * scale]
    assert max(small) < 0.01 * unit
    path.prepare([*small, scale])
    coefs = [path.solve(alpha, quick=True).coef for alpha in (*small, scale)]
    assert np.isfinite(coefs).all()
    assert np.linalg.norm(coefs[0] - coefs[1]) < 0.1 * np.linalg.norm(coefs[0] - coefs[2])
    assert min(solver.asked[0]) < 0.1 * unit
    solver.asked.clear()
    path, _ = fold_path(slice(1, None, 5))
    path.prepare(small)
    ((shift,),) = solver.asked
    assert shift > 0.5 * unit


def test_targets_and_features_that_are_all_zero(data):
    Z, Y = data
    quick = fold_path(packed_statistic(Z, 0 * Y), (Z[::5], 0 * Y[::5]))[0].solve(1.0, quick=True)
    np.testing.assert_array_equal(quick.coef, 0)
    Y = Y.copy()
    Y[:, 1] = 0
    path, scale = fold_path(packed_statistic(Z, Y), (Z[::5], Y[::5]))
    coef = path.solve(scale, quick=True).coef
    np.testing.assert_array_equal(coef[1], 0)
    assert np.abs(coef[[0, 2]]).max() > 0
    path, _ = fold_path(packed_statistic(0 * Z, Y), (0 * Z[::5], Y[::5]))
    np.testing.assert_array_equal(path.solve(1.0, quick=True).coef, 0)


def test_narrow_systems_are_decomposed(data, monkeypatch):
    Z, Y = data
    no_decompositions(monkeypatch)
    path, scale = fold_path(NormalEquations.of(Z, Y, packed=True), (Z[::5], Y[::5]))
    with pytest.raises(AssertionError, match="decomposition"):
        path.solve(scale, quick=True)
