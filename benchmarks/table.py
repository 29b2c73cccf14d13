"""Write benchmarks/README.md: the results of the other files here as Markdown tables.

    python benchmarks/table.py

Parts that have not been measured are left out.
"""

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import up_projections_table
from up_projections_table import learned, narrow, summary

FOLDER = Path(__file__).parent
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">=": operator.ge}
FLAT = 1.05  # memory at the end of a stream over that at a quarter of it


class Target(NamedTuple):
    """A bound that a result is meant to keep."""

    sign: str
    bound: float
    unit: str = ""

    def cells(self, value: float) -> list[str]:
        """Return the bound in words, and whether a value keeps it."""
        return [f"{self.sign} {self.bound:,g}{self.unit}", self.verdict(value)]

    def verdict(self, value: float) -> str:
        """Tell whether a value keeps the bound."""
        return "met" if COMPARISONS[self.sign](value, self.bound) else "missed"


class Comparison(NamedTuple):
    """A number to stand beside a result, which is of another kind and so keeps or breaks no bound."""

    value: float

    def cells(self, value: float) -> list[str]:
        """Return the number, and no verdict."""
        return [f"paper: {self.value:g}", ""]


PASS = Target("<=", 1.35)
FIT = Target("<=", 2)
NYSTROEM = Target(">=", 5)
ROWS_PER_SECOND = {"D=2E": Target(">=", 40_000), "D=8E": Target(">=", 15_000)}
ONE_ROW = Target("<", 2, " ms")
MEMORY = Target("<", 600, " MB")
# Test errors in percent; those of the paper are its Table 1, "CM RFM".
ACCURACY = {
    "paper": {500: Target("<=", 7.2), 700: Target("<=", 5.9), 4096: Target("<=", 3.09)},
    "paper beside": {300: Comparison(9.5), 500: Comparison(7.2), 700: Comparison(5.9)},
    "auto": {1024: Target("<", 3.3), 4096: Target("<", 2.0), 8192: Target("<", 1.65)},
    "landmarks": {1024: Target("<", 3.0), 4096: Target("<", 1.7)},
}
KINDS = {
    "paper": "as in the paper",
    "paper beside": "the same, with the rows beside",
    "auto": "automatic choices",
    "landmarks": "automatic choices, landmarks",
}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def where(environment: dict[str, Any] | None) -> str:
    """Describe where and when something was measured, if that was recorded."""
    if environment is None:
        return ""
    versions = ", ".join(f"{package} {number}" for package, number in environment["versions"].items())
    return (
        f"\n\n{environment['cpu']}, {environment['cores']} cores, Python {environment['python']}, {versions}, "
        f"commit {environment['commit']}, {environment['date']}"
    )


