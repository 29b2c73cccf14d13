"""Cells are kept at once, found again, and survive a kill."""

import json
import os
import subprocess
import sys

import pytest

from reproduction.cells import Results, environments


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
    assert {"cpu", "cores", "versions", "commit", "date"} <= environments(tmp_path)[0].keys()


def test_time_is_known_from_other_seeds(tmp_path):
    results = Results(tmp_path, "trial")
    results.add({"method": "TS", "seed": 0}, {}, 3.0)
    results.add({"method": "TS", "seed": 1}, {}, 5.0)
    assert results.seconds_like({"method": "TS", "seed": 2}) == 5.0
    assert results.seconds_like({"method": "RFM", "seed": 2}) is None
