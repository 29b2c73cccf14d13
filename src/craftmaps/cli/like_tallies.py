"""Tallies of files that go together; others are refused with the names of both files and the difference."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from craftmaps import Tally
from craftmaps.cli.model_rows import column_rule, naming, read_settled
from craftmaps.learners.parameters import refuse_other_parameters
from craftmaps.tables import Columns, listed


def read_like(path: Path, option: str, settled: Any, like: Path) -> Tally:
    """Read a tally; refuse one of another learner or of other columns than those of a learner settled like a file."""
    other = read_settled(path, option)
    with naming(f"{like} and {path} cannot be combined"):
        if type(other) is not type(settled):
            raise ValueError("One is of classes, the other of numbers.")
        rules = column_rule(settled), column_rule(other)
        _refuse_other_names(*rules)
        refuse_other_parameters(settled, other)
        settled.tally_.refuse_unlike(other.tally_)
        _refuse_other_encodings(*rules)
    return other.tally_


def _refuse_other_names(one: Columns | None, other: Columns | None) -> None:
    """Refuse rows of tables with other columns or another target; rows of arrays, without a rule, fit any."""
    if one is None or other is None:
        return
    alone = sorted(set(one.names) ^ set(other.names))
    if alone:
        raise ValueError(f"Only one of them has the columns {listed(alone)}.")
    if one.names != other.names:
        raise ValueError("Their columns are in different orders: tally all files with one recipe.")
    if one.target != other.target:
        raise ValueError(f"Their targets are {one.target!r} and {other.target!r}.")


def _refuse_other_encodings(one: Columns | None, other: Columns | None) -> None:
    """Refuse rows of tables whose categories or means for missing numbers are others."""
    if one is None or other is None:
        return
    pairs = zip(one.features, other.features, strict=True)
    unlike = [mine.name for mine, theirs in pairs if replace(mine, missing=0) != replace(theirs, missing=0)]
    if unlike:
        raise ValueError(f"They encode the columns {listed(unlike)} in other ways: tally all files with one recipe.")
