"""Labels to compare predictions with: where they are found, and what is said where there are none that fit."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import CraftClassifier, Polynomial
from tests.cli.running import PLAIN, example_rows, run, run_json, trained, write_parquet


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model that was saved from Python, which names no target, and rows with and without labels."""
    folder = tmp_path_factory.mktemp("labels")
    X, y = example_rows()
    CraftClassifier(Polynomial(2), 16, metric=None, random_state=0).fit(X, y).save(folder / "plain.craft")
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 5), "label": y, "kind": y})
    pa.parquet.write_table(table, folder / "rows.parquet")
    pa.parquet.write_table(table.drop_columns(["label"]), folder / "kind.parquet")
    np.savez(folder / "rows.npz", X=X, y=y)
    np.savez(folder / "alone.npz", X=X)
    return folder


def test_a_model_without_a_target_is_compared_with_the_column_label(folder):
    found = run_json("evaluate", folder / "plain.craft", folder / "rows.parquet")
    assert found == run_json("evaluate", folder / "plain.craft", folder / "rows.parquet", "--target", "kind")
    assert found["rows"] == 240
    assert run_json("evaluate", folder / "plain.craft", folder / "rows.npz") == found


@pytest.mark.parametrize("file", ["kind.parquet", "alone.npz"])
def test_labels_that_nobody_names_are_asked_for(folder, file):
    said = run("evaluate", folder / "plain.craft", folder / file, code=1).stderr
    assert said == (
        "craftmaps: DATA must have labels to compare predictions with, got no column 'label', and the model file names "
        "no other: name it with --target.\n"
    )


def test_test_rows_without_labels(tmp_path, folder):
    arguments = ["train", folder / "rows.npz", "--test", folder / "alone.npz", "--out", tmp_path / "m.craft", *PLAIN]
    said = run(*arguments, code=1).stderr
    assert "craftmaps: --test must have labels to compare predictions with, got none.\n" in said


def test_labels_none_of_which_is_a_class_are_refused(tmp_path):
    model, data = trained(tmp_path, labels=["yes", "no"] * 120)
    other = write_parquet(tmp_path / "other.parquet", labels=["maybe", "never"] * 120)
    such = "holds labels such as 'maybe', none of which is a class of the model ('no', 'yes').\n"
    # In blocks, of which none has a class.
    said = run("evaluate", model, other, "--batch-rows", 50, code=1).stderr
    assert said.splitlines(keepends=True)[-1] == f"craftmaps: DATA {such}"
    said = run("evaluate", model, other, "--target", "label", code=1).stderr
    assert said.endswith(f"craftmaps: --target 'label' {such}")
    said = run("train", data, "--test", other, "--out", tmp_path / "again.craft", *PLAIN, code=1).stderr
    assert said.endswith(f"craftmaps: --test {such}")


def test_one_label_that_is_a_class_is_enough(tmp_path):
    model, _ = trained(tmp_path, labels=["yes", "no"] * 120)
    other = write_parquet(tmp_path / "other.parquet", labels=["maybe"] * 239 + ["no"])
    assert run_json("evaluate", model, other, "--batch-rows", 50)["rows"] == 240


def test_the_first_few_of_many_classes_are_named(tmp_path):
    model, _ = trained(tmp_path, labels=np.arange(240) % 12)
    other = write_parquet(tmp_path / "other.parquet", labels=np.arange(240) + 100)
    said = run("evaluate", model, other, code=1).stderr
    assert "such as 100, none of which is a class of the model (0, 1, 2, 3, 4 and 7 more)." in said
