"""Models for other places: ONNX, a web page, C.

`onnx` writes a model or a map for every ONNX runtime.
"""

from craftmaps.export.onnx_model import onnx

__all__ = ["onnx"]
