"""Test rows that come block by block give the page of test rows in memory; weights count."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import report
from craftmaps.report.column_moments import ColumnMoments
from craftmaps.report.evaluation import Evaluation
from craftmaps.report.html.wording import interval, number, percent
from craftmaps.report.residuals import Residuals
from craftmaps.report.symmetric_histogram import SymmetricHistogram
from tests.report.examples import classifier_run, regressor_run
from tests.report.page_text import Page


def evaluated(run, weight=None, step=13):
    """Return the evaluation of test rows that come in blocks."""
    evaluation = Evaluation(run.model, keeps_examples=True)
    for start in range(0, len(run.y_test), step):
        part = slice(start, start + step)
        evaluation.add(run.X_test[part], run.y_test[part], None if weight is None else weight[part])
    return evaluation


def written(tmp_path, run):
    numbers = report.write(tmp_path / "page.html", run)
    json.dumps(numbers, allow_nan=False)
    return numbers, Page((tmp_path / "page.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("make", [classifier_run, lambda: classifier_run(width=64), lambda: regressor_run(3)])
def test_blocks_give_the_numbers_of_rows_in_memory(tmp_path, make):
    run = make()
    whole = written(tmp_path, run)[0]["test"]
    blocks = written(tmp_path, report.Run(model=run.model, evaluation=evaluated(run)))[0]["test"]
    assert whole.keys() == blocks.keys()
    assert_close(blocks, whole)


def assert_close(found, expected):
    """Compare plain data up to rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            assert_close(found[name], expected[name])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, two in zip(found, expected, strict=True):
            assert_close(one, two)
    else:
        assert found == (pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected)


def test_weights_count_on_the_page(tmp_path):
    run = classifier_run()
    weight = np.random.default_rng(0).exponential(size=100)
    evaluation = evaluated(run, weight)
    numbers, page = written(tmp_path, report.Run(model=run.model, evaluation=evaluation))
    wrong = run.model.predict(run.X_test) != run.y_test
    assert numbers["test"]["error"] == pytest.approx(weight @ wrong / weight.sum())
    assert numbers["test"]["error"] == evaluation.scores.to_plain()["error"]
    assert numbers["test"]["errors"] == wrong.sum()
    assert numbers["test"]["weight"] == pytest.approx(weight.sum())
    assert f"{' '.join(percent(weight @ wrong / weight.sum()).split())} of 100 test rows, weighted" in page.text
    assert "Both are shares of the weights." in page.text
    assert "weight" not in written(tmp_path, run)[0]["test"]


def test_weighted_errors_of_numbers_on_the_page(tmp_path):
    run = regressor_run()
    weight = np.random.default_rng(0).exponential(size=100)
    evaluation = evaluated(run, weight)
    numbers, page = written(tmp_path, report.Run(model=run.model, evaluation=evaluation))
    square = np.average((run.model.predict(run.X_test) - run.y_test) ** 2, weights=weight)
    assert numbers["test"]["rmse"] == pytest.approx(np.sqrt(square))
    assert interval(evaluation.scores.to_plain()["rmse_interval"], number) in page.text
    assert "on 100 test rows, weighted" in page.text


def test_an_evaluation_must_have_examples_and_be_alone():
    run = classifier_run()
    with pytest.raises(ValueError, match=r"^evaluation must have examples and come without X_test, got no examples\.$"):
        report.Run(model=run.model, evaluation=Evaluation(run.model))
    with pytest.raises(ValueError, match=r"got X_test too\.$"):
        report.Run(model=run.model, evaluation=evaluated(run), X_test=run.X_test, y_test=run.y_test)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_moments_of_columns(is_sparse):
    rng = np.random.default_rng(0)
    X = rng.random((5000, 4)) * (rng.random((5000, 4)) > 0.5) * [1, 100, 1e-3, 0]
    X[:, 0] += np.arange(5000) / 1000  # blocks differ
    moments = ColumnMoments()
    for part in np.split(X, [3, 1000, 4000]):
        moments.add(csr_matrix(part) if is_sparse else part)
    np.testing.assert_allclose(moments.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, X.std(axis=0), rtol=1e-9)
    assert moments.lowest == X.min()


@pytest.mark.parametrize("growth", [1.0, 1e-3, 1e6, 1e80])
def test_a_histogram_whose_range_is_found_on_the_way(growth):
    values = np.random.default_rng(0).normal(size=3000)
    values[1000:] *= growth
    values[5] = 0.0
    histogram = SymmetricHistogram()
    for part in np.array_split(values, 7):
        histogram.add(part)
    counts, edges = histogram.table()
    assert counts.size == 41
    assert counts.sum() == 3000
    np.testing.assert_array_equal(counts, np.histogram(values, bins=edges)[0])
    np.testing.assert_allclose(edges, -edges[::-1])
    assert np.abs(values).max() <= edges[-1] < 1.2 * np.abs(values).max()


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(9),
        np.array([1.0]),
        np.array([2.0, -2.0, np.inf]),
        np.array([1e308, 0.0]),
        np.array([np.nextafter(4.0, 0), -4.0]),
    ],
)
def test_odd_histograms(values):
    histogram = SymmetricHistogram()
    histogram.add(values)
    counts, edges = histogram.table()
    assert counts.sum() == np.isfinite(values).sum()
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()


@pytest.mark.parametrize("n_rows", [799, 801, 10_000])
def test_points_are_spread_evenly_over_the_rows(n_rows):
    residuals = Residuals()
    y = np.arange(float(n_rows))
    for part in np.array_split(y, 11):
        residuals.add(None, part, part)
    [target] = residuals.to_plain([])
    rows = target["points"][:, 0]
    assert 400 <= rows.size <= 800
    assert np.array_equal(target["points"][:, 1], rows)
    assert np.array_equal(np.unique(np.diff(rows)), [1 << (n_rows // 801).bit_length()])
    assert rows[0] == 0
