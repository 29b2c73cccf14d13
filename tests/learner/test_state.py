"""What is refused leaves no trace, what is given is not changed, and nothing outlives what it belongs to."""

import functools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from craftmaps import CraftClassifier, CraftMap, CraftRegressor, Exponential, Polynomial, RandomMaclaurin, load_model
from craftmaps.learners.persistence.container import ModelFileError, read, write
from craftmaps.shaping.row_features import RowFeatures, same

SETTINGS = {
    "kernel": Polynomial(2),
    "n_components": 32,
    "metric": None,
    "cv": 3,
    "alphas": [1e-4, 1e-2],
    "random_state": 0,
}
X = np.random.default_rng(0).normal(size=(240, 6))
Y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * X[:, 2], [-0.4, 0.4])
FRAME = pd.DataFrame(X, columns=list("abcdef"))


def model(**settings):
    return CraftClassifier(**SETTINGS | settings)


def test_rows_that_wait_are_copies():
    """A generator may fill the same arrays again and again."""
    room, labels = np.empty((40, 6)), np.empty(40, int)

    def blocks():
        for start in range(0, 240, 40):
            room[:], labels[:] = X[start : start + 40], Y[start : start + 40]
            yield room, labels

    reused = model(metric="covariance").fit_stream(blocks())
    fresh = model(metric="covariance").fit_stream((X[s : s + 40], Y[s : s + 40]) for s in range(0, 240, 40))
    np.testing.assert_array_equal(reused.coef_, fresh.coef_)


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda m: m.fit(np.c_[X, X], np.zeros(240)), "at least 2 classes"),
        (lambda m: m.set_params(cv="abc").fit(np.c_[X, X], Y), "cv must be an int, a list"),
        (lambda m: m.set_params(metric="covariance").fit(np.c_[X, X] * 1e200, Y), "add up to a number"),
        (lambda m: m.fit(pd.DataFrame(X * np.nan, columns=list("uvwxyz")), Y), "NaN"),
        (lambda m: m.partial_fit(FRAME, Y.astype(str)), "all text or all numbers"),
        (lambda m: m.partial_fit(FRAME, Y, sample_weight=-np.ones(240)), "sample_weight must be"),
    ],
)
def test_a_refusal_leaves_the_model_that_was_there(refused, words):
    fitted = model().fit(FRAME, Y)
    before = fitted.decision_function(FRAME)
    with pytest.raises((ValueError, TypeError), match=words):
        refused(fitted)
    np.testing.assert_array_equal(fitted.decision_function(FRAME), before)
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    fitted.set_params(metric=None, cv=3).partial_fit(FRAME, Y)
    assert fitted.n_rows_seen_ == 480


def test_a_refused_block_is_not_counted_when_it_comes_again():
    learner = model(feature_map="tensorsketch", kernel=Exponential())
    with pytest.raises(TypeError, match="kernel must be"):
        learner.partial_fit(X, Y)
    assert learner.set_params(kernel=Polynomial(2)).partial_fit(X, Y).n_rows_seen_ == 240
    with pytest.raises(TypeError, match=r"Block 0 of the stream: kernel .* The 0 rows before it are kept"):
        model(feature_map="tensorsketch", kernel=Exponential()).fit_stream([(X, Y)])


@pytest.mark.parametrize("block", [None, 5, {"X": X, "y": Y}, (X,)])
def test_a_block_that_is_none_is_named(block):
    with pytest.raises((ValueError, TypeError), match="Block 1 of the stream"):
        model().fit_stream([(X, Y), block])


class InterruptedAt:
    """Maps a few blocks and then stands for a key pressed, once."""

    def __init__(self, n_blocks):
        self.exact, self.n_left = RowFeatures.__call__, n_blocks

    def __get__(self, features, kind=None):
        return lambda *arguments: self(features, *arguments)

    def __call__(self, features, *arguments):
        self.n_left -= 1
        if self.n_left == 0:
            raise KeyboardInterrupt
        return self.exact(features, *arguments)


