"""The tally: what a pass over rows leaves behind, a value that adds up."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps.learners.blocks import gram_rows
from craftmaps.learners.choices import Choices
from craftmaps.learners.held_out import HeldOut
from craftmaps.learners.targets import Targets
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.shaping.row_features import RowFeatures

_ROUNDING = 1e-9  # of sums of weights


class RowLayout(NamedTuple):
    """The columns of rows: how many, and their names if they have any."""

    n_features: int
    names: NDArray | None = None

    def difference(self, other: "RowLayout") -> str | None:
        """Describe how two layouts differ, if they do; columns without names fit any."""
        if self.n_features != other.n_features:
            return f"n_features_in_, {self.n_features} and {other.n_features}"
        if self.names is not None and other.names is not None and not np.array_equal(self.names, other.names):
            return f"feature_names_in_, {self.names} and {other.names}"
        return None


class Origin(NamedTuple):
    """The estimator that a tally is for, in plain values, so that a file can say it."""

    model: str
    parameters: dict[str, Any]
    seed: int
    choices: Choices
    notes: Any = None


class Tally:
    """Sums over rows from which a model is solved, and a sample of the rows to choose its penalty by.

    Tallies of different rows through the same features add up: `a + b` is the tally of the rows of both, `a - b` takes
    rows out again, and `a * factor` weighs them less. Addition is associative and commutative up to rounding.

    Parameters
    ----------
    features : RowFeatures
        What rows go through.
    layout : RowLayout
    targets : Targets
    statistic : NormalEquations
    held_out : HeldOut or None
        None holds nothing out.
    batch_rows : int or "auto"
        Rows to map at a time.
    origin : Origin, optional
        The estimator that it is for.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import CraftClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = CraftClassifier(n_components=16, random_state=0).settle(X, y)
    >>> monday, tuesday = model.tally(X[:120], y[:120]), model.tally(X[120:], y[120:])
    >>> (monday + tuesday).n_rows, (monday + tuesday - monday).n_rows
    (200, 80)
    >>> model.finish(monday + tuesday).n_rows_seen_
    200
    """

    def __init__(
        self,
        features: RowFeatures,
        layout: RowLayout,
        targets: Targets,
        statistic: NormalEquations,
        held_out: HeldOut | None,
        batch_rows: int | str = "auto",
        origin: Origin | None = None,
    ):
        self.features, self.layout, self.targets = features, layout, targets
        self.statistic, self.held_out = statistic, held_out
        self.batch_rows, self.origin = batch_rows, origin
        self._scratch: NDArray | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.statistic.n_rows

    @property
    def classes(self) -> NDArray | None:
        """The labels seen, sorted; None for numbers."""
        return getattr(self.targets, "classes", None)

    def save(self, path: str | os.PathLike, notes: Any = None, dtype: Any = np.float64) -> None:
        """Write the tally to a file; see `load_tally`. `notes`, any JSON value, stay with it.

        The file has one triangle of the Gram matrix, 4 E^2 bytes, and the raw rows of the held-out sample. With
        `dtype=np.float32` the triangle takes half of that, and its sums are rounded.
        """
        from craftmaps.learners.persistence import tally_file

        tally_file.write(path, self, notes, dtype)

    def emptied(self) -> "Tally":
        """Return a tally of no rows that can be added to this one."""
        held_out = None if self.held_out is None else self.held_out.emptied()
        statistic = self.statistic.emptied()
        return Tally(self.features, self.layout, self.targets, statistic, held_out, self.batch_rows, self.origin)

    def copy(self) -> "Tally":
        """Return a tally that can be changed on its own."""
        copy = self.emptied()
        copy.statistic = self.statistic.copy()
        copy.held_out = None if self.held_out is None else self.held_out.copy()
        return copy

    def widen(self, targets: Targets) -> None:
        """Make room in place for the labels of wider targets."""
        if targets.n_columns != self.targets.n_columns:
            self.statistic.spread_targets(self.targets.places(targets), targets.n_columns)
        self.targets = targets

    def add(
        self, X: Any, y: NDArray, weight: NDArray | None = None, on_rows: Callable[[int], None] | None = None
    ) -> None:
        """Add validated rows in place, a block at a time; `on_rows` is told the number of rows after each."""
        targets, y = self.targets.taking(y)
        self.widen(targets)
        step = gram_rows(self.batch_rows, self.statistic.cross.shape[0], X.dtype)
        for start in range(0, X.shape[0], step):
            part = slice(start, start + step)
            w = targets.weighted(y[part], None if weight is None else weight[part])
            self.statistic.add(self._features(X[part]), targets.encoded(y[part]), w)
            if self.held_out is not None:
                self.held_out.add(X[part], y[part], targets.hashes(y[part]), w)
            if on_rows is not None:
                on_rows(self.n_rows)

    def __add__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        targets = self._common_targets(other)
        total = self.copy()
        if self.held_out is not None:
            total.held_out = self.held_out + other.held_out  # type: ignore[operator]
        total.widen(targets)
        total.statistic.combine(other.statistic, places=other.targets.places(targets))
        return total

    def __iadd__(self, other: "Tally") -> "Tally":
        """Add in place: for a tally with one owner, as it spares a copy of the statistic."""
        targets = self._common_targets(other)
        held_out = None if self.held_out is None else self.held_out + other.held_out  # type: ignore[operator]
        self.widen(targets)
        self.statistic.combine(other.statistic, places=other.targets.places(targets))
        self.held_out = held_out
        return self

    def __sub__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        targets = self._common_targets(other)
        if other.n_rows > self.n_rows:
            raise ValueError(f"A tally of {self.n_rows} rows cannot lose {other.n_rows}: they were not all added.")
        rest = self.copy()
        if self.held_out is not None:
            rest.held_out = self.held_out - other.held_out  # type: ignore[operator]
        rest.widen(targets)
        rest.statistic.combine(other.statistic, sign=-1.0, places=other.targets.places(targets))
        rest._refuse_negative()
        return rest

    def __mul__(self, factor: float) -> "Tally":
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError(f"factor must be a finite number above 0, got {factor!r}.")
        scaled = self.emptied()
        scaled.statistic = self.statistic * factor
        scaled.held_out = None if self.held_out is None else self.held_out * factor
        return scaled

    __rmul__ = __mul__

    def __radd__(self, other: Any) -> "Tally":
        # The start of `sum`.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def refuse_unlike(self, other: "Tally") -> None:
        """Refuse a tally of rows that went through other features, and name the difference."""
        difference = self.layout.difference(other.layout)
        if difference:
            raise ValueError(f"Tallies must have the same {difference.replace(', ', ' to be added, got ', 1)}.")
        difference = self.features.difference(other.features)
        if difference:
            raise ValueError(
                f"Tallies must be of the same features to be added, but they differ in {difference}: "
                "they were settled on different rows or with other parameters."
            )
        if (self.held_out is None) != (other.held_out is None):
            raise ValueError("Tallies must both hold rows out, or neither, to be added.")
        if self.held_out is not None and other.held_out is not None:
            self.held_out.refuse_unlike(other.held_out)

    def _refuse_negative(self) -> None:
        """Refuse sums that cannot be below zero but are, by more than rounding: rows were taken out and never added."""
        statistic = self.statistic
        least = -_ROUNDING * max(1.0, abs(statistic.weight), float(np.abs(statistic.target_sums).max(initial=0.0)))
        if self.classes is not None and (statistic.target_sums < least).any():
            label = self.classes[statistic.target_sums.argmin()]
            raise ValueError(f"Rows can be taken out of those that were added only: some of class {label!r} were not.")
        if statistic.weight < least:
            raise ValueError("Rows can be taken out of those that were added only: their weights were smaller.")

    def _common_targets(self, other: "Tally") -> Targets:
        """Return targets with room for those of both, if the two can be combined."""
        if type(self.targets) is not type(other.targets):
            raise ValueError("Tallies must both be of classes, or both of numbers, to be added.")
        self.refuse_unlike(other)
        return self.targets.joined(other.targets)

    def _features(self, X: Any) -> NDArray:
        """Return the features of a block. The buffer is reused by the next call."""
        Z = self.features(X, self._scratch)
        if self._scratch is None or self._scratch.shape[0] < Z.shape[0]:
            self._scratch = Z
        return Z

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, for schedulers that place work by what it weighs."""
        statistic, sample = self.statistic, None if self.held_out is None else self.held_out.sample
        arrays = [*statistic.to_plain()["gram"].values(), statistic.cross, *([] if sample is None else sample)]
        return object.__sizeof__(self) + sum(map(_n_bytes, arrays))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_scratch": None}  # it is as large as the statistic, and of no use elsewhere


def _n_bytes(array: Any) -> int:
    """Return the bytes of an array or of a CSR matrix."""
    parts = (array.data, array.indices, array.indptr) if issparse(array) else (array,)
    return sum(part.nbytes for part in parts)
