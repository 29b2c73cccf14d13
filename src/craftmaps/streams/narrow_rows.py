"""Narrow sparse rows as dense rows, so that a model does not depend on the format of a file."""

from collections.abc import Iterable, Iterator

from scipy.sparse import issparse

from craftmaps.streams.stream import Block

WIDEST_DENSE = 2048


def dense_where_narrow(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks with sparse rows of at most 2,048 columns as dense rows.

    Automatic choices compare more metrics for dense rows, and unit lengths of sparse rows round differently.
    """
    for block in blocks:
        is_narrow = issparse(block.X) and block.X.shape[1] <= WIDEST_DENSE
        yield block._replace(X=block.X.toarray()) if is_narrow else block
