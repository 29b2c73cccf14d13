"""Fitted maps and metrics made again from what a file says of them.

The one place where a file becomes something that computes. A file is not trusted: every value is checked by type and
against all others, and what would take too much memory or time is refused, before anything is drawn. Loops
check no bounds, so they rely on it. Nothing that a file names is imported or called.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from craftmaps._rows.sampling import first_rows
from craftmaps._rows.tiling import next_power_of_two
from craftmaps._system.fields import DamagedError, Fields
from craftmaps.learners.persistence.rebuilt_kernels import (
    HIGHEST_DEGREE,
    kernel_from_plain,
    n_degrees,
    refuse_bad_landmarks,
)
from craftmaps.learners.persistence.stored_rows import rows_from_plain
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.degree_allocation import RULES
from craftmaps.maps.degree_shares import DegreeShares
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.projections import SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.row_features import RowFeatures

# Limits of what a file can ask for. At all of them loading takes seconds and about two gigabytes.
_WIDEST_ROWS = 2**27
_WIDEST_MAP = 2**24
_MOST_SORTED = 2**25  # words that are drawn and sorted for permutations: 3 s
_LONGEST_PERMUTATION = 2**24  # a long one takes longer: 3 s
_MOST_WORDS = 2**25  # words for the buckets of a TensorSketch: 1 GB while they are drawn
_MOST_SIGNS = 2**27  # signs, kept as float32
_MOST_LINES = 2**25  # numbers that the factors of a group take, in lines of 32 or 64 bytes
_MOST_GROUPS = 2**23  # entries of the table of degrees by groups
_MOST_PRODUCTS = 2**27  # entries of the sketches of one row
_BOOLEANS = (True, False)
# Parameters of all parts by name.
_PARTS: tuple[Any, ...] = (RandomMaclaurin, TensorSketch, SubsampledHadamard, CraftMap, LandmarkMap, StandardScaler)
_DEFAULTS = {part.__name__: part().get_params(deep=False) for part in (*_PARTS, CovarianceMetric, GradientMetric)}


class Checked(NamedTuple):
    """A part that was checked, and is drawn when it is made: rows of `width` become rows of `n_out`."""

    width: int
    n_out: int
    make: Callable[[], Any]


def checked_lift(fields: Fields, n_features: int, n_out: int | None = None) -> Callable[[], RowFeatures]:
    """Check a lift of rows of n_features, perhaps with so many features; return what makes it."""
    scale = None if fields.value("scale") is None else fields.number("scale", above=0.0)
    width, makers = n_features, []
    for name in ("metric", "feature_map"):
        if fields.value(name) is None:
            makers.append(lambda: None)
            continue
        part = _checked(fields.object(name))
        if part.width != width:
            raise DamagedError(f"{fields.path(name)} is for rows of {part.width} numbers, but gets rows of {width}")
        width = part.n_out
        makers.append(part.make)
    if n_out is not None and width != n_out:
        raise DamagedError(f"{fields.path('feature_map')} gives {width} features, but there are weights for {n_out}")
    return lambda: RowFeatures(makers[0](), scale, makers[1]())


def names_from_plain(learner: Any, fields: Fields) -> None:
    """Let a learner know the names of its columns, if they have any."""
    if "feature_names" in fields and fields.value("feature_names") is not None:
        names = fields.texts("feature_names", learner.n_features_in_)
        learner.feature_names_in_ = np.array(names, dtype=object)


def _checked(fields: Fields) -> Checked:
    """Check a part of any class."""
    name = fields.one_of("class", tuple(_CHECKS))
    width = fields.whole("n_features_in_", 1, _WIDEST_ROWS)
    return _CHECKS[name](fields, fields.object("parameters"), width)


def _make(part_class: type, parameters: dict[str, Any], width: int, **learned: Any) -> Any:
    """Return a part with its parameters, its width and what it has learned."""
    part = part_class(**parameters)
    part.n_features_in_ = width
    if "random_state" in parameters:
        part.seed_ = parameters["random_state"]
    for name, value in learned.items():
        setattr(part, name, value)
    return part


def _values(parameters: Fields, **changed: Any) -> dict[str, Any]:
    """Return parameters that were checked, some of them in another form."""
    return {name: parameters.value(name) for name in parameters} | changed


def _bounded(what: str, size: int, most: int) -> None:
    """Refuse what would take too much memory or time."""
    if size > most:
        raise DamagedError(f"{what} would take {size} numbers, more than the {most} that a file can ask for")


def _maclaurin(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check a Maclaurin map: its columns against its shares, and all that it draws."""
    parameters.only(_DEFAULTS["RandomMaclaurin"])
    kernel = kernel_from_plain(parameters, "kernel")
    n_components = parameters.whole("n_components", 1, _WIDEST_MAP)
    projection = parameters.one_of("projection", ("hadamard", "stratified", "rademacher"))
    parameters.one_of("degrees", RULES)
    parameters.one_of("exact_low_degrees", ("auto", *_BOOLEANS))
    is_complex = parameters.flag("complex_weights") and n_components > 1
    parameters.seed("random_state")
    learned = fields.object("learned")
    learned.only(["scale_"])
    scale = learned.number("scale_", above=0.0)
    order = None if projection == "rademacher" else next_power_of_two(width)
    shares = _shares(fields.object("shares"), n_components)
    try:
        shares.check(n_components, width, order, is_complex, n_degrees(kernel))
    except ValueError as error:
        raise DamagedError(f"{fields.path('shares')}: {error}") from None
    _refuse_costly_shares(shares, projection, width)

    def make() -> RandomMaclaurin:
        part = _make(RandomMaclaurin, _values(parameters, kernel=kernel), width, scale_=scale, shares_=shares)
        part._draw()
        return part

    return Checked(width, n_components, make)


