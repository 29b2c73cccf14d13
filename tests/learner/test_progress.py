"""What `verbose=1` shows: how much is done of how much, and how long the rest will take."""

import io
import itertools
import re
import sys
import types

import numpy as np
import pytest

from craftmaps import CraftClassifier, Polynomial, streams
from craftmaps._system import progress
from craftmaps._system.progress import Progress
from craftmaps.learners.blocks import Extent

SETTINGS = {
    "kernel": Polynomial(2),
    "n_components": 16,
    "metric": None,
    "alphas": [1e-2],
    "cv": 2,
    "batch_rows": 100,
    "random_state": 0,
    "verbose": 1,
}
X = np.random.default_rng(0).normal(size=(450, 5)).astype(np.float32)
Y = np.arange(450) % 3
PARTS = [slice(start, start + 100) for start in range(0, 450, 100)]


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self):
        return True


@pytest.fixture
def now(monkeypatch):
    """A clock that is ten seconds later at every look."""
    seconds = iter(range(0, 1_000_000, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(seconds)))


def lines(capsys):
    return capsys.readouterr().err.splitlines()


def test_rows_of_an_array_have_a_total(capsys, now):
    CraftClassifier(**SETTINGS).fit(X, Y)
    shown = [line for line in lines(capsys) if "rows/s" in line]
    assert re.fullmatch(r"100 of 450 rows, 22 %, [\d,]+ rows/s, .+ left", shown[0])
    assert re.fullmatch(r"450 of 450 rows, 100 %, [\d,]+ rows/s, 0.0 s left", shown[-1])


def test_rows_of_a_stream_have_a_total(capsys, now, tmp_path):
    np.savez(tmp_path / "rows.npz", X=X, y=Y)
    CraftClassifier(**SETTINGS).fit_stream(streams.open(tmp_path / "rows.npz", batch_rows=100))
    shown = [line for line in lines(capsys) if "rows/s" in line]
    assert [line.split(" rows")[0] for line in shown[:2]] == ["100 of 450", "200 of 450"]
    assert shown[0].endswith(" left")


def test_the_total_of_blocks_is_an_estimate_until_the_last(capsys, now):
    CraftClassifier(**SETTINGS).fit_stream([(X[part], Y[part]) for part in PARTS])
    shown = [line for line in lines(capsys) if "rows/s" in line]
    assert shown[0].startswith("100 of about 500 rows, 20 %")
    assert shown[-1].startswith("450 of 450 rows, 100 %")


def test_blocks_that_do_not_tell_have_no_total(capsys, now):
    CraftClassifier(**SETTINGS).fit_stream((X[part], Y[part]) for part in PARTS)
    shown = [line for line in lines(capsys) if "rows/s" in line]
    assert re.fullmatch(r"100 rows, [\d,]+ rows/s", shown[0])


def test_bytes_stand_in_for_rows_where_there_are_many():
    class Stream:
        total_bytes, bytes_read, n_rows = 10**9, 25 * 10**7, None

    assert Extent(Stream()).share(1, 100) == 0.25
    Stream.total_bytes = 10**6
    assert Extent(Stream()).share(1, 100) is None


def test_rows_of_an_earlier_run_do_not_count_as_fast(capsys, monkeypatch):
    seconds = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds)
    shown = Progress(1)
    shown.skip(1000, 0.5)
    seconds = 10.0
    shown.show(1200, 0.6, 2000)
    assert lines(capsys) == ["1,200 of 2,000 rows, 60 %, 20 rows/s, 40 s left"]


def test_rows_that_are_read_again_have_a_rate_of_their_own(capsys, monkeypatch):
    """As where a Gram matrix turns out to be the better way after all."""
    seconds = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds)
    shown = Progress(1)
    on_rows = shown.out_of(2000)
    seconds = 100.0
    on_rows(1000)
    on_rows = shown.out_of(2000)
    seconds = 110.0
    on_rows(1000)
    assert lines(capsys)[-1] == "1,000 of 2,000 rows, 50 %, 100 rows/s, 10 s left"


