"""The gradient metric finds the directions along which targets change."""

import numpy as np
import pytest

import craftmaps
from craftmaps import CovarianceMetric, CraftClassifier, GradientMetric, Polynomial, load_model
from craftmaps.shaping.row_shaping import RowShaping, named_shaping


def rows_and_target(n_rows=1500, width=8, seed=0, units=1.0):
    """Rows whose first two columns decide, in columns of equal or of unlike units."""
    X = np.random.default_rng(seed).normal(size=(n_rows, width))
    return X * units, X[:, 0] * X[:, 1]


def share_of_the_first_two(metric):
    """Return how much of the squared length of rows falls on the directions that matter."""
    weights = (metric.components_**2).sum(axis=0)
    return weights[:2].sum() / weights.sum()


@pytest.mark.parametrize("normalize", [False, True])
def test_the_columns_that_matter(normalize):
    X, y = rows_and_target()
    found = share_of_the_first_two(GradientMetric(normalize=normalize).fit(X, y))
    assert found > 0.6  # of directions without a preference a quarter would fall there
    # The same on targets that have nothing to do with the rows: every direction is as good.
    noise = np.random.default_rng(1).permutation(y)
    assert share_of_the_first_two(GradientMetric(normalize=normalize).fit(X, noise)) < 0.5


def test_the_number_of_threads_does_not_matter():
    """Where rounding errors differ, the numbers of features of every degree may, and then the whole draw of a map."""
    X, y = rows_and_target(n_rows=3000)
    metrics = []
    for n in (1, 2, 3):
        with craftmaps.threads(n):
            metrics.append(GradientMetric().fit(X, y).components_)
    np.testing.assert_array_equal(metrics[1], metrics[0])
    np.testing.assert_array_equal(metrics[2], metrics[0])


def test_standardised_columns_have_no_units():
    units = 10.0 ** np.arange(-4, 4)
    X, y = rows_and_target(units=units)
    plain, _ = rows_and_target()
    metric = GradientMetric(standardize=True).fit(X, y)
    expected = GradientMetric(standardize=True).fit(plain, y)
    np.testing.assert_allclose(metric.transform(X), expected.transform(plain), atol=1e-3)


def test_many_targets_are_summed_up():
    X, _ = rows_and_target()
    labels = np.argmax(np.abs(X[:, :2] @ np.random.default_rng(3).normal(size=(2, 40))), axis=1)
    assert share_of_the_first_two(GradientMetric().fit(X, np.eye(40)[labels])) > 0.6


def test_power_and_number_of_axes():
    X, y = rows_and_target()
    whole = GradientMetric(power=1.0).fit(X, y)
    lengths = np.linalg.norm(whole.components_, axis=1)
    assert lengths[0] == pytest.approx(1)
    assert (np.diff(lengths) <= 0).all()
    flat = GradientMetric(power=0.0).fit(X, y)
    np.testing.assert_allclose(flat.components_ @ flat.components_.T, np.eye(8), atol=1e-10)
    np.testing.assert_array_equal(whole.truncated(3).components_, whole.components_[:3])
    np.testing.assert_array_equal(GradientMetric(n_components=3).fit(X, y).components_, whole.components_[:3])


@pytest.mark.parametrize("case", ["constant target", "constant columns", "few rows"])
def test_nothing_to_learn_is_no_trouble(case):
    X, y = rows_and_target(40)
    if case == "constant target":
        y = np.ones_like(y)
    if case == "constant columns":
        X = np.ones_like(X)
    if case == "few rows":
        X, y = X[:4], y[:4]
    metric = GradientMetric(standardize=True).fit(X, y)
    assert np.isfinite(metric.components_).all()
    assert np.isfinite(metric.transform(X)).all()


def test_a_model_with_it_is_saved(tmp_path):
    X, y = rows_and_target()
    settings = {"metric": "gradient", "normalize": True, "alphas": 1e-4, "cv": None, "random_state": 0}
    model = CraftClassifier(Polynomial(2), 32, **settings).fit(X, y > 0)
    assert model.score(X, y > 0) > 0.9
    model.save(tmp_path / "model.craft", dtype=np.float64)
    again = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_shaping_keeps_the_axes_that_carry_the_rows():
    X, _ = rows_and_target(width=64)
    shaping = named_shaping("gradient", True)
    metric = shaping.fitted_metric(X, np.tanh(X[:, :1]))
    assert shaping.fitted(X, metric).shape_rows(X).shape[1] < 64
    assert shaping.with_axes(40).fitted(X, metric).shape_rows(X).shape[1] == 40


METRICS = [CovarianceMetric(0.5, normalize=False), GradientMetric(), GradientMetric(standardize=True)]


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_shapings_do_not_depend_on_the_number_of_threads(metric):
    X, y = rows_and_target(n_rows=2500, width=300)
    fitted = []
    for n in (1, 2):
        with craftmaps.threads(n):
            fitted.append(RowShaping(metric).fitted_metric(X.astype(np.float32), y[:, None]).components_)
    np.testing.assert_array_equal(fitted[1], fitted[0])
