"""A stream that breaks says where, and what came before is kept."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from craftmaps import CraftClassifier
from craftmaps._system.progress import RowClock
from tests.learner.examples import AUTO, classifier, curve, labelled_rows, regressor

X, Y = labelled_rows()
EARLIER = 150


def blocks(spoil=None):
    """Yield five blocks of 50 rows but the last; the fourth is spoilt."""
    for i in range(0, 240, 50):
        block = X[i : i + 50].copy(), Y[i : i + 50]
        yield spoil(*block) if spoil and i == EARLIER else block


def with_nan(rows, y):
    rows[20, 3] = np.nan
    return rows, y


def with_nan_in_csr(rows, y):
    return csr_matrix(with_nan(rows, y)[0]), y


SPOILT = {
    "NaN": (with_nan, "Block 3 of the stream, row 20: Input X contains NaN"),
    "NaN in CSR": (with_nan_in_csr, r"Block 3 of the stream, row 20: Input.* contains NaN"),
    "NaN in lists": (lambda rows, y: (with_nan(rows, y)[0].tolist(), y), "Block 3 of the stream, row 20: "),
    "width": (lambda rows, y: (rows[:, :4], y), "Block 3 of the stream: X has 4 features.* expecting 6"),
    "lengths": (lambda rows, y: (rows, y[:-1]), r"Block 3 of the stream: .*inconsistent numbers .*\[50, 49\]"),
    "no labels": (lambda rows, y: (rows, None), "Block 3 of the stream: .*y is None"),
    "labels left out": (lambda rows, y: (rows,), r"Block 3 of the stream"),
    "weights": (lambda rows, y: (rows, y, -np.ones(50)), "Block 3 of the stream: sample_weight must be 50"),
    "text": (lambda rows, y: (rows.astype(str) + "x", y), "Block 3 of the stream: could not convert string"),
}


@pytest.mark.parametrize("case", SPOILT)
@pytest.mark.parametrize("settings", [{}, {"metric": "covariance"}], ids=["settled", "waiting"])
def test_the_error_says_where_and_what_came_before_is_a_model(case, settings):
    spoil, message = SPOILT[case]
    model = classifier(**settings)
    with pytest.raises(ValueError, match=f"(?s){message}.*150 rows before it are kept"):
        model.fit_stream(blocks(spoil))
    assert model.n_rows_seen_ == EARLIER
    expected = classifier(**settings).fit(X[:EARLIER], Y[:EARLIER])
    np.testing.assert_allclose(
        model.finish().coef_, expected.coef_, rtol=1e-8, atol=1e-8 * np.abs(expected.coef_).max()
    )
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_and_learning_can_go_on():
    model = classifier()
    with pytest.raises(ValueError, match="Block 3"):
        model.fit_stream(blocks(with_nan))
    model.partial_fit(X[EARLIER:], Y[EARLIER:])
    np.testing.assert_array_equal(model.predict(X), classifier().fit(X, Y).predict(X))


def test_a_source_that_fails():
    def broken():
        yield X[:100], Y[:100]
        raise OSError("the disk is gone")

    model = classifier()
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit_stream(broken())
    np.testing.assert_array_equal(model.finish().predict(X), classifier().fit(X[:100], Y[:100]).predict(X))


def test_targets_that_are_not_finite():
    rows, y = curve()
    y = y.copy()
    y[130] = np.inf
    model = regressor()
    with pytest.raises(ValueError, match=r"Block 1 of the stream.* 100 rows before it are kept"):
        model.fit_stream((rows[i : i + 100], y[i : i + 100]) for i in range(0, 240, 100))
    np.testing.assert_allclose(
        model.finish().predict(rows), regressor().fit(rows[:100], y[:100]).predict(rows), rtol=1e-8
    )


def test_the_first_block_is_bad():
    with pytest.raises(ValueError, match=r"(?s)Block 0 of the stream, row 20.*0 rows before it are kept"):
        classifier().fit_stream([with_nan(X[:50].copy(), Y[:50])])


def test_a_stream_of_nothing():
    with pytest.raises(ValueError, match=r"(?i)stream|block"):
        classifier().fit_stream([])


def test_a_stream_of_one_class():
    ants = Y == "ant"
    with pytest.raises(ValueError, match="at least 2 classes, got only one class"):
        classifier().fit_stream([(X[ants], Y[ants])])


def test_odd_data_that_is_good_enough():
    """Rows that say nothing and fewer rows than classes give a model all the same."""
    for settings in (AUTO, classifier().get_params(deep=False)):
        commonest = np.unique(Y, return_counts=True)[1].max() / len(Y)
        empty = CraftClassifier(**settings).fit(np.zeros_like(X), Y)
        assert empty.score(np.zeros_like(X), Y) == commonest
        assert np.isfinite(empty.predict_proba(X)).all()
        few = CraftClassifier(**settings).fit(X[:4], ["a", "b", "c", "d"])
        np.testing.assert_array_equal(few.predict(X[:4]), ["a", "b", "c", "d"])


def test_progress_is_shown_if_asked_for(capsys, monkeypatch):
    clock = iter(range(0, 100_000, 10))
    monkeypatch.setattr("craftmaps._system.progress.time.monotonic", lambda: float(next(clock)))
    for learn in (lambda model: model.fit_stream(list(blocks())), lambda model: model.fit(X, Y)):
        learn(CraftClassifier(n_components=32, cv=2, verbose=1, batch_rows=100, random_state=0))
        shown = capsys.readouterr()
        assert shown.out == ""
        for text in (
            f"{len(Y)} of {len(Y)} rows, 100 %",
            "0.0 s left",
            "Choosing kernel and metric: ",
            "on fold 2 of 2",
            "Solving",
        ):
            assert text in shown.err
        assert shown.err.endswith("\n")
        learn(classifier())
        assert capsys.readouterr().err == ""


def test_time_that_rows_did_not_take_does_not_count(monkeypatch):
    seconds = 0.0
    monkeypatch.setattr("craftmaps._system.progress.time.monotonic", lambda: seconds)
    clock = RowClock()
    seconds = 30.0  # choices
    clock.step()
    seconds = 31.0
    assert clock.rows() == 1.0
    seconds = 33.0
    assert clock.rows() == 3.0
