"""Models, tallies and errors, as plain values and in words."""

import os
from pathlib import Path
from typing import Any

from craftmaps.cli.options import kernel_text


def describe(model: Any, path: Path, target: str | int | None) -> dict[str, Any]:
    """Return the settings of a model as plain values; a tally that was not solved becomes a model."""
    classes = getattr(model, "classes_", None)
    return _described_features(model, path, target) | {
        "features": model.coef_.shape[-1],
        "code": None if classes is None else model.code,
        "calibration": None if classes is None else model.calibration_.name,
        "loss": "squared" if classes is None else model.loss_,
        "alpha": model.alpha_,
    }


def describe_tally(settled: Any, tally: Any, path: Path, target: str | int | None) -> dict[str, Any]:
    """Return the settings of a tally by a settled learner and what it holds as plain values, without solving it."""
    sample = None if tally.held_out is None else tally.held_out.sample
    return _described_features(settled, path, target) | {
        "rows": tally.n_rows,
        "classes": None if tally.classes is None else tally.classes.tolist(),
        "features": tally.statistic.cross.shape[0],
        "settled_on": settled.choices_.n_rows,
        "held_out_rows": None if tally.held_out is None else tally.held_out.n_rows,
        "raw_rows": 0 if sample is None else sample.X.shape[0],
        "packed": tally.statistic.packed,
    }


def _described_features(model: Any, path: Path, target: str | int | None) -> dict[str, Any]:
    """Return what models and tallies have in common."""
    features = model.features_
    feature_map = features.feature_map
    classes = getattr(model, "classes_", None)
    return {
        "path": str(path),
        "bytes": os.path.getsize(path),
        "task": "regression" if classes is None else "classification",
        "target": target,
        "rows": model.n_rows_seen_,
        "columns": model.n_features_in_,
        "classes": None if classes is None else classes.tolist(),
        "feature_map": None if feature_map is None else type(feature_map).__name__,
        "kernel": kernel_text(getattr(feature_map, "kernel", None)),
        "metric": _metric_text(features.metric),
        "length": "unit length" if features.scale is None else f"times {features.scale:.4g}",
        "seed": model.seed_,
    }


def model_facts(model: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a described model as names and values to print."""
    facts = [
        ("learned from", f"{model['rows']:,} rows of {model['columns']:,} columns"),
        *_feature_facts(model),
        ("loss", model["loss"]),
        ("alpha", f"{model['alpha']:.3g}"),
        ("seed", str(model["seed"])),
    ]
    return facts if model["calibration"] is None else [*facts, ("calibration", model["calibration"])]


def tally_facts(tally: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a described tally, or a recipe, which is one of no rows, as names and values to print."""
    from craftmaps.report.html.wording import memory

    held_out, settled_on = tally["held_out_rows"], tally["settled_on"]
    packed = ", Gram matrix packed in float32" if tally["packed"] else ""
    return [
        ("tally" if tally["rows"] else "recipe", f"{tally['path']}, {memory(tally['bytes'])}"),
        ("counts", f"{tally['rows']:,} rows of {tally['columns']:,} columns{packed}"),
        *_feature_facts(tally),
        ("settled on", f"{settled_on:,} rows" if settled_on else "no rows: everything was given"),
        ("held out", "none" if held_out is None else f"{held_out:,} rows"),
        ("raw rows", f"{tally['raw_rows']:,} in the file"),
        ("seed", str(tally["seed"])),
    ]


def _feature_facts(described: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the target and the features of a described model or tally as names and values to print."""
    classes = described["classes"]
    told = "numbers" if classes is None else f"{len(classes):,} classes"
    if classes is not None and len(classes) <= 12:
        told += ": " + ", ".join(map(str, classes))
    target = "" if described["target"] is None else f"{described['target']}, "
    return [
        ("target", f"{target}{told}"),
        ("features", f"{described['features']:,}, {described['feature_map'] or 'the columns themselves'}"),
        ("kernel", described["kernel"]),
        ("metric", f"{described['metric']}; {described['length']}"),
    ]


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
