"""What is drawn is what the numbers say."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import normalize

from craftmaps import CraftClassifier, CraftMap, CraftRegressor, LandmarkMap, Polynomial, diagnostics, load_model, plots
from craftmaps.learners.trial_rounds import rounds_of
from craftmaps.plan import predicted_error
from craftmaps.scores.intervals import wilson
from tests.report.examples import QUICK, labelled

mpl.use("Agg")

X, Y = labelled(500, 3, 6)
X_TEST, Y_TEST = X[300:], Y[300:]
TARGETS = X[:, 0] * X[:, 1]


@pytest.fixture(scope="module")
def model():
    return CraftClassifier(**{**QUICK, "alphas": [0.0, 1e-4, 1e-2, 1.0]}).fit(X[:300], Y[:300])


@pytest.fixture(scope="module")
def regressor():
    return CraftRegressor(**QUICK).fit(X[:300], TARGETS[:300])


@pytest.fixture(scope="module")
def searched():
    return CraftClassifier(n_components=48, random_state=0).fit(X[:200], Y[:200])


@pytest.fixture
def ax():
    return Figure().add_subplot()


def bars(container):
    """Return both ends of every error bar."""
    (_, _, (lines,)) = container.lines if hasattr(container, "lines") else container
    return np.array([np.asarray(segment) for segment in lines.get_segments()])


def texts(labels):
    return [label.get_text() for label in labels]


PLOTS = {
    "penalty_curve": lambda m, ax: plots.penalty_curve(m, ax=ax),
    "confusion": lambda m, ax: plots.confusion(m, X_TEST, Y_TEST, ax=ax),
    "calibration": lambda m, ax: plots.calibration(m, X_TEST, Y_TEST, ax=ax),
    "kernel_error": lambda m, ax: plots.kernel_error(m, X_TEST, (16, 32), n_draws=2, ax=ax),
    "scree": lambda m, ax: plots.scree(m, X_TEST, ax=ax),
    "learning_curve": lambda m, ax: plots.learning_curve(m, [m.tally(X[:200], Y[:200])], X_TEST, Y_TEST, ax=ax),
}


@pytest.mark.parametrize("name", PLOTS)
def test_plots_take_axes_or_make_them_and_have_a_title_and_labels(model, ax, name):
    import matplotlib.pyplot as plt

    assert PLOTS[name](model, ax) is ax
    ax.figure.canvas.draw()
    assert ax.get_title()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    new = PLOTS[name](model, None)
    assert isinstance(new, Axes)
    assert new is not ax
    plt.close("all")


def test_all_are_tried(searched):
    assert {*PLOTS, "search"} == set(plots.__all__)


def test_penalty_curve(model, ax):
    plots.penalty_curve(model, ax)
    results = model.cv_results_
    (container,) = ax.containers
    alphas, errors = container.lines[0].get_data()
    np.testing.assert_allclose(alphas, [1e-5, 1e-4, 1e-2, 1.0])  # zero stands left of the others
    np.testing.assert_allclose(errors, results["mean_error"])
    spread = bars(container)[:, 1, 1] - bars(container)[:, 0, 1]
    n_folds = np.isfinite(results["fold_errors"]).sum(axis=1)
    np.testing.assert_allclose(spread / 2, np.where(n_folds > 1, results["std_error"], 0), atol=1e-12)
    chosen = ax.lines[-1].get_data()
    assert chosen[1] == results["mean_error"][results["chosen"]]
    assert texts(ax.get_legend().get_texts()) == [f"chosen: {results['alpha'][results['chosen']]:.3g}"]


def test_penalty_curve_of_a_regressor_is_of_squares(regressor, ax):
    plots.penalty_curve(regressor, ax)
    assert ax.get_ylabel() == "held-out mean squared error"


def test_penalty_curve_needs_a_curve(model, tmp_path, ax):
    model.save(tmp_path / "model.craft")
    with pytest.raises(AttributeError, match="There are no cv_results_"):
        plots.penalty_curve(load_model(tmp_path / "model.craft"), ax)


def test_confusion(model, ax):
    plots.confusion(model, X_TEST, Y_TEST, ax)
    expected = confusion_matrix(Y_TEST, model.predict(X_TEST))
    shown = np.zeros_like(expected)
    for text in ax.texts:
        j, i = text.get_position()
        shown[i, j] = int(text.get_text())
    np.testing.assert_array_equal(shown, expected)
    mistakes = expected - np.diag(np.diag(expected))
    shades = np.ma.filled(ax.images[0].get_array(), 0.0)
    np.testing.assert_allclose(shades, np.sqrt(mistakes / mistakes.max()))
    assert texts(ax.get_xticklabels()) == texts(ax.get_yticklabels()) == ["0", "1", "2"]
    assert ax.get_title() == f"{mistakes.sum()} of 200 rows wrong"


def test_confusion_without_mistakes_with_a_new_label_and_of_many_classes(model, ax):
    plots.confusion(model, X_TEST, model.predict(X_TEST), ax)
    assert ax.get_title() == "0 of 200 rows wrong"
    other = Figure().add_subplot()
    plots.confusion(model, X_TEST, np.where(np.arange(200) < 3, 7, Y_TEST), other)
    assert texts(other.get_yticklabels()) == ["0", "1", "2", "7"]
    many_rows, many = labelled(600, 30, 6)
    wide = CraftClassifier(**QUICK).fit(many_rows, many)
    assert not plots.confusion(wide, many_rows, many, Figure().add_subplot()).texts


def test_calibration(model, ax):
    plots.calibration(model, X_TEST, Y_TEST, ax)
    probabilities = model.predict_proba(X_TEST)
    confidence, is_right = probabilities.max(axis=1), model.predict(X_TEST) == Y_TEST
    bins = np.minimum((10 * confidence).astype(int), 9)
    present = np.unique(bins)
    (container,) = ax.containers
    x, right = container.lines[0].get_data()
    np.testing.assert_allclose(x, [confidence[bins == b].mean() for b in present], rtol=1e-6)
    np.testing.assert_allclose(right, [is_right[bins == b].mean() for b in present])
    ends = [wilson(is_right[bins == b].sum(), np.sum(bins == b)) for b in present]
    np.testing.assert_allclose(bars(container)[:, :, 1], ends, atol=1e-12)


def test_kernel_error_is_measured_and_predicted(ax):
    rows, kernel = normalize(X[:80]), Polynomial(3)
    plots.kernel_error(CraftMap(kernel), rows, (32, 16), n_draws=3, ax=ax)
    measured, predicted = ax.lines
    widths = [16, 16, 16, 32, 32, 32]
    draws = [CraftMap(kernel, width, random_state=seed).fit(rows) for width in (16, 32) for seed in range(3)]
    np.testing.assert_array_equal(measured.get_xdata(), widths)
    errors = [diagnostics.kernel_error(draw.transform(rows), kernel(rows)) for draw in draws]
    np.testing.assert_allclose(measured.get_ydata(), errors)
    np.testing.assert_array_equal(predicted.get_xdata(), [16, 32])
    np.testing.assert_allclose(predicted.get_ydata(), [predicted_error(draws[i], rows) for i in (0, 3)])


def test_kernel_error_and_scree_of_a_learner_are_of_shaped_rows(model, ax):
    rows = model.features_.shape_rows(X_TEST)
    other = Figure().add_subplot()
    plots.kernel_error(model, X_TEST, (16,), n_draws=2, ax=ax)
    plots.kernel_error(model.features_.feature_map, rows, (16,), n_draws=2, ax=other)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), other.lines[0].get_ydata())
    scree = plots.scree(model, X_TEST, Figure().add_subplot())
    exact = diagnostics.log_scree(Polynomial(2)(rows))
    np.testing.assert_allclose(scree.lines[0].get_ydata(), exact[np.isfinite(exact)])
    estimate = diagnostics.feature_log_scree(model.features_.feature_map.transform(rows))
    np.testing.assert_allclose(scree.lines[1].get_ydata(), estimate[np.isfinite(estimate)])
    assert scree.lines[1].get_xdata().max() == np.isfinite(estimate).sum() <= 48


def test_scree_of_landmarks(ax):
    rows = normalize(X[:60])
    plots.scree(LandmarkMap(Polynomial(2), 10, random_state=0).fit(rows), rows, ax)
    assert ax.lines[1].get_ydata().size <= 10


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("has_test_rows", [True, False])
def test_learning_curve_is_that_of_models_of_the_first_blocks(ax, kind, has_test_rows):
    y = Y if kind == "classes" else TARGETS
    make = CraftClassifier if kind == "classes" else CraftRegressor
    settled = make(**QUICK).settle(X[:300], y[:300])
    ends = (100, 200, 300)
    tallies = [settled.tally(X[end - 100 : end], y[end - 100 : end]) for end in ends]
    before = settled.tally_
    test = (X_TEST, y[300:]) if has_test_rows else (None, None)
    plots.learning_curve(settled, iter(tallies), *test, ax=ax)
    assert settled.tally_ is before
    assert settled.n_rows_seen_ == 0
    (container,) = ax.containers
    n_rows, errors = container.lines[0].get_data()
    np.testing.assert_array_equal(n_rows, ends)
    expected = []
    for end in ends:
        whole = make(**QUICK).settle(X[:300], y[:300])
        whole.finish(whole.tally(X[:end], y[:end]))
        if not has_test_rows:
            error = whole.cv_results_["error"]
            expected.append(error if kind == "classes" else np.sqrt(error))
        elif kind == "classes":
            expected.append(1 - whole.score(X_TEST, y[300:]))
        else:
            expected.append(np.sqrt(np.mean((whole.predict(X_TEST) - y[300:]) ** 2)))
    np.testing.assert_allclose(errors, expected, rtol=1e-6)


def test_search(searched, ax):
    plots.search(searched, ax)
    found = rounds_of(searched.choices_.trials)[-1]
    assert [text.replace("\n", " ").removesuffix(" (taken)") for text in texts(ax.get_yticklabels())] == [
        trial.name for trial in found.trials
    ]
    drawn = [container.lines[0].get_xdata().item() for container in ax.containers]
    assert drawn == [trial.error for trial in found.trials]
    widths = [bars(container)[0, 1, 0] - bars(container)[0, 0, 0] for container in ax.containers]
    np.testing.assert_allclose(widths, [2 * trial.standard_error for trial in found.trials], atol=1e-12)
    assert [i for i, text in enumerate(texts(ax.get_yticklabels())) if "(taken)" in text] == [found.taken]


def test_search_shows_some_candidates_of_any_round(searched, ax):
    first = rounds_of(searched.choices_.trials)[0]
    plots.search(searched, ax, which=0, most=4)
    assert len(ax.containers) in (4, 5)
    assert ax.get_title().startswith(f"{len(ax.containers)} of {len(first.trials)} candidates on {first.n_rows} rows")


REFUSED = {
    "a regressor": (lambda m, r: plots.confusion(r, X_TEST, Y_TEST), TypeError, "model must be a CraftClassifier"),
    "labels": (
        lambda m, r: plots.calibration(m, X_TEST, Y_TEST[:5]),
        ValueError,
        "y must have a label for each of 200",
    ),
    "another map": (lambda m, r: plots.scree(Ridge(), X_TEST), TypeError, "feature_map must be a map of this library"),
    "no rows": (lambda m, r: plots.learning_curve(m, [], X_TEST, Y_TEST), ValueError, "tallies must not be empty"),
    "half": (lambda m, r: plots.learning_curve(m, [], X_TEST), ValueError, "got None for y only"),
    "no search": (lambda m, r: plots.search(m), ValueError, "model must have made a search"),
    "draws": (lambda m, r: plots.kernel_error(m, X_TEST, n_draws=0), ValueError, "n_draws == 0, must be >= 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_is_refused(model, regressor, case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(model, regressor)


def test_a_round_that_is_not_there(searched):
    with pytest.raises(ValueError, match="which must be a place among 2 rounds, got 2"):
        plots.search(searched, which=2)


def test_a_linear_model_has_no_map():
    linear = CraftClassifier(**{**QUICK, "feature_map": None}).fit(X, Y)
    with pytest.raises(ValueError, match="got a linear model"):
        plots.scree(linear, X_TEST)


def test_without_matplotlib_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install craftmaps\[plots\]"):
        plots.penalty_curve(model)
