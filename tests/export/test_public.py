"""The package is there with craftmaps, and needs nothing but its core, except for ONNX."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys, tempfile, os
for name in ("onnx", "onnxruntime", "skl2onnx", "pyarrow", "typer", "rich"):
    sys.modules[name] = None
import numpy as np, craftmaps
assert "craftmaps.export" not in sys.modules and "export" in dir(craftmaps)
X = np.random.default_rng(0).normal(size=(40, 3))
model = craftmaps.CraftClassifier(craftmaps.Polynomial(2), 16, metric=None, random_state=0).fit(X, X[:, 0] > 0)
with tempfile.TemporaryDirectory() as folder:
    craftmaps.export.page(model, os.path.join(folder, "page.html"), X_test=X)
    craftmaps.export.c_header(model, os.path.join(folder, "model.h"), main=os.path.join(folder, "main.c"))
    for call, package in (
        (lambda: craftmaps.export.onnx(model, os.path.join(folder, "m.onnx")), "onnx"),
        (craftmaps.export.register_skl2onnx, "skl2onnx"),
    ):
        try:
            call()
        except ImportError as error:
            assert str(error).startswith(f"The package {package} is needed"), error
        else:
            raise AssertionError(package)
    assert sorted(os.listdir(folder)) == ["main.c", "model.h", "page.html"]
"""


def test_what_needs_no_more_than_the_core():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["c_header", "onnx", "page", "register_skl2onnx"])
def test_names(name):
    from craftmaps import export

    assert callable(getattr(export, name))
    assert export.__all__ == sorted(export.__all__)
