"""Code words are different, decode as defined, and bits solved together equal bits solved alone."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import hinge_loss

from craftmaps.learners.output_codes import class_scores, make_code, smallest_distance
from tests.learner.examples import classifier, labelled_rows


def test_one_vs_rest():
    np.testing.assert_array_equal(make_code("one-vs-rest", 3, None, 0), [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


@pytest.mark.parametrize(("n_classes", "size"), [(2, 1), (4, 2), (5, 3), (10, 4), (16, 4), (26, 5), (10, 200)])
def test_random_words_never_collide(n_classes, size, seed):
    words = make_code("random", n_classes, size, seed)
    assert words.shape == (n_classes, size)
    assert set(np.unique(words)) == {-1.0, 1.0}
    assert len(np.unique(words, axis=0)) == n_classes


def test_random_words_are_the_best_of_several_draws(seed):
    """A single draw of 10 words of 200 bits has a smallest distance of about 80 on average."""
    rng = np.random.default_rng(seed)
    single = [smallest_distance(rng.choice([-1.0, 1.0], (10, 200))) for _ in range(32)]
    assert smallest_distance(make_code("random", 10, None, seed)) > np.mean(single)
    np.testing.assert_array_equal(make_code("random", 10, None, seed), make_code("random", 10, 200, seed))


@pytest.mark.parametrize(("n_classes", "n_bits"), [(2, 1), (3, 3), (4, 3), (5, 7), (10, 15), (16, 15)])
def test_hadamard_words_differ_in_half_of_the_bits(n_classes, n_bits):
    words = make_code("hadamard", n_classes, None, 0)
    assert words.shape == (n_classes, n_bits)
    distances = (words[:, None] != words[None]).sum(axis=2)
    assert set(distances[~np.eye(n_classes, dtype=bool)]) == {(n_bits + 1) // 2}


def test_hadamard_words_of_a_given_size(seed):
    words = make_code("hadamard", 10, 12, seed)
    assert words.shape == (10, 12)
    assert len(np.unique(words, axis=0)) == 10


BAD_CODES = {
    "unknown": ("foo", None, "code must be one of 'one-vs-rest', 'random', 'hadamard' or an array, got 'foo'"),
    "too few bits": ("random", 1, "code_size must be at least log2 of the 3 classes, got 1"),
    "too few Hadamard bits": ("hadamard", 1, "code_size must be larger to tell 3 classes apart, got 1"),
    "other classes": (
        np.ones((2, 4)),
        None,
        r"code must have a row for each of 3 classes, got shape \(2, 4\)",
    ),
    "no matrix": (np.ones(3), None, "code must have a row for each of 3 classes"),
    "zeros": (np.zeros((3, 4)), None, r"code must consist of \+1 and -1"),
    "equal words": (np.ones((3, 4)), None, "code must have a different word for every class"),
}


@pytest.mark.parametrize("case", BAD_CODES)
def test_bad_codes(case):
    code, size, message = BAD_CODES[case]
    with pytest.raises(ValueError, match=message):
        make_code(code, 3, size, 0)


def test_scores_as_defined():
    outputs, words = np.random.default_rng(0).normal(size=(30, 7)), make_code("random", 4, 7, 3)
    distance = ((outputs[:, None] - words[None]) ** 2).sum(axis=2)
    euclidean = class_scores(outputs, words, "euclidean")
    np.testing.assert_allclose(  # equal up to what all classes share
        euclidean - euclidean[:, :1], -(distance - distance[:, :1]) / 14, rtol=1e-12, atol=1e-14
    )
    wrong = (np.sign(outputs)[:, None] != words[None]).sum(axis=2)
    hamming = class_scores(outputs, words, "hamming")  # in some unit
    np.testing.assert_allclose(hamming / hamming.min(), wrong / wrong.max(), rtol=1e-12, atol=1e-15)
    losses = [[-hinge_loss(word, row, labels=[-1, 1]) for word in words] for row in outputs]
    np.testing.assert_allclose(class_scores(outputs, words, "loss"), losses, rtol=1e-12)
    with pytest.raises(ValueError, match="decoding must be one of 'euclidean', 'hamming', 'loss', got 'foo'"):
        class_scores(outputs, words, "foo")


@pytest.mark.parametrize("decoding", ["euclidean", "hamming", "loss"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_200_random_bits_as_if_each_was_solved_alone(decoding, fit_intercept):
    X, y = labelled_rows()
    model = classifier(code="random", decoding=decoding, fit_intercept=fit_intercept).fit(X, y)
    Z, words = model.features_(X), model.code_words_
    assert words.shape == (3, 200)
    bits = words[np.searchsorted(model.classes_, y)]
    outputs = np.empty((len(y), 200))
    for bit in range(200):
        ridge = Ridge(model.alpha_, fit_intercept=fit_intercept).fit(Z, bits[:, bit])
        np.testing.assert_allclose(model.coef_[bit], ridge.coef_, rtol=1e-6, atol=1e-6 * np.abs(model.coef_).max())
        np.testing.assert_allclose(model.intercept_[bit], ridge.intercept_, rtol=1e-6, atol=1e-8)
        outputs[:, bit] = ridge.predict(Z)
    scores = class_scores(outputs, words, decoding)
    best = np.sort(scores, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-9
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(model.predict(X)[clear], model.classes_[scores.argmax(axis=1)][clear])


def test_a_given_code_is_obeyed():
    X, y = labelled_rows()
    code = [[1, 1, -1, 1], [-1, 1, 1, -1], [1, -1, 1, 1]]
    model = classifier(code=code).fit(X, y)
    assert model.coef_.shape == (4, 32)
    np.testing.assert_array_equal(model.code_words_, code)
    assert model.score(X, y) > 0.6


def test_a_code_size_from_a_grid_of_numpy_integers():
    X, y = labelled_rows(90)
    size = np.arange(10, 20)[2]
    assert classifier(code="random", code_size=size).fit(X, y).coef_.shape == (12, 32)
    assert classifier(code="hadamard", code_size=size).fit(X, y).coef_.shape == (12, 32)


def test_code_words_are_drawn_once(monkeypatch):
    X, y = labelled_rows()
    drawn = []

    def make(*arguments):
        drawn.append(arguments)
        return make_code(*arguments)

    monkeypatch.setattr("craftmaps.learners.output_codes.make_code", make)
    model = classifier(code="random", alphas=[1e-4, 1e-2]).fit(X, y)
    for _ in range(3):
        model.predict_proba(X)
    assert len(drawn) == 1
    words = model.code_words_
    model.partial_fit(X[:1], ["another"]).predict(X)
    assert len(drawn) == 2
    assert model.code_words_.shape == (words.shape[0] + 1, words.shape[1])
