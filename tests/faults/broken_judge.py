"""A judge that does what mutated files must not do, to see that the fuzzer notices."""

import os

import numpy as np

from tests.faults.fuzzing import judging

OUTCOMES = {
    "abort": "SIGABRT",
    "spin": "timeout",
    "memory": "out of memory",
    "error": "ZeroDivisionError",
    "inner error": "ValueError, no sentence that names the file",
    "nothing": "accepted",
}


def judged(kind, name, path, expected):
    """Judge a file for which reading it does something bad."""
    judging._run = _misbehave
    return judging.judged(kind, name, path, expected)


def _misbehave(name, path):
    if name == "abort":
        os.abort()
    while name == "spin":
        pass
    if name == "memory":
        np.ones(2**40)
    if name == "inner error":
        raise ValueError("operands could not be broadcast")
    return str(1 / (name != "error"))
