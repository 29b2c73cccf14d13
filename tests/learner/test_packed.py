"""One triangle in float32 panels gives what the float64 square gives, up to the rounding of float32."""

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import craftmaps.least_squares.conjugate_gradients
import craftmaps.least_squares.packed_gram
from craftmaps import NormalEquations
from craftmaps._system.memory_budget import BYTES_PER_CELL
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.penalty_search import PenaltySearch
from craftmaps.least_squares.normal_equations import square_fits
from tests.learner.examples import blocks_of, classifier, labelled_rows

EPS = float(np.finfo(np.float32).eps)


@pytest.fixture(params=[(64, 24), (37, 37), (1024, 128)], ids=["panels", "odd panels", "one panel"])
def data(request, monkeypatch):
    """Features and targets, with panels and chunks of several sizes."""
    monkeypatch.setattr(craftmaps.least_squares.packed_gram, "_PANEL", request.param[0])
    monkeypatch.setattr(craftmaps.least_squares.packed_gram, "_CHUNK", request.param[1])
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 150)).astype(np.float32) + np.float32(0.5)
    return Z, rng.normal(size=(500, 3)), rng.random(500) + 0.5


def lower(statistic):
    return statistic.gram[np.tril_indices(statistic.cross.shape[0])]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_and_its_sums(data, weighted):
    Z, Y, w = data
    w = w if weighted else None
    square, packed = NormalEquations.of(Z, Y, w), NormalEquations.of(Z, Y, w, packed=True)
    size = np.abs(square.gram).max()
    np.testing.assert_allclose(lower(packed), lower(square), rtol=0, atol=8 * EPS * size)
    parts = [
        NormalEquations.of(Z[s], Y[s], None if w is None else w[s], packed=True) for s in (slice(200), slice(200, 500))
    ]
    np.testing.assert_allclose(lower(parts[0] + parts[1]), lower(packed), rtol=0, atol=8 * EPS * size)
    np.testing.assert_allclose(lower(packed - parts[0]), lower(parts[1]), rtol=0, atol=8 * EPS * size)
    X = np.random.default_rng(1).normal(size=(150, 2))
    full = np.tril(packed.gram) + np.tril(packed.gram, -1).T
    np.testing.assert_allclose(packed._gram.times(X), full @ X, rtol=1e-10, atol=1e-9 * size)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge(data, fit_intercept):
    Z, Y, w = data
    coef, intercept = NormalEquations.of(Z, Y, w, packed=True).solve(5.0, fit_intercept=fit_intercept)
    ridge = Ridge(5.0, fit_intercept=fit_intercept).fit(Z.astype(np.float64), Y, w)
    scale = np.abs(ridge.coef_).max()
    np.testing.assert_allclose(coef, ridge.coef_, rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(intercept, np.broadcast_to(ridge.intercept_, 3), rtol=0, atol=1e-4 * scale)


def test_refinement_solves_the_system_that_is_stored(data):
    """The residual is at the level of float64, although the factor is in float32."""
    Z, Y, _ = data
    packed = NormalEquations.of(Z, Y, packed=True)
    coef = packed.solve(1.0, fit_intercept=False).coef.T
    residual = packed.cross - packed._gram.times(coef) - coef
    assert np.abs(residual).max() < 1e-9 * np.abs(packed.cross).max()


def test_a_singular_matrix_is_settled_by_a_shift(data):
    Z, Y, _ = data
    twice = np.concatenate([Z, Z], axis=1)
    coef, intercept = NormalEquations.of(twice, Y, packed=True).solve(0.0)
    outputs = twice @ coef.T + intercept
    expected = Z @ NormalEquations.of(Z, Y).solve(0.0).coef.T
    assert np.isfinite(outputs).all()
    spread = np.std(expected - expected.mean(axis=0))
    assert np.std((outputs - outputs.mean(axis=0)) - (expected - expected.mean(axis=0))) < 0.02 * spread


def test_penalty(data):
    Z, Y, _ = data
    A = np.random.default_rng(2).normal(size=(150, 150))
    penalty = A @ A.T + np.eye(150)
    square, packed = NormalEquations.of(Z, Y), NormalEquations.of(Z, Y, packed=True)
    expected = square.solve(0.3, penalty=penalty).coef
    np.testing.assert_allclose(
        packed.solve(0.3, penalty=penalty).coef, expected, rtol=0, atol=1e-4 * np.abs(expected).max()
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_a_branch_is_a_copy_that_is_changed(data, weighted):
    """Changes kept beside the triangle count wherever the matrix is used, and leave the whole as it was."""
    Z, Y, w = data
    penalty = np.diag(np.arange(150.0)) + 0.5
    rows = (Z[:200], Y[:200], w[:200] if weighted else None)
    whole = NormalEquations.of(Z, Y, w if weighted else None, packed=True)
    before = whole.gram
    copied, branch = whole.copy(), whole.branch()
    for changed in (copied, branch):
        changed.add(*rows, sign=-1.0)
        changed._gram.add_outer(-0.01, changed.feature_sums)
        changed._gram.add_matrix(2.0, penalty)
    further, back = branch.branch(), copied.copy()
    for changed in (further, back):
        changed.add(*rows)
    size = np.abs(before).max()
    X = np.random.default_rng(1).normal(size=(150, 2))
    np.testing.assert_array_equal(lower(branch), lower(copied))
    np.testing.assert_array_equal(lower(further), lower(back))
    np.testing.assert_array_equal(lower(NormalEquations.from_plain(branch.to_plain())), lower(copied))
    np.testing.assert_array_equal(lower(whole + branch), lower(whole + copied))
    np.testing.assert_allclose(branch._gram.diagonal(), copied._gram.diagonal(), rtol=0, atol=4 * EPS * size)
    np.testing.assert_allclose(branch._gram.times(X), copied._gram.times(X), rtol=0, atol=99 * EPS * size)
    np.testing.assert_array_equal(whole.gram, before)
    assert branch.packed
    assert (branch.n_rows, further.n_rows) == (300, 500)


@pytest.mark.parametrize("is_quick", [False, True])
def test_choosing_alpha_and_solving_take_one_triangle_beside_the_statistic(monkeypatch, is_quick):
    monkeypatch.setattr(craftmaps.least_squares.packed_gram, "_PANEL", 64)
    if is_quick:
        monkeypatch.setattr(craftmaps.least_squares.conjugate_gradients, "_FEWEST_STEPS", 1)
    width, n_rows = 2048, 100
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(n_rows, width)).astype(np.float32), rng.normal(size=(n_rows, 1))
    statistic = NormalEquations.of(Z, Y, packed=True)
    folds = [HeldOutFold(Z[i::5], Y[i::5], np.ones(n_rows // 5), np.ones(n_rows // 5, int)) for i in range(5)]
    triangle = 2 * width * (width + 64)

    def peak(task):
        tracemalloc.start()
        task()
        n_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return n_bytes / triangle

    def choice():
        def errors(outputs, Y):
            return ((outputs - Y) ** 2).sum(axis=1)

        PenaltySearch([0.1, 1.0]).compare(statistic, folds, lambda Z: Z, lambda Y: Y, errors)

    if is_quick:  # without any decomposition
        assert peak(choice) < 1
    else:
        assert 1 < peak(choice) < 1.5
    assert 1 < peak(lambda: statistic.solve(1.0)) < 1.5
    assert peak(lambda: statistic.copy().solve(1.0)) > 2  # the measure sees a triangle more


def test_packed_and_square_are_not_added():
    Z, Y = np.ones((3, 2)), np.ones((3, 1))
    with pytest.raises(ValueError, match="must both be packed, or neither"):
        NormalEquations.of(Z, Y) + NormalEquations.of(Z, Y, packed=True)


@pytest.mark.parametrize("cv", [3, None])
def test_the_learner(cv):
    X, y = labelled_rows(400)
    X = X.astype(np.float32)
    settings = {"alphas": 1e-3, "cv": cv}
    square, packed = (classifier(packed=packed, **settings).fit(X, y) for packed in (False, True))
    assert packed.tally_.statistic.packed
    assert not square.tally_.statistic.packed
    np.testing.assert_allclose(packed.coef_, square.coef_, rtol=0, atol=1e-3 * np.abs(square.coef_).max())


def test_memory_decides():
    n_bytes = BYTES_PER_CELL * 32**2
    assert [square_fits(32, memory) for memory in (n_bytes - 1, n_bytes, None)] == [False, True, True]
    assert not classifier().fit(*labelled_rows()).tally_.statistic.packed


def test_a_checkpoint_of_a_packed_pass(tmp_path):
    X, y = labelled_rows(400)
    blocks = blocks_of(X.astype(np.float32), y, range(50, 400, 50))
    whole = classifier(packed=True).fit_stream(blocks)

    def broken():
        yield from blocks[:5]
        raise KeyboardInterrupt

    path = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        classifier(packed=True).fit_stream(broken(), checkpoint=path, every=100)
    assert path.exists()
    again = classifier(packed=True).fit_stream(blocks, checkpoint=path, every=100)
    np.testing.assert_array_equal(again.coef_, whole.coef_)
