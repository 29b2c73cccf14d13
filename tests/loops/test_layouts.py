"""Maps of rows in any layout have the bits of a contiguous copy, and their loops stay inside their buffers."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.laws.test_strides import LAYOUTS, WIDE

# One row, a tile and a rest, and several blocks of contiguous columns. Every other length of a line takes seconds to
# compile; `test_lanes` has those.
SHAPES = [(1, 300), (21, 515), (263, 70)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_rows", "width"), SHAPES)
def test_layouts_have_equal_bits(fences, name, layout, dtype, n_rows, width):
    X = (np.random.default_rng(0).normal(size=(n_rows, width)) / np.sqrt(width)).astype(dtype)
    strided = LAYOUTS[layout](X)
    feature_map = clone(WIDE[name]).fit(X)
    np.testing.assert_array_equal(feature_map.transform(strided), feature_map.transform(strided.copy(order="C")))
    assert fences() == 0
