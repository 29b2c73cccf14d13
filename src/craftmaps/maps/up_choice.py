"""Choose the up-projection of a compact map, and the columns of it that are not projected down, by predicted error."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from craftmaps._rows.sampling import SampledRows
from craftmaps.kernels import DotProductKernel
from craftmaps.maps.craft_parts import added_variance, make_up
from craftmaps.maps.maclaurin import RandomMaclaurin

# Width of an up-projection in units of the output width, as in the paper's tables.
UP_FACTOR = 8


def best_up(
    name: str, kernel: DotProductKernel, down: Any, n_components: int, rows: SampledRows, seeds: tuple[int, int]
) -> tuple[Any, int]:
    """Return the up-projection of a name with the smallest predicted error, not yet drawn, and its kept columns.

    Compared are a map of the output width, all of whose columns are kept, and one of eight times that width; both
    with and without exact quadratic columns, if there is room for them. `seeds` are those of the compact map and of
    the up-projection.
    """
    best: tuple[float, Any, int] | None = None
    for up in _candidates(name, kernel, n_components, rows.X.shape[1], seeds[1]):
        up._prepare(rows)
        if up._n_features_out == n_components:
            n_kept, added = n_components, 0.0
        else:
            n_kept, added = best_kept(up, down, n_components, rows, seeds[0])
        error = _expected_variance(up, rows, seeds[0]) + added
        if best is None or error < best[0]:
            best = error, up, n_kept
    assert best is not None
    return best[1:]


def best_kept(up: Any, down: Any, n_components: int, rows: SampledRows, seed: int) -> tuple[int, float]:
    """Return how many exact columns best bypass the down-projection, whole degrees, and the variance that it adds.

    A kept column stays exact and adds nothing to the error of the others, but takes one of their places.
    """
    left, right = rows.halves(seed)
    choices = set(up.shares_.kept_choices) if isinstance(up, RandomMaclaurin) else {0}
    errors = {
        n_kept: float(np.mean(added_variance(up, down, n_components, left, right, n_kept)))
        for n_kept in choices
        if n_kept < min(n_components, up._n_features_out)
    }
    return min(errors.items(), key=lambda item: item[1])


def _candidates(name: str, kernel: DotProductKernel, n_components: int, n_features: int, seed: int) -> Iterator[Any]:
    """Yield the up-projections to compare; of equally good ones the first wins."""
    # Two more columns make a complex feature of a higher degree.
    has_room = (n_features + 1) * (n_features + 2) // 2 + 2 <= n_components
    for width in (UP_FACTOR * n_components, n_components):
        up = make_up(name, kernel, width, seed)
        yield up
        if isinstance(up, RandomMaclaurin) and has_room:
            yield make_up(name, kernel, width, seed).set_params(exact_low_degrees="quadratic")


def _expected_variance(up: Any, rows: SampledRows, seed: int) -> float:
    """Return the variance of the estimates of an up-projection, averaged over pairs of rows."""
    if isinstance(up, RandomMaclaurin):
        return up._expected_variance(rows)
    return float(np.mean(up._estimate_moments(*rows.halves(seed)).variance))
