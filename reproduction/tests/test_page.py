"""The page is made from results alone, whatever part of them there is."""

import pytest

from reproduction import figure2, figure4, figure5, figure7, figure_section, page, table1
from reproduction.cells import Results
from reproduction.running import settings_of

ERRORS = {"RFM": 10.0, "TS": 8.0, "CM RFM": 7.0, "CM TS": 9.0, "ours": 5.0}


def finish(folder, experiment, values):
    results = Results(folder, experiment.NAME)
    for cell in experiment.cells(settings_of(experiment.NAME, "tiny")):
        results.add(cell, values(cell), 1.0)


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
    finish(folder, table1, lambda cell: {"error": ERRORS[cell["method"]] + 0.1 * cell["seed"], "kernel_error": 0.3})
    for experiment in (figure4, figure5):
        finish(folder, experiment, lambda cell: {"kernel_error": ERRORS[cell["method"]], "up_kernel_error": 8.5})
    finish(folder, figure2, lambda cell: {"log_scree": [3.0, 1.0, None], "counts": [1, 3, 6]})
    finish(folder, figure7, lambda cell: {"error": ERRORS[cell["method"]], "pass_seconds": cell["components"] / 64})
    path = page.write("tiny", folder)
    text = path.read_text()
    assert "| RFM | 10.05 ± 0.07<br>paper 14, -3.95 |" in text
    assert "**5.05 ± 0.07**<br>paper 9.5, -4.45" in text  # ours against the paper's best
    assert "CM TS is behind TS by 1.00 (worse)" in text
    assert "CM RFM is behind" not in text
    assert "| Table 1: test errors | 90 of 90 | CM RFM beats RFM | 9 | 0 | 0 | 0 |" in text
    assert "| Table 1: test errors | 90 of 90 | CM TS beats TS | 0 | 0 | 0 | 9 |" in text
    assert "In 14 of these 14" not in text
    assert "In 12 of these 12 the up-map alone" in text
    assert "weights in the fullest bin 60 % (at +0.67), at zero 30 %" in text
    assert "At equal time CM RFM has the lower error in 3 of 3 places beside RFM" in text
    for name in ("figure2", "figure4", "figure5", "figure7"):
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


def test_what_more_rows_do_is_said_with_its_noise():
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
    text = "\n".join(figure_section._say_figure6("figure6", pairs))
    assert "| RFM | 5.10 ± 0.10 | 4.10 ± 0.10 |" in text
    assert "Errors fall with more rows: E = 64, RFM -1.00 at 120,000." in text
    assert "Errors rise with more rows: E = 64, TS +1.00 at 120,000. All rows" in text
    assert "Within noise, or of one seed: E = 64, CM RFM -1.00 at 120,000; E = 64, ours" in text
    assert "CM TS -" not in text
