"""Speed of the maps, as ratios within one run; results go to benchmarks/results/maps.json.

    python benchmarks/maps.py                     # everything, about ten minutes
    python benchmarks/maps.py --only hadamard     # one part; the others keep their results
    python benchmarks/table.py                    # the results as a table

Rows are those of MNIST where CRAFTMAPS_DATA has it, else random ones of the same shape.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from measuring import environment, exponent, interleaved, keep_memory, median_ratio, say, update_results
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch
from sklearn.preprocessing import normalize

import craftmaps
from craftmaps import CraftMap, LandmarkMap, Polynomial, RandomMaclaurin, TensorSketch, datasets
from craftmaps._system.threads import for_row_blocks
from craftmaps.diagnostics import kernel_error

KERNEL = Polynomial(degree=7)
RESULTS = Path(__file__).parent / "results" / "maps.json"


def rows(n: int) -> tuple[np.ndarray, str]:
    """Return n float32 rows of unit length and what they are."""
    if datasets.found("mnist"):
        return normalize(datasets.load("mnist").X_train[:n].astype(np.float32)), "mnist"
    rng = np.random.default_rng(0)
    return normalize(rng.random((n, 784), dtype=np.float32) ** 4), "random"


def hadamard() -> dict[str, Any]:
    """Hadamard transforms against matrix products, both on one thread: n log2 n additions counted."""
    import numba

    from craftmaps._loops.hadamard import transform
    from craftmaps._loops.lanes import aligned_empty, line_for

    @numba.njit
    def many(x, log2, line, repeats):
        for _ in range(repeats):
            transform(x, 0, log2, line)

    result = {}
    with craftmaps.threads(1):
        for dtype in (np.float32, np.float64):
            square = np.ones((1024, 1024), dtype)
            line = line_for(64, dtype)
            for log2 in range(10, 18):
                x = aligned_empty(len(line) << log2, dtype)
                x[:] = 0
                repeats = max(1, 2**27 // (x.size * log2))

                tasks = {
                    "hadamard": lambda a=(x, log2, line, repeats): many(*a),
                    "gemm": lambda s=square: s @ s,
                }
                seconds = interleaved(tasks, 15)
                additions = repeats * x.size * log2
                rates = [additions / s / 1e9 for s in seconds["hadamard"]]
                gemm = [2 * 1024**3 / s / 1e9 for s in seconds["gemm"]]
                result[f"{np.dtype(dtype).name} 2^{log2}"] = {
                    "gflops": float(np.median(rates)),
                    "gemm_gflops": float(np.median(gemm)),
                    "ratio": median_ratio(rates, gemm),
                }
    return result


def craft() -> dict[str, Any]:
    """CraftMap 784 -> 32768 -> 4096 against PolynomialCountSketch(4096), degree 7, 10,000 rows, the same threads."""
    X, name = rows(10_000)
    part = X[:1_000]
    ours = CraftMap(KERNEL, 4096, up_components=32768, random_state=0).fit(X)
    # The error of a sketch falls with the root of its width: at 16384 it is about as accurate.
    theirs = {
        width: PolynomialCountSketch(gamma=1.0, degree=7, coef0=1, n_components=width, random_state=0).fit(X)
        for width in (4096, 16384)
    }
    result: dict[str, Any] = {"rows": name}
    for n in sorted({1, craftmaps._system.threads.n_threads()}):
        with craftmaps.threads(n):
            total = interleaved(
                {"craftmaps": lambda: ours.transform(X), "scikit-learn": lambda: theirs[4096].transform(X)}, 5
            )
            equal_error = interleaved(
                {"craftmaps": lambda: ours.transform(part), "scikit-learn": lambda: theirs[16384].transform(part)}, 5
            )
        result[f"threads allowed: {n}"] = {
            "microseconds_per_row": {key: 1e6 * float(np.median(value)) / 10_000 for key, value in total.items()},
            "times_faster": median_ratio(total["scikit-learn"], total["craftmaps"]),
            "times_faster than PolynomialCountSketch(16384), 1,000 rows": median_ratio(
                equal_error["scikit-learn"], equal_error["craftmaps"]
            ),
        }
    return result | {"kernel_error_mean_sd": _craft_errors(part)}


def _craft_errors(X: np.ndarray) -> dict[str, list[float]]:
    """Return mean and standard deviation of the kernel error over three seeds."""
    K = KERNEL(X.astype(float))
    maps = {
        "CraftMap 784 -> 32768 -> 4096": lambda seed: CraftMap(KERNEL, 4096, up_components=32768, random_state=seed),
        **{
            f"PolynomialCountSketch({width})": lambda seed, width=width: PolynomialCountSketch(
                gamma=1.0, degree=7, coef0=1, n_components=width, random_state=seed
            )
            for width in (4096, 16384)
        },
    }
    result = {}
    for name, make in maps.items():
        errors = [kernel_error(make(seed).fit_transform(X), K) for seed in range(3)]
        result[name] = [float(np.mean(errors)), float(np.std(errors, ddof=1))]
    return result


def narrow() -> dict[str, Any]:
    """CraftMap to 8192 and 1024 against PolynomialCountSketch(1024), degree 4, 16,384 random rows of few columns."""
    rng, kernel = np.random.default_rng(0), Polynomial(degree=4)
    result: dict[str, Any] = {}
    for width in (8, 16, 64):
        X = normalize(rng.standard_normal((16_384, width), dtype=np.float32))
        ours = CraftMap(kernel, 1024, up_components=8192, random_state=0).fit(X)
        theirs = PolynomialCountSketch(gamma=1.0, degree=4, coef0=1, n_components=1024, random_state=0).fit(X)
        tasks = {"craftmaps": lambda m=ours, r=X: m.transform(r), "scikit-learn": lambda m=theirs, r=X: m.transform(r)}
        for n in sorted({1, craftmaps._system.threads.n_threads()}):
            with craftmaps.threads(n):
                seconds = interleaved(tasks, 7)
            result[f"{width} columns, threads allowed: {n}"] = {
                "microseconds_per_row": {k: 1e6 * float(np.median(v)) / X.shape[0] for k, v in seconds.items()},
                "times_faster": median_ratio(seconds["scikit-learn"], seconds["craftmaps"]),
            }
    return result


def tensor_sketch() -> dict[str, Any]:
    """TensorSketch against PolynomialCountSketch at 4096, degree 7, float32, one thread each, dense and CSR."""
    X, name = rows(10_000)
    rng = np.random.default_rng(0)
    sparse = scipy.sparse.random(1_000, 10_000, 0.01, format="csr", dtype=np.float32, random_state=rng)
    result: dict[str, Any] = {"rows": name, "threads": 1}
    parts = {"dense, 10,000 x 784": X, "dense, 1,000 x 784": X[:1_000], "CSR of 1 %, 1,000 x 10,000": sparse}
    with craftmaps.threads(1):
        for key, part in parts.items():
            ours = TensorSketch(KERNEL, 4096, random_state=0).fit(part)
            theirs = PolynomialCountSketch(gamma=1.0, degree=7, coef0=1, n_components=4096, random_state=0).fit(part)
            tasks = {
                "craftmaps": lambda m=ours, p=part: m.transform(p),
                "scikit-learn": lambda m=theirs, p=part: m.transform(p),
            }
            seconds = interleaved(tasks, 5)
            result[key] = {
                "microseconds_per_row": {k: 1e6 * float(np.median(v)) / part.shape[0] for k, v in seconds.items()},
                "times_faster": median_ratio(seconds["scikit-learn"], seconds["craftmaps"]),
            }
    return result


def landmarks() -> dict[str, Any]:
    """LandmarkMap against Nystroem at 4096, all cores on both sides."""
    X, name = rows(8_192)
    result: dict[str, Any] = {"rows": name, "threads": craftmaps._system.threads.n_threads()}
    for dtype in (np.float32, np.float64):
        part = X.astype(dtype)
        theirs = Nystroem(kernel="poly", gamma=1.0, degree=7, coef0=1, n_components=4096, random_state=0).fit(part)
        maps = {whiten: LandmarkMap(KERNEL, 4096, whiten=whiten, random_state=0).fit(part) for whiten in (True, False)}
        rows_out = part[:2048]
        seconds = interleaved(
            {
                "whitened": lambda r=rows_out, m=maps[True]: m.transform(r),
                "not whitened": lambda r=rows_out, m=maps[False]: m.transform(r),
                "Nystroem": lambda r=rows_out, m=theirs: m.transform(r),
            },
            5,
        )
        result[np.dtype(dtype).name] = {
            "nystroem_dtype": str(theirs.transform(rows_out[:1]).dtype),
            "microseconds_per_row": {k: 1e6 * float(np.median(v)) / 2048 for k, v in seconds.items()},
            "times_faster": {k: median_ratio(seconds["Nystroem"], v) for k, v in seconds.items() if k != "Nystroem"},
        }
    return result


def threads() -> dict[str, Any]:
    """Two threads against one, in fresh and in kept memory; ones and products show what the machine gives just now."""
    result: dict[str, Any] = {}
    for memory in ("fresh", "kept"):
        # A process of its own, because how it handles memory is for the whole process.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            result[f"{memory} memory"] = process.submit(_thread_ratios, memory == "kept").result()
    return result


def _thread_ratios(keeps_memory: bool) -> dict[str, Any]:
    """Measure what a second thread gives, where results are written to fresh memory or to what was used before."""
    if keeps_memory:
        keep_memory()
    X, name = rows(4_096)
    result: dict[str, Any] = {"rows": name}
    square = np.ones((2048, 2048), np.float32)

    def on(n: int, task: Any) -> Any:
        def run() -> None:
            with craftmaps.threads(n):
                task()

        return run

    def fill_all() -> None:
        out = np.empty((4_096, 4_096), np.float32)
        for_row_blocks(lambda start, stop: out[start:stop].fill(1), 4_096, 256)

    maps = {
        "CraftMap 784 -> 32768 -> 4096": CraftMap(KERNEL, 4096, random_state=0).fit(X),
        "RandomMaclaurin 4096": RandomMaclaurin(KERNEL, 4096, random_state=0).fit(X),
        "TensorSketch 4096": TensorSketch(KERNEL, 4096, random_state=0).fit(X),
    }
    runs = {key: lambda m=m: m.transform(X) for key, m in maps.items()}
    runs |= {"matrix product": lambda: np.matmul(square, square), "a result of ones": fill_all}
    for key, run in runs.items():
        seconds = interleaved({"1": on(1, run), "2": on(2, run)}, 21)
        result[key] = {
            "times_faster": median_ratio(seconds["1"], seconds["2"]),
            "milliseconds": {k: 1e3 * float(np.median(v)) for k, v in seconds.items()},
        }
    return result


def one_row() -> dict[str, Any]:
    """Latency of a single row once warm, in milliseconds."""
    X, _ = rows(1)
    result = {}
    for key, feature_map in {
        "CraftMap 784 -> 32768 -> 4096": CraftMap(KERNEL, 4096, random_state=0),
        "CraftMap 784 -> 8192 -> 1024": CraftMap(KERNEL, 1024, random_state=0),
        "RandomMaclaurin 4096": RandomMaclaurin(KERNEL, 4096, random_state=0),
        "TensorSketch 4096": TensorSketch(KERNEL, 4096, random_state=0),
    }.items():
        feature_map.fit(rows(100)[0])
        seconds = interleaved({"row": lambda m=feature_map: m.transform(X)}, 50)["row"]
        result[key] = {"milliseconds": 1e3 * float(np.median(seconds))}
    return result


_MEMORY = """
import sys, threading, time
import numpy as np
from craftmaps import CraftMap, Polynomial, RandomMaclaurin, TensorSketch

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

