"""A model and its errors, as plain values and in words."""

import os
from pathlib import Path
from typing import Any

from craftmaps.cli.options import kernel_text


def describe(model: Any, path: Path, target: str | int | None) -> dict[str, Any]:
    """Return the settings of a model as plain values."""
    features = model.features_
    metric, scale, feature_map = features.metric, features.scale, features.feature_map
    classes = getattr(model, "classes_", None)
    return {
        "path": str(path),
        "bytes": os.path.getsize(path),
        "task": "regression" if classes is None else "classification",
        "target": target,
        "rows": model.n_rows_seen_,
        "columns": model.n_features_in_,
        "classes": None if classes is None else classes.tolist(),
        "features": model.coef_.shape[-1],
        "feature_map": None if feature_map is None else type(feature_map).__name__,
        "kernel": kernel_text(getattr(feature_map, "kernel", None)),
        "metric": _metric_text(metric),
        "length": "unit length" if scale is None else f"times {scale:.4g}",
        "code": None if classes is None else model.code,
        "calibration": None if classes is None else model.calibration_.name,
        "alpha": model.alpha_,
        "seed": model.seed_,
    }


def model_facts(model: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a described model as names and values to print."""
    classes = model["classes"]
    told = "numbers" if classes is None else f"{len(classes):,} classes"
    if classes is not None and len(classes) <= 12:
        told += ": " + ", ".join(map(str, classes))
    target = "" if model["target"] is None else f"{model['target']}, "
    facts = [
        ("learned from", f"{model['rows']:,} rows of {model['columns']:,} columns"),
        ("target", f"{target}{told}"),
        ("features", f"{model['features']:,}, {model['feature_map'] or 'the columns themselves'}"),
        ("kernel", model["kernel"]),
        ("metric", f"{model['metric']}; {model['length']}"),
        ("alpha", f"{model['alpha']:.3g}"),
        ("seed", str(model["seed"])),
    ]
    return facts if model["calibration"] is None else [*facts, ("calibration", model["calibration"])]


def error_text(scores: dict[str, Any] | None) -> str:
    """Format the error on some rows, with its interval."""
    from craftmaps.report.html.wording import interval, number, percent

    if scores is None:
        return ""
    if "rmse" in scores:
        text, ends = f"root mean square error {number(scores['rmse'])}", interval(scores["rmse_interval"], number)
    else:
        text, ends = f"{percent(scores['error'])} error", interval(scores["error_interval"])
    return f"{text} ({ends}) on {scores['rows']:,} rows" if ends else f"{text} on {scores['rows']:,} rows"


def area_text(scores: dict[str, Any]) -> str:
    """Format the AUC, and the classes that it is of."""
    if scores["auc"] is None:
        return "none: all rows are of one class"
    areas = [line for line in scores["classes"] if line["auc"] is not None]
    of = f"of {areas[0]['label']}" if len(areas) == 1 else f"mean of {len(areas):,} classes, each against the rest"
    return f"{scores['auc']:.4f}, {of}"


def _metric_text(metric: Any) -> str:
    """Name a fitted metric, with the number of its axes."""
    from craftmaps.shaping.row_shaping import described, steps_of

    axes = [f"{len(step.components_)} axes" for step in steps_of(metric) if hasattr(step, "components_")]
    return ", ".join([described(metric), *axes])
