"""Base classes of all maps: scikit-learn's contract, and the steps by which a map is fitted, saved and rebuilt."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from craftmaps._rows.canonical import has_finite_sums, without_duplicates
from craftmaps._rows.randomness import seed_of
from craftmaps._rows.sampling import SampledRows
from craftmaps.kernels import Rows
from craftmaps.maps.drawing_costs import DrawingCost
from craftmaps.maps.moments import EstimateMoments

_ROWS_AT_A_TIME = 1024


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A transformer of dense or CSR rows that keeps single and double precision."""

    n_features_in_: int
    # Whether a row with an entry that is not finite gets such features, and no warnings, from `_transform_rows`.
    _shows_nonfinite_rows = False
    # The parameters that the current draw belongs to; empty for a map without a draw.
    _drawn_for: Mapping[str, Any] = {}

    def transform(self, X: Rows) -> NDArray[np.floating]:
        """Map the rows of X; the result keeps the precision of X."""
        check_is_fitted(self)
        self._refuse_changed_parameters()
        X = self._float_rows(X, reset=False)
        if self._shows_nonfinite_rows and self._n_features_out <= self.n_features_in_:
            # Looking at the features instead saves one way of wide rows out of memory.
            Z = self._transform_rows(without_duplicates(X))
            if not has_finite_sums(Z):
                self._refuse_nonfinite(X)
            return Z
        self._refuse_nonfinite(X)
        return self._transform_rows(without_duplicates(X))

    @abstractmethod
    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map validated rows."""

    @property
    @abstractmethod
    def _n_features_out(self) -> int:
        """Width of the result."""

    def _transform_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the features of validated rows to `out`, some rows at a time."""
        for start in range(0, X.shape[0], _ROWS_AT_A_TIME):
            out[start : start + _ROWS_AT_A_TIME] = self._transform_rows(X[start : start + _ROWS_AT_A_TIME])

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights by which to multiply the output of `_unfinished_into` instead of the features.

        A map whose last step is linear skips that step there and applies it to the weights here, once for all rows.
        """
        return weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the features of validated rows, without the last linear step, to `out`."""
        self._transform_into(X, out)

    def _penalty(self) -> NDArray[np.float64] | None:
        """Return the penalty matrix that a ridge solver needs for these features; None stands for the identity."""
        return None

    def _refuse_changed_parameters(self) -> None:
        """Refuse parameters that were changed after the draw: loops do not check bounds."""
        for name, old in self._drawn_for.items():
            new = getattr(self, name)
            if name != "random_state" and new is not old and repr(new) != repr(old):
                raise ValueError(f"{name} was {old!r} when the map was fitted and is {new!r} now: fit it again.")

    def _validated(self, X: Rows, reset: bool = True) -> Any:
        """Return X as float32 or float64 rows, dense or CSR; with `reset` remember its width."""
        if not reset:
            return self._finite_rows(X, reset)
        with self._unchanged_on_error():
            return self._finite_rows(X, reset)

    def _finite_rows(self, X: Rows, reset: bool) -> Any:
        """Validate X; scikit-learn remembers the width of rows before they are found not to be finite."""
        X = self._float_rows(X, reset)
        self._refuse_nonfinite(X)
        return without_duplicates(X)

    def _float_rows(self, X: Rows, reset: bool) -> Any:
        """Validate everything about X but that its entries are finite."""
        return validate_data(
            self, X, dtype=(np.float64, np.float32), accept_sparse="csr", reset=reset, ensure_all_finite=False
        )

    def _refuse_nonfinite(self, X: Any) -> None:
        """Raise scikit-learn's error for entries that are not finite."""
        # scikit-learn's own check runs on one thread and takes a twentieth of the time of a map.
        if not (get_config()["assume_finite"] or has_finite_sums(X.data if issparse(X) else X)):
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Restore all attributes if the block raises: an earlier fit stays usable."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class NoState(NamedTuple):
    """State of a map that learns nothing from rows but their width."""