n, kind = int(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).random((n, 784), dtype=np.float32)
X /= np.linalg.norm(X, axis=1, keepdims=True)
kernel = Polynomial(degree=7)
m = {"craft": CraftMap(kernel, 4096, random_state=0), "maclaurin": RandomMaclaurin(kernel, 4096, random_state=0),
     "tensorsketch": TensorSketch(kernel, 4096, random_state=0)}[kind].fit(X[:256])
m.transform(X[:64])
before = peak = resident()
done = False

def watch():
    global peak
    while not done:
        peak = max(peak, resident())
        time.sleep(0.001)

watcher = threading.Thread(target=watch)
watcher.start()
Z = m.transform(X)
done = True
watcher.join()
print((peak - before - Z.nbytes) / 2**20)
"""


def memory() -> dict[str, Any]:
    """Peak memory of `transform` above input and output, in MiB (Linux: the resident set, every millisecond)."""
    result = {}
    for kind in ("craft", "maclaurin", "tensorsketch"):
        for n in (5_000, 50_000):
            run = subprocess.run(
                [sys.executable, "-c", _MEMORY, str(n), kind], capture_output=True, text=True, check=True
            )
            result[f"{kind}, {n} rows"] = {"mebibytes": float(run.stdout)}
    return result


_START = """
import time
start = time.perf_counter()
import craftmaps
imported = time.perf_counter()
import numpy as np
from craftmaps import CraftMap, Polynomial
named = time.perf_counter()
X = np.random.default_rng(0).random((100, 784), dtype=np.float32)
CraftMap(Polynomial(degree=7), 1024, random_state=0).fit_transform(X)
print(imported - start, named - start, time.perf_counter() - named)
"""


def start_up() -> dict[str, Any]:
    """Seconds to import, and to the first transform of a fresh process with a warm and a cold cache."""

    def run(cache: str) -> list[float]:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", _START], capture_output=True, text=True, check=True, env=environment
        )
        return [float(value) for value in done.stdout.split()]

    with tempfile.TemporaryDirectory() as cache:
        cold = run(cache)
        warm = np.median([run(cache) for _ in range(5)], axis=0)
    return {
        "import craftmaps": {"seconds": float(warm[0])},
        "import with scikit-learn": {"seconds": float(warm[1])},
        "first fit and transform, warm cache": {"seconds": float(warm[2])},
        "first fit and transform, cold cache": {"seconds": cold[2]},
    }


def scaling() -> dict[str, Any]:
    """Exponents of the time in n, D, E and d, beside those of the operation counts."""
    X, _ = rows(8_192)
    rng = np.random.default_rng(0)

    def measure(settings: list[tuple[Any, np.ndarray]], sizes: list[int]) -> dict[str, float]:
        fitted = [(feature_map.fit(part[:500]), part) for feature_map, part in settings]
        tasks = {str(i): (lambda m=m, p=p: m.transform(p)) for i, (m, p) in enumerate(fitted)}
        seconds = [float(np.median(s)) for s in interleaved(tasks, 5).values()]
        operations = [m._operations(1.0) * len(p) for m, p in fitted]
        return {"measured": exponent(sizes, seconds), "counted": exponent(sizes, operations)}

    with craftmaps.threads(1):
        n = [512, 1024, 2048, 4096, 8192]
        D = [4096, 8192, 16384, 32768, 65536]
        E = [256, 512, 1024, 2048, 4096]
        d = [64, 128, 256, 512, 1024, 2048]
        return {
            "n": measure([(CraftMap(KERNEL, 512, random_state=0), X[:k]) for k in n], n),
            "D": measure([(CraftMap(KERNEL, 1024, up_components=k, random_state=0), X[:512]) for k in D], D),
            "E at D = 32768": measure(
                [(CraftMap(KERNEL, k, up_components=32768, random_state=0), X[:512]) for k in E], E
            ),
            "d at D = 16384": measure(
                [
                    (CraftMap(KERNEL, 1024, up_components=16384, random_state=0), normalize(rng.random((512, k))))
                    for k in d
                ],
                d,
            ),
        }


PARTS = {
    part.__name__: part
    for part in (hadamard, craft, narrow, tensor_sketch, landmarks, threads, one_row, memory, start_up, scaling)
}


def main() -> None:
    """Run the parts asked for and keep their results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="parts to run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go (default: %(default)s)")
    arguments = parser.parse_args()
    for name in arguments.only:
        say(f"{name} ...")
        started = time.perf_counter()
        result = PARTS[name]()
        result = {"about": PARTS[name].__doc__, "environment": environment(), "result": result}
        update_results(arguments.out, {name: result})
        say(f"{name}: {time.perf_counter() - started:.0f} s\n{json.dumps(result['result'], indent=1)}")


if __name__ == "__main__":
    main()
