"""The figures of the page, from the numbers of `gather`."""

from collections.abc import Sequence
from typing import Any

from craftmaps.report.charts.axes import Axis
from craftmaps.report.charts.plot import Plot, figure
from craftmaps.report.html.markup import Markup
from craftmaps.report.html.wording import count, decimal, number, percent


def alpha_curve(alphas: dict[str, Any], is_classifier: bool) -> Markup:
    """Plot held-out error against the penalty, with the spread of the folds."""
    unit, name = (100, "held-out error (%)") if is_classifier else (1, "held-out mean squared error")
    # A penalty of zero has no place on a logarithmic axis: it is drawn to the left of the others.
    zero = min((alpha for alpha in alphas["alpha"] if alpha > 0), default=1.0) / 10
    columns = (alphas[name] for name in ("alpha", "mean_error", "std_error"))
    # Neither has an error that is not finite.
    rows = [
        (i, alpha or zero, unit * mean, unit * (spread or 0.0))
        for i, (alpha, mean, spread) in enumerate(zip(*columns, strict=True))
        if mean is not None
    ]
    means = [mean for _, _, mean, _ in rows]
    is_log = bool(means) and 0 < 10 * min(means) < max(means)
    ends = means + [mean + spread for _, _, mean, spread in rows]
    ends += [] if is_log else [max(mean - spread, 0.0) for _, _, mean, spread in rows]
    x = Axis.around([alpha for _, alpha, _, _ in rows], "alpha, in units of trace(G) / E", is_log=True)
    plot = Plot(f"{name.capitalize()} against alpha.", x, Axis.around(ends, name, is_log=is_log))
    plot.line([(alpha, mean) for _, alpha, mean, _ in rows])
    for i, alpha, mean, spread in rows:
        is_chosen, written = i == alphas["chosen"], number(alphas["alpha"][i])
        if spread:
            plot.whisker(alpha, mean - spread, mean + spread)
        if is_chosen:
            plot.rule(alpha)
            plot.note(alpha, plot.y.high, f"chosen: {written}", dx=8, dy=12)
        shown = percent(mean / 100) if is_classifier else number(mean)
        plot.dot(alpha, mean, f"alpha {written}: {shown}", radius=6 if is_chosen else 3.5)
    caption = (
        f"Mean over the folds of {count(alphas['rows'])} rows that were left out; bars are one standard deviation."
    )
    return figure("Choice of alpha", plot, caption)


def reliability(calibration: dict[str, Any]) -> Markup:
    """Plot the share of right predictions against their probability."""
    x, y = Axis(0.0, 1.0, "probability of the predicted class"), Axis(0.0, 1.0, "share that is right")
    plot = Plot("Share of right predictions against their probability.", x, y, is_square=True)
    plot.line([(0, 0), (1, 1)], "ideal")
    bins = calibration["bins"]
    plot.line([(place["confidence"], place["share_right"]) for place in bins])
    for place in bins:
        plot.whisker(place["confidence"], *place["interval"])
        told = f"said {percent(place['confidence'])}, right {percent(place['share_right'])}"
        plot.dot(place["confidence"], place["share_right"], f"{told} of {count(place['rows'])} rows")
    caption = "On the dashed line probabilities are calibrated. Bars are 95\N{NO-BREAK SPACE}% intervals."
    return figure("Reliability", plot, caption)


def confidence_histogram(calibration: dict[str, Any]) -> Markup:
    """Plot the distribution of the probability of the predicted class."""
    x_label = "probability of the predicted class"
    plot = _histogram(calibration, x_label, "test rows", f"Histogram of the {x_label}.")
    caption = (
        "Probabilities differ from the share that is right by "
        f"{percent(calibration['expected_calibration_error'])} on average (expected calibration error)."
    )
    return figure("Confidence", plot, caption)


def kernel_pairs(pairs: Sequence[Sequence[float]]) -> Markup:
    """Plot estimated against exact kernel values."""
    caption = f"{count(len(pairs))} pairs of different rows; on the dashed line the estimate is exact."
    plot = _like_against_like(pairs, "exact kernel", "inner product of features")
    return figure("Kernel values", plot, caption)


def scree(spectra: dict[str, Any]) -> Markup:
    """Plot the logarithms of the eigenvalues of the kernel and of its estimate."""
    lines = {
        kind: [(i + 1, value) for i, value in enumerate(line) if value is not None] for kind, line in spectra.items()
    }
    values = [value for line in lines.values() for _, value in line]
    x = Axis.around([1.0, float(len(spectra["exact"]))], "place of the eigenvalue", from_zero=True)
    plot = Plot("Log-scree of the exact kernel and of the map.", x, Axis.around(values, "log₁₀ of the eigenvalue"))
    styles = {"exact": ("ink", "exact kernel"), "map": ("accent", "map")}
    for kind, line in lines.items():
        if line:
            plot.line(line, styles[kind][0])
    # Spectra fall from the upper left, so that the upper right corner is free of both lines.
    for i, (style, name) in enumerate(styles[kind] for kind, line in lines.items() if line):
        plot.note(x.high, plot.y.high, name, kind=style, dx=4, dy=12 + 18 * i)
    caption = "Eigenvalues of the kernel matrix above rounding error, largest first."
    return figure("Log-scree", plot, caption)


def weight_histogram(weights: dict[str, Any]) -> Markup:
    """Plot the distribution of the weights of the model."""
    plot = _histogram(weights, "weight, the largest being 1", "weights", "Histogram of the weights of the model.")
    caption = f"{count(weights['n_weights'])} weights. A spike at zero shows features that do not matter."
    return figure("Weights", plot, caption)


def predicted_against_true(target: dict[str, Any], name: str) -> Markup:
    """Plot predictions of test rows against their targets."""
    plot = _like_against_like(target["points"], "true value", "predicted value")
    caption = f"{count(len(target['points']))} test rows; on the dashed line predictions are right."
    return figure(f"Predicted against true{name}", plot, caption)


def residual_histogram(target: dict[str, Any], name: str) -> Markup:
    """Plot the distribution of the errors of predictions."""
    plot = _histogram(target["residuals"], "predicted minus true", "test rows", "Histogram of the residuals.")
    caption = f"Root mean squared error {number(target['rmse'])}, R² {decimal(target['r2'])}."
    return figure(f"Residuals{name}", plot, caption)


def _like_against_like(points: Sequence[Sequence[float]], x_label: str, y_label: str) -> Plot:
    """Return a plot of points and of the line on which both values are equal."""
    points = [point for point in points if None not in point]
    values = [value for point in points for value in point]
    x, y = Axis.around(values, x_label), Axis.around(values, y_label)
    plot = Plot(f"{y_label.capitalize()} against {x_label}.", x, y, is_square=True)
    plot.line([(x.low, x.low), (x.high, x.high)], "ideal")
    plot.cloud(points)
    return plot


def _histogram(histogram: dict[str, Any], x_label: str, y_label: str, description: str) -> Plot:
    """Return a plot of a histogram."""
    counts, edges = histogram["counts"], histogram["edges"]
    plot = Plot(description, Axis(edges[0], edges[-1], x_label), Axis.around(counts, y_label, from_zero=True))
    for n, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
        if n:
            plot.bar(left, right, n, f"{number(left)} to {number(right)}: {count(n)}")
    return plot
