"""Scaling the rows by a power of two and the kernel to match changes nothing but exponents."""

import pytest

from craftmaps import Exponential, Polynomial, RandomMaclaurin, TensorSketch
from tests.comparison import assert_rows_close

PAIRS = [
    (Polynomial(3, gamma=4.0), Polynomial(3, gamma=4.0 / 2**16)),
    (Exponential(2.0), Exponential(2.0 / 2**16)),
    (Exponential(90.0), Exponential(90.0 / 2**16)),
]


@pytest.mark.parametrize(("kernel", "flatter"), PAIRS, ids=[str(kernel) for kernel, _ in PAIRS])
@pytest.mark.parametrize("complex_weights", [False, True])
def test_long_rows_of_a_flat_kernel(rows, kernel, flatter, complex_weights):
    # Fitted on one row: scaling changes the hashes of rows, and so the sample of several.
    short, long = (
        RandomMaclaurin(k, 50, complex_weights=complex_weights, random_state=0).fit(X[:1])
        for k, X in ((kernel, rows), (flatter, 2.0**8 * rows))
    )
    assert_rows_close(long.transform(2.0**8 * rows), short.transform(rows), 1e-12)


def test_long_rows_of_a_flat_tensor_sketch(rows):
    expected, actual = (
        TensorSketch(kernel, 50, random_state=0).fit_transform(X)
        for kernel, X in zip(PAIRS[0], (rows, 2.0**8 * rows), strict=True)
    )
    assert_rows_close(actual, expected, 1e-12)


@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**40])
def test_rows_are_brought_to_about_unit_length(rows, scale):
    assert RandomMaclaurin(Polynomial(2), 20).fit(scale * rows).scale_ == 1 / scale
