"""Figure 6 on the page: errors by training rows, what the rows are, and where compact maps are not ahead."""

from reproduction import figure6
from reproduction.claims import OUTCOMES, Pair, Verdict, by_seed, judge, mean, verdicts
from reproduction.methods import METHODS, PAPER_METHODS
from reproduction.running import settings_of
from reproduction.text import listed, mean_and_deviation, paper_numbers, signed, width_text

TITLE = "Figure 6: test error against training rows"
# What tells a comparison from another, beside method and seed.
PLACE = ("components", "rows")
_STAND_IN = """MNIST8M could not be had. These rows stand in for it: the 60,000 training digits, then deformations of
them of the same kind (shift, rotation, thickness, elastic; `infinite_digits.py`). Their strength was chosen by looking
at pictures of training digits, not by any error. Deformations of one digit fall into different folds, so
cross-validation can be optimistic. Ten digits, each with nine deformations:"""


def full_title(pairs: list[Pair]) -> str:
    """Name the figure with what it is of: the rows, and the widths at which maps can be compared."""
    widths = sorted({v.where["components"] for v in verdicts(pairs, "error", *PLACE)})
    told = ["stand-in data"] if settings_of("figure6")["source"] == figure6.INFINITE else []
    told += [f"E = {listed([width_text(width) for width in widths])}"] if widths else []
    return f"{TITLE} ({', '.join(told)})" if told else TITLE


def say_figure6(name: str, pairs: list[Pair], found: dict[str, str]) -> list[str]:
    """Compare the curves, and say what the rows are."""
    settings = settings_of("figure6")
    paper = paper_numbers()["figure6"]["error_at_65536"]
    lines = []
    if settings["source"] == figure6.INFINITE:
        lines += [_STAND_IN, "", "![digits](figures/digits.png)", ""]
    lines.append(
        f"The paper's curves are in 2^14 dimensions. It gives one number, {paper} % at E = 2^16 with CM RFM on all 8.1 "
        "million rows, which is not run here. Every point is solved from a sum of tallies "
        f"(`docs/guide/tallies.rst`), each of {figure6.TALLY_ROWS:,} rows or of those up to the next point, so a curve "
        "maps every row once. At 60,000 rows *ours* differs from Table 1 for two reasons: it makes its choices on the "
        "first 12,288 rows of the stream, there on a sample of all rows; and it is least squares alone. The last "
        "column has the change of the error from the first number of rows, seed by seed. Where a curve goes on with "
        "fewer seeds, the picture draws these alone, with hollow markers. A curve of one seed has them too."
    )
    groups = by_seed(pairs, "error", *PLACE, "method")
    empty = []
    for width in settings["components"]:
        numbers = [n for n in settings["rows"] if n <= settings["max_rows_at"].get(str(width), n)]
        if not any((width, n_rows, method) in groups for n_rows in numbers for method in METHODS):
            empty.append(width_text(width))
            continue
        lines += ["", f"| E = {width_text(width)}, training rows | {' | '.join(f'{n:,}' for n in numbers)} | change |"]
        lines.append("|---|" + "---|" * (len(numbers) + 1))
        for method in METHODS:
            curve = {n_rows: group for n_rows in numbers if (group := groups.get((width, n_rows, method)))}
            texts = [mean_and_deviation(curve[n_rows]) if n_rows in curve else "not run" for n_rows in numbers]
            lines.append(f"| {method} | {' | '.join(texts)} | {_growth(curve)} |")
    lines.append("")
    if name in found:
        lines.append(f"- {found[name]}")
    if empty:
        lines.append(f"- E = {listed(empty)}: not run.")
    return [*lines, _best_map(groups), *_lost_rows(list(verdicts(pairs, "error", *PLACE)))]


def _growth(curve: dict[int, dict[int, float]]) -> str:
    """Say what more rows do to errors, seed by seed: up to the last number with the most seeds, and to the last one."""
    if len(curve) < 2:
        return ""
    first, *others = curve
    most = max(len(curve[n_rows]) for n_rows in others)
    last_with_most = max(n_rows for n_rows in others if len(curve[n_rows]) == most)
    told = [_change(curve[first], curve[n_rows], n_rows) for n_rows in dict.fromkeys((last_with_most, others[-1]))]
    return "; ".join(text for text in told if text)


def _change(before: dict[int, float], after: dict[int, float], n_rows: int) -> str:
    """Say how errors have changed at a number of rows, with its noise; nothing where no seed has both ends."""
    judged = judge(after, before)
    if judged is None:
        return ""
    words = dict(zip(OUTCOMES, ("falls", "within noise", "within noise", "rises"), strict=True))
    n_seeds = len(after.keys() & before.keys())
    return f"{signed(-judged[0])} at {n_rows:,}, {words[judged[1]] if n_seeds > 1 else '1 seed'}"


def _best_map(groups: dict[tuple, dict[int, float]]) -> str:
    """Say how often CM RFM, the best of the paper's Figure 6, is the best of the paper's maps here."""
    places = dict.fromkeys((width, n_rows) for width, n_rows, _ in groups)
    n_best, n_all = 0, 0
    for place in places:
        means = {m: mean(groups[*place, m]) for m in PAPER_METHODS if (*place, m) in groups}
        if len(means) == len(PAPER_METHODS):
            n_all += 1
            n_best += means["CM RFM"] <= min(means.values())
    return f"- The paper finds CM RFM best of its four maps; here it has the lowest mean in {n_best} of {n_all} places."


def _lost_rows(found: list[Verdict]) -> list[str]:
    """Say after how many rows a compact map is not ahead."""
    return [
        f"- E = {width_text(v.where['components'])}, {v.where['rows']:,} rows: "
        f"{v.challenger} is not ahead of {v.rival} ({v.outcome})."
        for v in found
        if v.difference <= 0
    ]
