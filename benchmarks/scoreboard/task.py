"""What an adapter is told of a cell."""

from typing import NamedTuple

from benchmarks.panel.problem import Problem


class Task(NamedTuple):
    """The problem, how kernel methods scale its rows ("length", "standard" or "none"), and whether it is a stream.

    Methods that can learn from blocks of rows get a stream block by block; the others get all rows at once.
    """

    problem: Problem
    scaling: str
    is_stream: bool
