"""The learners keep scikit-learn's contract, without expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from craftmaps import CraftClassifier, CraftRegressor, Laplace, NeuralTangent, Polynomial

EXPLICIT = {"kernel": Polynomial(2), "n_components": 24, "metric": None, "cv": 3}

LEARNERS = [
    CraftClassifier(n_components=16, alphas=[1e-6, 1e-3, 1.0], cv=3),
    CraftClassifier(**EXPLICIT),
    CraftClassifier(**EXPLICIT, code="random", code_size=12, decoding="loss", calibration="matrix"),
    CraftRegressor(n_components=16, alphas=[1e-6, 1e-3, 1.0], cv=3),
    CraftRegressor(**EXPLICIT),
    CraftClassifier(**EXPLICIT | {"kernel": NeuralTangent(2, 6)}),
    CraftRegressor(**EXPLICIT | {"kernel": Laplace()}),
    CraftRegressor(Polynomial(2), 16, metric=None, feature_map=None, cv=None, alphas=1e-3),
]


@parametrize_with_checks(LEARNERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
