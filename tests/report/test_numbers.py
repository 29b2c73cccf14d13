"""What the page says is what scikit-learn says."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support, r2_score

from craftmaps import CraftClassifier, load_model, report
from craftmaps.diagnostics import kernel_error
from craftmaps.plan import predicted_error
from craftmaps.report.html.wording import percent
from tests.report.examples import QUICK, classifier_run, labelled, regressor_run
from tests.report.page_text import Page


def written(tmp_path, run):
    numbers = report.write(tmp_path / "page.html", run)
    json.dumps(numbers, allow_nan=False)
    return numbers, Page((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_confusion_matrix_is_that_of_scikit_learn(tmp_path):
    run = classifier_run()
    numbers, page = written(tmp_path, run)
    expected = confusion_matrix(run.y_test, run.model.predict(run.X_test))
    assert numbers["test"]["confusion"]["counts"] == expected.tolist()
    table = next(table for table in page.tables if table[0][0] == "" and len(table) == 4)
    shown = [[int(cell.replace(",", "") or 0) for cell in row[1:]] for row in table[1:]]
    assert shown == expected.tolist()


def test_precision_and_recall_are_those_of_scikit_learn(tmp_path):
    run = classifier_run(n_classes=5)
    numbers, page = written(tmp_path, run)
    precision, recall, _, rows = precision_recall_fscore_support(run.y_test, run.model.predict(run.X_test))
    classes = numbers["test"]["classes"]
    np.testing.assert_allclose([line["precision"] for line in classes], precision, rtol=1e-12)
    np.testing.assert_allclose([line["recall"] for line in classes], recall, rtol=1e-12)
    assert [line["rows"] for line in classes] == rows.tolist()
    table = next(table for table in page.tables if table[0][:2] == ["class", "precision"])
    assert table[1] == ["0", percent(precision[0]), percent(recall[0]), str(rows[0])]


def test_error_is_that_of_score_and_stands_in_the_first_sentence(tmp_path):
    run = classifier_run()
    numbers, page = written(tmp_path, run)
    error = 1 - run.model.score(run.X_test, run.y_test)
    assert numbers["test"]["error"] == pytest.approx(error, abs=1e-12)
    low, high = numbers["test"]["error_interval"]
    assert low < error < high
    sentence = page.text.split(" Error ")[0]
    for part in (
        "CraftClassifier",
        "flowers.parquet",
        "300 rows",
        "E = 48",
        "degree=2",
        " ".join(percent(error).split()),
        "2.0 s",
    ):
        assert part in sentence


@pytest.mark.parametrize("n_targets", [1, 6])
def test_regression_is_that_of_scikit_learn(tmp_path, n_targets):
    run = regressor_run(n_targets)
    numbers, page = written(tmp_path, run)
    test, predicted = numbers["test"], run.model.predict(run.X_test)
    assert test["r2"] == pytest.approx(r2_score(run.y_test, predicted), rel=1e-10)
    assert test["rmse"] == pytest.approx(np.sqrt(np.mean((run.y_test - predicted) ** 2)), rel=1e-10)
    first = predicted.reshape(100, -1)[:, 0] - run.y_test.reshape(100, -1)[:, 0]
    assert test["targets"][0]["rmse"] == pytest.approx(np.sqrt(np.mean(first**2)), rel=1e-10)
    assert test["r2_interval"][0] < test["r2"] < test["r2_interval"][1]
    assert f"R² {test['r2']:.3f}" in page.text
    assert ("The first 4 of 6 targets" in page.text) == (n_targets == 6)


def test_kernel_error_is_measured_on_shaped_rows_and_predicted(tmp_path):
    run = classifier_run()
    numbers, _ = written(tmp_path, run)
    feature_map, rows = run.model.features_.feature_map, run.model.features_.shape_rows(run.rows_sample)
    expected = kernel_error(feature_map.transform(rows), QUICK["kernel"](rows))
    assert numbers["kernel"]["measured"] == pytest.approx(expected, rel=1e-12)
    assert numbers["kernel"]["predicted"] == pytest.approx(predicted_error(feature_map, rows), rel=1e-12)


def test_chosen_alpha_is_that_of_the_model(tmp_path):
    run = classifier_run(model=CraftClassifier(**{**QUICK, "alphas": [0.0, 1e-6, 1e-2, 1e3]}))
    numbers, _ = written(tmp_path, run)
    chosen = numbers["alphas"]["alpha"][numbers["alphas"]["chosen"]]
    given = classifier_run(model=CraftClassifier(**{**QUICK, "alphas": chosen, "cv": None}))
    assert run.model.alpha_ == given.model.alpha_
    assert numbers["held_out"]["error"] == run.model.cv_results_["error"]


def test_reliability_counts_every_row_once(tmp_path):
    run = classifier_run()
    bins = written(tmp_path, run)[0]["test"]["calibration"]["bins"]
    assert sum(place["rows"] for place in bins) == 100
    right = sum(place["rows"] * place["share_right"] for place in bins)
    assert right == pytest.approx(100 * run.model.score(run.X_test, run.y_test), abs=1e-9)
    mean = sum(place["rows"] * place["confidence"] for place in bins) / 100
    assert mean == pytest.approx(run.model.predict_proba(run.X_test).max(axis=1).mean(), rel=1e-10)


def test_mistakes_are_the_surest_ones(tmp_path):
    run = classifier_run()
    mistakes = written(tmp_path, run)[0]["test"]["mistakes"]
    probabilities = run.model.predict_proba(run.X_test)
    wrong = run.model.predict(run.X_test) != run.y_test
    expected = np.sort(probabilities.max(axis=1)[wrong])[::-1][: len(mistakes)]
    np.testing.assert_allclose([line["probability"] for line in mistakes], expected, rtol=1e-12)
    for line in mistakes:
        assert line["true"] == str(run.y_test[line["row"]]) != line["predicted"]
        name, value, _ = line["columns"][0]
        assert run.X_test[line["row"], int(name.split()[1])] == value


def test_rows_that_are_pictures_are_shown_as_such(tmp_path):
    X, y = labelled(400, 3, 64)
    X = np.round(np.abs(X) * 50)
    run = classifier_run(width=64)
    run.model.fit(X[:300], y[:300])
    numbers, page = written(tmp_path, report.Run(model=run.model, X_test=X[300:], y_test=y[300:]))
    mistakes = numbers["test"]["mistakes"]
    assert len(page.all("img")) == len(mistakes) > 0
    row = X[300 + mistakes[0]["row"]]
    np.testing.assert_array_equal(np.ravel(mistakes[0]["picture"]), np.rint(row / row.max() * 255))


def test_sparse_rows_give_the_same_numbers(tmp_path):
    run = classifier_run()
    sparse = report.Run(model=run.model, X_test=csr_matrix(run.X_test), y_test=run.y_test)
    dense = report.Run(model=run.model, X_test=run.X_test, y_test=run.y_test)
    one, two = (written(tmp_path, run)[0]["test"] for run in (sparse, dense))
    assert one["confusion"] == two["confusion"]
    assert [line["row"] for line in one["mistakes"]] == [line["row"] for line in two["mistakes"]]


def test_a_model_from_a_file_gives_the_same_test_error(tmp_path):
    run = classifier_run()
    run.model.save(tmp_path / "model.craft", dtype=np.float64)
    again = report.Run(model=load_model(tmp_path / "model.craft"), X_test=run.X_test, y_test=run.y_test)
    numbers, page = written(tmp_path, again)
    assert numbers["test"]["errors"] == written(tmp_path, run)[0]["test"]["errors"]
    assert "the model came from a file" in page.text


def test_codes_are_not_rounded(tmp_path):
    """Labels, and columns of mistakes, may be postcodes."""
    X, y = labelled(400, 2, 3, names=[10039, 20044])
    X[:, 2] = 10000 + np.arange(400) % 97
    model = CraftClassifier(**QUICK).fit(X[:300], y[:300])
    numbers, page = written(tmp_path, report.Run(model=model, X_test=X[300:], y_test=y[300:]))
    codes = {str(int(X[300 + line["row"], 2])) for line in numbers["test"]["mistakes"]}
    assert codes
    assert codes | {"10039", "20044"} <= set(page.text.split())


def test_few_errors_are_not_none():
    assert percent(1e-5).split() == ["0.0010", "%"]
    assert percent(0.0).split() == ["0", "%"]


def test_several_targets_are_said_to_be_scaled_for_the_held_out_error(tmp_path):
    for n_targets in (1, 2):
        _, page = written(tmp_path, regressor_run(n_targets))
        assert ("targets are scaled to one spread" in page.text) == (n_targets == 2)
