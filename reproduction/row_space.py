"""A classifier solved in the space of rows, where there are fewer rows than features.

Ridge regression on features Z has the same predictions whether (Z'Z + aI) or (ZZ' + aI) is solved. With
n rows and E > n features the second costs n^2 E instead of E^3 and needs n x n numbers, which is what
brings the widest columns of Table 1 (COIL100, USPS) into reach of a small machine. With the kernel itself in place
of ZZ' it is the classifier that a map of infinite width would lead to.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from craftmaps._rows.randomness import child_seed, permutations
from craftmaps.learners.calibration import calibrate
from craftmaps.learners.output_codes import class_scores, make_code


class RowSpaceChoice(NamedTuple):
    """Labels predicted for the test rows, and the penalty in units of trace(K) / width of the centred K."""

    predicted: NDArray
    alpha: float


def classify(
    K: NDArray[np.float64],
    y: NDArray,
    cross: NDArray[np.float64],
    width: int,
    *,
    code: str = "random",
    code_size: int | None,
    cv: int,
    alphas: Sequence[float],
    seed: int,
    calibration: str = "temperature",
) -> RowSpaceChoice:
    """Learn code words of the labels, choose alpha by cross-validation on the training rows, predict.

    Parameters
    ----------
    K : array of shape (n, n)
        Products of the training rows.
    y : array of shape (n,)
    cross : array of shape (n_test, n)
        Products of the test rows with the training rows.
    width : int
        The trace of K, centred, over this is the unit of alpha: the number of features.
    code : str, default="random"
    code_size : int or None
        Bits of a random code.
    cv : int
        Folds of all training rows.
    alphas : sequence of float
        Of equally good ones the largest is taken.
    seed : int
    calibration : str, default="temperature"
        As in the library: other than with one temperature, scores are corrected by what left-out rows say of them.
    """
    classes, labels = np.unique(y, return_inverse=True)
    words = make_code(code, classes.size, code_size, child_seed(seed, "code"))
    folds = permutations(seed, "folds", 1, len(y))[0] % cv
    alphas = sorted(alphas)
    left_out = np.zeros((len(alphas), len(y), classes.size))
    for fold in range(cv):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        inner, outer = K[np.ix_(rest, rest)], K[np.ix_(out, rest)]
        for j, outputs in enumerate(_outputs(inner, outer, words[labels[rest]], alphas, width)):
            left_out[j, out] = class_scores(outputs, words, "euclidean")
    wrong = (left_out.argmax(axis=2) != labels).sum(axis=1)
    best = len(alphas) - 1 - int(np.argmin(wrong[::-1]))
    (outputs,) = _outputs(K, cross, words[labels], [alphas[best]], width)
    correction = calibrate(left_out[best], labels, np.ones(len(y)), calibration)
    scores = correction.corrected(class_scores(outputs, words, "euclidean"))
    return RowSpaceChoice(classes[scores.argmax(axis=1)], alphas[best])


def products(A: NDArray, B: NDArray) -> NDArray[np.float64]:
    """Return AB' in double precision, a part of the columns at a time."""
    total = np.zeros((len(A), len(B)))
    for start in range(0, A.shape[1], 1024):
        part = slice(start, start + 1024)
        total += A[:, part].astype(np.float64) @ B[:, part].astype(np.float64).T
    return total


def _outputs(
    K: NDArray[np.float64], cross: NDArray[np.float64], Y: NDArray[np.float64], alphas: list[float], width: int
) -> list[NDArray[np.float64]]:
    """Return the outputs of other rows for every alpha, from products with the rows and among them."""
    means = K.mean(axis=0)
    centred = K - means[None, :] - means[:, None] + means.mean()
    other = cross - cross.mean(axis=1, keepdims=True) - means[None, :] + means.mean()
    target_mean = Y.mean(axis=0)
    unit = float(np.trace(centred)) / width
    results = []
    for alpha in alphas:
        system = centred.copy(order="F")  # as LAPACK has it, which spares it another copy
        system[np.diag_indices_from(system)] += alpha * unit
        factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        weights = linalg.cho_solve(factor, Y - target_mean, check_finite=False)
        results.append(other @ weights + target_mean)
    return results
