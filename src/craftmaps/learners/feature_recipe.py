"""What features are asked for, and how they are settled before the first row is counted."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.extmath import row_norms

from craftmaps._rows.randomness import child_seed, uniforms
from craftmaps._system.progress import Phase, tell
from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.learners.choices import Choices, Trial, is_auto
from craftmaps.learners.search import WIDEST_LINEAR, Found, SearchSpec, search
from craftmaps.learners.survey import Survey
from craftmaps.learners.targets import ClassTargets, Targets
from craftmaps.maps.catalogue import CATALOGUE, make_map, map_name
from craftmaps.maps.feature_map import fit_in_order
from craftmaps.shaping.category_columns import checked_positions
from craftmaps.shaping.chosen_metric import ChosenMetric, taken
from craftmaps.shaping.covariance_metric import LinearMetric
from craftmaps.shaping.row_features import RowFeatures
from craftmaps.shaping.row_shaping import (
    RowShaping,
    categories_of,
    first_columns,
    linear_columns,
    looks_at_targets,
    named_shaping,
    steps_of,
)

_FEWEST_ROWS = 40  # to choose by


class Settled(NamedTuple):
    """Features that are ready to count rows, how they came about, and the rows whose targets were looked at.

    `is_sparse` if they are the columns of sparse rows, too many for a Gram matrix.
    """

    features: RowFeatures
    choices: Choices
    spent: tuple[Any, NDArray]
    is_sparse: bool = False


@dataclass(frozen=True, eq=False)
class FeatureRecipe:
    """The features that a learner was asked for.

    Parameters
    ----------
    kernel, metric, normalize, feature_map, n_components, up_components, linear_columns, categories
        As in `CraftClassifier`.
    n_rows : int
        How many rows to look at.
    keeps_rows : bool
        Whether rows must be left whose targets nothing has looked at, to be held out.
    has_folds : bool
        Whether these are dealt into folds, and not given by splits.
    """

    kernel: Any
    metric: Any
    normalize: Any
    feature_map: Any
    n_components: int
    up_components: int | str | None
    linear_columns: bool | str
    categories: Any
    n_rows: int
    keeps_rows: bool
    has_folds: bool = True

    @property
    def needs_rows(self) -> bool:
        """Whether rows must be seen before they can be mapped."""
        if self.feature_map is None or (isinstance(self.feature_map, str) and not self._holds_rows):
            is_open = is_auto(self.kernel) or self.metric is not None or self.linear_columns is True
            is_open = is_open or not (self.categories is None or is_auto(self.categories))
            return is_open or not (self.normalize is True or is_auto(self.normalize))
        return True

    @property
    def n_first_rows(self) -> int:
        """How many rows are looked at before any is counted; landmarks are drawn from them."""
        return max(self.n_rows, 2 * self.n_components) if self._holds_rows else self.n_rows

    @property
    def _holds_rows(self) -> bool:
        """Whether features depend on rows that the map chooses, such as landmarks."""
        return isinstance(self.feature_map, str) and CATALOGUE[self.feature_map].holds_rows

    def choices(self) -> Choices:
        """Return what is given; "auto" is still to be chosen."""
        return Choices(self.kernel, self.metric, self.normalize, self.feature_map, self.linear_columns, self.categories)

    def settle(self, survey: Survey, has_rows: bool = False) -> Settled:
        """Make the open choices, fit the metric and draw the map on rows of a survey.

        Rows whose targets were looked at are never held out: an error on them would flatter. `has_rows` if all rows
        can be looked at again after the pass, so that classes can be learned with the logistic loss.
        """
        targets, seed, entries = survey.targets, survey.seed, survey.entries
        nothing = entries.X[:0], entries.y[:0]
        if not self.needs_rows:
            features, choices = RowFeatures(), replace(self.choices(), metric=None, normalize=True)
            rows = _canonical_rows(survey.layout.n_features, seed).astype(entries.X.dtype)
            choices = replace(choices, linear_columns=False, categories=None)
            return self._with_map(features, choices, rows, seed, nothing)
        n_spent, first = self._n_to_spend(survey.n_rows), survey.different_rows(self.n_first_rows)
        *spent, weight = survey.rows_with_copies(n_spent) if n_spent else (*nothing, None)
        some, y = spent if n_spent else (first, entries.y[:0])
        y = targets.balanced(y) if n_spent else y
        _refuse_overflow(some)
        shaping, choices = self._choose((some, y, weight), targets, survey, has_rows)
        tell(Phase.METRIC)
        metric = shaping.fitted_metric(some, targets.encoded(y))
        features = shaping.fitted(some, metric)
        if choices.linear_columns is True:
            features = replace(features, linear=linear_columns(first_columns(features.metric), some))
        # Landmarks are drawn from as many rows as there are: they do not look at targets.
        shaped = features.shape_rows(first if self._holds_rows else some)
        length = shaping.length if isinstance(shaping.length, bool) else features.scale
        choices = replace(
            choices,
            metric=_unfitted(features.metric),
            normalize=length,
            categories=categories_of(features.metric),
            n_rows=some.shape[0],
            by_targets=bool(choices.trials) or isinstance(self.metric, ChosenMetric),
        )
        settled = self._with_map(features, choices, shaped, seed, (spent[0], spent[1]))
        is_solved_from_rows = has_rows and self.has_folds and choices.feature_map is None and not _is_narrow(some)
        return settled._replace(is_sparse=is_solved_from_rows)

    @property
    def _open_choices(self) -> tuple[Any, Any, Any]:
        """Kernel, metric and normalize.

        Rows are scaled to unit length with an explicit kernel and metric, or a kernel that is meant for such rows.
        """
        is_explicit = not is_auto(self.kernel) and not is_auto(self.metric)
        is_settled = is_auto(self.normalize) and (is_explicit or getattr(self.kernel, "is_for_unit_rows", False))
        return self.kernel, taken(self.metric), True if is_settled else self.normalize

    @property
    def _looks_at_targets(self) -> bool:
        """Whether targets are, or were, looked at: to compare candidates, or for a gradient metric."""
        was_chosen = isinstance(self.metric, ChosenMetric)
        return was_chosen or self._has_gradient_metric or any(map(is_auto, self._open_choices))

    @property
    def _has_gradient_metric(self) -> bool:
        metric = taken(self.metric)
        return metric == "gradient" if isinstance(metric, str) else looks_at_targets(metric)

    def _n_to_spend(self, n_rows: int) -> int:
        """Return how many rows to choose by: two thirds, so that others are left to be held out.

        None if targets are not looked at, or if there are too few rows to choose by.
        """
        n_left = max(2, n_rows // 3) if self.keeps_rows else 0
        size = min(self.n_rows, n_rows - n_left)
        fewest = 1 if self._has_gradient_metric else _FEWEST_ROWS
        return size if self._looks_at_targets and size >= fewest else 0

    def _choose(
        self, rows: tuple[Any, NDArray, NDArray | None], targets: Targets, survey: Survey, has_rows: bool
    ) -> tuple[RowShaping, Choices]:
        """Make the choices that are left open; return how rows are shaped, and the others."""
        X, y, weight = rows
        categories = self._given_categories(survey)
        kernel, metric, normalize = self._open_choices
        has_linear_columns = self.linear_columns is True and self.feature_map is not None
        if not any(map(is_auto, (kernel, metric, normalize))):
            choices = replace(self.choices(), linear_columns=has_linear_columns)
            shaping = named_shaping(metric, normalize)
            return shaping if isinstance(categories, str) else shaping.with_categories(categories), choices
        spec = SearchSpec(
            lambda kernel, width: self._make_map(kernel, width, survey.seed),
            self.n_components,
            kernel,
            metric,
            normalize,
            n_rows=survey.n_rows,
            is_kernel_map=isinstance(self.feature_map, str),
            holds_rows=self._holds_rows,
            is_classification=isinstance(targets, ClassTargets),
            # The statistic has a row for every column: those of sparse rows can be too many, unless rows stay at hand.
            allow_linear=is_auto(self.linear_columns) and (_is_narrow(X) or (has_rows and self.has_folds)),
            allow_logistic=has_rows and targets.loss != "squared",
            categories=categories or None,
        )
        found = search(X, y, targets, spec, targets.weighted(y, weight))
        length = normalize if not is_auto(normalize) else (True if found.normalize else "common")
        steps = [*steps_of(found.columns), *steps_of(found.metric)]
        shaping = RowShaping(steps[0] if len(steps) == 1 else make_pipeline(*steps) if steps else None, length)
        choices = replace(
            self.choices(),
            kernel=Polynomial(1) if found.kernel is None else found.kernel,
            feature_map=None if found.kernel is None else self.feature_map,
            linear_columns=found.linear or (has_linear_columns and found.kernel is not None),
            trials=_with_the_taken_one(found),
        )
        return shaping, choices

    def _given_categories(self, survey: Survey) -> tuple[int, ...] | str:
        """Return the positions of the columns that were given as categories, or "auto"."""
        if self.categories is None or is_auto(self.categories):
            return self.categories or ()
        return checked_positions(self.categories, survey.layout.n_features, survey.layout.names)

    def _with_map(
        self, features: RowFeatures, choices: Choices, shaped: Any, seed: int, spent: tuple[Any, NDArray]
    ) -> Settled:
        """Draw the map for shaped rows, and put it behind metric and length."""
        tell(Phase.MAP)
        feature_map = None
        if choices.feature_map is not None:
            feature_map = fit_in_order(self._make_map(clone(choices.kernel), None, seed), shaped)
        # A map that was given has its own kernel.
        kernel = getattr(self.feature_map, "kernel", choices.kernel)
        return Settled(replace(features, feature_map=feature_map), replace(choices, kernel=kernel), spent)

    def _make_map(self, kernel: DotProductKernel, width: int | None, seed: int) -> Any:
        """Return the feature map, not yet fitted, perhaps of another width than asked for."""
        seed, n_components = child_seed(seed, "map"), self.n_components if width is None else width
        if not isinstance(self.feature_map, str):
            return None if self.feature_map is None else clone(self.feature_map)
        up_components = None if n_components < self.n_components else self.up_components
        return make_map(self.feature_map, kernel, n_components, up_components=up_components, seed=seed)


def choices_of(features: RowFeatures) -> Choices:
    """Return the choices that fitted features tell of, as those of a model file do."""
    feature_map, length = features.feature_map, features.scale
    return Choices(
        getattr(feature_map, "kernel", Polynomial(1) if feature_map is None else "auto"),
        _unfitted(features.metric),
        True if length is None else length,
        None if feature_map is None else map_name(feature_map),
        features.linear is not None,
        categories_of(features.metric),
    )


def _unfitted(metric: Any) -> Any:
    """Return a metric as it would have to be given to be fitted like this one."""
    if isinstance(metric, Pipeline):
        return make_pipeline(*map(_unfitted, steps_of(metric)))
    if metric is None:
        return None
    copy = clone(metric)
    return copy.set_params(n_components=metric._n_features_out) if isinstance(metric, LinearMetric) else copy


def _with_the_taken_one(found: Found) -> tuple[Trial, ...]:
    """Return the trials of a search with the last one of what was found marked."""
    trials = [Trial(t.description, t.error, t.standard_error, t.seconds, t.n_rows, t.width) for t in found.trials]
    for i in range(len(trials) - 1, -1, -1):
        if trials[i].name == found.description:
            trials[i] = trials[i]._replace(is_taken=True)
            break
    return tuple(trials)


def _is_narrow(X: Any) -> bool:
    """Tell whether the columns of rows are few enough to be features, with a Gram matrix of them."""
    return not issparse(X) or X.shape[1] <= WIDEST_LINEAR


def _refuse_overflow(X: Any) -> None:
    """Refuse rows whose products overflow in their precision."""
    with np.errstate(over="ignore"):
        longest = float(row_norms(X, squared=True).max())
    if not np.isfinite(X.shape[0] * longest):
        raise ValueError("X must have rows whose squared lengths add up to a number in their precision: scale them.")


def _canonical_rows(width: int, seed: int) -> NDArray[np.float64]:
    """Return rows of unit length that stand for data not seen: maps then depend on parameters alone."""
    rows = uniforms(child_seed(seed, "canonical"), "rows", 64 * width).reshape(64, width) ** 2
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
