"""What all maps have in common: how they meet scikit-learn."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from craftmaps._rows.canonical import without_duplicates
from craftmaps._rows.sampling import Pick, first_rows
from craftmaps._system.threads import for_row_blocks
from craftmaps.kernels import DotProductKernel, Rows

_ROWS_AT_A_TIME = 1024
_NUMBERS_AT_A_TIME = 2**18


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer of dense or CSR rows that keeps single and double precision."""

    n_features_in_: int

    def transform(self, X: Rows) -> NDArray[np.floating]:
        """Map the rows of X; the result keeps the precision of X."""
        check_is_fitted(self)
        self._refuse_changed_parameters()
        self.n_features_in_ = getattr(self, "_drawn_width", self.n_features_in_)  # a refused fit may have changed it
        return self._transform_rows(self._validated(X, reset=False))

    @abstractmethod
    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map rows that are known to be good."""

    @property
    @abstractmethod
    def _n_features_out(self) -> int:
        """Width of the result."""

    def _transform_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write what rows that are known to be good become into an array, a few of them at a time."""
        for start in range(0, X.shape[0], _ROWS_AT_A_TIME):
            out[start : start + _ROWS_AT_A_TIME] = self._transform_rows(X[start : start + _ROWS_AT_A_TIME])

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights that `_unfinished_into` is to be multiplied with instead of features with `weights`.

        A map whose last step is linear leaves it out there and does it here, once for all rows.
        """
        return weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the features of rows before the last linear step into an array."""
        self._transform_into(X, out)

    def _remember_parameters(self) -> None:
        """Keep the parameters and the width that something has been drawn for: sizes of arrays follow from them."""
        self._drawn_for, self._drawn_width = self.get_params(deep=False), self.n_features_in_

    def _refuse_changed_parameters(self) -> None:
        """Refuse to transform by parameters that what has been drawn does not fit: loops check no bounds."""
        for name, old in getattr(self, "_drawn_for", {}).items():
            new = getattr(self, name)
            if name != "random_state" and new is not old and repr(new) != repr(old):
                raise ValueError(f"{name} was {old!r} when the map was fitted and is {new!r} now: fit it again.")

    def _validated(self, X: Rows, reset: bool = True) -> Any:
        """Return X as float32 or float64 rows, dense or CSR; with `reset` its width is learned."""
        before = self.__dict__.copy()
        X = validate_data(
            self, X, dtype=(np.float64, np.float32), accept_sparse="csr", reset=reset, ensure_all_finite=False
        )
        if not (get_config()["assume_finite"] or _has_finite_sums(X.data if issparse(X) else X)):
            try:
                assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            except ValueError:
                self.__dict__ = before  # a map that was fitted before is still good
                raise
        return without_duplicates(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class KernelMap(FeatureMap):
    """A map whose inner products estimate its `kernel`."""

    kernel: Any

    def _fit(self, X: Rows, pick: Pick) -> Any:
        """Fit the map; one that looks at a sample of the rows picks them so."""
        return self.fit(X)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; one such as `kernel__degree` is set on a copy, as others may hold the kernel."""
        if any(name.startswith("kernel__") for name in params):
            params["kernel"] = clone(params.get("kernel", self.kernel))
        return super().set_params(**params)

    def _checked_kernel(self) -> DotProductKernel:
        """Return the kernel if it is one of this library's and its parameters are good."""
        if not isinstance(self.kernel, DotProductKernel):
            raise TypeError(
                "kernel must be a Polynomial, Exponential or MaclaurinSeries, "
                f"got {type(self.kernel).__name__} {self.kernel!r}."
            )
        self.kernel.check()
        return self.kernel

    def _refuse_overflow(self, X: Any) -> None:
        """Refuse rows whose kernel is not a number in their precision."""
        with np.errstate(over="ignore"):
            lengths = row_norms(X, squared=True)
            largest = self.kernel.of_dot_products(lengths.copy())
        if not np.isfinite(largest).all():
            raise ValueError(
                "The kernel overflows on the rows of X, whose squared length reaches "
                f"{lengths.max():.3g}: scale the rows first."
            )


def fit_in_order(transformer: Any, X: Any) -> Any:
    """Fit a transformer on rows that are in random order; maps of this library then take the first for a sample."""
    return transformer._fit(X, first_rows) if isinstance(transformer, KernelMap) else transformer.fit(X)


def _has_finite_sums(X: NDArray[np.floating]) -> bool:
    """Tell whether blocks of numbers have finite sums: then they are finite themselves.

    What scikit-learn does on one thread takes a twentieth of the time of a map.
    """
    sums = []

    def add_up(start: int, stop: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            sums.append(np.add.reduce(X[start:stop], axis=None))

    if X.size <= _NUMBERS_AT_A_TIME:
        add_up(0, X.shape[0])  # to wake a thread takes longer
    else:
        for_row_blocks(add_up, X.shape[0], _NUMBERS_AT_A_TIME // X[0].size)
    return bool(np.isfinite(sums).all())


def check_choice(name: str, value: Any, choices: tuple) -> None:
    """Refuse a value that is none of the choices."""
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
