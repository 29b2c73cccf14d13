"""Sizes, speed and agreement of exported models. Results go to benchmarks/results/export.json.

    python benchmarks/export.py                  # needs MNIST (CRAFTMAPS_DATA), onnxruntime, a C compiler and Chromium
    python benchmarks/export.py --only onnx      # or page, c

What is not installed is passed over. Speed is a ratio to `predict_proba` on one thread in the same run, or the time of
a row; all 10,000 test rows of MNIST are predicted.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measuring import ROOT, environment, interleaved, median_ratio, say, update_results

from craftmaps import CovarianceMetric, CraftClassifier, Polynomial, datasets, export, threads

sys.path.insert(0, str(ROOT))

RESULTS = Path(__file__).parent / "results" / "export.json"
WIDTH = 1024


def models() -> dict[str, tuple[Any, np.ndarray]]:
    """Fit the models that are measured; return them with the test rows of MNIST or of digits."""
    mnist, digits = datasets.load("mnist"), datasets.load("digits")
    rows, test = mnist.X_train.astype(np.float32), mnist.X_test.astype(np.float32)
    settings = {"kernel": Polynomial(5), "n_components": WIDTH, "random_state": 0}
    small = CraftClassifier(Polynomial(3), 256, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    found = {"digits": (small, digits.X_test.astype(np.float32))}
    for name, metric in (("mnist", None), ("mnist with a metric", CovarianceMetric(n_components=32))):
        found[name] = (CraftClassifier(metric=metric, **settings).fit(rows, mnist.y_train), test)
        say(f"{name}: fitted")
    return found


def on_onnx(model: Any, X: np.ndarray, folder: Path) -> dict[str, Any]:
    """Measure an ONNX file in onnxruntime on one thread."""
    import onnxruntime

    path = folder / "model.onnx"
    export.onnx(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    exact, labels = model.predict_proba(X.astype(np.float64)), model.predict(X.astype(np.float64))
    blocks = [session.run(None, {"X": X[i : i + 1000]}) for i in range(0, len(X), 1000)]
    with threads(1):
        one = {"onnx": lambda: session.run(None, {"X": X[:1]}), "craftmaps": lambda: model.predict_proba(X[:1])}
        seconds = interleaved(one, 300)
        many = {"onnx": lambda: session.run(None, {"X": X[:1000]}), "craftmaps": lambda: model.predict_proba(X[:1000])}
        seconds_of_many = interleaved(many, 5)
    return {
        "bytes": path.stat().st_size,
        "largest_difference": float(np.abs(np.concatenate([b[1] for b in blocks]) - exact).max()),
        "labels_that_differ": int((np.concatenate([b[0] for b in blocks]) != labels).sum()),
        "rows": len(X),
        "row_ms": 1000 * statistics.median(seconds["onnx"]),
        "row_over_predict_proba": median_ratio(seconds["onnx"], seconds["craftmaps"]),
        "thousand_over_predict_proba": median_ratio(seconds_of_many["onnx"], seconds_of_many["craftmaps"]),
    }


def on_c(model: Any, X: np.ndarray, folder: Path) -> dict[str, Any]:
    """Compile a header and predict all rows."""
    from tests.export.compiled_c import COMPILER, SANITIZED, STRICT, build, predict

    labels = model.predict(X.astype(np.float64))
    export.c_header(model, folder / "model.h", main=folder / "main.c")
    text = (folder / "model.h").read_text()
    found, _ = predict(build(text, folder, options=["-O2"]), X, model.classes_.size)
    started = time.perf_counter()
    predict(folder / "program", X, model.classes_.size)
    row_ms = 1000 * (time.perf_counter() - started) / len(X)
    clean, _ = predict(build(text, folder, options=["-O1", *SANITIZED]), X[:200], model.classes_.size)
    command = [COMPILER, *STRICT, "-Os", "-c", "main.c", "-o", "main.o"]
    subprocess.run(command, cwd=folder, check=True)
    lines = subprocess.run(["size", "-A", folder / "main.o"], capture_output=True, text=True, check=True).stdout
    sizes = {line.split()[0]: int(line.split()[1]) for line in lines.splitlines() if line.startswith(".")}
    own = 4 * X.shape[1] + 2 * 4 * model.classes_.size  # what the example itself keeps: a row, scores, probabilities
    return {
        "header_bytes": len(text),
        "code_bytes": sum(size for name, size in sizes.items() if name.startswith(".text")),
        "ram_bytes": sizes[".bss"] + sizes[".data"] - own,
        "table_bytes": sum(size for name, size in sizes.items() if name.startswith(".rodata")),
        "labels_that_differ": int((model.classes_[found] != labels).sum()),
        "sanitized_labels_that_differ": int((model.classes_[clean] != labels[:200]).sum()),
        "rows": len(X),
        "row_ms": row_ms,
    }


def on_page(model: Any, X: np.ndarray, folder: Path) -> dict[str, Any]:
    """Predict all rows in Chromium, with and without WebAssembly."""
    from tests.report.browser import Browser

    path, labels = folder / "page.html", model.predict(X.astype(np.float64))
    export.page(model, path)
    result: dict[str, Any] = {"bytes": path.stat().st_size, "rows": len(X)}
    browser = Browser(folder / "profile")
    try:
        result |= _opened(browser, path)
        for name, is_fast in (("webassembly", True), ("javascript", False)):
            result[name] = _timed(browser, _open_to_us(path, is_fast), X, labels)
    finally:
        browser.close()
    return result


def _opened(browser: Any, path: Path) -> dict[str, Any]:
    """Open a page several times: how soon it is ready, what it asks for and what it logs."""
    ready = []
    for _ in range(9):
        browser.open(path, 1000)
        entry = "performance.getEntriesByType('navigation')[0]"
        ready.append(browser.value(f"{entry}.domContentLoadedEventEnd - {entry}.responseEnd"))
    requests = [url for url in browser.requests if url != path.as_uri()]
    return {"ready_ms": statistics.median(ready), "requests": len(requests), "messages": len(browser.messages)}


def _open_to_us(path: Path, is_fast: bool) -> Path:
    """Return a copy of a page whose functions can be called from outside, and whose policy does not forbid it."""
    text = path.read_text()
    start = text.index("<meta http-equiv")
    text = text[:start] + text[text.index(">", start) + 1 :]
    setting = "" if is_fast else "model.fast=null;"
    text = text.replace("})()</script>", f";{setting}globalThis.bench={{predict,bytesOf}}}})()</script>")
    copy = path.with_name("open.html")
    copy.write_text(text)
    return copy


_TIME_ROWS = """
(() => {
  const bytes = bench.bytesOf(window.text), width = %d, rows = [];
  for (let at = 0; at < bytes.length; at += width) rows.push(bytes.slice(at, at + width));
  for (let i = 0; i < 300; i++) bench.predict([rows[i %% rows.length]]);
  const started = performance.now();
  for (const row of rows) bench.predict([row]);
  const one = (performance.now() - started) / rows.length, again = performance.now();
  const labels = bench.predict(rows).map((answer) => answer.text);
  return JSON.stringify({ one, many: (performance.now() - again) / rows.length, labels });
})()
"""


def _timed(browser: Any, path: Path, X: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """Return the time of a row, alone and among many, and how many labels differ."""
    import base64

    browser.open(path, 1000)
    found, one, many = [], [], []
    for start in range(0, len(X), 1000):
        rows = base64.b64encode(X[start : start + 1000].astype(np.uint8).tobytes()).decode()
        browser.value(f"window.text = '{rows}'; 0")
        answer = json.loads(browser.value(_TIME_ROWS % X.shape[1]))
        found += answer["labels"]
        one.append(answer["one"])
        many.append(answer["many"])
    n_different = sum(label != str(truth) for label, truth in zip(found, labels.tolist(), strict=True))
    return {
        "row_ms": statistics.median(one),
        "row_of_many_ms": statistics.median(many),
        "labels_that_differ": n_different,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("onnx", "page", "c"))
    only = parser.parse_args().only
    results: dict[str, Any] = {"environment": environment()}
    for name, (model, X) in models().items():
        for kind, measure in (("onnx", on_onnx), ("page", on_page), ("c", on_c)):
            if only not in (None, kind):
                continue
            with tempfile.TemporaryDirectory() as folder:
                results[f"{kind} {name}"] = measure(model, X, Path(folder))
            say(f"{kind} {name}: {json.dumps(results[f'{kind} {name}'])}")
    update_results(RESULTS, results)


if __name__ == "__main__":
    main()
