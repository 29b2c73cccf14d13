"""The test scores of a regressor as numbers of the page."""

from typing import Any

from craftmaps.scores import NumberScores


def regression(scores: NumberScores, examples: list[dict[str, Any]]) -> dict[str, Any]:
    """Return error, R2, and the points and residuals of the first targets as plain numbers."""
    targets = zip(scores.rmse_by_target(), scores.r2_by_target(), examples, strict=False)  # examples are of the first
    return {
        "rows": scores.weight.n_rows,
        **scores.weight.to_plain(),
        "rmse": scores.rmse,
        "rmse_interval": scores.rmse_interval,
        "r2": scores.r2,
        "r2_interval": scores.r2_interval,
        "n_targets": scores.n_targets,
        "targets": [{"r2": r2, "rmse": rmse, **example} for rmse, r2, example in targets],
    }
