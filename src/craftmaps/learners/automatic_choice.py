"""Automatic choices: how to treat rows and which kernel, by held-out error on some rows.

All shapings are compared on few rows at a small width; the best few, and then kernels of other
degrees and other numbers of axes, on more rows. Features that are very many do what the kernel itself
would, so there the kernel itself is compared. Whatever looks at rows or labels does so on three quarters
of them and is scored on the fourth.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from craftmaps._system.progress import Phase, tell
from craftmaps._system.threads import for_each, multiply
from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.learners.choices import Trial, is_auto
from craftmaps.least_squares.kernel_ridge import KernelMachine
from craftmaps.least_squares.normal_equations import NormalEquations
from craftmaps.maps.feature_map import fit_in_order
from craftmaps.shaping.covariance_metric import CovarianceMetric, LinearMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.row_shaping import WIDEST, RowShaping, column_scaler, named_shaping

_DEGREES = (2, 3, 4, 5, 7, 9)
_FIRST_DEGREE, _FIRST_EXACT_DEGREE = 3, 4
_ALPHAS = (1e-6, 1e-4, 1e-2)
_PENALTIES = (1e-3, 1e-2, 1e-1)
_FIRST_WIDTH = 512
_WIDTH, _GREAT_WIDTH = 1024, 2048  # what suits a small width does not always suit a great one
_AS_GOOD_AS_EXACT = 16384
_FIRST_ROWS = 3072
_MOST_ROWS = 12288
FEWEST_ROWS = 40
_FINALISTS = 2
_FEWEST_AXES = 16


class Found(NamedTuple):
    """The best shaping and kernel of a search, and all that were tried."""

    shaping: RowShaping
    kernel: DotProductKernel
    trials: tuple[Trial, ...] = ()


class Task(NamedTuple):
    """What is to be learned: how to map, what to aim for and how to score.

    `make_map(kernel, width)` gives a feature map or None, `targets(y)` what outputs should be and
    `errors(outputs, y)` the errors of rows. `has_kernel` says whether maps approximate the kernel they are given.
    """

    make_map: Callable[[DotProductKernel, int], Any]
    targets: Callable[[NDArray], NDArray]
    errors: Callable[[NDArray, NDArray], NDArray]
    n_components: int
    has_kernel: bool

    @property
    def is_exact(self) -> bool:
        """Whether there are so many features that they do what the kernel itself would."""
        return self.has_kernel and self.n_components >= _AS_GOOD_AS_EXACT


def choose(X: Any, y: NDArray, kernel: Any, metric: Any, normalize: Any, task: Task) -> Found:
    """Choose whatever of kernel, metric and normalize is "auto", on rows in random order."""
    lengths = (True, "common") if is_auto(normalize) else (normalize,)
    candidates = _candidates(X, metric, lengths)
    first_kernel = Polynomial(_FIRST_DEGREE) if isinstance(kernel, str) else kernel
    if len(y) < FEWEST_ROWS:
        # Too few rows to tell: columns of unlike units are the commonest trap.
        usual = RowShaping(column_scaler(X), lengths[-1]) if is_auto(metric) else candidates[-1]
        return Found(usual, first_kernel)
    X, y = X[:_MOST_ROWS], y[:_MOST_ROWS]
    if len(candidates) > 1:
        small = _Trial(X[:_FIRST_ROWS], y[:_FIRST_ROWS], _FIRST_WIDTH, task)
        first = {shaping: small.score(shaping, first_kernel) for shaping in candidates}
        candidates = _best_first(first)
        if is_auto(metric) and _has_axes(X):
            powers = (1.0, 0.5) if task.is_exact else (1.0,)
            candidates = [*candidates[:_FINALISTS], *_gradients(candidates, lengths, powers)]
    if task.is_exact:
        trial, degree = _ExactTrial(X, y, task.n_components, task), _FIRST_EXACT_DEGREE
    else:
        width = _GREAT_WIDTH if task.n_components >= _GREAT_WIDTH else _WIDTH
        trial, degree = _Trial(X, y, width, task), _FIRST_DEGREE
    first_kernel = Polynomial(degree) if isinstance(kernel, str) else kernel
    final = _Final(trial, candidates[0], first_kernel)
    for shaping in candidates:
        final.try_out(shaping, first_kernel)
    if isinstance(kernel, str):
        final.try_degrees(degree)
    if is_auto(metric):
        final.try_axes()
    return final.found()


class Score(NamedTuple):
    """Errors of rows that were held out, and the mean squared distance of outputs from their targets."""

    errors: NDArray
    squares: float

    @property
    def error(self) -> float:
        """The mean error."""
        return float(np.mean(self.errors))

    def is_better_than(self, other: "Score") -> bool:
        """Compare errors, and squares where chance may have made the difference: few errors tell little."""
        z = self._difference_to(other)
        return z < 0 if abs(z) > 1.001 else self.squares < other.squares

    def is_clearly_better_than(self, other: "Score") -> bool:
        """Tell whether errors are lower beyond chance."""
        return self._difference_to(other) < -2

    def _difference_to(self, other: "Score") -> float:
        """Return the difference of errors in standard errors."""
        difference = self.errors.astype(np.float64) - other.errors
        return float(difference.sum() / (np.linalg.norm(difference) or 1.0))


class _Trial:
    """Two quarters of some rows; each is scored by a fit on the other three."""

    def __init__(self, X: Any, y: NDArray, width: int, task: Task):
        self.X, self.y, self.task = X, y, task
        self.targets = task.targets(y)
        self.width = min(task.n_components, width)
        self._fitted: dict[int, list[Any]] = {}
        self._shaped: tuple[Any, Any] = (None, None)
        # Rows come in the order of their hashes, so every fourth one is a random quarter.
        quarter = np.arange(X.shape[0]) % 4
        self.splits = [(np.flatnonzero(quarter != i), np.flatnonzero(quarter == i)) for i in (0, 1)]

    @property
    def is_stand_in(self) -> bool:
        """Whether what is compared is not what will be used: a small width likes few axes and low degrees."""
        return self.width < self.task.n_components

    def shaped(self, shaping: RowShaping) -> list[Any]:
        """Return the rows as shaped in each split.

        The last two metrics and the last rows are kept: the next trial may have only other axes or another kernel.
        """
        key = id(shaping.metric)
        if key not in self._fitted:
            if len(self._fitted) == 2:
                del self._fitted[next(iter(self._fitted))]
            self._fitted[key] = self._fit(shaping)
        if self._shaped[0] is not shaping:
            pairs = zip(self._fitted[key], self.splits, strict=True)
            fitted = [shaping.fitted(self.X[train], metric) for metric, (train, _) in pairs]
            self._shaped = (shaping, [features.shape_rows(self.X) for features in fitted])
        return self._shaped[1]

    def _fit(self, shaping: RowShaping) -> list[Any]:
        """Return the metric of each split; metrics of this library are fitted side by side."""
        fitted = [None] * len(self.splits)

        def fit(i: int) -> None:
            train, _ = self.splits[i]
            fitted[i] = shaping.fitted_metric(self.X[train], self.targets[train])

        if isinstance(shaping.metric, LinearMetric):
            for_each(fit, range(len(fitted)))
        else:
            for i in range(len(fitted)):
                fit(i)
        return fitted

    def score(self, shaping: RowShaping, kernel: DotProductKernel) -> "Score":
        """Return the held-out errors at the best of a few penalties."""
        tell(Phase.CHOICES, f"{shaping}, {_described(kernel)}")
        scored = [test for _, test in self.splits]
        scores = []
        for outputs in self._outputs(self.shaped(shaping), kernel):
            pairs = list(zip(outputs, scored, strict=True))
            errors = np.concatenate([self.task.errors(given, self.y[test]) for given, test in pairs])
            squares = [((given - self.targets[test]) ** 2).mean() for given, test in pairs]
            scores.append(Score(errors, float(np.mean(squares))))
        return min(scores, key=lambda score: score.error)

    def _outputs(self, shaped: list[Any], kernel: DotProductKernel) -> list[list[NDArray]]:
        """Return the outputs of the rows to be scored, for each penalty and split."""
        outputs: list[list[NDArray]] = [[] for _ in _ALPHAS]
        for rows, (train, test) in zip(shaped, self.splits, strict=True):
            feature_map = self.task.make_map(kernel, self.width)
            Z = rows if feature_map is None else fit_in_order(feature_map, rows[train]).transform(rows)
            Z = Z.toarray() if issparse(Z) else Z
            statistic = NormalEquations.of(Z[train], self.targets[train])
            for i, alpha in enumerate(_ALPHAS):
                solution = statistic.solve(alpha * (statistic.scale() or 1.0))
                outputs[i].append(multiply(Z[test], solution.coef.T.astype(Z.dtype)) + solution.intercept)
        return outputs


class _ExactTrial(_Trial):
    """The same with the kernel itself instead of a map."""

    @property
    def is_stand_in(self) -> bool:
        """Whether what is compared is not what will be used: the kernel itself likes high degrees."""
        return True

    def _outputs(self, shaped: list[Any], kernel: DotProductKernel) -> list[list[NDArray]]:
        """Return the outputs of the rows to be scored, for each penalty and split."""
        outputs: list[list[Any]] = [[None] * len(self.splits) for _ in _PENALTIES]

        def fit(split: int) -> None:
            rows, (train, test) = shaped[split], self.splits[split]
            machine, mean = KernelMachine(kernel, rows[train]), self.targets[train].mean(axis=0)
            weights = [machine.weights(self.targets[train] - mean, penalty) for penalty in _PENALTIES]
            together = machine.outputs(np.hstack(weights), rows[test])
            for i, part in enumerate(np.hsplit(together, len(_PENALTIES))):
                outputs[i][split] = part + mean

        for_each(fit, range(len(self.splits)))  # side by side, each on one thread
        return outputs


class _Final:
    """The best shaping and kernel so far, and all that were tried."""

    def __init__(self, trial: _Trial, shaping: RowShaping, kernel: DotProductKernel):
        self.trial, self.shaping, self.kernel = trial, shaping, kernel
        self.trials: list[Trial] = []
        self.best: Score | None = None
        self.taken = 0

    def try_out(self, shaping: RowShaping, kernel: DotProductKernel, clearly: bool = False) -> bool:
        """Score a pair; tell whether it is the best so far, perhaps beyond chance."""
        score = self.trial.score(shaping, kernel)
        self.trials.append(Trial(f"{shaping}, {_described(kernel)}", score.error))
        if self.best is None:
            better = True
        else:
            better = score.is_clearly_better_than(self.best) if clearly else score.is_better_than(self.best)
        if better:
            self.shaping, self.kernel, self.best, self.taken = shaping, kernel, score, len(self.trials) - 1
        return better

    def found(self) -> Found:
        """Return the best pair, and all trials with the best one marked."""
        trials = tuple(trial._replace(is_taken=i == self.taken) for i, trial in enumerate(self.trials))
        return Found(self.shaping, self.kernel, trials)

    def try_degrees(self, first: int) -> None:
        """Try kernels of other degrees: errors fall with the degree and then rise."""
        at = _DEGREES.index(first)
        higher, lower = _DEGREES[at + 1 :], _DEGREES[:at][::-1]
        went_up = self.try_out(self.shaping, Polynomial(higher[0]), self.trial.is_stand_in)
        for degree in higher[1:] if went_up else lower:
            if not self.try_out(self.shaping, Polynomial(degree), self.trial.is_stand_in):
                break

    def try_axes(self) -> None:
        """Try half of the axes and so on, or else twice as many, if the metric has axes."""
        if not isinstance(self.shaping.metric, LinearMetric):
            return
        n_axes = self.trial.shaped(self.shaping)[0].shape[1]
        if n_axes == 1:
            return
        half = 1 << ((n_axes - 1).bit_length() - 1)
        if half >= _FEWEST_AXES and self.try_out(self.shaping.with_axes(half), self.kernel, self.trial.is_stand_in):
            while (half := half // 2) >= _FEWEST_AXES:
                if not self.try_out(self.shaping.with_axes(half), self.kernel, self.trial.is_stand_in):
                    break
        elif 2 * half < self.trial.X.shape[1]:
            self.try_out(self.shaping.with_axes(4 * half), self.kernel, self.trial.is_stand_in)


def _candidates(X: Any, metric: Any, lengths: tuple[Any, ...]) -> list[RowShaping]:
    """Return the shapings to compare at first."""
    if not is_auto(metric):
        return [named_shaping(metric, length) for length in lengths]
    metrics = [None, column_scaler(X)]
    if _has_axes(X):
        metrics += [CovarianceMetric(power, normalize=False) for power in (0.5, 1.0)]
    return [RowShaping(metric, length, "auto") for metric in metrics for length in lengths]


def _best_first(scores: dict[RowShaping, Score]) -> list[RowShaping]:
    """Order shapings: the best of all, the best of the others, and so on."""
    left, ordered = list(scores), []
    while left:
        best = left[0]
        for shaping in left[1:]:
            if scores[shaping].is_better_than(scores[best]):
                best = shaping
        left.remove(best)
        ordered.append(best)
    return ordered


def _gradients(best_first: list[RowShaping], lengths: tuple[Any, ...], powers: tuple[float, ...]) -> list[RowShaping]:
    """Return gradient metrics of rows as they are or standardised, whichever did better before."""
    plain = next(shaping.metric for shaping in best_first if not isinstance(shaping.metric, LinearMetric))
    return [
        RowShaping(GradientMetric(power, standardize=plain is not None, normalize=length is True), length, "auto")
        for length in lengths
        for power in powers
    ]


def _has_axes(X: Any) -> bool:
    """Tell whether axes of the rows can be found in reasonable time."""
    return not issparse(X) and X.shape[1] <= WIDEST


def _described(kernel: DotProductKernel) -> str:
    """Name a kernel with its degree, if it has one."""
    return f"degree {kernel.degree}" if isinstance(kernel, Polynomial) else repr(kernel)
