"""Models for other places: a web page, ONNX, C.

`page` writes a model as a web page, `onnx` a model or a map for every ONNX runtime, `c_header` a model for every C
compiler; `register_skl2onnx` lets skl2onnx convert pipelines with models and maps in them.
"""

from craftmaps.export.c_source import c_header
from craftmaps.export.onnx_model import onnx
from craftmaps.export.sklearn_pipelines import register_skl2onnx
from craftmaps.export.web_page import page

__all__ = ["c_header", "onnx", "page", "register_skl2onnx"]
