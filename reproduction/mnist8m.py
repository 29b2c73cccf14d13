"""The real MNIST8M, for those who have it: an svmlight file, read line by line."""

import bz2
import gzip
import lzma
import os
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from craftmaps.datasets import DataNotFound

_OPENERS = {"": open, ".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}
WIDTH = 784


class Mnist8m:
    """Rows of the file `mnist8m`, plain or compressed, in the folder of data sets.

    Its first 60,000 rows are the training digits of MNIST, and its values are pixels of 0 to 255.
    """

    def __init__(self) -> None:
        folder = Path(os.environ.get("CRAFTMAPS_DATA", ".")) / "mnist8m"
        paths = [folder / f"mnist8m{suffix}" for suffix in _OPENERS]
        found = [path for path in paths if path.is_file()]
        if not found:
            raise DataNotFound(
                f"mnist8m must be a file {folder.name}/mnist8m, plain or with {', '.join(list(_OPENERS)[1:])}, "
                f"below CRAFTMAPS_DATA ({os.environ.get('CRAFTMAPS_DATA', 'not set')}), got none."
            )
        self.path = found[0]

    def blocks(self, start: int, stop: int, block_rows: int) -> Iterator[tuple[NDArray[np.float32], NDArray]]:
        """Yield rows start to stop - 1 in blocks; the lines before them are passed over."""
        with _OPENERS[self.path.suffix](self.path, "rb") as file:
            lines = islice(file, start, stop)
            while chunk := b"".join(islice(lines, block_rows)):
                X, y = load_svmlight_file(BytesIO(chunk), n_features=WIDTH, dtype=np.float32, zero_based=False)
                yield X.toarray(), y.astype(np.int64)
