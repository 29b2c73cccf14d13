"""Every experiment measures a small cell, and the same numbers again from the same seed."""

import bz2

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from craftmaps import CraftClassifier, Polynomial, datasets
from reproduction import exact, figure2, figure4, figure5, figure6, figure7, rows, table1
from reproduction.classification import classifier
from reproduction.infinite_digits import InfiniteDigits
from reproduction.methods import PAPER_METHODS, make_map, uses_exact_low_degrees
from reproduction.mnist8m import Mnist8m

needs_mnist = pytest.mark.skipif(not datasets.found("mnist"), reason="CRAFTMAPS_DATA has no mnist")
needs_coil = pytest.mark.skipif(not datasets.found("coil100"), reason="CRAFTMAPS_DATA has no coil100")
KERNEL_CELL = {"dataset": "digits", "rows": 100, "degree": 3, "coef0": 1, "components": 64, "up_components": 256}
CLASSIFIER_CELL = {
    "dataset": "digits",
    "split": "customary",
    "max_rows": 300,
    "components": 128,
    "up_components": 512,
    "degree": 3,
    "coef0": 1,
    "code_size": 40,
    "cv": 2,
    "log10_alphas": [-4, -2],
}


@pytest.mark.parametrize("method", PAPER_METHODS)
@pytest.mark.parametrize("experiment", [figure4, figure5])
def test_kernel_errors(experiment, method):
    cell = KERNEL_CELL | {"method": method, "seed": 1}
    values = experiment.measure(cell)
    assert 0 < values["kernel_error"] < 1
    assert ("up_kernel_error" in values) == method.startswith("CM")
    assert experiment.measure(cell) == values
    assert experiment.measure(cell | {"seed": 2}) != values


def test_figure2_shows_the_rank_and_the_weights():
    cells = [KERNEL_CELL | {"bins": 21, "method": method, "seed": 0} for method in (figure2.EXACT, *PAPER_METHODS)]
    exact, *maps = [figure2.measure(cell) for cell in cells]
    assert len(exact["log_scree"]) == 100
    assert "counts" not in exact
    for values in maps:
        # 64 features of 100 rows: the rest of the spectrum is not there.
        assert sum(value is not None for value in values["log_scree"]) <= 64
        assert sum(values["counts"]) == 64
    assert figure2.measure(cells[1]) == maps[0]


@pytest.mark.parametrize("method", [*PAPER_METHODS, "ours"])
def test_table1(method):
    cell = {"part": "a", "method": method, "seed": 1, **CLASSIFIER_CELL}
    values = table1.measure(cell)
    assert 0 < values["error"] < 20
    assert table1.measure(cell) == values


@pytest.mark.parametrize(
    ("method", "calibration"), [*((name, "temperature") for name in PAPER_METHODS), ("ours", "auto")]
)
def test_scores_are_corrected_for_ours_alone(method, calibration):
    assert classifier({"method": method, "seed": 0, **CLASSIFIER_CELL}, 64).calibration == calibration


def test_the_kernel_itself():
    keys = ("dataset", "split", "max_rows", "degree", "coef0", "code_size", "cv", "log10_alphas")
    cell = {"part": "e", "seed": 1} | {key: CLASSIFIER_CELL[key] for key in keys}
    values = exact.measure(cell)
    assert exact.measure(cell) == values
    # A wide map comes to the same, a narrow one does worse.
    sizes = [{"components": E, "up_components": 8 * E} for E in (1024, 32)]
    wide, narrow = (
        np.mean([table1.measure(CLASSIFIER_CELL | size | {"method": "CM TS", "seed": s})["error"] for s in (0, 1)])
        for size in sizes
    )
    assert abs(wide - values["error"]) < 2
    assert narrow > values["error"] + 5


def test_more_features_than_rows_are_solved_alike(monkeypatch):
    # Folds differ, so there is one penalty to choose from.
    cell = {"method": "TS", "seed": 1, **CLASSIFIER_CELL, "components": 400, "log10_alphas": [-3, -3]}
    in_rows = table1.measure(cell)["error"]
    monkeypatch.setattr("reproduction.classification.in_row_space", lambda *sizes: False)
    one_row = 100 / 300
    assert table1.measure(cell)["error"] == pytest.approx(in_rows, abs=one_row)
    monkeypatch.setattr("reproduction.classification.is_by_steps", lambda components: True)
    assert table1.measure(cell)["error"] == pytest.approx(in_rows, abs=3 * one_row)


@pytest.mark.parametrize("method", ["CM RFM", "ours"])
def test_figure7_times_the_pass(method):
    values = figure7.measure({**CLASSIFIER_CELL, "method": method, "seed": 0})
    assert 0 < values["error"] < 20
    assert values["pass_seconds"] >= 0
    if method == "ours":
        assert values["choice_seconds"] > 0.1  # kernels and metrics were compared
    assert values["finish_seconds"] > 0


@pytest.mark.parametrize(
    ("method", "components", "expected"), [("RFM", 700, False), ("RFM", 4096, True), ("CM RFM", 300, True)]
)
def test_h01_needs_room_for_the_exact_columns(method, components, expected):
    assert uses_exact_low_degrees(method, components, 8 * components, 784) is expected


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method must be one of RFM, TS, CM RFM, CM TS, got 'best'"):
        make_map("best", Polynomial(2), 8, 16, False, 0)


