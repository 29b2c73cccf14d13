"""What cannot be reported is refused in a sentence, and a page that is there stays."""

import os

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from craftmaps import CraftClassifier, report
from tests.report.examples import classifier_run, regressor_run


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_test": None}, "X_test and y_test must both be given or both be None, got None for y_test only."),
        ({"phases": {"read": -1.0}}, "phases must give seconds, none negative, got -1.0 for 'read'."),
        ({"phases": {"read": "long"}}, "phases must give seconds, none negative, got 'long' for 'read'."),
        ({"peak_memory": -5}, "peak_memory must be bytes or None, got -5."),
        ({"feature_names": ["one"]}, "feature_names must have a name for each of 6 columns, got 1."),
    ],
)
def test_bad_runs(changes, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        classifier_run(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_test": np.zeros(3, int)}, "y_test must have a target for each of 100 test rows"),
        ({"y_test": np.full(100, "a")}, "y_test must have labels that are numbers"),
        ({"y_test": np.array([None] * 100)}, "y_test must have labels that are numbers"),
        ({"rows_sample": np.zeros((4, 5))}, "rows_sample must have 6 columns as the model has, got 5"),
        ({"rows_sample": np.full((4, 6), np.nan)}, "rows_sample contains NaN"),
        ({"X_test": np.full((100, 6), np.nan)}, "contains NaN"),
    ],
)
def test_bad_rows(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        report.write(tmp_path / "page.html", classifier_run(**changes))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("y", [np.full(100, "a"), np.zeros((100, 2)), np.full(100, np.nan)])
def test_bad_targets_of_a_regressor(tmp_path, y):
    with pytest.raises(ValueError, match=r"^y_test must be "):
        report.write(tmp_path / "page.html", regressor_run(y_test=y))


def test_other_models_and_models_not_fitted():
    with pytest.raises(TypeError, match=r"^model must be a CraftClassifier or CraftRegressor, got Ridge\.$"):
        report.Run(model=Ridge())
    with pytest.raises(NotFittedError):
        report.Run(model=CraftClassifier())


def test_folders_that_are_not_there(tmp_path):
    run = classifier_run()
    for path in (tmp_path / "none" / "page.html", tmp_path):
        with pytest.raises(FileNotFoundError, match=r"^path must be a file in a folder that exists"):
            report.write(path, run)


def test_an_existing_page_survives_an_error_at_any_step(tmp_path, monkeypatch):
    path, run = tmp_path / "page.html", classifier_run()
    path.write_text("the page before")
    with pytest.raises(ValueError, match="rows_sample"):
        report.write(path, classifier_run(rows_sample=np.zeros((4, 5))))

    def fail(*arguments):
        raise OSError("the disk is full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="the disk is full"):
                report.write(path, run)
        assert path.read_text() == "the page before"
        assert os.listdir(tmp_path) == ["page.html"]
    report.write(path, run)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert os.listdir(tmp_path) == ["page.html"]
