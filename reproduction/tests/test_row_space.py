"""The classifier solved in the space of rows is the classifier of the library."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from craftmaps import CraftClassifier, Polynomial, TensorSketch, datasets
from reproduction.row_space import classify, products


@pytest.fixture(scope="module")
def features():
    data = datasets.load("digits")
    X, X_test = normalize(data.X_train[:150]), normalize(data.X_test)
    feature_map = TensorSketch(Polynomial(3), 300, random_state=4).fit(X)
    return data, feature_map, feature_map.transform(X), feature_map.transform(X_test)


def in_rows(Z, Z_test, y):
    return products(Z, Z), y, products(Z_test, Z), Z.shape[1]


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0, 100.0])
def test_it_predicts_as_the_classifier_does(features, alpha):
    data, feature_map, Z, Z_test = features
    choice = classify(*in_rows(Z, Z_test, data.y_train[:150]), code_size=40, cv=3, alphas=[alpha], seed=4)
    model = CraftClassifier(
        Polynomial(3),
        300,
        feature_map=feature_map,
        metric=None,
        normalize=True,
        code="random",
        code_size=40,
        alphas=alpha,
        cv=None,
        random_state=4,
    ).fit(data.X_train[:150], data.y_train[:150])
    assert np.array_equal(choice.predicted, model.predict(data.X_test))


def test_penalties_differ_and_the_best_is_chosen(features):
    data, _, Z, Z_test = features
    y = data.y_train[:150]

    def error(alphas):
        choice = classify(*in_rows(Z, Z_test, y), code_size=40, cv=3, alphas=alphas, seed=4)
        return np.mean(choice.predicted != data.y_test), choice.alpha

    assert error([1e4])[0] > error([1e-3])[0] + 0.05
    assert error([1e4, 1e-3])[1] == 1e-3


def test_the_same_seed_gives_the_same_choice(features):
    data, _, Z, Z_test = features
    y = data.y_train[:150]
    one, two = (classify(*in_rows(Z, Z_test, y), code_size=40, cv=3, alphas=[1e-4, 1e-2], seed=1) for _ in range(2))
    assert one.alpha == two.alpha
    assert np.array_equal(one.predicted, two.predicted)
