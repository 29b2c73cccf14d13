"""The page is made from results alone, whatever part of them there is."""

import re

import pytest

from reproduction import (
    drawing,
    figure2,
    figure4,
    figure5,
    figure6_section,
    figure7,
    findings,
    page,
    support,
    table1,
    variations,
)
from reproduction.cells import HERE, Results
from reproduction.figure7_section import at_equal_time
from reproduction.running import settings_of

ERRORS = {"RFM": 10.0, "TS": 8.0, "CM RFM": 7.0, "CM TS": 9.0, "ours": 5.0}


def finish(folder, experiment, values):
    results = Results(folder, experiment.NAME)
    for cell in experiment.cells(settings_of(experiment.NAME, "tiny")):
        results.add(cell, values(cell), 1.0)


def candidate(cell):
    """The lowest degree is the best on left-out rows."""
    degree = cell["degree"]
    losses = [degree / 100] * 100
    wrong = {"left_out_wrong": list(range(degree)), "left_out_error": degree / 5}
    return wrong | {"left_out_losses": losses, "left_out_loss": degree / 100, "error": 4 + degree / 100, "loss": 0.1}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


def test_without_any_result(folder):
    text = page.write("tiny", folder).read_text()
    assert "Not run." in text
    assert "| 0 of 90 |" in text
    assert sorted(file.name for file in (folder.parent / "figures").iterdir()) == ["figure1.png", "figure3.png"]


def test_with_results(folder):
    finish(folder, variations, lambda cell: {"error": ERRORS[cell["method"]] - 1 + 0.1 * cell["seed"]})
    finish(folder, table1, lambda cell: {"error": ERRORS[cell["method"]] + 0.1 * cell["seed"], "kernel_error": 0.3})
    for experiment in (figure4, figure5):
        finish(folder, experiment, lambda cell: {"kernel_error": ERRORS[cell["method"]], "up_kernel_error": 8.5})
    finish(folder, support, candidate)
    finish(folder, figure2, lambda cell: {"log_scree": [3.0, 1.0, None], "counts": [1, 3, 6]})
    finish(folder, figure7, lambda cell: {"error": ERRORS[cell["method"]], "pass_seconds": cell["components"] / 64})
    path = page.write("tiny", folder)
    text = path.read_text()
    assert "| RFM | 10.05 ± 0.07 (2 seeds)<br>paper 14.0, -3.95 |" in text
    assert "**5.05 ± 0.07 (2 seeds)**<br>paper 9.5, -4.45" in text  # ours against the paper's best
    assert "CM TS is behind TS by 1.00 (worse)" in text
    assert "CM RFM is behind" not in text
    assert "| Table 1: test errors | 90 of 90 | CM RFM beats RFM | 9 | 0 | 0 | 0 |" in text
    assert "| | | CM TS beats TS | 0 | 0 | 0 | 9 |" in text
    name = r"\| e: PENDIGITS \(64 and 128: fewer than 3 seeds; 256, 512 and 2\^10: not run\)"
    assert re.search(
        name + r" \| \d of 8 \| \d of 8 \| \+4\.11<br>\+2\.11 to \+6\.11 \| .* \| -0\.45<br>-2\.38 to \+1\.48 \|",
        text,
    )
    assert "| e | 64 | CM RFM | no H0/1 | 7.05 ± 0.07 (2 seeds) | 6.05 ± 0.07 (2 seeds) | -1.00, lower |" in text
    # What was found in other results is not said of these, in which RFM loses without H0/1 as with it.
    assert findings.findings_of(HERE / "results", "all")
    assert not [finding for finding in findings.findings_of(HERE / "results", "all").values() if finding in text]
    assert "**Part e**" not in text
    assert "smaller mean error in 12 of 24 comparisons" in text
    assert "(worse): 9.000 against 8.000; its up-map alone has 8.500" in text
    assert "weights in the fullest bin 60 % (at +0.67), at zero 30 %" in text
    assert "| CM RFM beats RFM at equal time (1 seed) | 0 | 3 | 0 | 0 |" in text
    assert (
        "Error of CM RFM less the least that RFM reaches in the same time: better, within noise at 64 (-3.00)" in text
    )
    assert "| its test error | **4.02** | **4.02** | **4.02** | **4.02** |" in text
    assert (
        "In part c the best of 6 exact kernels on left-out training rows has a test error of 4.02 (by errors)" in text
    )
    for name in ("figure2", "figure4", "figure5", "figure7", "support"):
        assert (path.parent / "figures" / f"{name}.png").stat().st_size > 5000
        assert f"(figures/{name}.png)" in text
    # The same results make the same bytes.
    before = {file.name: file.read_bytes() for file in (path.parent / "figures").iterdir()}
    assert page.write("tiny", folder).read_text() == text
    assert {file.name: file.read_bytes() for file in (path.parent / "figures").iterdir()} == before


def test_results_of_other_settings_are_left_out(folder):
    cell = next(iter(table1.cells(settings_of("table1", "tiny"))))
    Results(folder, "table1").add(cell | {"cv": 99}, {"error": 1.23, "kernel_error": 0.1}, 1.0)
    assert "1.23" not in page.write("tiny", folder).read_text()


