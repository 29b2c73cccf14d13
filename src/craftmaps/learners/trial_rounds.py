"""Trials of the search, round by round, best first."""

from collections.abc import Iterable
from typing import NamedTuple

from craftmaps.learners.choices import Trial

_LARGEST_ERROR = 1e299  # candidates whose features overflow are given a larger one


class Round(NamedTuple):
    """Candidates that were compared on the same rows at the same width; a width of 0 is the kernel itself."""

    n_rows: int
    width: int
    trials: tuple[Trial, ...]

    @property
    def taken(self) -> int | None:
        """The place of the candidate that was taken, or None if it was taken in another round."""
        return next((i for i, trial in enumerate(self.trials) if trial.is_taken), None)


def rounds_of(trials: Iterable[Trial]) -> list[Round]:
    """Group trials by rows and width, in the order in which they were made, and sort each group by error.

    A candidate that was tried again with the same result is counted once, with the time of all its trials.

    Examples
    --------
    >>> trials = Trial("a", 0.2, n_rows=50), Trial("b", 0.1, n_rows=50), Trial("b", 0.1, n_rows=99, width=8)
    >>> [(found.n_rows, [trial.name for trial in found.trials]) for found in rounds_of(trials)]
    [(50, ['b', 'a']), (99, ['b'])]
    """
    groups: dict[tuple[int, int], dict[tuple[str, float], Trial]] = {}
    for trial in trials:
        group = groups.setdefault((trial.n_rows, trial.width), {})
        key = label_of(trial), trial.error
        before = group.get(key)
        if before is not None:
            is_taken = before.is_taken or trial.is_taken
            trial = before._replace(seconds=before.seconds + trial.seconds, is_taken=is_taken)
        group[key] = trial
    return [Round(*key, tuple(sorted(group.values(), key=_rank))) for key, group in groups.items()]


def label_of(trial: Trial) -> str:
    """Name a candidate, with its loss where that is not the squared one.

    Examples
    --------
    >>> label_of(Trial("degree 3", 0.1))
    'degree 3'
    """
    loss = getattr(trial, "loss", None)
    is_named = not isinstance(loss, str) or loss in ("", "squared") or loss in trial.name
    return trial.name if is_named else f"{trial.name}, {loss} loss"


def has_overflowed(trial: Trial) -> bool:
    """Tell whether the features or the kernel of a candidate were not finite, so that it has no error."""
    return not trial.error < _LARGEST_ERROR


def _rank(trial: Trial) -> tuple[bool, float, bool]:
    """Return the key that sorts by error: of equal ones the taken one first, overflows last."""
    is_last = has_overflowed(trial)
    return is_last, 0.0 if is_last else trial.error, not trial.is_taken
