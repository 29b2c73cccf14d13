"""Small models of every map, metric, scaling, code and decoding, and rows to predict."""

from functools import cache

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from craftmaps import (
    CovarianceMetric,
    CraftClassifier,
    CraftMap,
    CraftRegressor,
    Exponential,
    Gaussian,
    LandmarkMap,
    Laplace,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from craftmaps.shaping.category_columns import CategoryColumns
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns

P3 = Polynomial(3, 0.5, 1.5)
WIDTH = 6


def rows(n=160, width=WIDTH, seed=0, n_classes=4):
    """Return rows, labels of four classes, and two numbers for each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)) * np.linspace(0.5, 2, width) + np.linspace(-1, 1, width)
    score = np.stack([X @ rng.normal(size=width) + X[:, 0] * X[:, 1], X @ rng.normal(size=width)], axis=1)
    y = (score[:, 0] > 0).astype(int) + 2 * (score[:, 1] > 0).astype(int)
    return X, y % n_classes, score


def _classifier(kernel=P3, n_components=24, **settings):
    return CraftClassifier(kernel, n_components, random_state=5, **{"metric": None, "alphas": 1e-3, **settings})


def _regressor(**settings):
    return CraftRegressor(P3, 24, random_state=2**63 + 11, **{"metric": None, "alphas": 1e-3, **settings})


MODELS = {
    "craft": _classifier(),
    "craft wide": _classifier(Polynomial(4), 64, up_components=256),
    "craft real": _classifier(feature_map=CraftMap(P3, 20, up=RandomMaclaurin(P3, 90), random_state=1)),
    "craft stratified": _classifier(
        feature_map=CraftMap(
            P3, 20, up=RandomMaclaurin(P3, 90, projection="stratified", complex_weights=True), random_state=1
        )
    ),
    "craft rademacher": _classifier(
        feature_map=CraftMap(
            P3, 20, up=RandomMaclaurin(P3, 90, projection="rademacher", complex_weights=True), random_state=1
        )
    ),
    "craft subsampled": _classifier(feature_map=CraftMap(P3, 20, down=SubsampledHadamard(), random_state=1)),
    "craft gaussian": _classifier(feature_map=CraftMap(P3, 20, down="gaussian", random_state=1)),
    "craft tensorsketch": _classifier(feature_map=CraftMap(P3, 20, up="tensorsketch", random_state=1)),
    "craft over landmarks": _classifier(feature_map=CraftMap(P3, 12, up=LandmarkMap(P3, 40), random_state=1)),
    "maclaurin": _classifier(feature_map="maclaurin"),
    "maclaurin geometric": _classifier(
        feature_map=RandomMaclaurin(P3, 45, degrees="geometric", exact_low_degrees=False, random_state=1)
    ),
    "maclaurin rademacher": _classifier(feature_map=RandomMaclaurin(P3, 45, projection="rademacher", random_state=1)),
    "maclaurin exponential": _classifier(Exponential(0.5), feature_map="maclaurin"),
    "maclaurin neural tangent": _classifier(NeuralTangent(2, 6), feature_map="maclaurin"),
    "craft laplace": _classifier(Laplace(0.5, 5)),
    "craft gaussian kernel": _classifier(Gaussian(0.5)),
    "maclaurin of degree 0": _classifier(Polynomial(0), feature_map="maclaurin"),
    "tensorsketch": _classifier(feature_map="tensorsketch"),
    "tensorsketch of odd width": _classifier(feature_map=TensorSketch(P3, 35, random_state=1)),
    "landmarks": _classifier(feature_map="landmarks"),
    "landmarks raw": _classifier(
        Exponential(0.5), feature_map=LandmarkMap(Exponential(0.5), 20, whiten=False, random_state=1)
    ),
    "landmarks series": _classifier(feature_map=LandmarkMap(MaclaurinSeries([0.5, 1, 0, 2]), 20, random_state=1)),
    "subsampled alone": _classifier(feature_map=SubsampledHadamard(8, random_state=1)),
    "linear": _classifier(feature_map=None),
    "covariance": _classifier(metric="covariance"),
    "covariance of few axes": _classifier(metric=CovarianceMetric(0.5, 4), normalize=False),
    "gradient": _classifier(metric="gradient"),
    "standard": _classifier(metric=StandardScaler()),
    "standard, then gradient": _classifier(metric=make_pipeline(StandardScaler(), GradientMetric())),
    "quantile": _classifier(metric=QuantileColumns()),
    "quantile of few knots": _classifier(metric=QuantileColumns("uniform", 9, center=False), normalize=False),
    "quantile, then gradient": _classifier(metric=make_pipeline(QuantileColumns(), GradientMetric())),
    "categories": _classifier(metric=CategoryColumns([1, 4], "normal", 16)),
    "categories, then gradient": _classifier(metric=make_pipeline(CategoryColumns([1, 4]), GradientMetric())),
    "categories alone": _classifier(metric=CategoryColumns(range(WIDTH)), feature_map=None, normalize=False),
    "standard without mean": _classifier(metric=StandardScaler(with_mean=False)),
    "standard without spread": _classifier(metric=StandardScaler(with_std=False), normalize=False),
    "rows as they are": _classifier(normalize=False),
    "linear columns": _classifier(linear_columns=True),
    "linear columns, standard": _classifier(metric=StandardScaler(), linear_columns=True, decoding="loss"),
    "linear columns, quantile": _classifier(
        metric=make_pipeline(QuantileColumns(), GradientMetric()), linear_columns=True, calibration="matrix"
    ),
    "linear columns of a regressor": _regressor(feature_map="landmarks", linear_columns=True),
    "linear columns, categories": _classifier(metric=CategoryColumns([5], "same"), linear_columns=True),
    "calibrated": _classifier(calibration="matrix", alphas=[1e-3, 1e-2]),
    "random code": _classifier(code="random", code_size=9),
    "hadamard code, hamming": _classifier(code="hadamard", decoding="hamming"),
    "random code, hamming": _classifier(code="random", code_size=9, decoding="hamming", calibration="matrix"),
    "random code, loss": _classifier(code="random", code_size=9, decoding="loss"),
    "one-vs-rest, loss": _classifier(decoding="loss"),
    "given code": _classifier(code=[[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]]),
    "regressor": _regressor(),
    "regressor of landmarks": _regressor(feature_map="landmarks"),
    "automatic regressor": CraftRegressor(n_components=24, random_state=0),
}
TWO_CLASSES = {
    "two classes": _classifier(),
    "two classes, loss": _classifier(decoding="loss"),
    "text": _classifier(),
    "booleans": _classifier(),
    "floats": _classifier(),
}
MAPS = {
    "maclaurin": RandomMaclaurin(P3, 45, complex_weights=True, random_state=0),
    "maclaurin rademacher": RandomMaclaurin(P3, 45, projection="rademacher", random_state=0),
    "maclaurin of degree 0": RandomMaclaurin(Polynomial(0), 4, random_state=0),
    "tensorsketch": TensorSketch(P3, 35, random_state=0),
    "tensorsketch of degree 0": TensorSketch(Polynomial(0), 8, random_state=0),
    "craft": CraftMap(P3, 20, random_state=0),
    "craft wide": CraftMap(Polynomial(5), 64, random_state=0),
    "craft subsampled": CraftMap(P3, 20, down=SubsampledHadamard(), random_state=0),
    "craft tensorsketch": CraftMap(P3, 20, up="tensorsketch", random_state=0),
    "craft gaussian": CraftMap(P3, 20, down="gaussian", random_state=0),
    "subsampled": SubsampledHadamard(5, random_state=0),
    "landmarks": LandmarkMap(P3, 20, random_state=0),
    "landmarks raw": LandmarkMap(P3, 20, whiten=False, random_state=0),
    "covariance": CovarianceMetric(),
    "gradient": GradientMetric(0.5),
    "standard": StandardScaler(),
    "quantile": QuantileColumns(),
}
LABELS = {
    "text": ["<b>no</b>", "ja & \N{GREEK SMALL LETTER ALPHA}"],
    "booleans": [False, True],
    "floats": [1.0, 3.0],
}
NAMES = [*MODELS, *TWO_CLASSES]
# What cannot be compared to 1e-5: bits on the edge flip, and weights of landmarks cancel.
IS_ROUGH = {
    "landmarks",
    "landmarks raw",
    "landmarks series",
    "regressor of landmarks",
    "craft over landmarks",
    "linear columns of a regressor",
}


def rows_of(name, X):
    """Return rows as a model takes them: categories are whole numbers."""
    return X.round() if "categories" in name else X


@cache
def fitted(name):
    """Return a fitted model by name."""
    X, y, numbers = rows()
    X = rows_of(name, X)
    if name in TWO_CLASSES:
        return TWO_CLASSES[name].fit(X, np.array(LABELS.get(name, [0, 1]))[y % 2])
    model = MODELS[name]
    is_flat = name == "automatic regressor"
    return model.fit(X, (numbers[:, 0] if is_flat else numbers) if isinstance(model, CraftRegressor) else y)


@cache
def fitted_map(name):
    """Return a fitted map by name."""
    X, _, numbers = rows()
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return MAPS[name].fit(X, numbers) if name == "gradient" else MAPS[name].fit(X)


def unseen_rows(n=24):
    """Return rows that no model has seen, one of them of zeros."""
    X = rows(n, seed=1)[0]
    X[3] = 0
    return X
