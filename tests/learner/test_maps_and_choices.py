"""Every map and metric can be had, what is explicit is obeyed to the letter, and choices are reported."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import MinMaxScaler, normalize

from craftmaps import (
    CovarianceMetric,
    CraftClassifier,
    CraftMap,
    CraftRegressor,
    LandmarkMap,
    Polynomial,
    RandomMaclaurin,
    TensorSketch,
    load_model,
)
from craftmaps.learners.choices import Choices
from craftmaps.shaping.quantile_columns import QuantileColumns
from craftmaps.shaping.row_shaping import described
from tests.learner.examples import AUTO, classifier, labelled_rows

X, Y = labelled_rows()
ROWS = X * np.array([1, 2, 3, 1, 1, 1]) + 5.0

MAPS = {
    "craft": CraftMap,
    "maclaurin": RandomMaclaurin,
    "tensorsketch": TensorSketch,
    "landmarks": LandmarkMap,
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_maps_of_this_library(name, dtype):
    kernel = Polynomial(2, coef0=0.5)
    model = classifier(kernel=kernel, feature_map=name).fit(ROWS.astype(dtype), Y)
    used = model.features_.feature_map
    assert type(used) is MAPS[name]
    assert repr(used.kernel) == repr(kernel)
    assert model.coef_.shape == (3, 32)
    Z = model.features_(ROWS.astype(dtype))
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, used.transform(normalize(ROWS.astype(dtype))), rtol=1e-5, atol=1e-6)
    assert model.score(ROWS.astype(dtype), Y) > 0.45


def test_the_width_of_the_up_projection():
    assert classifier(up_components=50).fit(X, Y).features_.feature_map.up_components == 50
    chosen = classifier(up_components="auto", kernel=Polynomial(3)).fit(ROWS, Y).features_.feature_map
    assert chosen.up_.exact_low_degrees == "quadratic", "28 exact columns should fit into 32"
    with pytest.raises(ValueError, match="up_components must be an int, 'auto' or None, got 'wide'"):
        classifier(up_components="wide").fit(ROWS, Y)


def test_no_map_at_all():
    model = classifier(feature_map=None).fit(ROWS, Y)
    np.testing.assert_allclose(model.features_(ROWS), normalize(ROWS), rtol=1e-12)
    assert model.coef_.shape == (3, 6)


@pytest.mark.parametrize(
    "transformer",
    [Nystroem(kernel="poly", n_components=20, random_state=0), CraftMap(Polynomial(2), 20, random_state=3)],
    ids=lambda transformer: type(transformer).__name__,
)
def test_a_transformer(transformer):
    model = classifier(feature_map=transformer).fit(ROWS, Y)
    assert model.coef_.shape == (3, 20)
    assert not hasattr(transformer, "n_features_in_")  # a clone was fitted
    np.testing.assert_allclose(
        model.features_(ROWS), model.features_.feature_map.transform(normalize(ROWS)), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("unit", [True, False])
def test_rows_are_brought_to_unit_length_or_left_as_they_are(unit):
    for metric in (None, CovarianceMetric(0.5, 4, normalize=False), MinMaxScaler()):
        model = classifier(metric=metric, normalize=unit).fit(ROWS, Y)
        shaped = ROWS if metric is None else model.features_.metric.transform(ROWS)
        np.testing.assert_allclose(model.features_.shape_rows(ROWS), normalize(shaped) if unit else shaped, rtol=1e-12)
        assert model.choices_.normalize is unit
        if metric is not None:
            assert type(model.features_.metric) is type(metric)
            assert not hasattr(metric, "n_features_in_")


def test_with_explicit_kernel_and_metric_unit_length_is_meant():
    model = classifier().fit(ROWS, Y)
    np.testing.assert_allclose(np.linalg.norm(model.features_.shape_rows(ROWS), axis=1), 1, rtol=1e-12)
    assert model.choices_ == Choices(model.kernel, None, True, "craft", False, None)


def test_the_covariance_metric():
    model = classifier(metric="covariance", normalize=False).fit(ROWS, Y)
    rows = model.features_.shape_rows(ROWS)
    full = CovarianceMetric(normalize=False).fit_transform(ROWS)
    n_axes = rows.shape[1]
    assert 2 <= n_axes <= 6
    np.testing.assert_allclose(np.abs(rows), np.abs(full[:, :n_axes]), rtol=1e-8, atol=1e-10)
    assert repr(model.choices_.metric) == repr(CovarianceMetric(n_components=n_axes, normalize=False))


@pytest.mark.parametrize("n_rows", [30, 120, 240])
def test_more_features_than_the_kernel_has_dimensions_in_single_precision(n_rows):
    """Their Gram matrix is singular, in single precision not even positive; alphas are the default ones."""
    rows = X[:n_rows].astype(np.float32)
    single = classifier(n_components=64, alphas=None).fit(rows, Y[:n_rows])
    double = classifier(n_components=64, alphas=None).fit(rows.astype(np.float64), Y[:n_rows])
    assert abs(single.score(X, Y) - double.score(X, Y)) < 0.1


def test_a_row_of_zeros_is_no_trouble():
    rows = ROWS.copy()
    rows[5] = 0
    model = classifier().fit(rows, Y)
    np.testing.assert_array_equal(model.features_.shape_rows(rows)[5], 0)
    assert np.isfinite(model.predict_proba(rows)).all()


def test_choices_are_reported_and_used():
    model = CraftClassifier(**AUTO).fit(ROWS, Y)
    chosen = model.choices_
    (taken,) = (trial for trial in chosen.trials if trial.is_taken)
    rivals = [trial for trial in chosen.trials if (trial.n_rows, trial.width) == (taken.n_rows, taken.width)]
    assert len(chosen.trials) > len(rivals) > 3
    assert all(0 <= trial.error <= 1 and trial.seconds > 0 for trial in chosen.trials)
    assert taken.error <= min(trial.error for trial in rivals) + 3 * taken.standard_error
    assert ("unit length" in taken.name) == (chosen.normalize is True)
    if chosen.feature_map is not None:
        assert taken.name.endswith(f"degree {chosen.kernel.degree}")
        assert repr(model.features_.feature_map.kernel) == repr(chosen.kernel)
    assert (model.features_.scale is None) == (chosen.normalize is True)


@pytest.mark.parametrize("kind", [CraftClassifier, CraftRegressor])
def test_choices_can_be_passed_back(kind):
    """The same model without a search, bit for bit, and honest: rows that chose are not held out."""
    y = Y if kind is CraftClassifier else ROWS[:, 0] * ROWS[:, 1]
    model = kind(**AUTO).fit(ROWS, y)
    again = kind(**AUTO, **model.choices_.parameters()).fit(ROWS, y)
    assert not again.choices_.trials
    assert repr(again.choices_.parameters()) == repr(model.choices_.parameters())
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))
    assert again.cv_results_["error"] == model.cv_results_["error"]
    assert again.cv_results_["n_rows"] == model.cv_results_["n_rows"] < len(y)
    if kind is CraftClassifier:
        np.testing.assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))


def test_chosen_parameters_survive_a_file(tmp_path):
    model = CraftClassifier(**AUTO).fit(ROWS, Y)
    again = CraftClassifier(**AUTO, **model.choices_.parameters()).fit(ROWS, Y)
    again.save(tmp_path / "again.craft", dtype=np.float64)
    fitted = clone(load_model(tmp_path / "again.craft")).fit(ROWS, Y)
    np.testing.assert_array_equal(fitted.coef_, model.coef_)


def test_linear_columns_beside_a_map():
    """Half of the target is linear in heavy-tailed columns: no map estimates that better than the columns say it."""
    model = classifier(metric=QuantileColumns(), linear_columns=True).fit(ROWS, Y)
    Z, linear = model.features_(ROWS), model.features_.linear
    assert Z.shape[1] == 32 + 6
    np.testing.assert_allclose(Z[:, 32:], QuantileColumns().fit_transform(ROWS) * linear.scale, rtol=1e-12)
    np.testing.assert_allclose(np.square(Z[:, 32:]).sum(axis=1).mean(), 1.0, rtol=1e-6)
    bits = Z @ model.coef_.T + model.intercept_
    scores = bits @ model.code_words_.T / 3
    np.testing.assert_allclose(model.decision_function(ROWS), scores, rtol=1e-8, atol=1e-8)


def test_a_linear_target_needs_no_map():
    X, y = np.random.default_rng(0).normal(size=(2, 300, 8))
    y = X @ np.arange(8.0) + 0.01 * y[:, 0]
    chosen = CraftRegressor(n_components=32, random_state=0).fit(X, y).choices_
    assert chosen.feature_map is None or chosen.linear_columns or chosen.kernel.degree <= 2


def test_heavy_tails_do_not_ruin_predictions():
    rng = np.random.default_rng(0)
    X = np.exp(2 * rng.normal(size=(800, 4)))
    y = np.log(X[:, 0]) * np.log(X[:, 1]) + 0.1 * rng.normal(size=800)
    model = CraftRegressor(n_components=128, random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.7
    wild = X[600:].copy()
    wild[:, 2] = 1e6
    assert np.abs(model.predict(wild)).max() < 100 * np.abs(y).max()


def test_of_few_rows_columns_are_standardised_whatever_the_length():
    """Columns of unlike units are the commonest trap, and there are too few rows to tell."""
    for given in ("auto", True, False):
        chosen = CraftClassifier(**AUTO | {"normalize": given}).fit(ROWS[:30], Y[:30]).choices_
        assert described(chosen.metric) == "standardised columns"
        assert chosen.normalize is given or isinstance(chosen.normalize, float)


PARTLY = {
    "kernel": {"kernel": Polynomial(2)},
    "metric": {"metric": None},
    "unit length": {"normalize": True},
    "rows as they are": {"normalize": False, "metric": None},
}


@pytest.mark.parametrize("case", PARTLY)
@pytest.mark.parametrize("n_rows", [30, 240], ids=["few rows", "rows"])
def test_what_is_given_is_not_chosen(case, n_rows):
    model = CraftClassifier(**AUTO, **PARTLY[case]).fit(ROWS[:n_rows], Y[:n_rows])
    for name, value in PARTLY[case].items():
        assert getattr(model.choices_, name) is value
    if model.normalize is False:
        np.testing.assert_array_equal(model.features_.shape_rows(ROWS), ROWS)
    if model.normalize is True:
        np.testing.assert_allclose(np.linalg.norm(model.features_.shape_rows(ROWS), axis=1), 1, rtol=1e-12)


HARD = {
    "heavy tails": np.random.default_rng(0).standard_cauchy((240, 6)),
    "log-normal": np.exp(3 * ROWS),
    "one outlier": np.r_[ROWS[:-1], np.full((1, ROWS.shape[1]), 1e9)],
    "large": 1e30 * ROWS,
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_unlike_lengths_are_no_trouble(case, dtype):
    """One axis may carry nearly all of them, and kernels differ by many powers of ten."""
    rows = (HARD[case] if case != "large" or dtype == np.float64 else 1e10 * ROWS).astype(dtype)
    assert np.isfinite(CraftClassifier(**AUTO).fit(rows, Y).predict_proba(rows)).all()
    target = np.tanh(ROWS[:, 0] * ROWS[:, 1])
    assert np.isfinite(CraftRegressor(**AUTO).fit(rows, target).predict(rows)).all()


@pytest.mark.parametrize(("dtype", "factor"), [(np.float32, 1e20), (np.float64, 1e200)])
def test_rows_too_long_for_their_precision_are_refused(dtype, factor):
    with pytest.raises(ValueError, match="X must have rows whose squared lengths add up to a number"):
        CraftClassifier(**AUTO).fit((factor * ROWS).astype(dtype), Y)


def test_landmarks_without_whitening_are_penalised_by_their_kernel():
    """The same function: the penalty of kernel values is their kernel matrix, not the identity."""
    maps = {whiten: LandmarkMap(Polynomial(2), 20, whiten=whiten, random_state=0) for whiten in (True, False)}
    settings = {"alphas": [1e-3, 1e-1], "normalize": True, "metric": None}
    models = {whiten: classifier(feature_map=each, **settings).fit(ROWS, Y) for whiten, each in maps.items()}
    raw = models[False]
    np.testing.assert_array_equal(raw.features_.penalty, raw.features_.feature_map.penalty_)
    # Penalties are in unlike units, so the solutions are compared at one of them.
    statistic, alpha = raw.tally_.statistic, models[True].alpha_
    coef, intercept = statistic.solve(alpha, penalty=raw.features_.penalty)
    expected = models[True].tally_.statistic.solve(alpha)
    outputs = models[True].features_(ROWS) @ expected.coef.T + expected.intercept
    np.testing.assert_allclose(raw.features_(ROWS) @ coef.T + intercept, outputs, atol=1e-5)
    own = statistic.solve(raw.alpha_, penalty=raw.features_.penalty)
    np.testing.assert_allclose(raw.coef_, raw.code_words_.T @ own.coef, rtol=1e-6, atol=1e-9)
    identity = statistic.solve(raw.alpha_)
    assert np.abs(identity.coef - own.coef).max() > 1e-3 * np.abs(own.coef).max()
