"""The search takes what the data asks for, says what it tried, and does not depend on threads."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_wine, make_friedman1
from sklearn.preprocessing import StandardScaler

import craftmaps
from craftmaps import CovarianceMetric, CraftMap, Polynomial
from craftmaps._system.progress import heard_by
from craftmaps.learners.output_codes import OutputCode
from craftmaps.learners.search import SearchSpec, many_rows, search
from craftmaps.learners.search.shapings import ShapedRows, Shaping
from craftmaps.learners.targets import ClassTargets, NumberTargets
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_shaping import described


def make_map(kernel, width):
    return CraftMap(kernel, width, random_state=0)


def classes(y):
    return ClassTargets(OutputCode("one-vs-rest", None, "euclidean", 0)).taking(y)


def search_classes(X, y, n_components=256, weight=None, **given):
    targets, y = classes(y)
    return search(X, y, targets, SearchSpec(make_map, n_components, **given), weight)


def search_numbers(X, y, n_components=256, **given):
    targets, y = NumberTargets().taking(y)
    return search(X, y, targets, SearchSpec(make_map, n_components, is_classification=False, **given))


def ring(n_rows, seed=0):
    """Two classes, inside and outside of a circle in the first two of six columns."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 6)).astype(np.float32)
    return X, (np.square(X[:, :2]).sum(axis=1) > 1.4).astype(int)


def last_error(found):
    """Return the lowest error of the last round."""
    last = found.trials[-1]
    same = [t for t in found.trials if (t.n_rows, t.width) == (last.n_rows, last.width)]
    return min(trial.error for trial in same)


@pytest.mark.parametrize("n_rows", [600, 2500])
def test_a_curved_boundary_is_not_learned_by_a_linear_model(n_rows):
    X, y = ring(n_rows)
    found = search_classes(X, y)
    assert isinstance(found.kernel, Polynomial)
    assert found.kernel.degree >= 2
    assert last_error(found) < 0.1 < min(t.error for t in found.trials if t.description.endswith("linear"))


def test_a_straight_boundary_is_learned_by_a_linear_model_or_a_low_degree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X @ rng.normal(size=8) + 0.5 * rng.normal(size=300) > 0).astype(int)
    found = search_classes(X, y)
    assert found.kernel is None or found.kernel.degree <= 3
    assert any(trial.description.endswith("linear") for trial in found.trials)


@pytest.mark.parametrize("n_rows", [700, 3000])
def test_heavy_tails_get_quantile_scores(n_rows):
    X, y = make_friedman1(n_rows, noise=1.0, random_state=0)
    heavy = np.exp(6 * X)
    heavy[3, 0] = 1e6
    found = search_numbers(heavy, y)
    assert isinstance(found.columns, QuantileColumns)
    plain = [t.error for t in found.trials if t.description.startswith(("columns as they are", "standardised"))]
    assert last_error(found) < 0.8 * min(plain)


def test_columns_of_unlike_units_are_not_left_as_they_are():
    X, y = load_wine(return_X_y=True)
    assert search_classes(X[::-1], y[::-1]).columns is not None


def test_directions_that_matter_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 40)).astype(np.float32)
    found = search_numbers(X, X[:, 0] * X[:, 1] + X[:, 2] ** 2)
    assert isinstance(found.metric, GradientMetric)
    assert found.metric.n_components <= 40


def test_what_is_given_is_kept():
    X, y = ring(1500)
    found = search_classes(X, y, kernel=Polynomial(4), metric=None)
    assert (found.kernel.degree, found.columns, found.metric, found.linear) == (4, None, None, False)
    given = StandardScaler()
    found = search_classes(X, y, metric=given, normalize=True)
    assert described(found.columns) == "standardised columns"
    assert found.normalize is True
    found = search_classes(X, y, metric="covariance")
    assert isinstance(found.metric, CovarianceMetric)
    assert found.columns is None


def test_a_few_rows_get_what_is_usual():
    X, y = ring(12)
    found = search_classes(X, y)
    assert described(found.columns) == "standardised columns"
    assert found.trials == ()


def test_many_sparse_columns_are_learned_by_their_own():
    rng = np.random.default_rng(0)
    n_rows, n_columns = 1500, 6000
    X = csr_matrix((rng.random((n_rows, n_columns)) < 0.002).astype(np.float32))
    y = (X @ rng.normal(size=n_columns) > 0).astype(int)
    found = search_classes(X, y, n_components=64)
    assert found.kernel is None
    assert found.normalize in (True, False)


def test_rows_of_weight_zero_do_not_count():
    X, y = ring(1600)
    rng = np.random.default_rng(1)
    weight = np.repeat([1.0, 0.0], [800, 800])
    order = rng.permutation(1600)
    X, y, weight = X[order], y[order], weight[order]
    spoiled = np.where(weight > 0, y, rng.integers(0, 2, y.size))
    found, expected = search_classes(X, spoiled, weight=weight), search_classes(X[weight > 0], y[weight > 0])
    assert found.description == expected.description
    assert [t.error for t in found.trials] == [t.error for t in expected.trials]


