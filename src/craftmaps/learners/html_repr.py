"""What a learner has chosen, as a table of HTML for notebooks."""

import html
from typing import Any

from sklearn.base import is_classifier

from craftmaps.kernels import DotProductKernel
from craftmaps.learners.choices import Choices, is_auto
from craftmaps.learners.trial_rounds import has_overflowed, label_of, rounds_of
from craftmaps.shaping.row_shaping import described

_LONGEST = 160
_TABLE = "border-collapse:collapse;margin:.5em 0;font-size:.9em;font-variant-numeric:tabular-nums"
_CELL = "text-align:left;vertical-align:top;padding:.15em 1.2em .15em 0;border-top:1px solid rgba(128,128,128,.3)"
_QUIET = ";opacity:.65"

Line = tuple[str, str, str]


class ChoicesInHtml:
    """Let notebooks show the choices of a fitted learner below the diagram of scikit-learn."""

    @property
    def _repr_html_(self) -> Any:
        diagram = super()._repr_html_  # type: ignore[misc]  # an AttributeError unless diagrams are displayed
        return lambda: diagram() + fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += fitted_html(self)
        return bundle


def fitted_html(estimator: Any) -> str:
    """Return a table of what a learner was given or has chosen, and how well it did; "" before anything is chosen.

    Nothing is computed for it: a learner that was given rows since it was last solved shows its choices alone.

    Examples
    --------
    >>> from craftmaps import CraftClassifier, Polynomial, datasets
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0)
    >>> fitted_html(model)
    ''
    >>> "Polynomial(degree=3" in fitted_html(model.fit(digits.X_train, digits.y_train))
    True
    """
    learned, model = getattr(estimator, "_pass", None), getattr(estimator, "_model", None)
    if learned is None and model is None:
        return ""
    choices = estimator.choices_
    if any(map(is_auto, (choices.kernel, choices.metric, choices.normalize))):
        return ""
    lines = [*_choice_lines(estimator, choices), *_search_lines(estimator, choices)]
    if model is not None:
        lines += _model_lines(estimator, model)
    rows = "".join(_row(*line) for line in lines)
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'


def _choice_lines(estimator: Any, choices: Choices) -> list[Line]:
    """Return the choices, and whether each was made by the library."""

    def source(name: str) -> str:
        return "chosen" if is_auto(getattr(estimator, name, None)) else "given"

    is_linear = choices.feature_map is None
    lines = [
        ("kernel", "none, the model is linear" if is_linear else _kernel_name(choices.kernel), source("kernel")),
        ("metric", described(choices.metric), source("metric")),
        ("length of rows", "unit length" if choices.normalize is True else "one common scale", source("normalize")),
    ]
    names = choices.category_names(getattr(estimator, "feature_names_in_", None))
    if names:
        lines.append(("categories", f"columns {', '.join(names)}", source("categories")))
    if choices.linear_columns is True:
        lines.append(("beside the map", "the columns themselves", source("linear_columns")))
    return lines


def _model_lines(estimator: Any, model: Any) -> list[Line]:
    """Return features, penalty, held-out error and rows of a model that is solved."""
    n_features, results = model.coef.shape[-1], getattr(estimator, "_results", None)
    feature_map = model.features.feature_map
    of = "columns" if feature_map is None else f"of {type(feature_map).__name__}"
    lines = [
        ("features", f"{n_features:,} {of}", ""),
        ("alpha", f"{model.alpha:.3g}", "chosen" if results else "given"),
    ]
    if getattr(estimator, "_pass", None) is None and results is None:
        lines[1] = ("alpha", f"{model.alpha:.3g}", "from a file")
    if results is not None and "error" in results:
        error, n_rows = float(results["error"]), int(results["n_rows"])
        shown = f"{100 * error:.2f} %" if is_classifier(estimator) else f"{error**0.5:.4g} (root mean square)"
        lines.append(("held-out error", f"{shown} of {n_rows:,} rows", "cross-validated"))
    classes = f", {len(estimator.classes_):,} classes" if is_classifier(estimator) else ""
    lines.append(("learned from", f"{model.n_rows:,} rows of {estimator.n_features_in_:,} columns{classes}", ""))
    return lines


def _search_lines(estimator: Any, choices: Choices) -> list[Line]:
    """Return the candidate of the search that was taken, and among how many."""
    found = next((found for found in rounds_of(choices.trials) if found.taken is not None), None)
    if found is None:
        return []
    taken = found.trials[found.taken or 0]
    unit, sign = (100, " %") if is_classifier(estimator) else (1, "")
    error = f"{unit * taken.error:.3g} ± {unit * taken.standard_error:.2g}{sign}"
    shown = label_of(taken) if has_overflowed(taken) else f"{label_of(taken)}: error {error}"
    n_names = len({label_of(trial) for trial in choices.trials})
    return [("search", shown, f"taken from {n_names:,} candidates" if n_names > 1 else "the only candidate")]


def _kernel_name(kernel: Any) -> str:
    """Write a kernel with all its parameters, or the parameter that stands for one."""
    if not isinstance(kernel, DotProductKernel):
        return str(kernel)
    return f"{type(kernel).__name__}({', '.join(f'{name}={value}' for name, value in vars(kernel).items())})"


def _row(name: str, value: str, source: str) -> str:
    """Return a row of the table."""
    value = value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    cells = (f'<td style="{_CELL}{extra}">{html.escape(text)}</td>' for text, extra in ((value, ""), (source, _QUIET)))
    return f'<tr><th scope="row" style="{_CELL};font-weight:600">{html.escape(name)}</th>{"".join(cells)}</tr>'
