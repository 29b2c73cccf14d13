"""The picture of the search shows the trials of the model, in order, in their places, and what was taken and why."""

import json
import re
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, Polynomial, load_model, report
from craftmaps.learners.choices import Trial
from craftmaps.learners.trial_rounds import rounds_of
from tests.report.examples import QUICK, classifier_run, labelled, regressor_run
from tests.report.page_text import Page

ITEM = re.compile(
    r'<li(?: class="(?P<kind>\w+)")?><span class="name"><span class="label">(?P<name>[^<]*)</span>(?P<badge>.*?)</span>'
    r'<span class="strip" aria-hidden="true">(?P<strip>.*?)</span><span class="error">(?P<error>[^<]*)</span>'
    r'<span class="time">(?P<time>[^<]*)</span></li>'
)
BAR = re.compile(r'class="bar" style="left:([\d.]+)%;width:([\d.]+)%"')
DOT = re.compile(r'class="dot[ \w]*" style="left:([\d.]+)%"')


class Picture:
    """The rounds of a page, first to last, each a list of matches of ITEM."""

    def __init__(self, tmp_path, run):
        self.numbers = report.write(tmp_path / "page.html", run)
        json.dumps(self.numbers, allow_nan=False)
        raw = (tmp_path / "page.html").read_text(encoding="utf-8")
        self.page = Page(raw)
        self.rounds = [list(ITEM.finditer(part)) for part in reversed(raw.split('<div class="round"')[1:])]

    @property
    def text(self):
        return self.page.text


def with_trials(trials, run=None):
    """Return a run whose model has other trials."""
    run = classifier_run(X_test=None, y_test=None) if run is None else run
    run.model._pass.choices = replace(run.model.choices_, trials=tuple(trials))
    return run


def searched(kind):
    """Return a run of a model that has chosen everything."""
    X, y = labelled(200, 3, 6)
    model = {"classes": CraftClassifier, "numbers": CraftRegressor}[kind](n_components=48, random_state=0)
    return report.Run(model=model.fit(X, y if kind == "classes" else X[:, 0] * X[:, 1] + 0.1 * X[:, 2]))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_every_trial_is_shown_with_its_error_in_its_place(tmp_path, kind):
    run = searched(kind)
    trials = run.model.choices_.trials
    assert len(trials) > 20
    picture = Picture(tmp_path, run)
    rounds, unit = rounds_of(trials), 100 if kind == "classes" else 1
    assert len(rounds) == len(picture.rounds)
    for found, items, plain in zip(rounds, picture.rounds, picture.numbers["choices"]["rounds"], strict=True):
        expected = [t for t in trials if (t.n_rows, t.width) == (found.n_rows, found.width)]
        assert {(t.name, t.error) for t in found.trials} == {(t.name, t.error) for t in expected}
        assert sum(t.seconds for t in found.trials) == pytest.approx(sum(t.seconds for t in expected))
        assert (plain["rows"], plain["width"]) == (found.n_rows, found.width)
        errors = np.array([t.error for t in found.trials])
        assert (np.diff(errors) >= 0).all()
        assert [line["error"] for line in plain["candidates"]] == errors.tolist()
        assert [line["standard_error"] for line in plain["candidates"]] == [t.standard_error for t in found.trials]
        assert [item["name"].replace("\xa0", " ") for item in items] == [t.name for t in found.trials]
        for item, trial in zip(items, found.trials, strict=True):
            value, deviation = re.findall(r"[\d.,]+(?:e-?\d+)?", item["error"])
            digits = 0.51 * 10.0 ** -len(value.partition(".")[2])
            assert float(value.replace(",", "")) == pytest.approx(unit * trial.error, abs=digits)
            assert float(deviation.replace(",", "")) == pytest.approx(unit * trial.standard_error, abs=digits)
        assert_places_fit(items, found.trials)


def assert_places_fit(items, trials):
    """Dots, and both ends of bars, are where one axis has them: linear, or else logarithmic."""
    drawn = []
    for item, trial in zip(items, trials, strict=True):
        if dot := DOT.search(item["strip"]):
            drawn.append((float(dot[1]), trial.error))
            left, width = map(float, BAR.search(item["strip"]).groups())
            drawn += [(left, trial.error - trial.standard_error), (left + width, trial.error + trial.standard_error)]
    places, values = np.array([pair for pair in drawn if 0.01 < pair[0] < 99.9]).T
    assert places.size >= 3
    for of in (np.asarray, np.log):
        line = np.polyfit(of(values), places, 1)
        misfit = np.abs(np.polyval(line, of(values)) - places).max()
        if misfit < 0.05:
            return
    raise AssertionError(f"the places fit no axis: {misfit}")


