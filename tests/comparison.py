"""How far two matrices are apart, row by row and relative to the length of the rows."""

import numpy as np

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}


def assert_rows_close(actual, expected, tolerance):
    """Assert that every row is as expected, up to a tolerance relative to its length."""
    actual, expected = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert actual.shape == expected.shape
    distance = np.linalg.norm(actual - expected, axis=1)
    # Negated: a NaN is a failure too.
    wrong = ~(distance <= tolerance * np.linalg.norm(expected, axis=1))
    assert not wrong.any(), f"rows {np.flatnonzero(wrong)[:5]} are off by {distance[wrong][:5]}"
