"""What is meant to hold on MNIST, and whether it does."""

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.scoreboard.board import Board
from benchmarks.scoreboard.scores import Score, finished, is_ours

FRONT_FROM = 5.0  # seconds of training
MACHINE = "SVC(degree=7)"
PARTS = {"seconds": 4, "microseconds": 30, "model_bytes": 50}


class Lost(NamedTuple):
    """A competitor that none of our models beats, within its own training time."""

    theirs: Score
    seconds: float
    ours: Score | None


def lost_to(group: dict[str, Score], board: Board) -> Iterator[Lost]:
    """Yield the competitors that lie below our front from 5 s of training upward."""
    done = finished(group)
    ours = [score for name, score in done.items() if is_ours(name, board)]
    for name, theirs in done.items():
        if is_ours(name, board):
            continue
        seconds = max(FRONT_FROM, theirs.seconds)
        best = min((score for score in ours if score.seconds <= seconds), key=lambda score: score.error, default=None)
        if best is None or best.error > theirs.error:
            yield Lost(theirs, seconds, best)


def front_sentence(group: dict[str, Score], board: Board) -> str:
    """Say whether our front lies below every competitor's."""
    lost = list(lost_to(group, board))
    goal = f"Our front below every competitor's from {FRONT_FROM:g} s of training upward, choices included"
    if not any(is_ours(name, board) for name in finished(group)):
        return f"{goal}: not measured."
    if not lost:
        return f"{goal}: **met**."
    cases = "; ".join(
        f"{case.theirs.method} has {case.theirs.error:.2f} % after {case.theirs.seconds:.1f} s, and "
        + ("no model of ours is ready" if case.ours is None else f"{case.ours.method} {case.ours.error:.2f} %")
        + f" within {case.seconds:.1f} s"
        for case in lost
    )
    return f"{goal}: **missed**. {cases}."


def machine_rows(group: dict[str, Score], board: Board) -> list[list[str]]:
    """Return a row for each of our widths: its error, and how many times less than SVC(degree=7) it costs."""
    done = finished(group)
    if MACHINE not in done:
        return []
    theirs = done[MACHINE]
    rows = []
    for name, ours in done.items():
        if is_ours(name, board):
            ratios = {cost: getattr(theirs, cost) / getattr(ours, cost) for cost in PARTS}
            met = ours.error <= theirs.error and all(ratios[cost] >= part for cost, part in PARTS.items())
            rows.append(
                [name, f"{ours.error:.2f}", *(f"{ratio:,.1f}" for ratio in ratios.values()), "met" if met else "missed"]
            )
    bounds = [f"{part}" for part in PARTS.values()]
    return [[f"goal: at most that of {MACHINE}", f"{theirs.error:.2f}", *bounds, ""], *rows]
