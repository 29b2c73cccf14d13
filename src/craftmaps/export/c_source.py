"""Models as C99 headers: no dependencies, no allocation; the map is drawn again from its seed."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from craftmaps._system.atomic_files import new_file
from craftmaps.export import drawing
from craftmaps.export.c_shaping import shaping_text
from craftmaps.export.c_text import array, definitions, numbers, quoted, renamed, source_part
from craftmaps.export.packing import row_scales
from craftmaps.export.portable import Recipe
from craftmaps.export.recipe import recipe_of

WEIGHTS = ("int16", "float32")


def c_header(
    model: Any, path: str | os.PathLike, *, weights: str = "auto", prefix: str = "craft", main: Any = None
) -> None:
    """Write a learner as a C99 header that predicts rows of numbers.

    It has `craft_init()`, `craft_predict(row, result)`, for classifiers also `craft_label[]` and
    `craft_probabilities(scores, probabilities)`, and allocates nothing. Rows are numbers: categories and dates must be
    encoded before.

    Parameters
    ----------
    model : CraftClassifier or CraftRegressor
        Fitted.
    path : path
        Written whole or not at all.
    weights : {"auto", "int16", "float32"}, default="auto"
        How weights are stored; "auto" means int16, but float32 for landmarks, whose weights cancel.
    prefix : str, default="craft"
        What all names begin with: a program may have several models.
    main : path or None, default=None
        Where to write a program that predicts rows of CSV from standard input.

    Examples
    --------
    >>> import os, tempfile
    >>> from craftmaps import CraftRegressor, Polynomial, export
    >>> model = CraftRegressor(Polynomial(2), 8, metric=None, cv=None, alphas=1e-3, random_state=0)
    >>> model = model.fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export.c_header(model, os.path.join(folder, "model.h"))
    ...     os.path.getsize(os.path.join(folder, "model.h")) < 20_000
    True
    """
    text = header_text(recipe_of(model), weights, prefix)
    with new_file(Path(path)) as new:
        new.write_text(text, encoding="ascii")
    if main is not None:
        program = renamed(source_part("main.c"), prefix).replace('"model.h"', f'"{Path(path).name}"')
        with new_file(Path(main)) as new:
            new.write_text(program, encoding="utf-8")


def header_text(recipe: Recipe, weights: str = "auto", prefix: str = "craft") -> str:
    """Return the header of a recipe."""
    is_landmarks = recipe.features["kind"] == "landmarks"
    if recipe.head is None:
        raise TypeError("model must be a CraftClassifier or CraftRegressor to become C, got a map.")
    if weights not in ("auto", *WEIGHTS):
        raise ValueError(f"weights must be one of 'auto', 'int16', 'float32', got {weights!r}.")
    if weights == "int16" and is_landmarks:
        raise ValueError("weights must be 'float32' for a model of landmarks, whose weights cancel, got 'int16'.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", prefix):
        raise ValueError(f"prefix must be small letters, digits and underscores, got {prefix!r}.")
    if weights == "auto":
        weights = "float32" if is_landmarks else "int16"
    is_drawn = "seed" in recipe.features or recipe.down is not None
    parts = [
        _beginning(recipe),
        _FEATURES[recipe.features["kind"]](recipe.features),
        _head(recipe, weights),
        *([source_part("random.h")] if is_drawn else []),
        source_part("rows.h"),
        source_part("sums.h"),
        *map(source_part, _feature_parts(recipe.features)),
        shaping_text(recipe),
        source_part("outputs.h"),
        _ending(recipe),
        "#endif\n",
    ]
    return renamed("\n".join(parts), prefix)


def _beginning(recipe: Recipe) -> str:
    """Say what the header is, and how wide everything is."""
    what = "classes" if recipe.classes is not None else "numbers"
    features, down, n_outputs = recipe.features, recipe.down, recipe.n_outputs
    lines = [
        f"/* A model of craftmaps: {recipe.n_features} numbers in, {n_outputs} {what} out.",
        "   Call craft_init() once, then craft_predict(row, result). Include this file in one source file. */",
        "#ifndef CRAFT_FEATURES",
        "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n",
        definitions(FEATURES=recipe.n_features, WIDTH=features["width"], COLUMNS=features["n_columns"]),
        definitions(OUTPUTS=n_outputs, IS_CLASSIFIER=int(recipe.classes is not None)),
        f"typedef {'double' if recipe.classes is None else 'float'} craft_result;",
    ]
    if down is not None:
        lines.append(definitions(CHUNK=down["chunk"], DOWN=down["width"], DOWN_SEED=down["seed"]))
    return "\n".join(lines)


# Features.


def _maclaurin(features: dict[str, Any]) -> str:
    """Return the numbers of a Maclaurin map."""
    counts, order, parts = features["counts"], features["order"], features["parts"]
    degrees = np.repeat(np.arange(len(counts))[:0:-1], counts[:0:-1])
    size = order or max(1, degrees.size)
    groups = [degrees[start : start + size] for start in range(0, degrees.size, size)]
    used = [int((group > j).sum()) for group in groups for j in range(group[0])]
    tops = [int(group[0]) for group in groups]
    n_blocks = max(tops, default=0)
    n_numbers = n_blocks * parts * order if order else parts * sum(used)
    n_signs = drawing.n_sign_rows(features) * (order or features["width"])
    linear = features["coefficients"][1] if features["linear"] else 0.0
    is_shared = int(features["shared"] or not order)
    return "\n".join(
        [
            definitions(ORDER=order or 0, PARTS=parts, IMAGINARY=order or 1, SHARED=is_shared, SEED=features["seed"]),
            definitions(RANDOM=degrees.size, LOOSE=counts[0], LINEAR=features["linear"], CONSTANT=features["constant"]),
            definitions(GROUPS=len(groups), FACTORS=len(used), USES=max(1, sum(used))),
            definitions(BLOCKS=n_blocks, NUMBERS=max(1, n_numbers), SIGNS=max(1, n_signs)),
            f"typedef {'uint16_t' if size <= 2**16 else 'uint32_t'} craft_place;",
            array("used", used or [0], "int32_t"),
            array("top", tops or [0], "int16_t"),
            array("weight", [np.sqrt(weight / parts**n) for n, weight in enumerate(features["weights"])]),
            numbers(map_scale=features["scale"], linear=np.sqrt(linear)),
            numbers(constant=np.sqrt(features["coefficients"][0])),
        ]
    )


def _tensor_sketch(features: dict[str, Any]) -> str:
    """Return the numbers of a TensorSketch."""
    n_signs = features["degree"] * (features["width"] + 1)
    sizes = definitions(DEGREE=features["degree"], SIGNS=max(1, n_signs), SEED=features["seed"])
    return sizes + "\n" + numbers(map_scale=features["scale"], constant=features["constant"])


def _landmarks(features: dict[str, Any]) -> str:
    """Return landmarks and the numbers of their kernel."""
    kernel = features["kernel"]
    parts = [numbers(**{name: kernel[name]}) for name in ("gamma", "coef0") if name in kernel]
    if kernel["kind"] == "polynomial":
        parts.append(definitions(DEGREE=kernel["degree"]))
    elif kernel["kind"] == "series":
        parts.append(array("coefficient", kernel["coefficients"]))
    return "\n".join([*parts, array("landmark", features["landmarks"])])


_FEATURES = {"maclaurin": _maclaurin, "tensorsketch": _tensor_sketch, "landmarks": _landmarks, "rows": lambda _: ""}


def _feature_parts(features: dict[str, Any]) -> list[str]:
    """Name the parts of the source that features need."""
    kind = features["kind"]
    if kind == "landmarks":
        return [f"kernel_{features['kernel']['kind']}.h", "landmarks.h"]
    return ["row_features.h" if kind == "rows" else f"{kind}.h"]


# What comes behind them.


def _head(recipe: Recipe, weights: str) -> str:
    """Return weights and bias."""
    assert recipe.head is not None
    matrix, scale, kind = recipe.head.weights, np.ones(recipe.head.bias.size), "float"
    if weights == "int16":
        scale, kind = row_scales(matrix), "int16_t"
        matrix = np.round(matrix / scale[:, None])
    parts = [
        definitions(SUMS=matrix.shape[1]),
        array("head", matrix, kind),
        array("head_scale", scale),
        array("bias", recipe.head.bias, "double"),
    ]
    if recipe.linear is not None:  # columns may have unlike units, so their weights stay floats
        n_columns = recipe.linear.weights.shape[1]
        parts += [definitions(LINEAR_COLUMNS=n_columns), array("linear_weight", recipe.linear.weights)]
        parts.append(f"static float craft_linear_column[{n_columns}];")
    return "\n".join(parts)


def _ending(recipe: Recipe) -> str:
    """Return what makes numbers or classes of outputs."""
    if recipe.classes is None:
        return source_part("numbers.h")
    labels, factor, decoding = recipe.classes
    names = ",\n".join(f"  {quoted(str(label))}" for label in labels.tolist())
    parts = [f"static const char *const craft_label[CRAFT_OUTPUTS] = {{\n{names}}};", numbers(confidence=factor)]
    if decoding is None:
        return "\n".join([*parts, source_part("score_linear.h"), source_part("classes.h")])
    is_corrected, is_hamming = decoding["matrix"] is not None, decoding["kind"] == "hamming"
    n_bits = decoding["words"].shape[1]
    parts += [
        definitions(BITS=n_bits, HAMMING=int(is_hamming), CORRECTED=int(is_corrected)),
        array("word", decoding["words"], "int8_t"),
    ]
    if is_corrected:
        parts += [array("matrix", decoding["matrix"]), array("offset", decoding["offset"])]
    return "\n".join([*parts, source_part("score_words.h"), source_part("classes.h")])
