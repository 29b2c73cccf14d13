"""The fused loop is the up-projection followed by the down-projection, inside its own buffers."""

import numpy as np
import pytest

from craftmaps import CraftMap, Exponential, MaclaurinSeries, Polynomial, RandomMaclaurin, SubsampledHadamard
from tests.comparison import TOLERANCE, assert_rows_close
from tests.loops.conftest import FENCE
from tests.loops.naive import folded_matrix, maclaurin_features, subsampled_matrix, up_then_down

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
WEIGHTS = pytest.mark.parametrize("complex_weights", [False, True], ids=["real", "complex"])
DOWNS = pytest.mark.parametrize("down", ["hadamard", SubsampledHadamard()], ids=["folded", "subsampled"])


@PRECISIONS
@DOWNS
@pytest.mark.parametrize("n_components", [1, 2, 7, 16, 33, 100])
@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(5, coef0=0.0), Exponential(2.0)])
def test_fused_equals_up_then_down(rows, dtype, n_components, kernel, down):
    craft_map = CraftMap(kernel, n_components, down=down, random_state=n_components).fit(rows)
    assert craft_map._is_fused
    X = rows.astype(dtype)
    expected = up_then_down(craft_map, X.astype(np.float64))
    # Relative to the up-features: a projection to few components may be short by chance.
    scale = np.linalg.norm(craft_map.up_.transform(rows), axis=1)
    distance = np.linalg.norm(craft_map.transform(X) - expected, axis=1)
    assert (distance <= TOLERANCE[dtype] * scale).all()


@DOWNS
def test_fused_equals_the_explicit_matrices(rows, down):
    craft_map = CraftMap(Polynomial(3, coef0=0.1), 40, down=down, random_state=0).fit(rows)
    Z = maclaurin_features(craft_map.up_, rows)
    n_down = Z.shape[1] - craft_map.n_kept_
    matrix = (folded_matrix if down == "hadamard" else subsampled_matrix)(craft_map.down_)
    expected = np.concatenate([Z[:, :n_down] @ matrix, Z[:, n_down:]], axis=1)
    assert_rows_close(craft_map.transform(rows), expected, 1e-12)


@pytest.mark.parametrize(
    ("kernel", "n_components", "n_kept"),
    [(Polynomial(3), 100, 13), (Polynomial(3), 12, 1), (MaclaurinSeries([0, 1, 1]), 100, 12), (Polynomial(0), 5, 0)],
)
def test_kept_columns_are_the_last_ones_of_the_up_map(rows, kernel, n_components, n_kept):
    craft_map = CraftMap(kernel, n_components, random_state=0).fit(rows)
    assert craft_map.n_kept_ == n_kept
    Z, up = craft_map.transform(rows), craft_map.up_.transform(rows)
    np.testing.assert_array_equal(Z[:, n_components - n_kept :], up[:, up.shape[1] - n_kept :])
    assert_rows_close(Z, up_then_down(craft_map, rows), 1e-12)


@WEIGHTS
@pytest.mark.parametrize("width", [1, 3, 12, 33])
@pytest.mark.parametrize("up_components", [13, 64, 325, 520])
@pytest.mark.parametrize("degrees", ["optimal", "geometric"])
@DOWNS
def test_the_loop_stays_inside_its_buffers(fences, rows, complex_weights, width, up_components, degrees, down):
    X = np.tile(rows, 3)[:, :width]
    up = RandomMaclaurin(
        Polynomial(3), up_components, degrees=degrees, complex_weights=complex_weights, exact_low_degrees=False
    )
    craft_map = CraftMap(n_components=64, up=up, down=down, random_state=1).fit(X)
    Z = craft_map.transform(X)
    assert fences() == 0
    assert_rows_close(Z, up_then_down(craft_map, X), 1e-12)


@WEIGHTS
@pytest.mark.parametrize("width", [1, 3, 12])
@DOWNS
def test_quadratic_columns_stay_inside_the_buffers(fences, rows, complex_weights, width, down):
    X = rows[:, :width]
    up = RandomMaclaurin(Polynomial(3), 130, complex_weights=complex_weights, exact_low_degrees="quadratic")
    craft_map = CraftMap(n_components=64, up=up, down=down, random_state=1).fit(X)
    Z = craft_map.transform(X)
    kept = CraftMap(Polynomial(3), 100, up_components="auto", down=down, random_state=1).fit(X)
    assert kept.n_kept_ >= width * (width + 1) // 2
    kept_features = kept.transform(X)
    assert fences() == 0
    assert_rows_close(Z, up_then_down(craft_map, X), 1e-12)
    assert_rows_close(kept_features, up_then_down(kept, X), 1e-12)


@PRECISIONS
def test_the_loops_of_its_parts_stay_inside_their_buffers(fences, rows, dtype):
    craft_map = CraftMap(Polynomial(3), 30, random_state=1).fit(rows)
    up_then_down(craft_map, rows.astype(dtype))
    assert fences() == 0


@PRECISIONS
@DOWNS
@pytest.mark.parametrize("columns", [slice(3, 43), slice(0, 80, 2)], ids=["a slice", "every other one"])
def test_into_columns_of_a_wider_array(rows, dtype, down, columns):
    X = np.tile(rows, (2, 1)).astype(dtype)
    craft_map = CraftMap(Polynomial(3), 40, down=down, random_state=1).fit(X)
    room = np.full((X.shape[0], 90), FENCE, dtype)
    craft_map._transform_into(X, room[:, columns])
    np.testing.assert_array_equal(room[:, columns], craft_map.transform(X))
    room[:, columns] = FENCE
    assert (room == FENCE).all()
