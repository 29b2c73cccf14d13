"""Every predictor behind one function: a recipe and rows to scores, with a fault if one is asked for.

A fault is "sign" (one is flipped), "permutation" (two entries are swapped) or "factor" (one of a product is missing).
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

from craftmaps.export import drawing
from craftmaps.export.c_source import header_text
from craftmaps.export.onnx_model import model_proto
from tests.export import compiled_c, reference
from tests.export.golden import unpacked
from tests.export.javascript import Engine, MiniRacer


def _changed(text, old, new):
    assert old in text, old
    return text.replace(old, new)


def _flipped(signs):
    signs = signs.copy()
    signs.flat[2] *= -1
    return signs


def _swapped(permutations):
    permutations = np.array(permutations)
    permutations[0, [0, 1]] = permutations[0, [1, 0]]
    return permutations


def in_python(plain, X, fault, patch):
    """Predict with the reference."""
    if fault == "sign":
        signs = reference.signs
        patch.setattr(reference, "signs", lambda *a: _flipped(signs(*a)))
    elif fault == "permutation":
        permutations = reference.permutation_list
        patch.setattr(reference, "permutation_list", lambda *a: _swapped(permutations(*a)).tolist())
    elif fault == "factor":
        product = reference.product
        patch.setattr(reference, "product", lambda factors: product(factors[1:]))
    return np.array([reference.outputs(plain, row) for row in X])


def in_onnx(plain, X, fault, patch):
    """Predict in onnxruntime."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    for name, change in (("signs", _flipped), ("permutations", _swapped)):
        if fault is not None and name.startswith(fault):
            draw = getattr(drawing, name)
            patch.setattr(drawing, name, lambda *a, draw=draw, change=change: change(draw(*a)))
    if fault == "factor":
        products = drawing.products
        patch.setattr(drawing, "products", lambda f: [p._replace(factors=p.factors[:1]) for p in products(f)])
    session = runtime.InferenceSession(
        model_proto(unpacked(plain)).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    name = "prediction" if plain["classes"] is None else "scores"
    return session.run([name], {"X": np.asarray(X, np.float32)})[0]


def in_c(plain, X, fault, patch):
    """Compile and predict."""
    if compiled_c.COMPILER is None:
        pytest.skip("there is no C compiler")
    recipe = unpacked(plain)
    text = header_text(recipe, "float32")
    if fault == "sign":
        text = _changed(text, "return bits[i / 8] >> i % 8 & 1 ?", "return (bits[i / 8] >> i % 8 & 1) ^ (i == 2) ?")
    elif fault == "permutation":
        swap = "craft_sort(); { craft_place t = craft_room.sorting.place[0];"
        swap += "craft_room.sorting.place[0] = craft_room.sorting.place[1]; craft_room.sorting.place[1] = t; }"
        text = _changed(text, "craft_sort();", swap)
    elif fault == "factor":
        text = _changed(text, "for (int j = 0; j < degree; start", "for (int j = 0; j < degree - 1; start")
    with tempfile.TemporaryDirectory() as folder:
        program = compiled_c.build(text, Path(folder))
        return compiled_c.predict(program, X, recipe.n_outputs)[1]


def in_javascript(plain, X, fault, patch, is_simd=False):
    """Predict in JavaScript."""
    if MiniRacer is None:
        pytest.skip("mini-racer is not installed")

    def change(script):
        if fault == "sign":
            return script + ";signs=((draw)=>(...a)=>{const s=draw(...a);s[2]*=-1;return s;})(signs);"
        if fault == "permutation":
            swapped = "{const p=draw(...a);[p[0],p[1]]=[p[1],p[0]];return p;}"
            return f"{script};permutations=((draw)=>(...a)=>{swapped})(permutations);"
        if fault == "factor" and is_simd:
            return _changed(script, "let p=records[which]", "let p=records[which];weights=weights.map(Math.sign)")
        if fault == "factor":
            return _changed(script, "j<degree;j++,p++){", "j<degree;j++,p++){if(j===1)continue;")
        return script

    engine = Engine(unpacked(plain), is_simd=is_simd, change=change)
    return engine.scores(X)


def in_webassembly(plain, X, fault, patch):
    """Predict in WebAssembly, where there are blocks."""
    return in_javascript(plain, X, fault, patch, is_simd=True)


PREDICTORS = {
    "Python": in_python,
    "ONNX": in_onnx,
    "C": in_c,
    "JavaScript": in_javascript,
    "WebAssembly": in_webassembly,
}


def deviation(name, model, fault=None, patch=None):
    """Return how far a predictor is from golden scores, in units of the largest."""
    expected = np.array(model["scores"])
    found = PREDICTORS[name](json.loads(json.dumps(model["recipe"])), np.array(model["rows"]), fault, patch)
    return float(np.abs(found - expected).max() / np.abs(expected).max())
