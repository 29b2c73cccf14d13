"""The tables of the page about scale are those of its result file, and the cost model keeps its own laws."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def load(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    specification = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, specification.name, module)
    specification.loader.exec_module(module)
    return module


def test_the_tables_are_made_from_the_result_file(monkeypatch):
    table = load("scale_table", monkeypatch)
    assert table.PAGE.read_text() == table.page()


def test_the_predictions_are_those_of_the_model(monkeypatch):
    scale = load("scale", monkeypatch)
    results = json.loads(scale.RESULTS.read_text())
    rates = scale.Rates(**results["rates"])
    assert scale.predictions(rates)["predictions"] == results["predictions"]
    few, many = (scale.predicted(rates, scale.Cluster(n), 1e9, 4096) for n in (10, 1000))
    assert few["pass"] == pytest.approx(100 * many["pass"])
    assert many["bytes moved"] == 100 * few["bytes moved"]
    wide = scale.predicted(rates, scale.Cluster(10, memory=8e9), 1e9, 2**16)
    assert wide["passes"] > 2
    assert wide["memory of a worker"] < few["memory of the driver"] + 8e9 / 2
