"""Tables: the rule by which their columns become a matrix, and what applies it."""

from craftmaps.tables.column import Column
from craftmaps.tables.columns import Columns

__all__ = ["Column", "Columns"]
