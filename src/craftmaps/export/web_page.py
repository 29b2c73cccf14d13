"""Models as web pages: one file that predicts without a request."""

import base64
import hashlib
import html
import json
import os
from pathlib import Path
from string import Template
from typing import Any

from craftmaps._system.atomic_files import new_file
from craftmaps.export.packing import PRECISIONS, to_plain
from craftmaps.export.pictures import check_rows, examples_of, picture_of
from craftmaps.export.portable import Recipe
from craftmaps.export.recipe import facts_of, recipe_of
from craftmaps.export.scripts import predictor_script, simd_module, small_script, small_style, web_file


def page(
    model: Any,
    path: str | os.PathLike,
    *,
    X_test: Any = None,
    y_test: Any = None,
    title: str | None = None,
    picture: bool | str = "auto",
    precision: str = "int16",
) -> None:
    """Write a learner as a web page that predicts in the browser, from a file and without a request.

    Where rows are square pictures there is a square to draw on, else a form made of the columns of the table that the
    model learned from; both take files of comma-separated values.

    Parameters
    ----------
    model : CraftClassifier or CraftRegressor
        Fitted.
    path : path
        Written whole or not at all.
    X_test : array of shape (n_rows, n_features) or None, default=None
        Rows of which a dozen come with the page, to be tried. Shades and margins of pictures are taken from them too.
    y_test : array of shape (n_rows,) or None, default=None
        Their labels.
    title : str or None, default=None
    picture : bool or "auto", default="auto"
        Whether rows are square pictures. "auto" says so of at least 8 x 8 numbers that are not named one by one.
    precision : {"int16", "float32", "float64"}, default="int16"
        How weights and axes are stored; those of landmarks, which cancel, in float32 at least.

    Examples
    --------
    >>> import os, tempfile
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, export
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 64, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export.page(model, os.path.join(folder, "digits.html"), X_test=digits.X_test, y_test=digits.y_test)
    ...     os.path.getsize(os.path.join(folder, "digits.html")) < 40_000
    True
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(map(repr, PRECISIONS))}, got {precision!r}.")
    recipe = recipe_of(model)
    if recipe.head is None:
        raise TypeError("model must be a CraftClassifier or CraftRegressor to become a page, got a map.")
    X_test = None if X_test is None else check_rows(X_test, recipe.n_features)
    shown = picture_of(recipe, X_test, picture)
    data = {
        "recipe": _plain(recipe, precision),
        "simd": simd_module() if recipe.features["kind"] == "maclaurin" else None,
        "picture": shown,
        "examples": None if X_test is None else examples_of(X_test, y_test),
        "decimal": bool(recipe.columns and recipe.columns.get("decimal") == ","),
        "target": _target(recipe),
    }
    heading = title or ("Draw a picture" if shown else "Fill in a row")
    text = page_text(recipe, data, heading, facts_of(model))
    with new_file(Path(path)) as new:
        new.write_text(text, encoding="utf-8")


def page_text(recipe: Recipe, data: dict[str, Any], title: str, facts: list[tuple[str, str]]) -> str:
    """Return the page. What comes from a model is escaped, or data that scripts set as text."""
    is_drawn = data["picture"] is not None
    form = "draw.js" if is_drawn else "form.js"
    parts = ["page.js", "cells.js", "table.js" if _is_table(recipe) else "numbers.js", form, "csv.js"]
    parts += ["examples.js", f"examples_{form}"] if data["examples"] is not None else []
    script = "\n".join([predictor_script(recipe), *map(web_file, parts)])
    script = f"(()=>{{'use strict';{small_script(script)}}})()"
    style = small_style(web_file("page.css") + web_file("draw.css" if is_drawn else "form.css"))
    return Template(web_file("page.html")).substitute(
        policy=_policy(script, style),
        title=html.escape(title),
        style=style,
        lede=html.escape(_lede(recipe)),
        input=web_file("input_draw.html" if is_drawn else "input_form.html"),
        facts="".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in facts),
        # So no text can end the element that it stands in.
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script=script,
    )


def _policy(script: str, style: str) -> str:
    """Return what the page may do: run its own script, and nothing else."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{digests[0]}' 'wasm-unsafe-eval'; style-src 'sha256-{digests[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _plain(recipe: Recipe, precision: str) -> dict[str, Any]:
    """Return the recipe as the page has it: columns without names are counted alone."""
    plain = to_plain(recipe, precision)
    return plain if _is_table(recipe) else plain | {"columns": None}


def _is_table(recipe: Recipe) -> bool:
    """Tell whether rows have columns with names."""
    return recipe.columns is not None and recipe.columns.get("n_cells") is None


def _target(recipe: Recipe) -> int | None:
    """Return the place of the target in files without names, which is passed over."""
    target = None if recipe.columns is None else recipe.columns.get("target")
    return target if isinstance(target, int) else None


def _lede(recipe: Recipe) -> str:
    """Return what the model does in one sentence."""
    inputs = f"{recipe.n_features:,} numbers"
    columns = recipe.columns["features"] if recipe.columns is not None and _is_table(recipe) else []
    if columns and [column["kind"] for column in columns] != ["list"]:  # a column of lists is the numbers in it
        inputs = f"{len(columns):,} column{'s' * (len(columns) > 1)}"
    n = recipe.n_outputs
    if recipe.classes is not None:
        return f"{inputs} in, one of {n:,} classes out."
    return f"{inputs} in, {f'{n:,} numbers' if n > 1 else 'a number'} out."
