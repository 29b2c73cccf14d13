"""Data sets as files that `craftmaps train` reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file

from craftmaps._system.atomic_files import new_file
from craftmaps.cli.files import writing


def write_rows(folder: Path, name: str, X: Any, y: Any) -> Path:
    """Write rows and labels, as Parquet if dense and as svmlight if sparse; return the path."""
    path = folder / f"{name}.{'svmlight' if issparse(X) else 'parquet'}"
    with writing(path), new_file(path) as new:
        if issparse(X):
            dump_svmlight_file(X, y, str(new), zero_based=False)
        else:
            values = pyarrow.array(np.ascontiguousarray(X).reshape(-1))
            vectors = pyarrow.FixedSizeListArray.from_arrays(values, X.shape[1])
            pyarrow.parquet.write_table(pyarrow.table({"x": vectors, "label": pyarrow.array(y)}), new)
    return path