@pytest.mark.parametrize("then", ["predict", "partial_fit", "merge", "be merged"])
def test_an_interruption_while_waiting_rows_are_counted_loses_none(then, monkeypatch):
    learner = model(metric="covariance")
    for start in range(0, 120, 40):
        learner.partial_fit(X[start : start + 40], Y[start : start + 40])
    monkeypatch.setattr(RowFeatures, "__call__", InterruptedAt(2))
    with pytest.raises(KeyboardInterrupt):
        learner.predict(X)
    assert learner.n_rows_seen_ == 120
    if then == "predict":
        whole = model(metric="covariance").fit_stream((X[s : s + 40], Y[s : s + 40]) for s in range(0, 120, 40))
        np.testing.assert_array_equal(learner.predict_proba(X), whole.predict_proba(X))
    elif then == "partial_fit":
        learner.partial_fit(X[120:], Y[120:])
    else:
        other = model(metric="covariance").partial_fit(X[120:], Y[120:])
        learner = learner.merge(other) if then == "merge" else other.merge(learner)
    n_rows = 120 if then == "predict" else 240
    assert learner.finish().tally_.statistic.n_rows == learner.n_rows_seen_ == len(learner.tally_.held_out) == n_rows


def test_an_interrupted_fit_leaves_no_half_of_a_model(monkeypatch):
    learner = model(batch_rows=50).fit(X, Y)
    monkeypatch.setattr(RowFeatures, "__call__", InterruptedAt(3))
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, Y)
    with pytest.raises(NotFittedError):
        learner.predict(X)


def test_a_refused_merge_changes_nothing():
    settings = SETTINGS | {"metric": "covariance"}
    one = CraftRegressor(**settings).partial_fit(X, X[:, 0])
    other = CraftRegressor(**settings).fit(X * [1, 9, 1, 1, 1, 1], X[:, :2])
    with pytest.raises(ValueError, match="must have 1 targets"):
        one.merge(other)
    assert isinstance(one.choices_.metric, str)  # not settled
    fresh = CraftRegressor(**settings).partial_fit(X, X[:, 0])
    np.testing.assert_allclose(one.predict(X), fresh.predict(X), rtol=0, atol=1e-12)


def test_a_pass_that_waits_merged_with_itself(monkeypatch):
    monkeypatch.setattr(CraftClassifier, "settle_rows", 400)
    twice = model(metric="covariance").partial_fit(X, Y)
    twice.merge(twice)
    assert twice.tally_.statistic.n_rows == twice.n_rows_seen_ == 480


def test_functions_are_not_alike():
    one, two = (functools.partial(pow, n) for n in (2, 3))
    assert not same(one, two)
    assert same(one, one)
    assert same(Polynomial(2), Polynomial(2))
    first, second = (model(metric=FunctionTransformer(f)).fit(X, Y) for f in (np.sin, np.cos))
    with pytest.raises(ValueError, match="must have the same metric"):
        first.merge(second)


def test_a_parameter_of_the_kernel_is_set_on_a_copy(tmp_path):
    kernel = Polynomial(2)
    fitted = model(kernel=kernel, feature_map="landmarks").fit(X, Y)
    before = fitted.decision_function(X)
    model(kernel=kernel).set_params(kernel__degree=5)
    assert kernel.degree == 2
    fitted.set_params(kernel__degree=5)
    fitted.save(tmp_path / "model.craft", dtype=np.float64)
    for again in (fitted, load_model(tmp_path / "model.craft")):
        np.testing.assert_array_equal(again.decision_function(X), before)


@pytest.mark.parametrize("through", ["file", "checkpoint"])
def test_names_of_columns_are_kept(tmp_path, through):
    if through == "file":
        model().fit(FRAME, Y).save(tmp_path / "model")
        again = load_model(tmp_path / "model")
    else:

        def broken():
            yield FRAME[:120], Y[:120]
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            model().fit_stream(broken(), checkpoint=tmp_path / "state", every=1)
        again = model().fit_stream([(FRAME[:120], Y[:120]), (FRAME[120:], Y[120:])], checkpoint=tmp_path / "state")
    assert again.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(FRAME[list("fedcba")])


def test_notes_and_curves_belong_to_one_model(tmp_path):
    fitted = model().fit(X, Y)
    for notes in ({"array": 5}, {"n": {"array": "weights"}}, "text", {"json": "x"}, None):
        fitted.save(tmp_path / "model", notes=notes)
        again = load_model(tmp_path / "model")
        assert again.notes_ == notes
    fitted.save(tmp_path / "model", notes="old")
    again = load_model(tmp_path / "model").set_params(cv=3, alphas=[1e-3, 1e-2]).fit(X, Y)
    assert not hasattr(again, "notes_")
    assert not hasattr(fitted.set_params(cv=None, alphas=1e-3).fit(X, Y), "cv_results_")


