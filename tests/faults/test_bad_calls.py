"""Functions around the maps refuse what they cannot do, by name and value."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import craftmaps
from craftmaps import CovarianceMetric, CraftMap, Polynomial
from craftmaps._system import threads as parallel
from craftmaps.plan import plan, predicted_error
from tests.catalogue import MAPS


@pytest.mark.parametrize("n", [0, -2, 1.5, "2", None, True])
def test_threads(n):
    before = parallel.n_threads()
    with pytest.raises(ValueError, match=f"n must be an integer of at least 1, got {n!r}"), craftmaps.threads(n):
        pytest.fail("the block must not run")
    assert parallel.n_threads() == before


@pytest.mark.parametrize("value", ["abc", "0", "-1", "1.5", " "])
@pytest.mark.parametrize("name", MAPS)
def test_number_of_threads_in_the_environment(rows, monkeypatch, name, value):
    feature_map = clone(MAPS[name]).fit(rows)
    expected = feature_map.transform(rows)
    monkeypatch.setenv("CRAFTMAPS_NUM_THREADS", value)
    with pytest.raises(ValueError, match=f"CRAFTMAPS_NUM_THREADS must be an integer of at least 1, got '{value}'"):
        feature_map.transform(rows)
    monkeypatch.delenv("CRAFTMAPS_NUM_THREADS")
    np.testing.assert_array_equal(feature_map.transform(rows), expected)


@pytest.mark.parametrize(
    "name",
    # The axes of a metric are there, whatever its parameter says.
    [k for k, m in MAPS.items() if "n_components" in m.get_params() and not isinstance(m, CovarianceMetric)],
)
@pytest.mark.parametrize("by_set_params", [True, False])
def test_a_width_that_was_changed_after_fit(rows, name, by_set_params):
    """Loops check no bounds: what was drawn for one width must not meet another."""
    feature_map = clone(MAPS[name]).fit(rows)
    old, expected = feature_map.n_components, feature_map.transform(rows)
    for new in (1, 65536):
        if by_set_params:
            feature_map.set_params(n_components=new)
        else:
            feature_map.n_components = new
        with pytest.raises(
            ValueError, match=f"n_components was {old} when the map was fitted and is {new} now: fit it"
        ):
            feature_map.transform(rows)
    feature_map.n_components = old
    np.testing.assert_array_equal(feature_map.transform(rows), expected)
    assert feature_map.set_params(n_components=2).fit(rows).transform(rows).shape[1] == 2


PLANS = {
    "no goal": ({}, "one of target_error and seconds must be given, got None and None"),
    "two goals": ({"target_error": 0.1, "seconds": 2}, "one of target_error and seconds .*, got 0.1 and 2"),
    "negative error": ({"target_error": -0.1}, "target_error must be more than 0, got -0.1"),
    "no error": ({"target_error": 0}, "target_error must be more than 0, got 0"),
    "NaN error": ({"target_error": np.nan}, "target_error must be more than 0, got nan"),
    "negative time": ({"seconds": -1}, "seconds must be more than 0, got -1"),
    "no rows": ({"seconds": 1, "n_rows": 0}, "n_rows must be more than 0, got 0"),
    "negative seed": ({"seconds": 1, "random_state": -1}, "random_state must be .*, got -1"),
}


@pytest.mark.parametrize("case", PLANS)
def test_plan(rows, case):
    arguments, message = PLANS[case]
    with pytest.raises(ValueError, match=message):
        plan(rows, Polynomial(), **arguments)


def test_plan_for_no_kernel(rows):
    with pytest.raises(TypeError, match=r"kernel must be a Polynomial.*, got str 'poly'"):
        plan(rows, "poly", target_error=0.1)


@pytest.mark.parametrize("foreign", [StandardScaler(), CovarianceMetric(), "craft"])
def test_predicted_error_of_something_else(rows, foreign):
    with pytest.raises(TypeError, match=f"feature_map must be a map of this library, got {type(foreign).__name__}"):
        predicted_error(foreign, rows)


def test_predicted_error_over_a_foreign_up_map(rows):
    craft_map = CraftMap(n_components=4, up=StandardScaler()).fit(rows)
    with pytest.raises(TypeError, match="StandardScaler"):
        predicted_error(craft_map, rows)


PREDICTABLE = pytest.mark.parametrize("name", [name for name in MAPS if not name.startswith("metric")])


@PREDICTABLE
def test_predicted_error_of_an_unfitted_map(rows, name):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        predicted_error(clone(MAPS[name]), rows)


@PREDICTABLE
def test_predicted_error_on_rows_of_another_width(rows, name):
    with pytest.raises(ValueError, match=r"11 features.* 12"):
        predicted_error(clone(MAPS[name]).fit(rows), rows[:, :11])


def test_merging_metrics_of_two_widths(rows):
    metric = CovarianceMetric().fit(rows)
    expected = metric.transform(rows)
    with pytest.raises(ValueError, match="other has 5 features, expected 12"):
        metric.merge(CovarianceMetric().fit(rows[:, :5]))
    np.testing.assert_array_equal(metric.transform(rows), expected)
    assert metric.n_rows_seen_ == 60


def test_merging_with_an_unfitted_metric(rows):
    for metric, other in ((CovarianceMetric().fit(rows), CovarianceMetric()), (CovarianceMetric(), CovarianceMetric())):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            metric.merge(other)


@pytest.mark.parametrize("other", [StandardScaler(), 3], ids=["a scaler", "a number"])
def test_merging_with_something_else(rows, other):
    other = other if other == 3 else other.fit(rows)
    with pytest.raises(TypeError, match=f"other .*{type(other).__name__}"):
        CovarianceMetric().fit(rows).merge(other)
