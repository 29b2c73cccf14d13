"""The order of methods is tested, not assumed."""

import tomllib

import pytest

from reproduction.cells import HERE
from reproduction.claims import judge, kernel_estimates, verdicts
from reproduction.methods import PAPER_METHODS


@pytest.mark.parametrize(
    ("challenger", "rival", "outcome"),
    [
        ([1.0, 1.1, 0.9], [2.0, 2.1, 1.9], "better"),
        ([1.0, 3.0, 0.5], [2.0, 2.0, 1.0], "better, within noise"),
        ([2.0, 2.1, 1.9], [1.0, 1.1, 0.9], "worse"),
        ([2.0, 1.0, 1.0], [1.0, 1.1, 1.0], "not better, within noise"),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], "not better, within noise"),
        ([1.0], [2.0], "better, within noise"),
    ],
)
def test_outcomes(challenger, rival, outcome):
    judged = judge(dict(enumerate(challenger)), dict(enumerate(rival)))
    assert judged is not None
    assert judged[1] == outcome


def test_only_seeds_that_both_have_are_compared():
    assert judge({0: 1.0}, {1: 2.0}) is None
    judged = judge({0: 1.0, 1: 5.0}, {0: 4.0, 2: 0.0})
    assert judged is not None
    assert judged[0] == 3.0


def pairs(method, errors, kernel_error):
    return [
        ({"method": method, "components": 64, "seed": seed}, {"error": error, "kernel_error": kernel_error})
        for seed, error in enumerate(errors)
    ]


@pytest.mark.parametrize(
    ("kernel_error", "words"), [(0.9, "larger, 0.90 against 0.50"), (0.1, "smaller, 0.10 against")]
)
def test_a_lost_comparison_says_what_the_kernel_estimates_are(kernel_error, words):
    results = pairs("CM RFM", [2.0, 2.1], kernel_error) + pairs("RFM", [1.0, 1.0], 0.5)
    (verdict,) = verdicts(results, "error", "components")
    assert verdict.where == {"components": 64}
    assert verdict.difference == pytest.approx(-1.05)
    assert words in kernel_estimates(verdict)


def test_the_paper_has_25_columns_of_four_rows():
    paper = tomllib.loads((HERE / "paper.toml").read_text())["table1"]
    assert list(paper) == list("abcde")
    for part in paper.values():
        assert all(len(part[row]) == 5 for row in (*PAPER_METHODS, "components"))
        # Wider is better in every row of the paper: a slip of the pen would show.
        assert all(part[row] == sorted(part[row], reverse=True) for row in PAPER_METHODS)


def test_the_configuration_has_the_columns_of_the_paper():
    paper = tomllib.loads((HERE / "paper.toml").read_text())["table1"]
    config = tomllib.loads((HERE / "config.toml").read_text())["table1"]
    for part in paper:
        assert config[part]["components"] == paper[part]["components"]
