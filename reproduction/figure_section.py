"""Figures on the page, each with what the results say of the paper's claim."""

import tomllib

import numpy as np
from numpy.typing import NDArray

from reproduction import figure2, figure6
from reproduction.cells import HERE
from reproduction.claims import OUTCOMES, Pair, Verdict, by_seed, judge, verdicts
from reproduction.methods import OURS, PAPER_METHODS
from reproduction.running import settings_of
from reproduction.table_section import mean_and_deviation, width_text

TITLES = {
    "figure2": "Figure 2: spectra and weights",
    "figure4": "Figure 4: kernel error against E",
    "figure5": "Figure 5: kernel error against the degree",
    "figure6": "Figure 6: test error against training rows",
    "figure7": "Figure 7: time against test error",
}
# What tells a comparison from another, beside method and seed.
PLACES = {"figure4": ("dataset", "components"), "figure5": ("degree",), "figure6": ("components", "rows")}
TIMED = ("RFM", "TS", "CM RFM", OURS)


def figure_section(finished: dict[str, list[Pair]]) -> str:
    """Show the figures, each with what the results say of the paper's claim."""
    lines = ["## Figures", *_illustrations()]
    for name, say in {
        "figure2": _say_figure2,
        "figure4": _say_reconstruction,
        "figure5": _say_reconstruction,
        "figure6": _say_figure6,
        "figure7": _say_figure7,
    }.items():
        lines += ["", f"### {TITLES[name]}", ""]
        if finished[name]:
            lines += [f"![{TITLES[name]}](figures/{name}.png)", "", *say(name, finished[name])]
        else:
            lines.append("Not run.")
    return "\n".join(lines)


def _illustrations() -> list[str]:
    """Show the drawings of the algorithms, which have no data."""
    return [
        "",
        "### Figures 1 and 3: how a row is mapped",
        "",
        "Drawings, here with the signs of maps that were drawn: Algorithm 1 for five numbers and the kernel (x.y)^2 in",
        "four dimensions, and the same through Hadamard blocks. The paper permutes the rows of all blocks together;",
        "here each factor has a block and a permutation of its own.",
        "",
        "![Figure 1: independent signs](figures/figure1.png)",
        "",
        "![Figure 3: Hadamard blocks](figures/figure3.png)",
    ]


