"""Figure 7 on the page: seconds and errors, and errors at equal time."""

import numpy as np

from reproduction.claims import Pair, by_seed, judge, mean
from reproduction.methods import OURS
from reproduction.running import settings_of
from reproduction.text import listed, mean_and_deviation, signed, span, width_text

TITLE = "Figure 7: time against test error"
CHALLENGER, TIMED_RIVALS = "CM RFM", ("RFM", "TS")


def say_figure7(name: str, pairs: list[Pair], found: dict[str, str]) -> list[str]:
    """Write seconds and errors, and compare errors at equal time."""
    errors, seconds, choices, finishes = (
        by_seed(pairs, value, "method", "components")
        for value in ("error", "pass_seconds", "choice_seconds", "finish_seconds")
    )
    methods = settings_of(name)["methods"]
    lines = [f"| E | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]

    def text(key: tuple) -> str:
        if key not in errors:
            return "not run"
        before = f" after {mean(choices[key]):.0f} s of choices" if key[0] == OURS and key in choices else ""
        return f"{mean_and_deviation(seconds[key])} s{before}, {mean_and_deviation(errors[key])} %"

    widths = sorted({cell["components"] for cell, _ in pairs})
    for width in widths:
        lines.append(f"| {width_text(width)} | {' | '.join(text((method, width)) for method in methods)} |")
    lines += ["", *(_at_equal_time_told(pairs, rival) for rival in TIMED_RIVALS)]
    if name in found:
        lines.append(f"- {found[name]}")
    solving = [mean(finishes[key]) for key in finishes if key[1] == widths[-1]]
    if solving:
        lines.append(
            f"- Not in these seconds: choosing the penalty and solving, {span(solving, '.0f')} s at "
            f"{width_text(widths[-1])}; and the automatic choices of *ours*, made once on at most 12,288 rows "
            "however many there are. The hollow squares have them."
        )
    return lines


def _at_equal_time_told(pairs: list[Pair], rival: str) -> str:
    """Say how the compact map compares with a rival at equal time, and where it cannot be said."""
    judged = at_equal_time(pairs, CHALLENGER, rival)
    told = ", ".join(f"{outcome} at {width_text(width)} ({signed(-gain)})" for width, (gain, outcome) in judged.items())
    others = {cell["components"] for cell, _ in pairs if cell["method"] == CHALLENGER} - judged.keys()
    line = f"- Error of {CHALLENGER} less the least that {rival} reaches in the same time: {told or 'nothing'}."
    if others:
        line += (
            f" Not compared at {listed([width_text(width) for width in sorted(others)])}, where not every seed of "
            f"{rival} has a width that takes as long, and one as short: nothing is extrapolated."
        )
    return line


def at_equal_time(pairs: list[Pair], challenger: str, rival: str) -> dict[int, tuple[float, str]]:
    """Judge a method against what the rival reaches in the same time, seed by seed, where every seed has both.

    A rival may be given more time than it needs: it counts with the best of its widths within the time, and
    between two of these with what lies between them on logarithms. Nothing is extrapolated; and a width at which
    some seeds could not be compared is left out, for which these are depends on the times themselves.
    """
    points: dict[str, dict[int, dict[int, tuple[float, float]]]] = {challenger: {}, rival: {}}
    for cell, values in pairs:
        if cell["method"] in points:
            own = points[cell["method"]].setdefault(cell["seed"], {})
            own[cell["components"]] = values["pass_seconds"], values["error"]
    judged = {}
    for width in sorted({width for own in points[challenger].values() for width in own}):
        mine = {seed: own[width] for seed, own in points[challenger].items() if width in own}
        theirs = {}
        for seed, (seconds, _) in mine.items():
            reached = _reached(list(points[rival].get(seed, {}).values()), seconds)
            if reached is not None:
                theirs[seed] = reached
        outcome = judge({seed: error for seed, (_, error) in mine.items()}, theirs)
        if outcome is not None and theirs.keys() == mine.keys():
            judged[width] = outcome
    return judged


def _reached(points: list[tuple[float, float]], seconds: float) -> float | None:
    """Return the error that a method reaches in a time, from its (seconds, error) at several widths."""
    if not points or not min(points)[0] <= seconds <= max(points)[0]:
        return None
    front: list[tuple[float, float]] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    times, errors = np.log(np.maximum(np.array(front).T, 1e-9))
    return float(np.exp(np.interp(np.log(seconds), times, errors)))
