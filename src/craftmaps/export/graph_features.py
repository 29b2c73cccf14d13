"""Features of a recipe as ONNX nodes. A tensor has a column for each row of the input."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps.export import drawing
from craftmaps.export.graph import Graph
from craftmaps.export.transforms import hadamard_matrix

# Up to this order one product with the signed Hadamard matrix is faster than two with its factors.
_DENSE_ORDER = 128


class Piece(NamedTuple):
    """Some up-features: the rows of a tensor, times a weight, are these columns of the map."""

    tensor: str
    columns: NDArray[np.int64]
    weight: float = 1.0


def up_features(g: Graph, x: str, features: dict[str, Any]) -> list[Piece]:
    """Add the up-features of shaped rows, but for those of a Maclaurin map that are constant."""
    return _FEATURES[features["kind"]](g, x, features)


def ones(g: Graph, x: str) -> str:
    """Add a row of ones, as many as the input has rows."""
    n_rows = g("Gather", g("Shape", x), g.shape(1))
    return g("Expand", g.constant(np.ones((1, 1))), g("Concat", g.shape(1), n_rows, axis=0))


def _rows(g: Graph, x: str, features: dict[str, Any]) -> list[Piece]:
    """Take the shaped rows as they are."""
    return [Piece(x, np.arange(features["width"]))]


def _maclaurin(g: Graph, x: str, features: dict[str, Any]) -> list[Piece]:
    """Add random products by degree, and the linear part."""
    if features["scale"] != 1:
        x = g("Mul", x, g.constant(features["scale"]))
    pieces = []
    found = drawing.products(features)
    if found:
        projected = _projected(g, x, features)
        part = features["order"] if features["order"] is not None else 1
        for product in found:
            factors = turned(product.factors, part) if part > _DENSE_ORDER else product.factors
            numbers = _products(g, projected, factors, part, features["parts"])
            pieces += [Piece(*pair, product.weight) for pair in zip(numbers, product.columns, strict=True)]
    if features["linear"]:
        columns = features["n_columns"] - features["constant"] - features["linear"] + np.arange(features["linear"])
        pieces.append(Piece(x, columns, math.sqrt(features["coefficients"][1])))
    return pieces


def _projected(g: Graph, x: str, features: dict[str, Any]) -> str:
    """Add the projections of all blocks, one block behind the other."""
    drawn, order, width = drawing.block_signs(features), features["order"], features["width"]
    if order is None:
        return g("MatMul", g.constant(drawn, stored=np.int8), x)
    if order <= _DENSE_ORDER:
        # The matrix is made once, when the file is opened.
        matrix = g.constant(hadamard_matrix(order)[:, :width], stored=np.int8)
        signed = g("Mul", matrix, g.constant(drawn[:, None, :width], stored=np.int8))
        return g("MatMul", g("Reshape", signed, g.shape(-1, width)), x)
    wide = g("Pad", x, g.shape(0, 0, order - width, 0)) if width < order else x
    return hadamard(g, wide, order, len(drawn), drawn)


def hadamard(g: Graph, x: str, order: int, n_blocks: int, signs: NDArray | None = None) -> str:
    """Transform the blocks of a tensor, or with signs one and the same block flipped by each row of them.

    Number i * low + j of a block comes out at place j * high + i, see `turned`: a runtime then has few large products.
    """
    low, high = _sides(order)
    if signs is not None:
        x = g("Reshape", x, g.shape(1, high, low, -1))
        x = g("Mul", x, g.constant(signs.reshape(n_blocks, high, low, 1), stored=np.int8))
    x = g("Reshape", x, g.shape(n_blocks, high, -1))
    x = g("MatMul", g.constant(hadamard_matrix(high), stored=np.int8), x)
    x = g("Transpose", g("Reshape", x, g.shape(n_blocks, high, low, -1)), perm=[0, 2, 1, 3])
    x = g("Reshape", x, g.shape(n_blocks, low, -1))
    x = g("MatMul", g.constant(hadamard_matrix(low), stored=np.int8), x)
    return g("Reshape", x, g.shape(n_blocks * order, -1))


def turned(places: NDArray[np.int64], order: int) -> NDArray[np.int64]:
    """Return where numbers stand after `hadamard`."""
    low, high = _sides(order)
    within = places % order
    return places - within + within % low * high + within // low


def _sides(order: int) -> tuple[int, int]:
    """Return the two powers of two that an order is the product of."""
    low = 1 << (order.bit_length() - 1) // 2
    return low, order // low


def _products(g: Graph, projected: str, factors: NDArray[np.int64], part: int, parts: int) -> list[str]:
    """Multiply the factors of some features; a complex number is two tensors."""
    result: list[str] = []
    for row in factors:
        places = g.indices(row)
        number = [g("Gather", projected, places, axis=0)]
        if parts == 2:
            number.append(g("Gather", projected, g("Add", places, g.constant(part, np.int32)), axis=0))
        result = complex_product(g, result, number) if result else number
    return result


def complex_product(g: Graph, a: list[str], b: list[str]) -> list[str]:
    """Multiply numbers, real ones or pairs of real and imaginary parts."""
    if len(a) == 1:
        return [g("Mul", a[0], b[0])]
    real = g("Sub", g("Mul", a[0], b[0]), g("Mul", a[1], b[1]))
    return [real, g("Add", g("Mul", a[0], b[1]), g("Mul", a[1], b[0]))]


def _tensor_sketch(g: Graph, x: str, features: dict[str, Any]) -> list[Piece]:
    """Add count sketches and convolve them: multiply their spectra and transform back."""
    degree, width, D = features["degree"], features["width"] + 1, features["n_columns"]
    one = ones(g, x)
    if not degree:
        return [Piece(one, np.zeros(1, np.int64))]
    buckets, signs = drawing.sketches(features)
    factors = np.append(np.full(width - 1, features["scale"]), features["constant"])
    entries = g("Mul", g("Concat", x, one, axis=0), g.column(factors))
    entries = g("Mul", g("Reshape", entries, g.shape(1, width, -1)), g.constant(signs[:, :, None], stored=np.int8))
    places = (buckets + D * np.arange(degree)[:, None]).reshape(-1, 1)
    zeros = g("Mul", g.constant(np.zeros((degree * D, 1), np.int8), stored=np.int8), one)
    places = g.cast(g.indices(places), np.int64)
    sketches = g("ScatterND", zeros, places, g("Reshape", entries, g.shape(degree * width, -1)), reduction="add")
    if degree > 1:
        sketches = _convolved(g, sketches, degree, D)
    return [Piece(sketches, np.arange(D))]


def _convolved(g: Graph, sketches: str, degree: int, D: int) -> str:
    """Convolve sketches that stand one behind the other, in double precision: runtimes lose digits in transforms."""
    sketches = g.cast(sketches, np.float64)
    signal = g("Transpose", g("Reshape", sketches, g.shape(degree, D, -1)), perm=[0, 2, 1])
    spectra = _fourier(g, g("Reshape", signal, g.shape(-1, D, 1)), D, inverse=0)
    spectra = g("Reshape", spectra, g.shape(degree, -1, D, 2))
    result: list[str] = []
    for spectrum in g.split("Split", spectra, outs=degree, axis=0, num_outputs=degree):
        number = g.split("Split", spectrum, axis=3, num_outputs=2)
        result = complex_product(g, result, number) if result else number
    spectrum = g("Reshape", g("Concat", *result, axis=3), g.shape(-1, D, 2))
    real = g.split("Split", _fourier(g, spectrum, D, inverse=1), axis=2, num_outputs=2)[0]
    return g.cast(g("Transpose", g("Reshape", real, g.shape(-1, D)), perm=[1, 0]), np.float32)


def _fourier(g: Graph, x: str, length: int, inverse: int) -> str:
    """Add a Fourier transform along the second axis, whose place is an input of newer operators."""
    size = g.constant(length, np.int64)
    if g.opset < 20:
        return g("DFT", x, size, axis=1, inverse=inverse)
    return g("DFT", x, size, g.constant(1, np.int64), inverse=inverse)


def _landmarks(g: Graph, x: str, features: dict[str, Any]) -> list[Piece]:
    """Add kernel values against landmarks."""
    dots = g("MatMul", g.constant(features["landmarks"]), x)
    return [Piece(_kernel(g, dots, features["kernel"]), np.arange(features["n_columns"]))]


def _kernel(g: Graph, t: str, kernel: dict[str, Any]) -> str:
    """Apply a kernel to dot products."""
    if kernel["kind"] == "exponential":
        return g("Exp", g("Mul", t, g.constant(kernel["gamma"])))
    if kernel["kind"] == "series":
        *others, highest = kernel["coefficients"]
        result = g("Add", g("Mul", t, g.constant(0.0)), g.constant(highest))
        for coefficient in reversed(others):
            result = g("Add", g("Mul", result, t), g.constant(coefficient))
        return result
    t = g("Add", g("Mul", t, g.constant(kernel["gamma"])), g.constant(kernel["coef0"]))
    result, exponent = None, kernel["degree"]
    while exponent:
        if exponent & 1:
            result = t if result is None else g("Mul", result, t)
        exponent >>= 1
        t = g("Mul", t, t) if exponent else t
    return result or g("Add", g("Mul", t, g.constant(0.0)), g.constant(1.0))


_FEATURES: dict[str, Callable[[Graph, str, dict[str, Any]], list[Piece]]] = {
    "rows": _rows,
    "maclaurin": _maclaurin,
    "tensorsketch": _tensor_sketch,
    "landmarks": _landmarks,
}
