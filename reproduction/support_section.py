"""What training rows support, on the page: the choice by left-out rows, what they cannot tell from it, test errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.claims import Pair, by_seed, mean, standard_error
from reproduction.running import settings_of
from reproduction.support import CANDIDATE, POOLED, has_given_penalty
from reproduction.supported import SCORES, Support, fewest_errors, is_candidate, paper_bests, parts_of, support_of
from reproduction.table_section import TEST_ROWS, TITLES
from reproduction.text import listed, mean_and_deviation, span, width_text

HEADING = "What training rows support"


def support_section(pairs: list[Pair]) -> str:
    """Write what left-out rows choose and cannot tell, and what pooled rows say of the test rows."""
    parts = parts_of(pairs)
    if not parts:
        return ""
    lines = [
        f"### {HEADING}",
        "",
        "Does anything that training rows support come below the paper's best where *ours* does not? Exact kernels, "
        "without a map, of other shapes of rows and other degrees, each solved on all training rows with indicators of "
        "the classes, and scored on these alone: every row is left out once, in closed form. Penalties are chosen on "
        f"{settings_of('support')['alpha_rows']:,} of the rows, by squared losses of left-out rows. Not told from the "
        "best is a candidate whose score is within two standard errors of the difference, row by row (of squared "
        "losses by 100 groups of rows). Test errors were looked at once, here, and choose nothing.",
        "",
        "Pooled are training and test rows that are split again at random, sizes kept, so that test rows are like "
        "training rows. This was run with the paper's kernel and with what left-out rows choose, of equals one or two; "
        "in part c also, to look into it, with the candidate that is below the paper's best.",
        "",
        "![What training rows support](figures/support.png)",
        "",
        *_table([(part, support_of(pairs, part, score)) for part in parts for score in SCORES]),
        "",
        "Rank correlations are Spearman's, of the score with what is measured on test rows. An exact kernel has no E: "
        "it is the limit of maps as E grows, so the paper's best at the largest E is what it compares with.",
        "",
    ]
    for part in parts:
        lines += [_told(pairs, part), *_at_given_penalties(pairs, part), *_pooled(pairs, part)]
    return "\n".join(lines)


def in_short(pairs: list[Pair]) -> str:
    """Return a sentence for each part: the choices, and how many candidates that are not told apart are below."""
    told = []
    for part in parts_of(pairs):
        supports = [support_of(pairs, part, score) for score in SCORES]
        width, best = _widest(part)
        errors = listed([f"{_spanned(own.chosen, 'error')} (by {own.score})" for own in supports])
        equal = listed([f"{int((own.errors[own.is_equal] < best).sum())} of {own.is_equal.sum()}" for own in supports])
        orders = supports[-1].correlation("loss"), supports[-1].correlation("error")
        told.append(
            f"In part {part} the best of {len(supports[0].pairs)} exact kernels on left-out training rows has a test "
            f"error of {errors} against the paper's best of {best:.2f} at {width_text(width)}, and of the candidates "
            f"that left-out rows cannot tell from it {equal} are below; squared losses on left-out rows have a rank "
            f"correlation of {_number(orders[0])} with those on test rows, and of {_number(orders[1])} with test errors"
        )
        given = [pair for pair in pairs if pair[0]["part"] == part and has_given_penalty(pair[0])]
        if given:
            errors = _spanned(fewest_errors(given), "error")
            told.append(
                "If the penalty is chosen by errors as well, for some of the candidates and after test errors were "
                f"known, the best has a test error of {errors}"
            )
    return f'"{HEADING}", below, has exact kernels. {". ".join(told)}.' if told else ""


def name_of(cell: dict[str, Any]) -> str:
    """Name a candidate for people."""
    columns = {"none": "columns as they are", "standard": "standardised columns"}.get(cell["columns"])
    axes = "" if cell["axes"] == "none" else f", {cell['axes']}"
    axes += " axes" if cell["axes"].startswith("gradient") else ""
    length = {"unit": "unit length", "common": "common scale"}[cell["length"]]
    return f"{columns or cell['columns'] + ' scores'}{axes}, {length}, degree {cell['degree']}"


def _widest(part: str) -> tuple[int, float]:
    """Return the last width and the paper's best there: an exact kernel has no width, and is the limit of maps."""
    return list(paper_bests(part).items())[-1]


def _table(supports: list[tuple[str, Support]]) -> list[str]:
    """Write a column for each part and score."""
    heads = [f"{part}: {TITLES[part]}, by {own.score}" for part, own in supports]
    rows = {
        "candidates": [str(len(own.pairs)) for _, own in supports],
        "best on left-out rows": ["; ".join(name_of(cell) for cell, _ in own.chosen) for _, own in supports],
        "its error on left-out rows": [_spanned(own.chosen, "left_out_error") for _, own in supports],
        "its squared loss on left-out rows": [_spanned(own.chosen, "left_out_loss", ".5f") for _, own in supports],
        "its test error": [f"**{_spanned(own.chosen, 'error')}**" for _, own in supports],
        "its squared loss on test rows": [_spanned(own.chosen, "loss", ".5f") for _, own in supports],
        "paper's best": [_bests(part) for part, _ in supports],
        "not told from it, with itself": [str(own.is_equal.sum()) for _, own in supports],
        "their test errors": [span(own.errors[own.is_equal].tolist()) for _, own in supports],
        "of these below the paper's best": [_below(part, own.errors[own.is_equal]) for part, own in supports],
        "of all below the paper's best": [_below(part, own.errors) for part, own in supports],
        "rank correlation with test errors, all": [_number(own.correlation("error")) for _, own in supports],
        "with test errors, not told from it": [_number(own.correlation("error", own.is_equal)) for _, own in supports],
        "with squared losses on test rows, all": [_number(own.correlation("loss")) for _, own in supports],
    }
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    return [*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())]


