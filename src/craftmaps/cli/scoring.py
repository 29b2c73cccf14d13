"""Score a model on the labelled rows of files."""

from collections.abc import Iterable
from typing import Any

from craftmaps.cli.progress_bar import ProgressBar
from craftmaps.report.evaluation import Evaluation
from craftmaps.report.html.wording import shortened
from craftmaps.scores import ClassScores
from craftmaps.streams import Block

_MOST_NAMED = 5
_LONGEST_NAME = 40


def score(
    model: Any,
    blocks: Iterable[Block],
    progress: ProgressBar,
    source: str,
    missing: str = "none",
    keeps_examples: bool = False,
) -> Evaluation:
    """Evaluate a model on blocks of rows.

    Parameters
    ----------
    source : str
        Where the labels come from, for error messages.
    missing : str
        What was found instead of labels, for error messages.
    keeps_examples : bool
        Whether a report will show examples of the rows.
    """
    evaluation = Evaluation(model, keeps_examples)
    n_rows = 0
    for block in blocks:
        if block.y is None:
            raise ValueError(f"{source} must have labels to compare predictions with, got {missing}.")
        evaluation.add(block.X, block.y, block.weight)
        n_rows += block.X.shape[0]
        progress.show(n_rows)
    if not evaluation.scores.weight.total:
        raise ValueError("--weight must name a column with some weights above zero, got none.")
    if isinstance(evaluation.scores, ClassScores):
        _refuse_other_labels(evaluation.scores, source)
    return evaluation


def _refuse_other_labels(scores: ClassScores, source: str) -> None:
    """Refuse labels none of which is a class: the column is another one."""
    if scores.unknown_label is None:
        return
    classes = scores.classes.tolist()
    rest = "" if len(classes) <= _MOST_NAMED else f" and {len(classes) - _MOST_NAMED:,} more"
    named = ", ".join(map(_written, classes[:_MOST_NAMED])) + rest
    raise ValueError(
        f"{source} holds labels such as {_written(scores.unknown_label)}, none of which is a class of the model "
        f"({named})."
    )


def _written(label: Any) -> str:
    """Return a label as an error message shows it."""
    return shortened(repr(label), _LONGEST_NAME)
