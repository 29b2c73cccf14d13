"""Learn from the rows of a Spark DataFrame, and predict for them.

DataFrame operations alone are used, so all of it works on Spark Connect too. Needs the extra `spark`.
"""

try:
    import pandas  # noqa: F401 - PySpark asks for it late
    import pyarrow  # noqa: F401
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError(f"craftmaps.spark needs PySpark: pip install 'craftmaps[spark]' ({error}).") from error

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
