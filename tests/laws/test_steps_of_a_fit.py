"""Parameters, width and state rebuild a map, predictions need no draw, and failed calls change nothing."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.random_projection import SparseRandomProjection

from craftmaps import CraftMap, LandmarkMap, Polynomial, RandomMaclaurin
from craftmaps._rows.sampling import SampledRows, bottom_rows, first_rows
from craftmaps.maps.feature_map import fit_in_order
from craftmaps.plan import predicted_error
from tests.catalogue import KERNEL, MAPS, SEEDED

EVERY_MAP = pytest.mark.parametrize("name", MAPS)
SEEDED_MAPS = pytest.mark.parametrize("name", SEEDED)
WITHOUT_ROWS = pytest.mark.parametrize(
    "name", [name for name in SEEDED if not name.startswith("landmarks") and name != "craft gaussian"]
)


@SEEDED_MAPS
def test_parameters_width_and_state_rebuild_a_map(rows, name):
    feature_map = clone(MAPS[name]).set_params(random_state=np.random.RandomState(3)).fit(rows)
    expected, state = feature_map.transform(rows), feature_map._state()
    rebuilt = clone(feature_map).set_params(random_state=feature_map.seed_)
    rebuilt._restore(12, state)
    rebuilt._draw()
    assert rebuilt.n_features_in_ == 12
    np.testing.assert_array_equal(rebuilt.transform(rows), expected)


@SEEDED_MAPS
def test_a_state_has_the_attributes_of_the_map(rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    state = feature_map._state()
    assert all(getattr(feature_map, attribute) is value for attribute, value in state._asdict().items())


@WITHOUT_ROWS
def test_errors_and_costs_are_predicted_before_the_draw(rows, name):
    prepared, fitted = clone(MAPS[name]), clone(MAPS[name]).fit(rows)
    prepared._prepare(SampledRows(rows))
    assert not prepared._drawn_for
    assert predicted_error(prepared, rows) == predicted_error(fitted, rows)
    assert prepared._operations(0.5) == fitted._operations(0.5)


@pytest.mark.parametrize("name", [name for name in SEEDED if not name.startswith("craft")])
def test_a_fit_on_rows_in_the_order_of_their_hashes_is_a_fit_in_order(rows, name):
    ordered = rows[bottom_rows(rows, 60, seed=0)]
    expected = clone(MAPS[name]).fit(rows).transform(rows)
    np.testing.assert_array_equal(fit_in_order(clone(MAPS[name]), ordered).transform(rows), expected)


@pytest.mark.parametrize("size", [0, 1, 4, 5, 60])
@pytest.mark.parametrize("n_copies", [1, 30])
def test_first_rows_are_different(size, n_copies):
    """However many copies of a row come first."""
    X = np.concatenate([np.repeat([[1.0, 2.0]], n_copies, axis=0), np.arange(8.0).reshape(4, 2), [[1.0, 2.0]]])
    expected = [0, *range(n_copies, n_copies + 4)][:size]
    np.testing.assert_array_equal(first_rows(X, size, seed=0), expected)


@pytest.mark.parametrize("name", ["maclaurin", "landmarks", "craft"])
def test_a_fit_in_order_takes_the_first_rows(rows, name):
    """Rows behind the sample do not matter, even with smaller hashes; they are short, so the scale stays."""
    more = np.concatenate([rows[:10], np.tile(rows, (5, 1)) / np.arange(1.0, 301.0)[:, None]])
    one, other = (fit_in_order(clone(MAPS[name]), X) for X in (more, np.concatenate([more, rows / 3])))
    np.testing.assert_array_equal(one.transform(rows), other.transform(rows))


@EVERY_MAP
def test_transform_changes_nothing(rows, name):
    feature_map = clone(MAPS[name]).fit(rows)
    before = vars(feature_map).copy()
    feature_map.transform(rows)
    after = vars(feature_map)
    assert after.keys() == before.keys()
    assert all(after[attribute] is before[attribute] for attribute in before)


@SEEDED_MAPS
@pytest.mark.parametrize("refused", ["rows", "parameters", "seed"])
def test_a_refused_fit_changes_nothing(rows, name, refused):
    feature_map = clone(MAPS[name]).fit(rows)
    if refused == "parameters":
        feature_map.n_components = -1
    elif refused == "seed":
        feature_map.random_state = "seed"
    before = vars(feature_map).copy()
    for fit in (clone(feature_map).fit, feature_map.fit, lambda X: fit_in_order(feature_map, X)):
        with pytest.raises(ValueError, match=r"NaN|n_components|random_state"):
            fit(np.full((3, 5), np.nan if refused == "rows" else 1.0))
    after = vars(feature_map)
    assert after.keys() == before.keys()
    assert all(after[attribute] is before[attribute] for attribute in before)


def test_a_map_that_fails_to_allocate_changes_nothing(rows):
    feature_map = RandomMaclaurin(Polynomial(7), 40, random_state=0).fit(rows)
    before = vars(feature_map).copy()
    with pytest.raises(ValueError, match="overflow"):
        feature_map.fit(1e40 * rows[:, :5])
    assert vars(feature_map) == before


def test_a_second_fit_chooses_the_same_columns_to_keep():
    """The density of the sparse projection of an earlier fit has no part in the choice."""
    X = normalize(np.random.default_rng(0).normal(size=(60, 30)))
    craft_map = CraftMap(Polynomial(3, coef0=0.3), 40, down=SparseRandomProjection(), random_state=0)
    first = craft_map.fit(X).n_kept_
    assert craft_map.fit(X).n_kept_ == first


@pytest.mark.parametrize("parts", [[60], [20, 60]])
def test_a_part_whose_kernel_overflows_is_refused(rows, parts):
    feature_map = LandmarkMap(KERNEL, 20, random_state=0)
    for end in parts[:-1]:
        feature_map.partial_fit(rows[:end])
    before = vars(feature_map).copy()
    with pytest.raises(ValueError, match=r"overflows.*scale the rows first"):
        feature_map.partial_fit(1e200 * rows)
    assert vars(feature_map) == before
