"""Fewer rows than features are solved in the space of rows: the same solution, and truly left-out errors."""

import numpy as np
import pytest

from craftmaps import CraftClassifier, CraftRegressor, NormalEquations, Polynomial
from craftmaps._system.memory import peak_memory
from craftmaps.learners.few_rows import FewRows
from craftmaps.learners.penalty_search import DEFAULT_ALPHAS, PenaltySearch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
X[50:] = X[:10]  # copies
Y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60), [-0.3, 0.3])
WEIGHT = RNG.integers(1, 4, 60).astype(float)
ALPHAS = [1e-4, 1e-2, 1.0]
SETTINGS = {"kernel": Polynomial(3), "metric": None, "n_components": 128, "alphas": ALPHAS, "random_state": 0}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_the_solution_is_that_of_the_normal_equations(weight):
    model = CraftClassifier(**SETTINGS).fit(X, Y, weight)
    assert FewRows.of(model.tally_) is not None
    expected = model.tally_.statistic.solve(model.alpha_)
    coef = model.code_words_.T @ expected.coef
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-7 * np.abs(coef).max())


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("alpha", [1e-3, 0.1])
def test_outputs_are_those_of_models_without_the_row(weight, alpha):
    y = X[:, 0] * X[:, 1] + np.where(np.arange(60) < 50, 0.0, 0.0)
    model = CraftRegressor(**SETTINGS).fit(X, y, weight)
    few, statistic = FewRows.of(model.tally_), model.tally_.statistic
    sample, left_out = few.sample, few.left_out(alpha)
    assert sample.count.max() > 1
    for i in (*np.flatnonzero(sample.count > 1)[:3], *np.flatnonzero(sample.count == 1)[:5]):
        rest, one = statistic.copy(), slice(i, i + 1)
        rest.add(few.features[one], sample.y[one], sample.weight[one] / sample.count[one], sign=-1.0)
        coef, intercept = rest.solve(alpha)
        np.testing.assert_allclose(left_out[i], coef @ few.features[i] + intercept, rtol=1e-6, atol=1e-8)


def test_many_rows_or_a_part_of_them_are_not_few():
    assert FewRows.of(CraftClassifier(**SETTINGS | {"n_components": 59}).fit(X, Y).tally_) is None
    assert FewRows.of(CraftClassifier(**SETTINGS, holdout_rows=20).fit(X, Y).tally_) is None
    assert FewRows.of(CraftClassifier(**SETTINGS, fit_intercept=False).fit(X, Y).tally_, False) is None


def test_noise_is_not_predicted():
    """Leave-one-out errors of labels by chance are those of chance; errors of the fitted rows are not."""
    rng = np.random.default_rng(1)
    errors, fitted = [], []
    for seed in range(20):
        rows, labels = rng.normal(size=(80, 10)), rng.integers(0, 2, 80)
        model = CraftClassifier(**SETTINGS | {"random_state": seed}).fit(rows, labels)
        errors.append(model.cv_results_["error"])
        fitted.append(1 - model.score(rows, labels))
    standard_error = np.sqrt(0.25 / (20 * 80 / 2))
    assert abs(np.mean(errors) - 0.5) < 4 * standard_error
    assert np.mean(fitted) < 0.4


def test_folds_and_single_rows_agree_where_both_can_be_had():
    rows = RNG.normal(size=(300, 4))
    y = rows[:, 0] * rows[:, 1] + 0.1 * RNG.normal(size=300)
    model = CraftRegressor(**SETTINGS | {"n_components": 512}).fit(rows, y)
    by_folds = PenaltySearch(ALPHAS).choose(model.tally_).results
    np.testing.assert_allclose(model.cv_results_["mean_error"], by_folds["mean_error"], rtol=0.5)
    assert model.cv_results_["n_rows"] == by_folds["n_rows"] == 300