def test_the_candidate_that_was_taken_is_marked(tmp_path):
    picture = Picture(tmp_path, searched("classes"))
    *others, (taken,) = [[item["name"] for item in items if item["badge"]] for items in picture.rounds]
    assert all(marked == [] for marked in others)
    last = [item["name"] for item in picture.rounds[-1] if item["kind"] == "taken"]
    assert last == [taken]
    assert f"Taken: {taken}".replace("\xa0", " ") in picture.text


@pytest.mark.parametrize(("kernel", "metric"), [("auto", None), (Polynomial(2), "auto"), ("auto", "auto")])
def test_the_candidate_that_was_taken_is_the_models(tmp_path, kernel, metric):
    X, y = labelled(120, 3, 6)
    model = CraftClassifier(**{**QUICK, "kernel": kernel, "metric": metric}).fit(X, y)
    rounds = Picture(tmp_path, report.Run(model=model)).numbers["choices"]["rounds"]
    (name,) = [found["candidates"][found["taken"]]["name"] for found in rounds if found["taken"] is not None]
    chosen = model.features_
    is_linear = chosen.feature_map is None
    assert "linear" in name if is_linear else f"degree {chosen.feature_map.kernel.degree}" in name
    assert ("unit length" in name) == (chosen.scale is None)


def final(*lines, n_rows=1000, width=64):
    """Return trials of a last round from (name, error, standard error)s; the first is taken."""
    return [Trial(*line, seconds=0.1, n_rows=n_rows, width=width, is_taken=i == 0) for i, line in enumerate(lines)]


REASONS = {
    "clearly better": (
        final(("b", 0.10, 0.01), ("a", 0.15, 0.01), ("c", 0.2, 0.01)),
        "Taken: b . Its error of 10.0 % is the lowest of 3 candidates on 1,000 rows at E = 64; the next best is a "
        "with 15.0 % . The times of all candidates add up to 300 ms.",
    ),
    "better": (
        final(("b", 0.10, 0.01), ("a", 0.105, 0.01)),
        "Its error of 10.0 % is the lowest of 2 candidates on 1,000 rows at E = 64; the next best is a with 10.5 % , "
        "within a standard error .",
    ),
    "tied": (
        final(("b", 0.1, 0.01), ("a", 0.1, 0.01)),
        "is the lowest of 2 candidates on 1,000 rows at E = 64 , tied with a .",
    ),
    "behind by chance": (
        final(("b", 0.1, 0.01), ("a", 0.095, 0.01), ("c", 0.097, 0.01)),
        "Its error of 10.0 % is the third lowest of 3 candidates on 1,000 rows at E = 64 ; a has 9.5 %, but a "
        "difference within a standard error does not decide .",
    ),
    "behind": (final(("b", 0.1, 0.01), ("a", 0.05, 0.01)), "; a has 5.0 %, but the error alone does not decide ."),
    "alone": (final(("b", 0.1, 0.01)), "It was the only candidate on 1,000 rows at E = 64, error 10.0 % ."),
    "no rows known": (
        [Trial("b", 0.1, is_taken=True), Trial("a", 0.2)],
        "is the lowest of 2 candidates; the next best",
    ),
    "all overflowed": (
        final(("b", 1e300, 0.0), ("a", 1e300, 0.0)),
        "No candidate had a finite error on 1,000 rows at E = 64 .",
    ),
}


@pytest.mark.parametrize("case", REASONS)
def test_the_reason(tmp_path, case):
    trials, told = REASONS[case]

    def words(text):
        return re.sub(r"\s+(?=[.,;])", "", " ".join(text.split()))

    assert words(told) in words(Picture(tmp_path, with_trials(trials)).text)


