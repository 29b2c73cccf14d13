"""What a learner was given or has chosen for kernel, metric and length."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from craftmaps.shaping.chosen_metric import ChosenMetric
from craftmaps.shaping.row_shaping import categories_of


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to the library."""
    return isinstance(value, str) and value == "auto"


class Trial(NamedTuple):
    """A candidate of the search and its error on rows it was not fitted to.

    Errors can be compared among trials of the same `n_rows` and `width`; a width of 0 is the kernel itself.
    """

    name: str
    error: float
    standard_error: float = 0.0
    seconds: float = 0.0
    n_rows: int = 0
    width: int = 0
    is_taken: bool = False


@dataclass(frozen=True)
class Choices:
    """The choices of a learner; "auto" where one is still to be made.

    Attributes
    ----------
    kernel : kernel, or "auto"
    metric : transformer that is not fitted, None, or "auto"
    normalize : bool, float, or "auto"
        As the parameter of the learner; a factor for all rows if a common scale was chosen.
    feature_map : str, transformer or None
        As the parameter of the learner; None if a linear model of the shaped rows was chosen.
    linear_columns : bool or "auto"
        Whether the columns stand beside the features of the map.
    categories : tuple of int, list, None or "auto"
        Positions of the columns whose levels have indicators: the first step of the metric makes them.
    n_rows : int
        How many rows were looked at to make the choices, fit the metric and draw the map.
    trials : tuple of Trial
        What was compared; empty if nothing was left to choose.
    by_targets : bool
        Whether targets of some rows have decided, now or when the parameters were chosen.
    """

    kernel: Any = "auto"
    metric: Any = "auto"
    normalize: Any = "auto"
    feature_map: Any = "craft"
    linear_columns: Any = "auto"
    categories: Any = "auto"
    n_rows: int = 0
    trials: tuple[Trial, ...] = field(default=(), repr=False)
    by_targets: bool = field(default=False, repr=False)

    def category_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the names of the categories, or their positions where columns have no names."""
        if self.categories is None or is_auto(self.categories):
            return []
        return [str(j) if names is None or isinstance(j, str) else str(names[int(j)]) for j in self.categories]

    def parameters(self) -> dict[str, Any]:
        """Return the choices as parameters of a learner, which then repeats them without a search.

        With the same rows, the same other parameters and the same seed it learns the same model.

        Examples
        --------
        >>> from craftmaps import CraftClassifier, datasets
        >>> digits = datasets.load("digits")
        >>> model = CraftClassifier(n_components=64, random_state=0).fit(digits.X_train, digits.y_train)
        >>> again = CraftClassifier(n_components=64, random_state=0, **model.choices_.parameters())
        >>> bool((again.fit(digits.X_train, digits.y_train).coef_ == model.coef_).all())
        True
        """
        names = ("kernel", "metric", "normalize", "feature_map", "linear_columns", "categories")
        given = {name: getattr(self, name) for name in names}
        if categories_of(self.metric) is not None:
            given["categories"] = None  # the metric sees to them
        return given | {"metric": ChosenMetric(self.metric)} if self.by_targets else given
