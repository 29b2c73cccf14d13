"""Runs with something missing, tiny, huge or hostile still give a page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix
from sklearn.kernel_approximation import Nystroem

from craftmaps import CraftClassifier, CraftRegressor, LandmarkMap, Polynomial, report
from craftmaps.plan import predicted_error
from tests.report.examples import QUICK, classifier_run, labelled, regressor_run
from tests.report.page_text import Page


def written(tmp_path, run):
    numbers = report.write(tmp_path / "page.html", run)
    json.dumps(numbers, allow_nan=False)
    return numbers, Page((tmp_path / "page.html").read_text(encoding="utf-8"))


def changed(**changes):
    return CraftClassifier(**{**QUICK, **changes})


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title>&amp;'\"",
    "nul \x00 bell \x07 esc \x1b",
    "\u202ebackwards\u202c",
    "x" * 5000,
    "",
]


def test_hostile_labels_and_names_are_only_text(tmp_path):
    texts = {
        "data": "<marquee>data</marquee>",
        "command": "craftmaps train '<marquee>' && echo \"</pre>\"",
        "phase": "<marquee>read</marquee>",
    }
    run = classifier_run(
        n_classes=len(HOSTILE),
        names=np.array(HOSTILE, dtype=object),
        data=texts["data"],
        command=texts["command"],
        phases={texts["phase"]: 1.0},
        feature_names=[f"<marquee>{i}</marquee>" for i in range(6)],
    )
    numbers, page = written(tmp_path, run)
    for name in ("script", "img", "marquee"):
        assert not page.all(name)
    assert all(not name.startswith("on") for _, attributes in page.elements for name in attributes)
    for text in (*HOSTILE[:3], *texts.values(), "<marquee>0</marquee>"):
        assert text in page.text
    raw = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not set("\x00\x07\x1b\u202e\u202c") & set(raw)
    assert max(map(len, page.text.split())) < 100
    assert {line["label"] for line in numbers["test"]["classes"]} == set(HOSTILE)


def test_lone_surrogates_can_be_written(tmp_path):
    _, page = written(tmp_path, classifier_run(data="bad \ud800 name.csv"))
    assert "bad \ufffd name.csv" in page.text


@pytest.mark.parametrize("run", [classifier_run, regressor_run])
def test_the_page_needs_nothing_from_elsewhere(tmp_path, run):
    _, page = written(tmp_path, run())
    assert not page.all("script")
    for _, attributes in page.elements:
        for name in ("src", "href"):
            assert attributes.get(name, "data:").startswith("data:")
    raw = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "@import" not in raw
    assert "url(" not in raw


def test_every_figure_has_axes_a_title_and_a_description(tmp_path):
    _, page = written(tmp_path, classifier_run())
    drawings = page.all("svg")
    assert len(drawings) == 6
    assert all(drawing["aria-label"] and drawing["role"] == "img" for drawing in drawings)
    assert len(page.all("figcaption")) == len(page.all("figure")) == 6
    names = [attributes for attributes in page.all("text") if attributes.get("class") == "name"]
    assert len(names) == 12
    raw = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"\b(nan|inf|none)\b", raw.split("</style>")[1], re.IGNORECASE)


def test_without_test_rows_the_error_is_that_of_cross_validation(tmp_path):
    numbers, page = written(tmp_path, classifier_run(X_test=None, y_test=None))
    assert numbers["test"] is None
    assert "There were no test rows, so the error is that of cross-validation." in page.text
    assert "rows left out in cross-validation" in page.text
    assert "Confusion" not in page.text


def test_regressor_without_test_rows(tmp_path):
    run = regressor_run(X_test=None, y_test=None)
    numbers, _ = written(tmp_path, run)
    assert numbers["held_out"]["rmse"] == pytest.approx(np.sqrt(run.model.cv_results_["error"]))
    low, high = numbers["held_out"]["rmse_interval"]
    assert low < numbers["held_out"]["rmse"] < high


def test_no_test_rows_of_an_empty_array(tmp_path):
    numbers, _ = written(tmp_path, classifier_run(X_test=np.empty((0, 6)), y_test=np.empty(0), rows_sample=None))
    assert numbers["test"] is None
    assert "skipped" in numbers["kernel"]


def test_without_cross_validation_there_is_no_curve(tmp_path):
    run = classifier_run(model=changed(alphas=1e-3, cv=None), X_test=None, y_test=None)
    numbers, page = written(tmp_path, run)
    assert numbers["alphas"] is None
    assert "No error was measured" in page.text
    assert "no curve" in page.text


def test_one_alpha_and_an_alpha_of_zero(tmp_path):
    for alphas in ([1e-3], [0.0, 1e-3], [0.0]):
        numbers, _ = written(tmp_path, classifier_run(model=changed(alphas=alphas)))
        assert numbers["alphas"]["alpha"] == alphas


@pytest.mark.parametrize("make", [classifier_run, regressor_run])
def test_one_test_row(tmp_path, make):
    numbers, _ = written(tmp_path, make(n_test=1))
    assert numbers["test"]["rows"] == 1
    assert numbers["test"].get("r2") is None


def test_all_right_means_no_mistakes(tmp_path):
    run = classifier_run()
    predicted = run.model.predict(run.X_test)
    numbers, page = written(tmp_path, report.Run(model=run.model, X_test=run.X_test, y_test=predicted))
    assert numbers["test"]["error"] == 0
    assert numbers["test"]["error_interval"][1] > 0
    assert "all test rows are predicted right" in page.text


def test_two_classes(tmp_path):
    numbers, _ = written(tmp_path, classifier_run(n_classes=2, names=["no", "yes"]))
    assert numbers["test"]["confusion"]["labels"] == ["no", "yes"]
    assert sum(map(sum, numbers["test"]["confusion"]["counts"])) == 100


def test_many_classes_show_the_most_confused(tmp_path):
    run = classifier_run(n_classes=60)
    numbers, page = written(tmp_path, run)
    assert "The 20 most often confused of 60 classes." in page.text
    assert "The 40 of 60 classes with the lowest recall." in page.text
    wrong = run.model.predict(run.X_test) != run.y_test
    involved = np.concatenate([run.y_test[wrong], run.model.predict(run.X_test)[wrong]])
    counts = np.bincount(involved, minlength=60)
    shown = [int(label) for label in numbers["test"]["confusion"]["labels"]]
    assert min(counts[shown]) >= max(np.delete(counts, shown))
    assert len(numbers["test"]["classes"]) == 60


def test_labels_that_the_model_has_not_seen_are_mistakes(tmp_path):
    run = classifier_run()
    y = np.where(np.arange(100) < 10, 7, run.y_test)
    numbers, _ = written(tmp_path, report.Run(model=run.model, X_test=run.X_test, y_test=y))
    new = numbers["test"]["classes"][-1]
    assert new == {"label": "7", "rows": 10, "precision": None, "recall": 0.0}


@pytest.mark.parametrize(
    ("feature_map", "told"),
    [(None, "kernel none, the model is linear"), (Nystroem(n_components=20), "Nystroem, is not of this library")],
)
def test_maps_without_a_known_kernel_are_skipped_with_a_sentence(tmp_path, feature_map, told):
    numbers, page = written(tmp_path, classifier_run(model=changed(feature_map=feature_map)))
    assert told in page.text
    assert numbers["weights"]["n_weights"] > 0


@pytest.mark.parametrize("feature_map", ["landmarks", "tensorsketch", "maclaurin", LandmarkMap(Polynomial(2), 20)])
def test_other_maps(tmp_path, feature_map):
    numbers, _ = written(tmp_path, classifier_run(model=changed(feature_map=feature_map)))
    assert 0 <= numbers["kernel"]["measured"] < 1


@pytest.mark.parametrize("whiten", [True, False])
def test_landmarks_estimate_the_kernel_whitened_or_not(tmp_path, whiten):
    run = classifier_run(model=changed(feature_map=LandmarkMap(Polynomial(2), 20, whiten=whiten, random_state=0)))
    numbers, _ = written(tmp_path, run)
    expected = predicted_error(run.model.features_.feature_map, run.model.features_.shape_rows(run.rows_sample))
    assert numbers["kernel"]["measured"] == pytest.approx(expected, rel=1e-6)


def test_errors_that_overflow_are_left_out_of_the_curve(tmp_path):
    run = classifier_run(model=changed(alphas=[1e-4, 1e-2, 1.0]))
    run.model.cv_results_["mean_error"][0] = np.inf
    numbers, _ = written(tmp_path, run)
    assert numbers["alphas"]["mean_error"][0] is None
    assert numbers["alphas"]["chosen"] > 0


def test_constant_columns_and_integers(tmp_path):
    X, y = labelled(400)
    X = np.column_stack([np.round(10 * X), np.full(400, 7)]).astype(np.int16)
    model = CraftClassifier(**{**QUICK, "metric": "auto"}).fit(X[:300], y[:300])
    numbers, _ = written(tmp_path, report.Run(model=model, X_test=X[300:], y_test=y[300:], rows_sample=X[:50]))
    names = {name for line in numbers["test"]["mistakes"] for name, _, deviations in line["columns"] if deviations}
    assert names
    assert "column 6" not in names


def test_huge_targets(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = CraftRegressor(**QUICK).fit(X[:60], 1e60 * X[:60, 0])
    numbers, _ = written(tmp_path, report.Run(model=model, X_test=X[60:], y_test=1e200 * X[60:, 0]))
    assert numbers["test"]["rmse"] is None


def test_data_frames_and_coordinates(tmp_path):
    X, y = labelled(400)
    frame, labels = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)]), pd.Series(y)
    model = changed().fit(frame[:300], labels[:300])
    run = report.Run(model=model, X_test=frame[300:], y_test=labels[300:], rows_sample=frame[:20])
    numbers, _ = written(tmp_path, run)
    assert numbers["test"]["mistakes"][0]["columns"][0][0].startswith("c")
    sparse = changed().fit(coo_matrix(X[:300]), y[:300])
    again = report.Run(model=sparse, X_test=coo_matrix(X[300:]), y_test=y[300:], rows_sample=coo_matrix(X[:20]))
    assert written(tmp_path, again)[0]["kernel"]["rows"] == 20


def test_a_model_that_still_learns_is_finished_first(tmp_path):
    X, y = labelled()
    numbers, _ = written(tmp_path, report.Run(model=changed().partial_fit(X, y)))
    assert numbers["run"]["rows"] == 300
