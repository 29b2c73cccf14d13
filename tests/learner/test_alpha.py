"""Alpha chosen in one pass is what an honest cross-validation, one fit a fold, chooses on the same folds."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from craftmaps.learners.held_out import HeldOut
from tests.learner.examples import classifier, labelled_rows, regressor

ALPHAS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]


def noisy(n_rows=260):
    """Rows with wrong labels, so that alpha matters, and with some rows repeated."""
    rng = np.random.default_rng(4)
    X, y = labelled_rows(n_rows)
    y = np.where(rng.random(n_rows) < 0.25, rng.permutation(y), y)
    again = rng.integers(0, n_rows, 40)
    return np.r_[X, X[again]], np.r_[y, y[again]], rng.integers(1, 4, n_rows + 40).astype(float)


def folds_of(holdout, X, y, n_folds):
    """Return the positions in X of the rows of each fold: copies, in the order of hashes, are dealt out in turn."""

    def contents(X, y):
        return [(row.tobytes(), target.tobytes()) for row, target in zip(X, y, strict=True)]

    copies = {content: [] for content in contents(holdout.sample.X, holdout.sample.y)}
    for i, content in enumerate(contents(X, y)):
        if content in copies:
            copies[content].append(i)
    dealt = np.concatenate(list(copies.values()))
    return [dealt[fold::n_folds] for fold in range(n_folds)]


def honest(model, X, y, targets, wrong, weight, n_folds):
    """Return the mean error of every alpha: refit without each fold, score on the fold."""
    Z, w = model.features_(X), _mean_of_copies(X, y, np.ones(len(X)) if weight is None else weight)
    folds = folds_of(model.tally_.held_out, X, y, n_folds)
    assert all(len(fold) > 5 for fold in folds)
    means = np.zeros(len(ALPHAS))
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(X)), fold)
        centre = np.average(Z[rest], axis=0, weights=w[rest]) if model.fit_intercept else 0.0
        unit = (w[rest, None] * (Z[rest] - centre) ** 2).sum() / Z.shape[1]
        for i, alpha in enumerate(ALPHAS):
            ridge = Ridge(alpha * unit, fit_intercept=model.fit_intercept).fit(Z[rest], targets[rest], w[rest])
            means[i] += w[fold] @ wrong(ridge.predict(Z[fold]), fold)
    return means / sum(w[fold].sum() for fold in folds)


def _mean_of_copies(X, y, weight):
    """Return weights in which copies of a row weigh the same: which of them a fold takes out is no question then."""
    codes = np.unique(y, axis=0, return_inverse=True)[1].ravel()  # NumPy 2.0.0 returns a column
    group = np.unique(np.c_[X, codes], axis=0, return_inverse=True)[1].ravel()
    return (np.bincount(group, weight) / np.bincount(group))[group]


@pytest.mark.parametrize("holdout_rows", [90, 10_000], ids=["some rows", "all rows"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("code", ["one-vs-rest", "random"])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", ""])
def test_classifier(holdout_rows, weighted, code, fit_intercept):
    X, y, weight = noisy()
    weight = weight if weighted else None
    model = classifier(
        alphas=ALPHAS[::-1], cv=4, holdout_rows=holdout_rows, code=code, code_size=12, fit_intercept=fit_intercept
    ).fit(X, y, weight)
    # Bits instead of labels, and decoding by hand.
    words = model.code_words_
    bits = words[np.searchsorted(model.classes_, y)]

    def wrong(outputs, fold):
        return model.classes_[(outputs @ words.T).argmax(axis=1)] != y[fold]

    means = honest(model, X, y, bits, wrong, weight, 4)
    assert len(np.unique(means.round(9))) > 2  # there is something to choose
    np.testing.assert_array_equal(model.cv_results_["alpha"], ALPHAS)
    np.testing.assert_allclose(model.cv_results_["mean_error"], means, rtol=1e-9, atol=1e-12)
    best = max(alpha for alpha, mean in zip(ALPHAS, means, strict=True) if mean <= means.min() + 1e-12)
    np.testing.assert_allclose(model.alpha_, best * model.tally_.statistic.scale(fit_intercept), rtol=1e-12)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_regressor(n_targets):
    X, _, weight = noisy()
    y = np.c_[X[:, 0] * X[:, 1], X[:, 2]] + np.random.default_rng(0).normal(size=(len(X), 2))
    y = y[:, 0] if n_targets == 1 else y
    model = regressor(alphas=ALPHAS, cv=4, holdout_rows=80).fit(X, y, weight)
    columns, spread = y.reshape(len(y), -1), model.tally_.held_out.sample.y.std(axis=0)
    factors = np.sqrt(np.mean(spread**2)) / spread

    def wrong(outputs, fold):
        return (((outputs.reshape(len(fold), -1) - columns[fold]) * factors) ** 2).mean(axis=1)

    means = honest(model, X, y, y, wrong, weight, 4)
    np.testing.assert_allclose(model.cv_results_["mean_error"], means, rtol=1e-6)
    expected = ALPHAS[int(means.argmin())] * model.tally_.statistic.scale()
    np.testing.assert_allclose(model.alpha_, expected, rtol=1e-12)


def test_of_alphas_with_equal_errors_the_one_with_the_best_outputs():
    X = np.r_[np.full((20, 2), [1.0, 0.1]), np.full((20, 2), [0.1, 1.0])] + 0.01 * np.arange(40)[:, None]
    model = classifier(alphas=[1e-3, 1e-4, 1e-2, 1.0]).fit(X, np.repeat([0, 1], 20))
    np.testing.assert_array_equal(model.cv_results_["mean_error"], 0)
    scale = model.tally_.statistic.scale()
    assert model.alpha_ < 0.5 * scale  # which would shrink outputs, and probabilities with them
    assert model.cv_results_["alpha"][model.cv_results_["chosen"]] == pytest.approx(model.alpha_ / scale)


def test_of_equally_good_alphas_the_largest():
    """Constant rows: the outputs are the mean of the targets, whatever alpha is."""
    X, y = np.ones((40, 2)), np.arange(40) % 2
    assert classifier(alphas=[1e-3, 1e-4, 1e-2]).fit(X, y).cv_results_["chosen"] == 2


def test_the_error_reported_is_that_of_folds_at_an_alpha_that_others_chose():
    X, y, _ = noisy()
    results = classifier(alphas=ALPHAS, cv=4).fit(X, y).cv_results_
    errors = results["fold_errors"]
    sizes = np.array([75, 75, 75, 75])
    chosen = []
    for fold in range(4):
        others = np.arange(4) != fold
        means = errors[:, others] @ sizes[others]
        chosen.append(errors[means <= means.min() + 1e-12, fold])
    assert results["n_rows"] == 300
    assert results["n_effective"] == pytest.approx(150)  # all training rows of a fold are held out in another one
    assert all(error in level for error, level in zip(results["error_by_fold"], chosen, strict=True))
    np.testing.assert_allclose(results["error"], np.mean(results["error_by_fold"]))
    assert results["error"] >= results["mean_error"].min()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_single_alpha_without_cross_validation(fit_intercept):
    X, y = labelled_rows()
    model = classifier(alphas=0.01, cv=None, fit_intercept=fit_intercept).fit(X, y)
    Z = model.features_(X)
    Z = Z - Z.mean(axis=0) * fit_intercept
    np.testing.assert_allclose(model.alpha_, 0.01 * (Z**2).sum(axis=0).mean(), rtol=1e-10)
    assert not hasattr(model, "cv_results_")


def test_no_more_rows_are_held_out_than_asked_for(monkeypatch):
    X, y = labelled_rows()
    assert len(classifier(holdout_rows=50).fit(X, y).tally_.held_out) == 50
    monkeypatch.setattr(HeldOut, "add", lambda *_: pytest.fail("nothing is to be held out"))
    classifier(alphas=0.01, cv=None).fit(X, y)
