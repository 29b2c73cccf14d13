"""Train from a Parquet set much larger than memory allows; results go to benchmarks/results/large_file.json.

    python benchmarks/large_file.py                     # writes 5 GB to a temporary folder; about ten minutes
    python benchmarks/large_file.py --gigabytes 0.5

A process of its own learns at E = 2048 from random rows of 256 columns. Reported are its largest resident
memory, the time it waited for rows, and the processor time that reading alone takes in another process.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measuring import environment, say, update_results

RESULTS = Path(__file__).parent / "results" / "large_file.json"
COLUMNS = 256
GROUP_ROWS = 100_000

TRAIN = """
import json, resource, sys, time
from craftmaps import CraftClassifier, streams

stream = streams.open(sys.argv[1], target="label")
waited = 0.0

def blocks():
    global waited
    source = iter(stream)
    while True:
        started = time.perf_counter()
        block = next(source, None)
        waited += time.perf_counter() - started
        if block is None:
            return
        yield block

started = time.perf_counter()
model = CraftClassifier(n_components=2048, random_state=0).fit_stream(blocks())
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"rows": model.n_rows_seen_, "seconds": seconds, "waited": waited, "peak_gb": peak,
                  "cv_error": float(min(model.cv_results_["mean_error"]))}))
"""

READ = """
import json, sys, time
from craftmaps import streams

started, used = time.perf_counter(), time.process_time()
rows = sum(len(y) for _, y in streams.open(sys.argv[1], target="label"))
print(json.dumps({"rows": rows, "seconds": time.perf_counter() - started, "processor": time.process_time() - used}))
"""


def write(folder: Path, gigabytes: float) -> float:
    """Write files of random rows; return their size in gigabytes."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{i}" for i in range(COLUMNS)]
    size, i = 0, 0
    while size < gigabytes * 1e9:
        X = np.random.default_rng(i).standard_normal((GROUP_ROWS, COLUMNS), dtype=np.float32)
        label = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.int64)
        table = pa.table([*(pa.array(column) for column in X.T), pa.array(label)], names=[*names, "label"])
        path = folder / f"part-{i:04d}.parquet"
        parquet.write_table(table, path)
        size, i = size + path.stat().st_size, i + 1
    return size / 1e9


def measured(program: str, folder: Path) -> dict[str, Any]:
    """Run a program on the files in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Write, train and read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    gigabytes = parser.parse_args().gigabytes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write(folder, gigabytes)
        say(f"{size:.2f} GB of Parquet written")
        reading = measured(READ, folder)
        say(f"reading alone: {reading}")
        training = measured(TRAIN, folder)
        say(f"training: {training}")
    result = {
        "gigabytes": size,
        "columns": COLUMNS,
        "components": 2048,
        "reading": reading,
        "training": training,
        "waited_share": training["waited"] / training["seconds"],
        "processor_share": reading["processor"] / training["seconds"],
    }
    update_results(RESULTS, result | {"environment": environment()})


if __name__ == "__main__":
    main()
