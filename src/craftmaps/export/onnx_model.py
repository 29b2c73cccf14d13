"""Models and maps as ONNX files, of standard operators alone."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from craftmaps._system.atomic_files import new_file
from craftmaps.export import drawing
from craftmaps.export.graph import OPSET, Graph
from craftmaps.export.graph_features import Piece, hadamard, ones, turned, up_features
from craftmaps.export.graph_steps import shape_rows
from craftmaps.export.portable import Classes, Recipe
from craftmaps.export.recipe import recipe_of

_IR_VERSION = 8
# Up to so many outputs, to multiply all up-features with weights is faster than to add them up first.
_FEW_OUTPUTS = 32


def onnx(model: Any, path: str | os.PathLike) -> None:
    """Write a model, or a map alone, as an ONNX file.

    The input `X` is float32, a row for each row to predict. A classifier has the outputs `label`, `probabilities` and
    `scores`, a column for each class; a regressor has `prediction` in float64, a column for each target; a map has
    `features`. Needs the package onnx (`pip install "craftmaps[export]"`).

    Parameters
    ----------
    model : CraftClassifier, CraftRegressor or a map or metric of craftmaps
        Fitted.
    path : path
        Written whole or not at all.

    Examples
    --------
    >>> import os, tempfile
    >>> from craftmaps import CraftMap, Polynomial, export
    >>> feature_map = CraftMap(Polynomial(3), 16, random_state=0).fit([[1.0, 2.0], [3.0, 4.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export.onnx(feature_map, os.path.join(folder, "map.onnx"))
    ...     os.path.getsize(os.path.join(folder, "map.onnx")) < 10_000
    True
    """
    content = model_proto(recipe_of(model)).SerializeToString()
    with new_file(Path(path)) as new:
        new.write_bytes(content)


def model_proto(recipe: Recipe) -> Any:
    """Return a checked ONNX model."""
    from craftmaps import __version__

    g = Graph()
    helper = g.onnx.helper
    outputs = add_recipe(g, recipe, "X", np.float32)
    float_type = g.type_of(np.float32)
    graph = helper.make_graph(
        g.nodes,
        "craftmaps",
        [helper.make_tensor_value_info("X", float_type, ["N", recipe.n_features])],
        [
            helper.make_tensor_value_info(name, g.type_of(dtype), ["N"] if width is None else ["N", width])
            for name, (dtype, width) in outputs.items()
        ],
        g.constants,
    )
    proto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="craftmaps",
        producer_version=__version__,
    )
    g.onnx.checker.check_model(proto, full_check=True)
    return proto


def add_recipe(g: Graph, recipe: Recipe, x: str, dtype: Any) -> dict[str, tuple[Any, int | None]]:
    """Add a whole prediction; return the names of its outputs with their type and width."""
    rows = shape_rows(g, g("Transpose", x, perm=[1, 0]), recipe.steps, dtype)
    x = rows[-1]
    pieces = up_features(g, x, recipe.features)
    if recipe.head is None:
        features = _finished(g, x, pieces, recipe)
        g("Transpose", features, perm=[1, 0], out="features")
        return {"features": (np.float32, recipe.n_outputs)}
    # A kernel of degree 0 has constant features alone.
    outputs, bias = _outputs(g, pieces or [Piece(ones(g, x), np.zeros(1, np.int64), 0.0)], recipe)
    if recipe.linear is not None:
        n_steps, weights = recipe.linear
        outputs = g("Add", outputs, g("MatMul", g.constant(weights), rows[n_steps]))
    if recipe.classes is None:
        # Targets may be far from zero, and single precision would round them to what the bias has of digits.
        numbers = g("Add", g.cast(outputs, np.float64), g.column(bias, dtype=np.float64))
        g("Transpose", numbers, perm=[1, 0], out="prediction")
        return {"prediction": (np.float64, recipe.n_outputs)}
    return _add_classes(g, g("Add", outputs, g.column(bias)), recipe.classes)


def _outputs(g: Graph, pieces: list[Piece], recipe: Recipe) -> tuple[str, NDArray[np.float64]]:
    """Multiply up-features or their sums with the head; return the bias, with what constant features add to it."""
    assert recipe.head is not None
    weights, bias = recipe.head
    places, signs = _places_of_sums(recipe)
    if recipe.features["kind"] == "maclaurin":
        columns, values = drawing.constants(recipe.features)
        bias = bias + weights[:, places[columns]] @ (signs[columns] * values)
    if recipe.down is None:
        terms = [g("MatMul", g.constant(weights[:, piece.columns] * piece.weight), piece.tensor) for piece in pieces]
    elif len(weights) <= _FEW_OUTPUTS:
        terms = _terms_of_columns(g, pieces, weights, places, signs)
    else:
        terms = _terms_of_sums(g, pieces, weights, recipe.down)
    return (g("Sum", *terms) if len(terms) > 1 else terms[0]), bias


def _terms_of_columns(
    g: Graph, pieces: list[Piece], weights: NDArray[np.float64], places: NDArray[np.int64], signs: NDArray[np.int8]
) -> list[str]:
    """Multiply each piece with weights that are spread to its columns once, when the file is opened."""
    head, terms = g.constant(weights.T), []
    for piece in pieces:
        spread = g("Gather", head, g.indices(places[piece.columns]), axis=0)
        factors = g("Unsqueeze", g.coded(piece.weight * signs[piece.columns]), g.shape(1))
        spread = g("Transpose", g("Mul", spread, factors), perm=[1, 0])
        terms.append(g("MatMul", spread, piece.tensor))
    return terms


def _terms_of_sums(g: Graph, pieces: list[Piece], weights: NDArray[np.float64], down: dict[str, Any]) -> list[str]:
    """Add up-features up and multiply the sums; a piece that is kept, all of it, is multiplied as it is."""
    width, chunk = down["width"], down["chunk"]
    terms = [g("MatMul", g.constant(weights[:, :chunk]), _folded_sums(g, pieces, down))]
    for tensor, columns, factor in pieces:
        if (columns >= width).all():
            terms.append(g("MatMul", g.constant(weights[:, chunk + columns - width] * factor), tensor))
    return terms


def _places_of_sums(recipe: Recipe) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return the sum that each up-feature is added to, and its sign."""
    down, n_columns = recipe.down, recipe.features["n_columns"]
    if down is None:
        return np.arange(n_columns), np.ones(n_columns, np.int8)
    drawn, kept = drawing.projection(down), np.arange(down["kept"])
    places = np.concatenate([drawn.places % down["chunk"], down["chunk"] + kept])
    return places, np.concatenate([drawn.signs, np.ones(kept.size, np.int8)])


def _folded_sums(g: Graph, pieces: list[Piece], down: dict[str, Any]) -> str:
    """Add up the chunks of a folded projection."""
    drawn = drawing.projection(down)
    chunks = _arranged(g, pieces, drawn.places, drawn.signs, drawn.n_chunks * down["chunk"])
    if drawn.n_chunks == 1:
        return chunks
    return g("ReduceSum", g("Reshape", chunks, g.shape(drawn.n_chunks, down["chunk"], -1)), g.shape(0), keepdims=0)


def _arranged(g: Graph, pieces: list[Piece], places: NDArray, signs: NDArray, size: int) -> str:
    """Bring columns, times signs, to their places among so many; where none stands is zero."""
    columns = np.concatenate([piece.columns for piece in pieces])
    is_used = columns < places.size
    slots, factors = np.zeros(size, np.int64), np.zeros(size)
    slots[places[columns[is_used]]] = np.flatnonzero(is_used)
    factors[places[columns[is_used]]] = (_factors(pieces)[is_used]) * signs[columns[is_used]]
    found = g("Gather", _joined(g, pieces), g.indices(slots), axis=0)
    return found if (factors == 1).all() else g("Mul", found, g("Unsqueeze", g.coded(factors), g.shape(1)))


def _factors(pieces: list[Piece]) -> NDArray[np.float64]:
    """Return the weight of each column of some pieces."""
    return np.concatenate([np.full(piece.columns.size, piece.weight) for piece in pieces])


def _joined(g: Graph, pieces: list[Piece]) -> str:
    """Put pieces one behind the other."""
    return pieces[0].tensor if len(pieces) == 1 else g("Concat", *(piece.tensor for piece in pieces), axis=0)


def _finished(g: Graph, x: str, pieces: list[Piece], recipe: Recipe) -> str:
    """Return the features of a map alone, those that are constant among them."""
    if recipe.features["kind"] == "maclaurin":
        columns, values = drawing.constants(recipe.features)
        pieces = [*pieces, Piece(g("Mul", g.column(values), ones(g, x)), columns)] if columns.size else pieces
    down, n_columns = recipe.down, recipe.features["n_columns"]
    if down is None:
        return _arranged(g, pieces, np.arange(n_columns), np.ones(n_columns, np.int8), n_columns)
    n_down = n_columns - down["kept"]
    if down["kind"] == "matrix":
        whole = _arranged(g, pieces, np.arange(n_down), np.ones(n_down, np.int8), n_down)
        features = g("MatMul", g.constant(down["matrix"].T), whole)
    else:
        features = _hadamard_projection(g, pieces, down)
    if not down["kept"]:
        return features
    places = np.arange(n_columns) - n_down
    places[:n_down] = 0
    only_kept = [piece._replace(columns=np.where(piece.columns < n_down, n_columns, piece.columns)) for piece in pieces]
    kept = _arranged(g, only_kept, places, np.ones(n_columns, np.int8), down["kept"])
    return g("Concat", features, kept, axis=0)


def _hadamard_projection(g: Graph, pieces: list[Piece], down: dict[str, Any]) -> str:
    """Project down with Hadamard transforms."""
    drawn, chunk = drawing.projection(down), down["chunk"]
    residues, scale = turned(drawn.residues, chunk), g.constant(down["n_components"] ** -0.5)
    if drawn.outer is None:
        transformed = hadamard(g, _folded_sums(g, pieces, down), chunk, 1)
        return g("Mul", g("Gather", transformed, g.indices(residues), axis=0), scale)
    chunks = _arranged(g, pieces, drawn.places, drawn.signs, drawn.n_chunks * chunk)
    transformed = g("Reshape", hadamard(g, chunks, chunk, drawn.n_chunks), g.shape(drawn.n_chunks, chunk, -1))
    rows = g("Gather", transformed, g.indices(residues), axis=1)
    signed = g("Mul", rows, g.constant(drawn.outer[:, :, None], stored=np.int8))
    return g("Mul", g("ReduceSum", signed, g.shape(0), keepdims=0), scale)


def _add_classes(g: Graph, outputs: str, classes: Classes) -> dict[str, tuple[Any, int | None]]:
    """Add scores, probabilities and labels."""
    scores = outputs if classes.decoding is None else _decoded(g, outputs, classes.decoding)
    log_odds = g("Mul", scores, g.constant(classes.factor))
    g("Transpose", scores, perm=[1, 0], out="scores")
    g("Transpose", g("Softmax", log_odds, axis=0), perm=[1, 0], out="probabilities")
    kind = classes.labels.dtype.kind
    dtype = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}.get(kind, object)
    best = g("ArgMax", scores, axis=0, keepdims=0)
    g("Gather", g.constant(classes.labels, dtype), best, axis=0, out="label")
    n_classes = classes.labels.size
    return {"label": (dtype, None), "probabilities": (np.float32, n_classes), "scores": (np.float32, n_classes)}


def _decoded(g: Graph, outputs: str, decoding: dict[str, Any]) -> str:
    """Compare outputs for bits with code words, as decodings that are not linear do."""
    words = decoding["words"]
    n_bits = g.constant(words.shape[1])
    bits = g("MatMul", g.constant(words.T), outputs)
    if decoding["kind"] == "hamming":
        agreement = g("Div", g("MatMul", g.constant(words), g("Sign", bits)), n_bits)
        scores = g("Mul", g("Sub", agreement, g.constant(1.0)), g.constant(0.5))
    else:
        margins = g("Mul", g("Unsqueeze", bits, g.shape(0)), g.constant(words[:, :, None]))
        losses = g("Relu", g("Sub", g.constant(1.0), margins))
        scores = g("Neg", g("Div", g("ReduceSum", losses, g.shape(1), keepdims=0), n_bits))
    if decoding["matrix"] is None:
        return scores
    return g("Add", g("MatMul", g.constant(decoding["matrix"].T), scores), g.column(decoding["offset"]))
