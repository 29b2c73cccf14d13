"""The classifier that learns from any number of rows in one pass."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_scalar, column_or_1d

from craftmaps._rows.randomness import child_seed
from craftmaps.kernels import DotProductKernel, Rows
from craftmaps.learners.calibration import CALIBRATIONS, Calibration
from craftmaps.learners.choices import is_auto
from craftmaps.learners.class_weights import check_class_weight
from craftmaps.learners.estimator import OnePassEstimator
from craftmaps.learners.output_codes import DECODINGS, OutputCode, check_code
from craftmaps.learners.targets import LOSSES, ClassTargets
from craftmaps.maps.feature_map import check_choice
from craftmaps.shaping.chosen_metric import ChosenMetric


class CraftClassifier(ClassifierMixin, OnePassEstimator):
    r"""Classify with a kernel learned in one pass over the rows.

    Rows are shaped (metric, unit length), mapped to E random features, and added to a Gram matrix and
    sums for each label. At the end least squares is solved for the bits of an error-correcting
    output code, with a penalty chosen on a sample of rows that each fold takes out of
    the statistic again. Features follow the precision of the rows: float32 is twice as fast and
    as accurate in practice.

    Parameters
    ----------
    kernel : "auto" or a kernel, default="auto"
        What to approximate. "auto" compares polynomial kernels of several degrees.
    n_components : int, default=2048
        Width E of the features; the model has E numbers for each class, the pass costs E^2 a row.
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
    code : {"one-vs-rest", "random", "hadamard"} or array of shape (n_classes, n_bits), default="one-vs-rest"
        Code words of the classes, of +1 and -1.
    code_size : int or None, default=None
        Bits of a random or Hadamard code; None means 200 random bits, as in the paper.
    decoding : {"euclidean", "hamming", "loss"}, default="euclidean"
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
    calibration : {"auto", "temperature", "matrix"}, default="auto"
        How scores become probabilities, by rows that were left out: with one factor, or with a matrix that also
        corrects scores by those of other classes, and so changes what is predicted. "auto" takes the matrix where
        rows that were left out call for it; with an explicit kernel and metric it means "temperature".
    loss : {"auto", "squared", "logistic"}, default="auto"
        What is minimised. The logistic loss takes a few more looks at the rows after the pass, so it is for `fit`,
        here or on a cluster, with one-vs-rest codes and an intercept. "auto" compares the two on rows left out, for
        at most 32 classes; with an explicit kernel and metric, and for rows that are looked at once, it means
        "squared".
    class_weight : dict, "balanced" or None, default=None
        Weights of classes by label, 1 where a dict names none. They multiply the weights of rows in the pass, so
        they hold for choices, errors and probabilities too. "balanced" gives all classes equal weight; it needs
        all rows, and so is for `fit`, here or on a cluster.
    random_state : int, RandomState instance or None, default=None
        Where the seed comes from; statistics of different rows add up if it is the same int.
    verbose : int, default=0
        Whether `fit` and `fit_stream` show their progress: a bar in a notebook, else on standard error.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty, in units of scikit-learn's `Ridge`.
    cv_results_ : dict
        `error`, `error_by_fold`, `n_rows` and `n_effective`: the error of rows that nothing has looked at, each fold at
        the alpha that the others choose. `alpha`, `mean_error`, `std_error`, `fold_errors` and `chosen`: the curve.
    choices_ : Choices
        What was chosen for kernel, metric and normalize, and the held-out errors of the candidates; "auto" where a
        choice is still to be made.
    n_rows_seen_ : int
    classes_ : ndarray
        All labels seen, sorted.
    code_words_ : ndarray of shape (n_classes, n_bits)
        The words that classes are told apart by, of +1 and -1.
    coef_ : ndarray of shape (n_bits, E)
    intercept_ : ndarray of shape (n_bits,)
        The solution for the bits; decoding and calibration make scores of their outputs.
    loss_ : {"squared", "logistic"}
        What the model minimises.
    calibration_ : named tuple
        `factor`, `matrix` and `offset`: log-odds are factor * (scores @ matrix + offset). Without a
        matrix, these two are None.

    Examples
    --------
    >>> from craftmaps import CraftClassifier, datasets
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(n_components=512, random_state=0).fit(digits.X_train, digits.y_train)
    >>> bool(model.score(digits.X_test, digits.y_test) > 0.97)
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
        code: Any = "one-vs-rest",
        code_size: int | None = None,
        decoding: str = "euclidean",
        alphas: ArrayLike | None = None,
        cv: Any = 5,
        holdout_rows: int = 10_000,
        fit_intercept: bool = True,
        batch_rows: int | str = "auto",
        packed: bool | str = "auto",
        solver: str = "auto",
        calibration: str = "auto",
        loss: str = "auto",
        class_weight: dict | str | None = None,
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
        self.code = code
        self.code_size = code_size
        self.decoding = decoding
        self.alphas = alphas
        self.cv = cv
        self.holdout_rows = holdout_rows
        self.fit_intercept = fit_intercept
        self.batch_rows = batch_rows
        self.packed = packed
        self.solver = solver
        self.calibration = calibration
        self.loss = loss
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def partial_fit(self, X: Rows, y: Rows, classes: Rows | None = None, sample_weight: Rows | None = None) -> Self:
        """Learn from more rows; labels may be new, and `classes` may name some beforehand."""
        if classes is None:
            return self._partial_fit(X, y, sample_weight)
        named = column_or_1d(np.asarray(classes))
        if (named.dtype.kind in "OUS") != (np.asarray(y).dtype.kind in "OUS"):
            raise ValueError(f"classes must be of the type of y, got {named.dtype} for {np.asarray(y).dtype}.")
        return self._partial_fit(X, y, sample_weight, named)

    def decision_function(self, X: Rows) -> NDArray[np.floating]:
        """Return scores of the classes, or for two classes by how much the second is ahead."""
        return self._decisions(self._scores(X))

    def predict(self, X: Rows) -> NDArray:
        """Return the class of every row."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Rows) -> NDArray[np.floating]:
        """Return probabilities of the classes, calibrated on rows that were left out."""
        return self.calibration_.probabilities(self._scores(X))

    def _outcomes(self, X: Rows) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return what `decision_function` and `predict_proba` return, but map the rows only once."""
        scores = self._scores(X)
        return self._decisions(scores), self.calibration_.probabilities(scores)

    def _decisions(self, scores: NDArray) -> NDArray:
        """Return the scores of the classes, or half the lead of the second of two classes."""
        return (scores[:, 1] - scores[:, 0]) / 2 if self.classes_.size == 2 else scores

    @property
    def classes_(self) -> NDArray:
        """All labels seen, sorted."""
        return self._targets.classes

    @property
    def code_words_(self) -> NDArray[np.float64]:
        """The code words of the classes, drawn once."""
        return self._targets.words

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The solution for the bits of the code."""
        return self._solved_words.T @ self._solved.coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constants for the bits of the code."""
        return self._solved_words.T @ self._solved.intercept

    @property
    def calibration_(self) -> Calibration:
        """How scores become log-odds."""
        return self._solved.calibration  # type: ignore[return-value]

    @property
    def loss_(self) -> str:
        """The loss that the model minimises, "squared" or "logistic"."""
        return self._solved.loss

    @property
    def _targets(self) -> ClassTargets:
        return super()._targets  # type: ignore[return-value]

    def _new_targets(self) -> ClassTargets:
        check_choice("decoding", self.decoding, DECODINGS)
        check_code(self.code)
        if self.code_size is not None:
            check_scalar(self.code_size, "code_size", Integral, min_val=1)
        check_choice("calibration", self.calibration, CALIBRATIONS)
        if self.calibration == "matrix" and self.cv is None:
            raise ValueError("cv must be set for calibration='matrix', which is learned from rows left out, got None.")
        # Explicit settings are obeyed to the letter: least squares then has the last word.
        is_open = is_auto(self.kernel) or is_auto(self.metric) or isinstance(self.metric, ChosenMetric)
        size = None if self.code_size is None else int(self.code_size)
        code = OutputCode(self.code, size, self.decoding, child_seed(self.seed_, "code"))
        calibration = self.calibration if is_open or not is_auto(self.calibration) else "temperature"
        check_class_weight(self.class_weight)
        return ClassTargets(code, calibration, loss=self._checked_loss(is_open), class_weight=self.class_weight)

    def _checked_loss(self, is_open: bool) -> str:
        """Return the loss, "squared" where nothing else can be meant; refuse one that cannot work."""
        check_choice("loss", self.loss, ("auto", *LOSSES))
        is_plain = isinstance(self.code, str) and self.code == "one-vs-rest" and self.decoding == "euclidean"
        if self.loss == "logistic":
            if not is_plain:
                raise ValueError("loss='logistic' takes code='one-vs-rest' and decoding='euclidean' alone.")
            if not self.fit_intercept or self.packed is True:
                raise ValueError("loss='logistic' takes fit_intercept=True and a Gram matrix that is not packed.")
        return self.loss if not is_auto(self.loss) or (is_open and is_plain and self.fit_intercept) else "squared"

    def _scores(self, X: Rows) -> NDArray:
        """Return the scores of the classes of rows, corrected by the calibration."""
        outputs = self._outputs(X)
        targets: Any = self._solved.targets
        return self.calibration_.corrected(targets.decoded(outputs))

    @property
    def _solved_words(self) -> NDArray[np.float64]:
        """The code words of the classes that the model was solved for."""
        targets: Any = self._solved.targets
        return targets.words
