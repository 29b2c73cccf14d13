"""Results of all seeds of a cell, put together, and which of them lie on a front."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from benchmarks.panel.records import Record
from benchmarks.panel.summaries import Summary
from benchmarks.scoreboard.board import Board

OURS = "craftmaps"
TREES = ("LightGBM", "HistGradientBoosting")


class Score(Summary):
    """Means and medians over the seeds of a data set and a method."""

    @property
    def wall_seconds(self) -> float:
        """Median wall seconds of a fit."""
        return median(record["fit_seconds"] for record in self.finished)

    @property
    def microseconds(self) -> float:
        """Median processor microseconds of predicting a row."""
        return median(1e6 * record["predict_cpu_seconds"] / record["n_test"] for record in self.finished)

    @property
    def model_bytes(self) -> float:
        """Median size of a model."""
        return median(record["model_bytes"] for record in self.finished)

    @property
    def peak_mb(self) -> float:
        """Largest memory of a process up to the end of the fit, rows included."""
        return max(record["fit_peak_mb"] for record in self.finished)


Scores = dict[str, dict[str, Score]]


def scores(found: Iterable[Record], board: Board) -> Scores:
    """Return scores by data set and method, in the order of the board; results of other methods are left out."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in found:
        groups.setdefault((record["data"], record["method"]), []).append(record)
    return {
        data: own
        for data in board.scalings
        if (own := {name: Score(data, name, groups[data, name]) for name in board.methods if (data, name) in groups})
    }


def finished(group: dict[str, Score]) -> dict[str, Score]:
    """Return the scores with an error."""
    return {name: score for name, score in group.items() if score.status == "finished"}


def front(group: Sequence[Score], cost: Callable[[Score], float]) -> list[Score]:
    """Return the scores that no other one beats in both cost and error, cheapest first."""
    found: list[Score] = []
    for score in sorted(group, key=lambda score: (cost(score), score.error)):
        if not found or score.error < found[-1].error:
            found.append(score)
    return found


def is_ours(name: str, board: Board) -> bool:
    """Whether a method is of this library."""
    return board.methods[name].family == OURS
