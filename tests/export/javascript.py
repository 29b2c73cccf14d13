"""Run the JavaScript of pages in a bare engine, which lacks what browsers have besides the language."""

import json

import numpy as np

try:
    from py_mini_racer import MiniRacer
except ImportError:
    MiniRacer = None

from craftmaps.export.packing import to_plain
from craftmaps.export.recipe import recipe_of
from craftmaps.export.scripts import predictor_script, simd_module, small_script

# What every browser has.
BROWSER = """
function atob(text) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let bits = 0, n = 0, out = '';
  for (const letter of text.replace(/=/g, '')) {
    bits = (bits << 6 | letters.indexOf(letter)) & 0xFFFFFF;
    n += 6;
    if (n >= 8) { n -= 8; out += String.fromCharCode(bits >> n & 255); }
  }
  return out;
}
class TextEncoder {
  encode(text) { return Array.from(unescape(encodeURIComponent(text)), (c) => c.charCodeAt(0)); }
}
"""


class Engine:
    """A model in JavaScript, by WebAssembly or without."""

    def __init__(self, recipe, precision="float64", is_simd=False, change=lambda script: script):
        self.context = MiniRacer()
        script = change(small_script(predictor_script(recipe)))
        self.context.eval(f"{BROWSER}\n{script}\nvar model = loadModel({json.dumps(to_plain(recipe, precision))});")
        self.is_simd = is_simd and recipe.features["kind"] == "maclaurin"
        if self.is_simd:
            self.context.eval(f"model.fast = loadSimd(model, bytesOf('{simd_module()}'));")
            self.is_simd = self.context.eval("model.fast !== null")

    def scores(self, X):
        rows = json.dumps(np.asarray(X, np.float64).tolist())
        found = self.context.eval(
            f"JSON.stringify(outputsOf(model, {rows}).map((o) => scoresOf(model.recipe, Array.from(o))))"
        )
        return np.array(json.loads(found))

    def probabilities(self, X):
        rows = json.dumps(np.asarray(X, np.float64).tolist())
        found = self.context.eval(
            f"JSON.stringify(outputsOf(model, {rows}).map((o) => probabilitiesOf(model.recipe, "
            "scoresOf(model.recipe, Array.from(o)))))"
        )
        return np.array(json.loads(found))


def engine_of(model, **settings):
    return Engine(recipe_of(model), **settings)
