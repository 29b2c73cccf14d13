"""Scoreboard: the board is read, fronts and goals are right, cells run, and results become a page and pictures."""

import numpy as np
import pytest

from benchmarks.panel import records
from benchmarks.scoreboard import data_sets
from benchmarks.scoreboard.board import Cell, read_board
from benchmarks.scoreboard.cell import model_bytes
from benchmarks.scoreboard.collecting import page
from benchmarks.scoreboard.goals import front_sentence, lost_to, machine_rows
from benchmarks.scoreboard.methods import adapter
from benchmarks.scoreboard.running import Plan, run
from benchmarks.scoreboard.scores import front, scores

HERE = {"cpu": "a processor", "cores": 2, "python": "3", "versions": {"numpy": "2"}, "commit": "c", "date": "d"}
BOARD = read_board()


def record(method, error, seconds, data="mnist", **values):
    cell = {"data": data, "method": method, "seed": 101, "threads": 1, "task": "classes", "status": "finished"}
    times = {"fit_cpu_seconds": seconds, "fit_seconds": 2 * seconds, "predict_cpu_seconds": seconds / 10}
    sizes = {"n_train": 60_000, "n_test": 10_000, "n_columns": 784, "model_bytes": 1e5 * seconds, "fit_peak_mb": 300.0}
    return cell | times | sizes | {"error": error, "versions": {"scikit-learn": "1"}} | values


def group_of(*lines):
    return scores(lines, BOARD)["mnist"]


@pytest.fixture
def results(tmp_path):
    """A file with two widths of ours, two competitors, one that did not finish, and two lengths of a stream."""
    path = tmp_path / "scoreboard.jsonl"
    lines = [
        record("craftmaps 512", 0.03, 6.0),
        record("craftmaps 1024", 0.02, 12.0),
        record("LightGBM", 0.025, 60.0),
        record("SVC(degree=7)", 0.021, 400.0),
        record("xRFM", 0.0, 0.0, status="timed out", limit_seconds=200.0),
        record("craftmaps 512", 0.1, 1.0, "stream_1e4"),
        record("craftmaps 512", 0.08, 10.0, "stream_1e6"),
    ]
    for line in lines:
        records.append(path, line, HERE)
    return path


def test_every_method_of_the_board_has_an_adapter_and_known_data():
    for method in BOARD.methods.values():
        assert callable(adapter(method.adapter)), method.name
        assert {*method.data, *method.on} <= {*BOARD.scalings}
        assert method.data, method.name
    assert {*BOARD.scalings} == {*data_sets.DATA_SETS}


def test_cells_have_as_many_seeds_as_the_board_says():
    seeds = [cell.seed for cell in BOARD.cells() if (cell.data, cell.method.name) == ("letter", "LightGBM")]
    assert seeds == BOARD.seeds[: BOARD.methods["LightGBM"].data["letter"]]


def test_settings_of_one_data_set_replace_those_of_all():
    method = BOARD.methods["LightGBM"]
    assert method.settings_on("covtype") != method.settings_on("mnist") == method.settings


def test_a_front_has_what_nothing_beats():
    group = group_of(record("craftmaps 512", 0.03, 6), record("LightGBM", 0.04, 7), record("SVC(degree=7)", 0.01, 9))
    names = [score.method for score in front(list(group.values()), lambda score: score.seconds)]
    assert names == ["craftmaps 512", "SVC(degree=7)"]


def test_a_competitor_below_our_front_is_named():
    ours = record("craftmaps 512", 0.03, 6.0)
    assert "**met**" in front_sentence(group_of(ours, record("LightGBM", 0.04, 6.0)), BOARD)
    sentence = front_sentence(group_of(ours, record("LightGBM", 0.02, 60.0)), BOARD)
    assert "**missed**" in sentence
    assert "LightGBM has 2.00 % after 60.0 s" in sentence
    (case,) = lost_to(group_of(ours, record("LightGBM", 0.04, 5.5)), BOARD)
    assert case.ours is None


def test_a_competitor_that_is_quicker_than_the_front_begins_may_use_that_time():
    slow, quick = record("craftmaps 512", 0.03, 5.5), record("craftmaps 512", 0.03, 4.5)
    theirs = record("LightGBM", 0.04, 1.0)
    assert [len(list(lost_to(group_of(ours, theirs), BOARD))) for ours in (slow, quick)] == [1, 0]


@pytest.mark.parametrize(
    ("error", "seconds", "verdict"), [(0.02, 8.0, "met"), (0.022, 8.0, "missed"), (0.02, 9.0, "missed")]
)
def test_all_parts_of_the_goal_against_support_vectors_must_hold(error, seconds, verdict):
    group = group_of(record("craftmaps 512", error, seconds), record("SVC(degree=7)", 0.021, 400.0))
    assert machine_rows(group, BOARD)[-1][-1] == verdict


def test_the_page_has_goals_costs_growth_and_gaps(results):
    text = page(results, BOARD)
    assert "| craftmaps 1024 | **2.00** | 1 | 12 | 24 | 120 | 1,200 | 300 |" in text
    assert "| LightGBM | 2.50 | 1 | 60 |" in text
    assert "| xRFM | mnist | over the limit | 200 processor seconds |" in text
    assert "| craftmaps 512 | 1 | 10 | 0.50 | 0.50 |" in text
    assert "| mnist | LightGBM | 2.50 | 60 | craftmaps 1024 | 2.00 | 12 | craftmaps |" in text
    assert "| craftmaps 16384 | mnist | not run | no result yet |" in text
    assert "a processor" in text


def test_pictures_are_drawn(results, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.scoreboard.plotting import STYLES, plot

    plot(results, BOARD, tmp_path)
    for name in ("front_mnist", "fronts", "growth"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert {method.family for method in BOARD.methods.values()} == {*STYLES}


def test_a_cell_is_measured_once_and_a_missing_interpreter_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(data_sets.DATA_SETS, "stream_1e4", data_sets.DATA_SETS["stream_1e4"]._replace(read=_short))
    method = BOARD.methods["RBFSampler + Ridge 1024"]
    names = (method._replace(settings=method.settings | {"n_components": 32}), BOARD.methods["EigenPro"])
    plan = Plan(BOARD, [Cell("stream_1e4", name, 101) for name in names], {}, tmp_path / "scoreboard.jsonl")
    run(plan)
    run(plan)
    done, left_out = records.read(plan.results)
    assert len(plan.results.read_text().splitlines()) == 2
    assert done["status"] == "finished"
    assert 0 < done["error"] < 0.4
    assert done["model_bytes"] > 0
    assert "scikit-learn" in done["versions"]
    assert (left_out["status"], left_out["method"]) == ("not run", "EigenPro")
    assert "--interpreter older" in left_out["reason"]


def _short(seed):
    return data_sets.stream(600, seed)


def test_streams_begin_alike_and_share_test_rows():
    short, long = (data_sets.stream(n_rows, 101) for n_rows in (500, 150_000))
    np.testing.assert_array_equal(short.X[:500], long.X[:500])
    np.testing.assert_array_equal(short.X[500:], long.X[150_000:])
    np.testing.assert_array_equal(short.y[500:], long.y[150_000:])
    assert not np.array_equal(long.X[:500], long.X[100_000:100_500])
    assert abs(long.y.mean() - 0.5) < 0.02


def test_a_model_may_tell_its_own_size():
    class Sized:
        def model_bytes(self):
            return 7

    assert model_bytes(Sized()) == 7
    assert model_bytes(np.zeros(1000)) > 8000
