"""Figures 1 and 3 of the paper, drawings of its algorithms, with the numbers of maps that were really drawn."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.linalg import hadamard

from craftmaps import Polynomial, RandomMaclaurin

_KERNEL = Polynomial(degree=2, coef0=0.0)
_POSITIVE, _NEGATIVE = "#0072B2", "#D55E00"


class Factor(NamedTuple):
    """What becomes of a row in one of the two factors: matrices in the order in which they are applied."""

    matrices: dict[str, NDArray[np.float64]]
    numbers: NDArray[np.float64]  # one for each feature


def row_of(width: int) -> NDArray[np.float64]:
    """Return the row that is mapped, of unit length."""
    row = np.array([3.0, -1.0, 2.0, 1.0, -2.0])[:width]
    return row / np.linalg.norm(row)


def independent_signs() -> tuple[RandomMaclaurin, list[Factor]]:
    """Return a map of five numbers to four features by Algorithm 1, and its factors (Figure 1)."""
    x = row_of(5)
    feature_map = RandomMaclaurin(_KERNEL, 4, projection="rademacher", exact_low_degrees=False, random_state=2)
    signs = feature_map.fit(x[None])._drawn[0][:, 0].astype(np.float64)
    return feature_map, [Factor({f"$W_{j}$": W}, W @ x) for j, W in ((1, signs[:4]), (2, signs[4:]))]


def hadamard_blocks() -> tuple[RandomMaclaurin, list[Factor]]:
    """Return a map of four numbers to four features through Hadamard blocks, and its factors (Figure 3)."""
    x, H = row_of(4), hadamard(4, dtype=float)
    feature_map = RandomMaclaurin(_KERNEL, 4, exact_low_degrees=False, random_state=7)
    signs, rows = feature_map.fit(x[None])._drawn[:2]
    factors = []
    for j in range(2):
        M, order = np.diag(signs[j, 0].astype(np.float64)), rows[j] // 8 % 4
        matrices = {f"$\\Pi_{j + 1}$": np.eye(4)[order], "$H$": H, f"$M_{j + 1}$": M}
        factors.append(Factor(matrices, (H @ M @ x)[order]))
    return feature_map, factors


def draw(feature_map: RandomMaclaurin, factors: list[Factor]) -> Figure:
    """Draw the way of the row through the map: two factors, and their products, the features."""
    x = row_of(feature_map.n_features_in_)
    figure = Figure(figsize=(8.0, 4.4), layout="constrained")
    axis = figure.subplots()
    right = 0.0
    for factor, top, j in zip(factors, (0.0, x.size + 1.8), (1, 2), strict=True):
        left = 0.0
        for name, matrix in factor.matrices.items():
            left = _matrix(axis, matrix, left, top, name) + 0.5
        left = _matrix(axis, x[:, None], left, top, "$x$", 2.0)
        axis.text(left + 0.5, top + 2, "=", ha="center", va="center", fontsize=13)
        right = _matrix(axis, factor.numbers[:, None], left + 1, top, f"factor {j}", 2.0)
    middle = (x.size + 1.8) / 2
    axis.annotate("", (right + 3.1, middle + 2), (right + 0.3, middle + 2), arrowprops={"arrowstyle": "->"})
    axis.text(right + 1.6, middle + 1.6, "products,\nline by line", ha="center", va="bottom", fontsize=9)
    features = feature_map.transform(x[None])[0][:, None]
    end = _matrix(axis, features, right + 3.5, middle, r"$Z(x)$", 2.0)
    axis.text(right + 4.5, middle + 4.5, r"$\div\ \sqrt{D} = 2$", ha="center", va="center", fontsize=9)
    axis.set(xlim=(-0.3, end + 0.3), ylim=(2 * x.size + 2.2, -1.2), aspect="equal")
    axis.set_axis_off()
    return figure


def _matrix(axis: Axes, values: NDArray[np.float64], left: float, top: float, name: str, width: float = 1.0) -> float:
    """Draw a matrix, its entries coloured by sign, and return where it ends on the right."""
    largest = np.abs(values).max()
    for (row, column), value in np.ndenumerate(values):
        corner = (left + width * column, top + row)
        color = _POSITIVE if value > 0 else _NEGATIVE
        shade = 0.1 + 0.5 * abs(value) / largest if value else 0.0
        axis.add_patch(Rectangle(corner, width, 1, facecolor=color, alpha=shade, linewidth=0))
        axis.add_patch(Rectangle(corner, width, 1, facecolor="none", edgecolor="0.6", linewidth=0.6))
        text = f"{value:.2f}" if width > 1 else {1.0: "+", -1.0: "\N{MINUS SIGN}", 0.0: ""}[value]
        axis.text(corner[0] + width / 2, corner[1] + 0.5, text, ha="center", va="center", fontsize=9)
    axis.text(left + width * values.shape[1] / 2, top - 0.5, name, ha="center", va="center", fontsize=11)
    return left + width * values.shape[1]
