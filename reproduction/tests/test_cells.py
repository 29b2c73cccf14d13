"""Cells are kept at once, found again, and survive a kill."""

import json
import os
import subprocess
import sys

import pytest

from craftmaps._system.threads import n_threads
from reproduction import cells
from reproduction.cells import Results, environment_of, repetitions


def test_a_finished_cell_is_found_by_another_process(tmp_path):
    Results(tmp_path, "trial").add({"method": "TS", "seed": 1, "alphas": [1, 2]}, {"error": 2.5}, 0.25)
    code = (
        "import sys; from pathlib import Path; from reproduction.cells import Results; "
        "r = Results(Path(sys.argv[1]), 'trial'); "
        "print(r.values({'seed': 1, 'alphas': [1, 2], 'method': 'TS'}))"
    )
    found = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "{'error': 2.5}"


def test_any_other_parameter_is_another_cell(tmp_path):
    results = Results(tmp_path, "trial")
    results.add({"method": "TS", "seed": 1}, {"error": 2.5}, 0.25)
    assert {"method": "TS", "seed": 1} in results
    assert {"method": "TS", "seed": 2} not in results
    assert {"method": "TS", "seed": 1, "degree": 7} not in results


@pytest.mark.parametrize("kept", [0, 1, 30, -1])
def test_a_line_that_was_cut_off_is_measured_again(tmp_path, kept):
    results = Results(tmp_path, "trial")
    results.add({"seed": 0}, {"error": 1.0}, 0.1)
    whole = results.path.read_bytes()
    results.path.write_bytes(whole + whole.replace(b'"seed": 0', b'"seed": 1')[:kept])
    after = Results(tmp_path, "trial")
    assert {"seed": 0} in after
    # Without its last byte, the end of the line, a record is whole.
    assert ({"seed": 1} in after) == (kept == -1)
    after.add({"seed": 2}, {"error": 3.0}, 0.1)
    again = Results(tmp_path, "trial")
    assert {"seed": 0} in again
    assert {"seed": 2} in again


def test_results_name_the_environment_they_come_from(tmp_path):
    results = Results(tmp_path, "trial")
    results.add({"seed": 0}, {"error": 1.0}, 0.1)
    record = json.loads(results.path.read_text())
    assert os.listdir(tmp_path / "environments") == [f"{record['environment']}.json"]
    assert {"cpu", "cores", "versions", "commit", "date"} <= environment_of(tmp_path, record["environment"]).keys()


def test_time_is_known_from_other_seeds(tmp_path):
    results = Results(tmp_path, "trial")
    results.add({"method": "TS", "seed": 0}, {}, 7.0)
    results.add({"method": "TS", "seed": 1}, {}, 5.0)  # the last counts: the machine may be less busy now
    assert results.seconds_like({"method": "TS", "seed": 2}) == 5.0
    assert results.seconds_like({"method": "RFM", "seed": 2}) is None


def test_repetitions_are_counted_at_one_commit_and_without_times(tmp_path, monkeypatch):
    commit = ["one"]
    monkeypatch.setattr(cells, "environment", lambda: {"commit": commit[0]})
    for name, seed, error in (("one", 0, 1.0), ("one", 0, 1.0), ("one", 1, 1.0), ("one", 1, 2.0), ("two", 2, 1.0)):
        commit[0] = name
        Results(tmp_path, "trial").add({"seed": seed}, {"error": error, "pass_seconds": error + seed}, 0.1)
    for name in ("three", "three-dirty", "three-dirty"):
        commit[0] = name
        Results(tmp_path, "trial").add({"seed": 2}, {"error": 5.0}, 0.1)
    expected = [({"seed": 0}, {n_threads()}, True), ({"seed": 1}, {n_threads()}, False)]
    assert repetitions(tmp_path, "trial") == expected
    Results(tmp_path, "trial").add({"seed": 0}, {"error": 1.0, "pass_seconds": 9.0}, 0.1)
    assert repetitions(tmp_path, "trial") == expected  # of a dirty tree
    assert repetitions(tmp_path, "none") == []