def test_a_log_gets_lines_now_and_then(capsys, monkeypatch):
    """Not a terminal: nothing is written over, and lines come when something else begins or after five seconds."""
    seconds = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds)
    with progress.shown(1) as shown:
        for i in range(120):
            seconds = i / 10
            shown.show(i + 1, (i + 1) / 120, 120)
        progress.tell("Solving")
    text = capsys.readouterr().err
    assert "\r" not in text
    assert [line.split(" rows")[0] for line in text.splitlines()[:3]] == ["1 of 120", "51 of 120", "101 of 120"]
    assert text.splitlines()[3:] == ["Solving (12 s so far)", "120 rows in 12 s"]


def test_a_terminal_has_one_line_no_wider_than_it(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "40")
    with progress.shown(1) as shown:
        shown.show(100, 0.5, 200)
        progress.tell("Choosing kernel and metric: " + 40 * "long ")
        progress.tell("Solving")
    first, *written = screen.getvalue().removesuffix("\n").split("\r")
    assert first == ""
    assert all(len(text) < 40 for text in written)
    assert written[-2].rstrip().startswith("Solving (")
    assert written[-1].startswith("100 rows in ")
    assert all(len(later) >= len(text.rstrip()) for text, later in itertools.pairwise(written))


class Notebook:
    """A Jupyter kernel, as far as progress knows one: it keeps what is displayed."""

    def __init__(self, monkeypatch, kernel="a kernel"):
        self.shown, self.n_displays = [], 0
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=kernel)
        display.display = self.display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, bundle, *, raw, display_id):
        assert raw
        assert display_id is True
        self.n_displays += 1
        self.shown.append(bundle)
        return self

    def update(self, bundle, *, raw):
        assert raw
        self.shown.append(bundle)

    @property
    def values(self):
        """How far the bar is each time: None if it is not known, "gone" without a bar."""
        found = []
        for bundle in self.shown:
            value = re.search(r'<progress max="1"(?: value="([\d.]+)")?', bundle["text/html"])
            found.append("gone" if value is None else None if value[1] is None else float(value[1]))
        return found


def test_a_notebook_has_one_bar_that_fills(capsys, now, monkeypatch):
    notebook = Notebook(monkeypatch)
    CraftClassifier(**SETTINGS).fit(X, Y)
    assert capsys.readouterr().err == ""
    assert notebook.n_displays == 1
    shares = [value for value in notebook.values if isinstance(value, float)]
    np.testing.assert_allclose(shares, [0.2222, 0.4444, 0.6667, 0.8889, 1.0, 1.0])
    assert None in notebook.values  # a step, such as the solution, has no share
    assert notebook.values[-1] == "gone"
    assert re.fullmatch(r"450 rows in .+", notebook.shown[-1]["text/plain"])
    for bundle in notebook.shown:
        assert f"<span>{bundle['text/plain']}</span>" in bundle["text/html"]


def test_a_bar_in_a_notebook_is_not_updated_too_often(monkeypatch):
    notebook, seconds = Notebook(monkeypatch), 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds)
    with progress.shown(1) as shown:
        for i in range(1000):
            seconds = i / 1000
            shown.show(i + 1, (i + 1) / 1000, 1000)
    assert 5 <= len(notebook.shown) <= 8


def test_text_in_a_notebook_is_escaped(monkeypatch):
    notebook = Notebook(monkeypatch)
    with progress.shown(1):
        progress.tell("Choosing", "<script>")
    assert "<script>" in notebook.shown[0]["text/plain"]
    assert "<script>" not in notebook.shown[0]["text/html"]


def test_a_bar_in_a_notebook_stops_with_the_run(monkeypatch):
    notebook = Notebook(monkeypatch)

    def fail():
        with progress.shown(1):
            progress.tell("Solving")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert notebook.values == [None, "gone"]
    assert notebook.shown[-1]["text/plain"].startswith("Stopped: Solving")


def test_a_terminal_of_ipython_is_no_notebook(capsys, monkeypatch):
    notebook = Notebook(monkeypatch, kernel=None)
    with progress.shown(1):
        progress.tell("Solving")
    assert notebook.shown == []
    assert lines(capsys)[0].startswith("Solving")


def test_nothing_is_shown_in_a_notebook_unless_asked_for(monkeypatch):
    notebook = Notebook(monkeypatch)
    CraftClassifier(**{**SETTINGS, "verbose": 0}).fit(X, Y)
    assert notebook.shown == []


def test_a_run_that_fails_does_not_say_that_it_is_done(capsys):
    def fail():
        with progress.shown(1) as shown:
            shown.show(100, 0.5, 200)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not any("rows in" in line for line in lines(capsys))
