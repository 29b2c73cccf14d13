"""JavaScript predicts as models do, with WebAssembly and without."""

import numpy as np
import pytest

from craftmaps import CraftClassifier
from tests.export import models
from tests.export.javascript import MiniRacer, engine_of
from tests.export.test_recipe import expected_scores

pytestmark = pytest.mark.skipif(MiniRacer is None, reason="mini-racer is not installed")


@pytest.mark.parametrize("name", models.NAMES)
def test_scores(name):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows())
    expected, engine = expected_scores(model, X), engine_of(model)
    tolerance = (1e-6 if name in models.IS_ROUGH else 1e-10) * np.abs(expected).max()
    np.testing.assert_allclose(engine.scores(X), expected, rtol=0, atol=tolerance)
    if isinstance(model, CraftClassifier):
        np.testing.assert_allclose(engine.probabilities(X), model.predict_proba(X), rtol=0, atol=1e-6)


SIMD = ["craft", "craft wide", "craft real", "craft stratified", "maclaurin", "maclaurin geometric", "covariance"]


@pytest.mark.parametrize("name", [*SIMD, "linear columns, quantile", "random code, loss", "regressor", "two classes"])
@pytest.mark.parametrize("n", [1, 4, 7])
def test_four_rows_at_a_time(name, n):
    model, X = models.fitted(name), models.rows_of(name, models.unseen_rows())[:n]
    expected, engine = expected_scores(model, X), engine_of(model, is_simd=True)
    assert engine.is_simd
    np.testing.assert_allclose(engine.scores(X), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["maclaurin of degree 0", "maclaurin rademacher"])
def test_what_has_no_blocks_does_without(name):
    assert not engine_of(models.fitted(name), is_simd=True).is_simd


@pytest.mark.parametrize("width", [1, 2, 3, 8, 33])
def test_widths(width):
    X = models.rows(width=max(width, 2))[0][:, :width]
    model = models._classifier(normalize=False).fit(X, np.arange(160) % 2)
    expected = expected_scores(model, X[:9])
    for is_simd in (False, True):
        found = engine_of(model, is_simd=is_simd).scores(X[:9])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
