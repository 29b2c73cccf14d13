"""A graph of ONNX nodes that grows one operation at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 18
_SMALL = 64  # arrays of at most so many numbers are stored as they are used


def import_onnx() -> Any:
    """Import onnx, or say what to install."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ImportError(
            "The package onnx is needed to write ONNX files: install it with pip install 'craftmaps[export]'."
        ) from None
    return onnx


class Graph:
    """Nodes and constants; calling it adds a node and returns the name of its output.

    Tensors hold a column for each row of the input: to gather rows of such a tensor is many times faster than columns.
    """

    def __init__(self, opset: int = OPSET):
        self.onnx = import_onnx()
        self.opset = opset
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._names: dict[Any, str] = {}
        self._n_outputs = 0

    def __call__(self, operator: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        """Add a node of one output."""
        return self.split(operator, *inputs, outs=[out or self._new_name()], **attributes)[0]

    def split(self, operator: str, *inputs: str, outs: Any = 2, **attributes: Any) -> list[str]:
        """Add a node of several outputs, given by name or number."""
        names = [self._new_name() for _ in range(outs)] if isinstance(outs, int) else outs
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def constant(self, value: Any, dtype: Any = np.float32, stored: Any = None) -> str:
        """Add a constant, stored in a smaller type and cast where one is given that holds it."""
        array = np.asarray(value).astype(object if dtype is object else dtype)
        if stored is not None and array.size > _SMALL:
            return self.cast(self._kept(array.astype(stored)), dtype)
        return self._kept(array)

    def indices(self, places: NDArray[np.int64]) -> str:
        """Add whole numbers that are used as places."""
        stored = np.uint16 if places.max(initial=0) < 2**16 else np.int32
        return self.constant(places, np.int32, stored)

    def coded(self, values: NDArray[np.floating]) -> str:
        """Add a vector of few different numbers: a table of them, and a byte for each entry."""
        table, codes = np.unique(values, return_inverse=True)
        if table.size > 2**8 or values.size <= _SMALL:
            return self.constant(values)
        return self("Gather", self.constant(table), self.constant(codes, np.int32, np.uint8), axis=0)

    def shape(self, *sizes: int) -> str:
        """Add a shape."""
        return self.constant(sizes, np.int64)

    def cast(self, name: str, dtype: Any) -> str:
        """Cast a tensor."""
        return self("Cast", name, to=self.type_of(dtype))

    def type_of(self, dtype: Any) -> int:
        """Return what ONNX calls a type."""
        if dtype is object:
            return self.onnx.TensorProto.STRING
        return self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def column(self, vector: Any, **how: Any) -> str:
        """Add a vector as one column, to be used with every row of the input."""
        return self.constant(np.asarray(vector)[:, None], **how)

    def _kept(self, array: NDArray) -> str:
        """Add an array once."""
        content = tuple(array.ravel()) if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._names:
            self._names[key] = f"c{len(self.constants)}"
            self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(array), self._names[key]))
        return self._names[key]

    def _new_name(self) -> str:
        """Return a name that no output has."""
        self._n_outputs += 1
        return f"t{self._n_outputs}"
