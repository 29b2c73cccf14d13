"""Cells are measured in processes, kept as lines, skipped when they are there, and become tables and a picture."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.panel import __main__ as program
from benchmarks.panel import records, running
from benchmarks.panel.cell import error_of
from benchmarks.panel.collecting import page
from benchmarks.panel.processes import watched
from benchmarks.panel.running import Plan, run

HERE = {"cpu": "a processor", "cores": 2, "python": "3", "versions": {"numpy": "2"}, "commit": "c", "date": "d"}


def record(method, seed, **values):
    cell = {"data": "wine", "method": method, "seed": seed, "threads": 1, "task": "classes"}
    return cell | {"n_train": 119, "n_test": 59, "development": False} | values


def finished(method, seed, error, **values):
    times = dict.fromkeys(("fit_seconds", "fit_cpu_seconds", "predict_seconds", "predict_cpu_seconds"), 0.25)
    return record(method, seed, status="finished", error=error, peak_mb=200.0, limit_seconds=300.0, **times, **values)


@pytest.fixture
def results(tmp_path):
    """A file with two methods that finished, one that did not, and a line that was cut off."""
    path = tmp_path / "panel.jsonl"
    lines = [
        finished("RidgeCV", 101, 0.02),
        finished("RidgeCV", 102, 0.04),
        finished("craftmaps 512", 101, 0.05, cross_validated=0.06, interval=[0.03, 0.09]),
        finished("craftmaps 512", 102, 0.10, cross_validated=0.06, interval=[0.03, 0.09]),
        record("SVC", 101, status="timed out", limit_seconds=300.0),
    ]
    for line in lines:
        records.append(path, line, HERE)
    with path.open("a") as file:
        file.write('{"data": "wi')
    return path


def plan(path, **settings):
    given = {
        "data": ["iris"],
        "methods": ["RidgeCV"],
        "seeds": [1],
        "threads": 1,
        "seconds": 30.0,
        "own_seconds": {},
        "memory_gb": 4.0,
        "is_development": True,
        "results": path,
    }
    return Plan(**given | settings)


def test_the_page_has_means_the_best_and_intervals(results):
    text = page(results)
    assert "**3 ± 1.4** (0.25)" in text
    assert "7.5 ± 3.5 (0.25)" in text
    assert "| wine | craftmaps 512 | 6 | 7.5 | 1 of 2 |" in text
    assert "| wine | SVC | 101 | timed out | limit 300 s |" in text
    assert "a processor" in text


def test_equal_errors_are_all_marked(results):
    for seed, error in ((101, 0.02), (102, 0.04)):
        records.append(results, finished("LightGBM", seed, error), HERE)
    assert page(results).count("**3 ± 1.4**") == 2


def test_pooled_rows_are_compared_with_cross_validation_alone(results):
    pooled = finished("craftmaps 512", 101, 0.05, cross_validated=0.06, interval=[0.03, 0.09])
    records.append(results, pooled | {"data": "usps_pooled"}, HERE)
    text = page(results)
    assert "| usps_pooled | craftmaps 512 | 6 | 5 | 1 of 1 |" in text
    errors, _ = text.split("### Cross-validated and test errors")
    assert "| wine |" in errors
    assert "usps_pooled" not in errors
    pytest.importorskip("matplotlib")
    from benchmarks.panel.plotting import panels

    assert not any("pooled" in axis.get_title() for axis in panels(results).axes)


def test_pooled_rows_are_run_with_methods_that_report_an_error_and_not_in_development(results, tmp_path, capsys):
    methods = ["RidgeCV", "craftmaps 512", "SVC", "craftmaps 2048"]
    given = plan(results, methods=methods, data=["text_pooled"], is_development=False)
    assert running._missing(given, "text_pooled", 1) == ["craftmaps 512", "craftmaps 2048"]
    assert running._missing(given, "text", 1) == methods
    path = tmp_path / "development.jsonl"
    run(plan(path, data=["text_pooled"]))
    assert "text_pooled: skipped" in capsys.readouterr().err
    assert not path.exists()


def test_the_picture_is_drawn(results, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.panel.plotting import plot

    plot(results, tmp_path / "panel.png")
    assert (tmp_path / "panel.png").read_bytes().startswith(b"\x89PNG")


def test_a_line_after_one_that_was_cut_off_is_read(results):
    records.append(results, finished("LightGBM", 101, 0.5), HERE)
    assert [found["method"] for found in records.read(results)][-1] == "LightGBM"


def test_the_last_line_of_a_cell_counts(results):
    records.append(results, finished("RidgeCV", 101, 0.5), HERE)
    errors = {found["seed"]: found["error"] for found in records.read(results) if found["method"] == "RidgeCV"}
    assert errors == {101: 0.5, 102: 0.04}


def test_a_cell_is_measured_once(tmp_path, capsys):
    path = tmp_path / "panel.jsonl"
    run(plan(path))
    (found,) = records.read(path)
    assert found["status"] == "finished"
    assert found["development"]
    assert 0 <= found["error"] < 0.5
    assert found["environment"] in records.environments(path)
    assert "error" in capsys.readouterr().err
    run(plan(path))
    assert len(path.read_text().splitlines()) == 1


def test_development_and_panel_do_not_share_a_file(results):
    with pytest.raises(SystemExit, match="development"):
        run(plan(results))


def test_errors_of_test_rows_are_not_shown_on_the_way():
    shown = running._line(finished("craftmaps 512", 101, 0.123))
    assert "0.123" not in shown
    assert "12.3" not in shown


def test_a_method_that_ran_out_of_time_is_not_run_with_the_next_seed(results):
    cell = {"data": "wine", "method": "SVC", "seed": 102, "threads": 1}
    assert running._skipped(plan(results, seconds=300.0), cell)["status"] == "timed out"
    assert running._skipped(plan(results, seconds=600.0), cell) is None


@pytest.mark.parametrize(
    ("code", "seconds", "status"),
    # The limits that should not be reached are far off: filling memory takes long on a busy machine.
    [("while True: pass", 0.5, "timed out"), ("x = bytearray(2**29); input()", 120, "out of memory"), ("", 120, None)],
)
def test_a_process_is_held_to_its_limits(code, seconds, status):
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        assert watched(process, seconds, 0.25) == status
        assert process.returncode is not None


def test_development_results_stay_out_of_the_repository(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["panel", "run", "--development", "--results", str(program.RESULTS)])
    with pytest.raises(SystemExit, match="outside"):
        program.main()


def test_errors_are_shares_and_root_mean_squares():
    assert error_of("classes", np.array([1, 2, 3, 4]), np.array([1, 2, 3, 3])) == 0.25
    assert error_of("numbers", np.array([1.0, 5.0]), np.array([1.0, 2.0])) == pytest.approx(4.5**0.5)
    with pytest.raises(ValueError, match="shape"):
        error_of("numbers", np.zeros((2, 1)), np.zeros(2))


def test_records_are_plain_json(results):
    assert all(json.loads(json.dumps(found)) == found for found in records.read(results))
