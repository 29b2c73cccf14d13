"""One triangle in float32 panels gives what the float64 square gives, up to the rounding of float32."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from craftmaps import CraftClassifier, NormalEquations
from craftmaps._system.fields import Fields
from craftmaps._system.memory_budget import BYTES_PER_CELL, HELD_OUT_ROWS, SETTLE_ROWS
from craftmaps.learners.held_out import HeldOutFold
from craftmaps.learners.penalty_search import PenaltySearch
from craftmaps.least_squares.conjugate_gradients import SolverLimits
from craftmaps.least_squares.normal_equations import square_fits
from craftmaps.least_squares.packed_gram import PackedGram, PackedLimits
from tests.learner.examples import blocks_of, classifier, labelled_rows

EPS = float(np.finfo(np.float32).eps)


@pytest.fixture(params=[(64, 24), (37, 37), (1024, 128)], ids=["panels", "odd panels", "one panel"])
def limits(request):
    """Panels and chunks of several sizes."""
    return PackedLimits(*request.param)


@pytest.fixture(scope="module")
def data():
    """Features, targets and weights."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 150)).astype(np.float32) + np.float32(0.5)
    return Z, rng.normal(size=(500, 3)), rng.random(500) + 0.5


def lower(statistic):
    return triangle_of(statistic.gram)


def triangle_of(matrix):
    return matrix[np.tril_indices(matrix.shape[0])]


def symmetric(matrix):
    return np.tril(matrix) + np.tril(matrix, -1).T


def packed_gram(Z, limits):
    gram = PackedGram(Z.shape[1], limits)
    gram.add(Z)
    return gram


@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_and_its_sums(data, limits, weighted):
    Z, Y, w = data
    w = w if weighted else None
    square, packed = NormalEquations.of(Z, Y, w), NormalEquations.of(Z, Y, w, packed=limits)
    size = np.abs(square.gram).max()
    np.testing.assert_allclose(lower(packed), lower(square), rtol=0, atol=8 * EPS * size)
    parts = [
        NormalEquations.of(Z[s], Y[s], None if w is None else w[s], packed=limits)
        for s in (slice(200), slice(200, 500))
    ]
    np.testing.assert_allclose(lower(parts[0] + parts[1]), lower(packed), rtol=0, atol=8 * EPS * size)
    np.testing.assert_allclose(lower(packed - parts[0]), lower(parts[1]), rtol=0, atol=8 * EPS * size)


def test_products_with_columns(data, limits):
    gram, X = packed_gram(data[0], limits), np.random.default_rng(1).normal(size=(150, 2))
    full = symmetric(gram.square())
    np.testing.assert_allclose(gram.times(X), full @ X, rtol=1e-10, atol=1e-9 * np.abs(full).max())


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge(data, limits, fit_intercept):
    Z, Y, w = data
    coef, intercept = NormalEquations.of(Z, Y, w, packed=limits).solve(5.0, fit_intercept=fit_intercept)
    ridge = Ridge(5.0, fit_intercept=fit_intercept).fit(Z.astype(np.float64), Y, w)
    scale = np.abs(ridge.coef_).max()
    np.testing.assert_allclose(coef, ridge.coef_, rtol=0, atol=1e-5 * scale)
    np.testing.assert_allclose(intercept, np.broadcast_to(ridge.intercept_, 3), rtol=0, atol=1e-4 * scale)


def test_refinement_solves_the_system_that_is_stored(data, limits):
    """The residual is at the level of float64, although the factor is in float32."""
    Z, Y, _ = data
    packed = NormalEquations.of(Z, Y, packed=limits)
    coef = packed.solve(1.0, fit_intercept=False).coef.T
    residual = packed.cross - symmetric(packed.gram) @ coef - coef
    assert np.abs(residual).max() < 1e-9 * np.abs(packed.cross).max()


def test_a_singular_matrix_is_settled_by_a_shift(data, limits):
    Z, Y, _ = data
    twice = np.concatenate([Z, Z], axis=1)
    coef, intercept = NormalEquations.of(twice, Y, packed=limits).solve(0.0)
    outputs = twice @ coef.T + intercept
    expected = Z @ NormalEquations.of(Z, Y).solve(0.0).coef.T
    assert np.isfinite(outputs).all()
    spread = np.std(expected - expected.mean(axis=0))
    assert np.std((outputs - outputs.mean(axis=0)) - (expected - expected.mean(axis=0))) < 0.02 * spread


