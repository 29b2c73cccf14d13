"""How good predictions are: errors, AUC, log loss, confusion, calibration, and their intervals.

`ClassScores` and `NumberScores` take rows block by block and keep counts and sums, never the rows. The command line and
the report both read them, so that they cannot disagree.
"""

from craftmaps.scores.class_scores import ClassScores
from craftmaps.scores.held_out_error import held_out_error
from craftmaps.scores.number_scores import NumberScores

__all__ = ["ClassScores", "NumberScores", "held_out_error"]
