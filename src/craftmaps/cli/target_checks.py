"""Targets that do not suit the task, refused with the option that settles it."""

from collections.abc import Iterable, Iterator
from typing import Any

import typer

from craftmaps._system.memory_budget import Budget
from craftmaps.scores.class_limit import ClassLimit
from craftmaps.scores.target_look import TargetLook
from craftmaps.streams import Block


def is_regression(wanted: bool | None, target: Any, look: TargetLook) -> bool:
    """Tell whether to predict numbers: as wanted, else classes; refuse a target that does not look like classes."""
    if wanted:
        if look.kind == "text":
            raise ValueError(f"--regression needs a target of numbers, but {target!r} holds text.")
        return True
    if look.fraction is not None:
        raise typer.BadParameter(
            f"The target {target!r} holds fractions such as {look.fraction:g}, which are no classes: "
            "say --regression to predict the number."
        )
    if wanted is not None:
        return False
    if look.looks_like_a_number:
        raise typer.BadParameter(
            f"The target {target!r} holds {look.n_values:,} different numbers in its first {look.n_rows:,} rows: "
            "say --regression to predict the number, or --classification to take each for a class."
        )
    if look.looks_like_a_name:
        raise ValueError(
            f"The target {target!r} holds {look.n_values:,} different labels in its first {look.n_rows:,} rows, "
            "too many to tell classes apart: name another column, or say --classification."
        )
    return False


def labelled(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks; refuse rows without labels."""
    for block in blocks:
        if block.y is None:
            raise ValueError("DATA must have labels, got none: name their column with --target.")
        yield block


def checked_classes(blocks: Iterable[Block], target: Any, budget: Budget, fewest: int = 1) -> Iterator[Block]:
    """Yield blocks; refuse more classes than fit, before the learner allocates them, and at the end too few."""
    return ClassLimit(target, budget.most_classes, budget.n_bytes, fewest)(blocks)
