"""Quick solutions of wide packed systems are those of a decomposition, to about a thousandth of the outputs."""

import numpy as np
import pytest

import craftmaps
from craftmaps import NormalEquations, Polynomial, RandomMaclaurin
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.penalty_search import PenaltySearch
from craftmaps.least_squares import conjugate_gradients, packed_gram
from craftmaps.least_squares.conjugate_gradients import Deflation, QuickSolver

WIDTH, ALPHAS = 400, [1e-4, 1e-2, 1.0]


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """Use conjugate gradients, and panels of their own for every hundred columns, in narrow systems too."""
    monkeypatch.setattr(conjugate_gradients, "_FEWEST_STEPS", 1)
    monkeypatch.setattr(conjugate_gradients, "_STEPS_OF_FACTOR", 3.0)
    monkeypatch.setattr(packed_gram, "_PANEL", 96)


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

    monkeypatch.setattr(packed_gram.PackedGram, "factored_in_place", factored)


def fold_path(statistic, rows, room=None):
    """Return ridge solutions without some rows, and what they were made from."""
    rest = statistic.branch(room)
    rest.add(*rows, sign=-1.0)
    scale = rest.scale()
    path = rest.into_ridge_path()
    path.prepare([alpha * scale for alpha in (1e-3, *ALPHAS)])
    return rest, path, scale


def spread(outputs):
    return np.linalg.norm(outputs - outputs.mean(axis=0))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_outputs_of_rows_left_out(data, alpha, monkeypatch):
    Z, Y = data
    statistic = NormalEquations.of(Z, Y, packed=True)
    rows = (Z[::5], Y[::5])
    exact = NormalEquations.of(Z, Y) - NormalEquations.of(*rows)
    coef, intercept = exact.solve(alpha * exact.scale())
    expected = rows[0] @ coef.T + intercept
    whole = statistic.solve(alpha * exact.scale())
    with monkeypatch.context() as context:
        no_decompositions(context)
        _, path, scale = fold_path(statistic, rows)
        quick = path.solve(alpha * scale, quick=True)
    outputs = rows[0] @ quick.coef.T + quick.intercept
    assert np.linalg.norm(outputs - expected) < 5e-3 * spread(expected)
    # Rows that were not left out would show.
    assert np.linalg.norm(rows[0] @ whole.coef.T + whole.intercept - expected) > 2e-2 * spread(expected)


def test_the_choice_of_alpha_is_the_same(data, monkeypatch):
    Z, Y = data
    statistic = NormalEquations.of(Z, Y, packed=True)
    folds = [HeldOutFold(Z[i:1500:5], Y[i:1500:5], np.ones(300), np.ones(300, int)) for i in range(5)]

    def choice():
        def errors(outputs, Y):
            return (np.sign(outputs) != Y).mean(axis=1)

        return PenaltySearch([1e-6, *ALPHAS, 100.0]).compare(statistic, folds, lambda Z: Z, lambda Y: Y, errors)

    with monkeypatch.context() as context:
        no_decompositions(context)
        quick = choice()
    monkeypatch.setattr(conjugate_gradients, "_FEWEST_STEPS", WIDTH * WIDTH)
    slow = choice()
    assert quick.relative == slow.relative
    np.testing.assert_allclose(quick.results["mean_error"], slow.results["mean_error"], atol=2 / 1500, rtol=0)
    assert np.linalg.norm(quick.outputs - slow.outputs) < 5e-3 * spread(slow.outputs)
    assert np.ptp(slow.results["mean_error"]) > 20 / 1500  # the curve is not flat


def test_the_same_on_any_number_of_threads(data):
    Z, Y = data
    statistic = NormalEquations.of(Z, Y, packed=True)
    coefs = []
    for n in (1, 2, 3):
        with craftmaps.threads(n):
            _, path, scale = fold_path(statistic, (Z[::5], Y[::5]))
            coefs.append(path.solve(1e-3 * scale, quick=True).coef)
    np.testing.assert_array_equal(coefs[0], coefs[1])
    np.testing.assert_array_equal(coefs[0], coefs[2])


def test_later_folds_use_the_deflation_of_the_first(data, monkeypatch):
    Z, Y = data
    statistic = NormalEquations.of(Z, Y, packed=True)
    first, _, _ = fold_path(statistic, (Z[::5], Y[::5]))
    monkeypatch.setattr(Deflation, "of", None)
    fold_path(statistic, (Z[1::5], Y[1::5]), room=first)
    with pytest.raises(TypeError):
        fold_path(statistic, (Z[1::5], Y[1::5]))


def test_deflation_takes_far_fewer_steps(monkeypatch):
    values = np.concatenate([np.geomspace(1e5, 10, 20), np.linspace(5, 1, WIDTH - 20)])
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0]
    matrix = ((rotation * values) @ rotation.T).astype(np.float32)
    right = np.random.default_rng(1).normal(size=(WIDTH, 4))
    expected = np.linalg.solve(matrix.astype(np.float64) + 0.1 * np.eye(WIDTH), right)

    def n_steps(width_of_rank):
        monkeypatch.setattr(conjugate_gradients, "_WIDTH_OF_RANK", width_of_rank)
        products = []
        (X,) = QuickSolver().solve(lambda X: products.append(X) or matrix @ X, right, [0.1])
        assert np.linalg.norm(X - expected) < 3e-3 * np.linalg.norm(expected)
        return len(products)

    assert n_steps(10) < 0.5 * n_steps(10 * WIDTH)


