"""Learn from the rows of a Spark DataFrame, and predict for them.

DataFrame operations alone are used, so all of it works on Spark Connect too. Needs the extra `spark`.
"""

from craftmaps.spark.fitting import fit
from craftmaps.spark.pipeline import (
    CraftClassifierSpark,
    CraftClassifierSparkModel,
    CraftRegressorSpark,
    CraftRegressorSparkModel,
)
from craftmaps.spark.prediction import predict

__all__ = [
    "CraftClassifierSpark",
    "CraftClassifierSparkModel",
    "CraftRegressorSpark",
    "CraftRegressorSparkModel",
    "fit",
    "predict",
]
