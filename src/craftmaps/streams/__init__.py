"""Blocks (X, y) from files of any size: Parquet, Arrow, CSV, JSON lines, svmlight, NPY, NPZ, IDX and HDF5.

`open` gives a `Stream`, which a learner takes block by block; its `Columns`, the rule by which a table became a
matrix, is stored with the model and applied again to the rows to predict.
"""

from craftmaps.streams.columns import Column, Columns
from craftmaps.streams.stream import Stream, open

__all__ = ["Column", "Columns", "Stream", "open"]
