"""Write docs/internals/scale_tables.txt, which docs/internals/scale.rst includes, from benchmarks/results/scale.json.

python benchmarks/scale_table.py
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "internals" / "scale_tables.txt"


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a reStructuredText table."""
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for cells in (heads, *rows):
        lines += [f"   {'*' if i == 0 else ' '} - {cell}".rstrip() for i, cell in enumerate(cells)]
    return "\n".join(lines) + "\n"


def seconds(value: float) -> str:
    """Format a duration with two digits."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if value >= (2 if unit != "s" else 0) * size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{value:.2g} s"


def size(value: float) -> str:
    """Format bytes with two digits."""
    for unit, unit_size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if value >= unit_size:
            return f"{float(f'{value / unit_size:.2g}'):g} {unit}"
    return f"{value / 1e3:.2g} kB"


def power(value: int) -> str:
    """Format a power of two or of ten."""
    if value & (value - 1) == 0:
        return f":math:`2^{{{value.bit_length() - 1}}}`"
    return f":math:`10^{{{len(str(value)) - 1}}}`"


def rates_table(results: dict[str, Any]) -> str:
    """Return what one core does."""
    rates = results["rates"]
    solved = results["solving"]["measured"]
    rows = []
    for width, mapping in sorted(rates["map_row"].items(), key=lambda item: int(item[0])):
        counting = rates["count_row"][width]
        solving = seconds(rates["solve"][width]) + ("" if width in solved["False"] else ", extrapolated")
        rate = int(width) ** 2 / counting / 1e9
        rows.append([power(int(width)), f"{1e6 * mapping:.1f}", f"{1e6 * counting:,.0f}", f"{rate:.0f}", solving])
    return table(
        f"One core: microseconds a row of {results['columns']} float32 columns, and solving",
        ["E", "map", "products", "Gflop/s of products", "alpha and solution"],
        rows,
    )


def check_table(results: dict[str, Any]) -> str:
    """Return predictions beside runs."""
    rows = []
    for n_workers, run in results["runs"].items():
        for name in ("processor seconds", "bytes moved", "memory of a worker"):
            show = seconds if "seconds" in name else size
            mine, expected = run[name], run[f"{name}, predicted"]
            rows.append([n_workers, name, show(expected), show(mine), f"{mine / expected:.2f}"])
        rows.append([n_workers, "wall-clock seconds", "", seconds(run["wall-clock seconds"]), ""])
    n_rows = next(iter(results["runs"].values()))["rows"]
    title = f"Runs on Dask here: {n_rows:,} rows, E = 2048, workers of one core"
    return table(title, ["workers", "", "predicted", "measured", "ratio"], rows)


def prediction_tables(results: dict[str, Any]) -> str:
    """Return the predictions, a table for each number of rows."""
    parts = []
    for n_rows in (10**9, 10**12):
        rows = []
        for line in results["predictions"]:
            if line["rows"] == n_rows:
                rows.append(
                    [
                        power(line["components"]),
                        str(line["workers"]),
                        str(line["passes"]),
                        seconds(line["pass"]),
                        seconds(line["tree"]),
                        seconds(line["shuffle"]),
                        seconds(line["solve"]),
                        size(line["bytes moved"]),
                        size(line["memory of a worker"]),
                        size(line["memory of the driver"]),
                    ]
                )
        heads = ["E", "workers", "passes", "counting", "adding, Dask", "adding, Spark", "solving", "bytes moved"]
        parts.append(table(f"{power(n_rows)} rows", [*heads, "a worker holds", "the driver holds"], rows))
    rows = [
        [
            power(line["rows"]),
            power(line["components"]),
            f"{line['workers']:,}" if line["workers"] < 2**20 else "a million or more",
        ]
        for line in results["workers worth having"]
    ]
    heads = ["rows", "E", "workers"]
    parts.append(table("Workers from which on adding and solving take longer than counting, on Dask", heads, rows))
    return "\n".join(parts)


def page() -> str:
    """Return all tables."""
    results = json.loads((FOLDER / "results" / "scale.json").read_text())
    place = results["environment"]
    controls = " and ".join(f"{value:.2f}" for value in results["control"])
    where = (
        f"Measured on {place['cpu']}, {place['cores']} cores, commit {place['commit']}, {place['date']}. Two processes "
        f"counted {controls} times as far as one, before and after: 2 is a free machine. Made by "
        "`benchmarks/scale_table.py` from `benchmarks/results/scale.json`.\n"
    )
    return "\n".join([rates_table(results), check_table(results), prediction_tables(results), where])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
