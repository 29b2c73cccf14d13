"""The search for kernel, metric and length: which of them predict best at the width that will be used.

Few rows are compared by closed-form leave-one-out, many by real maps on rows left out. See `choice.search`.
"""

from craftmaps.learners.search.candidates import WIDEST as WIDEST_LINEAR
from craftmaps.learners.search.candidates import Found, SearchSpec, Trial
from craftmaps.learners.search.choice import FEWEST_ROWS, search

__all__ = ["FEWEST_ROWS", "WIDEST_LINEAR", "Found", "SearchSpec", "Trial", "search"]
