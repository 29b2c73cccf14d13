"""The regressor that learns from any number of rows in one pass."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from craftmaps.kernels import DotProductKernel, Rows
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.targets import NumberTargets


class CraftRegressor(RegressorMixin, MultiOutputMixin, OnePassEstimator):
    """Predict numbers with a kernel learned in one pass over the rows.

    As `CraftClassifier`, for one target or several. What is chosen for several targets together does not
    depend on their units: in all comparisons they are brought to one spread.

    Parameters
    ----------
    kernel : "auto" or a kernel, default="auto"
        What to approximate. "auto" compares polynomial kernels of several degrees.
    n_components : int, default=2048
        Width E of the features; the model has E numbers for each target, the pass costs E^2 a row.
    feature_map : {"craft", "maclaurin", "tensorsketch", "landmarks"}, None or transformer, default="craft"
        None is a linear model of the shaped rows. A transformer is cloned.
    up_components : int, "auto" or None, default=None
        Width D of the up-projection of "craft"; None means 8 * n_components, as in the
        paper's tables. "auto" is that of `CraftMap`: the smallest predicted kernel error, for narrow rows
        with exact quadratic columns, which cannot be exported yet.
    metric : {"auto", "covariance", "gradient"}, None or transformer, default="auto"
        What rows go through first. "auto" compares rows as they are, standardised columns,
        covariance and gradient metrics.
    normalize : bool or "auto", default="auto"
        Whether rows are then brought to unit length. With an explicit kernel and metric "auto"
        means True; otherwise unit length is compared with one common scale for all rows. A number scales all
        rows.
    linear_columns : bool or "auto", default="auto"
        Whether the columns stand beside the features of the map, so that a linear part need not be estimated. "auto"
        tries it, and a linear model, unless kernel, metric and normalize are given.
    categories : "auto", list or None, default="auto"
        Columns of whole numbers that are names, by position or name: each level gets an indicator column of its own,
        and a level that was not there when features were settled gets zeros. None takes all columns as numbers. "auto"
        tries columns of 3 to 32 levels as categories, all or none of them, and keeps what predicts rows left out
        better; with an explicit metric it means None.
    alphas : float, sequence of float or None, default=None
        Penalties to compare, in units of trace(G) / E of the centred Gram matrix G.
    cv : int or None, default=5
        Folds of the held-out sample to choose alpha with; None needs a single alpha.
    holdout_rows : int, default=10_000
        Size of the held-out sample, kept in raw form during the pass.
    fit_intercept : bool, default=True
    batch_rows : int or "auto", default="auto"
        Rows to map at a time.
    packed : bool or "auto", default="auto"
        Whether to keep one triangle of the Gram matrix in float32, a quarter of the memory of a
        float64 square; "auto" does where the square does not fit. Rounding then calls for a larger alpha.
    solver : {"auto", "tally", "iterative"}, default="auto"
        How `fit` solves. "tally" counts rows in a Gram matrix, which can be added to, saved and taken rows out of.
        "iterative" keeps the features of all rows in memory, at 2 bytes each, and takes steps of conjugate gradients:
        far quicker for very many features, but no tally is left. "auto" takes it from 4,096 features on where it
        takes less time, which depends on rows and targets, and fits in memory.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from; statistics of different rows add up if it is the same int.
    verbose : int, default=0
        Whether `fit` and `fit_stream` show their progress: a bar in a notebook, else on standard error.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty, in units of scikit-learn's `Ridge`.
    cv_results_ : dict
        `error`, `error_by_fold`, `n_rows` and `n_effective`: the squared error of rows that nothing has looked at,
        each fold at the alpha that the others choose. `alpha`, `mean_error`, `std_error`, `fold_errors` and `chosen`:
        the curve. Several targets are brought to one spread, the root of their mean variance.
    choices_ : Choices
        What was chosen for kernel, metric and normalize, and the held-out errors of the candidates; "auto" where a
        choice is still to be made.
    n_rows_seen_ : int
    coef_ : ndarray of shape (E,) or (n_targets, E)
    intercept_ : float or ndarray of shape (n_targets,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from craftmaps import CraftRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CraftRegressor(n_components=256, random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.5)
    True
    """

    def __init__(
        self,
        kernel: DotProductKernel | str = "auto",
        n_components: int = 2048,
        *,
        feature_map: Any = "craft",
        up_components: int | str | None = None,
        metric: Any = "auto",
        normalize: bool | float | str = "auto",
        linear_columns: bool | str = "auto",
        categories: Any = "auto",
        alphas: ArrayLike | None = None,
        cv: Any = 5,
        holdout_rows: int = 10_000,
        fit_intercept: bool = True,
        batch_rows: int | str = "auto",
        packed: bool | str = "auto",
        solver: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.feature_map = feature_map
        self.up_components = up_components
        self.metric = metric
        self.normalize = normalize
        self.linear_columns = linear_columns
        self.categories = categories
        self.alphas = alphas
        self.cv = cv
        self.holdout_rows = holdout_rows
        self.fit_intercept = fit_intercept
        self.batch_rows = batch_rows
        self.packed = packed
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose

    def partial_fit(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Learn from more rows."""
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Rows) -> NDArray[np.floating]:
        """Return the targets of every row as float64, in the shape of those learned from."""
        # Targets may be far from zero: single precision would round them to the digits that the intercept leaves.
        outputs = self._outputs(X, np.float64)
        return outputs[:, 0] if self._targets.is_flat else outputs

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The solution for the targets."""
        return self._solved.coef[0] if self._targets.is_flat else self._solved.coef

    @property
    def intercept_(self) -> Any:
        """The constants for the targets."""
        return self._solved.intercept[0] if self._targets.is_flat else self._solved.intercept

    @property
    def _targets(self) -> NumberTargets:
        return super()._targets  # type: ignore[return-value]

    def _new_targets(self) -> NumberTargets:
        return NumberTargets()
