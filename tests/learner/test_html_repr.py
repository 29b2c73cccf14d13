"""The table of choices says what was chosen, computes nothing and leaves scikit-learn's diagram alone."""

import re
from html.parser import HTMLParser

import pytest
from sklearn import config_context
from sklearn.kernel_approximation import Nystroem

from craftmaps import CraftClassifier, CraftRegressor, Polynomial, load_model
from craftmaps.learners.html_repr import ChoicesInHtml, fitted_html
from tests.report.examples import QUICK, labelled

X, Y = labelled(200, 3, 6)
TARGETS = X[:, 0] * X[:, 1]


class Table(HTMLParser):
    """The rows of a table, by their first cell; elements that are not closed in order are an error."""

    def __init__(self, html):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(html)
        self.close()
        assert not self.open
        self.rows = {name: tuple(rest) for name, *rest in self.cells}
        assert len(self.rows) == len(self.cells)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        elif tag in ("th", "td"):
            self.cells[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells[-1][-1] += data


if issubclass(CraftClassifier, ChoicesInHtml):
    Shown = CraftClassifier
else:

    class Shown(ChoicesInHtml, CraftClassifier):
        """A classifier that notebooks show with its choices."""


def test_what_was_given():
    model = CraftClassifier(**QUICK).fit(X, Y)
    rows = Table(fitted_html(model)).rows
    assert rows["kernel"] == ("Polynomial(degree=2, coef0=1.0, gamma=1.0)", "given")
    assert rows["metric"] == ("rows as they are", "given")
    assert rows["features"] == ("48 of CraftMap", "")
    assert rows["alpha"] == (f"{model.alpha_:.3g}", "chosen")
    results = model.cv_results_
    assert rows["held-out error"][0] == f"{100 * results['error']:.2f} % of {results['n_rows']} rows"
    assert rows["learned from"] == ("200 rows of 6 columns, 3 classes", "")
    assert "search" not in rows


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_what_was_chosen(kind):
    make, y = (CraftClassifier, Y) if kind == "classes" else (CraftRegressor, TARGETS)
    model = make(n_components=48, random_state=0).fit(X, y)
    rows = Table(fitted_html(model)).rows
    assert {rows[name][1] for name in ("kernel", "metric", "length of rows", "alpha")} == {"chosen"}
    trials = model.choices_.trials
    (taken,) = [trial for trial in trials if trial.is_taken]
    value, source = rows["search"]
    assert value.startswith(f"{taken.name}: error {(100 if kind == 'classes' else 1) * taken.error:.3g} ±")
    assert source == f"taken from {len({trial.name for trial in trials})} candidates"
    if model.features_.feature_map is None:
        assert rows["kernel"][0] == "none, the model is linear"
    else:
        assert f"degree={model.choices_.kernel.degree}" in rows["kernel"][0]


def test_nothing_before_anything_is_chosen():
    assert fitted_html(CraftClassifier()) == ""
    waiting = CraftClassifier().partial_fit(X[:20], Y[:20])
    assert fitted_html(waiting) == ""


def test_nothing_is_computed():
    model = CraftClassifier(**QUICK).fit(X, Y).partial_fit(X[:50], Y[:50])
    rows = Table(fitted_html(model)).rows
    assert model._model is None
    assert "kernel" in rows
    assert "alpha" not in rows
    settled = CraftClassifier(n_components=16, random_state=0).settle(X, Y)
    assert "search" in Table(fitted_html(settled)).rows
    assert settled._model is None


def test_a_model_from_a_file_and_one_without_cross_validation(tmp_path):
    model = CraftRegressor(**{**QUICK, "alphas": 1e-3, "cv": None}).fit(X, TARGETS)
    rows = Table(fitted_html(model)).rows
    assert rows["alpha"][1] == "given"
    assert "held-out error" not in rows
    model.save(tmp_path / "model.craft")
    loaded = Table(fitted_html(load_model(tmp_path / "model.craft"))).rows
    assert loaded["alpha"] == (rows["alpha"][0], "from a file")
    assert loaded["kernel"][0] == rows["kernel"][0]


@pytest.mark.parametrize("feature_map", [None, "landmarks", Nystroem(n_components=10)])
def test_other_maps(feature_map):
    model = CraftClassifier(**{**QUICK, "feature_map": feature_map}).fit(X, Y)
    rows = Table(fitted_html(model)).rows
    assert rows["features"][0].startswith(f"{model.coef_.shape[-1]} ")


def test_text_is_escaped_and_shortened():
    class Sly(Polynomial):
        def __init__(self, degree=2, coef0=1.0, gamma=1.0):
            super().__init__(degree, coef0, gamma)

    Sly.__name__ = "<script>" + 300 * "x"
    html = fitted_html(CraftClassifier(**{**QUICK, "kernel": Sly()}).fit(X, Y))
    assert "<script>" not in html
    assert max(map(len, re.split(r"[<>]", html))) < 400


def test_the_diagram_of_scikit_learn_stays():
    plain, shown = CraftClassifier(**QUICK), Shown(**QUICK)
    assert fitted_html(shown) == ""
    assert "sk-container" in shown._repr_html_()
    shown.fit(X, Y)
    plain.fit(X, Y)
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == repr(shown)
    for html in (bundle["text/html"], shown._repr_html_()):
        assert "sk-container" in html
        assert html.endswith(fitted_html(shown))
    assert "<th" in fitted_html(plain)


def test_without_diagrams_there_is_no_html():
    shown = Shown(**QUICK).fit(X, Y)
    with config_context(display="text"):
        assert list(shown._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(shown, "_repr_html_")
