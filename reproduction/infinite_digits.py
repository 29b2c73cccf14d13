"""Digits without end: small deformations of the MNIST training digits, by index.

A stand-in for MNIST8M, made in the same way. Row i is deformation i // n of training digit i % n, and the
first n rows are the digits themselves. A row is a function of its index and a seed alone, so any block of
rows can be made at any time, on any machine, and a pass can go on where it stopped.
"""

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from craftmaps._system.threads import for_row_blocks

SIDE = 28
SHIFT = 1.0  # pixels, along each axis
HALF_TURN = 0.065  # tangent of half the angle: 7.4 degrees
BEND = 3.0  # pixels that a control point of the elastic field moves, along each axis
THICKEN = 0.4  # share of a grey dilation or erosion that is mixed in
_LATTICE = 7  # control points along each axis, 7 pixels apart


class InfiniteDigits:
    """Deformed digits with random access.

    Parameters
    ----------
    digits : array of shape (n, 784), dtype uint8
    labels : array of shape (n,)
    seed : int, default=0
        Another seed deforms the same digits otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> stream = InfiniteDigits(np.eye(2, 784, 400, dtype=np.uint8) * 255, np.array([3, 8]))
    >>> X, y = stream.rows(1_000_000, 1_000_003)
    >>> X.shape, y
    ((3, 784), array([3, 8, 3]))
    """

    def __init__(self, digits: NDArray[np.uint8], labels: NDArray, *, seed: int = 0):
        digits, labels = np.ascontiguousarray(digits), np.asarray(labels)
        if digits.dtype != np.uint8 or digits.ndim != 2 or digits.shape[1] != SIDE**2 or not len(digits):
            raise ValueError(
                f"digits must be uint8 of shape (n, {SIDE**2}) with n > 0, got {digits.dtype} {digits.shape}."
            )
        if labels.shape != digits.shape[:1]:
            raise ValueError(f"labels must have shape ({len(digits)},), got {labels.shape}.")
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed must be in [0, 2**64), got {seed}.")
        self.digits, self.labels, self.seed = digits, labels, seed
        self._splines = _spline_table()

    def rows(self, start: int, stop: int) -> tuple[NDArray[np.uint8], NDArray]:
        """Return rows start to stop - 1 and their labels."""
        if not 0 <= start <= stop:
            raise ValueError(f"start and stop must be in order and not negative, got {start} and {stop}.")
        X = np.empty((stop - start, SIDE**2), np.uint8)

        def block(first: int, last: int) -> None:
            _deform_rows(self.digits, start + first, np.uint64(self.seed), self._splines, X[first:last])

        for_row_blocks(block, stop - start, 256)
        return X, self.labels[np.arange(start, stop) % len(self.digits)]

    def blocks(self, start: int, stop: int, block_rows: int) -> Iterator[tuple[NDArray[np.float32], NDArray]]:
        """Yield rows start to stop - 1 in blocks, in single precision."""
        for first in range(start, stop, block_rows):
            X, y = self.rows(first, min(first + block_rows, stop))
            yield X.astype(np.float32), y


def _spline_table() -> NDArray[np.float32]:
    """Return the weight of every control point in every pixel row: uniform cubic B-splines."""
    position = np.arange(SIDE) / SIDE * (_LATTICE - 3)
    distance = np.abs(position[None, :] - (np.arange(_LATTICE)[:, None] - 1))
    near = 2 / 3 - distance**2 + distance**3 / 2
    far = np.maximum(2 - distance, 0) ** 3 / 6
    return np.where(distance < 1, near, far).astype(np.float32)


# A counter-based hash: words of SplitMix64, with the index and the seed in the place of the state.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@njit(nogil=True, cache=True)
def _mixed(word):
    """Scramble 64 bits."""
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@njit(nogil=True, cache=True)
def _draw(key, counter):
    """Return a number in [-1, 1) with 24 bits, exact in single precision."""
    word = _mixed(key + np.uint64(counter) * _STEP)
    return np.float32(np.int64(word >> np.uint64(40)) - 8388608) * np.float32(2.0**-23)


