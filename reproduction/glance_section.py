"""The first section of the page: how near the paper's numbers are, whether its claims hold, and *ours*."""

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

from reproduction import figure6_section, figure_section, support_section, table_section
from reproduction.claims import OUTCOMES, Pair, by_seed, is_clear, judge, mean, standard_error, verdicts
from reproduction.figure7_section import CHALLENGER, TIMED_RIVALS, at_equal_time
from reproduction.methods import METHODS, OURS, PAPER_METHODS, RIVALS
from reproduction.text import counted, listed, paper_number, paper_numbers, signed, span, width_text

TITLES = {"table1": "Table 1: test errors", **figure_section.TITLES}
PLACES = {"table1": table_section.PLACE, **figure_section.PLACES}
Group = dict[int, float]
_FEW_SEEDS = 3  # what has fewer is named


class _Difference(NamedTuple):
    """Of *ours* in a column of Table 1."""

    column: str
    value: float
    is_clear: bool


def glance_section(finished: dict[str, list[Pair]], n_wanted: dict[str, int], found: dict[str, str]) -> str:
    """Write all that can be counted."""
    paper = paper_numbers()["table1"]
    groups = {
        key: group
        for key, group in by_seed(finished["table1"], "error", "method", *table_section.PLACE).items()
        if key[3] in paper[key[1]]["components"]  # trials have widths that the paper does not have
    }
    parts = ["## At a glance", _differences(groups, paper), _claims(finished, n_wanted), _ours(groups, paper, found)]
    parts.append(support_section.in_short(finished.get("support", [])) if groups else "")
    return "\n\n".join(part for part in parts if part)


def _differences(groups: dict[tuple, Group], paper: dict[str, Any]) -> str:
    """Count the numbers that are near, and show the differences from the paper over the columns of each part."""
    places = dict.fromkeys(key[1:3] for key in groups)
    if not places:
        return ""
    rows = []
    for part, split in places:
        cells, all_found, n_near = [], [], 0
        for method in METHODS:
            found = _from_paper(groups, paper, method, part, split)
            cells.append(f"{signed(mean(found))}<br>{_range(found.values())}" if found else "not run")
            if method != OURS:
                all_found += found.values()
                n_near += _n_near(found, paper[part], method, table_section.TEST_ROWS[part, split])
        name = f"{part}: {table_section.TITLES[part]}" + (f", {split}" if split != "customary" else "")
        n_above = sum(value > 0 for value in all_found)
        counts = f"{n_near} of {len(all_found)} | {n_above} of {len(all_found)}"
        rows.append(f"| {name}{_gaps(groups, paper, part, split)} | {counts} | {' | '.join(cells)} |")
    lines = [
        "**How near are the numbers of Table 1 to the paper's?** Near is one of its four maps within two standard "
        "errors of the paper's number, as the number of test rows gives them; columns of a part share test rows and "
        "err together. Then our error less the paper's, mean and range over the columns that were run; for *ours* less "
        "the paper's best. Part d cannot be judged so: the paper does not state its split.",
        "",
        f"| part | near | above | {' | '.join(METHODS)} |",
        "|---|---|---|" + "---|" * len(METHODS),
        *rows,
    ]
    return "\n".join(lines)


def _n_near(differences: dict[int, float], paper: dict[str, Any], method: str, n_rows: int) -> int:
    """Count the differences, by width, that are within two standard errors of the paper's numbers."""
    errors = {width: standard_error(paper_number(paper, method, width), n_rows) for width in differences}
    return sum(abs(difference) <= 2 * errors[width] for width, difference in differences.items())


def _from_paper(groups: dict[tuple, Group], paper: dict[str, Any], method: str, *place: str) -> dict[int, float]:
    """Return our error less the paper's by width; *place* is a part and a split."""
    return {
        width: mean(group) - paper_number(paper[place[0]], method, width)
        for (name, *where, width), group in groups.items()
        if (name, *where) == (method, *place)
    }


def _range(differences: Collection[float]) -> str:
    """Write the least and the largest difference."""
    return " to ".join(dict.fromkeys(signed(end(differences)) for end in (min, max)))


def _gaps(groups: dict[tuple, Group], paper: dict[str, Any], part: str, split: str) -> str:
    """Name the columns of a part that have few seeds for some method, or none for any."""
    few, none = [], []
    for width in paper[part]["components"]:
        n_seeds = [len(groups.get((method, part, split, width), ())) for method in METHODS]
        if not any(n_seeds):
            none.append(width_text(width))
        elif min(n_seeds) < _FEW_SEEDS:
            few.append(width_text(width))
    told = [f"{listed(few)}: fewer than {_FEW_SEEDS} seeds"] if few else []
    told += [f"{listed(none)}: not run"] if none else []
    return f" ({'; '.join(told)})" if told else ""


