"""Tables and data frames as matrices: the rule for their columns, and the encoding by that rule."""

from craftmaps.tables.column import Column
from craftmaps.tables.column_names import listed
from craftmaps.tables.column_rule import Columns
from craftmaps.tables.frames import encode_frame, is_frame, text_columns

__all__ = ["Column", "Columns", "encode_frame", "is_frame", "listed", "text_columns"]
