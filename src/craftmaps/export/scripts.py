"""JavaScript and WebAssembly that predict, put together for one model."""

import base64
import re
from importlib.resources import files

from craftmaps.export.portable import Recipe

_FEATURES = {
    "maclaurin": ["maclaurin.js", "simd.js"],
    "tensorsketch": ["tensorsketch.js"],
    "landmarks": ["landmarks.js"],
}


def web_file(name: str) -> str:
    """Return a file of the page."""
    return files("craftmaps.export").joinpath("web", name).read_text(encoding="utf-8")


def predictor_script(recipe: Recipe) -> str:
    """Return the functions that predict with a model: no more than it needs."""
    names = ["random.js", "arrays.js", "steps.js", "model.js", *_FEATURES.get(recipe.features["kind"], [])]
    return "\n".join(map(web_file, names))


def simd_module() -> str:
    """Return the WebAssembly module in base 64."""
    return base64.b64encode(files("craftmaps.export").joinpath("web", "simd.wasm").read_bytes()).decode()


def stripped(script: str) -> str:
    """Return a script or style sheet without indentation, empty lines, and comments on lines of their own."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not re.match(r"//|/\*.*\*/$", line))
