"""Models for other places: ONNX, a web page, C."""
