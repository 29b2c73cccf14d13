"""Left-out rows are left out, metrics that look at labels are scored on other rows, and the page counts both."""

from typing import Any

import numpy as np
import pytest

from craftmaps.least_squares.row_space import RowSpace
from reproduction import drawing, left_out_ridge, support, support_section, supported

CELL = {
    "part": "e",
    "dataset": "digits",
    "split": "customary",
    "seed": 0,
    "columns": "none",
    "axes": "none",
    "length": "unit",
    "degree": 3,
    "coef0": 1,
    "alpha_rows": 150,
    "log10_alphas": [-4, 0],
    "max_rows": 300,
}


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return (X @ X.T + 1) ** 3, rng.standard_normal((60, 2))


def test_left_out_rows_are_those_of_the_library_and_of_refits(problem):
    kernel, targets = problem
    rows = RowSpace(kernel, targets)
    ridge = left_out_ridge.fit(kernel.copy(), targets, 0.1, leave_out=True)
    alpha = 0.1 * rows.trace / 60
    np.testing.assert_allclose(ridge.left_out, rows.left_out(alpha), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ridge.dual, rows.dual(alpha), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ridge.intercept, rows.intercept(rows.dual(alpha)), rtol=1e-8)
    others = np.arange(1, 60)
    refit = RowSpace(kernel[np.ix_(others, others)], targets[1:])
    dual = refit.dual(alpha)
    np.testing.assert_allclose(ridge.left_out[0], kernel[0, 1:] @ dual + refit.intercept(dual), rtol=1e-6)
    # With the row in, the output is another one.
    assert np.abs(ridge.outputs(kernel[:1]) - ridge.left_out[:1]).max() > 0.1
    plain = left_out_ridge.fit(kernel.copy(), targets, 0.1, leave_out=False)
    np.testing.assert_allclose(plain.dual, ridge.dual, rtol=1e-8, atol=1e-12)
    assert plain.left_out.shape == (0, 2)


def test_losses_of_a_path_are_those_of_single_penalties(problem):
    kernel, targets = problem
    losses = left_out_ridge.squared_losses(kernel, targets, [0.01, 1.0])
    for alpha, loss in zip((0.01, 1.0), losses, strict=True):
        left_out = left_out_ridge.fit(kernel.copy(), targets, alpha, leave_out=True).left_out
        assert loss == pytest.approx(np.mean((left_out - targets) ** 2), rel=1e-8)


def test_a_matrix_that_is_no_kernel_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite with alpha 1e-06"):
        left_out_ridge.fit(np.array([[1.0, 2.0], [2.0, 1.0]]), np.eye(2), 1e-6, leave_out=False)


@pytest.mark.parametrize("axes", ["none", "covariance 0.5", "gradient 8"])
@pytest.mark.parametrize("columns", ["none", "normal"])
@pytest.mark.parametrize("length", ["unit", "common"])
def test_a_candidate_is_measured(axes, columns, length):
    cell = CELL | {"axes": axes, "columns": columns, "length": length}
    values = support.measure(cell)
    assert support.measure(cell) == values
    assert 0 < values["error"] < 20
    assert values["left_out_error"] == pytest.approx(100 * len(values["left_out_wrong"]) / 300, rel=1e-5)
    assert np.mean(values["left_out_losses"]) == pytest.approx(values["left_out_loss"], rel=1e-5)


def test_rows_that_a_metric_knows_are_not_scored(monkeypatch):
    """The halves of a metric that looks at labels are disjoint and are all rows; others know all training rows."""
    seen = []

    def recorded(cell, data, targets, known, shaped=support._shaped):
        seen.append(set(known))
        return shaped(cell, data, targets, known)

    monkeypatch.setattr(support, "_shaped", recorded)
    scored = []
    monkeypatch.setattr(support, "_View", lambda *fields, make=support._View: scored.append(fields[2]) or make(*fields))
    support.measure(CELL | {"axes": "gradient 8"})
    (one, other, whole), (first, second, _) = seen, map(set, scored)
    assert (one, other) == (second, first)
    assert not one & other
    assert one | other == whole == set(range(300))
    seen.clear()
    support.measure(CELL | {"axes": "covariance 1"})
    assert seen == [set(range(300))]


def test_labels_that_are_noise_look_like_noise_to_a_metric_that_is_fitted_to_them(monkeypatch):
    """Scored on rows that it was fitted to, the metric would be below chance."""
    data = support._data("digits", "customary", 0, 300)
    errors = []
    for seed in range(3):
        noise = np.random.default_rng(seed).integers(0, 10, len(data.y_train))
        monkeypatch.setattr(support, "_data", lambda *key, y=noise: data._replace(y_train=y))
        values = support.measure(CELL | {"axes": "gradient 8"})
        errors.append(values["left_out_error"])
    deviation = 100 * np.sqrt(0.9 * 0.1 / 900)
    assert np.mean(errors) > 90 - 3 * deviation


def test_pooled_rows_are_all_rows_at_the_same_sizes():
    given, pooled = (support._data("digits", split, 1, 300) for split in ("customary", support.POOLED))
    assert [len(y) for y in (pooled.y_train, pooled.y_test)] == [len(y) for y in (given.y_train, given.y_test)]
    rows = [np.sort(np.concatenate([X.sum(axis=1) for X in (d.X_train, d.X_test)])) for d in (given, pooled)]
    np.testing.assert_array_equal(rows[0], rows[1])
    assert not np.array_equal(given.y_train, pooled.y_train)
    assert not np.array_equal(pooled.y_train, support._data("digits", support.POOLED, 2, 300).y_train)


