"""What commands tell of test rows agrees with scikit-learn, with weights, and with the page."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from craftmaps import CraftClassifier, load_model
from craftmaps.report.html.wording import interval, percent
from tests.cli.running import PLAIN, example_rows, example_table, run, run_json, write_parquet
from tests.report.page_text import Page


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


@pytest.mark.parametrize("is_held_out", [False, True])
def test_the_page_has_the_scores_of_the_terminal_and_rows_are_predicted_once(tmp_path, monkeypatch, is_held_out):
    """Also with weights: both read the same running scores."""
    weights = [np.random.default_rng(seed).random(240) for seed in (0, 1)]
    for name, seed in (("train", 0), ("test", 1)):
        table = example_table(seed=seed).append_column("w", pa.array(weights[seed]))
        pa.parquet.write_table(table, tmp_path / f"{name}.parquet")
    predict, n_predicted = CraftClassifier.predict_proba, []

    def counted(model, X):
        n_predicted.append(X.shape[0])
        return predict(model, X)

    def refused(model, X):
        pytest.fail("the rows are predicted once more")

    for name in ("predict", "decision_function"):
        monkeypatch.setattr(CraftClassifier, name, refused)
    monkeypatch.setattr(CraftClassifier, "predict_proba", counted)
    test = ["--test-share", 0.4] if is_held_out else ["--test", tmp_path / "test.parquet"]
    arguments = ["train", tmp_path / "train.parquet", "--out", tmp_path / "m.craft", "--weight", "w", *test]
    found = run_json(*arguments, "--report", tmp_path / "r.html", "--batch-rows", 50, *PLAIN)["test"]
    assert sum(n_predicted) == found["rows"]
    page = " ".join(Page((tmp_path / "r.html").read_text()).text.split())
    assert f"errs on {' '.join(percent(found['error']).split())} of {found['rows']} test rows, weighted" in page
    assert " ".join(interval(found["error_interval"]).split()) in page
    recall = found["classes"][0]["recall"]
    assert " ".join(percent(recall).split()) in page
