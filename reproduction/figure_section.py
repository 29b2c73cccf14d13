"""Figures on the page, each with what the results say of the paper's claim."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from reproduction import figure2, figure6_section, figure7_section
from reproduction.claims import OUTCOMES, Pair, Verdict, by_seed, verdicts
from reproduction.methods import PAPER_METHODS, RIVALS
from reproduction.text import signed

TITLES = {
    "figure2": "Figure 2: spectra and weights",
    "figure4": "Figure 4: kernel error against E",
    "figure5": "Figure 5: kernel error against the degree",
    "figure6": figure6_section.TITLE,
    "figure7": figure7_section.TITLE,
}
# What tells a comparison from another, beside method and seed.
PLACES = {"figure4": ("dataset", "components"), "figure5": ("degree",), "figure6": figure6_section.PLACE}


def figure_section(finished: dict[str, list[Pair]], found: dict[str, str]) -> str:
    """Show the figures, each with what the results say of the paper's claim."""
    lines = ["## Figures", *_illustrations()]
    for name, say in {
        "figure2": _say_figure2,
        "figure4": _say_reconstruction,
        "figure5": _say_reconstruction,
        "figure6": figure6_section.say_figure6,
        "figure7": figure7_section.say_figure7,
    }.items():
        lines += ["", f"### {TITLES[name]}", ""]
        if finished[name]:
            lines += [f"![{TITLES[name]}](figures/{name}.png)", "", *say(name, finished[name], found)]
        else:
            lines.append("Not run.")
    return "\n".join(lines)


def _illustrations() -> list[str]:
    """Show the drawings of the algorithms, which have no data."""
    return [
        "",
        "### Figures 1 and 3: how a row is mapped",
        "",
        "Drawings, here with the signs of maps that were drawn: Algorithm 1 with N = 2 for every one of four "
        "features of",
        "five numbers, so for the kernel (x.y)^2, and the same through Hadamard blocks. The paper permutes "
        "the rows of all",
        "blocks together; here each factor has a block and a permutation of its own.",
        "",
        "![Figure 1: independent signs](figures/figure1.png)",
        "",
        "![Figure 3: Hadamard blocks](figures/figure3.png)",
    ]


def _say_figure2(name: str, pairs: list[Pair], found: dict[str, str]) -> list[str]:
    """Compare what is left of the spectrum, and the weights at zero."""
    lines = []
    for method, middle in _middles(pairs).items():
        counts = np.array(
            [values["counts"] for cell, values in pairs if cell["method"] == method and "counts" in values]
        )
        text = ", ".join("nothing" if value is None else f"{value:.2f}" for value in middle.values())
        lines.append(f"- {method}: log10 of the middle eigenvalue {text}{_spike(counts) if counts.size else ''}.")
    return [
        "The paper: RFM and TS lose rank, compact maps keep it, and RFM's spike of weights at zero goes "
        "away. The picture",
        "is of seed 0; the numbers of features in (b) and (c) are on different scales.",
        "",
        f"- {verdict_of_figure2(pairs)}.",
        *lines,
        *([f"- {found[name]}"] if name in found else []),
    ]


def verdict_of_figure2(pairs: list[Pair]) -> str:
    """Count the seeds in which a compact map has more of the spectrum than the map that it is made from."""
    middles = _middles(pairs)
    told = []
    for challenger, rival in RIVALS:
        seeds = middles.get(challenger, {}).keys() & middles.get(rival, {}).keys()
        wins = sum(_or_nothing(middles[challenger][seed]) > _or_nothing(middles[rival][seed]) for seed in seeds)
        told.append(f"{challenger} has more of the spectrum than {rival} in {wins} of {len(seeds)} seeds")
    return "; ".join(told)


def _middles(pairs: list[Pair]) -> dict[str, dict[int, float | None]]:
    """Return log10 of the middle eigenvalue, None where there is none, by method and seed."""
    middles: dict[str, dict[int, float | None]] = {}
    for method in (figure2.EXACT, *PAPER_METHODS):
        own = {cell["seed"]: values["log_scree"] for cell, values in pairs if cell["method"] == method}
        if own:
            middles[method] = {seed: scree[len(scree) // 2] for seed, scree in own.items()}
    return middles


def _or_nothing(value: float | None) -> float:
    return -np.inf if value is None else value


def _spike(counts: NDArray[np.int64]) -> str:
    """Say how many weights are in the fullest bin, where that is, and how many are in the bin at zero."""
    n_bins = counts.shape[1]
    shares = 100 * counts / counts.sum(axis=1, keepdims=True)
    centres = (2 * counts.argmax(axis=1) + 1) / n_bins - 1
    places = ", ".join(signed(centre) for centre in centres)
    fullest, at_zero = (
        ", ".join(f"{share:.0f}" for share in column) for column in (shares.max(axis=1), shares[:, n_bins // 2])
    )
    return f"; weights in the fullest bin {fullest} % (at {places}), at zero {at_zero} %"


def _say_reconstruction(name: str, pairs: list[Pair], found: dict[str, str]) -> list[str]:
    """Say where compact maps do not estimate the kernel better."""
    judged = list(verdicts(pairs, "kernel_error", *PLACES[name]))
    lost = [v for v in judged if v.difference <= 0]
    n_clear = Counter(v.outcome for v in judged)[OUTCOMES[0]]
    lines = [
        f"Compact maps have the smaller mean error in {len(judged) - len(lost)} of {len(judged)} comparisons, "
        f"in {n_clear} of them clearly. Whiskers are one standard deviation upwards and the same factor downwards.",
    ]
    return [*lines, *([""] if lost else []), *(_lost_estimate(v, pairs) for v in lost)]


def _lost_estimate(verdict: Verdict, pairs: list[Pair]) -> str:
    """Say by how much a compact map estimates the kernel worse, what its up-map has, and what single draws do."""
    place = ", ".join(f"{key} {value}" for key, value in verdict.where.items())
    told = f"- {verdict.challenger} at {place} ({verdict.outcome})"
    if verdict.kernel_errors is not None:
        told += f": {verdict.kernel_errors[0]:.3f} against {verdict.kernel_errors[1]:.3f}"
    if verdict.up_error is not None:
        told += f"; its up-map alone has {verdict.up_error:.3f}, the rest is the way down"
    own = [pair for pair in pairs if all(pair[0].get(key) == value for key, value in verdict.where.items())]
    groups = by_seed(own, "kernel_error", "method")
    medians = [float(np.median(list(groups[name,].values()))) for name in (verdict.challenger, verdict.rival)]
    if medians[0] < medians[1]:
        worst = max(groups[verdict.challenger,].values())
        told += f". The medians are {medians[0]:.2f} against {medians[1]:.2f}: a single draw with {worst:.2f} decides"
    return told + "."
