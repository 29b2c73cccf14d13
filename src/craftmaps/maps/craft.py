"""Compact random feature maps: project up, then down (Algorithm 2 of the paper)."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from craftmaps._rows.randomness import child_seed
from craftmaps._rows.sampling import SampledRows
from craftmaps.kernels import DotProductKernel, Polynomial, check_kernel
from craftmaps.maps.craft_parts import (
    UP_MAPS,
    added_variance,
    apply_to_rows,
    check_up_components,
    checked_kept,
    checked_parts,
    checked_up,
    make_down,
    make_up,
    transform_in_blocks,
)
from craftmaps.maps.drawing_costs import DrawingCost
from craftmaps.maps.feature_map import FeatureMap, KernelMap, NoState, SeededMap
from craftmaps.maps.fused import can_be_fused, fused_transform, fused_weights
from craftmaps.maps.moments import EstimateMoments
from craftmaps.maps.projections import FoldedHadamard, HadamardProjection, SubsampledHadamard
from craftmaps.maps.up_choice import UP_FACTOR, best_kept, best_up


class CraftState(NamedTuple):
    """What a compact map learns from rows."""

    up_: Any
    n_kept_: int


class CraftMap(KernelMap):
    r"""Estimate a dot-product kernel with a compact random feature map.

    An up-projection :math:`Z: R^d \to R^D` estimates the kernel well but wastefully; a
    Johnson-Lindenstrauss down-projection :math:`G: R^D \to R^E` keeps its inner products in
    fewer numbers. At equal output width E the error is below that of the up-projection alone, unless
    the kernel is so nearly linear that the up-projection is almost exact.
    With Hadamard transforms in both, a row costs one product for each factor, :math:`O(D)` in all, and transforms
    of sizes d and E; the D up-features of a row never exist all at once.

    Parameters
    ----------
    kernel : Polynomial, Exponential or another kernel, default=Polynomial()
    n_components : int, default=1024
        Output width E.
    up : {"maclaurin", "tensorsketch"} or transformer, default="maclaurin"
        The up-projection. "maclaurin" means `RandomMaclaurin` with complex weights and optimal degrees; its exact
        constant and linear columns bypass the down-projection where that lowers the predicted error. A transformer
        is cloned, and all of its output is projected down; a map of this library uses its own
        kernel and `n_components`.
    up_components : int, "auto" or None, default=None
        Width D of an up-projection given by name; None means 8 * n_components, as in the paper's tables. "auto"
        compares the predicted errors of D = 8 * n_components and of no down-projection at all, D = `n_components`,
        on a sample of the rows given to `fit`. With `up="maclaurin"` it also compares both with exact
        quadratic columns (`exact_low_degrees="quadratic"` of `RandomMaclaurin`), where there is room for
        them, and takes the smallest.
    down : {"hadamard", "gaussian"} or random projection, default="hadamard"
        The down-projection. "hadamard" adds up chunks of the D up-features with random signs and transforms
        the sum, which keeps the first rows of a randomised Hadamard transform of all of them (`FoldedHadamard`);
        "gaussian" is a Gaussian matrix. A `SubsampledHadamard`, which keeps random rows as the
        paper does, or a random projection of scikit-learn is cloned and set to `n_components`.
    random_state : int, RandomState instance or None, default=None
        Source of the seed. Transformers without a `random_state` of their own get one.

    Attributes
    ----------
    seed_ : int
        Seed, `n_kept_` and the state of `up_` are all that is needed to draw the map again.
    up_ : transformer
        The fitted up-projection.
    down_ : transformer or None
        The fitted down-projection; None if `up_components="auto"` chose none.
    n_kept_ : int
        Number of columns, the last ones of the up-projection, that bypass the down-projection.

    References
    ----------
    R. Hamid, Y. Xiao, A. Gittens, D. DeCoste, "Compact random feature maps", 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from craftmaps import CraftMap, Polynomial
    >>> X = normalize(load_digits().data)
    >>> CraftMap(Polynomial(degree=7), n_components=256, random_state=0).fit_transform(X).shape
    (1797, 256)
    """

    def __init__(
        self,
        kernel: DotProductKernel = Polynomial(),  # noqa: B008 - a kernel is never changed in place, see KernelMap
        n_components: int = 1024,
        *,
        up: Any = "maclaurin",
        up_components: int | str | None = None,
        down: Any = "hadamard",
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.up = up
        self.up_components = up_components
        self.down = down
        self.random_state = random_state

    _State = CraftState
    down_: Any

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work."""
        check_kernel(self.kernel)
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_up_components(self.up_components)
        make_down(self.down, int(self.n_components), seed=0)

    def _allocate(self, rows: SampledRows) -> None:
        """Prepare the up-projection and choose the columns to keep."""
        seed, E = child_seed(self.seed_, "up"), int(self.n_components)
        if isinstance(self.up, str) and self.up_components == "auto":
            up, self.n_kept_ = best_up(self.up, self.kernel, self.down, E, rows, (self.seed_, seed))
        else:
            up = make_up(self.up, self.kernel, self._up_components, seed)
            if isinstance(up, SeededMap):
                up._prepare(rows)
            else:
                up = up.fit(rows.X)
            # All columns of a given map are projected down.
            self.n_kept_ = best_kept(up, self.down, E, rows, self.seed_)[0] if self.up == "maclaurin" else 0
        self.up_ = up
        if isinstance(up, FeatureMap):
            self._make_down(up._n_features_out)
        else:  # a foreign transformer shows its width by a row
            self._make_down(apply_to_rows(up, rows.X[:1], rows.X.dtype).shape[1])

    def _make_down(self, up_width: int) -> None:
        """Make the down-projection for all but the kept columns; draw nothing."""
        self._n_down = up_width - self.n_kept_
        if not self._n_down:
            self.down_ = None
            return
        self.down_ = make_down(self.down, int(self.n_components) - self.n_kept_, child_seed(self.seed_, "down"))
        if isinstance(self.down_, SeededMap):
            self.down_._restore(self._n_down, NoState())

    def _draw(self) -> None:
        """Draw both projections."""
        super()._draw()
        if isinstance(self.up_, SeededMap):
            self.up_._draw()
        if isinstance(self.down_, SubsampledHadamard):
            # The order of up-features is random enough. In order, the fused loop needs one chunk at a time.
            self.down_._draw(shuffle=False)
        elif isinstance(self.down_, SeededMap):
            self.down_._draw()
        elif self.down_ is not None:
            self.down_.fit(np.zeros((1, self._n_down)))  # random projections look at the width only
        # Whether one loop runs both projections, and whether it ends with a transform that weights can take over.
        self._is_fused = can_be_fused(self.up_, self.down_)
        self._is_foldable = self._is_fused and isinstance(self.down_, FoldedHadamard)
        if self._is_fused:
            self._fused_weights = fused_weights(self.up_, self.down_)

    def _restore(self, width: int, state: CraftState) -> None:
        """Take over an up-projection that is not drawn yet, and the number of kept columns."""
        super()._restore(width, state)
        if self.up is None:
            self.up = self.up_
        self._make_down(self.up_._n_features_out)

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters for a model file: a given up-projection is in the state, of `down` the seed is kept."""
        changed: dict[str, Any] = {} if isinstance(self.up, str) else {"up": None}
        if self.down != "hadamard":
            changed["down"] = {"random_state": 0 if self.down_ is None else int(self.down_.seed_)}
        return super()._saved_parameters() | changed

    def _refuse_unsavable(self) -> None:
        """Refuse projections that a model file cannot describe."""
        is_known = isinstance(self.up, str) or type(self.up) in UP_MAPS[None]
        if not is_known or not (self.down == "hadamard" or type(self.down) is SubsampledHadamard):
            raise TypeError(
                "A model with a CraftMap can be saved if its up is a name, a RandomMaclaurin or a TensorSketch "
                "and its down is 'hadamard' or a SubsampledHadamard."
            )

    @staticmethod
    def _checked_parts(fields: Any) -> dict[str, Any]:
        """Return up, its width and down from a model file."""
        return checked_parts(fields)

    def _checked_state(self, fields: Any, width: int) -> CraftState:
        """Return the up-projection and the kept columns from a model file."""
        E, is_auto = int(self.n_components), self.up_components == "auto"
        up = checked_up(fields, width, self.up, {UP_FACTOR * E, E} if is_auto else {self._up_components})
        return CraftState(up, checked_kept(fields, up, self.up, E, is_auto))

    def _drawing_costs(self) -> Iterator[DrawingCost]:
        """Yield the costs of both projections."""
        yield from self.up_._drawing_costs()
        if self.down_ is not None:
            yield from self.down_._drawing_costs()

    @property
    def _up_components(self) -> int:
        """Width of an up-projection given by name, unless it is chosen."""
        if self.up_components in (None, "auto"):
            return UP_FACTOR * int(self.n_components)
        return int(self.up_components)

    def _transform_rows(self, X: Any) -> NDArray[np.floating]:
        """Map validated rows."""
        if self.down_ is None:
            return self.up_._transform_rows(X)
        if self._is_fused:
            return fused_transform(X, self.up_, self.down_, self._fused_weights)
        return transform_in_blocks(X, self.up_, self.down_, self._n_down, self._n_features_out)

    def _transform_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the features of validated rows to `out`."""
        if self._is_fused:
            fused_transform(X, self.up_, self.down_, self._fused_weights, out)
        else:
            super()._transform_into(X, out)

    @property
    def _shows_nonfinite_rows(self) -> bool:
        return self._is_fused and self.up_._shows_nonfinite_rows

    def _folded(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the weights of features into weights of the sum of chunks, by the last Hadamard transform."""
        return self.down_._folded_weights(weights, self.n_kept_) if self._is_foldable else weights

    def _unfinished_into(self, X: Any, out: NDArray[np.floating]) -> None:
        """Write the sum of chunks to `out`, or the features if the weights are not folded."""
        if self._is_foldable:
            fused_transform(X, self.up_, self.down_, self._fused_weights, out, is_finished=False)
        else:
            self._transform_into(X, out)

    @property
    def _estimated_kernel(self) -> Any:
        """The kernel of the up-projection, which may have its own."""
        return self._known_up._estimated_kernel

    @property
    def _known_up(self) -> Any:
        """The up-projection, if it is a map whose moments are known."""
        if not isinstance(self.up_, SeededMap):
            raise TypeError(f"The error of a map over a {type(self.up_).__name__} cannot be predicted.")
        return self.up_

    def _estimate_moments(self, X: Any, Y: Any = None) -> EstimateMoments:
        """Return the moments of the estimate at all pairs of rows."""
        up = self._known_up._estimate_moments(X, Y)
        if self.down_ is None:
            return up
        E, density = int(self.n_components), getattr(self.down_, "density_", None)
        added = added_variance(self.up_, self.down, E, X, Y, self.n_kept_, density)
        return up._replace(variance=up.variance + added)

    def _operations(self, density: float) -> float:
        """Count the arithmetic of a row: both projections."""
        up = self.up_._operations(density)
        if self.down_ is None:
            return up
        if isinstance(self.down_, HadamardProjection):
            return up + self.down_._operations(1.0)
        return up + 2.0 * self._n_down * int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)
