"""Tables and data frames: the rule by which their columns become a matrix, and what applies it."""

from craftmaps.tables.column import Column
from craftmaps.tables.columns import Columns
from craftmaps.tables.frames import encode_frame, is_frame, text_columns

__all__ = ["Column", "Columns", "encode_frame", "is_frame", "text_columns"]
