"""What the search is given, what it tries and what it finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.learners.choices import is_auto
from craftmaps.learners.search.shapings import ShapedRows, Shaping
from craftmaps.shaping.category_columns import likely_categories

FIRST_DEGREE = 3
# Widest dense rows whose columns are features themselves; a map of wider sparse rows is slow.
WIDEST = 2048
# Wider rows are pixels or counts, of which many have few levels and none is a name.
_MOST_NUMBERS, _MOST_INDICATORS = 128, 512
polynomial = cache(Polynomial)  # equal kernels are one, so that candidates can be looked up


@dataclass(frozen=True)
class SearchSpec:
    """What is given and what is left to the search.

    Parameters
    ----------
    make_map : function of a kernel and a width
        Returns a feature map that is not yet fitted, or None for the rows themselves.
    n_components : int
        The width that will be used.
    kernel, metric, normalize
        What was given, or "auto". A metric is None, "standard", "covariance", "gradient" or a transformer.
    n_rows : int or None
        The number of rows that the model will be fitted to, if it is known.
    is_kernel_map : bool
        Whether maps approximate the kernel that they are given.
    holds_rows : bool
        Whether features of maps depend on rows that these choose, such as landmarks.
    is_classification : bool
    allow_linear : bool
        Whether to try linear models, and the shaped columns beside a map.
    allow_logistic : bool
        Whether classes may be learned with the logistic loss.
    categories : tuple of int, "auto" or None
        Columns that become indicators; "auto" tries it with those that could be categories, if the metric is open.
    """

    make_map: Callable[[DotProductKernel, int], Any]
    n_components: int
    kernel: Any = "auto"
    metric: Any = "auto"
    normalize: Any = "auto"
    n_rows: int | None = None
    is_kernel_map: bool = True
    holds_rows: bool = False
    is_classification: bool = True
    allow_linear: bool = True
    allow_logistic: bool = True
    categories: Any = None

    @property
    def lengths(self) -> tuple[bool, ...]:
        """The lengths to try."""
        return (False, True) if is_auto(self.normalize) else (bool(self.normalize),)

    @property
    def are_degrees_open(self) -> bool:
        """Whether kernels of several degrees are to be compared."""
        return is_auto(self.kernel) and self.is_kernel_map

    @property
    def is_linear_open(self) -> bool:
        """Whether linear models are to be compared."""
        return self.are_degrees_open and self.allow_linear

    def kernels(self, degrees: Sequence[int]) -> list[DotProductKernel]:
        """Return the kernels to try: of these degrees, or the one that was given."""
        if self.are_degrees_open:
            return [polynomial(degree) for degree in degrees]
        return [polynomial(FIRST_DEGREE) if is_auto(self.kernel) else self.kernel]

    def shapings(self, is_sparse: bool) -> list[Shaping]:
        """Return the shapings without axes, unless axes were given; the safest comes first."""
        given = None if is_auto(self.categories) else self.categories
        if is_auto(self.metric):
            names = ("standard", None) if is_sparse else ("standard", None, "uniform", "normal")
            return [Shaping(name, normalize=n, categories=given) for name in names for n in self.lengths]
        axes = self.metric if isinstance(self.metric, str) and self.metric != "standard" else None
        columns = None if axes else self.metric
        return [Shaping(columns, axes, normalize=n, unit_gradient=n, categories=given) for n in self.lengths]

    def open_categories(self, X: Any) -> tuple[int, ...]:
        """Return the columns to try as categories: none for data without any, which then pay nothing."""
        if not (is_auto(self.categories) and is_auto(self.metric)) or X.shape[1] > _MOST_NUMBERS:
            return ()
        return likely_categories(X, _MOST_INDICATORS)


class Candidate(NamedTuple):
    """A shaping with a kernel; None for a linear model of the shaped rows. `linear` adds columns to the map."""

    shaping: Shaping
    kernel: DotProductKernel | None
    linear: bool = False

    @property
    def columns_beside(self) -> Shaping:
        """How the columns beside the map are shaped: without axes, at one scale."""
        return replace(self.shaping, axes=None, power=1.0, normalize=False, n_axes=None, unit_gradient=False)

    def __str__(self) -> str:
        kernel = self.kernel
        name = f"degree {kernel.degree}" if isinstance(kernel, Polynomial) else repr(kernel)
        return f"{self.shaping}, {'linear' if kernel is None else name}{' and linear columns' if self.linear else ''}"


class Trial(NamedTuple):
    """What was tried, on how many rows and at which width (0 for the kernel itself), and how it did.

    `value` is what decided, see `Score.value`; it is comparable among trials of the same rows and width.
    """

    description: str
    error: float
    standard_error: float
    seconds: float
    n_rows: int
    width: int
    loss: str
    value: float


@dataclass(frozen=True)
class Found:
    """What the search has chosen.

    Attributes
    ----------
    columns, metric : transformers that are not yet fitted, or None
        One follows the other. A `GradientMetric` is fitted to encoded targets, and its `normalize` is that of the
        rows that gradients are taken at: set it to False once it is fitted, as `normalize` below sees to lengths.
    normalize : bool
        Whether rows are brought to unit length, or to a mean squared length of 1.
    kernel : DotProductKernel or None
        None stands for a linear model of the shaped rows.
    linear : bool
        Whether the columns, as `columns` makes them and at a mean squared length of 1, stand beside the map.
    loss : {"squared", "logistic"}
    alpha : float
        The best relative penalty on the rows of the search.
    trials : tuple of Trial
    description : str
    """

    columns: Any
    metric: Any
    normalize: bool
    kernel: DotProductKernel | None
    linear: bool
    loss: str
    alpha: float
    trials: tuple[Trial, ...]
    description: str

    @classmethod
    def of(cls, candidate: Candidate, rows: ShapedRows, loss: str, alpha: float, trials: tuple[Trial, ...]) -> "Found":
        """Return the transformers of a candidate that rows are prepared for."""
        shaping, n_axes = candidate.shaping, None
        if shaping.axes is not None:
            n_axes = rows.n_axes_of(shaping)
        return cls(
            shaping.column_transformer(rows.is_sparse),
            shaping.metric(n_axes),
            shaping.normalize,
            candidate.kernel,
            candidate.linear,
            loss,
            alpha,
            trials,
            str(candidate),
        )