class SeededMap(FeatureMap):
    """A map that is drawn from a seed.

    `fit` checks parameters, allocates (looks at rows, draws nothing) and draws (looks at no rows). So `plan` can
    predict errors after the first step, and a model file holds parameters, width, seed and state but no draws.
    """

    random_state: Any
    seed_: int
    # The fitted attributes that `_allocate` sets; a NamedTuple whose fields have their names.
    _State: type = NoState

    def fit(self, X: Rows, y: None = None) -> Self:
        """Allocate for the rows of X, then draw the map from its seed."""
        with self._unchanged_on_error():
            self._prepare(SampledRows(X))
            self._draw()
        return self

    def _prepare(self, rows: SampledRows) -> None:
        """Run all steps of a fit but the draw."""
        X = self._validated(rows.X)
        self._check_parameters()
        self.seed_ = seed_of(self.random_state)
        self._allocate(replace(rows, X=X))

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise a ValueError or TypeError for a parameter that cannot work."""

    def _allocate(self, rows: SampledRows) -> None:
        """Set the attributes of the state from validated rows."""

    @abstractmethod
    def _draw(self) -> None:
        """Draw everything random from seed, parameters, width and state; call this method of the base class."""
        self._drawn_for = self.get_params(deep=False)

    def _state(self) -> Any:
        """Return what `_allocate` learned."""
        return self._State(*(getattr(self, name) for name in self._State._fields))  # type: ignore[attr-defined]

    def _restore(self, width: int, state: Any) -> None:
        """Take over the width and the state of another fit, in place of `_prepare`; `random_state` is its seed."""
        self.n_features_in_, self.seed_ = width, seed_of(self.random_state)
        for name, value in zip(state._fields, state, strict=True):
            setattr(self, name, value)

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters for a model file, with the seed as `random_state`."""
        parameters = self.get_params(deep=False)
        del parameters["random_state"]
        return parameters | {"random_state": int(self.seed_)}

    def _refuse_unsavable(self) -> None:
        """Raise a TypeError if a model file cannot describe the parameters; the map need not be fitted."""

    @staticmethod
    def _checked_parts(fields: Any) -> dict[str, Any]:
        """Return the parameters of an untrusted model file that are not plain values, fully checked."""
        return {}

    def _checked_state(self, fields: Any, width: int) -> Any:
        """Return the state from an untrusted model file for rows of a width, fully checked."""
        return self._State()

    @abstractmethod
    def _drawing_costs(self) -> Iterable[DrawingCost]:
        """Return the sizes of the draws, before anything is drawn."""

    @property
    @abstractmethod
    def _estimated_kernel(self) -> Any:
        """The kernel that inner products of features estimate."""

    @abstractmethod
    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the moments of the kernel estimate at all pairs of rows; needs no draw."""

    @abstractmethod
    def _operations(self, density: float) -> float:
        """Count the arithmetic operations for a row with a share `density` of nonzeros; needs no draw."""


class KernelMap(SeededMap):
    """A map whose inner products estimate its `kernel`."""

    kernel: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one such as `kernel__degree` is set on a copy of the kernel."""
        return super().set_params(**with_copied_kernel(self, params))

    @property
    def _estimated_kernel(self) -> Any:
        return self.kernel

    def _refuse_overflow(self, X: Any) -> None:
        """Refuse rows whose kernel overflows in their precision."""
        with np.errstate(over="ignore"):
            lengths = row_norms(X, squared=True)
            largest = self.kernel.of_dot_products(lengths.copy())
        if not np.isfinite(largest).all():
            raise ValueError(
                "The kernel overflows on the rows of X, whose squared length reaches "
                f"{lengths.max():.3g}: scale the rows first."
            )


def fit_in_order(transformer: Any, X: Any) -> Any:
    """Fit a transformer on rows in random order: maps of this library sample the first rows then."""
    if not isinstance(transformer, SeededMap):
        return transformer.fit(X)
    with transformer._unchanged_on_error():
        transformer._prepare(SampledRows(X, is_random=True))
        transformer._draw()
    return transformer


def with_copied_kernel(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters for `set_params` with a copy of the kernel if one of them is nested in it.

    Other estimators, and the default of the constructor, may share the kernel.
    """
    if any(name.startswith("kernel__") for name in params):
        return params | {"kernel": clone(params.get("kernel", estimator.kernel))}
    return params


def check_choice(name: str, value: Any, choices: tuple) -> None:
    """Refuse a value that is not one of the choices."""
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