def test_deflation_finds_eigenvalues_down_to_rounding_errors():
    top = np.geomspace(1, 1e-5, WIDTH // conjugate_gradients._WIDTH_OF_RANK)
    values = np.concatenate([top, np.full(WIDTH - top.size, 1e-8)])
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0]
    matrix = ((rotation * values) @ rotation.T).astype(np.float32)
    deflation = Deflation.of(lambda X: matrix @ X, WIDTH)
    np.testing.assert_allclose(deflation.values[::-1], top, rtol=0.1)
    np.testing.assert_allclose(deflation.vectors.T @ deflation.vectors, np.eye(top.size), atol=0.02)


@pytest.mark.parametrize("diagonals", [[0.1], [10.0, 0.1, 1000.0]])
def test_each_diagonal_has_its_own_solution(diagonals):
    matrix = np.diag(np.geomspace(1e4, 1, WIDTH)).astype(np.float32)
    right = np.random.default_rng(1).normal(size=(WIDTH, 3))
    n_columns = []
    solutions = QuickSolver().solve(lambda X: n_columns.append(X.shape[1]) or matrix @ X, right, diagonals)
    for diagonal, X in zip(diagonals, solutions, strict=True):
        expected = right / (np.diag(matrix)[:, None] + diagonal)
        assert np.linalg.norm(X - expected) < 3e-3 * np.linalg.norm(expected)
    assert n_columns[2] == 3 * len(diagonals)  # after two products for the deflation
    assert n_columns[-1] == 3  # what is solved takes no more steps


def test_what_takes_too_long_is_left_to_a_decomposition_and_not_tried_again(monkeypatch):
    matrix, right = np.diag(np.geomspace(1e6, 1, WIDTH)).astype(np.float32), np.ones((WIDTH, 1))
    monkeypatch.setattr(conjugate_gradients, "_STEPS_OF_FACTOR", 0.2)
    products = []
    solver = QuickSolver()
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

    (X,) = QuickSolver().solve(times, np.ones((WIDTH, 2)), [np.float64(2)])
    np.testing.assert_allclose(X, 0.25, rtol=1e-5)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_matrix_that_is_not_positive_is_refused(value):
    diagonal = np.ones(WIDTH, np.float32)
    diagonal[7] = value
    with np.errstate(invalid="ignore"):
        solver = QuickSolver()
        low, high = solver.solve(lambda X: diagonal[:, None] * X, np.ones((WIDTH, 2)), [0.5, 10.0])
    assert low is None
    limits = (0.5, 1.0) if np.isfinite(value) else (10.0, 20.0)
    assert limits[0] < solver.lost < limits[1]  # and those of other folds, which are a little larger
    if np.isfinite(value):
        np.testing.assert_allclose(high[0], 1 / 11, rtol=1e-2)
    else:
        assert high is None


@pytest.mark.parametrize("is_quick", [True, False])
def test_alphas_that_are_lost_in_rounding_errors_are_one(data, monkeypatch, is_quick):
    """A matrix with an eigenvalue below zero is not positive until a shift makes it so, which is found out once."""
    Z, Y = data
    Z = np.concatenate([Z, Z[:, :1]], axis=1)
    statistic = NormalEquations.of(Z, Y, packed=True)
    unit = float(np.finfo(np.float32).eps) * statistic._gram.diagonal().sum()
    statistic._gram.panels[-1][-1, -1] -= np.float32(unit)
    statistic.cross[-1] *= 1.5  # so that the right side has a part along its vector
    if is_quick:
        no_decompositions(monkeypatch)
        monkeypatch.setattr(conjugate_gradients, "_STEPS_OF_FACTOR", 30.0)
    else:
        monkeypatch.setattr(conjugate_gradients, "_FEWEST_STEPS", WIDTH * WIDTH)
    rest, path, scale = fold_path(statistic, (Z[::5], Y[::5]))
    small = [1e-12 * scale, 1e-11 * scale]
    assert max(small) < 0.01 * unit
    path.prepare(small)
    coefs = [path.solve(alpha, quick=True).coef for alpha in (*small, scale)]
    assert np.isfinite(coefs).all()
    assert np.linalg.norm(coefs[0] - coefs[1]) < 0.1 * np.linalg.norm(coefs[0] - coefs[2])
    tried = []
    _, path, _ = fold_path(statistic, (Z[1::5], Y[1::5]), room=rest)
    monkeypatch.setattr(path, "_solved", lambda gram, diagonal, quick: tried.append(diagonal) or np.zeros((1, 1)))
    monkeypatch.setattr(path, "_mean", np.zeros(1))
    path.solve(small[0], quick=True)
    assert len(tried) == 1
    assert tried[0] > 0.5 * unit


def test_targets_and_features_that_are_all_zero(data):
    Z, Y = data
    quick = fold_path(NormalEquations.of(Z, 0 * Y, packed=True), (Z[::5], 0 * Y[::5]))[1].solve(1.0, quick=True)
    np.testing.assert_array_equal(quick.coef, 0)
    Y = Y.copy()
    Y[:, 1] = 0
    _, path, scale = fold_path(NormalEquations.of(Z, Y, packed=True), (Z[::5], Y[::5]))
    coef = path.solve(scale, quick=True).coef
    np.testing.assert_array_equal(coef[1], 0)
    assert np.abs(coef[[0, 2]]).max() > 0
    _, path, _ = fold_path(NormalEquations.of(0 * Z, Y, packed=True), (0 * Z[::5], Y[::5]))
    np.testing.assert_array_equal(path.solve(1.0, quick=True).coef, 0)


def test_narrow_systems_are_decomposed(data, monkeypatch):
    Z, Y = data
    monkeypatch.undo()
    no_decompositions(monkeypatch)
    _, path, scale = fold_path(NormalEquations.of(Z, Y, packed=True), (Z[::5], Y[::5]))
    with pytest.raises(AssertionError, match="decomposition"):
        path.solve(scale, quick=True)