def test_the_page_here_is_made_from_the_results_here():
    _, text = page.compose("all", HERE / "results")
    assert text == (HERE / "README.md").read_text()


def test_equal_time_is_not_more_than_a_rival_needs():
    """The rival's slow and bad point does not count where a faster one of it is better; nothing is extrapolated."""

    def points(method, *values):
        for width, (seconds, error) in zip((256, 512, 1024), values, strict=True):
            for seed in range(3):
                cell = {"method": method, "components": width, "seed": seed}
                yield cell, {"pass_seconds": seconds, "error": error + 0.01 * seed}

    pairs = [*points("RFM", (1.5, 12.0), (1.0, 8.0), (4.0, 2.0)), *points("CM RFM", (1.2, 9.0), (2.0, 3.9), (9.0, 1.0))]
    judged = at_equal_time(pairs, "CM RFM", "RFM")
    assert list(judged) == [256, 512]  # at 9 s there is no RFM
    assert judged[256][1] == "worse"
    assert judged[512][0] == pytest.approx(4.0 - 3.9, abs=0.01)  # in the middle between 8 and 2 on logarithms


def test_at_equal_time_all_seeds_are_compared_or_none():
    """Which seeds have both depends on their times: a fast one alone would be chosen for being fast."""
    points = {
        "RFM": {0: [(1.0, 8.0), (4.0, 2.0)], 1: [(1.0, 8.0), (4.0, 2.0)]},
        "CM RFM": {0: [(2.0, 3.0), (3.0, 1.0)], 1: [(2.0, 3.0), (5.0, 1.0)]},
    }
    pairs = [
        ({"method": method, "components": width, "seed": seed}, {"pass_seconds": seconds, "error": error})
        for method, seeds in points.items()
        for seed, own in seeds.items()
        for width, (seconds, error) in zip((256, 512), own, strict=True)
    ]
    assert list(at_equal_time(pairs, "CM RFM", "RFM")) == [256]


def test_what_more_rows_do_is_said_with_its_noise(monkeypatch):
    settings = settings_of("figure6") | {"components": [64, 128], "rows": [60_000, 120_000], "max_rows_at": {}}
    monkeypatch.setattr(figure6_section, "settings_of", lambda name: settings)

    def curve(method, width, *ends):
        for n_rows, errors in zip((60_000, 120_000), ends, strict=True):
            for seed, error in errors.items():
                yield {"method": method, "components": width, "rows": n_rows, "seed": seed}, {"error": error}

    three = {0: 5.0, 1: 5.1, 2: 5.2}
    lower, higher = ({seed: error + change for seed, error in three.items()} for change in (-1.0, 1.0))
    pairs = [
        *curve("RFM", 64, three, lower),
        *curve("TS", 64, three, higher),
        *curve("CM RFM", 64, {0: 5.0}, {0: 4.0}),
        *curve("CM TS", 64, {0: 5.0}, {1: 4.0}),  # no seed has both ends
        *curve("ours", 64, three, {0: 5.1, 1: 5.0, 2: 5.2}),
    ]
    text = "\n".join(figure6_section.say_figure6("figure6", pairs, {}))
    assert "| RFM | 5.10 ± 0.10 | 4.10 ± 0.10 |" in text
    assert "| 4.10 ± 0.10 | -1.00 at 120,000, falls |" in text
    assert "| 6.10 ± 0.10 | +1.00 at 120,000, rises |" in text
    assert "| CM RFM | 5.00 (1 seed) | 4.00 (1 seed) | -1.00 at 120,000, 1 seed |" in text
    assert "| CM TS | 5.00 (1 seed) | 4.00 (1 seed) |  |" in text
    assert "0.00 at 120,000, within noise |" in text
    assert "E = 128: not run." in text
    assert figure6_section.full_title(pairs).endswith("(stand-in data, E = 64)")


def test_a_curve_that_goes_on_with_fewer_seeds_is_told_and_drawn_apart(tmp_path):
    three = {0: 5.0, 1: 5.1, 2: 5.2}
    curve = {60_000: three, 120_000: {seed: error + 1 for seed, error in three.items()}, 250_000: {0: 6.5}}
    assert figure6_section._growth(curve) == "+1.00 at 120,000, rises; +1.50 at 250,000, 1 seed"
    first, rest = drawing._at_fewer_seeds(curve)
    assert first == {n_rows: curve[n_rows] for n_rows in (60_000, 120_000)}
    assert rest == {120_000: {0: 6.0}, 250_000: {0: 6.5}}  # from 6.0 to 6.5, not from the mean, 6.1
    # One number of seeds all along, or no seed that goes on: nothing to draw apart.
    assert drawing._at_fewer_seeds(first) == (first, {})
    other = {60_000: {0: 5.0, 1: 5.1}, 120_000: {2: 5.2}}
    assert drawing._at_fewer_seeds(other) == (other, {})
