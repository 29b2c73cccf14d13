"""The forms that a Gram matrix takes."""

from craftmaps.least_squares.packed_gram import ChangedGram, PackedGram, PackedLimits
from craftmaps.least_squares.square_gram import ChangedSquare, SquareGram

Gram = SquareGram | ChangedSquare | PackedGram | ChangedGram


def empty_gram(width: int, packed: bool | PackedLimits) -> SquareGram | PackedGram:
    """Return the Gram matrix of no rows: a float64 square, or one triangle in float32 with its limits."""
    if not packed:
        return SquareGram(width)
    return PackedGram(width, packed if isinstance(packed, PackedLimits) else PackedLimits())
