"""A map needs its module and an entry in the catalogue: learners, plans and model files then know it."""

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

import craftmaps
from craftmaps import CraftClassifier, CraftMap, Polynomial, TensorSketch, load_model, plan
from craftmaps._rows.randomness import signs
from craftmaps.learners.persistence.container import ModelFileError, read, write
from craftmaps.learners.persistence.fitted_parts import refuse_foreign
from craftmaps.maps.catalogue import CATALOGUE, MAP_NAMES, SAVED_MAPS, MapEntry, make_map
from craftmaps.maps.drawing_costs import DrawingCost
from craftmaps.maps.feature_map import KernelMap
from craftmaps.maps.moments import EstimateMoments, pairs_of
from tests.catalogue import MAPS

X = np.random.default_rng(0).normal(size=(80, 5))
Y = (X[:, 0] > 0).astype(int)


def test_the_names():
    assert MAP_NAMES == ("craft", "maclaurin", "tensorsketch", "landmarks")
    public = {type(m).__name__ for m in MAPS.values()} & set(craftmaps.__all__) - {"CovarianceMetric"}
    assert set(SAVED_MAPS) == public


@pytest.mark.parametrize("name", MAP_NAMES)
def test_a_name_makes_a_map(name):
    kernel = Polynomial(2)
    feature_map = make_map(name, kernel, 20, up_components=50, seed=7)
    assert type(feature_map) is CATALOGUE[name].map_class
    assert feature_map.kernel is kernel
    assert (feature_map.n_components, feature_map.random_state) == (20, 7)
    assert getattr(feature_map, "up_components", 50) == 50
    assert not [attribute for attribute in vars(feature_map) if attribute.endswith("_")]
    assert feature_map.fit_transform(X).shape == (80, 20)


def test_what_names_stand_for():
    assert make_map("maclaurin", Polynomial(), 20, seed=0).complex_weights is True
    assert make_map("craft", Polynomial(), 20, seed=0).up_components is None


def test_plans_compare_all_maps_that_can_estimate_the_kernel():
    def families(kernel, **options):
        return {type(choice.feature_map).__name__ for choice in plan.plan(X, kernel, seconds=1, **options)}

    assert families(Polynomial(2), landmarks=False) == {"CraftMap", "RandomMaclaurin", "TensorSketch"}
    assert families(craftmaps.Exponential(0.1), landmarks=False) == {"CraftMap", "RandomMaclaurin"}
    many = np.random.default_rng(0).normal(size=(400, 5))
    assert "LandmarkMap" in {type(c.feature_map).__name__ for c in plan.plan(many, Polynomial(2), seconds=1)}


@pytest.mark.parametrize(
    "feature_map",
    [
        CraftMap(down="gaussian"),
        CraftMap(up=CraftMap()),
        CraftMap(up=craftmaps.LandmarkMap()),
        type("Subclass", (TensorSketch,), {})(),
    ],
    ids=["down", "nested", "landmarks", "subclass"],
)
def test_maps_that_files_cannot_describe_are_refused_before_a_run(feature_map):
    with pytest.raises(TypeError, match=r"can be saved|cannot be saved"):
        refuse_foreign(feature_map)


class Flips(NamedTuple):
    flips_: int


class SignFlips(KernelMap):
    """A small map of the linear kernel: it flips random columns, and then the first `flips_` columns."""

    _State = Flips

    def __init__(self, kernel=Polynomial(1, coef0=0.0), n_components=5, *, random_state=None):  # noqa: B008
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _check_parameters(self):
        if self.n_components != 5:
            raise ValueError(f"n_components must be 5, got {self.n_components}.")

    def _allocate(self, rows):
        self.flips_ = int(rows.X.shape[0] % 5)

    def _draw(self):
        super()._draw()
        self._signs = signs(self.seed_, "signs", (self.n_features_in_,))
        self._signs[: self.flips_] *= -1

    def _checked_state(self, fields, width):
        return Flips(fields.whole("flips_", 0, width))

    def _drawing_costs(self):
        return [DrawingCost("Flips", self.n_features_in_, 1000)]

    def _transform_rows(self, X):
        return np.asarray(X * self._signs, dtype=X.dtype)

    def _estimate_moments(self, X, Y=None):
        pairs = pairs_of(X, Y)
        return EstimateMoments(pairs.dot, np.zeros_like(pairs.dot), pairs.N, pairs.Q)

    def _operations(self, density):
        return 1.0

    @property
    def _n_features_out(self):
        return 5


@pytest.fixture
def model_path(tmp_path, monkeypatch):
    """A model with a map that only this test has put into the catalogue."""
    monkeypatch.setitem(SAVED_MAPS, "SignFlips", SignFlips)
    monkeypatch.setitem(CATALOGUE, "flips", MapEntry(SignFlips, "SignFlips", most_components=0))
    model = CraftClassifier(
        Polynomial(1), 5, feature_map=SignFlips(), metric=None, alphas=1e-2, cv=None, random_state=0
    ).fit(X[:78], Y[:78])
    model.save(tmp_path / "model.craft", dtype=np.float64)
    loaded = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    return tmp_path / "model.craft"


def test_a_new_map_is_saved_and_rebuilt(model_path):
    plain = read(model_path)["lift"]["feature_map"]
    assert (plain["class"], plain["learned"]) == ("SignFlips", {"flips_": 3})
    assert clone(make_map("flips", Polynomial(1), 5, seed=3)).fit_transform(X).shape == (80, 5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plain: plain["learned"].update(flips_=6), "learned.flips_ must be a whole number from 0 to 5"),
        (lambda plain: plain["learned"].update(flips_=True), "learned.flips_ must be"),
        (lambda plain: plain["learned"].update(other=1), "learned has an unknown value 'other'"),
        (lambda plain: plain["learned"].clear(), "learned.flips_ is missing"),
        (lambda plain: plain["parameters"].update(n_components=6), "parameters: n_components must be 5, got 6"),
        (lambda plain: plain["parameters"].update(n_components=True), "n_components must be a whole number"),
        (lambda plain: plain["parameters"].update(up="x"), "parameters has an unknown value 'up'"),
        (lambda plain: plain["parameters"].pop("kernel"), "parameters.kernel is missing"),
        (lambda plain: plain.update(n_features_in_=2000), "Flips would take 2000 numbers, more than the 1000"),
    ],
)
def test_a_new_map_is_checked(model_path, change, words):
    header = read(model_path)
    change(header["lift"]["feature_map"])
    write(model_path, header)
    with pytest.raises(ModelFileError) as refused:
        load_model(model_path)
    assert words in str(refused.value)
