"""Make the page of the scoreboard: goals, errors and costs, growth with rows and width, and what was not run."""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measuring import exponent
from benchmarks.panel import records
from benchmarks.panel.collecting import table, where
from benchmarks.scoreboard.board import Board
from benchmarks.scoreboard.data_sets import STREAMS
from benchmarks.scoreboard.goals import front_sentence, machine_rows
from benchmarks.scoreboard.scores import OURS, TREES, Score, Scores, finished, front, is_ours, scores

ABOUT = """Made by `python -m benchmarks.scoreboard collect`; README.md beside it says what is measured, and how. Errors
are percent of wrong classes on test rows, mean ± standard deviation where there are several seeds. Seconds are
processor seconds on {threads} thread{s}, choices and searches included. The machine had other work, so wall seconds,
which stand beside them, do not compare. Bold: nothing else has a smaller error in the same training time. Memory is
that of the process at the end of a fit, rows included."""


def page(path: Path, board: Board) -> str:
    """Return the page for a file of results."""
    groups = scores(records.read(path), board)
    about = ABOUT.format(threads=board.threads, s="s" * (board.threads > 1)).replace("\n", " ")
    parts = ["# Scoreboard", about]
    for heading, text in _sections(groups, board):
        parts += [f"## {heading}", text] if text else []
    return "\n\n".join([*parts, "## Where", *_places(path)]) + "\n"


def _sections(groups: Scores, board: Board) -> Iterator[tuple[str, str]]:
    """Yield headings and texts."""
    yield "Goals on MNIST", goals(groups, board)
    yield "Where trees win", tree_table(groups, board)
    yield "Where others win", other_table(groups, board)
    for data, group in groups.items():
        yield title(group, data), cost_table(group)
    yield "Time against rows", row_table(groups, board)
    yield "Time against width", width_table(groups, board)
    yield "Without a result", missing_table(groups, board)
    yield "Methods", method_table(groups, board)


def title(group: dict[str, Score], data: str) -> str:
    """Name a data set and its size."""
    first = next(iter(group.values())).records[0]
    return f"{data}: {first['n_train']:,} rows of {first['n_columns']} columns, {first['n_test']:,} tested"


def goals(groups: Scores, board: Board) -> str:
    """Say which goals are met."""
    group = groups.get("mnist", {})
    heads = ["model", "error, %", "training, times less", "prediction, times less", "bytes, times less", ""]
    rows = machine_rows(group, board)
    machine = table(heads, rows) if rows else "SVC(degree=7) was not measured."
    return f"{front_sentence(group, board)}\n\n{machine}"


def tree_table(groups: Scores, board: Board) -> str:
    """Compare the best trees with our best model."""
    return _rivals(groups, board, "trees", lambda name: board.methods[name].family in TREES)


def other_table(groups: Scores, board: Board) -> str:
    """Compare the best of the other competitors with our best model."""
    families = (*TREES, OURS)
    return _rivals(groups, board, "others", lambda name: board.methods[name].family not in families)


def _rivals(groups: Scores, board: Board, kind: str, is_rival: Callable[[str], bool]) -> str:
    """Compare the smallest error of some competitors with our smallest one."""
    rows = []
    for data, group in groups.items():
        done = finished(group)
        ours = [score for name, score in done.items() if is_ours(name, board)]
        theirs = [score for name, score in done.items() if is_rival(name)]
        if ours and theirs:
            best, own = (min(some, key=lambda score: score.error) for some in (theirs, ours))
            winner = kind if best.error < own.error else OURS if own.error < best.error else "equal"
            rows.append([data, *_named_error(best), *_named_error(own), winner])
    heads = ["data", kind, "error, %", "processor s", OURS, "error, %", "processor s", "smaller error"]
    return table(heads, rows) if rows else ""


def cost_table(group: dict[str, Score]) -> str:
    """Return errors and costs of a data set, smallest error first."""
    done = finished(group)
    on_front = {score.method for score in front(list(done.values()), _seconds)}
    rows = []
    for name, score in sorted(done.items(), key=lambda item: item[1].error):
        spread = "" if score.spread is None else f" ± {score.spread:.2f}"
        error = f"{score.error:.2f}{spread}"
        costs = (score.seconds, score.wall_seconds, score.microseconds, score.model_bytes / 1e3, score.peak_mb)
        rows.append(
            [name, f"**{error}**" if name in on_front else error, str(len(score.finished)), *map(amount, costs)]
        )
    heads = [
        "method",
        "error, %",
        "seeds",
        "training, processor s",
        "training, wall s",
        "prediction, µs a row",
        "model, kB",
        "peak, MB",
    ]
    return table(heads, rows) if rows else ""


