"""Table 1 on the page: our numbers, the paper's, their difference, and where compact maps do not win."""

from typing import Any

from reproduction.claims import Pair, Verdict, by_seed, kernel_estimates, mean, standard_error, verdicts
from reproduction.methods import METHODS, OURS, PAPER_METHODS, RIVALS
from reproduction.rows import VIEWS
from reproduction.running import settings_of
from reproduction.text import listed, mean_and_deviation, paper_number, paper_numbers, signed, span, width_text

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
            lines += _not_run(chosen, own["components"])
            lines += _lost(list(verdicts(chosen, "error", *PLACE)))
            lines += _paper_lost(paper[part])
    return "\n".join(lines)


def _table(pairs: list[Pair], widths: list[int], paper: dict[str, Any]) -> list[str]:
    """Write one part, a row for each method."""
    groups = by_seed(pairs, "error", "method", "components")
    means = {key: mean(group) for key, group in groups.items()}
    lines = [f"| E | {' | '.join(width_text(width) for width in widths)} |", "|---|" + "---|" * len(widths)]
    for method in METHODS:
        cells = []
        for width in widths:
            # Trials have widths that the paper does not have.
            theirs = paper_number(paper, method, width) if width in paper["components"] else None
            best = min((means[m, width] for m in METHODS if (m, width) in means), default=None)
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
    error, text = mean(group), mean_and_deviation(group)
    if best is not None and error <= best:
        text = f"**{text}**"
    return text + (f"{paper}, {signed(error - theirs)}" if theirs is not None else "")


def _chance(paper: dict[str, Any], n_rows: int) -> list[str]:
    """Say how much an error depends on which rows are tested."""
    ends = paper["components"][0], paper["components"][-1]
    noise = [standard_error(paper_number(paper, OURS, width), n_rows) for width in ends]
    return [
        f"- One standard error of errors such as the paper's best, on {n_rows:,} test rows: {span(noise)}. "
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
                sign * (mean(groups[method, width]) - theirs)
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
    limit = mean(group)
    line = f"- The kernel itself, without a map and in the same classifier: {mean_and_deviation(group)}."
    below = [
        f"{best:.{decimals(paper)}f} at E = {width_text(width)}"
        for width in paper["components"]
        if (best := paper_number(paper, OURS, width)) < limit
    ]
    if below:
        line += f" The paper is below that with {listed(below)}."
    return [line]


def _not_run(pairs: list[Pair], widths: list[int]) -> list[str]:
    """Name the widths beyond the widest that was run, and say what they would cost."""
    seconds = by_seed(pairs, "cell_seconds", "components", "method")
    done = {width for width, _ in seconds}
    left = [width_text(width) for width in widths if done and width > max(done)]
    if not left:
        return []
    minutes = [value / 60 for (width, _), group in seconds.items() if width == max(done) for value in group.values()]
    return [
        f"- Not run, for the cost: {listed(left)}. A cell at {width_text(max(done))} took {span(minutes, '.0f')} "
        "minutes, and with twice the width time and memory are about four times as much."
    ]


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
