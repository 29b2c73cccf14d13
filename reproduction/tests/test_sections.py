"""What single sections of the page say of results that are made up."""

from collections import Counter

import pytest
from matplotlib.figure import Figure

from reproduction import cells, drawing, findings, table_section
from reproduction.cells import HERE, Results
from reproduction.claims import standard_error
from reproduction.glance_section import glance_section
from reproduction.origin_section import origin_section
from reproduction.text import paper_numbers
from reproduction.variation_section import variation_section

PAPER = paper_numbers()["table1"]
NO_FIGURES = {name: [] for name in ("figure2", "figure4", "figure5", "figure6", "figure7")}


def column(part, width, split="customary", **errors):
    """Return cells with an error for each seed; underscores in names stand for spaces."""
    for method, own in errors.items():
        for seed, error in enumerate(own):
            place = {"part": part, "split": split, "components": width}
            yield {**place, "method": method.replace("_", " "), "seed": seed}, {"error": error}


def glance(*columns, found=None):
    pairs = [pair for own in columns for pair in own]
    return glance_section({"table1": pairs, **NO_FIGURES}, dict.fromkeys(["table1", *NO_FIGURES], 9), found or {})


def around(number, spread=0.01):
    return [number - spread, number, number + spread]


def test_numbers_that_are_near_are_counted_and_misses_are_not_averaged_away():
    RFM = PAPER["a"]["RFM"]
    text = glance(
        column("a", 300, RFM=around(RFM[0] + 2.0)),
        column("a", 400, RFM=around(RFM[1] - 2.0)),
        column("b", 4096, RFM=[3.2]),
    )
    assert (
        "| a: MNIST, small spaces (300 and 400: fewer than 3 seeds; 500, 600 and 700: not run) | 0 of 2 | 1 of 2 |"
        in text
    )
    assert "| +0.00<br>-2.00 to +2.00 | not run |" in text


def test_ours_is_told_with_its_noise_on_both_sides():
    best = [min(PAPER["e"][row][i] for row in ("RFM", "TS", "CM RFM", "CM TS")) for i in range(5)]
    text = glance(
        column("e", 64, ours=around(best[0] - 1.0)),
        column("e", 128, ours=around(best[1] - 0.1, 0.5)),
        column("e", 256, ours=around(best[2] + 1.0), RFM=around(best[2]), TS=around(best[2] + 0.5)),
        column("e", 512, ours=around(best[3] + 0.1, 0.5), RFM=around(best[3])),
        found={"table1": "Tried."},
    )
    assert "In 2 of 5 columns." in text
    assert "- Within noise are 1 of these: e at 128 (-0.10).\n" in text
    assert "- It is above in 2: e at 256 (+1.00); within noise e at 512 (+0.10).\n" in text
    assert "as measured here it is in 2: e at 256 (+1.00); within noise e at 512 (+0.10).\n" in text
    assert "- Not run: 1." in text
    assert text.endswith("\n\nTried.")


def test_near_is_within_two_standard_errors():
    error = standard_error(PAPER["c"]["TS"][0], 2007)
    for n_errors, n_near in ((-1.9, 1), (1.9, 1), (2.1, 0)):
        text = glance(column("c", 1024, TS=around(PAPER["c"]["TS"][0] + n_errors * error)))
        assert f"| {n_near} of 1 | {int(n_errors > 0)} of 1 |" in text


@pytest.mark.parametrize(("shift", "is_easy"), [(-3.0, True), (0.5, False)])
def test_an_easy_split_is_named(shift, is_easy):
    def both(i, width):
        for split, change in (("36 views", shift), ("18 views", 0.25)):
            numbers = {row.replace(" ", "_"): around(PAPER["d"][row][i] + change) for row in ("RFM", "CM TS")}
            yield from column("d", width, split, ours=around(1.0), **numbers)

    text = glance(both(0, 2048), both(1, 4096))
    assert "Part d cannot be judged so" in text
    assert "- 5 of the columns are of part d with 36 views" in text
    assert ("the paper's own maps are below its numbers by 3.00 as well" in text) == is_easy
    assert "With 18 views, where they are +0.25 from its numbers, *ours* is below its best in 2 of 2 columns." in text


