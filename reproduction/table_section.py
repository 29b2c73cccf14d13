"""Table 1 on the page: our numbers, the paper's, their difference, and where compact maps do not win."""

import tomllib
from typing import Any

import numpy as np

from reproduction.cells import HERE
from reproduction.claims import Pair, Verdict, by_seed, reason, verdicts
from reproduction.methods import OURS, PAPER_METHODS, RIVALS
from reproduction.rows import VIEWS
from reproduction.running import settings_of

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
    paper = tomllib.loads((HERE / "paper.toml").read_text())["table1"]
    settings = settings_of("table1", level)
    limits = by_seed(exact, "error", "part", "split")
    lines = [
        "## Table 1: test errors",
        "",
        "In each cell: our number, then the paper's and the difference. The last row has the paper's best at that E.",
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
            cells.append(_cell(groups.get((method, width)), theirs, best))
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def _cell(group: dict[int, float] | None, theirs: float | None, best: float | None) -> str:
    """Write mean, standard deviation, the paper's number and the difference."""
    paper = "" if theirs is None else f"<br>paper {theirs:g}"
    if not group:
        return f"not run{paper}"
    mean, text = float(np.mean(list(group.values()))), mean_and_deviation(group)
    if best is not None and mean <= best:
        text = f"**{text}**"
    return text + (f"{paper}, {mean - theirs:+.2f}" if theirs is not None else "")


def mean_and_deviation(group: dict[int, float]) -> str:
    """Write mean and standard deviation over the seeds."""
    values = list(group.values())
    return f"{np.mean(values):.2f}" + (f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else "")


def ours_against_paper(pairs: list[Pair]) -> str:
    """Count the columns in which our own error is lower than the paper's best, and name the others."""
    paper = tomllib.loads((HERE / "paper.toml").read_text())["table1"]
    n_run, n_close, above = 0, 0, []
    for (part, split, width), group in by_seed([p for p in pairs if p[0]["method"] == OURS], "error", *PLACE).items():
        if width not in paper[part]["components"]:
            continue
        column = paper[part]["components"].index(width)
        best = min(paper[part][row][column] for row in PAPER_METHODS)
        difference = float(np.mean(list(group.values()))) - best
        n_run += 1
        n_close += abs(difference) < 0.1
        if difference >= 0:
            views = f", {split}" if split in VIEWS else ""
            above.append(f"{part} at {width_text(width)}{views} ({difference:+.2f})")
    if not n_run:
        return ""
    rest = f"; it is higher in {', '.join(above)}" if above else ""
    return (
        f"*Ours* has a lower error than the paper's best in {n_run - len(above)} of {n_run} columns of Table 1 that "
        f"were run (COIL100 counts once for each split){rest}. "
        f"In {n_close} of the {n_run} the difference is less than 0.1."
    )


def _chance(paper: dict[str, Any], n_rows: int) -> list[str]:
    """Say how much an error depends on which rows are tested."""
    shares = [min(paper[row][i] for row in PAPER_METHODS) / 100 for i in (0, -1)]
    low, high = sorted(100 * float(np.sqrt(share * (1 - share) / n_rows)) for share in shares)
    return [
        f"- The test set has {n_rows:,} rows: on others of the same kind an error like the paper's best would vary by "
        f"{low:.2f} to {high:.2f} (one standard error); differences on the same rows vary less."
    ]


def _limit(group: dict[int, float] | None, paper: dict[str, Any]) -> list[str]:
    """Say what the kernel itself comes to, and where the paper's maps are below it."""
    if not group:
        return []
    limit = float(np.mean(list(group.values())))
    line = f"- The kernel itself, without a map and in the same classifier: {mean_and_deviation(group)}."
    best = [min(paper[row][i] for row in PAPER_METHODS) for i in range(len(paper["components"]))]
    below = [
        f"{value:g} at E = {width_text(width)}"
        for width, value in zip(paper["components"], best, strict=True)
        if value < limit
    ]
    if below:
        why = "by chance, from rows prepared in another way, or from another split"
        line += f" The paper is below that with {', '.join(below)}: {why}."
    return [line]


def _lost(found: list[Verdict]) -> list[str]:
    """Say where a compact map did not win, and what is known of why."""
    lines = []
    for verdict in found:
        if verdict.difference <= 0:
            place = width_text(verdict.where["components"])
            tie = "is level with" if verdict.difference == 0 else "is behind"
            lines.append(
                f"- At E = {place} {verdict.challenger} {tie} {verdict.rival} by {-verdict.difference:.2f} "
                f"({verdict.outcome}): {reason(verdict)}."
            )
    return lines


def _paper_lost(paper: dict[str, Any]) -> list[str]:
    """Say where in the paper's own numbers a compact map does not win."""
    places = [
        f"{challenger} {paper[challenger][i]:g} against {rival} {paper[rival][i]:g} at E = {width_text(width)}"
        for challenger, rival in RIVALS
        for i, width in enumerate(paper["components"])
        if paper[challenger][i] >= paper[rival][i]
    ]
    return [f"- In the paper's own numbers the compact map does not win either: {'; '.join(places)}."] if places else []


def width_text(width: int) -> str:
    """Write a width as the paper does."""
    power = width.bit_length() - 1
    return f"2^{power}" if width == 1 << power and width > 512 else f"{width:,}"