def test_the_square_is_formed_only_when_it_is_needed():
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(40, 64)), rng.normal(size=(40, 1))
    late, early = NormalEquations(64, 1), NormalEquations(64, 1)
    for part in np.array_split(np.arange(40), 4):
        late.add(Z[part], Y[part])
        early.add(Z[part], Y[part])
        _ = early.gram  # asked for after every block
    np.testing.assert_allclose(late.scale(), early.scale(), rtol=1e-12)
    apart = NormalEquations.of(Z[:10], Y[:10]) + NormalEquations.of(Z[10:], Y[10:])
    rest = late - NormalEquations.of(Z[:10], Y[:10])
    np.testing.assert_array_equal(np.tril(late.gram), np.tril(early.gram))  # to the bit, as a checkpoint may ask
    np.testing.assert_allclose(np.tril(apart.gram), np.tril(Z.T @ Z), atol=1e-12)
    np.testing.assert_allclose(np.tril(rest.gram), np.tril(Z[10:].T @ Z[10:]), atol=1e-12)
    late.add(Z[:30], Y[:30])
    np.testing.assert_allclose(np.tril(late.gram), np.tril(Z.T @ Z + Z[:30].T @ Z[:30]), atol=1e-12)


def test_few_rows_need_no_square_at_a_great_width():
    """A square of this width would take 8 GB, and minutes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = CraftClassifier(Polynomial(2), 2**15, metric=None, packed=False, random_state=0)
    before = peak_memory()
    model.fit(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    assert model.score(X, (X[:, 0] * X[:, 1] > 0).astype(int)) > 0.8
    assert peak_memory() - before < 2**31


def test_rounding_errors_are_not_fitted():
    """Features of float32 rows that span few directions, at a penalty far below their rounding errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=300) > 0
    settings = {"kernel": Polynomial(2), "metric": None, "normalize": True, "loss": "squared", "alphas": [1e-9]}
    errors = {}
    for dtype in (np.float32, np.float64):
        model = CraftClassifier(n_components=2048, random_state=0, **settings).fit(X[:120].astype(dtype), y[:120])
        errors[dtype] = np.mean(model.predict(X[120:].astype(dtype)) != y[120:])
    assert errors[np.float32] <= errors[np.float64] + 0.05
    assert errors[np.float64] < 0.35


def test_rows_that_choices_have_seen_help_to_choose_alpha_but_are_not_reported():
    """A third of 60 noisy rows says little of alpha; all of them say more."""
    n_unlike = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(60, 6))
        y = rows[:, 0] + rows[:, 1] + 1.5 * rng.normal(size=60) > 0
        model = CraftClassifier(Polynomial(3), 128, loss="squared", random_state=seed).fit(rows, y)
        few, held_out = FewRows.of(model.tally_), model.tally_.held_out
        free = held_out.free > 0
        unit = model.tally_.statistic.scale()
        outputs = {alpha: few.left_out(alpha * unit) for alpha in sorted(DEFAULT_ALPHAS)}
        labels = model.tally_.targets.encoded(few.sample.y)
        wrong = np.array([model.tally_.targets.errors(out, few.sample.y) for out in outputs.values()])
        squares = np.array([np.square(out - labels).mean(axis=1) for out in outputs.values()])

        def best(among, wrong=wrong, squares=squares, alphas=tuple(outputs)):
            totals = wrong[:, among].sum(axis=1)
            level = np.flatnonzero(totals == totals.min())
            return alphas[level[np.argmin(squares[level][:, among].sum(axis=1))]]

        everyone = np.ones(60, bool)
        assert model.cv_results_["n_rows"] == free.sum() == 20
        np.testing.assert_allclose(model.alpha_, best(everyone) * unit)
        reported = []
        for entries, _ in held_out.deal(5):
            others = everyone.copy()
            others[entries] = False
            reported.extend(wrong[list(outputs).index(best(others)), entries])
        np.testing.assert_allclose(model.cv_results_["error"], np.mean(reported))
        n_unlike += best(free) != best(everyone)
    assert n_unlike  # so alphas chosen by the rows that are reported alone would not pass
