"""Learning from a stream of blocks, with checkpoints."""

import itertools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from craftmaps._system.progress import shown
from craftmaps.learners.blocks import Extent, n_counted, where
from craftmaps.learners.persistence import checkpoint as checkpoints
from craftmaps.learners.persistence.fitted_parts import refuse_foreign
from craftmaps.tables import Columns


def learn_from_stream(
    estimator: Any, blocks: Iterable[tuple], checkpoint: str | os.PathLike | None, every: int
) -> None:
    """Let an estimator learn from all blocks, from a checkpoint on if there is one, and solve."""
    done = _begin(estimator, checkpoint)
    last = getattr(estimator, "n_rows_seen_", 0)
    rule = getattr(blocks, "columns", None)
    extent, blocks = Extent(blocks), iter(blocks)
    _refuse_other_blocks(itertools.islice(blocks, done), done, last, checkpoint)
    with shown(estimator.verbose) as progress:
        progress.skip(last, extent.share(done, last))
        for i, block in enumerate(blocks, start=done):
            _learn_block(estimator, block, i)
            if isinstance(rule, Columns):
                estimator.notes_ = {"columns": rule.to_plain()}
            seen = getattr(estimator, "n_rows_seen_", 0)
            progress.show(seen, extent.share(i + 1, seen), extent.n_rows)
            if checkpoint is not None and seen - last >= every:
                checkpoints.write(checkpoint, estimator, i + 1)
                last = seen
        if not hasattr(estimator, "n_rows_seen_"):
            raise ValueError("blocks must have at least one block of rows, got none.")
        estimator.finish()
    if checkpoint is not None:
        Path(checkpoint).unlink(missing_ok=True)


def _begin(estimator: Any, checkpoint: str | os.PathLike | None) -> int:
    """Reset an estimator, or restore it from a checkpoint; return how many blocks it has counted."""
    if checkpoint is None:
        estimator._reset()
        return 0
    for part in (estimator.metric, estimator.feature_map):
        refuse_foreign(part)
    if not os.path.exists(checkpoint):
        estimator._reset()
        return 0
    restored, done = checkpoints.read(checkpoint, estimator)
    estimator._become(restored)
    return done


def _learn_block(estimator: Any, block: tuple, number: int) -> None:
    """Count a block; an error names it."""
    try:
        X, y, *weight = block
        estimator._partial_fit(X, y, weight[0] if weight else None)
    except (ValueError, TypeError) as error:
        seen = getattr(estimator, "n_rows_seen_", 0)
        raise type(error)(
            f"Block {number} of the stream{where(block)}: {error} The {seen} rows before it are kept."
        ) from error


def _refuse_other_blocks(blocks: Iterable[tuple], done: int, seen: int, checkpoint: Any) -> None:
    """Refuse blocks that cannot be those which a checkpoint has counted."""
    n_rows = [n_counted(*block) for block in blocks]
    if (len(n_rows), sum(n_rows)) != (done, seen):
        raise ValueError(
            f"blocks must begin with those that {checkpoint} has counted, {done} of {seen} rows, "
            f"got {len(n_rows)} of {sum(n_rows)} rows."
        )
