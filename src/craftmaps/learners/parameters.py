"""What learners check: rows, targets, weights and parameters."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import validate_data

from craftmaps._rows.canonical import without_duplicates
from craftmaps.kernels import DotProductKernel, Rows
from craftmaps.learners.automatic_choice import is_auto
from craftmaps.learners.penalty_search import DEFAULT_ALPHAS
from craftmaps.learners.targets import Targets
from craftmaps.maps.feature_map import check_choice
from craftmaps.tables import is_frame, listed, text_columns

FEATURE_MAPS = ("craft", "maclaurin", "tensorsketch", "landmarks", None)


class GivenRows(NamedTuple):
    """The rows of a call that have some weight, targets with room for theirs, and which of the given rows they are."""

    X: Any
    y: NDArray
    weight: NDArray[np.float64] | None
    targets: Any
    n_given: int
    kept: NDArray[np.int64]


class CheckedLearner(BaseEstimator):
    """Refuses what cannot be learned from, and leaves a model that was there unharmed."""

    _targets: Targets

    @abstractmethod
    def _new_targets(self) -> Targets:
        """Return targets before any row was seen."""

    def _validated(self, X: Rows, y: Rows, sample_weight: Rows | None, reset: bool) -> "GivenRows":
        """Return the rows that can be counted."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        _refuse_text(X)
        X, y = validate_data(
            self,
            X,
            y,
            dtype=(np.float64, np.float32),
            accept_sparse="csr",
            reset=reset,
            multi_output=True,
            y_numeric=False,
        )
        weight = _checked_weights(sample_weight, X.shape[0])
        n_given, kept = X.shape[0], np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
        if kept.size < n_given:  # a label of no weight is no label
            X, y, weight = X[kept], y[kept], weight[kept]  # type: ignore[index]
        targets, y = self._targets.taking(y) if kept.size else (self._targets, y)
        return GivenRows(without_duplicates(X), y, weight, targets, n_given, kept)

    @contextmanager
    def _unharmed(self) -> Iterator[None]:
        """If something is refused or interrupted, be as before: a model that was there is still good."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _given_splits(self, n_rows: int) -> list[NDArray[np.int64]] | None:
        """Return the positions of the rows to test on if `cv` gives splits of the rows of `fit`."""
        if self.cv is None or isinstance(self.cv, Integral):
            return None
        splits = list(self.cv)
        if not all(isinstance(split, tuple | list) and len(split) == 2 for split in splits):
            raise TypeError(f"cv must be an int, a list of (train, test) splits or None, got {self.cv!r}.")
        if not splits:
            raise ValueError("cv must have at least one split, got none.")
        return [np.arange(n_rows)[test] for _, test in splits]

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        if not is_auto(self.kernel) and not isinstance(self.kernel, DotProductKernel):
            raise TypeError(f"kernel must be 'auto' or a kernel of this library, got {self.kernel!r}.")
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        if not hasattr(self.feature_map, "fit"):
            check_choice("feature_map", self.feature_map, FEATURE_MAPS)
        if not hasattr(self.metric, "fit"):
            check_choice("metric", self.metric, ("auto", "covariance", "gradient", None))
        check_choice("normalize", self.normalize, ("auto", True, False))
        check_choice("fit_intercept", self.fit_intercept, (True, False))
        check_choice("packed", self.packed, ("auto", True, False))
        if isinstance(self.cv, Integral):
            check_scalar(self.cv, "cv", Integral, min_val=2)
        elif self.cv is not None and (isinstance(self.cv, str) or not hasattr(self.cv, "__iter__")):
            raise TypeError(f"cv must be an int, a list of (train, test) splits or None, got {self.cv!r}.")
        check_scalar(self.holdout_rows, "holdout_rows", Integral, min_val=2)
        if not is_auto(self.batch_rows):
            check_scalar(self.batch_rows, "batch_rows", Integral, min_val=1)
        self._checked_alphas()

    def _checked_alphas(self) -> list[float]:
        """Return the alphas to compare, in units of the mean of the diagonal of the Gram matrix."""
        if self.alphas is None:
            alphas = list(DEFAULT_ALPHAS)
        else:
            alphas = [self.alphas] if isinstance(self.alphas, Real) else np.ravel(self.alphas).tolist()
        if not alphas or not all(isinstance(a, Real) and 0 <= float(a) < np.inf for a in alphas):
            raise ValueError(f"alphas must be finite numbers, none negative, got {self.alphas!r}.")
        if self.cv is None and (self.alphas is None or len(alphas) != 1):
            raise ValueError(f"alphas must be a single number if cv is None, got {self.alphas!r}.")
        return [float(a) for a in alphas]


def _refuse_text(X: Any) -> None:
    """Refuse a data frame of more than numbers, and say what takes one."""
    names = text_columns(X) if is_frame(X) else []
    if names:
        raise ValueError(
            f"X must have numbers alone, without text, NaN or other missing values, got some in {listed(names)}: "
            "give the frame as fit_stream(streams.of(X, y=y)), which encodes categories and fills what is missing."
        )


def _checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights of rows if they can be used."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    weight = np.full(n_rows, float(weight)) if weight.ndim == 0 else weight
    if weight.shape != (n_rows,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"sample_weight must be {n_rows} finite numbers, none negative, got shape {weight.shape}.")
    return weight
