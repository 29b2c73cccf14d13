"""Predicted error and cost of maps, and the bounds of the paper."""

from craftmaps.plan.bounds import (
    corollary_components,
    corollary_error,
    lemma_condition,
    lemma_probability,
    theorem_error,
    up_factor,
)
from craftmaps.plan.predicted_error import predicted_error
from craftmaps.plan.search import Choice, Plan, plan

__all__ = [
    "Choice",
    "Plan",
    "corollary_components",
    "corollary_error",
    "lemma_condition",
    "lemma_probability",
    "plan",
    "predicted_error",
    "theorem_error",
    "up_factor",
]
