"""Learners and maps inside pipelines of scikit-learn, for skl2onnx."""

from typing import Any

import numpy as np

from craftmaps.export.graph import OPSET, Graph
from craftmaps.export.onnx_model import add_recipe
from craftmaps.export.recipe import recipe_of
from craftmaps.learners import CraftClassifier, CraftRegressor
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.projections import SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch
from craftmaps.shaping.covariance_metric import CovarianceMetric
from craftmaps.shaping.gradient_metric import GradientMetric
from craftmaps.shaping.quantile_columns import QuantileColumns

_MAPS = (
    RandomMaclaurin,
    TensorSketch,
    SubsampledHadamard,
    CraftMap,
    LandmarkMap,
    CovarianceMetric,
    GradientMetric,
    QuantileColumns,
)
# What skl2onnx has labels, probabilities and features as.
_TYPES = {
    "StringTensorType": str,
    "Int64TensorType": np.int64,
    "FloatTensorType": np.float32,
    "DoubleTensorType": np.float64,
}


def register_skl2onnx() -> None:
    """Let skl2onnx convert pipelines that have learners, maps or metrics of craftmaps in them.

    Probabilities, numbers and features have the precision of the input; everything is computed in single precision.
    Calling it again changes nothing.

    Examples
    --------
    >>> from craftmaps import CraftMap, Polynomial, export
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(CraftMap(Polynomial(2), 8, random_state=0), Ridge())
    >>> pipeline = pipeline.fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0])
    >>> export.register_skl2onnx()
    >>> from skl2onnx import to_onnx  # doctest: +SKIP
    >>> onnx_model = to_onnx(pipeline, np.zeros((1, 2), np.float32))  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError(
            "The package skl2onnx is needed to convert pipelines: install it with pip install skl2onnx."
        ) from None
    for map_class in _MAPS:
        update_registered_converter(map_class, f"Craftmaps{map_class.__name__}", _map_shapes, _convert)
    update_registered_converter(CraftRegressor, "CraftmapsRegressor", _map_shapes, _convert)
    update_registered_converter(
        CraftClassifier,
        "CraftmapsClassifier",
        _classifier_shapes,
        _convert,
        options={"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]},
    )


def _map_shapes(operator: Any) -> None:
    """Say how wide and of which precision the output is."""
    operator.outputs[0].type = _output_type(operator)([None, recipe_of(operator.raw_operator).n_outputs])


def _classifier_shapes(operator: Any) -> None:
    """Say how wide and of which precision probabilities are; the operator ZipMap takes single precision alone."""
    from skl2onnx.common.data_types import FloatTensorType
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    calculate_linear_classifier_output_shapes(operator)
    if operator.scope_inst.get_options(operator.raw_operator, {"zipmap": True})["zipmap"] is True:
        operator.outputs[1].type = FloatTensorType(operator.outputs[1].type.shape)


def _output_type(operator: Any) -> Any:
    """Return the type of the outputs: double precision for double precision."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if isinstance(operator.inputs[0].type, DoubleTensorType) else FloatTensorType


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a learner or map to a graph of skl2onnx."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    if container.target_opset < OPSET:
        raise ValueError(f"target_opset must be at least {OPSET}, got {container.target_opset}.")
    recipe, g = recipe_of(operator.raw_operator), Graph(container.target_opset)
    given = operator.inputs[0].type
    is_double = isinstance(given, DoubleTensorType)
    x = "X" if isinstance(given, (FloatTensorType, DoubleTensorType)) else g.cast("X", np.float32)
    add_recipe(g, recipe, x, np.float64 if is_double else np.float32)
    wanted = ["label", "probabilities"] if recipe.classes is not None else ["features"]
    wanted = ["prediction"] if recipe.head is not None and recipe.classes is None else wanted
    names = {"X": operator.inputs[0].full_name}
    for name, output in zip(wanted, operator.outputs, strict=True):
        dtype = _TYPES[type(output.type).__name__]
        if name == "features" and is_double:
            # Versions of ONNX Runtime fuse a transposition and a product in double precision, which they cannot run.
            name = g("Reshape", name, g.shape(-1, recipe.n_outputs))
        names[name if dtype is str else g.cast(name, dtype)] = output.full_name
    _copy(g, names, scope, container)


def _copy(g: Graph, names: dict[str, str], scope: Any, container: Any) -> None:
    """Copy nodes and constants to another graph, under names that are free there."""
    helper = g.onnx.helper

    def renamed(name: str) -> str:
        return names.setdefault(name, scope.get_unique_variable_name(f"craft_{name}")) if name else ""

    for constant in g.constants:
        values = g.onnx.numpy_helper.to_array(constant)
        container.add_initializer(renamed(constant.name), constant.data_type, values.shape, values.ravel().tolist())
    for node in g.nodes:
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        container.add_node(
            node.op_type,
            [renamed(name) for name in node.input],
            [renamed(name) for name in node.output],
            name=scope.get_unique_operator_name(node.op_type),
            **attributes,
        )
