"""The sections about test rows: confusion, calibration and mistakes, or residuals."""

from typing import Any

from craftmaps.report.charts.figures import (
    confidence_histogram,
    predicted_against_true,
    reliability,
    residual_histogram,
)
from craftmaps.report.charts.picture import png
from craftmaps.report.html.markup import Markup, join, tag
from craftmaps.report.html.tables import grid, labelled, scrolling, section, table
from craftmaps.report.html.wording import as_given, count, number, percent

_MOST_CLASSES = 40
_MOST_BESIDE = 12  # classes of a matrix that fits beside the table of classes
_LONGEST_IN_MATRIX = 14


def classifier_sections(test: dict[str, Any]) -> list[Markup]:
    """Return the sections about the test rows of a classifier."""
    calibration = test["calibration"]
    matrix = _confusion(test["confusion"]), _classes(test["classes"], "weight" in test)
    is_wide = len(test["confusion"]["labels"]) > _MOST_BESIDE
    return [
        section("Confusion", join(matrix, "\n") if is_wide else grid(*matrix)),
        section("Calibration", grid(reliability(calibration), confidence_histogram(calibration))),
        section("Most confident mistakes", _mistakes(test["mistakes"])),
    ]


def regressor_sections(test: dict[str, Any]) -> list[Markup]:
    """Return the sections about the test rows of a regressor."""
    targets, n_targets = test["targets"], test["n_targets"]
    parts = []
    for i, target in enumerate(targets):
        name = f", target {i}" if n_targets > 1 else ""
        parts += [predicted_against_true(target, name), residual_histogram(target, name)]
    some = tag("p", f"The first {len(targets)} of {count(n_targets)} targets.") if n_targets > len(targets) else None
    return [section("Predictions", some, grid(*parts))]


def _confusion(confusion: dict[str, Any]) -> Markup:
    """Return the confusion matrix as a table; the more rows a cell holds, the darker it is."""
    labels, counts = confusion["labels"], confusion["counts"]
    title = "Rows are true classes, columns predicted ones; mistakes are coloured, the most frequent most strongly."
    if confusion["n_classes"] > len(labels):
        title = f"The {len(labels)} most often confused of {count(confusion['n_classes'])} classes. {title}"
    most = max((n for i, line in enumerate(counts) for j, n in enumerate(line) if i != j), default=0)
    names = [labelled(label, _LONGEST_IN_MATRIX) for label in labels]
    lines = []
    for i, line in enumerate(counts):
        cells = [_confusion_cell(n, i == j, most, labels[i], labels[j]) for j, n in enumerate(line)]
        lines.append(tag("tr", tag("th", names[i], scope="row"), join(cells)))
    head = tag("tr", tag("td", class_="corner"), join(tag("th", name, scope="col") for name in names))
    content = tag("table", tag("thead", head), tag("tbody", join(lines, "\n")), class_="confusion")
    return tag("div", tag("h3", "Confusion matrix"), scrolling(title, content))


def _confusion_cell(n: int, is_right: bool, most: int, true: str, predicted: str) -> Markup:
    """Return a cell of the confusion matrix."""
    tooltip = f"{true} taken for {predicted}: {count(n)}"
    if is_right:
        return tag("td", count(n), class_="right", title=f"{true} recognised: {count(n)}")
    if not n:
        return tag("td", class_="zero", title=tooltip)
    # The square root keeps rare mistakes visible beside frequent ones.
    share = (n / most) ** 0.5
    kind = "strong" if share > 0.6 else None
    return tag("td", count(n), class_=kind, style=f"--share:{share:.2f}", title=tooltip)


def _classes(classes: list[dict[str, Any]], is_weighted: bool) -> Markup:
    """Return a table of precision and recall."""
    title = "Precision: the share of rows predicted as a class that belong to it. Recall: the share of its rows found."
    title += " Both are shares of the weights." if is_weighted else ""
    shown = classes
    if len(classes) > _MOST_CLASSES:
        shown = sorted(classes, key=lambda line: 2.0 if line["recall"] is None else line["recall"])[:_MOST_CLASSES]
        title = f"The {_MOST_CLASSES} of {count(len(classes))} classes with the lowest recall. {title}"
    rows = [
        [labelled(line["label"]), percent(line["precision"]), percent(line["recall"]), count(line["rows"])]
        for line in shown
    ]
    content = table(title, ["class", "precision", "recall", "rows"], rows, is_tall=len(shown) > 12)
    return tag("div", tag("h3", "Classes"), content)


def _mistakes(mistakes: list[dict[str, Any]]) -> Markup:
    """Return the mistakes that the model was surest of."""
    if not mistakes:
        return tag("p", "There are none: all test rows are predicted right.")
    has_pictures = "picture" in mistakes[0]
    intro = "The predicted class with its probability, and the true class, of each row"
    shown = ", shown as a picture." if has_pictures else ", with the columns that are furthest from their mean."
    items = join((_mistake(line) for line in mistakes), "\n")
    return join([tag("p", intro, shown), tag("ul", items, class_="mistakes" if has_pictures else "mistakes rows")])


def _mistake(line: dict[str, Any]) -> Markup:
    """Return a mistake, with its picture or its columns."""
    told = f"test row {line['row']}: {line['true']} taken for {line['predicted']}"
    return tag(
        "li",
        tag("img", src=png(line["picture"]), alt=told) if "picture" in line else None,
        tag("div", tag("b", labelled(line["predicted"])), f" {percent(line['probability'])}"),
        tag("div", "true: ", labelled(line["true"])),
        _columns(line["columns"]) if "columns" in line else None,
        title=told,
    )


def _columns(columns: list[list[Any]]) -> Markup:
    """Return a table of the columns of a row; the tooltip says how unusual each is."""
    lines = [
        tag(
            "tr",
            tag("th", labelled(name), scope="row"),
            tag("td", as_given(value), class_="number"),
            title=f"{number(deviations, 2)} standard deviations from the mean",
        )
        for name, value, deviations in columns
    ]
    return tag("table", tag("tbody", join(lines)))
