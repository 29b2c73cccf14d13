"""What an adapter is told of a data set."""

from typing import NamedTuple


class Problem(NamedTuple):
    """Task ("classes" or "numbers"), training rows, threads, seed, and the seconds that a fit may take."""

    task: str
    n_rows: int
    n_columns: int
    is_sparse: bool
    n_threads: int
    seed: int
    seconds: float

    @property
    def is_classes(self) -> bool:
        """Whether targets are classes."""
        return self.task == "classes"


class NotRun(Exception):  # noqa: N818 - no error: a cell that is left out, with the reason
    """A method does not take a problem."""