@pytest.mark.parametrize("n_rows", [300, 1500])
def test_the_number_of_threads_does_not_matter(n_rows):
    X, y = ring(n_rows)
    trials = []
    for n in (1, 2):
        with craftmaps.threads(n):
            trials.append([trial._replace(seconds=0.0) for trial in search_classes(X, y).trials])
    assert trials[0] == trials[1]


def test_progress_says_what_is_tried_what_is_best_and_what_is_left():
    X, y = ring(300)
    steps = []
    with craftmaps.threads(1), heard_by(steps.append):
        found = search_classes(X, y)
    assert len(steps) == len(found.trials)
    assert str(steps[0]).endswith("left in this round)")
    assert "best so far" in str(steps[-1])
    assert found.trials[-1].description in str(steps[-1])


@pytest.mark.parametrize("axes", ["covariance", "gradient"])
def test_few_axes_are_the_first_of_many(axes):
    """Axes are applied when a shaping asks for them, so it must not matter which one asks first."""
    X, y = ring(600)
    X = np.hstack([X, X**2, np.abs(X)])
    targets = classes(y)[0].encoded(y)
    shapings = [Shaping("standard", axes, 0.7, normalize=False, n_axes=n) for n in (3, 12, 5)]
    rows = ShapedRows(X, targets, 300)
    together = ShapedRows(X, targets, 300)
    together.prepare_all(shapings, 600)
    widest = ShapedRows(X, targets, 300)(shapings[1], 600)
    for shaping in shapings:
        n_axes = shaping.n_axes
        found = rows(shaping, 600)
        assert found.shape == (600, n_axes)
        np.testing.assert_allclose(found, together(shaping, 600), rtol=0, atol=1e-6)
        scale = np.sqrt((widest.astype(np.float64) ** 2).sum(axis=1).mean()) / np.sqrt(
            (widest[:, :n_axes].astype(np.float64) ** 2).sum(axis=1).mean()
        )
        np.testing.assert_allclose(found, widest[:, :n_axes] * scale, rtol=0, atol=1e-5)


def test_far_wider_maps_are_compared_with_richer_candidates():
    """What is taken has been compared with a higher degree, and with rows of both lengths, at 2,048 features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 24)) / np.sqrt(np.arange(1, 25))
    found = search_classes(X, ((X[:, :6] ** 2).sum(axis=1) + 0.3 * rng.normal(size=4000) > 2.2).astype(int), 8192)
    widest = [trial.description for trial in found.trials if trial.width == 2048]
    assert max(trial.width for trial in found.trials) == 2048
    assert any(description.endswith(f"degree {found.kernel.degree + 1}") for description in widest)
    for length in ("unit length", "common scale"):
        assert any(length in description for description in widest)


@pytest.mark.parametrize(("allowance", "is_taken"), [(10.0, True), (-10.0, False)])
def test_far_wider_maps_allow_for_covariance_axes(monkeypatch, allowance, is_taken):
    monkeypatch.setattr(many_rows, "_COVARIANCE", allowance)
    X, y = load_digits(return_X_y=True)
    found = search_classes(X.astype(np.float32), y, 8192)
    widest = " ".join(trial.description for trial in found.trials if trial.width == 2048)
    assert "covariance" in widest
    assert "gradient" in widest
    assert isinstance(found.metric, CovarianceMetric) is is_taken


def test_rows_that_overflow_are_passed_over():
    X, y = ring(1500)
    X = X * np.float32(1e15)
    found = search_classes(X, y)
    assert last_error(found) < 0.1


def test_gradients_are_taken_of_other_columns_than_do_best_without_axes():
    """Of products of two among many standard normal columns; without axes, bounded scores do best."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 16))
    found = search_classes(X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int))
    tried = {trial.description.split(", ")[0] for trial in found.trials if ", gradient" in trial.description}
    assert {"standardised columns", "normal scores", "uniform scores"} <= tried


def test_the_best_few_of_few_features_are_compared_by_the_logistic_loss():
    """Of those as good as the best the lowest degree is taken; where the loss is squared, nothing of it is tried."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 8)).astype(np.float32)
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2500), [-0.4, 0.4])
    found = search_classes(X, y, 64)
    last = [trial for trial in found.trials if trial.description.endswith(", logistic loss")]
    assert 2 <= len(last) <= 3
    assert {trial.loss for trial in last} == {"logistic"}
    lowest = min(trial.value for trial in last)
    degrees = [int(t.description.split("degree ")[1][0]) for t in last if t.value < lowest + 0.1]
    assert found.kernel.degree == min(degrees)
    assert found.description.endswith(", logistic loss")
    assert found.description in {trial.description for trial in last}
    squared = search_classes(X, y, 64, allow_logistic=False)
    assert not [trial for trial in squared.trials if "logistic" in trial.description]
