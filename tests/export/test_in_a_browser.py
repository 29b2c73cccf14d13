"""Chromium shows pages: without a complaint or a request, within their width, and they predict as models do."""

import csv
import io
import json
import time

import numpy as np
import pytest

from craftmaps import CraftClassifier, Polynomial, datasets, export
from tests.export import models
from tests.export.tables import matrix, table_model
from tests.export.test_page import EVIL
from tests.report.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

STRAY = "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
# Draws a line through points of the square, given as shares of its side.
DRAW = """
((points) => {
  const canvas = document.getElementById('draw'), r = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};
  const send = (type, [x, y]) => canvas.dispatchEvent(new PointerEvent(type,
    { clientX: r.left + x * r.width, clientY: r.top + y * r.height, pointerId: 1, bubbles: true }));
  send('pointerdown', points[0]);
  points.forEach((p) => send('pointermove', p));
  send('pointerup', points[0]);
})
"""
DROP = """
((text) => {
  const files = new DataTransfer();
  files.items.add(new File([text], 'rows.csv'));
  document.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true }));
})
"""

# Keeps what the page makes a link to: its policy forbids to fetch that.
KEEP = """
(() => {
  const make = URL.createObjectURL;
  window.kept = null;
  URL.createObjectURL = (blob) => { blob.text().then((text) => { window.kept = text; }); return make(blob); };
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    data, path = datasets.load("digits"), tmp_path_factory.mktemp("page") / "digits.html"
    model = CraftClassifier(Polynomial(3), 256, metric=None, random_state=0).fit(data.X_train, data.y_train)
    export.page(model, path, X_test=data.X_test, y_test=data.y_test)
    return model, data, path


def text_of(browser, name):
    return browser.value(f"document.getElementById('{name}').textContent")


def answers(browser, text):
    """Drop a file and return the lines that are offered to be saved."""
    browser.value(KEEP)
    browser.value(f"{DROP}({json.dumps(text)})")
    deadline = time.monotonic() + 300
    while browser.value("window.kept") is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return list(csv.reader(io.StringIO(browser.value("window.kept"))))


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_pages_are_quiet_and_within_their_width(browser, digits, width, scheme):
    browser.open(digits[2], width, scheme=scheme)
    assert browser.requests == [digits[2].as_uri()]
    assert browser.messages == []
    assert browser.value(STRAY) == 0
    assert browser.value("document.querySelectorAll('#examples button').length") == 12


def test_examples(browser, digits):
    model, data, path = digits
    browser.open(path, 1000)
    places = np.unique(np.linspace(0, len(data.X_test) - 1, 12).astype(int))
    for i, place in enumerate(places):
        browser.value(f"document.querySelectorAll('#examples button')[{i}].click()")
        assert text_of(browser, "answer") == str(model.predict(data.X_test[[place]])[0])
    assert "WebAssembly" in text_of(browser, "time")
    sure = float(text_of(browser, "sure").split("\N{NO-BREAK SPACE}")[0])
    assert abs(sure - 100 * model.predict_proba(data.X_test[[places[-1]]]).max()) < 0.2


def test_drawing(browser, digits):
    browser.open(digits[2], 1000)
    browser.value(f"{DRAW}([[.5, .15], [.5, .3], [.5, .5], [.5, .7], [.5, .85]])")
    assert text_of(browser, "answer") == "1"
    bars = browser.value("[...document.querySelectorAll('#bars i')].map((e) => e.style.width)")
    assert len(bars) == 10
    assert sum(float(bar.rstrip("%")) for bar in bars) == pytest.approx(100, abs=1e-3)
    browser.value("document.getElementById('clear').click()")
    assert text_of(browser, "answer") == "\N{EN DASH}"
    assert browser.messages == []


def test_drawing_by_keyboard(browser, digits):
    browser.open(digits[2], 1000)
    press = "document.getElementById('draw').dispatchEvent(new KeyboardEvent('keydown', {key: '%s', cancelable: true}))"
    for key in [*["ArrowUp"] * 8, " ", *["ArrowDown"] * 16]:
        browser.value(press % key)
    assert text_of(browser, "answer") == "1"
    browser.value(press % "Escape")
    assert text_of(browser, "answer") == "\N{EN DASH}"


def test_files_with_and_without_webassembly(browser, digits, tmp_path):
    model, data, path = digits
    text = "\n".join(",".join(map(str, row.tolist())) for row in data.X_test)
    plain = tmp_path / "plain.html"
    plain.write_text(path.read_text().replace(" 'wasm-unsafe-eval'", ""))
    for file, name in ((path, "WebAssembly"), (plain, "JavaScript")):
        browser.open(file, 1000)
        found = answers(browser, text)
        assert found[0] == ["prediction", "probability"]
        assert [int(line[0]) for line in found[1:]] == model.predict(data.X_test).tolist()
        best = model.predict_proba(data.X_test).max(axis=1)
        np.testing.assert_allclose([float(line[1]) for line in found[1:]], best, rtol=0, atol=2e-3)
        browser.value("document.querySelector('#examples button').click()")
        assert name in text_of(browser, "time")


def test_a_form_of_a_table(browser, tmp_path):
    model, rows = table_model(tmp_path)
    export.page(model, tmp_path / "table.html")
    browser.open(tmp_path / "table.html", 390)
    assert browser.value("[...document.querySelectorAll('#form label > span')].map((e) => e.textContent)") == [
        "age", "income", "city", "member", "since", "name",
    ]  # fmt: skip
    assert browser.value("document.querySelectorAll('#form label').length") == browser.value(
        "[...document.querySelectorAll('#form label')].filter((l) => l.control).length"
    )
    X, lines = matrix(model, rows), rows.read_text(encoding="utf-8").splitlines()[1:]
    cells = next(csv.reader([lines[0]]))
    for i, cell in enumerate(cells[:6]):
        value = {"true": "true", "FALSE": "false", "NA": ""}.get(cell, cell)
        browser.value(
            f"document.getElementById('f{i}').value = {json.dumps(value)}; "
            f"document.getElementById('f{i}').dispatchEvent(new Event('input'))"
        )
    assert text_of(browser, "answer") == model.predict(X[:1])[0]
    browser.value("document.getElementById('f0').value = 'old'; document.getElementById('f0').oninput()")
    assert text_of(browser, "problem") == "age must be a finite number, got old."
    assert text_of(browser, "answer") == "\N{EN DASH}"
    found = answers(browser, rows.read_text(encoding="utf-8"))
    assert [line[0] for line in found[1:]] == model.predict(X).tolist()
    assert browser.messages == []


def test_empty_fields_are_refused_in_words(browser, tmp_path):
    export.page(models.fitted("craft"), tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 1000)
    browser.value("document.getElementById('f0').value = '1'; document.getElementById('f0').oninput()")
    assert text_of(browser, "problem") == "x1 is empty: a number is expected."


def test_numbers(browser, tmp_path):
    model, X = models.fitted("regressor"), models.unseen_rows()
    export.page(model, tmp_path / "page.html", precision="float32")
    browser.open(tmp_path / "page.html", 1000)
    found = answers(browser, "\n".join(",".join(map(repr, row.tolist())) for row in X))
    np.testing.assert_allclose(np.array(found[1:], float), model.predict(X), rtol=0, atol=1e-4)


def test_bad_files_are_refused_with_the_line(browser, digits):
    browser.open(digits[2], 1000)
    good = ",".join(["1"] * 64)
    browser.value(f"{DROP}({json.dumps(good + chr(10) + '1,2')})")
    deadline = time.monotonic() + 300
    while not text_of(browser, "told").startswith("Line") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert text_of(browser, "told") == "Line 2: must have 64 numbers, got 2."


def test_hostile_labels(browser, tmp_path):
    X, y, _ = models.rows()
    labels = np.array(EVIL)
    model = models._classifier().fit(X, labels[y])
    export.page(model, tmp_path / "evil.html", title=EVIL[0], X_test=X, y_test=labels[y])
    browser.open(tmp_path / "evil.html", 1000)
    assert browser.value("document.querySelectorAll('script').length") == 2
    assert browser.value("document.querySelectorAll('img').length") == 0
    names = browser.value("[...document.querySelectorAll('#bars li > span:first-child')].map((e) => e.textContent)")
    assert names == sorted(EVIL)
    assert browser.messages == []
