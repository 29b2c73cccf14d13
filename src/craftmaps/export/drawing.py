"""What the seeds of a recipe stand for, drawn again in NumPy."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from craftmaps._rows.randomness import integers, permutations, signs


class Products(NamedTuple):
    """Features of one degree: `weight` times the product of numbers `factors[:, i]` of all projections.

    Projections of block b stand at b * parts * order and, if weights are complex, their imaginary parts `order` behind.
    `columns` has a row for real parts, and one for imaginary parts.
    """

    weight: float
    factors: NDArray[np.int64]
    columns: NDArray[np.int64]


def block_signs(features: dict[str, Any]) -> NDArray[np.int8]:
    """Return the signs of all blocks and parts, a row for each; without blocks, those of all factors."""
    shape = (n_sign_rows(features), features["order"] or features["width"])
    return signs(int(features["seed"]), "signs", shape)


def n_sign_rows(features: dict[str, Any]) -> int:
    """Return the number of rows of signs."""
    degrees, order = _degrees(features), features["order"]
    if order is None:
        return features["parts"] * int(degrees.sum())
    tops = degrees[::order]
    return features["parts"] * int(tops.max(initial=0) if features["shared"] else tops.sum())


def products(features: dict[str, Any]) -> list[Products]:
    """Return the random features of a Maclaurin map, the lowest degree first."""
    degrees, order, parts = _degrees(features), features["order"], features["parts"]
    size = order or max(1, degrees.size)
    rows = permutations(int(features["seed"]), "rows", int(degrees[::size].sum()), order) if order else None
    found: dict[int, list[tuple[NDArray, NDArray]]] = {}
    column = factor = 0
    for start in range(0, degrees.size, size):
        group = degrees[start : start + size]
        if rows is None:
            # Factor j of feature i has a row of signs of its own, after those of all earlier factors.
            used = [int((degrees > j).sum()) for j in range(group[0])]
            places = np.cumsum([0, *used[:-1]])[:, None] + np.arange(group.size)[None, :]
            places = parts * places
        else:
            block = np.arange(group[0]) + (0 if features["shared"] else factor)
            places = parts * size * block[:, None] + rows[factor : factor + group[0], : group.size]
        for degree in np.unique(group):
            i = np.flatnonzero(group == degree)
            columns = column + i + group.size * np.arange(parts)[:, None]
            found.setdefault(int(degree), []).append((places[:degree, i], columns))
        column += parts * group.size
        factor += int(group[0])
    return [
        Products(
            math.sqrt(features["weights"][degree] / parts**degree),
            *(np.concatenate(arrays, axis=1) for arrays in zip(*found[degree], strict=True)),
        )
        for degree in sorted(found)
    ]


def constants(features: dict[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns of a Maclaurin map that are constant and not zero, and their values."""
    n_loose, end = features["counts"][0], features["n_columns"]
    first = features["parts"] * sum(features["counts"][1:])
    columns = np.concatenate([first + np.arange(n_loose), end - features["constant"] + np.arange(features["constant"])])
    squares = [features["weights"][0]] * n_loose + [features["coefficients"][0]] * features["constant"]
    return columns.astype(np.int64), np.sqrt(squares)


class Projection(NamedTuple):
    """A Hadamard projection: column c, times signs[c], stands at place places[c] of some chunks.

    Chunks are transformed, and number residues[e] of chunk c counts outer[c, e] times for output e. A folded projection
    adds its chunks up before it transforms them, so they all count once.
    """

    signs: NDArray[np.int8]
    places: NDArray[np.int64]
    residues: NDArray[np.int64]
    outer: NDArray[np.int8] | None
    n_chunks: int


def projection(down: dict[str, Any]) -> Projection:
    """Draw a Hadamard projection."""
    seed, width, chunk, n_out = int(down["seed"]), down["width"], down["chunk"], down["n_components"]
    residues = np.sort(permutations(seed, "residues", 1, chunk)[0, :n_out])
    drawn = signs(seed, "signs", (width,))
    column = np.arange(width)
    if down["kind"] == "folded":
        n_chunks = -(-width // chunk)
        shifts = integers(seed, "shifts", (n_chunks,), chunk)
        return Projection(drawn, column ^ np.repeat(shifts, chunk)[:width], residues, None, n_chunks)
    places = permutations(seed, "positions", 1, down["order"])[0, :width] if down["shuffled"] else column
    n_chunks = int(places.max()) // chunk + 1
    quotients = integers(seed, "quotients", (n_out,), down["order"] // chunk)
    common = np.bitwise_count(np.arange(n_chunks)[:, None] & quotients[None, :])
    return Projection(drawn, places, residues, (1 - 2 * (common & 1)).astype(np.int8), n_chunks)


def sketches(features: dict[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return buckets and signs of the count sketches of a TensorSketch, a row for each; the last column is constant."""
    seed, shape = int(features["seed"]), (features["degree"], features["width"] + 1)
    return integers(seed, "buckets", shape, features["n_columns"]), signs(seed, "signs", shape)


def _degrees(features: dict[str, Any]) -> NDArray[np.int64]:
    """Return the degrees of all features that have factors, the highest first."""
    descending = np.arange(len(features["counts"]))[:0:-1]
    return np.repeat(descending, np.asarray(features["counts"])[descending])