def _say_figure2(name: str, pairs: list[Pair]) -> list[str]:
    """Compare what is left of the spectrum, and the weights at zero."""
    lines = []
    for method in (figure2.EXACT, *PAPER_METHODS):
        own = [values for cell, values in pairs if cell["method"] == method]
        if own:
            middle = [values["log_scree"][len(values["log_scree"]) // 2] for values in own]
            text = ", ".join("nothing" if value is None else f"{value:.2f}" for value in middle)
            counts = np.array([values["counts"] for values in own if "counts" in values])
            lines.append(f"- {method}: log10 of the middle eigenvalue {text}{_spike(counts) if counts.size else ''}.")
    return [
        "The paper: RFM and TS lose rank, compact maps keep it, and RFM's spike of weights at zero goes away.",
        "The fullest bin shows a spike wherever it is; the bin at zero is what the paper speaks of.",
        "",
        *lines,
    ]


def _spike(counts: NDArray[np.int64]) -> str:
    """Say how many weights are in the fullest bin, where that is, and how many are in the bin at zero."""
    n_bins = counts.shape[1]
    shares = 100 * counts / counts.sum(axis=1, keepdims=True)
    centres = (2 * counts.argmax(axis=1) + 1) / n_bins - 1
    places = ", ".join(f"{centre:+.2f}" for centre in centres)
    at_zero = shares[:, n_bins // 2].mean()
    return f"; weights in the fullest bin {shares.max(axis=1).mean():.0f} % (at {places}), at zero {at_zero:.0f} %"


def _say_reconstruction(name: str, pairs: list[Pair]) -> list[str]:
    """Say where compact maps do not estimate the kernel better."""
    found = list(verdicts(pairs, "kernel_error", *PLACES[name]))
    lost = [v for v in found if v.difference <= 0]
    if not lost:
        return [f"As in the paper: compact maps are better in all {len(found)} comparisons."]
    wide = sum(
        v.up_error is not None and v.kernel_errors is not None and v.up_error >= v.kernel_errors[1] for v in lost
    )
    places = "; ".join(f"{v.challenger} at {', '.join(map(str, v.where.values()))} ({v.outcome})" for v in lost)
    return [
        f"Compact maps are better on average in {len(found) - len(lost)} of {len(found)} comparisons, not in:",
        f"{places}.",
        f"In {wide} of these {len(lost)} the up-map alone, although wider, is no better than the direct map; in the",
        "others it is better, and the down-projection loses more than that.",
    ]


def _say_figure6(name: str, pairs: list[Pair]) -> list[str]:
    """Compare the curves, and say what the rows are."""
    settings = settings_of("figure6")
    paper = tomllib.loads((HERE / "paper.toml").read_text())["figure6"]["error_at_65536"]
    lines = []
    if settings["source"] == figure6.INFINITE:
        lines += [
            "MNIST8M could not be had: the rows are deformations of the training digits of the same kind (shift, "
            "rotation, thickness, elastic; `infinite_digits.py`), and the first 60,000 are the digits themselves. "
            "How far they go was settled by looking at pictures of training digits, not by any error. "
            "Deformations of one digit fall into different folds, so cross-validation can be optimistic. "
            "Ten digits, each with nine deformations:",
            "",
            "![digits](figures/digits.png)",
            "",
        ]
    lines.append(f"The paper has no numbers here but one, {paper} % at E = 2^16 with CM RFM on all 8.1 million rows.")
    groups = by_seed(pairs, "error", "components", "rows", "method")
    for width in sorted({cell["components"] for cell, _ in pairs}):
        numbers = sorted({cell["rows"] for cell, _ in pairs if cell["components"] == width})
        lines += ["", f"| E = {width_text(width)}, training rows | {' | '.join(f'{n:,}' for n in numbers)} |"]
        lines.append("|---|" + "---|" * len(numbers))
        for method in (*PAPER_METHODS, OURS):
            cells = [groups.get((width, n_rows, method)) for n_rows in numbers]
            texts = ["not run" if group is None else mean_and_deviation(group) for group in cells]
            lines.append(f"| {method} | {' | '.join(texts)} |")
    return [*lines, "", *_growth(groups), *_lost_rows(list(verdicts(pairs, "error", *PLACES["figure6"])))]


def _growth(groups: dict[tuple, dict[int, float]]) -> list[str]:
    """Say what more rows do to errors: the last number of rows against the first, seed by seed."""
    told: dict[str, list[str]] = {outcome: [] for outcome in OUTCOMES}
    for width, method in dict.fromkeys((width, method) for width, _, method in groups):
        curve = {n_rows: group for (w, n_rows, m), group in groups.items() if (w, m) == (width, method)}
        first, last = min(curve), max(curve)
        judged = judge(curve[last], curve[first])
        if judged is not None and last > first:
            told[judged[1]].append(f"E = {width_text(width)}, {method} {-judged[0]:+.2f} at {last:,}")
    fall, lower, higher, rise = (told[outcome] for outcome in OUTCOMES)
    lines = [f"- Errors fall with more rows: {'; '.join(fall)}."] if fall else []
    if rise:
        lines.append(
            f"- Errors rise with more rows: {'; '.join(rise)}. All rows beyond the first 60,000 are deformed, and test "
            "digits are not: least squares in a small space gives up some of the second to fit the first. The paper's "
            "curves are in 2^14 dimensions."
        )
    if lower or higher:
        lines.append(f"- Within noise, or of one seed: {'; '.join([*lower, *higher])}.")
    return lines


def _lost_rows(found: list[Verdict]) -> list[str]:
    """Say after how many rows a compact map is not ahead."""
    return [
        f"- E = {width_text(v.where['components'])}, {v.where['rows']:,} rows: "
        f"{v.challenger} is not ahead of {v.rival} ({v.outcome})."
        for v in found
        if v.difference <= 0
    ]


def _say_figure7(name: str, pairs: list[Pair]) -> list[str]:
    """Write seconds and errors, and compare errors at equal time."""
    groups = by_seed(pairs, "error", "method", "components")
    errors = _means(groups)
    seconds = _means(by_seed(pairs, "pass_seconds", "method", "components"))
    choices = _means(by_seed(pairs, "choice_seconds", "method", "components"))
    lines = [f"| E | {' | '.join(TIMED)} |", "|---|" + "---|" * len(TIMED)]

    def text(key: tuple) -> str:
        if key not in errors:
            return "not run"
        before = f" after {choices[key]:.0f} s of choices" if key[0] == OURS and key in choices else ""
        return f"{seconds[key]:.2f} s{before}, {mean_and_deviation(groups[key])} %"

    for width in sorted({cell["components"] for cell, _ in pairs}):
        lines.append(f"| {width_text(width)} | {' | '.join(text((method, width)) for method in TIMED)} |")
    lines.append("")
    for rival in ("RFM", "TS"):
        wins = _wins_at_equal_time(errors, seconds, "CM RFM", rival)
        lines.append(f"- At equal time CM RFM has the lower error in {sum(wins)} of {len(wins)} places beside {rival}.")
    lines += [
        "- The paper used 40 cores: compare slopes, not seconds. The automatic choices of *ours* are made once, on at "
        "most 12,288 rows however many there are; they are not in its seconds of projection and Hessian.",
    ]
    return lines


def _means(groups: dict[tuple, dict[int, float]]) -> dict[tuple, float]:
    """Return the mean over seeds of every group."""
    return {key: float(np.mean(list(group.values()))) for key, group in groups.items()}


def _wins_at_equal_time(errors: dict, seconds: dict, challenger: str, rival: str) -> list[bool]:
    """Tell for each width of a method whether its error is below the rival's, interpolated on logarithms.

    Only where the times of the rival reach: nothing is extrapolated.
    """
    curve = sorted((seconds[key], errors[key]) for key in errors if key[0] == rival)
    if len(curve) < 2:
        return []
    times, values = np.log(np.maximum(np.array(curve).T, 1e-9))
    wins = []
    for key in errors:
        if key[0] == challenger and times[0] <= np.log(seconds[key]) <= times[-1]:
            wins.append(bool(np.log(errors[key]) < np.interp(np.log(seconds[key]), times, values)))
    return wins