def pair(left_out_wrong, error, *, degree=2, losses: Any = 0.1, split="customary", seed=0, part="c"):
    """Return a candidate of part c; its left-out losses are of 100 groups."""
    dataset = {"c": "usps", "e": "pendigits"}[part]
    cell = CELL | {"part": part, "dataset": dataset, "degree": degree, "split": split, "seed": seed, "max_rows": 1000}
    groups = np.broadcast_to(losses, 100)
    values = {
        "left_out_wrong": list(left_out_wrong),
        "left_out_error": 100 * len(left_out_wrong) / 1000,
        "left_out_loss": float(groups.mean()),
        "left_out_losses": groups.tolist(),
    }
    return cell, values | {"error": error, "loss": error / 1000, "alpha": 0.1}


def test_what_rows_cannot_tell_is_within_two_paired_standard_errors():
    pairs = [
        pair(range(100), 4.5, degree=2, losses=0.09),
        pair(range(103), 4.4, degree=3),  # 3 more, and two standard errors are 3.5
        pair(range(105), 4.3, degree=5),
        pair([*range(60), *range(200, 245)], 3.8, degree=7),  # 5 more as well, but 85 rows differ
        pair(range(100), 5.0, degree=9),  # ties with the first
    ]
    own = supported.support_of(pairs, "c", "errors")
    assert own.best == 0
    assert own.is_equal.tolist() == [True, True, False, True, True]
    correlation = own.correlation("error")
    assert correlation is not None
    assert correlation < 0
    text = support_section.support_section(pairs)
    assert "| of these below the paper's best | 1 at 2^12, 1 at 2^13, 1 at 2^14 |" in text
    assert "- Part c: what training rows choose is not below the paper's best at 2^14, 3.93" in text
    assert "cannot tell from the best, by errors 1 of 4: columns as they are, unit length, degree 7 (3.80); by" in text
    told = support_section.in_short(pairs)
    assert (
        "a test error of 4.50 to 5.00 (by errors) and 4.50 (by squared losses) against the paper's best of 3.93" in told
    )
    assert "1 of 4 and 0 of 1 are below" in told


def test_squared_losses_are_compared_by_groups():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(100)
    noise -= noise.mean()
    error = 0.01 * noise.std(ddof=1) / 10
    base = 0.1 + rng.random(100)
    pairs = [
        pair(range(9), 4.0, degree=degree, losses=base + (0.01 * noise + shift * error if shift else 0))
        for degree, shift in ((2, 0), (3, 1.9), (5, 2.1))
    ]
    assert supported.support_of(pairs, "c", "squared losses").is_equal.tolist() == [True, True, False]
    assert supported.support_of(pairs, "c", "errors").is_equal.tolist() == [True, True, True]


def test_a_choice_below_the_paper_is_said_plainly():
    pairs = [pair(range(50), 1.2, part="e"), pair(range(300), 3.0, degree=3, part="e")]
    text = support_section.support_section(pairs)
    assert "- Part e: training rows choose a candidate below the paper's best at 2^10, 1.57: columns as they" in text
    assert "degree 2 (1.20)." in text
    assert "Part c" not in text


def test_pooled_rows_are_told_beside_the_given_split():
    pairs = [pair(range(10), 4.0)]
    pairs += [pair(range(20), error, split=support.POOLED, seed=i) for i, error in enumerate((1.9, 2.0, 2.1))]
    text = support_section.support_section(pairs)
    assert "unit length, degree 2: 2.00 ± 0.10 on test rows and 2.00 on left-out training rows." in text
    assert "As the split is given: 4.00, 2.0 times as much, and 1.00." in text
    assert "| candidates | 1 | 1 |" in text


def test_other_penalties_are_told_and_are_no_candidates():
    pairs = [pair(range(20), 4.0), pair(range(30), 4.2, degree=3)]
    for power, n_wrong, error in ((-3, 19, 3.9), (-2.5, 25, 4.1)):
        cell, values = pair(range(n_wrong), error)
        pairs.append((cell | {"log10_alphas": [power, power]}, values))
    text = support_section.support_section(pairs)
    assert "| candidates | 2 | 2 |" in text
    assert "of 1 candidates with few errors the best is below the paper's best: columns as they are" in text
    assert "degree 2, penalty 10^-3 (3.90), with 1.90 on left-out rows against 2.00 above." in text
    assert "Test errors of these 2 cells are 3.90 to 4.10." in text
    assert support_section.in_short(pairs).endswith("the best has a test error of 3.90.")


def test_a_given_penalty_is_taken():
    assert support.measure(CELL | {"log10_alphas": [-2.5, -2.5]})["alpha"] == pytest.approx(10**-2.5)


def test_without_results_nothing_is_said():
    assert support_section.support_section([]) == support_section.in_short([]) == ""


def test_the_picture_is_drawn(tmp_path):
    drawing.draw_support([pair(range(50), 4.0), pair(range(90), 5.0, degree=3)], tmp_path / "support.png")
    assert (tmp_path / "support.png").stat().st_size > 5000