@njit(nogil=True, cache=True)
def _field(key, first, splines, scale, field):
    """Fill one component of the elastic displacement of all pixels."""
    lattice = splines.shape[0]
    half = np.empty((lattice, SIDE), np.float32)
    for a in range(lattice):
        half[a] = 0
        for b in range(lattice):
            move = scale * _draw(key, first + a * lattice + b)
            for x in range(SIDE):
                half[a, x] += splines[b, x] * move
    for y in range(SIDE):
        field[y] = 0
        for a in range(lattice):
            for x in range(SIDE):
                field[y, x] += splines[a, y] * half[a, x]


@njit(nogil=True, cache=True)
def _deform_rows(digits, start, seed, splines, out):
    """Write rows start, start + 1, ... of the stream."""
    n_digits = digits.shape[0]
    across = np.empty((SIDE, SIDE), np.float32)
    down = np.empty((SIDE, SIDE), np.float32)
    source = np.zeros((SIDE + 4, SIDE + 4), np.float32)  # with a border of zeros
    moved = np.zeros((SIDE + 2, SIDE + 2), np.float32)
    centre = np.float32((SIDE - 1) / 2)
    low, high = np.float32(0), np.float32(SIDE + 2)
    for i in range(out.shape[0]):
        index = start + i
        digit = digits[index % n_digits]
        if index < n_digits:
            out[i] = digit
            continue
        for y in range(SIDE):
            for x in range(SIDE):
                source[y + 2, x + 2] = digit[y * SIDE + x]
        key = _mixed(np.uint64(index) * _STEP + _mixed(seed))
        # A rotation from rational functions alone: sines differ between mathematical libraries.
        t = np.float32(HALF_TURN) * _draw(key, 0)
        cosine = (np.float32(1) - t * t) / (np.float32(1) + t * t)
        sine = (t + t) / (np.float32(1) + t * t)
        shift_x, shift_y = np.float32(SHIFT) * _draw(key, 1), np.float32(SHIFT) * _draw(key, 2)
        thicken = np.float32(THICKEN) * _draw(key, 3)
        _field(key, 4, splines, np.float32(BEND), across)
        _field(key, 4 + splines.shape[0] ** 2, splines, np.float32(BEND), down)
        for y in range(SIDE):
            for x in range(SIDE):
                dx, dy = np.float32(x) - centre, np.float32(y) - centre
                u = cosine * dx - sine * dy + shift_x + across[y, x] + centre + np.float32(2)
                v = sine * dx + cosine * dy + shift_y + down[y, x] + centre + np.float32(2)
                u, v = min(max(u, low), high), min(max(v, low), high)
                left, top = int(u), int(v)
                fu, fv = u - np.float32(left), v - np.float32(top)
                upper = source[top, left] + fu * (source[top, left + 1] - source[top, left])
                lower = source[top + 1, left] + fu * (source[top + 1, left + 1] - source[top + 1, left])
                moved[y + 1, x + 1] = upper + fv * (lower - upper)
        _thicken(moved, thicken, out[i])


@njit(nogil=True, cache=True)
def _thicken(image, share, out):
    """Write an image with a share of its dilation, or of its erosion if the share is negative."""
    for y in range(SIDE):
        for x in range(SIDE):
            here = image[y + 1, x + 1]
            sides = image[y, x + 1], image[y + 2, x + 1], image[y + 1, x], image[y + 1, x + 2]
            if share > 0:
                other = max(here, max(max(sides[0], sides[1]), max(sides[2], sides[3])))
            else:
                other = min(here, min(min(sides[0], sides[1]), min(sides[2], sides[3])))
            value = here + abs(share) * (other - here)
            out[y * SIDE + x] = np.uint8(value + np.float32(0.5))