@needs_coil
def test_views_of_coil100():
    for split, n_train in [("36 views", 3600), ("18 views", 1800)]:
        data = rows.load("coil100", split)
        assert len(data.y_train) == n_train
        assert len(data.y_train) + len(data.y_test) == 7200
        assert set(np.bincount(data.y_train)[1:]) == {n_train // 100}
    # The 18 views are every other one of the 36.
    assert np.array_equal(rows.load("coil100", "18 views").X_train, rows.load("coil100", "36 views").X_train[::2])
    with pytest.raises(ValueError, match="split must be"):
        rows.load("coil100", "7 views")


FIGURE6_CELL = {
    "source": figure6.INFINITE,
    "method": "TS",
    "components": 16,
    "up_components": 128,
    "degree": 3,
    "coef0": 1,
    "code_size": 20,
    "cv": 2,
    "log10_alphas": [-3, -3],
    "seed": 0,
}


@pytest.fixture
def small_tallies(monkeypatch):
    monkeypatch.setattr(figure6.Curve, "_last", None)
    monkeypatch.setattr(figure6, "BLOCK_ROWS", 1_000)
    monkeypatch.setattr(figure6, "TALLY_ROWS", 10_000)


@needs_mnist
@pytest.mark.parametrize("method", [*PAPER_METHODS, "ours"])
def test_a_sum_of_tallies_is_one_pass_over_the_rows(tmp_path, small_tallies, monkeypatch, method):
    monkeypatch.setattr(figure6, "TALLY_ROWS", 5_000)
    monkeypatch.setattr(CraftClassifier, "settle_rows", 2_500)  # kernel and metric are searched three times
    cell = FIGURE6_CELL | {"method": method}
    curve = figure6.Curve(cell, tmp_path)
    curve.advance(12_000)
    source = figure6._source(cell)
    one_pass = classifier(cell, 784).fit_stream(source.blocks(0, 12_000, 1_000))
    summed = curve.model.finish(curve.total)
    assert summed.n_rows_seen_ == 12_000
    assert summed.alpha_ == pytest.approx(one_pass.alpha_, rel=1e-10)
    assert np.abs(summed.coef_ - one_pass.coef_).max() < 1e-8 * np.abs(one_pass.coef_).max()
    # The comparison can fail: one row less is another model.
    other = classifier(cell, 784).fit_stream(source.blocks(0, 11_999, 1_000))
    assert np.abs(summed.coef_ - other.coef_).max() > 1e-7 * np.abs(other.coef_).max()


@needs_mnist
def test_an_interrupted_curve_maps_no_row_of_a_tally_twice(tmp_path, small_tallies, monkeypatch):
    cell = FIGURE6_CELL | {"method": "CM RFM"}
    whole = figure6.Curve(cell, tmp_path / "whole")
    whole.advance(30_000)
    figure6.Curve(cell, tmp_path).advance(20_000)
    starts, blocks = [], InfiniteDigits.blocks

    def recorded(stream, start, *arguments):
        starts.append(start)
        return blocks(stream, start, *arguments)

    monkeypatch.setattr(InfiniteDigits, "blocks", recorded)
    resumed = figure6.Curve(cell, tmp_path)
    assert resumed.total.n_rows == 20_000
    resumed.advance(30_000)
    assert starts == [20_000]
    assert np.array_equal(resumed.model.finish(resumed.total).coef_, whole.model.finish(whole.total).coef_)
    assert [path.name for path in tmp_path.glob("*.tally")] == [whole.path.name]
    with pytest.raises(ValueError, match="rows must be a multiple of 1000, got 30001"):
        resumed.advance(30_001)


@needs_mnist
def test_tallies_end_at_every_point(tmp_path, small_tallies, monkeypatch):
    n_rows_of, tally_of = [], figure6.Counting.tally_of

    def recorded(*arguments):
        tally = tally_of(*arguments)
        n_rows_of.append(tally.n_rows)
        return tally

    monkeypatch.setattr(figure6.Counting, "tally_of", recorded)
    for n_rows in (6_000, 12_000, 35_000):
        figure6.measure(FIGURE6_CELL | {"rows": n_rows}, tmp_path)
    assert n_rows_of == [6_000, 6_000, 10_000, 10_000, 3_000]


@needs_mnist
def test_solving_on_the_way_changes_nothing(tmp_path, small_tallies, monkeypatch):
    values = [figure6.measure(FIGURE6_CELL | {"rows": n_rows}, tmp_path) for n_rows in (10_000, 20_000)]
    monkeypatch.setattr(figure6.Curve, "_last", None)
    for path in tmp_path.iterdir():
        path.unlink()
    assert figure6.measure(FIGURE6_CELL | {"rows": 20_000}, tmp_path) == values[1]
    # Fewer rows than the sum has already: it starts anew.
    assert figure6.measure(FIGURE6_CELL | {"rows": 10_000}, tmp_path) == values[0]


def test_the_real_mnist8m_is_read_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("CRAFTMAPS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="mnist8m must be a file"):
        Mnist8m()
    X = np.random.default_rng(0).integers(0, 3, (25, 784)).astype(float)
    (tmp_path / "mnist8m").mkdir()
    plain = tmp_path / "mnist8m" / "plain"
    dump_svmlight_file(X, np.arange(25) % 10, str(plain), zero_based=False)
    (tmp_path / "mnist8m" / "mnist8m.bz2").write_bytes(bz2.compress(plain.read_bytes()))
    blocks = list(Mnist8m().blocks(5, 24, 10))
    assert [len(y) for _, y in blocks] == [10, 9]
    assert np.array_equal(np.concatenate([rows for rows, _ in blocks]), X[5:24])
    assert np.array_equal(np.concatenate([y for _, y in blocks]), np.arange(5, 24) % 10)
