"""How loops are compiled."""

import importlib

import pytest
from numba import njit
from numba.core.registry import CPUDispatcher

from craftmaps._loops import compiled

MODULES = ("count_sketch", "hadamard", "lanes", "row_hash", "stored_numbers", "tensor_sketch")


def functions(name):
    module = importlib.import_module(f"craftmaps._loops.{name}")
    return [value for value in vars(module).values() if isinstance(value, CPUDispatcher)]


def counts_references(function):
    return function.targetoptions.get("_nrt", True)


@pytest.mark.parametrize("name", MODULES)
def test_what_has_loops_inside_counts_no_references(name):
    """Atomic counts cost as much as the arithmetic of narrow rows, and threads wait for each other."""
    found = functions(name)
    assert found
    assert {f.__name__ for f in found if counts_references(f)} <= {
        "maclaurin_rows",
        "subsampled_rows",
        "craft_rows",
        "folded_rows",
        "folded_craft_rows",
        "_pieces",
        "convolve_dense",
        "convolve_csr",
    }


def test_a_plain_function_would_be_found():
    assert counts_references(njit(nogil=True)(lambda x: x[1:].sum()))
    assert not counts_references(compiled.loop(lambda x: x[1:].sum()))
