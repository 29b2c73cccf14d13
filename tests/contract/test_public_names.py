"""Public names, signatures and the cost of the import are fixed."""

import inspect
import subprocess
import sys

import pytest

import craftmaps

REQUIRED = inspect.Parameter.empty

# Name -> positional parameters, then keyword-only ones, each with its default.
SIGNATURES = {
    "Polynomial": ({"degree": 3, "coef0": 1.0, "gamma": 1.0}, {}),
    "Exponential": ({"gamma": 1.0}, {}),
    "MaclaurinSeries": ({"coefficients": REQUIRED}, {}),
    "Gaussian": ({"gamma": 1.0}, {}),
    "Laplace": ({"gamma": 1.0, "max_degree": 16}, {}),
    "ArcCosine": ({"max_degree": 16}, {}),
    "NeuralTangent": ({"depth": 1, "max_degree": 16}, {}),
    "RandomMaclaurin": (
        {"kernel": "Polynomial()", "n_components": 1024},
        {
            "projection": "hadamard",
            "degrees": "optimal",
            "exact_low_degrees": "auto",
            "complex_weights": False,
            "random_state": None,
        },
    ),
    "TensorSketch": ({"kernel": "Polynomial()", "n_components": 1024}, {"random_state": None}),
    "SubsampledHadamard": ({"n_components": 64}, {"random_state": None}),
    "CraftMap": (
        {"kernel": "Polynomial()", "n_components": 1024},
        {"up": "maclaurin", "up_components": None, "down": "hadamard", "random_state": None},
    ),
    "LandmarkMap": ({"kernel": "Polynomial()", "n_components": 1024}, {"whiten": True, "random_state": None}),
    "GradientMetric": (
        {"power": 1.0, "n_components": None},
        {"standardize": False, "normalize": True, "random_state": 0},
    ),
    "CovarianceMetric": ({"power": 1.0, "n_components": None}, {"center": True, "normalize": True}),
    "CraftClassifier": (
        {"kernel": "auto", "n_components": 2048},
        {
            "feature_map": "craft",
            "up_components": None,
            "metric": "auto",
            "normalize": "auto",
            "linear_columns": "auto",
            "categories": "auto",
            "code": "one-vs-rest",
            "code_size": None,
            "decoding": "euclidean",
            "alphas": None,
            "cv": 5,
            "holdout_rows": 10_000,
            "fit_intercept": True,
            "batch_rows": "auto",
            "packed": "auto",
            "solver": "auto",
            "calibration": "auto",
            "loss": "auto",
            "class_weight": None,
            "random_state": None,
            "verbose": 0,
        },
    ),
    "CraftRegressor": (
        {"kernel": "auto", "n_components": 2048},
        {
            "feature_map": "craft",
            "up_components": None,
            "metric": "auto",
            "normalize": "auto",
            "linear_columns": "auto",
            "categories": "auto",
            "alphas": None,
            "cv": 5,
            "holdout_rows": 10_000,
            "fit_intercept": True,
            "batch_rows": "auto",
            "packed": "auto",
            "solver": "auto",
            "random_state": None,
            "verbose": 0,
        },
    ),
}
# Public names without a constructor of their own.
OTHERS = ("NormalEquations", "Tally", "load_model", "load_tally", "tally_blocks", "threads")


def test_the_public_names():
    assert sorted(craftmaps.__all__) == sorted([*SIGNATURES, *OTHERS])
    assert all(callable(getattr(craftmaps, name)) for name in craftmaps.__all__)
    assert set(craftmaps.__all__) <= set(dir(craftmaps))


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_say_what_they_take(name):
    """Without an annotation, type checkers would infer the type of the default."""
    parameters = list(inspect.signature(getattr(craftmaps, name).__init__).parameters.values())[1:]
    assert [p.name for p in parameters if p.annotation is REQUIRED] == []


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_constructor(name):
    parameters = inspect.signature(getattr(craftmaps, name)).parameters.values()
    for kind, expected in zip(
        (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY), SIGNATURES[name], strict=True
    ):
        found = {p.name: p.default for p in parameters if p.kind == kind}
        if "kernel" in found and found["kernel"] != "auto":
            found["kernel"] = repr(found["kernel"])
        assert found == expected
        assert list(found) == list(expected)
        assert [type(value) for value in found.values()] == [type(value) for value in expected.values()]
    assert len(parameters) == sum(map(len, SIGNATURES[name]))


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_constructor_stores_its_arguments_untouched(name):
    arguments = {**SIGNATURES[name][0], **SIGNATURES[name][1]}
    if "kernel" in arguments:
        arguments["kernel"] = craftmaps.Polynomial(2)
    if "coefficients" in arguments:
        arguments["coefficients"] = [1.0, 2.0]
    stored = getattr(craftmaps, name)(**arguments).get_params(deep=False)
    assert set(stored) == set(arguments)
    assert all(stored[key] is arguments[key] for key in arguments)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="CraftMop"):
        craftmaps.CraftMop  # noqa: B018 - reading the name is the test


def run(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_the_import_loads_neither_scikit_learn_nor_numba():
    heavy = "{'sklearn', 'numba', 'scipy', 'numpy'} & set(sys.modules)"
    done = run(f"import sys, craftmaps; assert not {heavy}, {heavy}")
    assert done.returncode == 0, done.stderr


def test_numba_is_loaded_when_rows_are_mapped_only():
    done = run(
        "import sys; from craftmaps import CraftMap; CraftMap();"
        "assert 'sklearn' in sys.modules; assert 'numba' not in sys.modules;"
        "CraftMap(n_components=2).fit_transform([[1.0, 2.0], [3.0, 4.0]]); assert 'numba' in sys.modules"
    )
    assert done.returncode == 0, done.stderr
