"""The loops without intrinsics pass their tests uncompiled too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PLAIN = ("test_lanes.py", "test_count_sketch.py", "test_row_hash.py")


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="this run is the uncompiled one already")
def test_plain_loops_uncompiled():
    script = (
        "import sys, pytest; from craftmaps._loops import count_sketch, lanes, row_hash;"
        "loops = (count_sketch.sketch_dense, lanes.load_csr, row_hash.hash_dense);"
        "assert not any(hasattr(loop, 'py_func') for loop in loops), 'compiled';"
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "-p",
        "no:cacheprovider",
        "-k",
        "not load_dense",
        *(str(FOLDER / name) for name in PLAIN),
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