def _bests(part: str) -> str:
    """Write the paper's best by width."""
    return ", ".join(f"{best:.2f} at {width_text(width)}" for width, best in paper_bests(part).items())


def _below(part: str, errors: NDArray[np.float64]) -> str:
    """Count test errors below the paper's best, by width."""
    counts = {width: int((errors < best).sum()) for width, best in paper_bests(part).items()}
    return ", ".join(f"{count} at {width_text(width)}" for width, count in counts.items())


def _spanned(pairs: list[Pair], name: str, form: str = ".2f") -> str:
    """Write the range of a value."""
    return span([values[name] for _, values in pairs], form)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _told(pairs: list[Pair], part: str) -> str:
    """Say whether training rows choose, or do not exclude, a candidate below the paper's best at the widest map."""
    supports = [support_of(pairs, part, score) for score in SCORES]
    width, best = _widest(part)
    chosen = [pair for own in supports for pair in own.chosen if pair[1]["error"] < best]
    where = f"the paper's best at {width_text(width)}, {best:.2f}"
    noise = standard_error(best, TEST_ROWS[part, "customary"])
    if chosen:
        line = f"- Part {part}: training rows choose a candidate below {where}: {_named(chosen)}."
    else:
        line = (
            f"- Part {part}: what training rows choose is not below {where}; one standard error of it is {noise:.2f}."
        )
    told = []
    for own in supports:
        kept = zip(own.pairs, own.is_equal, strict=True)
        below = sorted((pair for pair, is_equal in kept if is_equal and pair[1]["error"] < best), key=_error)
        told.append(f"by {own.score} {len(below)} of {own.is_equal.sum()}{f': {_named(below)}' if below else ''}")
    line += f" Below it are, of the candidates that they cannot tell from the best, {'; '.join(told)}."
    lowest = min(supports[0].pairs, key=_error)
    return f"{line} The lowest test error of all is {lowest[1]['error']:.2f}, the least of many: {name_of(lowest[0])}."


def _named(pairs: list[Pair]) -> str:
    """Name candidates and their test errors."""
    return "; ".join(dict.fromkeys(f"{name_of(cell)} ({values['error']:.2f})" for cell, values in pairs))


def _at_given_penalties(pairs: list[Pair], part: str) -> list[str]:
    """Say what a choice of the penalty as well by errors on left-out rows would be, of the candidates that have it."""
    own = [pair for pair in pairs if pair[0]["part"] == part and has_given_penalty(pair[0])]
    if not own:
        return []
    found = fewest_errors(own)
    _, best = _widest(part)
    named = "; ".join(f"{name_of(c)}, penalty 10^{c['log10_alphas'][0]:g} ({v['error']:.2f})" for c, v in found)
    side = "below" if all(values["error"] < best for _, values in found) else "not all below"
    before = support_of(pairs, part, "errors").chosen[0][1]["left_out_error"]
    n_candidates = len({_key(cell) for cell, _ in own})
    return [
        f"  - The penalty is a choice too. By errors on left-out rows, all rows and given penalties, of {n_candidates} "
        f"candidates with few errors the best is {side} the paper's best: {named}, with "
        f"{found[0][1]['left_out_error']:.2f} on left-out rows against {before:.2f} above. Test errors of these "
        f"{len(own)} cells are {_spanned(own, 'error')}. They were run after the test errors above were known."
    ]


def _pooled(pairs: list[Pair], part: str) -> list[str]:
    """Say how candidates do where test rows are like training rows."""
    own = [pair for pair in pairs if pair[0]["part"] == part]
    given = {key: pair for pair in own if is_candidate(pair[0]) for key in [_key(pair[0])]}
    lines = []
    pooled = [pair for pair in own if pair[0]["split"] == POOLED]
    left_out = by_seed(pooled, "left_out_error", *CANDIDATE)
    for key, errors in by_seed(pooled, "error", *CANDIDATE).items():
        if key not in given:
            continue
        cell, values = given[key]
        ratio = values["error"] / mean(errors) if mean(errors) else np.inf
        lines.append(
            f"  - Pooled, {name_of(cell)}: {mean_and_deviation(errors)} on test rows and {mean(left_out[key]):.2f} on "
            f"left-out training rows. As the split is given: {values['error']:.2f}, {ratio:.1f} times as much, and "
            f"{values['left_out_error']:.2f}."
        )
    return lines


def _error(pair: Pair) -> float:
    return pair[1]["error"]


def _key(cell: dict[str, Any]) -> tuple:
    return tuple(cell[name] for name in CANDIDATE)
