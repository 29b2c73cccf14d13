"""Memory is bounded while files are read: parsing, blocks and the first look work in pieces."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import streams
from craftmaps.streams.formats.json_structure import cut_to_cells
from craftmaps.streams.formats.parquet_table import ParquetTable
from craftmaps.streams.limits import Limits
from craftmaps.streams.opening import open_files
from craftmaps.streams.pieces import Piece, cut
from craftmaps.streams.request import Request
from craftmaps.streams.sources.data_file import DataFile
from tests.streams.formats import collect, example, write

X, Y = example()


def test_json_lines_with_absent_fields_are_parsed_in_pieces(tmp_path):
    rows = [{"a": 1, "b": 2, "c": 3, "label": 0}] + [{"label": i % 3} for i in range(200)] + [{"a": 5, "label": 1}]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    whole, labels = collect(streams.open(path))
    pieces = list(cut_to_cells(path.read_bytes(), 4, "t", 40))
    assert b"".join(pieces) == path.read_bytes()
    assert max(piece.count(b"{") for piece in pieces) <= 10
    rows_again, labels_again = collect(open_files(path, Request(limits=Limits(most_parsed_cells=40))))
    np.testing.assert_array_equal(rows_again, whole)
    np.testing.assert_array_equal(labels_again, labels)


def test_many_objects_in_one_line(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1, "label": 1}\n' + '{"a": 1}' * 100 + "\n")
    with pytest.raises(ValueError, match=r"t\.jsonl must have one JSON object per line, got 100 in one line"):
        list(open_files(tmp_path / "t.jsonl", Request(limits=Limits(most_parsed_cells=40))))


def test_a_new_field_that_python_cannot_parse(tmp_path):
    deep = '{"a": 1, "label": 1, "b": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    (tmp_path / "t.jsonl").write_text('{"a": 1, "label": 1}\n' * 200_000 + deep)
    stream = streams.open(tmp_path / "t.jsonl")
    with pytest.warns(UserWarning, match=r"A field of .*t\.jsonl first appears late and is ignored"):
        assert sum(len(rows) for rows, _ in stream) == 200_001


def test_long_lists_of_parquet_are_read_a_few_rows_at_a_time(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"x": [[0.5] * 1000] * 100, "label": [1] * 100}), path)
    table = ParquetTable(DataFile(path, Limits(largest_read=8 * 1002 * 10)))
    assert [batch.num_rows for batch, _ in table.batches({"x": "list", "label": "number"}, 64)] == [10] * 10
    rows, _ = collect(streams.open(path, batch_rows=64))
    np.testing.assert_array_equal(rows, np.full((100, 1000), 0.5))


@pytest.mark.parametrize(
    "format", ["NPZ", "HDF5", "IDX", "NPZ in Fortran order", "NPY, labels beside", "NPY, labels inside"]
)
def test_wide_matrices_are_read_a_few_rows_at_a_time(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    stream = open_files(path, Request(target, batch_rows=20, limits=Limits(largest_read=3 * X[0].nbytes)))
    assert [len(rows) for rows, _ in stream] == [20, 20, 13]
    rows, labels = collect(stream)
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)


@pytest.mark.parametrize("format", ["Parquet", "CSV", "JSON lines", "svmlight", "NPY, labels beside"])
def test_a_block_that_would_not_fit_in_memory(tmp_path, format):
    path, target = write(tmp_path, format, X, Y)
    with pytest.raises(ValueError, match=r"rows of .* take more than .*: batch_rows must be smaller, got 53"):
        list(open_files(path, Request(target, batch_rows=53, limits=Limits(largest_block=300))))


def test_a_batch_of_the_first_look_ends_early_if_it_is_large():
    pieces = [Piece(np.zeros((4, 8)), None, 4 * i, 0, None) for i in range(5)]
    blocks = list(cut(iter(pieces), 100, None, 3 * pieces[0].n_bytes, ends_early=True))
    assert [sum(map(len, block)) for block in blocks] == [12, 8]


def strings(n_bytes):
    """Return rows that repeat two strings, followed by as many distinct short strings."""
    codes = np.concatenate((np.arange(2000) % 2, 2 + np.arange(2000))).astype(np.int32)
    return pa.DictionaryArray.from_arrays(codes, ["x" * n_bytes, "y" * n_bytes, *map(str, range(2000))])


# Largest read in bytes, rows asked for, and whether the column is read as a dictionary.
READS = {
    "as strings": (1 << 28, 4000, False),
    "as a dictionary": (10**5, 1000, True),
    "a few rows": (20_000, 20, False),
}


@pytest.mark.parametrize("case", READS)
def test_ways_to_read_parquet_text(tmp_path, case):
    largest_read, n_rows, is_dictionary = READS[case]
    path = tmp_path / "t.parquet"
    # Stored uncompressed, the chunk takes about 30 kB: two strings of 1 kB, and short ones.
    pa.parquet.write_table(
        pa.table({"a": strings(1000).cast(pa.string()), "label": np.arange(4000) % 2}), path, compression="none"
    )
    table = ParquetTable(DataFile(path, Limits(largest_read=largest_read)))
    batches = [batch for batch, _ in table.batches({"a": "text"}, n_rows)]
    assert max(batch.num_rows for batch in batches) <= n_rows
    assert [pa.types.is_dictionary(batch.column(0).type) for batch in batches] == [is_dictionary] * len(batches)
    assert [cell for batch in batches for cell in batch.column(0).to_pylist()] == strings(1000).to_pylist()


def test_a_dictionary_that_is_too_large(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": strings(1000), "label": np.arange(4000) % 2}), path, compression="none")
    limits = Limits(largest_read=1000)
    with pytest.raises(ValueError, match=r"Column 'a' of .*t\.parquet must have dictionaries of at most 0 MB, got"):
        open_files(path, Request(limits=limits))


@pytest.mark.parametrize("suffix", ["arrow", "arrows"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_moderately_compressed_arrow_batches_are_read_whole(tmp_path, suffix, compression):
    table = pa.table({"x": X[:, 0], "few": pa.array(list("abc") * 17 + ["c", None]).dictionary_encode(), "label": Y})
    new = pa.ipc.new_file if suffix == "arrow" else pa.ipc.new_stream
    path = tmp_path / f"t.{suffix}"
    with new(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=20)
    expected, _ = collect(streams.open(path))
    rows, labels = collect(open_files(path, Request(limits=Limits(largest_whole=1))))
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(labels, Y)
    if compression is not None:
        with pytest.raises(
            ValueError, match=r"must have compressed dictionaries of at most 0 GB, got one of \d+ bytes"
        ):
            open_files(path, Request(limits=Limits(largest_whole=1, whole_ratio=0)))


def test_views_are_expanded_a_few_rows_at_a_time(tmp_path):
    lists = pa.array([[float(i), 1.0] if i % 5 else None for i in range(53)], pa.list_view(pa.float64()))
    words = pa.array([f"a long word number {i % 3}" for i in range(53)], pa.string_view())
    table = pa.table({"x": lists, "word": words, "label": Y})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    expected, _ = collect(streams.open(tmp_path / "t.arrow", dtype="float64"))
    assert expected.shape == (53, 5)
    np.testing.assert_array_equal(expected[1:5, 0], [1, 2, 3, 4])
    few = Limits(largest_read=200)
    rows, _ = collect(open_files(tmp_path / "t.arrow", Request(dtype="float64", limits=few)))
    np.testing.assert_allclose(rows, expected, rtol=1e-15)
    with pytest.raises(ValueError, match=r"t\.arrow must have rows of at most 0 MB, got \d+ bytes"):
        open_files(tmp_path / "t.arrow", Request(limits=Limits(largest_read=20)))
