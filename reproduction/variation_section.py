"""Cells of Table 1 with one thing changed, on the page."""

import numpy as np

from reproduction.claims import OUTCOMES, Pair, by_seed, judge
from reproduction.methods import OURS
from reproduction.text import listed, mean_and_deviation, signed, width_text

_KEYS = ("part", "split", "components", "method")


def variation_section(varied: list[Pair], table: list[Pair], found: dict[str, str]) -> str:
    """Write each change beside Table 1's own number, of the seeds that both have."""
    if not varied:
        return ""
    lines = [
        "### One thing changed",
        "",
        "What explains that a number is not the paper's, or that a compact map does not win, and what is *ours* worth "
        "without a part of it? The same cells again with one change, judged seed by seed:",
        "",
        "| part | E | map | change | as in Table 1 | changed | |",
        "|---|---|---|---|---|---|---|",
    ]
    plain = by_seed(table, "error", *_KEYS)
    names = dict(zip(OUTCOMES, ("lower", "lower, within noise", "not lower, within noise", "higher"), strict=True))
    for (change, *key), group in by_seed(varied, "error", "change", *_KEYS).items():
        before = {seed: error for seed, error in plain.get(tuple(key), {}).items() if seed in group}
        after = {seed: error for seed, error in group.items() if seed in before} if before else group
        judged = judge(after, before)
        part, _, width, method = key
        outcome = "" if judged is None else f"{signed(-judged[0])}, {names[judged[1]]}"
        texts = [mean_and_deviation(numbers) if numbers else "not run" for numbers in (before, after)]
        lines.append(f"| {part} | {width_text(width)} | {method} | {change} | {' | '.join(texts)} | {outcome} |")
    lines.append("")
    for part in sorted({cell["part"] for cell, _ in varied if cell["method"] != OURS}):
        told = [*_edges([pair for pair in table if pair[0]["part"] == part]), *filter(None, [found.get(part)])]
        if told:
            lines.append(f"- **Part {part}**: {' '.join(told)}")
    if "ours" in found:
        lines.append(f"- **Ours**: {found['ours']}")
    return "\n".join(lines).rstrip()


def _edges(pairs: list[Pair]) -> list[str]:
    """Say how often the paper's maps choose the largest penalty that they may, which a larger one could beat."""
    chosen: dict[int, list[bool]] = {}
    for cell, values in pairs:
        if "alpha" in values and "log10_alphas" in cell:
            largest = 10.0 ** cell["log10_alphas"][1]
            chosen.setdefault(cell["components"], []).append(bool(np.isclose(values["alpha"], largest)))
    places = [
        f"{sum(own)} of {len(own)} cells at {width_text(width)}" for width, own in sorted(chosen.items()) if any(own)
    ]
    return [f"The paper's maps choose the largest penalty that Table 1 tries in {listed(places)}."] if places else []
