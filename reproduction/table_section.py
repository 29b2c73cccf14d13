"""Table 1 on the page: our numbers, the paper's, their difference, and where compact maps do not win."""

from typing import Any

import numpy as np

from reproduction.claims import Pair, Verdict, by_seed, kernel_estimates, verdicts
from reproduction.methods import OURS, PAPER_METHODS, RIVALS
from reproduction.rows import VIEWS
from reproduction.running import settings_of
from reproduction.text import listed, mean_and_deviation, paper_numbers, signed, span, width_text

PLACE = ("part", "split", "components")
TITLES = {
    "a": "MNIST, small spaces",
    "b": "MNIST, large spaces",
    "c": "USPS",
    "d": "COIL100",
    "e": "PENDIGITS",
}
# How many rows the errors are counted on: their number says how far chance goes.
TEST_ROWS = {
    ("a", "customary"): 10_000,
    ("b", "customary"): 10_000,
    ("c", "customary"): 2_007,
    ("d", "36 views"): 3_600,
    ("d", "18 views"): 5_400,
    ("e", "customary"): 3_498,
}


def table_section(pairs: list[Pair], exact: list[Pair], level: str) -> str:
    """Write the five parts of Table 1 beside the paper's numbers, and what the kernel itself comes to."""
    paper = paper_numbers()["table1"]
    settings = settings_of("table1", level)
    limits = by_seed(exact, "error", "part", "split")
    lines = [
        "## Table 1: test errors",
        "",
        "In each cell: our number, then the paper's and the difference. The last row has the paper's best at that E.",
        "The lowest error of a column is bold.",
    ]
    for part, title in TITLES.items():
        own = settings[part]
        for split in own.get("splits", ["customary"]):
            chosen = [pair for pair in pairs if (pair[0]["part"], pair[0]["split"]) == (part, split)]
            heading = f"### {part}: {title}, degree {own['degree']}"
            if split in VIEWS:
                heading += f"; trained on {split} of each object, every {10 * VIEWS[split]} degrees"
            lines += ["", heading, "", *_table(chosen, own["components"], paper[part]), ""]
            if level != "tiny":
                lines += _chance(paper[part], TEST_ROWS[part, split])
            lines += _offsets(chosen, paper[part])
            lines += _limit(limits.get((part, split)), paper[part])
            lines += _lost(list(verdicts(chosen, "error", *PLACE)))
            lines += _paper_lost(paper[part])
    return "\n".join(lines)


def _table(pairs: list[Pair], widths: list[int], paper: dict[str, Any]) -> list[str]:
    """Write one part, a row for each method."""
    groups = by_seed(pairs, "error", "method", "components")
    means = {key: float(np.mean(list(group.values()))) for key, group in groups.items()}
    lines = [f"| E | {' | '.join(width_text(width) for width in widths)} |", "|---|" + "---|" * len(widths)]
    for method in (*PAPER_METHODS, OURS):
        cells = []
        for width in widths:
            # Trials have widths that the paper does not have.
            column = paper["components"].index(width) if width in paper["components"] else None
            theirs = None
            if column is not None:
                rows = PAPER_METHODS if method == OURS else (method,)
                theirs = min(paper[row][column] for row in rows)
            best = min((means[m, width] for m in (*PAPER_METHODS, OURS) if (m, width) in means), default=None)
            cells.append(_cell(groups.get((method, width)), theirs, best, decimals(paper)))
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def decimals(paper: dict[str, Any]) -> int:
    """Return how many decimals the paper gives in a part."""
    return max(len(f"{value:g}".partition(".")[2]) for row in PAPER_METHODS for value in paper[row])


def _cell(group: dict[int, float] | None, theirs: float | None, best: float | None, n_decimals: int) -> str:
    """Write mean, standard deviation, the paper's number and the difference."""
    paper = "" if theirs is None else f"<br>paper {theirs:.{n_decimals}f}"
    if not group:
        return f"not run{paper}"
    mean, text = float(np.mean(list(group.values()))), mean_and_deviation(group)
    if best is not None and mean <= best:
        text = f"**{text}**"
    return text + (f"{paper}, {signed(mean - theirs)}" if theirs is not None else "")


def _chance(paper: dict[str, Any], n_rows: int) -> list[str]:
    """Say how much an error depends on which rows are tested."""
    shares = [min(paper[row][i] for row in PAPER_METHODS) / 100 for i in (0, -1)]
    low, high = sorted(100 * float(np.sqrt(share * (1 - share) / n_rows)) for share in shares)
    return [
        f"- One standard error of errors such as the paper's best, on {n_rows:,} test rows: {span([low, high])}. "
        "Differences on the same rows vary less."
    ]


def _offsets(pairs: list[Pair], paper: dict[str, Any]) -> list[str]:
    """Name methods that are above the paper, or below it, in every column."""
    groups = by_seed(pairs, "error", "method", "components")
    lines = []
    for side, sign in (("above", 1), ("below", -1)):
        found = []
        for method in PAPER_METHODS:
            differences = [
                sign * (float(np.mean(list(groups[method, width].values()))) - theirs)
                for width, theirs in zip(paper["components"], paper[method], strict=True)
                if (method, width) in groups
            ]
            if len(differences) > 1 and min(differences) > 0.2:
                found.append(f"{method} by {span(differences)}")
        if found:
            lines.append(f"- In every column that was run {side} the paper: {listed(found)}.")
    return lines


def _limit(group: dict[int, float] | None, paper: dict[str, Any]) -> list[str]:
    """Say what the kernel itself comes to, and where the paper's maps are below it."""
    if not group:
        return []
    limit = float(np.mean(list(group.values())))
    line = f"- The kernel itself, without a map and in the same classifier: {mean_and_deviation(group)}."
    best = [min(paper[row][i] for row in PAPER_METHODS) for i in range(len(paper["components"]))]
    below = [
        f"{value:.{decimals(paper)}f} at E = {width_text(width)}"
        for width, value in zip(paper["components"], best, strict=True)
        if value < limit
    ]
    if below:
        line += f" The paper is below that with {listed(below)}."
    return [line]


def _lost(found: list[Verdict]) -> list[str]:
    """Say where a compact map did not win, and what is known of why."""
    lines = []
    for verdict in found:
        if verdict.difference <= 0:
            place = width_text(verdict.where["components"])
            by = f" by {-verdict.difference:.2f}" if verdict.difference else ""
            behind = f"{'behind' if by else 'level with'} {verdict.rival}{by}"
            lines.append(
                f"- At E = {place} {verdict.challenger} is {behind} ({verdict.outcome}); {kernel_estimates(verdict)}."
            )
    return lines


def _paper_lost(paper: dict[str, Any]) -> list[str]:
    """Say where in the paper's own numbers a compact map does not win."""
    n = decimals(paper)
    places = [
        f"{challenger} {paper[challenger][i]:.{n}f} against {rival} {paper[rival][i]:.{n}f} at E = {width_text(width)}"
        for challenger, rival in RIVALS
        for i, width in enumerate(paper["components"])
        if paper[challenger][i] >= paper[rival][i]
    ]
    told = f"- In the paper's own numbers the compact map does not win everywhere: {'; '.join(places)}."
    return [told] if places else []
