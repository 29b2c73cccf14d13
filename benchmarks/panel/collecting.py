"""Make Markdown tables of results: errors and seconds, and cross-validated beside test errors."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.panel import records
from benchmarks.panel.methods import METHODS
from benchmarks.panel.summaries import Summary, best, compared, in_units, summaries, thread_counts

ABOUT = """Made by `python -m benchmarks.panel collect`; README.md beside it says what is measured, and how. Errors are
mean ± standard deviation over seeds: percent of wrong classes, or root mean square errors. In brackets are the median
processor seconds of a fit. The smallest mean is bold. A seed changes the test rows of data sets that are split by
seed, and only the learner where the split is given; so deviations of these two kinds do not compare."""


def page(path: Path) -> str:
    """Return the page for a file of results."""
    found = records.read(path)
    title = "# Panel, development: errors on validation rows" if _is_development(found) else "# Panel"
    parts = [title, ABOUT.replace("\n", " ")]
    for threads in thread_counts(found):
        groups = summaries(found, threads)
        parts += [f"## {threads} thread{'s' * (threads > 1)}", error_table(compared(groups))]
        parts += [f"### {heading}\n\n{text}" for heading, text in _details(groups) if text]
    return "\n\n".join([*parts, *map(where, records.environments(path).values())]) + "\n"


def error_table(groups: dict[str, dict[str, Summary]]) -> str:
    """Return errors and seconds: a row for a data set, a column for a method."""
    names = [name for name in METHODS if any(name in group for group in groups.values())]
    rows = []
    for data, group in groups.items():
        first = next(iter(group.values()))
        sizes = f"{first.records[0]['n_train']:,}"
        cells = [_cell(group[name], name in best(group)) if name in group else "" for name in names]
        rows.append([data, sizes, "%" if first.task == "classes" else "rmse", *cells])
    return table(["data", "training rows", "error", *names], rows)


def own_error_table(groups: dict[str, dict[str, Summary]]) -> str:
    """Return cross-validated errors beside test errors, and how many intervals hold the test error."""
    rows = []
    for data, group in groups.items():
        for name, own in group.items():
            told = [record for record in own.finished if record.get("cross_validated") is not None]
            if not told:
                continue
            reported, test = (mean(in_units(own.task, record[key]) for record in told) for key in _ERRORS)
            with_interval = [record for record in told if record.get("interval")]
            held = sum(record["interval"][0] <= record["error"] <= record["interval"][1] for record in with_interval)
            rows.append([data, name, f"{reported:.4g}", f"{test:.4g}", f"{held} of {len(with_interval)}"])
    heads = ["data", "method", "cross-validated", "test", "intervals that hold the test error"]
    return table(heads, rows) if rows else ""


def resource_table(groups: dict[str, dict[str, Summary]]) -> str:
    """Return the largest peak memory and the mean microseconds of predicting a row."""
    rows = []
    for data, group in groups.items():
        for name, own in group.items():
            if own.finished:
                peak = max(record["peak_mb"] for record in own.finished)
                wall = mean(record["fit_seconds"] for record in own.finished)
                row = mean(record["predict_cpu_seconds"] / record["n_test"] for record in own.finished)
                rows.append([data, name, f"{own.seconds:.3g}", f"{wall:.3g}", f"{1e6 * row:.3g}", f"{peak:,.0f}"])
    heads = ["data", "method", "fit, processor s", "fit, wall s", "predict, processor µs a row", "peak MB"]
    return table(heads, rows) if rows else ""


def missing_table(groups: dict[str, dict[str, Summary]]) -> str:
    """Return the cells without an error, and why."""
    rows = [
        [data, name, str(record["seed"]), record["status"], _reason(record)]
        for data, group in groups.items()
        for name, own in group.items()
        for record in own.records
        if record["status"] not in ("finished", "not run")
    ]
    return table(["data", "method", "seed", "what", "why"], rows) if rows else ""


def where(environment: dict[str, Any]) -> str:
    """Describe a machine, its versions and the commit."""
    versions = ", ".join(f"{package} {number}" for package, number in environment["versions"].items())
    return (
        f"{environment['cpu']}, {environment['cores']} cores, Python {environment['python']}, {versions}, "
        f"commit {environment['commit']}, {environment['date']}"
    )


_ERRORS = ("cross_validated", "error")


def _details(groups: dict[str, dict[str, Summary]]) -> Iterator[tuple[str, str]]:
    """Yield the headings and tables after the first one."""
    yield "Cross-validated and test errors", own_error_table(groups)
    yield "Without a result", missing_table(groups)
    yield "Time and memory", resource_table(groups)


def _cell(own: Summary, is_best: bool) -> str:
    """Return error and seconds, or why there are none."""
    if own.status != "finished":
        return "-" if own.status == "not run" else own.status
    spread = "" if own.spread is None else f" ± {own.spread:.2g}"
    error = f"{own.error:.4g}{spread}"
    return f"**{error}** ({own.seconds:.2g})" if is_best else f"{error} ({own.seconds:.2g})"


def _reason(record: records.Record) -> str:
    """Return why a cell has no error, fit for a table."""
    limit = f"limit {record['limit_seconds']:g} s" if record["status"] == "timed out" else ""
    return "; ".join(filter(None, (limit, record.get("reason", "").replace("|", "/"))))


def _is_development(found: Sequence[records.Record]) -> bool:
    return any(record["development"] for record in found)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows])
