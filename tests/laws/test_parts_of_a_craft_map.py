"""A CraftMap takes any transformer as up and any random projection as down, and does not change them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from craftmaps import CraftMap, Exponential, LandmarkMap, RandomMaclaurin, SubsampledHadamard, TensorSketch
from tests.comparison import assert_rows_close
from tests.loops.naive import up_then_down

UPS = {
    "maclaurin": RandomMaclaurin(n_components=100),
    "rademacher": RandomMaclaurin(n_components=100, projection="rademacher"),
    "tensorsketch": TensorSketch(n_components=100),
    "landmarks": LandmarkMap(Exponential(), n_components=40),
    "scikit-learn's sketch": PolynomialCountSketch(n_components=100),
    "scikit-learn's landmarks": Nystroem(kernel="poly", n_components=40),
    "monomials": PolynomialFeatures(2),
    "a pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(2)),
}
DOWNS = {
    "hadamard": SubsampledHadamard(),
    "gaussian": GaussianRandomProjection(),
    "sparse": SparseRandomProjection(),
    "sparse output": SparseRandomProjection(dense_output=False, density=0.3),
}


def check(craft_map, X):
    Z = craft_map.fit_transform(X)
    assert Z.shape == (60, 16)
    assert_rows_close(Z, up_then_down(craft_map, X), 1e-12)
    np.testing.assert_array_equal(clone(craft_map).fit_transform(X), Z)
    other = clone(craft_map).set_params(random_state=1).fit_transform(X)
    assert not np.array_equal(other, Z)


@pytest.mark.parametrize("name", UPS)
@pytest.mark.parametrize("down", ["hadamard", "gaussian"])
def test_transformers_up(rows, name, down):
    check(CraftMap(n_components=16, up=clone(UPS[name]), down=down, random_state=0), rows)


@pytest.mark.parametrize("name", DOWNS)
@pytest.mark.parametrize("up", ["maclaurin", "tensorsketch"])
def test_projections_down(rows, name, up):
    check(CraftMap(n_components=16, up=up, down=clone(DOWNS[name]), random_state=0), rows)


@pytest.mark.parametrize("name", UPS)
def test_what_is_given_is_neither_fitted_nor_changed(rows, name):
    parts = clone(UPS[name]), SubsampledHadamard()
    before = [str(part.get_params()) for part in parts]
    CraftMap(n_components=16, up=parts[0], down=parts[1], random_state=0).fit(rows)
    assert [str(part.get_params()) for part in parts] == before
    assert not [attribute for part in parts for attribute in vars(part) if attribute.endswith("_")]


def test_a_seed_of_a_part_is_obeyed(rows):
    craft_map = CraftMap(n_components=16, up=TensorSketch(n_components=64, random_state=5), down=SubsampledHadamard())
    first, second = (clone(craft_map).set_params(random_state=seed).fit(rows) for seed in (0, 1))
    assert first.up_.seed_ == second.up_.seed_ == 5
    assert first.down_.seed_ != second.down_.seed_
    expected = TensorSketch(n_components=64, random_state=5).fit_transform(rows)
    np.testing.assert_array_equal(first.up_.transform(rows), expected)


def test_a_given_up_map_keeps_its_own_kernel_and_width(rows):
    up = RandomMaclaurin(Exponential(), n_components=50, random_state=0)
    craft_map = CraftMap(n_components=16, up=up, up_components=1000).fit(rows)
    assert (type(craft_map.up_.kernel), craft_map.up_.n_components) == (Exponential, 50)
    assert craft_map.n_kept_ == 0
