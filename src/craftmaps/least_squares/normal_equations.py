"""The statistic of a least-squares fit: a value that adds up.

One block of rows becomes a Gram matrix and a few sums; blocks combine with `+`; solving is separate.
In memory, out of core and on a cluster differ only in who calls `+`.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from craftmaps._system.fields import DamagedError, Fields
from craftmaps._system.memory_budget import BYTES_PER_CELL
from craftmaps._system.threads import cut, for_each
from craftmaps.least_squares.gram_forms import Gram, empty_gram
from craftmaps.least_squares.packed_gram import PackedGram, PackedLimits
from craftmaps.least_squares.ridge_path import RidgePath, Solution
from craftmaps.least_squares.square_gram import SquareGram

_SUM_ROWS, _SUM_COLUMNS = 256, 1024
_SUMS = ("cross", "feature_sums", "target_sums")


class NormalEquations:
    r"""Sums over rows from which ridge regressions on any penalty can be solved.

    Of features Z, targets Y and weights w it keeps :math:`Z^T W Z`, :math:`Z^T W Y`, the weighted sums of Z and Y, and
    the number of rows. The sum of two is the statistic of all their rows, so `+` is associative and commutative up to
    rounding; `-` takes rows out again and `* factor` weighs them less.

    Products of float32 features are formed in float32, a block of rows at a time, and added up in
    float64. Where a float64 square does not fit, `packed` keeps one triangle in float32 instead:
    a quarter of the memory, for larger rounding errors.

    Parameters
    ----------
    n_features, n_targets : int
    packed : bool or PackedLimits, default=False
        Limits say how the triangle is cut up and solved.

    Examples
    --------
    >>> import numpy as np
    >>> from craftmaps import NormalEquations
    >>> Z, Y = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [5.0], [7.0]])
    >>> both = NormalEquations.of(Z[:2], Y[:2]) + NormalEquations.of(Z[2:], Y[2:])
    >>> coef, intercept = both.solve(alpha=0.0)
    >>> coef.round(6), intercept.round(6)
    (array([[2.]]), array([1.]))
    """

    # The largest trace that rows were taken away from: rounding errors stay as large as they were.
    largest = 0.0

    def __init__(self, n_features: int, n_targets: int, packed: bool | PackedLimits = False):
        self.n_rows = 0
        self.weight = 0.0
        self.rounding = float(np.finfo(np.float32).eps) if packed else 0.0  # that of the least precise products
        self._gram: Gram = empty_gram(n_features, packed)
        self.cross = np.zeros((n_features, n_targets))
        self.feature_sums = np.zeros(n_features)
        self.target_sums = np.zeros(n_targets)

    @classmethod
    def of(
        cls,
        Z: ArrayLike,
        Y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        packed: bool | PackedLimits = False,
    ) -> Self:
        """Return the statistic of some rows: features Z, targets Y and perhaps weights."""
        Z, Y = np.asarray(Z), np.asarray(Y)
        Y = Y[:, None] if Y.ndim == 1 else Y
        if Z.ndim != 2 or Y.ndim != 2 or Z.shape[0] != Y.shape[0]:
            raise ValueError(f"Z and Y must be matrices with equally many rows, got shapes {Z.shape} and {Y.shape}.")
        statistic = cls(Z.shape[1], Y.shape[1], packed)
        statistic.add(Z, Y, sample_weight)
        return statistic

    @property
    def gram(self) -> NDArray[np.float64]:
        """The Gram matrix; only its lower triangle has a meaning."""
        return self._gram.square()

    @property
    def packed(self) -> bool:
        """Whether one triangle is kept in float32."""
        return self._gram.packed

    @property
    def _limits(self) -> bool | PackedLimits:
        """The parameter `packed` of a statistic like this one."""
        return getattr(self._gram, "limits", self.packed)

    def add(self, Z: NDArray, Y: NDArray, sample_weight: ArrayLike | None = None, sign: float = 1.0) -> None:
        """Add rows in place; with sign=-1 take them away again."""
        if Z.dtype not in (np.float32, np.float64):
            Z = Z.astype(np.float64)
        if Z.shape[1:] != self.cross.shape[:1] or Y.shape != (Z.shape[0], self.cross.shape[1]):
            n_features, n_targets = self.cross.shape
            raise ValueError(
                f"Rows must have {n_features} features and {n_targets} targets, got shapes {Z.shape} and {Y.shape}."
            )
        w = np.ones(Z.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if w.shape != (Z.shape[0],) or not np.isfinite(w).all() or (w < 0).any():
            raise ValueError(f"sample_weight must be {Z.shape[0]} finite numbers, none negative, got shape {w.shape}.")
        if not Z.shape[0]:
            return
        Y64 = np.asarray(Y, dtype=np.float64)
        with np.errstate(over="ignore"):
            if not np.isfinite(w @ Y64**2).all():
                raise ValueError("Targets must be finite and have squares that add up to a number: scale them.")
        if sign < 0:
            self.largest = max(self.largest, float(self._gram.diagonal().sum()))
        # First of all, because it refuses what overflows.
        self._gram.add(Z if (w == 1).all() else Z * np.sqrt(w)[:, None].astype(Z.dtype), sign)
        self.rounding = max(self.rounding, float(np.finfo(Z.dtype).eps))
        self.n_rows += int(sign) * Z.shape[0]
        self.weight += sign * float(w.sum())
        self.target_sums += sign * (w @ Y64)
        # Targets may be far from zero, and then centred ones keep their digits in float32 products.
        centre = (w @ Y64) / w.sum() if w.any() else np.zeros(Y64.shape[1])
        products = _products(Z, np.column_stack([w[:, None] * (Y64 - centre), w]).astype(Z.dtype))
        self.feature_sums += sign * products[:, -1]
        self.cross += sign * (products[:, :-1] + np.outer(products[:, -1], centre))

    def __add__(self, other: "NormalEquations") -> "NormalEquations":
        if not isinstance(other, NormalEquations):
            return NotImplemented
        total = self.copy()
        total.combine(other)
        return total

    def __sub__(self, other: "NormalEquations") -> "NormalEquations":
        if not isinstance(other, NormalEquations):
            return NotImplemented
        rest = self.copy()
        rest.combine(other, sign=-1.0)
        return rest

    def __mul__(self, factor: float) -> "NormalEquations":
        scaled = self.copy()
        scaled._gram *= factor  # type: ignore[operator]
        for name in ("weight", *_SUMS, "largest"):
            setattr(scaled, name, getattr(self, name) * factor)
        return scaled

    __rmul__ = __mul__

    def combine(self, other: "NormalEquations", sign: float = 1.0, places: NDArray[np.int64] | None = None) -> None:
        """Add the rows of another statistic in place; with sign=-1 take them out.

        `places` says where the targets of the other one stand among those here, by default at the same places.
        """
        if other.cross.shape != (self.cross.shape if places is None else (self.cross.shape[0], len(places))):
            raise ValueError(
                "Statistics must be of equally many features and targets to be added, "
                f"got {self.cross.shape} and {other.cross.shape}."
            )
        if self.packed != other.packed:
            raise ValueError("Statistics must both be packed, or neither, to be added.")
        places = np.arange(other.cross.shape[1]) if places is None else places
        if sign < 0:
            self.largest = max(self.largest, float(self._gram.diagonal().sum()))
        self._gram.combine(other._gram, sign)  # type: ignore[arg-type]
        self.n_rows += int(sign) * other.n_rows
        self.weight += sign * other.weight
        self.feature_sums += sign * other.feature_sums
        self.target_sums[places] += sign * other.target_sums
        self.cross[:, places] += sign * other.cross
        self.rounding, self.largest = max(self.rounding, other.rounding), max(self.largest, other.largest)

    def copy(self) -> "NormalEquations":
        """Return a copy."""
        return self._with_gram(self._gram.copy())

    def emptied(self, n_targets: int | None = None) -> "NormalEquations":
        """Return a statistic of no rows with the same features, perhaps for another number of targets."""
        n_features, n_same = self.cross.shape
        return NormalEquations(n_features, n_same if n_targets is None else n_targets, self._limits)

    def spread_targets(self, places: NDArray[np.int64], n_targets: int) -> None:
        """Move the targets in place to other places among n_targets; the others have sums of zero."""
        cross, target_sums = np.zeros((self.cross.shape[0], n_targets)), np.zeros(n_targets)
        cross[:, places], target_sums[places] = self.cross, self.target_sums
        self.cross, self.target_sums = cross, target_sums

    def branch(self, room: "NormalEquations | None" = None) -> "NormalEquations":
        """Return a statistic to be changed and solved, while this one stays as it is.

        It takes the memory of another one, where that is given, and next to none where this one is packed.
        """
        return self._with_gram(self._gram.branch(None if room is None else room._gram))  # type: ignore[arg-type]

    def lent(self) -> "NormalEquations":
        """Return a statistic to be changed by few rows, beside the matrix of this one, which must stay as it is."""
        return self._with_gram(self._gram.lent() if isinstance(self._gram, SquareGram) else self._gram.branch())

    def _with_gram(self, gram: Gram) -> "NormalEquations":
        """Return a copy with another Gram matrix."""
        other = NormalEquations.__new__(NormalEquations)
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, np.ndarray) else value)
        other._gram = gram
        return other

    def solve(
        self,
        alpha: float,
        *,
        fit_intercept: bool = True,
        penalty: NDArray[np.float64] | None = None,
    ) -> Solution:
        """Return the ridge solution for alpha, the weight of the squared coefficients.

        Parameters
        ----------
        alpha : float
            Zero or more, as in scikit-learn's `Ridge`.
        fit_intercept : bool, default=True
            Whether to have an unpenalised constant, by centring with the stored sums.
        penalty : ndarray of shape (n_features, n_features), optional
            Used instead of the identity.
        """
        return self.ridge_path(fit_intercept, penalty).solve(alpha)

    def ridge_path(self, fit_intercept: bool = True, penalty: NDArray[np.float64] | None = None) -> RidgePath:
        """Return ridge solutions for one alpha after another; see `solve`."""
        return self.branch().into_ridge_path(fit_intercept, penalty)

    def into_ridge_path(self, fit_intercept: bool = True, penalty: NDArray[np.float64] | None = None) -> RidgePath:
        """Return ridge solutions and use up this statistic: its Gram matrix is centred in place, without a copy."""
        right, mean, target_mean = self.cross, np.zeros_like(self.feature_sums), np.zeros_like(self.target_sums)
        # Rounding errors scale with the trace, or with the largest trace before rows were subtracted.
        traces = (float(self._gram.diagonal().sum()) or 1.0, self.largest)
        if fit_intercept and self.weight > 0:
            mean, target_mean = self.feature_sums / self.weight, self.target_sums / self.weight
            right = self.cross - np.outer(self.feature_sums, target_mean)
            self._gram.add_outer(-1 / self.weight, self.feature_sums)
        return RidgePath(
            self._gram,
            right,
            mean,
            target_mean,
            rounding=[self.rounding * trace for trace in traces if trace > 0],
            is_single=self.rounding >= float(np.finfo(np.float32).eps),
            penalty=penalty,
        )

    def scale(self, fit_intercept: bool = True, penalty: NDArray[np.float64] | None = None) -> float:
        """Return trace(G) / trace(penalty) of the centred Gram matrix G, the natural unit of alpha.

        The penalty is the identity by default.
        """
        whole = self._gram.diagonal()
        centred = whole - self.feature_sums**2 / self.weight if fit_intercept and self.weight > 0 else whole
        # Features that do not vary leave nothing but rounding errors.
        mean, nothing = float(centred.mean()), 16 * self.rounding * float(whole.mean())
        unit = 1.0 if penalty is None else float(penalty.diagonal().mean()) or 1.0
        return mean / unit if mean > nothing else 0.0

    def __getstate__(self) -> dict[str, Any]:
        # A settled estimator that goes to workers has counted nothing: zeros are made there.
        is_empty = not self.n_rows and isinstance(self._gram, SquareGram | PackedGram)
        return vars(self) | {"_gram": self._limits} if is_empty and not self._gram.diagonal().any() else vars(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state["_gram"], bool | PackedLimits):
            self._gram = empty_gram(self.feature_sums.size, state["_gram"])

    def to_plain(self) -> dict[str, Any]:
        """Return the numbers and arrays from which `from_plain` rebuilds the statistic."""
        plain = {name: value for name, value in vars(self).items() if name != "_gram"}
        return plain | {"gram": self._gram.to_plain()}

    @classmethod
    def from_plain(cls, plain: Any, n_targets: int | None = None) -> Self:
        """Rebuild a statistic from untrusted numbers and arrays; `n_targets` is checked where it is given."""
        fields, statistic = Fields(plain, "statistic"), cls.__new__(cls)
        statistic.n_rows = fields.whole("n_rows", 1)
        statistic.weight = fields.number("weight", above=0.0)
        statistic.rounding = fields.number("rounding", low=0.0)
        if "largest" in fields:
            statistic.largest = fields.number("largest", low=0.0)
        double = (np.float64,)
        statistic.cross = fields.array("cross", (None, n_targets), double)
        n_features, n_targets = statistic.cross.shape
        statistic.feature_sums = fields.array("feature_sums", (n_features,), double)
        statistic.target_sums = fields.array("target_sums", (n_targets,), double)
        gram = fields.object("gram")
        statistic._gram = (SquareGram if "square" in gram else PackedGram).from_plain(gram, n_features)
        fields.only([*vars(statistic), "largest", "gram"])
        statistic._refuse_impossible()
        return statistic

    def _refuse_impossible(self) -> None:
        """Refuse sums that no rows have: by Cauchy and Schwarz sums of squares bound sums."""
        squares, most = self._gram.diagonal(), 2.0  # twice the bound, for rounding errors
        if squares.min(initial=0.0) < 0:
            raise DamagedError("statistic has sums of squares below zero")
        if (np.abs(self.feature_sums) > most * np.sqrt(squares * self.weight)).any():
            raise DamagedError("statistic.feature_sums is larger than the sums of squares allow")


def square_fits(n_features: int, available: int | None) -> bool:
    """Tell whether a float64 Gram matrix can be kept and solved in the available bytes; None, unknown, is enough."""
    return available is None or BYTES_PER_CELL * n_features**2 <= available


def _products(Z: NDArray, C: NDArray) -> NDArray[np.float64]:
    """Return Z' C: few rows at a time in the precision of Z, added up in float64."""
    total = np.zeros((Z.shape[1], C.shape[1]))

    def panel(columns: slice) -> None:
        for rows in cut(Z.shape[0], _SUM_ROWS):
            total[columns] += Z[rows, columns].T @ C[rows]

    for_each(panel, cut(Z.shape[1], _SUM_COLUMNS))
    return total
