"""Folders, globs, several paths and standard input."""

import gzip
import io
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from craftmaps import streams
from tests.streams.formats import collect, csv_bytes, example, json_bytes, svmlight_bytes, table, write

X, Y = example()
CSV = csv_bytes(X, Y)


@pytest.fixture
def three_files(tmp_path):
    """The rows in three Parquet files, beside other files."""
    for i, (start, stop) in enumerate([(0, 20), (20, 21), (21, 53)]):
        pa.parquet.write_table(table(X[start:stop], Y[start:stop]), tmp_path / f"part-{i}.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "README").write_text("not data")
    return tmp_path


@pytest.mark.parametrize(
    "path_of",
    [
        lambda folder: folder,
        lambda folder: str(folder),
        lambda folder: str(folder / "part-*.parquet"),
        lambda folder: folder / "*.parquet",
        lambda folder: sorted(folder.glob("*.parquet")),
        lambda folder: (folder / "part-0.parquet", str(folder / "part-[12].parquet")),
    ],
    ids=["folder", "string", "glob", "path of a glob", "list", "tuple with a glob"],
)
def test_many_files_are_one_stream(three_files, path_of):
    stream = streams.open(path_of(three_files), batch_rows=16)
    assert stream.n_rows == 53
    assert [block.shape[0] for block, _ in stream] == [16, 16, 16, 5]
    rows, labels = collect(stream)
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)
    assert stream.bytes_read == stream.total_bytes


def test_the_order_of_a_list_is_kept(three_files):
    paths = [three_files / "part-2.parquet", three_files / "part-0.parquet"]
    np.testing.assert_array_equal(collect(streams.open(paths))[1], np.concatenate([Y[21:], Y[:20]]))


FOLDERS = {
    "settings and notes": {"a.csv": CSV, "package.json": b'{"name": 1}', "README.md": b"# no data", "b.bin": b"\0\1\2"},
    "a model and a report": {"a.csv": CSV, "model.craft": b"\0" * 9, "report.html": b"<html>", "run.json": b"{}"},
    "no suffixes": {"part-0": CSV, "README": b"read me, please", "run.sh": b"#!/bin/sh", "b.bin": b"\0\1\2", "e": b""},
    "a binary format without a suffix": {"rows": b"PAR1", "notes.txt": b"a,b"},
    "JSON alone": {"a.json": json_bytes(X, Y), "README": b"no data"},
}


@pytest.mark.parametrize("case", FOLDERS)
def test_unrelated_files_beside_data_are_ignored(tmp_path, case):
    for name, content in FOLDERS[case].items():
        (tmp_path / name).write_bytes(content)
    first = next(iter(FOLDERS[case]))
    if first == "rows":
        pa.parquet.write_table(table(X, Y), tmp_path / first)
    rows, labels = collect(streams.open(tmp_path))
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)


def test_a_folder_of_several_formats_is_refused_with_a_remedy(tmp_path):
    for name in ("a.csv", "b.jsonl", "c.svm"):
        (tmp_path / name).write_bytes(CSV)
    words = r"must hold data of one format, got a\.csv \(CSV\) and b\.jsonl .*: name the files .* '.*\*\.csv'\."
    with pytest.raises(ValueError, match=words):
        streams.open(tmp_path)


def test_a_folder_without_data(tmp_path):
    (tmp_path / "b.bin").write_bytes(b"\0\1\2")
    (tmp_path / "README.md").write_text("no data")
    with pytest.raises(ValueError, match="holds no data files"):
        streams.open(tmp_path)


@pytest.mark.parametrize("format", ["NPY, labels beside", "IDX"])
def test_files_of_labels_in_a_folder_are_not_rows(tmp_path, format):
    path, _ = write(tmp_path, format, X, Y)
    both = sorted(tmp_path.iterdir())
    for paths in (tmp_path, both, path):
        rows, labels = collect(streams.open(paths))
        np.testing.assert_array_equal(rows, X.astype(np.float32))
        np.testing.assert_array_equal(labels, Y)


def test_a_second_path_of_labels(tmp_path):
    np.save(tmp_path / "pixels.npy", X)
    np.save(tmp_path / "digits.npy", Y)
    rows, labels = collect(streams.open([tmp_path / "pixels.npy", tmp_path / "digits.npy"]))
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)


def parquet_bytes():
    content = io.BytesIO()
    pa.parquet.write_table(table(X, Y), content)
    return content.getvalue()


INPUTS = {
    "CSV": csv_bytes(X, Y),
    "TSV": csv_bytes(X, Y, "\t"),
    "JSON lines": json_bytes(X, Y),
    "svmlight": svmlight_bytes(X, Y),
    "Parquet": parquet_bytes(),
    "CSV, gz": gzip.compress(csv_bytes(X, Y)),
}


def give(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("format", INPUTS)
def test_standard_input(monkeypatch, format):
    give(monkeypatch, INPUTS[format])
    stream = streams.open("-", batch_rows=16)
    rows, labels = collect(stream)
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    np.testing.assert_array_equal(labels, Y)
    with pytest.raises(ValueError, match="Standard input can be read only once"):
        iter(stream)


@pytest.mark.parametrize("format", INPUTS)
def test_standard_input_with_columns(monkeypatch, format):
    give(monkeypatch, INPUTS[format])
    columns = streams.open("-").columns
    give(monkeypatch, INPUTS[format])
    np.testing.assert_array_equal(collect(streams.open("-", columns=columns))[0], X.astype(np.float32))


def test_standard_input_longer_than_the_first_look(monkeypatch):
    lines = "".join(f"{i},{i % 2}\n" for i in range(150_000))
    give(monkeypatch, b"a,label\n" + lines.encode())
    rows, _ = collect(streams.open("-"))
    np.testing.assert_array_equal(rows[:, 0], np.arange(150_000))


@pytest.mark.parametrize(("content", "words"), [(b"", "Standard input is empty"), (b"\x00\x01", "no known format")])
def test_bad_standard_input(monkeypatch, content, words):
    give(monkeypatch, content)
    with pytest.raises(ValueError, match=words):
        streams.open("-")


def test_an_interrupt_ends_a_program_that_waits_for_its_input():
    program = """
from craftmaps import streams
for i, _ in enumerate(streams.open("-")):
    if i == 0:
        print("block", flush=True)
"""
    rows = b"a,label\n" + b"1,2\n" * 2_000_000
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(rows)
        process.stdin.flush()
        assert process.stdout.readline() == b"block\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) != 0
        message = process.stderr.read()
    assert b"KeyboardInterrupt" in message
    assert b"Fatal" not in message
