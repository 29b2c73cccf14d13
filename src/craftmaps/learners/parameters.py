"""What estimators check: parameters, rows, targets and weights."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import validate_data

from craftmaps._rows.canonical import without_duplicates
from craftmaps.kernels import DotProductKernel, Rows
from craftmaps.learners.choices import is_auto
from craftmaps.learners.feature_recipe import FeatureRecipe
from craftmaps.learners.one_pass import PassSettings
from craftmaps.learners.penalty_search import DEFAULT_ALPHAS
from craftmaps.learners.persistence.stored_parameters import parameters_to_plain
from craftmaps.learners.tally import Origin
from craftmaps.maps.catalogue import MAP_NAMES
from craftmaps.maps.craft_parts import check_up_components
from craftmaps.maps.feature_map import check_choice, with_copied_kernel
from craftmaps.shaping.category_columns import check_categories
from craftmaps.shaping.row_features import same
from craftmaps.shaping.row_shaping import METRICS
from craftmaps.tables import Columns, encode_frame, is_frame, listed, text_columns


class GivenRows(NamedTuple):
    """The rows of a call that have some weight, and which of the given rows they are."""

    X: Any
    y: NDArray
    weight: NDArray[np.float64] | None
    n_given: int
    kept: NDArray[np.int64]

    @property
    def values(self) -> tuple[Any, NDArray, NDArray[np.float64] | None]:
        """Rows, targets and weights."""
        return self.X, self.y, self.weight


def checked_rows(estimator: Any, X: Rows, y: Rows, sample_weight: Rows | None, reset: bool) -> GivenRows:
    """Return the rows that can be counted; with `reset` the estimator learns their columns."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    _refuse_text(X)
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=_precisions(X),
        accept_sparse="csr",
        reset=reset,
        multi_output=True,
        y_numeric=False,
    )
    weight = _checked_weights(sample_weight, X.shape[0])
    n_given, kept = X.shape[0], np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
    if kept.size < n_given:  # a label of no weight is no label
        X, y, weight = X[kept], y[kept], weight[kept]  # type: ignore[index]
    return GivenRows(without_duplicates(X), y, weight, n_given, kept)


def rows_to_predict(estimator: Any, X: Rows) -> Any:
    """Return the rows to predict for; a data frame is encoded by the rule that a table was learned with."""
    notes = getattr(estimator, "notes_", None)
    rule = notes.get("columns") if isinstance(notes, dict) and is_frame(X) else None
    if rule is not None:
        X = encode_frame(X, Columns.from_plain(rule))
    X = validate_data(estimator, X, dtype=_precisions(X), accept_sparse="csr", reset=False)
    return without_duplicates(X)


def _precisions(X: Any) -> tuple[type, ...]:
    """Return what X may be computed in: numbers of at most 16 bits, such as pixels, need no double precision."""
    dtype = getattr(X, "dtype", None)
    is_short = isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 2
    return (np.float32,) if is_short else (np.float64, np.float32)


