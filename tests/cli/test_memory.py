"""The memory that a run reports is its own."""

import subprocess
import sys

import numpy as np


def test_peak_memory_is_not_that_of_the_program_that_started_this_one():
    large = np.ones(2**27)  # a gigabyte, which a child begins with until it has loaded its own program
    code = "from craftmaps._system.memory import peak_memory; print(peak_memory())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 10**6 < int(result.stdout) < large.nbytes / 2