def flat(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Turn nested results into (name, value) rows."""
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in flat(inner, f"{prefix}, {key}" if prefix else key)]
    if isinstance(value, list):
        return [(prefix, " ± ".join(f"{number:.4g}" for number in value))]
    return [(prefix, f"{value:.4g}" if isinstance(value, float) else str(value))]


def map_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield a section for each part of maps.json."""
    for name, part in results.items():
        rows = table(["what", "value"], flat(part["result"]))
        yield f"### {name}\n\n{part['about']}\n\n{rows}{where(part['environment'])}"


def pass_table(result: dict[str, Any]) -> str:
    rows = [[name, f"{part['ratio']:.2f}", *PASS.cells(part["ratio"])] for name, part in result.items()]
    return table(["rows", "pass / ssyrk", "target", ""], rows)


def fit_table(result: dict[str, Any]) -> str:
    rows = [
        [name, f"{mean(part['seconds']['fit']):.1f}", f"{part['ratio']:.2f}", *FIT.cells(part["ratio"])]
        for name, part in result.items()
    ]
    return table(["rows", "seconds", "fit / pass", "target", ""], rows)


def nystroem_table(result: dict[str, Any]) -> str:
    errors, seconds = result["error"], result["seconds"]
    rows = []
    for name, error in errors.items():
        cells = [name, f"{mean(seconds[name]):.1f}", f"{100 * error:.2f}"]
        ratio = result.get(f"ratio {name}")
        if ratio is None:
            rows.append([*cells, "", "", ""])
            continue
        bound, verdict = NYSTROEM.cells(ratio)
        no_worse = error <= errors["nystroem"]
        rows.append([*cells, f"{ratio:.1f}", f"{bound}, no more errors", verdict if no_worse else "missed"])
    return table(["features", "seconds", "test error, %", "times faster", "target", ""], rows)


def predict_table(result: dict[str, Any]) -> str:
    rows = []
    for name, part in result.items():
        speed, latency = part["rows_per_second"], part["one_row_ms"]
        rows.append([name, "rows a second", f"{speed:,.0f}", *ROWS_PER_SECOND[name].cells(speed)])
        rows.append([name, "one row", f"{latency:.2f} ms", *ONE_ROW.cells(latency)])
    return table(["up-projection", "what", "value", "target", ""], rows)


def memory_table(result: dict[str, Any]) -> str:
    sizes = result["resident_mb"]
    quarter, last = sizes[len(sizes) // 4], sizes[-1]
    growth = Target("<=", FLAT)
    rows = [
        ["at most", f"{result['peak_mb']:.0f} MB", *MEMORY.cells(result["peak_mb"])],
        ["after a quarter of the rows", f"{quarter:.0f} MB", "", ""],
        ["after all", f"{last:.0f} MB", f"flat: <= {FLAT:g} of that", growth.verdict(last / quarter)],
    ]
    return table(["resident", "value", "target", ""], rows)


def accuracy_table(result: dict[str, Any]) -> str:
    rows = []
    for kind, targets in ACCURACY.items():
        for width, target in targets.items():
            seeds = result.get(f"{kind} {width}")
            if not seeds:
                continue
            errors = [run["error"] for run in seeds.values()]
            spread = f" ± {stdev(errors):.2f}" if len(errors) > 1 else ""
            seconds = f"{mean(run['seconds'] for run in seeds.values()):.0f}"
            row = [KINDS[kind], str(width), f"{mean(errors):.2f}{spread}", str(len(errors)), seconds]
            rows.append([*row, *target.cells(mean(errors))])
    return table(["model", "E", "test error, %", "seeds", "seconds", "target", ""], rows)


class Part(NamedTuple):
    """A part of learner.json: its title, what it measures, and how to show it."""

    title: str
    about: str
    show: Callable[[dict[str, Any]], str]


LEARNER = {
    "pass": Part(
        "The pass",
        "Mapping 20,000 rows of MNIST to E = 4096 features and adding them to the statistic, over the time of nothing "
        "but the products (`ssyrk`) of features that are ready. Medians over rounds.",
        pass_table,
    ),
    "fit": Part(
        "The whole fit",
        "60,000 rows, E = 4096, ten alphas and five folds, over the pass alone. Medians over rounds.",
        fit_table,
    ),
    "nystroem": Part(
        "Against Nystroem and RidgeClassifier",
        "60,000 rows, E = 4096, one alpha on each side. scikit-learn has the paper's kernel, degree 7, on rows of "
        "unit length; ours has degree 3 on rows shaped by a covariance metric of 64 axes.",
        nystroem_table,
    ),
    "predict": Part("Prediction", "E = 4096, degree 7, 784 columns.", predict_table),
    "memory": Part(
        "Memory",
        "Resident set of a process that learns from a stream of 2,000,000 rows at E = 1024, choices included.",
        memory_table,
    ),
    "accuracy": Part(
        "Accuracy",
        "Test error on MNIST, 60,000 rows to learn from and 10,000 to test on: mean ± standard deviation over seeds. "
        "Seconds are of a fit, on a machine that had other work. All is chosen on training rows. *As in the paper* is "
        "degree 7, coef0 1, rows of unit length, degrees drawn geometrically, exact low degrees in the D = 8 E columns "
        "before the down-projection, and 200 random bits. *With the rows beside* has the rows themselves beside the E "
        "columns, so the solver sees E + 784: more than the paper's text has at that E. The paper's errors are "
        "those of its Table 1, CM RFM.",
        accuracy_table,
    ),
}


def learner_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield a section for each part of learner.json that is there."""
    for name, part in LEARNER.items():
        if results.get(name):
            place = where(results.get(f"environment {name}"))
            yield f"### {part.title}\n\n{part.about}\n\n{part.show(results[name])}{place}"


def large_file_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield the only section of large_file.json."""
    numbers = {name: value for name, value in results.items() if name != "environment"}
    yield f"{table(['what', 'value'], flat(numbers))}{where(results.get('environment'))}"


def competitor_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield the only section of competitors.json."""
    rows = []
    for name, fit in results["fits"].items():
        cells = [fit, ""] if isinstance(fit, str) else [f"{fit['seconds']:.1f}", f"{100 * fit['test error']:.2f}"]
        rows.append([name, *cells])
    ratios = results["seconds over those of craftmaps"]
    verdict = f"Ratios are {ratios}." if isinstance(ratios, str) else table(["seconds over ours", ""], flat(ratios))
    controls = ", ".join(f"{value:.2f}" for value in results["control"])
    yield (
        f"{results['rows']:,} rows of {results['columns']} columns, E = {results['components']}, two worker processes. "
        "craftmaps maps the rows; the others are given features of the same map, which are not timed. Two processes "
        f"counted {controls} times as far as one: 2 is a free machine. {verdict}\n\n"
        f"{table(['fit', 'seconds', 'test error, %'], rows)}{where(results.get('environment'))}"
    )


def honesty_sections(results: dict[str, Any]) -> Iterator[str]:
    """Return how often intervals hold the truth on noise, and cross-validated beside test errors of tables."""
    rows = []
    for kind in ("classes", "numbers"):
        held = results.get(f"noise, {kind}", {}).get("held", [])
        if held:
            errors = results[f"noise, {kind}"]["cross_validated"]
            rows.append([kind, f"{sum(held)} of {len(held)}", f"{mean(errors):.3f} ± {stdev(errors):.3f}"])
    yield (
        "### noise\n\nIntervals of 95 % that hold the true error, and the error that is reported, 1,000 rows.\n\n"
        + table(["targets", "intervals that hold", "cross-validated"], rows)
    )
    rows = [
        [
            name,
            *(f"{mean(line[key] for line in lines):.4g}" for key in ("cross_validated", "test")),
            f"{sum(line['interval'][0] <= line['test'] <= line['interval'][1] for line in lines)} of {len(lines)}",
        ]
        for name, lines in results.get("tables", {}).items()
    ]
    heads = ["table", "cross-validated", "test", "intervals that hold the test error"]
    yield "### tables\n\nMeans of ten splits, 128 features.\n\n" + table(heads, rows)
    yield where(results.get("environment"))


def class_phase_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield what classes that arrive in phases come to, beside all rows at once."""
    rows = [
        [
            " ".join(map(str, part["order"])),
            f"{100 * part['error']:.2f}",
            f"{100 * part['average_incremental_accuracy']:.2f}",
            f"{100 * part['forgetting']:.2f}",
            str(part["predictions_that_differ"]),
            f"{part['largest_difference_of_weights']:.1e}",
        ]
        for part in results["orders"]
    ]
    rows.append(["all at once", f"{100 * results['at_once']['error']:.2f}", "", "", "", ""])
    rows.append(
        ["all at once, features chosen", f"{100 * results['at_once_with_choices']['error']:.2f}", "", "", "", ""]
    )
    heads = [
        "order of classes",
        "final error, %",
        "average incremental accuracy, %",
        "forgetting, %",
        f"predictions of {results['n_test']:,} that differ",
        "relative difference of weights",
    ]
    yield (
        f"Features of CIFAR-10: {results['n_train']:,} rows, two new classes in each of five phases, each row seen "
        f"once, E = {results['width']} features, which depend on no rows. Differences are from the "
        "model of all rows at once. Measured by `class_phases.py`.\n\n"
        f"{table(heads, rows)}{where(results.get('environment'))}"
    )


SCOREBOARD = """## Scoreboard

`CraftClassifier` with its defaults against `PolynomialCountSketch`, `Nystroem`, `RBFSampler`, `SVC`, boosted trees,
`MLPClassifier`, LightGBM, xRFM, ThunderSVM, EigenPro, Vowpal Wabbit, river and scikit-learn-intelex on seven data sets:
[tables](scoreboard/RESULTS.md), [how it is measured](scoreboard/README.md). `python -m benchmarks.scoreboard run`
measures, `collect` writes the tables, `plot` the pictures. [The panel](panel/README.md) compares defaults on 22 data
sets.

![Test error against training time, prediction time and bytes on MNIST](scoreboard/front_mnist.png)"""


def up_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield what other ways up give beside the default of CraftMap."""
    yield (
        "Relative kernel error over pairs of unit rows of six data sets, and processor time of a row, both over those "
        "of `CraftMap` as it is by default (D = 8E, Maclaurin): geometric means over data sets and E = 256 and 1024. "
        '`D=32E` has a wider Maclaurin map, `direct` no down-projection, `auto` is `up_components="auto"`. The trees '
        "(Ahle et al., 2020) are prototypes in NumPy. Their time is an estimate: their Hadamard transforms in the "
        "loops of the maps, and a Maclaurin map of as many features for the products and the way down. Most of the "
        "error is that of the down-projection, which no way up can lower. Trees take longer for more error up to "
        "degree 7; at degree 9 the smaller one is 2 to 5 % better than the default on the wide data sets at E = 1024, "
        "about as much as a wider Maclaurin map in the same time. "
        "So trees are not among the maps. Every map was drawn four times, all but trees 16 times on PENDIGITS and "
        "LETTER; ratios are over the draws that both have.\n\n"
        "![Error against time of a row](up_projections.png)\n\n"
        + table(["degree", *(f"{kind}: error in time" for kind in up_projections_table.KINDS)], summary(results))
    )
    heads = ["data (columns)", "degree", "E", "default", "auto", "default, µs", "auto, µs"]
    yield (
        "### auto\n\nWhere `auto` does not choose the default: kernel errors, root mean squares over seeds, and "
        "processor microseconds of a row. On narrow rows it keeps the products of two coordinates exactly. "
        "From degree 7 on the difference is within the noise of the draws.\n\n" + table(heads, narrow(results))
    )
    environments = [part["environment"] for part in results.values()]
    commits = ", ".join(sorted({environment["commit"] for environment in environments}))
    errors = table(["data", "kernel and width", "default", "auto"], learned(results))
    yield (
        "### learning\n\nTest errors of a classifier in percent, means and deviations of seeds; standardised columns, "
        "rows of unit length.\n\n"
        f"{errors}{where(environments[0] | {'commit': commits})}"
    )


def wide_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield how fast wide rows are read and mapped, before and after they were read in one pass."""
    before, after = (results[label]["result"] for label in ("before", "after"))
    rates = ("rate_over_memory", "input_rate_over_memory")

    def cell(values: dict[str, Any], name: str, rate: str) -> str:
        times = 2 if name.endswith("every other column") else 1
        return f"{times * values[name][rate]:.2f}" if rate in values[name] else ""

    names = [name for name in after if isinstance(after[name], dict) and "rate_over_memory" in after[name]]
    rows = [[name, *(cell(part, name, rate) for rate in rates for part in (before, after))] for name in names]
    heads = ["map and layout", "whole, before", "whole, after", "input, before", "input, after"]
    yield (
        "4,096 rows of 8,192 float32 numbers on one thread, in units of the rate at which memory is read. Input is "
        "what is left of a transform without its loop: checking, reading and transposing rows. Memory is read in "
        "lines, so of every other column all bytes count.\n\n"
        + table(heads, rows)
        + where(results["after"]["environment"])
    )


def kernel_sections(results: dict[str, Any]) -> Iterator[str]:
    """Yield errors with kernels of unit rows."""
    errors = {name: part["result"]["errors_mean_sd"] for name, part in sorted(results.items())}
    kernels = dict.fromkeys(kernel for part in errors.values() for kernel in part)
    rows = [
        [k, *("{:.2f} ± {:.2f}".format(*part[k]) if k in part else "" for part in errors.values())] for k in kernels
    ]
    yield (
        "Errors in percent on 2,000 held-out training rows, learned from 3,000, three seeds, rows of unit length, the "
        "metric that the automatic choice took. No kernel is better than the best polynomial by more than the noise, "
        "so none is among the automatic choices.\n\n"
        + table(["kernel", *errors], rows)
        + where(next(iter(results.values()))["environment"])
    )


SOURCES = {
    "maps": ("Maps", map_sections),
    "wide_rows": ("Wide rows", wide_sections),
    "unit_row_kernels": ("Kernels of unit rows", kernel_sections),
    "up_projections": ("Other ways up", up_sections),
    "learner": ("The learner", learner_sections),
    "honesty": ("Are reported errors those of new rows?", honesty_sections),
    "class_phases": ("Classes that arrive in phases", class_phase_sections),
    "competitors": ("Against Spark ML and dask-ml", competitor_sections),
    "large_file": ("Training from a large Parquet set", large_file_sections),
}


def page() -> str:
    """Return the page for all result files that are there."""
    parts = [
        "# Benchmarks",
        "Made by `python benchmarks/table.py` from the files in `results`. `make bench` measures maps and learner, "
        "`python benchmarks/learner.py --only accuracy` accuracy, in about an hour. Machines are noisy: "
        "what is compared was timed in turns within one run, so look at ratios.",
        SCOREBOARD,
    ]
    for name, (title, sections) in SOURCES.items():
        path = FOLDER / "results" / f"{name}.json"
        found = list(sections(json.loads(path.read_text()))) if path.exists() else []
        parts += [f"## {title}", *found] if found else []
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (FOLDER / "README.md").write_text(page(), encoding="utf-8")
