"""What the paper claims, tested on the results: that each compact map beats the map that it is made from."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from reproduction.cells import Cell
from reproduction.methods import RIVALS

OUTCOMES: tuple[str, ...] = ("better", "better, within noise", "not better, within noise", "worse")
Pair = tuple[Cell, dict[str, Any]]


class Verdict(NamedTuple):
    """A compact map against its rival where all else is equal; differences are positive where it wins."""

    where: dict[str, Any]
    challenger: str
    rival: str
    difference: float
    outcome: str
    kernel_errors: tuple[float, float] | None  # of both, where they were measured
    up_error: float | None  # of the up-map alone, where it was measured


def judge(challenger: dict[int, float], rival: dict[int, float]) -> tuple[float, str] | None:
    """Return the mean gain over the seeds, lower values being better, and the outcome; None where no seed has both.

    A difference beyond the 95 % interval of Student's t over the seeds is clear; any other is noise.
    """
    seeds = sorted(challenger.keys() & rival.keys())
    if not seeds:
        return None
    gains = [rival[seed] - challenger[seed] for seed in seeds]
    gain = float(np.mean(gains))
    clear = abs(gain) > _margin(gains)
    if gain > 0:
        return gain, OUTCOMES[0] if clear else OUTCOMES[1]
    return gain, OUTCOMES[3] if clear else OUTCOMES[2]


def is_clear(outcome: str) -> bool:
    """Tell whether an outcome is beyond noise."""
    return outcome in (OUTCOMES[0], OUTCOMES[3])


def mean(group: dict[int, float]) -> float:
    """Return the mean of a group, over the seeds or whatever it is by."""
    return float(np.mean(list(group.values())))


def standard_error(error: float, n_rows: int) -> float:
    """Return how far chance moves an error in percent that is counted on so many rows: one standard error."""
    share = error / 100
    return 100 * float(np.sqrt(share * (1 - share) / n_rows))


def by_seed(pairs: Iterable[Pair], value: str, *keys: str) -> dict[tuple, dict[int, float]]:
    """Group finished cells by some keys; each group maps seeds to values."""
    groups: dict[tuple, dict[int, float]] = {}
    for cell, values in pairs:
        if value in values:
            groups.setdefault(tuple(cell.get(key) for key in keys), {})[cell["seed"]] = values[value]
    return groups


def verdicts(pairs: list[Pair], value: str, *keys: str) -> Iterator[Verdict]:
    """Yield a verdict for each rivalry at each combination of the keys, which tell all but method and seed."""
    groups = by_seed(pairs, value, "method", *keys)
    kernel = by_seed(pairs, "kernel_error", "method", *keys)
    up_errors = by_seed(pairs, "up_kernel_error", "method", *keys)
    for place in dict.fromkeys(group[1:] for group in groups):
        for challenger, rival in RIVALS:
            judged = judge(groups.get((challenger, *place), {}), groups.get((rival, *place), {}))
            if judged is None:
                continue
            both = [kernel.get((method, *place)) for method in (challenger, rival)]
            errors = tuple(mean(group) for group in both if group)
            up = up_errors.get((challenger, *place))
            yield Verdict(
                dict(zip(keys, place, strict=True)),
                challenger,
                rival,
                *judged,
                errors if len(errors) == 2 else None,  # type: ignore[arg-type]
                mean(up) if up else None,
            )


def kernel_estimates(verdict: Verdict) -> str:
    """Say how the kernel estimates of both maps compare."""
    if verdict.kernel_errors is None:
        return "the kernel errors were not measured"
    compact, direct = verdict.kernel_errors
    return f"its kernel error is {'larger' if compact >= direct else 'smaller'}, {compact:.2f} against {direct:.2f}"


def _margin(values: list[float]) -> float:
    """Return half the 95 % interval of Student's t of a mean; of one value nothing is known."""
    if len(values) < 2:
        return np.inf
    return float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
