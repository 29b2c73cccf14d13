"""`CraftMap(up_components="auto")` takes the up-projection with the smallest predicted error."""

import numpy as np
import pytest
from sklearn.base import clone

from craftmaps import (
    CraftClassifier,
    CraftMap,
    Exponential,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
    load_model,
)
from craftmaps._rows.sampling import SampledRows
from craftmaps.plan import plan, predicted_error

KERNELS = [Polynomial(1), Polynomial(2, coef0=0.0), Polynomial(3), Polynomial(7), Exponential(0.5)]


def auto(kernel, n_components, **parameters):
    return CraftMap(kernel, n_components, up_components="auto", random_state=0, **parameters)


@pytest.mark.parametrize("n_components", [20, 64, 200])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_is_no_worse_than_what_it_chooses_from(rows, kernel, n_components):
    chosen = auto(kernel, n_components).fit(rows)
    seed = chosen.up_.seed_
    others = [
        CraftMap(kernel, n_components, random_state=0),
        RandomMaclaurin(kernel, n_components, complex_weights=True, random_state=seed),
    ]
    # The choice is made on these pairs. It averages over what a pool of rare degrees may draw.
    left, right = SampledRows(rows).halves(chosen.seed_)
    errors = [predicted_error(other.fit(rows), left, right) for other in others]
    assert predicted_error(chosen, left, right) <= 1.02 * min(errors)
    assert chosen.up_._n_features_out in (n_components, 8 * n_components)


def test_quadratic_columns_make_a_quadratic_kernel_exact(rows):
    for kernel in (Polynomial(2), Polynomial(2, coef0=0.0)):
        Z = auto(kernel, 100).fit_transform(rows)
        np.testing.assert_allclose(Z @ Z.T, kernel(rows), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("n_components", "has_quadratic"), [(92, False), (93, True), (200, True)])
def test_quadratic_columns_need_room(rows, n_components, has_quadratic):
    chosen = auto(Polynomial(3), n_components).fit(rows)
    assert (chosen.up_.exact_low_degrees == "quadratic") is has_quadratic


def test_no_down_projection(rows):
    chosen = auto(Polynomial(2, coef0=0.0), 64).fit(rows)
    assert chosen.down_ is None
    assert chosen.n_kept_ == 64
    up = RandomMaclaurin(Polynomial(2, coef0=0.0), 64, complex_weights=True, random_state=chosen.up_.seed_).fit(rows)
    np.testing.assert_array_equal(chosen.transform(rows), up.transform(rows))
    assert chosen._operations(1.0) == up._operations(1.0)
    assert predicted_error(chosen, rows) == predicted_error(up, rows)


def test_a_given_map_is_not_chosen_again(rows):
    up = TensorSketch(Polynomial(3), 50, random_state=1)
    chosen, plain = (CraftMap(n_components=20, up=up, up_components=u, random_state=0) for u in ("auto", None))
    np.testing.assert_array_equal(chosen.fit_transform(rows), plain.fit_transform(rows))


def test_tensor_sketches_have_a_choice_too(rows):
    chosen = auto(Polynomial(2), 64, up="tensorsketch").fit(rows)
    assert chosen.up_._n_features_out in (64, 512)


def test_the_default_does_not_choose(rows):
    default = CraftMap(Polynomial(3), 200, random_state=0).fit(rows)
    assert (default.up_.exact_low_degrees, default.up_.n_components) == ("auto", 1600)


@pytest.mark.parametrize("n_components", [64, 100])
@pytest.mark.parametrize("down", ["hadamard", SubsampledHadamard()], ids=["hadamard", "subsampled"])
@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(2, coef0=0.0)], ids=str)
def test_a_saved_model_has_the_same_map(tmp_path, rows, kernel, n_components, down):
    y = rows[:, 0] > rows[:, 1]
    feature_map = auto(kernel, n_components, down=clone(down) if down != "hadamard" else down)
    model = CraftClassifier(kernel, n_components, metric=None, feature_map=feature_map, random_state=0).fit(rows, y)
    model.save(tmp_path / "model.craft")
    again = load_model(tmp_path / "model.craft")
    ours, theirs = model.features_.feature_map, again.features_.feature_map
    assert theirs.up_.exact_low_degrees == ours.up_.exact_low_degrees
    assert (theirs.down_ is None) == (ours.down_ is None)
    np.testing.assert_array_equal(theirs.transform(rows), ours.transform(rows))
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), atol=1e-6)


def test_a_plan_lists_it_where_it_differs(rows):
    plan_of = plan(rows, Polynomial(3), target_error=0.1, landmarks=False)
    choices = [choice for choice in plan_of if isinstance(choice.feature_map, CraftMap)]
    widths = [c.feature_map.n_components for c in choices if c.feature_map.up_components == "auto"]
    assert sorted(widths) == [2**k for k in range(7, 15)], "64 columns have no room for 78 products"
    assert "auto" in str(plan_of)
    errors = {c.feature_map.up_components: c.predicted_error for c in choices if c.feature_map.n_components == 128}
    assert errors["auto"] < 0.5 * errors[8 * 128]
