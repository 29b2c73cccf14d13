"""Models for other places: ONNX, a web page, C.

`onnx` writes a model or a map for every ONNX runtime, `c_header` a model for every C compiler.
"""

from craftmaps.export.c_source import c_header
from craftmaps.export.onnx_model import onnx

__all__ = ["c_header", "onnx"]
