"""Levels, choices, order, and what is skipped."""

import pytest

from craftmaps.datasets import DataNotFound
from reproduction import figure2, figure4, figure5, figure6, figure7, running, support, table1
from reproduction.cells import Results
from reproduction.costs import Cost, Rates
from reproduction.running import duration, main, settings_of

EXPERIMENTS = (figure2, figure4, figure5, table1, figure6, figure7, support)
RATES = Rates(1e11, 5e10, dict.fromkeys(["RFM", "TS", "CM RFM", "CM TS", "ours"], 1e-8))


class Trial:
    """An experiment whose cells cost what they say; a measurement may be interrupted."""

    NAME: str = "figure2"

    def __init__(self, stop_at=None):
        self.stop_at, self.measured = stop_at, []

    def cells(self, settings):
        return [{"method": name, "cost": cost, "seed": 0} for name, cost in [("b", 3), ("a", 1), ("c", 2)]]

    def cost(self, cell, rates):
        return Cost(float(cell["cost"]), 1.0)

    def measure(self, cell):
        if cell["method"] == self.stop_at:
            raise KeyboardInterrupt
        self.measured.append(cell["method"])
        return {"error": 1.0}


@pytest.fixture(autouse=True)
def _no_calibration(monkeypatch):
    monkeypatch.setattr(running.Rates, "measure", classmethod(lambda cls: RATES))


def test_cells_run_by_cost_and_only_once(tmp_path, capsys):
    trial = Trial()
    main(trial, argv=["--results", str(tmp_path)])
    assert trial.measured == ["a", "c", "b"]
    main(trial, argv=["--results", str(tmp_path)])
    assert trial.measured == ["a", "c", "b"]
    assert "3 cells, 3 finished, 0 to run" in capsys.readouterr().err


def test_finished_cells_are_compared_if_run_again(tmp_path, capsys):
    trial = Trial()
    main(trial, argv=["--results", str(tmp_path)])
    measured = {"a": {"error": 1.0, "pass_seconds": 2.0}, "b": {"error": 0.5}, "c": {"error": 1.0}}
    trial.measure = lambda cell: measured[cell["method"]]
    capsys.readouterr()
    main(trial, argv=["--results", str(tmp_path), "--again"])
    said = capsys.readouterr().err
    assert "3 cells, 3 finished, 3 to run" in said
    assert said.count("as before") == 2
    assert said.count("error 1.0 before, 0.5 now") == 1
    assert Results(tmp_path, "figure2").values(trial.cells({})[0]) == {"error": 0.5}


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        main(Trial(stop_at="c"), argv=["--results", str(tmp_path)])
    trial = Trial()
    main(trial, argv=["--results", str(tmp_path)])
    assert trial.measured == ["c", "b"]


def test_what_does_not_fit_is_not_run(tmp_path, capsys):
    trial = Trial()
    main(trial, argv=["--results", str(tmp_path), "--minutes", "0.04"])
    assert trial.measured == ["a", "c"]
    assert "would take 3 s: not run" in capsys.readouterr().err
    trial.cost = lambda cell, rates: Cost(1.0, 2.0**70)
    main(trial, argv=["--results", str(tmp_path)])
    assert trial.measured == ["a", "c"]
    assert "not run" in capsys.readouterr().err


def test_chosen_cells_and_a_list(tmp_path, capsys):
    trial = Trial()
    main(trial, argv=["--results", str(tmp_path), "--list"])
    assert trial.measured == []
    assert len(capsys.readouterr().out.splitlines()) == 3
    main(trial, argv=["--results", str(tmp_path), "--only", "method=a", "method=b"])
    assert trial.measured == ["a", "b"]


@pytest.mark.parametrize("argv", [["--seeds", "0"], ["--only", "method"], ["--level", "huge"]])
def test_bad_arguments_are_refused(argv):
    with pytest.raises(SystemExit):
        main(Trial(), argv=argv)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda module: module.NAME)
def test_an_hour_chooses_among_all_cells(experiment):
    everything = list(experiment.cells(settings_of(experiment.NAME)))
    hour = list(experiment.cells(settings_of(experiment.NAME, "hour")))
    assert hour
    assert all(cell in everything for cell in hour)
    assert len({str(cell) for cell in everything}) == len(everything)
    assert all(experiment.cost(cell, RATES).seconds > 0 for cell in everything)


def test_table_1_has_all_columns_rows_and_seeds():
    cells = list(table1.cells(settings_of("table1")))
    # Five parts, one of them with two splits, five columns, five rows, three seeds.
    assert len(cells) == 6 * 5 * 5 * 3
    assert {(cell["part"], cell.get("degree")) for cell in cells if cell["method"] != "ours"} == {
        ("a", 7),
        ("b", 7),
        ("c", 5),
        ("d", 5),
        ("e", 9),
    }


def test_seeds_can_be_given():
    assert settings_of("figure4", seeds=4)["seeds"] == 4
    assert settings_of("figure4")["seeds"] == 10


def test_results_of_trials_are_kept_apart():
    assert running.results_folder("tiny") != running.results_folder("all") == running.results_folder("hour")


@pytest.mark.parametrize(("seconds", "text"), [(3, "3 s"), (600, "10 min"), (7200, "2.0 h")])
def test_durations_are_for_people(seconds, text):
    assert duration(seconds) == text


def test_a_bar_on_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(running.sys.stderr, "isatty", lambda: True, raising=False)
    main(Trial(), argv=["--results", str(tmp_path)])
    assert "\r[" in capsys.readouterr().err


def test_results_are_where_they_were_asked_for(tmp_path):
    main(Trial(), argv=["--results", str(tmp_path / "deep" / "down")])
    results = Results(tmp_path / "deep" / "down", "figure2")
    assert all(cell in results for cell in Trial().cells({}))


def test_cells_that_build_on_each_other_keep_what_they_need_beside_their_results(tmp_path):
    class InOrder(Trial):
        IN_ORDER = True

        def measure(self, cell, state):
            self.measured.append((cell["method"], state))
            return {"error": 1.0}

    trial = InOrder()
    main(trial, argv=["--results", str(tmp_path / "own" / "results")])
    assert trial.measured == [(method, tmp_path / "own" / "state") for method in "bac"]


def test_cells_without_their_data_are_left_out(tmp_path, capsys):
    class Sets(Trial):
        def cells(self, settings):
            return [cell | {"dataset": name} for name in ("usps", "letter") for cell in Trial.cells(self, settings)]

        def measure(self, cell):
            if cell["dataset"] == "usps":
                raise DataNotFound("usps is nowhere.")
            return super().measure(cell)

    first, second = Sets(), Sets()
    second.NAME = "figure4"
    main(first, second, argv=["--results", str(tmp_path)])
    said = capsys.readouterr().err
    assert said.count("usps: not run: no data (usps is nowhere.)") == 1
    assert first.measured == second.measured == ["a", "c", "b"]
    results = Results(tmp_path, "figure2")
    assert [cell["dataset"] for cell in first.cells({}) if cell in results] == ["letter"] * 3
