"""Dot-product kernels."""

from craftmaps.kernels.dot_products import (
    HIGHEST_DEGREE,
    DotProductKernel,
    Exponential,
    MaclaurinSeries,
    Polynomial,
    Rows,
    check_kernel,
    spelled_out,
    whole_power,
)
from craftmaps.kernels.unit_rows import HIGHEST_DEPTH, ArcCosine, Gaussian, Laplace, NeuralTangent, UnitRowKernel

__all__ = [
    "HIGHEST_DEGREE",
    "HIGHEST_DEPTH",
    "ArcCosine",
    "DotProductKernel",
    "Exponential",
    "Gaussian",
    "Laplace",
    "MaclaurinSeries",
    "NeuralTangent",
    "Polynomial",
    "Rows",
    "UnitRowKernel",
    "check_kernel",
    "spelled_out",
    "whole_power",
]
