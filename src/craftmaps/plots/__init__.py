"""Plots of models, maps and tallies, on axes of Matplotlib (the extra `plots`).

Every function takes `ax`, draws on new axes if that is None, and returns the axes.
"""

from craftmaps.plots.kernel import kernel_error, scree
from craftmaps.plots.learning import learning_curve
from craftmaps.plots.penalty import penalty_curve
from craftmaps.plots.predictions import calibration, confusion
from craftmaps.plots.trials import search

__all__ = ["calibration", "confusion", "kernel_error", "learning_curve", "penalty_curve", "scree", "search"]
