"""Options of the commands that make a learner, and the parameters that they become."""

from typing import Annotated, Any, Literal

import typer

from craftmaps.cli.options import option, parse_memory, real_number, whole_number

Target = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column of the labels: a name, or a position from 0 (-1: the last). [label]"),
]
Components = Annotated[Any, option(whole_number(1), "E", "Width of the features.")]
FeatureMap = Annotated[
    Literal["craft", "maclaurin", "tensorsketch", "landmarks", "none"],
    typer.Option(help="Feature map of the rows."),
]
Metric = Annotated[
    Literal["auto", "covariance", "gradient", "none"],
    typer.Option(
        help="Linear rescaling of rows before they are mapped: by their principal axes (covariance), or by the "
        "axes that matter for the target (gradient); auto compares them on some rows."
    ),
]
TryCategories = Annotated[
    bool,
    typer.Option(
        "--try-categories/--no-try-categories",
        help="Whether columns of 3 to 32 different whole numbers are tried as categories, if the metric is auto; "
        "--categories names columns that are categories in any case.",
    ),
]
Code = Annotated[
    Literal["one-vs-rest", "random", "hadamard"],
    typer.Option(
        help="How classes become outputs: one for each class, or code words that correct errors, of 200 random "
        "bits or the rows of a Hadamard matrix."
    ),
]
Calibration = Annotated[
    Literal["auto", "temperature", "matrix"],
    typer.Option(
        help="How held-out rows turn scores into probabilities: by one factor, which changes no prediction "
        "(temperature), or by a matrix that corrects the score of a class by those of others (matrix)."
    ),
]
Alpha = Annotated[
    list[Any] | None,
    option(
        real_number(True),
        "ALPHA",
        "Ridge penalty, relative to the mean sum of squares of a feature, such as 1e-4; may be repeated, to "
        "compare several. [1e-8, 1e-7 ... 10]",
    ),
]
Regression = Annotated[
    bool | None,
    typer.Option(
        "--regression/--classification",
        help="Predict numbers, or classes. Without either it is classes, and a target that looks like a number to "
        "predict is refused.",
    ),
]
MaxRows = Annotated[Any, option(whole_number(1), "ROWS", "Stop after this many rows.")]
Memory = Annotated[Any, option(parse_memory, "SIZE", "Bound such as 4GB; by default all memory.")]
Seed = Annotated[Any, option(whole_number(0, 2**64 - 1), "SEED", "Seed of everything random.")]


def learner_parameters(
    *,
    components: int,
    kernel: Any,
    feature_map: str,
    metric: str,
    try_categories: bool,
    code: str,
    calibration: str,
    alpha: list[float] | None,
    seed: int,
) -> dict[str, Any]:
    """Return options as parameters of a learner of classes; one of numbers has no code and no calibration."""
    return {
        "kernel": kernel,
        "n_components": components,
        "feature_map": None if feature_map == "none" else feature_map,
        "metric": None if metric == "none" else metric,
        "categories": "auto" if try_categories else None,
        "code": code,
        "calibration": calibration,
        "alphas": alpha or None,
        "random_state": seed,
    }