def checked_splits(cv: Any, n_rows: int) -> list[NDArray[np.int64]] | None:
    """Return the positions of the rows to test on if `cv` gives splits of the rows of `fit`."""
    if cv is None or isinstance(cv, Integral):
        return None
    splits = list(cv)
    if not all(isinstance(split, tuple | list) and len(split) == 2 for split in splits):
        raise TypeError(f"cv must be an int, a list of (train, test) splits or None, got {cv!r}.")
    if not splits:
        raise ValueError("cv must have at least one split, got none.")
    return [np.arange(n_rows)[test] for _, test in splits]


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that cannot work."""
    if not is_auto(estimator.kernel) and not isinstance(estimator.kernel, DotProductKernel):
        raise TypeError(f"kernel must be 'auto' or a kernel of this library, got {estimator.kernel!r}.")
    check_scalar(estimator.n_components, "n_components", Integral, min_val=1)
    check_up_components(estimator.up_components)
    if not hasattr(estimator.feature_map, "fit"):
        check_choice("feature_map", estimator.feature_map, (*MAP_NAMES, None))
    if not hasattr(estimator.metric, "fit"):
        check_choice("metric", estimator.metric, ("auto", *METRICS, None))
    _check_normalize(estimator.normalize)
    check_choice("linear_columns", estimator.linear_columns, ("auto", True, False))
    check_categories(estimator.categories)
    check_choice("fit_intercept", estimator.fit_intercept, (True, False))
    check_choice("packed", estimator.packed, ("auto", True, False))
    check_choice("solver", estimator.solver, ("auto", "tally", "iterative"))
    if estimator.solver == "iterative" and not estimator.fit_intercept:
        raise ValueError("solver must be 'auto' or 'tally' with fit_intercept=False, got 'iterative'.")
    if isinstance(estimator.cv, Integral):
        check_scalar(estimator.cv, "cv", Integral, min_val=2)
    elif estimator.cv is not None and (isinstance(estimator.cv, str) or not hasattr(estimator.cv, "__iter__")):
        raise TypeError(f"cv must be an int, a list of (train, test) splits or None, got {estimator.cv!r}.")
    check_scalar(estimator.holdout_rows, "holdout_rows", Integral, min_val=2)
    if not is_auto(estimator.batch_rows):
        check_scalar(estimator.batch_rows, "batch_rows", Integral, min_val=1)
    checked_alphas(estimator)


def checked_alphas(estimator: Any) -> list[float]:
    """Return the alphas to compare, in units of the mean of the diagonal of the Gram matrix."""
    if estimator.alphas is None:
        alphas = list(DEFAULT_ALPHAS)
    else:
        is_one = isinstance(estimator.alphas, Real)
        alphas = [estimator.alphas] if is_one else np.ravel(estimator.alphas).tolist()
    if not alphas or not all(isinstance(a, Real) and 0 <= float(a) < np.inf for a in alphas):
        raise ValueError(f"alphas must be finite numbers, none negative, got {estimator.alphas!r}.")
    if estimator.cv is None and (estimator.alphas is None or len(alphas) != 1):
        raise ValueError(f"alphas must be a single number if cv is None, got {estimator.alphas!r}.")
    return [float(a) for a in alphas]


def pass_settings(estimator: Any) -> PassSettings:
    """Return what a pass of an estimator, whose seed is drawn, depends on beside its rows."""
    recipe = FeatureRecipe(
        estimator.kernel,
        estimator.metric,
        estimator.normalize,
        estimator.feature_map,
        int(estimator.n_components),
        estimator.up_components if estimator.up_components in (None, "auto") else int(estimator.up_components),
        estimator.linear_columns,
        estimator.categories,
        n_rows=estimator.settle_rows,
        keeps_rows=estimator.cv is not None,
        has_folds=isinstance(estimator.cv, Integral),
    )
    seed = estimator.seed_
    parameters = parameters_to_plain(estimator) | {"random_state": seed}
    origin = Origin(type(estimator).__name__, parameters, seed, recipe.choices())
    holdout_rows = int(estimator.holdout_rows) if isinstance(estimator.cv, Integral) else None
    solver = estimator.solver if estimator.fit_intercept else "tally"
    return PassSettings(recipe, seed, holdout_rows, estimator.packed, estimator.batch_rows, origin, solver)


def refuse_other_parameters(one: BaseEstimator, other: BaseEstimator) -> None:
    """Refuse to merge estimators whose parameters, seeds or columns differ, and name the difference."""
    mine, theirs = one.get_params(deep=False), other.get_params(deep=False)
    for name in sorted(set(mine) - {"verbose", "batch_rows", "random_state"}):
        if not same(mine[name], theirs[name]):
            raise ValueError(f"Estimators must have the same {name} to be merged, got {mine[name]} and {theirs[name]}.")
    for name in ("seed_", "n_features_in_"):
        if getattr(one, name) != getattr(other, name):
            values = f"{getattr(one, name)} and {getattr(other, name)}"
            raise ValueError(f"Estimators must have the same {name} to be merged, got {values}.")
    here, there = (getattr(estimator, "feature_names_in_", None) for estimator in (one, other))
    if here is not None and there is not None and not np.array_equal(here, there):
        raise ValueError(
            f"Estimators must have seen the same columns in the same order to be merged, got {here} and {there}."
        )


def with_own_kernel(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters to set with a copy of the kernel, if one of its own is among them."""
    name = next((name for name in params if name.startswith("kernel__")), None)
    if name is not None and is_auto(params.get("kernel", estimator.kernel)):
        raise ValueError(
            f"{name} cannot be set while kernel is 'auto': set a kernel first, such as kernel=Polynomial()."
        )
    return with_copied_kernel(estimator, params)


def _check_normalize(normalize: Any) -> None:
    """Refuse a length that is none."""
    is_factor = isinstance(normalize, Real) and not isinstance(normalize, bool) and 0 < float(normalize) < np.inf
    if not (is_factor or is_auto(normalize) or normalize is True or normalize is False):
        raise ValueError(f"normalize must be 'auto', True, False or a positive number, got {normalize!r}.")


def _refuse_text(X: Any) -> None:
    """Refuse a data frame with columns that are not numbers, and say what takes one."""
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
