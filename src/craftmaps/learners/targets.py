# ruff: noqa: D102 - the protocol says what each method does.
"""What is learned, as frozen values: the classes seen so far, or columns of numbers.

A statistic knows columns of numbers. Targets say which columns a label becomes, how rows are told apart by their
labels, and how far outputs are from them. New labels give new targets; none is changed in place.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from craftmaps._rows.randomness import fnv1a
from craftmaps._rows.sampling import row_hashes
from craftmaps._system.fields import MOST_ROWS, DamagedError, Fields, shown
from craftmaps.learners.calibration import Calibration, calibrate
from craftmaps.learners.class_weights import balanced_weights, weights_of_classes
from craftmaps.learners.labels import LONGEST, labels_from_plain
from craftmaps.learners.output_codes import OutputCode
from craftmaps.learners.target_spread import to_one_spread, without_extremes

if TYPE_CHECKING:
    from craftmaps.learners.penalty_race import PenaltyChoice

Errors = Callable[[NDArray, NDArray], NDArray[np.float64]]
LOSSES = ("squared", "logistic")


class Targets(Protocol):
    """The targets of rows; see `ClassTargets` and `NumberTargets`."""

    @property
    def n_columns(self) -> int:
        """The number of columns of the statistic; 0 before the first row."""
        ...

    @property
    def loss(self) -> str:
        """What is minimised: "squared", "logistic", or "auto" for the better one."""
        ...

    def taking(self, y: Any) -> tuple[Self, NDArray]:
        """Return targets with room for these, and these as the other methods take them; refuse bad ones."""
        ...

    def check_solvable(self) -> None:
        """Refuse targets that there is nothing to solve for."""
        ...

    def joined(self, other: Self) -> Self:
        """Return targets with room for those of others."""
        ...

    @property
    def needs_class_sums(self) -> bool:
        """Whether weights of classes are still to be found from all rows."""
        ...

    def class_sums(self, y: NDArray, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the weights of the rows of each class, which add up over rows in many places."""
        ...

    def knowing(self, class_sums: NDArray[np.float64]) -> Self:
        """Return targets whose weights of classes are known from the sums of all rows."""
        ...

    def weighted(self, y: NDArray, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return the weights of rows, times those of their classes."""
        ...

    def places(self, wider: Self) -> NDArray[np.int64]:
        """Return where the columns of these targets stand among those of wider ones."""
        ...

    def encoded(self, y: NDArray) -> NDArray[np.float64]:
        """Return the columns of the statistic."""
        ...

    def hashes(self, y: NDArray) -> NDArray[np.uint64]:
        """Return a hash of the target of each row."""
        ...

    def errors(self, outputs: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Return the error of each row from what was predicted for the columns."""
        ...

    def balanced(self, y: NDArray) -> NDArray:
        """Return targets of which no column outweighs the others."""
        ...

    def balanced_errors(self, y: NDArray) -> Errors:
        """Return `errors` with no column of these rows outweighing the others."""
        ...

    def calibrated(self, choice: "PenaltyChoice | None") -> Calibration | None:
        """Return how scores become probabilities, fitted to the outputs of rows left out; None without classes."""
        ...

    def to_plain(self) -> dict[str, Any]:
        """Describe the targets as JSON takes it."""
        ...

    def restored(self, fields: Fields) -> Self:
        """Return the targets that a file describes."""
        ...

    def labels_to_plain(self, y: NDArray) -> NDArray:
        """Return labels as an array of numbers."""
        ...

    def labels_from_plain(self, plain: Any) -> NDArray:
        """Return labels from an array of numbers that need not be trusted."""
        ...


@dataclass(frozen=True, eq=False)
class ClassTargets:
    """The classes seen so far, in order, the code that their scores are made with, and how these are calibrated.

    `loss` is "squared", "logistic" or "auto": the better one of the two, if rows can be looked at after the pass.
    `class_weight` is None, a dict of weights of labels, or "balanced" until all rows are known.
    """

    code: OutputCode
    calibration: str = "temperature"
    classes: NDArray = field(default_factory=lambda: np.empty(0))
    loss: str = "squared"
    class_weight: Any = None

    @property
    def n_columns(self) -> int:
        return self.classes.size

    @cached_property
    def words(self) -> NDArray[np.float64]:
        """The code words of the classes, drawn once."""
        return self.code.words(self.classes.size)

    def taking(self, y: Any) -> tuple[Self, NDArray]:
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        return self.widened(y), y

    def check_solvable(self) -> None:
        if self.classes.size < 2:
            raise ValueError(f"y must have at least 2 classes, got only one class: {self.classes.tolist()}.")
        self.code.check_classes(self.classes.size)

    def widened(self, y: NDArray) -> Self:
        """Return targets with room for more labels."""
        old, found = self.classes, np.unique(y)
        if old.size and (found.dtype.kind in "OUS") != (old.dtype.kind in "OUS"):
            raise ValueError(f"y must have labels that are all text or all numbers, got {found[:3]} after {old[:3]}.")
        classes = np.union1d(old, found) if old.size else found
        return self if classes.size == old.size else replace(self, classes=classes)

    def joined(self, other: Self) -> Self:
        if self.class_weight != other.class_weight:
            raise ValueError(f"class_weight must be the same, got {self.class_weight} and {other.class_weight}.")
        return self.widened(other.classes)

    @property
    def needs_class_sums(self) -> bool:
        return isinstance(self.class_weight, str)

    def class_sums(self, y: NDArray, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.bincount(self.numbers(y), weight, minlength=self.classes.size).astype(np.float64)

    def knowing(self, class_sums: NDArray[np.float64]) -> Self:
        return replace(self, class_weight=balanced_weights(self.classes, class_sums))

    def weighted(self, y: NDArray, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return weight
        of_class = weights_of_classes(self.class_weight, self.classes)
        return of_class[self.numbers(y)] * (1.0 if weight is None else weight)

    def places(self, wider: Self) -> NDArray[np.int64]:
        return np.searchsorted(wider.classes, self.classes)

    def encoded(self, y: NDArray) -> NDArray[np.float64]:
        return (y[:, None] == self.classes[None, :]).astype(np.float64)

    def hashes(self, y: NDArray) -> NDArray[np.uint64]:
        # Equal numbers look alike: 1, 1.0 and True are one class.
        classes = self.classes.astype(np.float64) if self.classes.dtype.kind in "bf" else self.classes
        bits = np.array([fnv1a(_as_text(label)) for label in classes], dtype=np.uint64)
        return bits[self.numbers(y)]

    def errors(self, outputs: NDArray, y: NDArray) -> NDArray[np.float64]:
        return (self.classes[self.decoded(outputs).argmax(axis=1)] != y).astype(np.float64)

    def decoded(self, outputs: NDArray) -> NDArray:
        """Return the scores of the classes from what was predicted for their indicators."""
        return self.code.scores(outputs @ self.words.astype(outputs.dtype), self.words)

    def numbers(self, y: NDArray) -> NDArray[np.int64]:
        """Return the places of labels among the classes."""
        return np.searchsorted(self.classes, y)

    def balanced(self, y: NDArray) -> NDArray:
        return y

    def balanced_errors(self, y: NDArray) -> Errors:
        return self.errors

    def calibrated(self, choice: "PenaltyChoice | None") -> Calibration:
        if choice is None:
            return Calibration()
        scores, labels = self.decoded(choice.outputs), self.numbers(choice.labels)
        # A fold has its share of the copies of every row, so labels are as frequent in it as in the others.
        aside = choice.folds == 0 if choice.folds[-1] > 0 else None
        return calibrate(scores, labels, choice.weights, self.calibration, n_rows=choice.results["n_rows"], aside=aside)

    def to_plain(self) -> dict[str, Any]:
        kind = self.classes.dtype.kind
        if kind not in "OUbiuf" or (kind == "O" and not all(isinstance(label, str) for label in self.classes)):
            raise TypeError(f"Labels must be strings, numbers or booleans to be saved, got {self.classes.dtype}.")
        values: list[Any] = self.classes.tolist()
        if kind == "U" and max(map(len, values), default=0) > LONGEST:
            raise ValueError(f"Labels must have at most {LONGEST} letters to be saved, got {max(map(len, values))}.")
        return {"dtype": self.classes.dtype.str, "values": values}

    def restored(self, fields: Fields) -> Self:
        return replace(self, classes=labels_from_plain(fields))

    def labels_to_plain(self, y: NDArray) -> NDArray:
        return self.numbers(y)

    def labels_from_plain(self, plain: Any) -> NDArray:
        if not isinstance(plain, np.ndarray) or plain.dtype != np.int64 or plain.ndim != 1:
            raise DamagedError(f"labels must be numbers of classes, got {shown(plain)}")
        if plain.size and not (0 <= plain.min() and plain.max() < self.classes.size):
            raise DamagedError(f"labels must be from 0 to {self.classes.size - 1}")
        return self.classes[plain]


@dataclass(frozen=True)
class NumberTargets:
    """Columns of numbers; `is_flat` if the first rows had their target in a vector."""

    n_columns: int = 0
    is_flat: bool = True

    @property
    def loss(self) -> str:
        return "squared"

    def taking(self, y: Any) -> "tuple[NumberTargets, NDArray]":
        y = np.asarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            raise ValueError("y must be finite, got NaN or infinity.")
        with np.errstate(over="ignore"):
            if not np.isfinite(np.sum(y**2)):
                raise ValueError(f"y must have squares that add up to a number, got up to {np.abs(y).max():.3g}.")
        columns = y.reshape(y.shape[0], -1)
        if self.n_columns and columns.shape[1] != self.n_columns:
            raise ValueError(f"y must have {self.n_columns} targets as before, got {columns.shape[1]}.")
        return self if self.n_columns else NumberTargets(columns.shape[1], y.ndim == 1), columns

    def check_solvable(self) -> None:
        pass

    @property
    def needs_class_sums(self) -> bool:
        return False

    def class_sums(self, y: NDArray, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.empty(0)

    def knowing(self, class_sums: NDArray[np.float64]) -> "NumberTargets":
        return self

    def weighted(self, y: NDArray, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return weight

    def joined(self, other: "NumberTargets") -> "NumberTargets":
        if other.n_columns != self.n_columns:
            raise ValueError(f"other must have {self.n_columns} targets as here, got {other.n_columns}.")
        return self

    def places(self, wider: "NumberTargets") -> NDArray[np.int64]:
        return np.arange(self.n_columns)

    def encoded(self, y: NDArray) -> NDArray[np.float64]:
        return y

    def hashes(self, y: NDArray) -> NDArray[np.uint64]:
        return row_hashes(y, 0)

    def errors(self, outputs: NDArray, y: NDArray) -> NDArray[np.float64]:
        return np.mean((outputs - y) ** 2, axis=1)

    def balanced(self, y: NDArray) -> NDArray:
        y = without_extremes(y)
        return y * to_one_spread(y)

    def balanced_errors(self, y: NDArray) -> Errors:
        factors = to_one_spread(y)
        return lambda outputs, y: self.errors(outputs * factors, y * factors)

    def calibrated(self, choice: "PenaltyChoice | None") -> None:
        return None

    def to_plain(self) -> dict[str, Any]:
        return {"n_targets": self.n_columns, "is_flat": self.is_flat}

    def restored(self, fields: Fields) -> "NumberTargets":
        is_flat = fields.flag("is_flat")
        return NumberTargets(fields.whole("n_targets", 1, 1 if is_flat else MOST_ROWS), is_flat)

    def labels_to_plain(self, y: NDArray) -> NDArray:
        return y

    def labels_from_plain(self, plain: Any) -> NDArray:
        return Fields({"y": plain}).array("y", (None, self.n_columns), (np.float64,))


def _as_text(label: Any) -> str:
    """Return a label as text, a whole number of any type without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
