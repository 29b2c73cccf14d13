"""Where features are very many, automatic choices compare the kernel itself: machines on the rows that settle them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import normalize

import craftmaps
from craftmaps import CraftClassifier, CraftRegressor, Exponential, Polynomial
from craftmaps.learners.automatic_choice import Task, choose
from craftmaps.least_squares.kernel_ridge import KernelMachine
from tests.learner.examples import AUTO, labelled_rows

X, NAMES = labelled_rows()
Y = np.unique(NAMES, return_inverse=True)[1]
GREAT = 16384


def task(**changes):
    """Return a task of three classes and very many features, and a list of the widths of maps that are drawn."""
    widths = []

    def make_map(kernel, width):
        widths.append(width)
        return craftmaps.CraftMap(kernel, width, random_state=0)

    given = {
        "make_map": make_map,
        "targets": lambda y: np.eye(3)[y],
        "errors": lambda outputs, y: (outputs.argmax(axis=1) != y).astype(float),
        "n_components": GREAT,
        "has_kernel": True,
    }
    return Task(**given | changes), widths


def settled(model, rows, y):
    """Return the choices that a learner makes on rows."""
    return model.settle(rows, y).choices_


@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(2, coef0=0.5, gamma=2.0), Exponential(0.7)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_machine_is_kernel_ridge_regression(kernel, dtype):
    rows = normalize(X).astype(dtype)  # so that the diagonal is constant
    targets = np.eye(3)[Y]
    machine, K = KernelMachine(kernel, rows[:200]), kernel(rows.astype(np.float64))
    for penalty in (0.03, 3.0, 0.03):  # what one penalty leaves is as good for the next one
        weights = machine.weights(targets[:200], penalty)
        exact = KernelRidge(alpha=penalty * K[0, 0], kernel="precomputed").fit(K[:200, :200], targets[:200])
        np.testing.assert_allclose(machine.outputs(weights, rows[200:]), exact.predict(K[200:, :200]), atol=2e-4)


def test_penalties_do_not_know_of_each_other():
    """To the bit; with more rows than are copied at a time, and one penalty that is lost in rounding errors."""
    rows = np.random.default_rng(0).normal(size=(600, 3))
    targets = rows[:, :1]
    used = KernelMachine(Polynomial(3), rows)
    for penalty in (1e-2, 1e-12, 1.0, 1e-2):
        fresh = KernelMachine(Polynomial(3), rows).weights(targets, penalty)
        np.testing.assert_array_equal(used.weights(targets, penalty), fresh)
        assert fresh.any()


def test_rows_of_unlike_lengths_keep_their_digits():
    """The penalty is relative to the diagonal, which goes from 1 to 1e12 here; a longer row does not overflow."""
    rows, targets = X * 10.0 ** np.linspace(-2, 1, X.shape[0])[:, None], np.eye(3)[Y]
    machine, K = KernelMachine(Polynomial(4), rows), Polynomial(4)(rows)
    weights = machine.weights(targets, 1e-2)
    expected = K @ np.linalg.solve(K + 1e-2 * np.diag(K.diagonal()), targets)
    distances = np.linalg.norm(machine.outputs(weights, rows) - expected, axis=1)
    assert (distances < 0.05 * np.linalg.norm(expected, axis=1)).all()
    assert np.isfinite(machine.outputs(weights, 1e9 * rows)).all()


def test_sparse_rows_give_the_same():
    dense, sparse = KernelMachine(Polynomial(3), X), KernelMachine(Polynomial(3), csr_array(X))
    weights, expected = sparse.weights(np.eye(3)[Y], 1e-2), dense.weights(np.eye(3)[Y], 1e-2)
    np.testing.assert_allclose(weights, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(sparse.outputs(weights, csr_array(X[:50])), dense.outputs(weights, X[:50]), rtol=1e-9)


def test_what_cannot_be_solved_knows_nothing():
    machine = KernelMachine(Polynomial(9), 1e12 * X)  # not finite in single precision
    np.testing.assert_array_equal(machine.weights(np.eye(3)[Y], 1e-2), 0)
    rows = np.vstack([np.zeros((1, 6)), X])  # and a diagonal with a zero
    weights = KernelMachine(Polynomial(2, coef0=0.0), rows).weights(np.eye(3)[np.r_[0, Y]], 1e-2)
    assert np.isfinite(weights).all()
    assert weights.any()


def test_the_kernel_itself_is_compared():
    """Errors are those of machines on three quarters of the rows, at the best penalty; no wide map is drawn."""
    great, widths = task()
    chosen = choose(X, Y, "auto", None, True, great)
    assert not widths
    rows, y = normalize(X), Y
    quarter = np.arange(rows.shape[0]) % 4
    errors = []
    for penalty in (1e-3, 1e-2, 1e-1):
        wrong = []
        for i in (0, 1):
            train, test = quarter != i, quarter == i
            targets = np.eye(3)[y[train]]
            machine = KernelRidge(alpha=penalty * 2**4, kernel="poly", degree=4, gamma=1, coef0=1)
            machine.fit(rows[train], targets - targets.mean(axis=0))
            wrong.append((machine.predict(rows[test]) + targets.mean(axis=0)).argmax(axis=1) != y[test])
        errors.append(np.concatenate(wrong).mean())
    found = {trial.name: trial.error for trial in chosen.trials}
    assert found["rows as they are, unit length, degree 4"] == pytest.approx(min(errors), abs=0.01)


@pytest.mark.parametrize("change", [{"n_components": GREAT - 1}, {"has_kernel": False}], ids=str)
def test_otherwise_maps_are_compared(change):
    other, widths = task(**change)
    choose(X, Y, "auto", None, True, other)
    assert set(widths) == {2048}


@pytest.mark.parametrize("feature_map", ["tensorsketch", craftmaps.CraftMap(Polynomial(2), GREAT), None])
def test_only_maps_by_name_are_taken_for_the_kernel(feature_map, monkeypatch):
    """One that was given has its own kernel, or none."""

    def choose(X, y, kernel, metric, normalize, task):
        raise LookupError(task.is_exact)

    monkeypatch.setattr(craftmaps.learners.feature_recipe, "choose", choose)
    with pytest.raises(LookupError, match=str(feature_map == "tensorsketch")):
        settled(CraftClassifier(n_components=GREAT, feature_map=feature_map, random_state=0), X, Y)


def test_gradient_metrics_of_two_powers_are_compared():
    chosen = settled(CraftClassifier(**AUTO | {"n_components": GREAT}), X, Y)
    tried = {trial.name.split(",")[0] for trial in chosen.trials}
    assert {"gradient 1", "gradient 0.5"} <= tried or {"gradient 1 standard", "gradient 0.5 standard"} <= tried
    narrow = settled(CraftClassifier(**AUTO), X, Y)
    assert not any("gradient 0.5" in trial.name for trial in narrow.trials)


def test_another_degree_must_be_clearly_better():
    """The target is a product of five columns of signs; then, as a twin, nothing that can be learned."""
    rows = np.sign(np.random.default_rng(0).normal(size=(2000, 10)))
    y = (rows[:, :5].prod(axis=1) > 0).astype(int)
    two, _ = task(targets=lambda y: np.eye(2)[y])
    assert choose(rows, y, "auto", None, True, two).kernel.degree == 5
    noise = np.random.default_rng(1).permutation(y)
    assert choose(rows, noise, "auto", None, True, two).kernel.degree == 4


def test_the_number_of_threads_does_not_matter():
    found = []
    for n in (1, 2, 3):
        with craftmaps.threads(n):
            found.append(settled(CraftClassifier(**AUTO | {"n_components": GREAT}), X, Y))
    assert found[0].trials == found[1].trials == found[2].trials
    assert repr(found[0]) == repr(found[1]) == repr(found[2])


@pytest.mark.parametrize("case", ["heavy tails", "one outlier", "constant columns", "sparse"])
def test_hard_rows_are_no_trouble(case):
    rows = {
        "heavy tails": np.random.default_rng(0).standard_cauchy(X.shape),
        "one outlier": np.r_[X[:-1], np.full((1, X.shape[1]), 1e9)],
        "constant columns": X * [1, 0, 0, 0, 0, 0],
        "sparse": csr_array(X * (X > 0)),
    }[case]
    model = CraftRegressor(**AUTO | {"n_components": GREAT})
    chosen = settled(model, rows, X[:, 0] * X[:, 1])
    assert np.isfinite([trial.error for trial in chosen.trials]).all()
