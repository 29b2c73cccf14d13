"""Chromium shows the page: without a complaint, within its width, in light, dark and print."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, report
from tests.report.browser import CHROMIUM, Browser
from tests.report.examples import classifier_run, labelled, regressor_run

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def pictures():
    X, y = labelled(400, 3, 64)
    X = np.abs(X)
    model = classifier_run(width=64).model.fit(X[:300], y[:300])
    return report.Run(model=model, X_test=X[300:], y_test=y[300:])


def long_names():
    names = ["W" * 300, "two words " * 30, "short"] + [f"class number {i}" for i in range(25)]
    return classifier_run(n_classes=28, names=names, data="d" * 400, command="craftmaps " + "c" * 900)


def searched():
    X, y = labelled(200, 3, 6)
    return report.Run(model=CraftClassifier(n_components=48, random_state=0).fit(X, y))


RUNS = {
    "search": searched,
    "classes": classifier_run,
    "many classes with long names": long_names,
    "pictures": pictures,
    "targets": lambda: regressor_run(3),
    "no test rows": lambda: classifier_run(X_test=None, y_test=None),
}

# What sticks out of the page, but for what its own box scrolls.
STRAY = """
[...document.querySelectorAll('main *')]
    .filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 90))
"""
# Text that sticks out of its plot, or that lies on other text of it.
OUTSIDE = """
[...document.querySelectorAll('svg')].flatMap(svg => {
    const box = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
    const out = texts.filter(([_, b]) =>
        b.left < box.left - 2 || b.right > box.right + 12 || b.bottom > box.bottom + 2 || b.top < box.top - 2);
    const over = texts.filter(([_, a], i) => texts.some(([_, b], j) => i < j &&
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4));
    return [...out, ...over].map(([text, _]) => text);
})
"""
# Strips of a round that do not share its axis, labels of an axis that overlap, and rows whose texts do.
ASKEW = """
[...document.querySelectorAll('.round')].flatMap(round => {
    const box = e => e.getBoundingClientRect();
    const strips = [...round.querySelectorAll('ol .strip, .head .strip, summary .strip')].filter(e => box(e).width);
    const askew = strips.filter(e => Math.abs(box(e).left - box(strips[0]).left) > .5 ||
        Math.abs(box(e).width - box(strips[0]).width) > .5).map(e => e.parentElement.textContent);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const groups = [[...round.querySelectorAll('.head .strip span, .head .time')],
        ...[...round.querySelectorAll('li, summary')].map(e => [...e.querySelectorAll('.name, .error, .time')])];
    const over = groups.flatMap(group => group.filter((a, i) => group.some((b, j) => i < j && meet(box(a), box(b)))));
    return [...askew, ...over.map(e => e.textContent)];
})
"""


@pytest.fixture(scope="module", params=RUNS)
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "page.html"
    report.write(path, RUNS[request.param]())
    return path


@pytest.mark.parametrize("width", [390, 1400])
def test_page_fits_its_window_and_draws_its_plots(browser, page, width):
    browser.open(page, width)
    assert browser.messages == []
    assert [address for address in browser.requests if not address.startswith("data:")] == [page.as_uri()]
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(STRAY) == []
    sizes = browser.value(
        "[...document.querySelectorAll('svg')].map(e => [e.clientWidth, e.clientHeight, e.querySelectorAll("
        "'.line, .bar, .cloud').length])"
    )
    assert sizes
    assert all(w > 250 and h > 150 and marks for w, h, marks in sizes)
    smallest = "Math.min(...[...document.querySelectorAll('svg')].map(e => 12.5 * e.clientWidth / 420))"
    assert browser.value(smallest) >= 10  # pixels of the smallest text


def test_broken_pictures_are_noticed(browser, page):
    browser.open(page, 1400)
    assert browser.value("[...document.images].every(e => e.complete && e.naturalWidth === 8)")


def test_text_of_plots_stays_inside_them_and_apart(browser, page):
    browser.open(page, 1400)
    assert browser.value(OUTSIDE) == []


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_candidates_of_the_search_share_an_axis(browser, tmp_path, width):
    report.write(tmp_path / "page.html", searched())
    browser.open(tmp_path / "page.html", width)
    assert browser.value("document.querySelectorAll('.round .strip').length") > 20
    assert browser.value(ASKEW) == []
    browser.value("document.querySelectorAll('details').forEach(e => { e.open = true })")
    assert browser.value("document.querySelector('details li').clientHeight") > 10
    assert browser.value(ASKEW) == []
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_dark_mode_changes_colours_and_keeps_them_readable(browser, page):
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    shades = {}
    for scheme in ("light", "dark"):
        browser.open(page, 1400, scheme=scheme)
        shades[scheme] = [
            np.mean([int(part) for part in colour.strip("rgb()").split(",")]) for colour in browser.value(colours)
        ]
    assert shades["light"][0] > 240
    assert shades["light"][1] < 60
    assert shades["dark"][0] < 60
    assert shades["dark"][1] > 200


def test_it_prints(browser, page):
    browser.open(page, 1400, scheme="dark")
    assert browser.pdf().startswith(b"%PDF")
