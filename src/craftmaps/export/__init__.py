"""Models for other places: ONNX, a web page, C.

`page` writes a model as a web page, `onnx` a model or a map for every ONNX runtime, `c_header` a model for every C
compiler.
"""

from craftmaps.export.c_source import c_header
from craftmaps.export.onnx_model import onnx
from craftmaps.export.web_page import page

__all__ = ["c_header", "onnx", "page"]
