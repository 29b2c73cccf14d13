"""Scores of classifiers are those of scikit-learn, in blocks, with weights, and with AUC in bins."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, precision_recall_fscore_support, roc_auc_score

from craftmaps.scores import ClassScores


def random_predictions(n_rows, n_classes, seed=0):
    """Return probabilities with many ties, labels that depend on them, and weights."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=(n_rows, n_classes)).round(1)
    probabilities = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(n_classes, p=row) for row in probabilities])
    return probabilities.astype(np.float32), labels, rng.exponential(size=n_rows) * (rng.random(n_rows) > 0.1)


def scores_of(probabilities, labels, classes, weight=None, step=77, **limits):
    """Return the scores of predictions that come in blocks."""
    scores = ClassScores(np.asarray(classes), **limits)
    for start in range(0, labels.size, step):
        part = slice(start, start + step)
        scores.add(probabilities[part], labels[part], None if weight is None else weight[part])
    return scores


def scored(*arguments, **options):
    return scores_of(*arguments, **options).to_plain()


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_those_of_scikit_learn(n_classes, is_weighted):
    probabilities, labels, weight = random_predictions(700, n_classes)
    weight = weight if is_weighted else None
    names = np.array(["a", "b", "c", "d"])[:n_classes]
    found = scored(probabilities, names[labels], names, weight)
    options = {} if n_classes == 2 else {"multi_class": "ovr", "average": None}
    ranks = probabilities[:, 1] if n_classes == 2 else probabilities.astype(float)
    if n_classes > 2:
        ranks /= ranks.sum(axis=1, keepdims=True)
    areas = np.atleast_1d(roc_auc_score(labels, ranks, sample_weight=weight, **options))
    assert found["auc"] == pytest.approx(areas.mean(), abs=1e-9)
    assert found["auc_is_exact"]
    told = [line["auc"] for line in found["classes"] if line["auc"] is not None]
    assert told == pytest.approx(areas, abs=1e-9)
    assert found["log_loss"] == pytest.approx(log_loss(labels, probabilities, sample_weight=weight), rel=1e-6)
    predicted = probabilities.argmax(axis=1)
    assert found["error"] == pytest.approx(1 - accuracy_score(labels, predicted, sample_weight=weight), abs=1e-9)
    precision, recall, _, _ = precision_recall_fscore_support(labels, predicted, sample_weight=weight)
    assert [line["precision"] for line in found["classes"]] == pytest.approx(precision)
    assert [line["recall"] for line in found["classes"]] == pytest.approx(recall)
    assert found.get("weight") == (None if weight is None else pytest.approx(weight.sum()))
    assert found["rows"] == 700


def test_a_certain_mistake_costs_what_scikit_learn_says():
    probabilities = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], np.float32)
    labels = np.array([1, 1, 1])
    assert scored(probabilities, labels, [0, 1])["log_loss"] == pytest.approx(
        log_loss(labels, probabilities, labels=[0, 1]), rel=1e-6
    )
    assert scored(probabilities, labels, [0, 1])["auc"] is None  # nothing to compare with


def test_classes_that_are_absent_or_new_do_not_spoil_the_mean():
    probabilities, labels, _ = random_predictions(500, 4)
    labels = np.where(labels == 2, 7, labels)  # a label that the model does not know
    scores = scores_of(probabilities, labels, range(4))
    found = scores.to_plain()
    expected = [roc_auc_score(labels == k, probabilities[:, k]) for k in (0, 1, 3)]
    assert found["auc"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert [line["auc"] is None for line in found["classes"]] == [False, False, True, False, True]
    known = labels != 7
    loss = -np.log(probabilities[known, labels[known]]).sum() - (~known).sum() * np.log(np.finfo(np.float32).eps)
    assert found["log_loss"] == pytest.approx(loss / 500, rel=1e-6)
    assert scores.unknown_label is None  # some labels are classes
    assert scores_of(probabilities, labels + 10, range(4)).unknown_label in {10, 11, 13, 17}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_probabilities_than_are_kept_are_counted_in_bins(n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=4000)
    odds = rng.normal(size=(4000, n_classes)) + 2.0 * np.eye(n_classes)[labels]
    probabilities = (np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)).astype(np.float32)
    weight = rng.random(4000)
    exact = scored(probabilities, labels, range(n_classes), weight)["auc"]
    binned = scored(probabilities, labels, range(n_classes), weight, most_kept=1000)
    assert not binned["auc_is_exact"]
    # 8 million pairs and bins of 6e-5 (two classes) or 1.7e-4 in log-odds: about one pair in 20,000 becomes a tie.
    assert binned["auc"] == pytest.approx(exact, abs=1e-4)
    assert binned["auc"] != exact  # it was not kept after all


def test_weights_that_are_all_equal_change_nothing():
    probabilities, labels, _ = random_predictions(300, 3)
    plain, equal = (scores_of(probabilities, labels, range(3), weight) for weight in (None, np.full(300, 0.5)))
    assert equal.weight.total == 150
    assert equal.error_interval == pytest.approx(plain.error_interval)
    assert equal.confusion == plain.confusion
    for one, two in zip(plain.calibration.bins, equal.calibration.bins, strict=True):
        assert two[:3] == pytest.approx(one[:3])
        assert two.interval == pytest.approx(one.interval)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_calibration_is_that_of_the_definition(is_weighted):
    probabilities, labels, weight = random_predictions(900, 3)
    weight = weight if is_weighted else np.ones(900)
    table = scores_of(probabilities, labels, range(3), weight).calibration
    confidence, right = probabilities.max(axis=1).astype(float), probabilities.argmax(axis=1) == labels
    place = np.floor(10 * confidence).astype(int)
    gap = 0.0
    for found, i in zip(table.bins, np.unique(place), strict=True):
        here = place == i
        share, mean = (np.average(values[here], weights=weight[here]) for values in (right, confidence))
        assert (found.n_rows, found.right, found.probability) == (here.sum(), pytest.approx(share), pytest.approx(mean))
        assert found.interval[0] <= share <= found.interval[1]
        assert found.interval[0] < found.interval[1]
        gap += abs(share - mean) * weight[here].sum() / weight.sum()
    assert table.expected_error == pytest.approx(gap)
    counts, edges = table.histogram()
    expected = np.histogram(confidence, bins=20, range=(0.0, 1.0))
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(edges, expected[1])


def test_few_heavy_rows_have_a_wide_interval():
    """A bin is worth as many rows of equal weight as tell as much."""
    probabilities = np.tile([[0.75, 0.25]], (100, 1)).astype(np.float32)
    labels = np.arange(100) % 2
    weight = np.where(np.arange(100) < 4, 1.0, 1e-9)
    [few] = scores_of(probabilities, labels, [0, 1], weight).calibration.bins
    [all_equal] = scores_of(probabilities[:4], labels[:4], [0, 1]).calibration.bins
    assert few.interval == pytest.approx(all_equal.interval, rel=1e-6)
