"""What a target asks for: classes or numbers; and classes that are too many."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from craftmaps.streams import Block

_FEW_VALUES = 20
_ENOUGH_ROWS = 100


def is_regression(wanted: bool | None, target: Any, kind: str | None, y: NDArray) -> bool:
    """Tell whether to predict numbers: as wanted, else by the type of the target and the labels of the first block."""
    if wanted and kind == "text":
        raise ValueError(f"--regression needs a target of numbers, but {target!r} holds text.")
    if wanted:
        return True
    fractions = y[y != np.trunc(y)] if kind == "number" else y[:0]
    if fractions.size:
        raise typer.BadParameter(
            f"The target {target!r} holds fractions such as {fractions[0]:g}, which are no classes: "
            "say --regression to predict the number."
        )
    if wanted is not None:
        return False
    n_values = np.unique(y).size
    has_own = n_values > max(_FEW_VALUES, y.size / 2)
    if kind in ("integer", "number") and has_own:
        raise typer.BadParameter(
            f"The target {target!r} holds {n_values:,} different numbers in its first {y.size:,} rows: "
            "say --regression to predict the number, or --classification to take each for a class."
        )
    if kind == "text" and has_own and y.size >= _ENOUGH_ROWS:
        raise ValueError(
            f"The target {target!r} holds {n_values:,} different labels in its first {y.size:,} rows, "
            "too many to tell classes apart: name another column, or say --classification."
        )
    return False


def checked_classes(blocks: Iterable[Block], target: Any, most: int, bound: int) -> Iterator[Block]:
    """Yield blocks; refuse more classes than fit, before the learner makes room for them, and fewer than two."""
    labels: set[Any] = set()
    n_rows = 0
    for block in blocks:
        y: Any = block.y
        labels.update(np.unique(y).tolist())
        n_rows += y.size
        if len(labels) > most:
            raise ValueError(
                f"The target {target!r} has more than {most:,} classes in {n_rows:,} rows, which is what fits in "
                f"{bound / 1e9:.1f} GB: ask for fewer --components, or predict a number with --regression."
            )
        yield block
    if len(labels) < 2:
        raise ValueError(f"The target {target!r} must have at least 2 classes, got only {labels.pop()!r}.")
