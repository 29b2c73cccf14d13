"""The search for kernel, metric and length: which of them predict best at the width that will be used.

Few rows are compared by closed-form leave-one-out, many by real maps on rows left out. See `choice.search`.
"""

from craftmaps.learners.search.choice import Found, SearchSpec, Trial, search

__all__ = ["Found", "SearchSpec", "Trial", "search"]