def _shares(fields: Fields, n_components: int) -> DegreeShares:
    """Take shares out of a file, each number checked on its own."""
    fields.only(DegreeShares.__dataclass_fields__)
    most = HIGHEST_DEGREE + 1
    counts = fields.numbers("counts", most, low=0)
    if not all(type(count) is int for count in fields.value("counts")) or counts.sum() > n_components:
        raise fields.refuse("counts", f"a list of whole numbers that add up to at most {n_components}")
    return DegreeShares(
        coefficients=fields.numbers("coefficients", most, low=0),
        counts=counts.astype(np.int64),
        weights=fields.numbers("weights", most, low=0),
        n_unused=fields.whole("n_unused", 0, n_components),
        n_linear=fields.whole("n_linear", 0, n_components),
        n_constant=fields.whole("n_constant", 0, 1),
        order=None if fields.value("order") is None else fields.whole("order", 1, _WIDEST_ROWS),
        complex_weights=fields.flag("complex_weights"),
    )


def _refuse_costly_shares(shares: DegreeShares, projection: str, width: int) -> None:
    """Refuse to draw too much, by bounds that are computed without drawing."""
    n_parts = 2 if shares.complex_weights else 1
    n_random = int(shares.counts[1:].sum())
    degree = int(np.flatnonzero(shares.counts).max(initial=0))
    if shares.order is None:
        n_factors = int(np.arange(shares.counts.size) @ shares.counts)
        _bounded("Independent signs", n_factors * n_parts * width, _MOST_SIGNS)
        return
    n_groups = -(-n_random // shares.order)
    _bounded("A table of degrees", n_groups * shares.counts.size, _MOST_GROUPS)
    _bounded("The factors of a feature", degree * n_parts * shares.order, _MOST_LINES)
    _bounded("A permutation", shares.order if n_random else 0, _LONGEST_PERMUTATION)
    n_sorted = int(shares.n_factors.sum()) * shares.order
    _bounded("Permutations", n_sorted, _MOST_SORTED)
    _bounded("Signs", n_sorted * n_parts if projection == "stratified" else 0, _MOST_SIGNS)


def _tensor_sketch(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check a TensorSketch: degree times width is what it draws."""
    parameters.only(_DEFAULTS["TensorSketch"])
    kernel = kernel_from_plain(parameters, "kernel", ("Polynomial",))
    n_components = parameters.whole("n_components", 1, _WIDEST_MAP)
    parameters.seed("random_state")
    fields.object("learned").only(())
    _bounded("Buckets", kernel.degree * (width + 1), _MOST_WORDS)
    _bounded("Sketches of a row", kernel.degree * n_components, _MOST_PRODUCTS)

    def make() -> TensorSketch:
        return _make(TensorSketch, _values(parameters, kernel=kernel), width)._draw(width)

    return Checked(width, n_components, make)


def _subsampled(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check a projection, which draws an order of the inputs."""
    parameters.only(_DEFAULTS["SubsampledHadamard"])
    n_components = parameters.whole("n_components", 1, _WIDEST_MAP)
    parameters.seed("random_state")
    fields.object("learned").only(())
    _bounded("A permutation", next_power_of_two(max(width, n_components)), _LONGEST_PERMUTATION)

    def make() -> SubsampledHadamard:
        return _make(SubsampledHadamard, _values(parameters), width)._draw(width)

    return Checked(width, n_components, make)


def _craft(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check a compact map: the up-map, the columns that are kept, and the way down."""
    parameters.only(_DEFAULTS["CraftMap"])
    kernel = kernel_from_plain(parameters, "kernel")
    n_components = parameters.whole("n_components", 1, _WIDEST_MAP)
    name = parameters.one_of("up", ("maclaurin", "tensorsketch", None))
    n_up = None if parameters.value("up_components") is None else parameters.whole("up_components", 1, _WIDEST_MAP)
    parameters.seed("random_state")
    fields.object("learned").only(())
    down = parameters.value("down")
    if isinstance(down, dict):
        down = SubsampledHadamard(random_state=parameters.object("down").seed("random_state"))
    else:
        parameters.one_of("down", ("hadamard",))
    up_fields = fields.object("up")
    up_class = up_fields.one_of("class", _UP_CLASSES[name])
    up = _CHECKS[up_class](up_fields, up_fields.object("parameters"), width)
    up_fields.whole("n_features_in_", width, width)
    if name is not None and up.n_out != (n_up or 8 * n_components):
        raise DamagedError(f"{fields.path('up')} has {up.n_out} columns, expected {n_up or 8 * n_components}")
    n_kept = fields.whole("n_kept_", 0, min(n_components, up.n_out) - 1)
    allowed = {0}
    if name == "maclaurin":
        shares = up_fields.object("shares")
        allowed |= {shares.value("n_constant"), shares.value("n_constant") + shares.value("n_linear")}
    if n_kept not in allowed:
        raise fields.refuse("n_kept_", f"one of {', '.join(map(str, sorted(allowed)))}")

    def make() -> CraftMap:
        part = _make(CraftMap, _values(parameters, kernel=kernel, down=down), width, up_=up.make(), n_kept_=n_kept)
        part.up = part.up_ if part.up is None else part.up
        part._draw_down()
        return part

    return Checked(width, n_components, make)


def _landmarks(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check landmarks and the size of their kernel matrix."""
    parameters.only(_DEFAULTS["LandmarkMap"])
    kernel = kernel_from_plain(parameters, "kernel")
    parameters.flag("whiten")
    parameters.seed("random_state")
    learned = fields.object("learned")
    learned.only(["landmarks_"])
    landmarks = rows_from_plain(learned, "landmarks_", width)
    n_landmarks = landmarks.shape[0]
    parameters.whole("n_components", max(1, n_landmarks))
    refuse_bad_landmarks(kernel, landmarks, learned.path("landmarks_"))

    def make() -> LandmarkMap:
        part = _make(LandmarkMap, _values(parameters, kernel=kernel), width)
        if first_rows(landmarks, n_landmarks, part.seed_).size < n_landmarks:
            raise DamagedError(f"{learned.path('landmarks_')} must be different rows, got some twice")
        part._settle(landmarks, first_rows)  # all of them, in their order
        return part

    return Checked(width, n_landmarks, make)


def _linear_metric(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check a metric that is a matrix."""
    part_class = _METRICS[fields.value("class")]
    known = _DEFAULTS[part_class.__name__]
    parameters.only(known)
    for name in parameters:
        if name == "n_components":
            _ = parameters.value(name) is None or parameters.whole(name, 1)
        elif isinstance(known[name], bool):
            parameters.flag(name)
        else:
            parameters.number(name)
    learned = fields.object("learned")
    values = {"mean_": learned.array("mean_", (width,)), "components_": learned.array("components_", (None, width))}
    n_axes = len(values["components_"])
    if part_class is CovarianceMetric:
        values["eigenvalues_"] = learned.array("eigenvalues_", (n_axes,))
    learned.only(values)
    n_components = parameters.value("n_components")
    if not 1 <= n_axes <= width or (n_components is not None and n_axes != min(n_components, width)):
        raise learned.refuse("components_", f"{n_components or f'1 to {width}'} axes of {width} numbers")
    return Checked(width, n_axes, lambda: _make(part_class, _values(parameters), width, **values))


def _scaler(fields: Fields, parameters: Fields, width: int) -> Checked:
    """Check scikit-learn's scaler: what it needs must be there."""
    parameters.only(_DEFAULTS["StandardScaler"])
    with_mean, with_std = parameters.flag("with_mean"), parameters.flag("with_std")
    parameters.flag("copy")
    learned = fields.object("learned")
    learned.only(["mean_", "scale_", "var_"])
    values: dict[str, Any] = {}
    for name, is_needed in {"mean_": with_mean, "scale_": with_std, "var_": False}.items():
        is_absent = learned.value(name) is None and not is_needed
        values[name] = None if is_absent else learned.array(name, (width,))
    if values["scale_"] is not None and not (values["scale_"] > 0).all():
        raise learned.refuse("scale_", "above zero")
    return Checked(width, width, lambda: _make(StandardScaler, _values(parameters), width, **values, n_samples_seen_=1))


_METRICS: dict[str, Any] = {"CovarianceMetric": CovarianceMetric, "GradientMetric": GradientMetric}
_CHECKS = {
    "RandomMaclaurin": _maclaurin,
    "TensorSketch": _tensor_sketch,
    "SubsampledHadamard": _subsampled,
    "CraftMap": _craft,
    "LandmarkMap": _landmarks,
    "StandardScaler": _scaler,
} | dict.fromkeys(_METRICS, _linear_metric)
_UP_CLASSES = {
    "maclaurin": ("RandomMaclaurin",),
    "tensorsketch": ("TensorSketch",),
    None: ("RandomMaclaurin", "TensorSketch"),
}