def test_a_loaded_model_says_so(tmp_path):
    model().fit(X, Y).save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for refused in (
        loaded.finish,
        lambda: loaded.merge(load_model(tmp_path / "model")),
        lambda: loaded.partial_fit(X, Y),
    ):
        with pytest.raises(ValueError, match=r"loaded from a file .* cannot go on learning"):
            refused()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"code": None}, "code must"),
        ({"code": 5}, "code must"),
        ({"cv": []}, "at least one split"),
        ({"cv": [1, 2]}, "cv must be an int, a list of"),
        ({"alphas": "abc"}, "alphas must be"),
    ],
)
def test_parameters_are_checked_before_they_are_used(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model(**settings).fit(X, Y)


def test_splits_are_of_the_rows_of_fit_alone():
    half = np.arange(240) < 120
    fitted = model(cv=[(np.flatnonzero(half), np.flatnonzero(~half))], alphas=np.array(1e-3)).fit(X, Y)
    with pytest.raises(ValueError, match="cv must be an int to choose alpha again"):
        fitted.finish()


def test_classes_named_beforehand_count_when_choices_are_made(monkeypatch):
    monkeypatch.setattr(CraftClassifier, "settle_rows", 100)
    late = Y == 2
    learner = model(kernel="auto", metric="auto", code=2 * np.eye(3) - 1)
    learner.partial_fit(X[~late], Y[~late], classes=[0, 1, 2]).partial_fit(X[late], Y[late])
    assert learner.predict(X).shape == (240,)


def test_a_scaler_that_works_in_place_does_not_change_held_out_rows():
    one, two = (model(metric=StandardScaler(copy=copy)).fit(X * 9 + 4, Y) for copy in (True, False))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_a_given_map_has_its_own_kernel():
    fitted = model(kernel="auto", normalize=True, feature_map=RandomMaclaurin(Polynomial(2), 32)).fit(X, Y)
    assert fitted.choices_.kernel.degree == 2


def test_a_generator_as_random_state_can_be_resumed(tmp_path):
    blocks = [(X[:120], Y[:120]), (X[120:], Y[120:])]

    def broken():
        yield blocks[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model(random_state=np.random.RandomState(3)).fit_stream(broken(), checkpoint=tmp_path / "state", every=1)
    resumed = model(random_state=np.random.RandomState(9)).fit_stream(blocks, checkpoint=tmp_path / "state")
    whole = model(random_state=np.random.RandomState(3)).fit_stream(blocks)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)


def test_a_resumed_pass_knows_how_its_choices_were_made(tmp_path, monkeypatch):
    monkeypatch.setattr(CraftClassifier, "settle_rows", 100)
    blocks = [(X[:120], Y[:120]), (X[120:], Y[120:])]

    def broken():
        yield blocks[0]
        raise KeyboardInterrupt

    automatic = {"kernel": "auto", "metric": "auto"}
    with pytest.raises(KeyboardInterrupt):
        model(**automatic).fit_stream(broken(), checkpoint=tmp_path / "state", every=1)
    resumed = model(**automatic).fit_stream(blocks, checkpoint=tmp_path / "state")
    whole = model(**automatic).fit_stream(blocks)
    assert repr(resumed.choices_) == repr(whole.choices_)
    assert resumed.choices_.trials


def test_a_damaged_checkpoint_is_named_and_harms_nothing(tmp_path):
    fitted = model().fit(X, Y)

    def broken():
        yield X, Y
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model().fit_stream(broken(), checkpoint=tmp_path / "state", every=1)
    header = read(tmp_path / "state")
    del header["n_features"], header["version"]
    write(tmp_path / "state", header)
    with pytest.raises(ModelFileError, match="state has a damaged header"):
        fitted.fit_stream([(X, Y)], checkpoint=tmp_path / "state")
    assert fitted.score(X, Y) > 0.5


class CubicKernel(Polynomial):
    """A kernel that this library does not know."""


@pytest.mark.parametrize(
    "settings",
    [{"kernel": CubicKernel(2)}, {"feature_map": CraftMap(Polynomial(2), 4, up=MinMaxScaler())}],
    ids=["kernel", "up-map"],
)
def test_what_could_not_be_read_back_is_not_saved(tmp_path, settings):
    with pytest.raises((TypeError, ValueError), match=r"can be saved|cannot be saved"):
        model(**settings).fit(X, Y).save(tmp_path / "model")


def test_sparse_landmarks_and_a_numpy_size_are_saved(tmp_path):
    rows = csr_matrix(np.where(X > 0, X, 0))
    fitted = model(feature_map="landmarks", code="random", code_size=np.int64(16)).fit(rows, Y)
    fitted.save(tmp_path / "model", dtype=np.float64)
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(rows), fitted.predict(rows))
