"""AUC, log loss and weighted scores agree with scikit-learn's, in blocks and in bins."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score

from craftmaps import load_model
from craftmaps.cli import ranking, scores
from craftmaps.streams import Block
from tests.cli.running import PLAIN, example_rows, example_table, run, run_json, write_parquet
from tests.cli.test_phases import Silent


def random_predictions(n_rows, n_classes, seed=0):
    """Return probabilities with many ties, labels that depend on them, and weights."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=(n_rows, n_classes)).round(1)
    probabilities = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(n_classes, p=row) for row in probabilities])
    return probabilities.astype(np.float32), labels, rng.exponential(size=n_rows) * (rng.random(n_rows) > 0.1)


def scored(probabilities, labels, classes, weight=None, step=77):
    """Return the scores of predictions that come in blocks."""
    model = SimpleNamespace(classes_=np.asarray(classes), predict_proba=lambda X: probabilities[X[:, 0]])
    rows = np.arange(labels.size)[:, None]
    parts = [slice(start, start + step) for start in range(0, labels.size, step)]
    blocks = [Block(rows[part], labels[part], None if weight is None else weight[part], None) for part in parts]
    return scores.score(model, blocks, Silent(), "DATA")


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
    found = scored(probabilities, labels, range(4))
    expected = [roc_auc_score(labels == k, probabilities[:, k]) for k in (0, 1, 3)]
    assert found["auc"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert [line["auc"] is None for line in found["classes"]] == [False, False, True, False, True]
    known = labels != 7
    loss = -np.log(probabilities[known, labels[known]]).sum() - (~known).sum() * np.log(np.finfo(np.float32).eps)
    assert found["log_loss"] == pytest.approx(loss / 500, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_scores_than_are_kept_are_counted_in_bins(monkeypatch, n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=4000)
    odds = rng.normal(size=(4000, n_classes)) + 2.0 * np.eye(n_classes)[labels]
    probabilities = (np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)).astype(np.float32)
    weight = rng.random(4000)
    exact = scored(probabilities, labels, range(n_classes), weight)["auc"]
    monkeypatch.setattr(ranking, "MOST_SCORES", 1000)
    binned = scored(probabilities, labels, range(n_classes), weight)
    assert not binned["auc_is_exact"]
    # 8 million pairs and bins of 6e-5 (two classes) or 1.7e-4 in log-odds: about one pair in 20,000 becomes a tie.
    assert binned["auc"] == pytest.approx(exact, abs=1e-4)
    assert binned["auc"] != exact  # it was not kept after all


def test_weights_that_are_all_equal_change_nothing():
    probabilities, labels, _ = random_predictions(300, 3)
    plain, equal = scored(probabilities, labels, range(3)), scored(probabilities, labels, range(3), np.full(300, 0.5))
    assert equal.pop("weight") == 150
    assert equal["error_interval"] == pytest.approx(plain["error_interval"])
    assert equal["calibration"]["bins"] == [pytest.approx(line) for line in plain["calibration"]["bins"]]
    assert equal["confusion"] == plain["confusion"]


def test_evaluate_and_train_tell_both(tmp_path):
    data, test = write_parquet(tmp_path / "train.parquet"), write_parquet(tmp_path / "test.parquet", seed=1)
    summary = run_json("train", data, "--out", tmp_path / "m.craft", "--test", test, *PLAIN)
    X, y = example_rows(seed=1)
    probabilities = load_model(tmp_path / "m.craft").predict_proba(X.astype(np.float32))
    normal = probabilities / probabilities.sum(axis=1, keepdims=True, dtype=float)
    auc = roc_auc_score(y, normal, multi_class="ovr")
    told = run_json("evaluate", tmp_path / "m.craft", test)
    for found in (summary["test"], told):
        assert found["auc"] == pytest.approx(auc, abs=1e-6)
        assert found["log_loss"] == pytest.approx(log_loss(y, probabilities), rel=1e-6)
    printed = run("evaluate", tmp_path / "m.craft", test).stdout
    assert f"AUC          {auc:.4f}, mean of 3 classes, each against the rest" in printed
    assert "log loss" in printed
    printed = run("train", data, "--out", tmp_path / "m.craft", "--test", test, *PLAIN).stdout
    assert f"test AUC         {auc:.4f}" in printed
    assert "test log loss" in printed
    assert "columns          5 numbers" in printed


def test_weights_of_rows(tmp_path):
    X, y = example_rows()
    weight = np.random.default_rng(0).integers(0, 3, size=240).astype(float)
    table = example_table().append_column("w", pa.array(weight))
    pa.parquet.write_table(table, tmp_path / "weighted.parquet")
    # Rows as often as they weigh are the same statistic.
    pa.parquet.write_table(table.take(np.repeat(np.arange(240), weight.astype(int))), tmp_path / "repeated.parquet")
    alpha = ["--alpha", 0.1]
    summary = run_json(
        "train", tmp_path / "weighted.parquet", "--weight", "w", "--out", tmp_path / "w.craft", *PLAIN, *alpha
    )
    run("train", tmp_path / "repeated.parquet", "--drop", "w", "--out", tmp_path / "r.craft", *PLAIN, *alpha)
    weighted, repeated = load_model(tmp_path / "w.craft"), load_model(tmp_path / "r.craft")
    assert weighted.n_features_in_ == 5
    assert np.allclose(weighted.coef_, repeated.coef_, rtol=0, atol=2e-5)
    assert summary["model"]["rows"] == np.sum(weight > 0)
    found = run_json("evaluate", tmp_path / "w.craft", tmp_path / "weighted.parquet", "--weight", "w")
    wrong = weighted.predict(X.astype(np.float32)) != y
    assert found["error"] == pytest.approx(weight @ wrong / weight.sum())
    low, high = found["error_interval"]
    assert low < found["error"] < high
    message = run("evaluate", tmp_path / "w.craft", tmp_path / "weighted.parquet", "--weight", "v", code=2).stderr
    assert message.startswith("craftmaps: Invalid value: --weight must ")


def test_weighted_errors_of_numbers():
    rng = np.random.default_rng(0)
    y, predicted, weight = rng.normal(size=300), rng.normal(size=300), rng.exponential(size=300)
    model = SimpleNamespace(predict=lambda X: predicted[X[:, 0]])
    found = scores.score(model, [Block(np.arange(300)[:, None], y, weight, None)], Silent(), "DATA")
    square = mean_squared_error(y, predicted, sample_weight=weight)
    assert found["rmse"] == pytest.approx(np.sqrt(square))
    # The interval against the spread of the estimate over resampled rows.
    draws = rng.integers(300, size=(4000, 300))
    squares = (weight * (y - predicted) ** 2)[draws].sum(axis=1) / weight[draws].sum(axis=1)
    low, high = np.square(found["rmse_interval"])
    assert (high - low) / 2 / 1.96 == pytest.approx(squares.std(), rel=0.1)
