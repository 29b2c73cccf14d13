"""What is settled before the first row is counted: choices, metric and map."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.extmath import row_norms

from craftmaps._rows.randomness import child_seed, uniforms
from craftmaps._rows.sampling import bottom_rows, row_hashes, rows_with_copies
from craftmaps._system.progress import Phase, tell
from craftmaps.kernels import DotProductKernel
from craftmaps.learners.automatic_choice import FEWEST_ROWS, Choices, Task, choose, is_auto
from craftmaps.learners.parameters import CheckedLearner
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.feature_map import fit_in_order
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.tensor_sketch import TensorSketch
from craftmaps.shaping.row_features import Lift, same
from craftmaps.shaping.row_shaping import Treatment

_FIRST_ROWS = 12288


class SettledLearner(CheckedLearner):
    """Makes whatever choices are left open, on some rows, and fits metric and map on the same rows."""

    _lift: Lift | None
    seed_: int

    def set_params(self, **params: Any) -> Self:
        """Set parameters; one such as `kernel__degree` is set on a copy, as others may hold the kernel."""
        if any(name.startswith("kernel__") for name in params):
            kernel = params.get("kernel", self.kernel)
            if is_auto(kernel):
                name = next(name for name in params if name.startswith("kernel__"))
                raise ValueError(
                    f"{name} cannot be set while kernel is 'auto': set a kernel first, such as kernel=Polynomial()."
                )
            params["kernel"] = clone(kernel)
        return super().set_params(**params)

    @property
    def _needs_rows(self) -> bool:
        """Whether rows must be seen before they can be mapped."""
        if self.feature_map is None or (isinstance(self.feature_map, str) and self.feature_map != "landmarks"):
            return is_auto(self.kernel) or self.metric is not None or self.normalize is False
        return True

    @property
    def _looks_at_labels(self) -> bool:
        """Whether labels are looked at before rows are counted: to compare candidates, or for a gradient metric."""
        return self.metric == "gradient" or any(map(is_auto, self._open_choices))

    @property
    def _open_choices(self) -> tuple[Any, Any, Any]:
        """Kernel, metric and normalize; with an explicit kernel and metric rows are brought to unit length."""
        is_settled = is_auto(self.normalize) and not is_auto(self.kernel) and not is_auto(self.metric)
        return self.kernel, self.metric, True if is_settled else self.normalize

    @property
    def _n_first_rows(self) -> int:
        """How many rows are looked at before any is counted; landmarks are drawn from them."""
        return max(_FIRST_ROWS, 2 * int(self.n_components)) if self.feature_map == "landmarks" else _FIRST_ROWS

    def _settle(self, X: Any, y: NDArray) -> NDArray[np.int64]:
        """Make the automatic choices and fit metric and map; return which rows were spent on that with their labels.

        These are never held out: an error on rows that the choices were made by would flatter.
        """
        if not self._needs_rows:
            self.choices_ = {"kernel": self.kernel, "metric": None, "normalize": True, "held_out_errors": {}}
            self._set_lift(Lift(None, None), _canonical_rows(X.shape[1], self.seed_).astype(X.dtype))
            return np.empty(0, np.int64)
        target_bits = self._targets.hashes(y)
        spent = self._rows_to_spend(X, target_bits)
        first = bottom_rows(X, self._n_first_rows, self.seed_)
        rows = spent if spent.size else first
        some, targets = X[rows], self._targets.balanced(y[rows])
        _refuse_overflow(some)
        chosen = self._choose(some, targets)
        self.choices_ = {
            "kernel": chosen.kernel,
            "metric": chosen.treatment.metric,
            "normalize": chosen.treatment.normalize,
            "n_axes": chosen.treatment.n_axes,
            "held_out_errors": chosen.errors,
        }
        tell(Phase.METRIC)
        lift = chosen.treatment.lift(some, self._targets.encoded(targets), obey=not is_auto(self.normalize))
        # Landmarks are drawn from as many rows as there are: they do not look at labels.
        self._set_lift(lift, lift.shape_rows(X[first] if self.feature_map == "landmarks" else some))
        self._spend(X[spent], target_bits[spent])
        return spent

    def _rows_to_spend(self, X: Any, target_bits: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the rows to choose by, in random order: two thirds, so that others are left to be held out if any are.

        None if labels are not looked at, or if there are too few rows to choose by.
        """
        n_left = 0 if self.cv is None else max(2, X.shape[0] // 3)
        size = min(_FIRST_ROWS, X.shape[0] - n_left)
        fewest = 1 if self.metric == "gradient" else FEWEST_ROWS
        if not self._looks_at_labels or size < fewest:
            return np.empty(0, np.int64)
        return rows_with_copies(row_hashes(X, self.seed_), target_bits, size)

    @abstractmethod
    def _spend(self, X: Any, target_bits: NDArray[np.uint64]) -> None:
        """Never hold out these rows: their labels were looked at."""

    def _set_lift(self, lift: Lift, shaped: Any) -> None:
        """Draw the map for shaped rows, and put it behind metric and length."""
        tell(Phase.MAP)
        feature_map = self._make_map(clone(self.choices_["kernel"]), int(self.n_components))
        lift.feature_map = None if feature_map is None else fit_in_order(feature_map, shaped)
        if hasattr(self.feature_map, "kernel"):
            self.choices_["kernel"] = self.feature_map.kernel  # a map that was given has its own
        self._lift = lift

    def _take_lift(self, lift: Lift) -> None:
        """Take over what another pass, or an earlier one, has settled."""
        self._lift = lift
        feature_map = lift.feature_map
        self.choices_ = {
            "kernel": getattr(feature_map, "kernel", self.kernel),
            "metric": lift.metric,
            "normalize": lift.scale is None,
        }

    def _choose(self, X: Any, y: NDArray) -> Choices:
        """Make whatever choices are left open."""
        kernel, metric, normalize = self._open_choices
        if any(map(is_auto, (kernel, metric, normalize))):
            has_kernel = isinstance(self.feature_map, str)
            task = Task(self._make_map, self._targets.encoded, self._targets.errors, int(self.n_components), has_kernel)
            return choose(X, y, kernel, metric, normalize, task)
        return Choices(Treatment(metric, normalize), kernel, {})

    def _make_map(self, kernel: DotProductKernel, width: int) -> Any:
        """Return the feature map, not yet fitted."""
        seed = child_seed(self.seed_, "map")
        if self.feature_map == "craft":
            up_components = None if width < self.n_components else self.up_components
            return CraftMap(kernel, width, up_components=up_components, random_state=seed)
        if self.feature_map == "maclaurin":
            return RandomMaclaurin(kernel, width, complex_weights=True, random_state=seed)
        if self.feature_map == "tensorsketch":
            return TensorSketch(kernel, width, random_state=seed)
        if self.feature_map == "landmarks":
            return LandmarkMap(kernel, width, random_state=seed)
        return None if self.feature_map is None else clone(self.feature_map)

    def _refuse_differences(self, other: Any) -> None:
        """Refuse to merge statistics of unlike features."""
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        for name in sorted(set(mine) - {"verbose", "batch_rows", "random_state"}):
            if not same(mine[name], theirs[name]):
                raise ValueError(
                    f"Estimators must have the same {name} to be merged, got {mine[name]} and {theirs[name]}."
                )
        for name in ("seed_", "n_features_in_"):
            if getattr(self, name) != getattr(other, name):
                values = f"{getattr(self, name)} and {getattr(other, name)}"
                raise ValueError(f"Estimators must have the same {name} to be merged, got {values}.")
        here, there = (getattr(learner, "feature_names_in_", None) for learner in (self, other))
        if here is not None and there is not None and not np.array_equal(here, there):
            raise ValueError(
                f"Estimators must have seen the same columns in the same order to be merged, got {here} and {there}."
            )
        if self._lift is not None and other._lift is not None:
            difference = self._lift.difference(other._lift)
            if difference:
                raise ValueError(
                    f"Estimators must map rows alike to be merged, but they differ in {difference}: "
                    "they were settled on different first rows."
                )


def _refuse_overflow(X: Any) -> None:
    """Refuse rows whose products are not numbers in their precision."""
    with np.errstate(over="ignore"):
        longest = float(row_norms(X, squared=True).max())
    if not np.isfinite(X.shape[0] * longest):
        raise ValueError("X must have rows whose squared lengths add up to a number in their precision: scale them.")


def _canonical_rows(width: int, seed: int) -> NDArray[np.float64]:
    """Return rows of unit length that stand for data not seen: maps then depend on parameters alone."""
    rows = uniforms(child_seed(seed, "canonical"), "rows", 64 * width).reshape(64, width) ** 2
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
