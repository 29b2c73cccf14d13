"""The WebAssembly that ships is the product of its source, and small."""

import pytest

from tests.export.wasm_build import WEB, built

pytest.importorskip("wasmtime", reason="wasmtime is not installed")


def test_the_module_is_made_of_its_source():
    assert WEB.joinpath("simd.wasm").read_bytes() == built()


def test_the_module_is_small():
    assert len(WEB.joinpath("simd.wasm").read_bytes()) < 900