def row_table(groups: Scores, board: Board) -> str:
    """Return processor seconds by length of the stream, and the exponents of their growth."""
    lengths = {data: n_rows for data, n_rows in STREAMS.items() if data in groups}
    rows = []
    for name in board.methods:
        seconds = {
            n_rows: groups[data][name].seconds
            for data, n_rows in lengths.items()
            if name in groups[data] and groups[data][name].status == "finished"
        }
        if len(seconds) > 1:
            pairs = sorted(seconds.items())
            whole, last = (exponent(*zip(*some, strict=True)) for some in (pairs, pairs[-2:]))
            rows.append([name, *(amount(seconds.get(n)) for n in lengths.values()), f"{whole:.2f}", f"{last:.2f}"])
    heads = ["method", *(f"{n:,} rows" for n in lengths.values()), "exponent", "exponent of the last two"]
    return table(heads, rows) if rows else ""


def width_table(groups: Scores, board: Board) -> str:
    """Return seconds and error of our models on MNIST by width, and the exponents of their growth."""
    done = finished(groups.get("mnist", {}))
    ours = [(board.methods[name].settings["n_components"], done[name]) for name in done if is_ours(name, board)]
    if len(ours) < 2:
        return ""
    rows = [
        [f"{width:,}", f"{score.error:.2f}", amount(score.seconds), amount(score.microseconds), _chosen(score)]
        for width, score in ours
    ]
    for name, some in (("exponent", ours), ("exponent of the last two", ours[-2:])):
        widths = [width for width, _ in some]
        growth = (exponent(widths, [cost(score) for _, score in some]) for cost in (_seconds, _microseconds))
        rows.append([name, "", *(f"{value:.2f}" for value in growth), ""])
    return table(["E", "error, %", "training, processor s", "prediction, µs a row", "chosen"], rows)


def missing_table(groups: Scores, board: Board) -> str:
    """Return cells without an error and why, and cells of the board that have no result yet."""
    rows = []
    for name, method in board.methods.items():
        found = {data: group[name] for data, group in groups.items() if name in group}
        for data, score in found.items():
            if score.status != "finished":
                rows.append([name, data, *_reason(score.records[-1])])
        absent = [data for data in board.scalings if data in method.data and data not in found]
        if absent:
            rows.append([name, ", ".join(absent), "not run", "no result yet"])
    return table(["method", "data", "what", "why"], rows) if rows else ""


def method_table(groups: Scores, board: Board) -> str:
    """Return the settings of methods, and the versions that they ran with."""
    rows = {}
    for method in board.methods.values():
        found = [group[method.name] for group in groups.values() if method.name in group]
        versions = [score.finished[-1]["versions"] for score in found if score.finished]
        if versions or method.family not in rows:
            names = ("scikit-learn", *method.packages) if method.family != OURS else method.packages
            used = (
                ", ".join(f"{name} {versions[-1][name]}" for name in names if name in versions[-1]) if versions else ""
            )
            rows[method.family] = [method.family, method.about, used]
    return table(["method", "setting", "versions"], rows.values())


def amount(value: float | None) -> str:
    """Return a number in three digits, without an exponent."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _seconds(score: Score) -> float:
    return score.seconds


def _microseconds(score: Score) -> float:
    return score.microseconds


def _chosen(score: Score) -> str:
    """Return the kernel and the metric that the last seed chose, on one line."""
    chosen = score.finished[-1].get("chosen", {})
    return " ".join(" on ".join(f"`{chosen[name]}`" for name in ("kernel", "metric") if name in chosen).split())


def _places(path: Path) -> list[str]:
    """Describe machines and versions, each with all commits that ran there."""
    known = records.environments(path)
    used = [known[name] for name in dict.fromkeys(record["environment"] for record in records.read(path))]
    commits: dict[str, list[str]] = {}
    for found in used:
        commits.setdefault(where(found | {"commit": "{}"}).strip(), []).append(found["commit"])
    return [place.replace("{}", " and ".join(names)) for place, names in commits.items()]


def _named_error(score: Score) -> list[str]:
    return [score.method, f"{score.error:.2f}", amount(score.seconds)]


def _reason(record: records.Record) -> list[str]:
    """Return what became of a cell and why, fit for a table."""
    if record["status"] == "timed out":
        return ["over the limit", f"{record['limit_seconds']:g} processor seconds"]
    return [record["status"], record.get("reason", "").replace("|", "/")]