def test_changes_are_compared_on_common_seeds_and_the_same_split():
    table = [
        *column("d", 2048, "36 views", TS=[2.0, 3.0, 4.0]),
        *column("d", 2048, "18 views", TS=[9.0, 9.0, 9.0]),
    ]
    varied = [(cell | {"change": "wider"}, values) for cell, values in column("d", 2048, "36 views", TS=[2.5])]
    text = variation_section(varied, table, {"d": "Found.", "ours": "Ours."})
    assert "| d | 2^11 | TS | wider | 2.00 (1 seed) | 2.50 (1 seed) | +0.50, not lower, within noise |" in text
    assert text.endswith("- **Part d**: Found.\n- **Ours**: Ours.")
    assert "Part d" not in variation_section(varied, table, {})
    assert variation_section([], table, {"d": "Found."}) == ""


def test_penalties_at_the_edge_are_counted():
    def cell(width, alpha, seed, **given):
        place = {"part": "b", "split": "customary", "components": width, "method": "TS", "seed": seed}
        return place | {"log10_alphas": [-3, -1]} | given, {"error": 1.0, "alpha": alpha}

    table = [cell(4096, 0.01, 0), cell(8192, 0.1, 0), cell(8192, 0.1, 1), cell(8192, 0.001, 2)]
    text = variation_section([cell(8192, 1.0, 0, change="larger")], table, {})
    assert (
        "- **Part b**: The paper's maps choose the largest penalty that Table 1 tries in 2 of 3 cells at 2^13." in text
    )


def test_findings_are_of_the_results_here_alone(tmp_path):
    assert findings.findings_of(HERE / "results", "all")
    assert not findings.findings_of(HERE / "results", "hour")
    assert not findings.findings_of(tmp_path / "results", "all")


def test_what_was_not_run_is_named_with_the_cost_of_what_was():
    pairs = [({"components": w, "method": "TS", "seed": 0}, {"cell_seconds": s}) for w, s in ((1024, 60), (2048, 600))]
    (line,) = table_section._not_run(pairs, [1024, 2048, 4096])
    assert line.startswith("- Not run, for the cost: 2^12. A cell at 2^11 took 10 minutes")
    assert table_section._not_run(pairs, [1024, 2048]) == []
    assert table_section._not_run([], [1024, 2048]) == []


def test_repetitions_and_processors_are_told(tmp_path, monkeypatch):
    where = {"cores": 2, "python": "3", "date": "1", "versions": {}}

    def add(cpu, commit, seed, error, kernel="k"):
        monkeypatch.setattr(cells, "environment", lambda: where | {"cpu": cpu, "commit": commit})
        cell = {"method": "ours", "components": 64 << seed, "seed": seed, "dataset": "usps"}
        values = {"error": error, "kernel": kernel, "metric": "m", "normalize": "True"}
        Results(tmp_path, "table1").add(cell, values, 1.0)
        return cell

    told = []
    for again in range(2):
        wanted = [add("A", "one", 0, 5.0), add("A", "one", 1, 4.0 + again)]
        told.append(origin_section(tmp_path, cells_of(tmp_path, wanted), {"table1": wanted}, {}))
    assert "- At one commit: none was measured twice." in told[0]
    assert (
        "2 cells were measured more than once, 1 came out the same, 1 not. They are of table1 (2, E = 64 to 128)."
        in told[1]
    )
    assert "On another processor" not in told[1]
    assert "names: usps, each" in told[1]
    add("B", "two", 0, 5.5, "other")
    add("B", "one", 1, 5.25)
    text = origin_section(tmp_path, cells_of(tmp_path, wanted), {"table1": wanted}, {})
    assert (
        "Of 2 cells of *ours* in Table 1 that were measured on several processors, 1 of them at one commit, 1 have"
        in text
    )
    assert "errors up to 0.50 apart. Those of the other 1 are up to 0.25 apart" in text


def cells_of(folder, wanted):
    results = Results(folder, "table1")
    return Counter(results.environment(cell) for cell in wanted)


def test_a_legend_has_the_markers_of_the_first_panel():
    figure = Figure()
    for axis, face in zip(figure.subplots(1, 2), ("red", "white"), strict=True):
        axis.plot([1, 2], marker="o", markerfacecolor=face, label="TS")
    assert drawing._shown(figure)["TS"].get_markerfacecolor() == "red"
