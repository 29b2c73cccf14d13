"""Tallies and models that go on learning come back from files as they were; hostile files are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from craftmaps import (
    CovarianceMetric,
    CraftClassifier,
    CraftMap,
    CraftRegressor,
    GradientMetric,
    LandmarkMap,
    MaclaurinSeries,
    Polynomial,
    load_model,
    load_tally,
)
from craftmaps.learners.persistence.container import ModelFileError, read, write

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 5))
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(X[:, 0] * X[:, 1], [-0.4, 0.4])]
NUMBERS = X[:, 0] * X[:, 1]
SMALL = {"n_components": 24, "cv": 3, "alphas": [1e-4, 1e-2], "random_state": 7}
EXPLICIT = SMALL | {"kernel": Polynomial(2), "metric": None}
CASES = {
    "classes": (CraftClassifier(**EXPLICIT), LABELS),
    "automatic": (CraftClassifier(**SMALL), LABELS),
    "numbers": (CraftRegressor(**EXPLICIT), NUMBERS),
    "two numbers": (CraftRegressor(**EXPLICIT), np.c_[NUMBERS, X[:, 0]]),
    "packed": (CraftClassifier(**EXPLICIT, packed=True), LABELS),
    "nothing held out": (CraftClassifier(**EXPLICIT | {"cv": None, "alphas": 1e-3}), LABELS),
    "a random code": (CraftClassifier(**EXPLICIT, code="random", code_size=12, decoding="loss"), LABELS),
    "landmarks": (CraftClassifier(**EXPLICIT | {"feature_map": "landmarks", "n_components": 15}), LABELS),
}


def same_statistic(one, other):
    for name in ("cross", "feature_sums", "target_sums", "weight", "n_rows"):
        np.testing.assert_array_equal(getattr(one.statistic, name), getattr(other.statistic, name))
    np.testing.assert_array_equal(np.tril(one.statistic.gram), np.tril(other.statistic.gram))


@pytest.mark.parametrize("case", CASES)
def test_a_tally_comes_back_bit_for_bit(tmp_path, case):
    model, y = CASES[case]
    model.settle(X, y)
    first, second = model.tally(X[:150], y[:150]), model.tally(X[150:], y[150:])
    first.save(tmp_path / "first.tally", notes={"day": "monday"})
    again = load_tally(tmp_path / "first.tally")
    same_statistic(again, first)
    assert again.origin.notes == {"day": "monday"}
    expected = model.finish(first + second)
    coef, alpha = expected.coef_, expected.alpha_
    np.testing.assert_array_equal(model.finish(again + second).coef_, coef)
    assert model.alpha_ == alpha
    # A tally knows what it is for: its file is enough to make the model.
    (again + second).save(tmp_path / "both.tally")
    alone = load_model(tmp_path / "both.tally")
    np.testing.assert_array_equal(alone.coef_, coef)
    np.testing.assert_array_equal(alone.predict(X), model.predict(X))


@pytest.mark.parametrize("case", CASES)
def test_a_model_with_its_tally_goes_on_learning(tmp_path, case):
    model, y = CASES[case]
    model.fit(X[:150], y[:150]).save(tmp_path / "model.craft", dtype=np.float64, tally=True)
    loaded = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert repr(loaded.choices_) == repr(model.choices_)
    loaded.partial_fit(X[150:], y[150:])
    model.partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert loaded.n_rows_seen_ == 240


def test_a_recipe_is_settled_and_has_no_rows(tmp_path):
    model = CraftClassifier(**SMALL).settle(X, LABELS)
    model.tally_.emptied().save(tmp_path / "recipe.craft")
    elsewhere = load_model(tmp_path / "recipe.craft")
    assert elsewhere.n_rows_seen_ == 0
    tally = elsewhere.tally(X[:100], LABELS[:100]) + model.tally(X[100:], LABELS[100:])
    np.testing.assert_array_equal(model.finish(tally).predict(X), elsewhere.finish(tally).predict(X))


def test_forgotten_rows_are_in_no_file(tmp_path):
    gone = X[:20]
    model = CraftClassifier(**EXPLICIT).fit(X, LABELS)
    model.save(tmp_path / "before", tally=True)
    model.forget(gone, LABELS[:20]).save(tmp_path / "after", tally=True)
    before, after = ((tmp_path / name).read_bytes() for name in ("before", "after"))
    assert all(row.tobytes() in before for row in gone)
    assert not any(row.tobytes() in after for row in gone)


@pytest.mark.parametrize(("dtype", "bytes_per_cell"), [(np.float64, 4), (np.float32, 2)])
def test_one_triangle_is_stored(tmp_path, dtype, bytes_per_cell):
    model = CraftClassifier(**EXPLICIT | {"n_components": 600, "holdout_rows": 2}).fit(X, LABELS)
    model.tally_.save(tmp_path / "day.tally", dtype=dtype)
    size = (tmp_path / "day.tally").stat().st_size
    assert bytes_per_cell * 600**2 < size < 1.1 * bytes_per_cell * 600**2
    again, expected = load_tally(tmp_path / "day.tally"), model.tally_.statistic
    precision = np.finfo(dtype).eps / 2 if dtype == np.float32 else 0
    np.testing.assert_allclose(np.tril(again.statistic.gram), np.tril(expected.gram), rtol=precision, atol=0)
    assert again.statistic.rounding == max(np.finfo(dtype).eps, expected.rounding)


def test_sums_that_do_not_fit_single_precision_are_not_written(tmp_path):
    model = CraftRegressor(**EXPLICIT | {"normalize": 1.0, "kernel": Polynomial(1), "feature_map": None})
    tally = model.fit(X * 1e25, NUMBERS).tally_
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="do not fit float32: save them as float64"):
        tally.save(tmp_path / "day.tally", dtype=np.float32)
    with pytest.raises(ValueError, match="dtype must be float64 or float32, got 'float16'"):
        tally.save(tmp_path / "day.tally", dtype="float16")
    assert not list(tmp_path.iterdir())


def test_a_whole_square_of_an_earlier_version_is_read(tmp_path):
    model = CraftClassifier(**EXPLICIT).fit(X, LABELS)
    model.tally_.save(tmp_path / "new.tally")
    header = read(tmp_path / "new.tally")
    header["tally"]["statistic"]["gram"] = model.tally_.statistic.to_plain()["gram"]
    assert list(header["tally"]["statistic"]["gram"]) == ["square"]
    write(tmp_path / "old.tally", header)
    same_statistic(load_tally(tmp_path / "old.tally"), model.tally_)


PARAMETERS = {
    "plain": EXPLICIT,
    "automatic": SMALL,
    "a generator": SMALL | {"random_state": np.random.RandomState(3)},
    "no seed": EXPLICIT | {"random_state": None},
    "a metric": EXPLICIT | {"metric": CovarianceMetric(0.5, 3, normalize=False)},
    "a gradient metric": EXPLICIT | {"metric": GradientMetric(n_components=3), "normalize": 0.5},
    "a scaler": EXPLICIT | {"metric": StandardScaler()},
    "a map": EXPLICIT | {"feature_map": CraftMap(Polynomial(3), 16, up_components=64, random_state=1)},
    "landmarks": EXPLICIT | {"feature_map": LandmarkMap(MaclaurinSeries([0.5, 1.0, 0.2]), 12, random_state=1)},
    "a code": EXPLICIT | {"code": np.array([[1.0, 1, -1], [-1, 1, 1], [1, -1, 1]])},
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_a_clone_of_a_loaded_model_learns_the_same(tmp_path, case):
    model = CraftClassifier(**PARAMETERS[case]).fit(X, LABELS)
    model.save(tmp_path / "model.craft", dtype=np.float64)
    loaded = load_model(tmp_path / "model.craft")
    assert loaded.random_state == model.seed_
    shown = {"random_state"}
    mine, theirs = (estimator.get_params(deep=False) for estimator in (model, loaded))
    assert all(repr(mine[name]) == repr(theirs[name]) for name in mine if name not in shown)
    np.testing.assert_array_equal(clone(loaded).fit(X, LABELS).coef_, model.coef_)


def test_names_of_columns_stay_with_a_tally(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = CraftClassifier(**EXPLICIT).settle(frame, LABELS)
    model.tally(frame, LABELS).save(tmp_path / "named.tally")
    loaded = load_model(tmp_path / "named.tally")
    assert loaded.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.tally(frame[list("edcba")], LABELS)


def test_a_model_without_its_tally_says_so(tmp_path):
    CraftClassifier(**EXPLICIT).fit(X, LABELS).save(tmp_path / "model.craft")
    with pytest.raises(ModelFileError, match=r"model.craft is a model without its tally: save it with tally=True"):
        load_tally(tmp_path / "model.craft")


DAMAGED = {
    "a smaller square": (
        lambda h: h["tally"]["statistic"].update(gram={"square": np.eye(7)}),
        "gram.square must be",
    ),
    "a smaller triangle": (
        lambda h: h["tally"]["statistic"]["gram"].update(triangle=np.ones(299)),
        "gram.triangle must be an array of 300 numbers",
    ),
    "a triangle of NaN": (
        lambda h: h["tally"]["statistic"]["gram"].update(triangle=np.full(300, np.nan)),
        "gram.triangle must consist of finite numbers",
    ),
    "a triangle of whole numbers": (
        lambda h: h["tally"]["statistic"]["gram"].update(triangle=np.ones(300, np.int64)),
        "gram.triangle must be an array of 300 numbers as float64 or float32",
    ),
    "a triangle and a square": (
        lambda h: h["tally"]["statistic"]["gram"].update(square=np.eye(24)),
        "gram has an unknown value 'square'",
    ),
    "sums of squares below zero": (
        lambda h: h["tally"]["statistic"]["gram"].update(triangle=np.full(300, -1.0)),
        "sums of squares below zero",
    ),
    "a triangle of nothing": (
        lambda h: h["tally"]["statistic"].update(
            gram={"triangle": np.zeros(0)}, feature_sums=np.zeros(0), cross=np.zeros((0, 3))
        ),
        "at least one feature",
    ),
    "another width": (lambda h: h["tally"].update(width=2**20), "must be of the width"),
    "no map": (lambda h: h["tally"].update(lift=None), "lift must be"),
    "a parameter of nobody": (lambda h: h["parameters"].update(verbos=1), "verbos must be a parameter"),
    "a class of nobody": (
        lambda h: h["parameters"].update(metric={"class": "os.system", "parameters": {}}),
        "metric.class must be",
    ),
    "a bad parameter": (lambda h: h["parameters"].update(n_components=-3), "damaged"),
    "labels of no class": (
        lambda h: h["tally"]["held_out"]["sample"]["y"].__setitem__(0, 99),
        "labels must be from 0 to 2",
    ),
    "neither model nor tally": (lambda h: h.pop("tally"), "neither a model nor a tally"),
    "another model": (lambda h: h.update(model="Ridge"), "model must be one of"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_tallies_are_refused(tmp_path, case):
    change, words = DAMAGED[case]
    path = tmp_path / "day.tally"
    CraftClassifier(**EXPLICIT).fit(X, LABELS).tally_.save(path)
    header = read(path)
    change(header)
    write(path, header)
    with pytest.raises(ModelFileError, match=words):
        load_tally(path)


def test_an_empty_tally_of_enormous_width_takes_no_memory(tmp_path):
    path = tmp_path / "recipe.craft"
    CraftClassifier(**EXPLICIT | {"feature_map": "tensorsketch"}).settle(X, LABELS).tally_.save(path)
    header = read(path)
    header["tally"]["width"] = 2**22
    header["tally"]["lift"]["feature_map"]["parameters"]["n_components"] = 2**22
    write(path, header)
    with pytest.raises(ModelFileError, match="a statistic of 4194304 features takes"):
        load_tally(path)


def test_a_model_beside_the_tally_of_another(tmp_path):
    one, other = (CraftClassifier(**EXPLICIT | {"random_state": seed}).fit(X, LABELS) for seed in (0, 1))
    one.save(tmp_path / "one", tally=True)
    other.save(tmp_path / "other", tally=True)
    header = read(tmp_path / "one")
    header["tally"] = read(tmp_path / "other")["tally"]
    write(tmp_path / "both", header)
    with pytest.raises(ModelFileError, match="not solved from the tally"):
        load_model(tmp_path / "both")
