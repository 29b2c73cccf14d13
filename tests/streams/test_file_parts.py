"""Parts of files, each read on its own, have the rows of the whole in their order."""

import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import streams
from craftmaps.streams.file_parts import parts_of
from tests.streams.formats import FORMATS, csv_bytes, example, write

X, Y = example()
CUT = ("Parquet", "CSV", "TSV", "JSON lines", "svmlight", "NPY")
WHOLE = (", gz", ", bz2", ", zst", "NPZ", "IDX", "HDF5", "Feather", "Arrow", "Parquet of")


def rows_of(parts):
    """Return the rows and labels of parts that went through a pickle, as dense rows."""
    blocks = [block for part in parts for block in pickle.loads(pickle.dumps(part))]
    rows = [block.X if isinstance(block.X, np.ndarray) else block.X.toarray() for block in blocks]
    return np.concatenate(rows), np.concatenate([block.y for block in blocks])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("n_bytes", [40, 700, 10**6])
def test_every_format(tmp_path, format, n_bytes):
    path, target = write(tmp_path, format, X, Y)
    stream = streams.open(path, target, batch_rows=7)
    parts = parts_of(stream, n_bytes)
    is_cut = format.startswith(CUT) and not any(word in format for word in WHOLE)
    if n_bytes == 10**6 or not is_cut:
        assert len(parts) == 1
    else:
        assert len(parts) > 2
    rows, labels = rows_of(parts)
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)


def test_several_files_are_put_together(tmp_path):
    for i in range(7):
        (tmp_path / f"{i}.csv").write_bytes(csv_bytes(X[8 * i : 8 * i + 8], Y[8 * i : 8 * i + 8]))
    stream = streams.open(tmp_path, batch_rows=5)
    size = stream.total_bytes // 7
    parts = parts_of(stream, 2 * size + 100)
    assert 3 <= len(parts) <= 4
    assert sum(part.n_bytes for part in parts) == stream.total_bytes
    rows, labels = rows_of(parts)
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)
    assert parts[0].name == f"{tmp_path / '0.csv'} and 1 more"


def test_labels_in_another_array(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "targets.npy", Y)
    parts = parts_of(streams.open([tmp_path / "rows.npy", tmp_path / "targets.npy"]), 500)
    assert len(parts) > 3
    rows, labels = rows_of(parts)
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)


@pytest.mark.parametrize("n_bytes", [3, 17, 50, 300, 2000])
def test_line_ends_and_quotes_in_quotes(tmp_path, n_bytes):
    rng = np.random.default_rng(n_bytes)
    words = ["plain", '"a\nb"', '"two ""quotes"""', '"\n\n"', '"x,y"', '"""\n"""']
    lines = [f"{rng.choice(words)},{i},{rng.choice(['yes', 'no'])}" for i in range(200)]
    path = tmp_path / "rows.csv"
    path.write_text('\n\n"wo\nrd",x,label\n' + "\n".join(lines))  # no line end after the last row
    stream = streams.open(path, batch_rows=16)
    [whole] = list(streams.open(path, batch_rows=1000))
    parts = parts_of(stream, n_bytes)
    assert len(parts) > (1 if n_bytes < 2000 else 0)
    rows, labels = rows_of(parts)
    np.testing.assert_array_equal(rows, whole[0])
    np.testing.assert_array_equal(labels, whole[1])


def test_a_stray_quote_costs_parts_and_no_rows(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f'{i},5" disk,{i % 2}' if i == 20 else f'{i},"a",{i % 2}' for i in range(60)]
    path.write_text("x,word,label\n" + "\n".join(lines) + "\n")
    [whole] = list(streams.open(path, batch_rows=1000))
    rows, labels = rows_of(parts_of(streams.open(path), 100))
    np.testing.assert_array_equal(rows, whole[0])
    np.testing.assert_array_equal(labels, whole[1])


def test_weights_and_steps_go_along(tmp_path):
    path = tmp_path / "rows.parquet"
    table = pa.table({"x": X[:, 0], "w": np.arange(53.0), "label": Y})
    pa.parquet.write_table(table, path, row_group_size=10)

    parts = parts_of(streams.open(path, weight="w"), 100, steps=[every_other])
    assert len(parts) == 6
    weights = np.concatenate([block.weight for part in parts for block in part])
    np.testing.assert_array_equal(weights, np.concatenate([np.arange(i, min(i + 10, 53), 2) for i in range(0, 53, 10)]))


def every_other(blocks):
    for block in blocks:
        yield block._replace(X=block.X[::2], y=block.y[::2], weight=block.weight[::2])


def test_a_bad_row_of_text_is_named_from_the_byte_where_its_part_begins(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{i},{i % 2}\n" for i in range(100)]
    path.write_text("x,label\n" + "".join(lines))
    parts = parts_of(streams.open(path), 100)
    lines[90] = "oops,0\n"
    path.write_text("x,label\n" + "".join(lines))
    with pytest.raises(
        ValueError, match=r"^Column 'x' of .*rows.csv from byte (\d+) on must hold num.* in line (\d+)"
    ) as error:
        rows_of(parts)
    start, line = map(int, re.search(r"from byte (\d+) on .* in line (\d+)", str(error.value)).groups())
    assert path.read_bytes()[start:].splitlines()[line - 1] == b"oops,0"


def test_a_bad_row_of_a_row_group_is_named_by_its_number_in_the_file(tmp_path):
    path, x, y = tmp_path / "rows.parquet", np.arange(100.0), np.arange(100) % 2
    pa.parquet.write_table(pa.table({"x": x, "label": y}), path, row_group_size=10)
    parts = parts_of(streams.open(path), 100)
    assert len(parts) == 10
    x[90] = np.inf
    pa.parquet.write_table(pa.table({"x": x, "label": y}), path, row_group_size=10)
    with pytest.raises(ValueError, match=r"rows.parquet has a value that is infinite in float32 in row 91"):
        rows_of(parts)
