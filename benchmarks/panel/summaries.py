"""Results of all seeds of a data set and a method, put together."""

from collections.abc import Sequence
from statistics import mean, median, stdev
from typing import NamedTuple

from benchmarks.panel.data_sets import DATA_SETS
from benchmarks.panel.methods import METHODS
from benchmarks.panel.records import Record


class Summary(NamedTuple):
    """Errors and processor seconds of the seeds that finished; the status if none did."""

    data: str
    method: str
    records: Sequence[Record]

    @property
    def finished(self) -> list[Record]:
        """Records with an error."""
        return [record for record in self.records if record["status"] == "finished"]

    @property
    def status(self) -> str:
        """Finished if any seed did, else the status of the last one."""
        return "finished" if self.finished else self.records[-1]["status"]

    @property
    def task(self) -> str:
        """Whether targets are classes or numbers."""
        return self.records[-1]["task"]

    @property
    def error(self) -> float:
        """Mean test error, in percent for classes."""
        return mean(self.errors)

    @property
    def errors(self) -> list[float]:
        """Test errors of the seeds, in percent for classes."""
        return [in_units(self.task, record["error"]) for record in self.finished]

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds."""
        return stdev(self.errors) if len(self.errors) > 1 else None

    @property
    def seconds(self) -> float:
        """Median processor seconds of a fit."""
        return median(record["fit_cpu_seconds"] for record in self.finished)


def in_units(task: str, error: float) -> float:
    """Return a share of wrong classes in percent, and a root mean square error as it is."""
    return 100 * error if task == "classes" else error


def summaries(records: Sequence[Record], threads: int | None = None) -> dict[str, dict[str, Summary]]:
    """Return summaries by data set and method, in the order of the panel."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if threads is None or record["threads"] == threads:
            groups.setdefault((record["data"], record["method"]), []).append(record)
    found: dict[str, dict[str, Summary]] = {}
    for data in DATA_SETS:
        own = {name: Summary(data, name, groups[data, name]) for name in METHODS if (data, name) in groups}
        if own:
            found[data] = own
    return found


def compared(groups: dict[str, dict[str, Summary]]) -> dict[str, dict[str, Summary]]:
    """Return the data sets on which methods are compared, which leaves out pooled ones."""
    return {data: group for data, group in groups.items() if not DATA_SETS[data].is_pooled}


def thread_counts(records: Sequence[Record]) -> list[int]:
    """Return the numbers of threads that occur."""
    return sorted({record["threads"] for record in records})


def best(group: dict[str, Summary]) -> set[str]:
    """Return the methods with the smallest mean error."""
    errors = {name: own.error for name, own in group.items() if own.status == "finished"}
    return {name for name, error in errors.items() if error == min(errors.values())}