def test_penalty(data, limits):
    Z, Y, _ = data
    A = np.random.default_rng(2).normal(size=(150, 150))
    penalty = A @ A.T + np.eye(150)
    square, packed = NormalEquations.of(Z, Y), NormalEquations.of(Z, Y, packed=limits)
    expected = square.solve(0.3, penalty=penalty).coef
    np.testing.assert_allclose(
        packed.solve(0.3, penalty=penalty).coef, expected, rtol=0, atol=1e-4 * np.abs(expected).max()
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_a_branch_is_a_copy_without_some_rows(data, limits, weighted):
    """Changes kept beside the triangle count wherever the matrix is used, and leave the whole as it was."""
    Z, Y, w = data
    rows = (Z[:200], Y[:200], w[:200] if weighted else None)
    whole = NormalEquations.of(Z, Y, w if weighted else None, packed=limits)
    before = whole.gram
    copied, branch = whole.copy(), whole.branch()
    for changed in (copied, branch):
        changed.add(*rows, sign=-1.0)
    further, back = branch.branch(), copied.copy()
    for changed in (further, back):
        changed.add(*rows)
    np.testing.assert_array_equal(lower(branch), lower(copied))
    np.testing.assert_array_equal(lower(further), lower(back))
    np.testing.assert_array_equal(lower(whole + branch), lower(whole + copied))
    np.testing.assert_allclose(branch.scale(), copied.scale(), rtol=16 * EPS)
    np.testing.assert_array_equal(whole.gram, before)
    assert branch.packed
    assert (branch.n_rows, further.n_rows) == (300, 500)


def test_all_changes_of_a_branch(data, limits):
    Z, vector, X = data[0], data[0].sum(axis=0, dtype=np.float64), np.random.default_rng(1).normal(size=(150, 2))
    whole = packed_gram(Z, limits)
    before = whole.square()
    copied, branch = whole.copy(), whole.branch()
    for changed in (copied, branch):
        changed.add(Z[:200], -1.0)
        changed.add_outer(-0.01, vector)
        changed.add_matrix(2.0, np.diag(np.arange(150.0)) + 0.5)
    expected, size = copied.square(), np.abs(before).max()
    assert np.abs(triangle_of(expected - before)).min() > 0
    plain = PackedGram.from_plain(Fields(branch.to_plain(), "gram"), 150, limits)
    for changed in (branch, branch.copy(), branch.branch(), plain):
        np.testing.assert_array_equal(triangle_of(changed.square()), triangle_of(expected))
    np.testing.assert_allclose(branch.diagonal(), expected.diagonal(), rtol=0, atol=4 * EPS * size)
    np.testing.assert_allclose(branch.times(X), symmetric(expected) @ X, rtol=0, atol=99 * EPS * size)
    np.testing.assert_array_equal(whole.square(), before)


def test_a_statistic_of_a_file(data):
    """The arrays of a file are panels of the default size."""
    Z, Y, w = data
    whole = NormalEquations.of(Z, Y, w, packed=True)
    np.testing.assert_array_equal(lower(NormalEquations.from_plain(whole.to_plain())), lower(whole))


def test_limits_stay_with_a_statistic(data, limits):
    Z, Y, _ = data
    whole = NormalEquations.of(Z, Y, packed=limits)
    for empty in (whole.emptied(), pickle.loads(pickle.dumps(whole.emptied()))):
        empty.add(Z, Y)
        np.testing.assert_array_equal(empty.gram, whole.gram)
        assert [*empty.to_plain()["gram"]] == [*whole.to_plain()["gram"]]


@pytest.mark.parametrize("is_quick", [False, True])
def test_choosing_alpha_and_solving_take_one_triangle_beside_the_statistic(is_quick):
    limits = PackedLimits(panel=64, solver=SolverLimits(fewest_steps=1) if is_quick else SolverLimits())
    width, n_rows = 2048, 100
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(n_rows, width)).astype(np.float32), rng.normal(size=(n_rows, 1))
    statistic = NormalEquations.of(Z, Y, packed=limits)
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


def test_the_budget_knows_the_rows_that_a_learner_keeps():
    model = CraftClassifier()
    assert (model.settle_rows, model.holdout_rows) == (SETTLE_ROWS, HELD_OUT_ROWS)
