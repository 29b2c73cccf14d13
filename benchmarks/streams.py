"""Speed of streams: matrix bytes per second of processor time, and the largest memory used, by format.

    python benchmarks/streams.py [--rows N] [--columns N]

Files of random float32 columns are written to a temporary folder. Reading is measured without the first look, in a
process of its own per format; "memory" is what that process came to use since it began, the first look included, which
must not grow with the file (pages of files that are mapped into memory, NPY and Arrow, count but can be given back).
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from craftmaps import streams


def write_files(folder: Path, n_rows: int, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    label = pa.array(rng.integers(0, 10, n_rows))
    table = pa.table({f"c{i}": X[:, i] for i in range(n_columns)} | {"label": label})
    lists = pa.table({"embedding": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), n_columns), "label": label})
    pa.parquet.write_table(table, folder / "columns.parquet")
    pa.parquet.write_table(table, folder / "one-row-group.parquet", row_group_size=n_rows)
    pa.parquet.write_table(lists, folder / "lists.parquet")
    pa.feather.write_feather(table, folder / "columns.feather", compression="uncompressed", chunksize=65536)
    pa.csv.write_csv(table.slice(0, n_rows // 10), folder / "columns.csv")
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", label.to_numpy())


def measure(path: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stream = streams.open(path)
    wall, cpu, n_bytes = time.perf_counter(), time.process_time(), 0
    for X, _ in stream:
        n_bytes += X.nbytes
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    size = stream.total_bytes / 2**20
    print(
        f"{Path(path).name:22} file {size:6.0f} MB  matrix {n_bytes / 1e6:6.0f} MB  "
        f"{n_bytes / 1e6 / cpu:6.0f} MB/s of processor time, {n_bytes / 1e6 / wall:6.0f} MB/s  memory {peak:5.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write_files(Path(arguments.write), arguments.rows, arguments.columns)
    elif arguments.measure:
        measure(arguments.measure)
    else:
        # A process inherits the peak memory of the one that starts it, so this one stays small.
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, __file__, *sys.argv[1:], "--write", folder], check=True)
            for path in sorted(Path(folder).iterdir()):
                if path.name != "y.npy":
                    subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True)


if __name__ == "__main__":
    main()
