"""Golden values that every predictor must meet: `python -m tests.export.golden` adds the models that the file lacks.

Seeds draw the same maps in every later version, so a change of a model in this file is a breaking change of the format.
"""

import json
from pathlib import Path

import numpy as np

from craftmaps.export.packing import to_plain
from craftmaps.export.portable import Classes, Head, Linear, Recipe
from craftmaps.export.recipe import recipe_of
from tests.export import models, reference

PATH = Path(__file__).with_name("golden.json")
NAMES = [
    "craft",
    "craft real",
    "craft stratified",
    "craft rademacher",
    "craft subsampled",
    "craft tensorsketch",
    "maclaurin geometric",
    "tensorsketch of odd width",
    "landmarks series",
    "covariance of few axes",
    "standard",
    "calibrated",
    "random code, loss",
    "hadamard code, hamming",
    "regressor",
    "text",
    "quantile",
    "standard, then gradient",
    "quantile, then gradient",
    "linear columns",
    "linear columns, quantile",
    "categories",
    "categories, then gradient",
    "linear columns, categories",
]
# A permutation of words of which two have equal upper halves, and the later one the smaller lower half.
TIES = "equal upper halves"


def golden():
    """Return the file."""
    return json.loads(PATH.read_text())


def golden_models():
    """Return models by name."""
    return {model["name"]: model for model in golden()["models"]}


def unpacked(plain):
    """Return the recipe that plain values describe."""

    def arrays(value):
        if isinstance(value, dict):
            return reference.array(value) if "data" in value else {name: arrays(v) for name, v in value.items()}
        return value

    steps = [arrays(step) for step in plain["steps"]]
    for step in steps:
        if step["kind"] == "axes":
            step["axes"] = step["axes"] * 2.0 ** step.pop("exponents")
            step["subtract"] = np.linalg.lstsq(step["axes"], step.pop("offset"))[0]
    head, classes, linear = plain["head"], plain["classes"], arrays(plain.get("linear"))
    return Recipe(
        plain["n_features"],
        steps,
        arrays(plain["features"]),
        arrays(plain["down"]),
        Head(reference.array(head["weights"]), np.array(head["bias"])),
        classes and Classes(np.array(classes["labels"]), classes["factor"], arrays(classes["decoding"])),
        linear=linear and Linear(**linear),
    )


def _seed_of_ties(n):
    """Return a seed whose first permutation of n needs the lower halves of words."""
    for seed in range(10**6):
        raw = reference.words(seed, "rows", n)
        high = raw >> np.uint64(32)
        order = np.argsort(high, kind="stable")
        if (np.diff(high[order]) == 0).any() and (order != np.argsort(raw, kind="stable")).any():
            return seed
    raise AssertionError("there is none")


def _model_of_ties(n=1024):
    """Return a recipe of one permutation, in which words have equal upper halves."""
    rng = np.random.default_rng(0)
    features = {
        "kind": "maclaurin", "seed": str(_seed_of_ties(n)), "width": n // 2 + 1, "n_columns": n, "order": n, "parts": 1,
        "shared": True, "scale": 1.0, "counts": [0, n], "weights": [0.0, 1.0], "coefficients": [0.0, 1.0], "unused": 0,
        "linear": 0, "constant": 0,
    }  # fmt: skip
    return Recipe(n // 2 + 1, [], features, None, Head(rng.integers(-9, 10, (1, n)).astype(float), np.array([0.5])))


def _entry(name, recipe, X):
    """Return a model with rows and scores."""
    plain = to_plain(recipe, "float64" if recipe.n_features < 100 else "float32")
    scores = [reference.outputs(plain, row).tolist() for row in X]
    return {"name": name, "recipe": plain, "rows": X.tolist(), "scores": scores}


def make():
    """Return all golden values."""
    seed = "9223372036854775819"
    rows = models.unseen_rows()[:5].round(3)
    ties = np.random.default_rng(1).integers(-2, 3, (2, 513)).astype(float)
    return {
        "words": {"seed": seed, "purpose": "rows", "values": [hex(word) for word in reference.words(seed, "rows", 9)]},
        "signs": {"seed": seed, "values": reference.signs(seed, "signs", 130).astype(int).tolist()},
        "permutations": {"seed": seed, "n": 13, "values": reference.permutation_list(seed, "rows", 2, 13)},
        "integers": {"seed": seed, "bound": 1000, "values": reference.integers(seed, "shifts", 5, 1000)},
        "models": [
            *(_entry(name, recipe_of(models.fitted(name)), models.rows_of(name, rows)) for name in NAMES),
            _entry(TIES, _model_of_ties(), ties),
        ],
    }


def extended(file, made):
    """Return golden values with the models that they lack; what is there stays."""
    known = {model["name"] for model in file["models"]}
    return file | {"models": [*file["models"], *(model for model in made["models"] if model["name"] not in known)]}


if __name__ == "__main__":
    PATH.write_text(json.dumps(extended(golden(), make()), indent=1) + "\n")