def test_rounds_are_told_apart_and_survivors_are_filled(tmp_path):
    first = [Trial(name, error, 0.01, 0.1, 100) for name, error in (("a", 0.3), ("b", 0.1), ("c", 0.2))]
    picture = Picture(tmp_path, with_trials([*first, *final(("c", 0.1, 0.01), ("b", 0.2, 0.01))]))
    assert [[item["name"] for item in items] for items in picture.rounds] == [["b", "c", "a"], ["c", "b"]]
    assert [[item["kind"] for item in items] for items in picture.rounds] == [["on", "taken", None], ["taken", None]]
    assert "Round 1 of 2: 3 candidates on 100 rows with the exact kernel 300 ms" in " ".join(picture.text.split())
    assert "3 candidates were tried in 2 rounds; their times add up to 500 ms." in " ".join(picture.text.split())


def test_a_candidate_that_was_tried_twice_is_shown_once(tmp_path):
    trials = final(("a", 0.1, 0.01), ("b", 0.2, 0.01), ("a", 0.1, 0.01))
    (items,) = Picture(tmp_path, with_trials(trials)).rounds
    assert [(item["name"], item["time"].split()) for item in items] == [("a", ["200", "ms"]), ("b", ["100", "ms"])]


def test_equal_names_with_unlike_errors_are_both_shown_and_one_is_taken(tmp_path):
    (items,) = Picture(tmp_path, with_trials(final(("a", 0.2, 0.01), ("a", 0.1, 0.01)))).rounds
    assert [item["kind"] for item in items] == [None, "taken"]


def test_another_loss_is_part_of_the_name(tmp_path):
    Longer = namedtuple("Longer", [*Trial._fields, "loss", "value"])
    trials = [
        Longer(*trial, loss, 0.0)
        for trial, loss in zip(final(("a", 0.1, 0.0), ("a", 0.1, 0.0)), ("logistic", "squared"), strict=True)
    ]
    (items,) = Picture(tmp_path, with_trials(trials)).rounds
    assert [item["name"].replace("\xa0", " ") for item in items] == ["a, logistic loss", "a"]


def test_errors_that_overflow_come_last_as_arrows(tmp_path):
    trials = final(("a", 0.1, 0.01), ("b", 1e300, 0.0), ("c", 0.2, 0.01), ("d", np.nan, 0.0))
    picture = Picture(tmp_path, with_trials(trials))
    (items,) = picture.rounds
    assert [item["error"] == "overflow" for item in items] == [False, False, True, True]
    assert all('class="beyond"' in item["strip"] for item in items[2:])
    assert [line["error"] for line in picture.numbers["choices"]["rounds"][0]["candidates"][2:]] == [None, None]


def test_many_candidates_fold_into_a_line_that_opens(tmp_path):
    trials = final(*[(f"c{i}", 0.01 * (i + 1), 0.001) for i in range(30)])
    picture = Picture(tmp_path, with_trials(trials))
    assert len(picture.page.all("details")) == 1
    assert "20 more candidates 11.0 % to 30.0 % 2.0 s" in " ".join(picture.text.split())
    assert len(picture.rounds[0]) == 30
    # The one that was taken is never hidden.
    trials = [trial._replace(is_taken=i == 24) for i, trial in enumerate(trials)]
    raw = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert Picture(tmp_path, with_trials(trials)).rounds[0][24]["badge"]
    raw = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert raw.index(">c24<", raw.index('class="round"')) < raw.index("<details>")


@pytest.mark.parametrize("errors", [[0.0, 0.0], [0.0, 0.5], [1e-9, 1.0], [5e-324, 1e250], [1.0, 1.0], [1e200, 1e208]])
@pytest.mark.parametrize("deviation", [0.0, 1e-12, 10.0])
def test_odd_errors(tmp_path, errors, deviation):
    run = with_trials(final(*[(f"c{i}", e, deviation) for i, e in enumerate(errors)]), regressor_run())
    (items,) = Picture(tmp_path, run).rounds
    assert len(items) == len(errors)
    for item in items:
        assert re.search(r"left:[\d.]+%", item["strip"])


def test_without_a_search_one_sentence_says_so(tmp_path):
    told = "No candidates are known: nothing was left to choose, or the model came from a file."
    given = Picture(tmp_path, classifier_run())
    run = searched("classes")
    assert told not in Picture(tmp_path, run).text
    run.model.save(tmp_path / "model.craft")
    loaded = Picture(tmp_path, report.Run(model=load_model(tmp_path / "model.craft")))
    for picture in (given, loaded):
        assert picture.rounds == []
        assert told in picture.text
