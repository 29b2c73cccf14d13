"""Compile headers with the C compiler of the machine and run them."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
# Without names of lines for the debugger, which a third of the time of the compiler would go to.
_SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
HARNESS = Path(__file__).with_name("harness.c")


def _has_sanitizers():
    """Tell whether the compiler has the libraries of its sanitizers, which some systems leave out."""
    if COMPILER is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [COMPILER, *_SANITIZERS, "-x", "c", "-", "-o", Path(folder) / "program"]
        return subprocess.run(command, input=b"int main(void) { return 0; }", capture_output=True).returncode == 0


SANITIZED = _SANITIZERS if _has_sanitizers() else []


def build(header, folder, source=HARNESS, options=("-O1",)):
    """Return a program made of a source and a header, given as text."""
    path, program = folder / "model.h", folder / "program"
    path.write_text(header)
    command = [COMPILER, *STRICT, *options, f'-DCRAFT_MODEL="{path}"', str(source), "-lm", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return program


def predict(program, X, n_outputs):
    """Return what a program of the harness says of rows: what it returns, and its scores or numbers."""
    done = subprocess.run([program], input=np.ascontiguousarray(X, np.float32).tobytes(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[:4000]
    found = np.frombuffer(done.stdout).reshape(-1, 1 + n_outputs)
    return found[:, 0].astype(int), found[:, 1:]
