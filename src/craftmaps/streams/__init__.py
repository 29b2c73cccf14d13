"""Blocks (X, y) from files of any size: Parquet, Arrow, CSV, JSON lines, svmlight, NPY, NPZ, IDX and HDF5.

`open` returns a `Stream` of files, `of` a `Stream` of a data frame; learners take it block by block. Its `Columns`, the
rule by which a table becomes a matrix, is stored with the model and applied again to the rows to predict.
"""

from craftmaps.streams.opening import of, open
from craftmaps.streams.stream import Block, Stream
from craftmaps.tables import Column, Columns

__all__ = ["Block", "Column", "Columns", "Stream", "of", "open"]
