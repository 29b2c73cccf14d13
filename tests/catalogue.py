"""Every public map, in the configurations that the tests of laws, contract and faults use."""

from craftmaps import (
    CovarianceMetric,
    CraftMap,
    Exponential,
    LandmarkMap,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    TensorSketch,
)
from craftmaps.maps.projections import FoldedHadamard

KERNEL = Polynomial(degree=3, coef0=0.5, gamma=1.5)

MAPS = {
    "maclaurin": RandomMaclaurin(KERNEL, 45, random_state=0),
    "maclaurin complex": RandomMaclaurin(KERNEL, 45, complex_weights=True, random_state=0),
    "maclaurin exponential": RandomMaclaurin(Exponential(gamma=2.0), 45, random_state=0),
    "maclaurin geometric": RandomMaclaurin(KERNEL, 45, degrees="geometric", exact_low_degrees=False, random_state=0),
    "maclaurin rademacher": RandomMaclaurin(KERNEL, 45, projection="rademacher", random_state=0),
    "maclaurin rademacher complex": RandomMaclaurin(
        KERNEL, 45, projection="rademacher", degrees="proportional", complex_weights=True, random_state=0
    ),
    "tensorsketch": TensorSketch(KERNEL, 45, random_state=0),
    "subsampled": SubsampledHadamard(9, random_state=0),
    "folded": FoldedHadamard(6, random_state=0),
    "craft": CraftMap(KERNEL, 20, random_state=0),
    "craft auto": CraftMap(KERNEL, 120, up_components="auto", random_state=0),
    "craft tensorsketch": CraftMap(KERNEL, 20, up="tensorsketch", random_state=0),
    "craft subsampled": CraftMap(
        KERNEL, 20, up=RandomMaclaurin(KERNEL, 200, projection="stratified"), down=SubsampledHadamard(), random_state=0
    ),
    "craft gaussian": CraftMap(KERNEL, 20, down="gaussian", random_state=0),
    "landmarks": LandmarkMap(KERNEL, 20, random_state=0),
    "landmarks raw": LandmarkMap(KERNEL, 20, whiten=False, random_state=0),
    "metric": CovarianceMetric(),
    "metric of few axes": CovarianceMetric(0.5, 5, center=False, normalize=False),
}

# Maps that run in Hadamard loops only, whose results are equal bit for bit.
BIT_EQUAL = (
    "maclaurin",
    "maclaurin complex",
    "maclaurin exponential",
    "maclaurin geometric",
    "subsampled",
    "folded",
    "craft",
    "craft auto",
    "craft subsampled",
)

SEEDED = tuple(name for name in MAPS if not name.startswith("metric"))