def _claims(finished: dict[str, list[Pair]], n_wanted: dict[str, int]) -> str:
    """Count how often each claim of the paper holds."""
    lines = [
        "**Does a compact map beat the map that it is made from?** That is the paper's claim. Maps are "
        "compared seed by seed; what is inside the 95 % interval of the difference over the seeds, or of one seed, is "
        "noise. About one in twenty equal pairs would look clear, and columns share seeds and test rows, so that they "
        "err together. Within noise is not equal: three seeds show large differences only.",
        "",
        f"| where | cells run | | {' | '.join(OUTCOMES)} |",
        "|---|---|---|" + "---|" * len(OUTCOMES),
    ]
    for name in TITLES:
        pairs = finished[name]
        title = figure6_section.full_title(pairs) if name == "figure6" else TITLES[name]
        where = f"| {title} | {len(pairs)} of {n_wanted[name]} "
        if name == "figure2":
            lines.append(f"{where}| {figure_section.verdict_of_figure2(pairs)} |{' |' * len(OUTCOMES)}")
            continue
        for claim, outcomes in (_timed(pairs) if name == "figure7" else _outcomes(name, pairs)).items():
            counts = Counter(outcomes)
            lines.append(f"{where}| {claim} | {' | '.join(str(counts[outcome]) for outcome in OUTCOMES)} |")
            where = "| | "
    return "\n".join(lines)


def _outcomes(name: str, pairs: list[Pair]) -> dict[str, list[str]]:
    """Return the outcomes of each rivalry in an experiment about the errors of maps."""
    value = "kernel_error" if name in ("figure4", "figure5") else "error"
    found = list(verdicts(pairs, value, *PLACES[name]))
    return {
        f"{challenger} beats {rival}": [v.outcome for v in found if (v.challenger, v.rival) == (challenger, rival)]
        for challenger, rival in RIVALS
    }


def _timed(pairs: list[Pair]) -> dict[str, list[str]]:
    """Return the outcomes at equal time, a width for each."""
    n_seeds = len({cell["seed"] for cell, _ in pairs})
    return {
        f"{CHALLENGER} beats {rival} at equal time ({counted(n_seeds, 'seed')})": [
            outcome for _, outcome in at_equal_time(pairs, CHALLENGER, rival).values()
        ]
        for rival in TIMED_RIVALS
    }


def _ours(groups: dict[tuple, Group], paper: dict[str, Any], found: dict[str, str]) -> str:
    """Count the columns in which our own error is lower than the paper's best, and name the others."""
    places = dict.fromkeys(key[1:3] for key in groups)
    splits = {part: [split for name, split in places if name == part] for part in sorted({part for part, _ in places})}
    columns = [column for part, (split, *_) in splits.items() for column in _columns(groups, paper, part, split)]
    if not columns:
        return ""
    n_columns = sum(len(paper[part]["components"]) for part in splits)
    below, above = ([c for c, _ in columns if (c.value < 0) == is_below] for is_below in (True, False))
    behind = [difference for _, difference in columns if difference is not None and difference.value > 0]
    lines = [f"**Is *ours* below the paper's best?** In {len(below)} of {n_columns} columns.", ""]
    close = [difference for difference in below if not difference.is_clear]
    if close:
        lines.append(f"- Within noise are {len(close)} of these: {_named(close)}.")
    lines += [_two_splits(groups, paper, part, *names) for part, names in splits.items() if len(names) == 2]
    if above:
        lines.append(f"- It is above in {len(above)}: {_told(above)}.")
    if behind:
        lines.append(f"- Behind the best of the paper's maps as measured here it is in {len(behind)}: {_told(behind)}.")
    if n_columns > len(columns):
        lines.append(f"- Not run: {n_columns - len(columns)}.")
    lines.append("- Noise is that of our seeds alone: the paper tells none of its own.")
    return "\n".join(lines) + (f"\n\n{found['table1']}" if above and "table1" in found else "")


def _told(differences: list[_Difference]) -> str:
    """Name the columns and their differences, those within noise last."""
    clear, close = ([d for d in differences if d.is_clear == wanted] for wanted in (True, False))
    parts = [_named(clear)] if clear else []
    return "; ".join([*parts, f"within noise {_named(close)}"] if close else parts)


def _named(differences: list[_Difference]) -> str:
    """Name the columns and their differences."""
    return listed([f"{d.column} ({signed(d.value)})" for d in differences])


def _columns(
    groups: dict[tuple, Group], paper: dict[str, Any], part: str, split: str
) -> list[tuple[_Difference, _Difference | None]]:
    """Return what *ours* has more than the paper's best, and than the best of its maps as measured here, by column."""
    columns = []
    for width in paper[part]["components"]:
        group = groups.get((OURS, part, split, width))
        if group is None:
            continue
        rivals = [groups[key] for method in PAPER_METHODS if (key := (method, part, split, width)) in groups]
        theirs = dict.fromkeys(group, paper_number(paper[part], OURS, width))
        judged = [judge(group, rival) for rival in (theirs, min(rivals, key=mean, default={}))]
        name = f"{part} at {width_text(width)}"
        columns.append([None if j is None else _Difference(name, -j[0], is_clear(j[1])) for j in judged])
    return columns


def _two_splits(groups: dict[tuple, Group], paper: dict[str, Any], part: str, first: str, second: str) -> str:
    """Say what the split of a part has to do with it: the first counts, and may be easier than the paper's."""
    maps, others = (
        [value for m in PAPER_METHODS for value in _from_paper(groups, paper, m, part, split).values()]
        for split in (first, second)
    )
    told = f"- {len(paper[part]['components'])} of the columns are of part {part} with {first}"
    if maps and max(maps) < 0:
        told += (
            f", where the paper's own maps are below its numbers by {span([-value for value in maps])} as well: they "
            "say little about *ours*"
        )
    ours = _from_paper(groups, paper, OURS, part, second).values()
    if ours and others:
        told += (
            f". With {second}, where they are {_range(others)} from its numbers, *ours* is below its best in "
            f"{sum(value < 0 for value in ours)} of {len(ours)} columns"
        )
    return f"{told}."
