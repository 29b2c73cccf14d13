"""Classifiers and regressors that learn in one pass over the rows."""

from craftmaps.learners.classifier import CraftClassifier
from craftmaps.learners.loading import load_model, load_tally
from craftmaps.learners.regressor import CraftRegressor

__all__ = ["CraftClassifier", "CraftRegressor", "load_model", "load_tally"]
