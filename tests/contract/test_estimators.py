"""Every public estimator keeps scikit-learn's contract, without expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from craftmaps import (
    CovarianceMetric,
    CraftMap,
    Exponential,
    Gaussian,
    GradientMetric,
    LandmarkMap,
    MaclaurinSeries,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from craftmaps.maps.projections import FoldedHadamard

ESTIMATORS = [
    RandomMaclaurin(n_components=20),
    RandomMaclaurin(n_components=20, complex_weights=True),
    RandomMaclaurin(n_components=20, projection="stratified"),
    RandomMaclaurin(n_components=20, projection="rademacher"),
    RandomMaclaurin(n_components=20, degrees="geometric", exact_low_degrees=False),
    RandomMaclaurin(Polynomial(2, coef0=0.5), n_components=7, degrees="proportional"),
    RandomMaclaurin(MaclaurinSeries([1.0, 0.0, 1.0]), n_components=20),
    TensorSketch(n_components=20),
    SubsampledHadamard(n_components=6),
    FoldedHadamard(n_components=3),
    CraftMap(n_components=20),
    CraftMap(n_components=20, up_components="auto"),
    CraftMap(n_components=6, up="tensorsketch"),
    CraftMap(n_components=6, down="gaussian"),
    CraftMap(n_components=6, up=RandomMaclaurin(n_components=40, projection="rademacher")),
    LandmarkMap(n_components=5),
    LandmarkMap(n_components=5, whiten=False),
    LandmarkMap(Exponential(1e-3), n_components=5),
    LandmarkMap(Gaussian(1e-3), n_components=5),
    CraftMap(Gaussian(1e-3), n_components=20),
    GradientMetric(),
    GradientMetric(0.5, 1, standardize=True, normalize=False),
    CovarianceMetric(),
    CovarianceMetric(0.5, 1, center=False, normalize=False),
]


# Some checks fit on a single row, which warns of fewer rows than landmarks.
@pytest.mark.filterwarnings("ignore:n_components=5 landmarks were asked for:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
