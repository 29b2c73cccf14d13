"""Indices of svmlight files begin at 0 or at 1, and name the same features in training and prediction."""

import io

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from craftmaps import CraftClassifier, Polynomial, load_model, streams
from craftmaps.cli.model_rows import open_rows
from tests.streams.formats import collect, example, svmlight_bytes

X, Y = example()
# The first feature never occurs, so indices from 0 on look like indices from 1 on.
WITHOUT_FIRST = np.column_stack([np.zeros(len(X)), X])


def write(path, rows, first):
    path.write_bytes(svmlight_bytes(rows, Y, first))
    return path


@pytest.mark.parametrize("zero_based", [True, False, "auto"])
@pytest.mark.parametrize(("rows", "first"), [(X, 0), (X, 1), (WITHOUT_FIRST, 0), (WITHOUT_FIRST, 1)])
def test_rows_are_those_of_scikit_learn(tmp_path, rows, first, zero_based):
    path = write(tmp_path / "t.svm", rows, first)
    if zero_based is False and b" 0:" in path.read_bytes():
        with pytest.raises(ValueError, match="Invalid index 0"):
            load_svmlight_file(io.BytesIO(path.read_bytes()), zero_based=False)
        with pytest.raises(ValueError, match=r"Line \d+ of .*t\.svm must have indices from 1 on, .* zero_based=True"):
            list(streams.open(path, zero_based=False))
        return
    expected, labels = load_svmlight_file(io.BytesIO(path.read_bytes()), zero_based=zero_based)
    found, found_labels = collect(streams.open(path, zero_based=zero_based, dtype="float64"))
    np.testing.assert_array_equal(found, expected.toarray())
    np.testing.assert_array_equal(found_labels, labels)


@pytest.mark.parametrize("first", [0, 1])
def test_the_base_is_part_of_the_rule(tmp_path, first):
    columns = streams.open(write(tmp_path / "t.svm", X, first), zero_based=first == 0).columns
    assert streams.Columns.from_plain(columns.to_plain()).first_index == first
    # A file without the first feature does not tell its base, but the rule does.
    later = X * (np.arange(X.shape[1]) > 0)
    rows, _ = collect(streams.open(write(tmp_path / "p.svm", later, first), columns=columns, dtype="float64"))
    np.testing.assert_array_equal(rows, later)


@pytest.mark.parametrize(("trained", "later"), [(0, 1), (1, 0)])
def test_a_file_with_another_base_is_aligned(tmp_path, trained, later):
    columns = streams.open(write(tmp_path / "t.svm", X, trained)).columns
    path = write(tmp_path / "p.svm", X, later)
    rows, _ = collect(streams.open(path, columns=columns, zero_based=later == 0, dtype="float64"))
    np.testing.assert_array_equal(rows, X)


def test_a_file_with_another_base_is_detected(tmp_path):
    from_0, from_1 = (write(tmp_path / f"{first}.svm", X, first) for first in (0, 1))
    with pytest.raises(ValueError, match=r"must have indices from 1 on, .*: open the file with zero_based=True"):
        list(streams.open(from_0, columns=streams.open(from_1).columns))
    stream = streams.open(from_1, columns=streams.open(from_0).columns)
    words = r"1\.svm has the index 5, but the features of columns end at 4: .* open it with zero_based=False\."
    with pytest.warns(UserWarning, match=words) as caught:
        list(stream)
    assert len(caught) == 1
    list(stream)  # a second warning would be an error


def test_new_features_are_left_out_with_a_warning(tmp_path):
    columns = streams.open(write(tmp_path / "t.svm", X, 1)).columns
    wider = np.column_stack([X, np.ones(len(X))])
    stream = streams.open(write(tmp_path / "p.svm", wider, 1), columns=columns)
    with pytest.warns(UserWarning, match=r"has the index 6, but the features of columns end at 5: .* left out"):
        rows, _ = collect(stream)
    np.testing.assert_array_equal(rows, X.astype(np.float32))


@pytest.mark.parametrize(("first", "zero_based"), [(0, "auto"), (1, "auto"), (0, True), (1, False)])
def test_the_width_of_dense_rows_is_the_width_of_sparse_ones(tmp_path, first, zero_based):
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    columns = streams.open(tmp_path / "t.npz").columns
    path = write(tmp_path / "p.svm", X, first)
    np.testing.assert_array_equal(
        collect(streams.open(path, columns=columns, zero_based=zero_based))[0], X.astype(np.float32)
    )
    wider = write(tmp_path / "w.svm", np.column_stack([X, np.ones(len(X))]), first)
    with pytest.raises(ValueError, match=f"must have 5 features, from index {first} on, got index {first + 5}"):
        streams.open(wider, columns=columns, zero_based=zero_based)


def test_a_model_keeps_the_base(tmp_path):
    stream = streams.open(write(tmp_path / "t.svm", WITHOUT_FIRST, 0), zero_based=True, batch_rows=20)
    model = CraftClassifier(Polynomial(2), 16, metric=None, random_state=0).fit_stream(stream)
    model.save(tmp_path / "m.craft")
    rows, _ = collect(open_rows(load_model(tmp_path / "m.craft"), tmp_path / "t.svm", 20))
    np.testing.assert_array_equal(rows, WITHOUT_FIRST.astype(np.float32))


def test_other_values_and_other_formats_are_refused(tmp_path):
    path = write(tmp_path / "t.svm", X, 1)
    for value in (0, "yes", None):
        with pytest.raises(ValueError, match=f"zero_based must be True, False or 'auto', got {value!r}"):
            streams.open(path, zero_based=value)
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    with pytest.raises(
        ValueError, match=r"zero_based must be 'auto' for .*t\.npz, which is no svmlight file, got True"
    ):
        streams.open(tmp_path / "t.npz", zero_based=True)
