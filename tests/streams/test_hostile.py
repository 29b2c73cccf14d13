"""Files that try to crash, hang or exhaust memory are refused in one sentence, in bounded time and memory."""

import gzip
import io
import json
import struct
import zipfile

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.streams.limited import LimitedReader

DEEP = 200_000


@pytest.fixture(scope="module")
def limited():
    """A process that reads files with limits on memory and time."""
    reader = LimitedReader()
    yield reader
    reader.close()


def text(name, content):
    """Write text."""

    def build(folder):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return build


def repeated(name, unit, n_bytes, head=b"", tail=b""):
    """Write a small gz file of many bytes, as one repeated member."""

    def build(folder):
        member = gzip.compress(unit * ((1 << 20) // len(unit)))
        (folder / name).write_bytes(gzip.compress(head) + member * (n_bytes >> 20) + gzip.compress(tail))
        return folder / name

    return build


def npy_bytes(shape, descr="<f8", fortran=False, n_data=64):
    """Return an NPY array that claims a shape."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"shape": shape, "fortran_order": fortran, "descr": descr})
    return content.getvalue() + b"\0" * n_data


def npz(X, y=None):
    """Write an NPZ file of given members."""

    def build(folder):
        with zipfile.ZipFile(folder / "t.npz", "w") as archive:
            archive.writestr("X.npy", X)
            archive.writestr("y.npy", npy_bytes((2,), "<i8", n_data=16) if y is None else y)
        return folder / "t.npz"

    return build


def idx(*shape):
    """Write an IDX file that claims a shape, without labels."""
    head = struct.pack(f">2x2B{len(shape)}I", 8, len(shape), *shape)
    return text("train-images-idx3-ubyte.gz", gzip.compress(head + b"\0" * 64))


def hdf5(fill):
    """Write an HDF5 file with labels, and beside it another HDF5 file and a binary file."""

    def build(folder):
        (folder / "secret.bin").write_bytes(np.arange(8.0).tobytes())
        with h5py.File(folder / "other.h5", "w") as other:
            other["X"] = np.ones((2, 3))
        with h5py.File(folder / "t.h5", "w", libver="latest") as file:
            file["y"] = np.arange(2)
            fill(file, folder)
        return folder / "t.h5"

    return build


def external_link(file, folder):
    file["X"] = h5py.ExternalLink(str(folder / "other.h5"), "/X")


def soft_link_that_leaves(file, folder):
    file["elsewhere"] = h5py.ExternalLink(str(folder / "other.h5"), "/")
    file["X"] = h5py.SoftLink("/elsewhere/X")


def soft_link_to_itself(file, folder):
    file["X"] = h5py.SoftLink("/X")


def external_storage(file, folder):
    file.create_dataset("X", (2, 4), "f8", external=[(str(folder / "secret.bin"), 0, 64)])


def external_labels(file, folder):
    file["X"] = np.zeros((2, 3))
    del file["y"]
    file.create_dataset("y", (2,), "f8", external=[(str(folder / "secret.bin"), 0, 16)])


def virtual(file, folder):
    layout = h5py.VirtualLayout((2, 3), "f8")
    layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "X", (2, 3))
    file.create_virtual_dataset("X", layout)


def empty(file, folder):
    file["X"] = h5py.Empty("f8")


def unstored(file, folder):
    file.create_dataset("X", (10**12, 4), "f8", chunks=(1 << 16, 4))
    del file["y"]
    file.create_dataset("y", (10**12,), "i1", chunks=(1 << 16,))


def long_labels(file, folder):
    file["X"] = np.zeros((2, 3))
    del file["y"]
    file["y"] = np.array(["a" * 10**6, "b"], h5py.string_dtype())


def heap_without_end(folder):
    path = hdf5(lambda file, _: file.create_dataset("X", data=np.zeros((2, 3))))(folder)
    with h5py.File(path, "a") as file:
        del file["y"]
        file["y"] = np.array(["a", "b"], h5py.string_dtype())
    data = bytearray(path.read_bytes())
    first = data.index(b"GCOL") + 16
    data[first + 48 : first + 64] = bytes(16)  # the free space after two strings
    path.write_bytes(data)
    return path


def parquet(columns):
    """Write a Parquet file."""

    def build(folder):
        pa.parquet.write_table(pa.table(columns), folder / "t.parquet")
        return folder / "t.parquet"

    return build


def arrow(name, columns, claim=None, **options):
    """Write an Arrow file or stream; `claim` replaces the uncompressed size of a buffer."""

    def build(folder):
        table = pa.table(columns)
        new = pa.ipc.new_file if name.endswith(".arrow") else pa.ipc.new_stream
        with new(folder / name, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table)
        if claim is not None:
            data = (folder / name).read_bytes()
            old, new_claim = (size.to_bytes(8, "little") for size in claim)
            assert data.count(old) == 1
            (folder / name).write_bytes(data.replace(old, new_claim))
        return folder / name

    return build


def one_long_list(n_values, is_first):
    """Write a Parquet file of short lists and one long list of zeros, stored in a few bytes."""

    def build(folder):
        lengths = np.full(1001, 3)
        lengths[0 if is_first else -1] = n_values
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.zeros(offsets[-1], np.int8)))
        return parquet({"a": lists, "label": np.arange(1001) % 2})(folder)

    return build


def repeated_string(n_rows, n_bytes=10**6):
    """Return a dictionary array that repeats two long strings."""
    codes = pa.array((np.arange(n_rows) % 2).astype(np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array([letter * n_bytes for letter in "xy"]))


def repeated_view(n_rows, n_bytes=10**6):
    """Write an Arrow file with a column of string views that repeats a long string."""
    views = pa.py_buffer(struct.pack("<i4sii", n_bytes, b"xxxx", 0, 0) * n_rows)

    def build(folder):
        try:
            column = pa.Array.from_buffers(pa.string_view(), n_rows, [None, views, pa.py_buffer(b"x" * n_bytes)])
        except ValueError:
            pytest.skip("this version of PyArrow cannot make string views of buffers")
        return arrow("t.arrow", {"a": column, "label": MANY[:n_rows]})(folder)

    return build


def npy_with_a_long_header(folder):
    with open(folder / "t.npy", "wb") as file:
        file.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1))
        file.truncate(2**32 + 100)
    return folder / "t.npy"


def wide(n_columns, names=True):
    """Write a CSV file of many columns."""
    first = ",".join(f"c{i}" for i in range(n_columns)) + ",label\n" if names else ""
    return text("t.csv", first + (",".join(["1.5"] * n_columns) + ",1\n") * 3)


TOO_LONG, BLANK, TOO_DEEP = "lines of at most 64 MB", "got more than 16 MB", "at most 64 deep"
TOO_WIDE, TOO_MANY, NAMES = "rows of at most 16,777,216 numbers", "at most 65,536", "at most 4096 characters"
ELSEWHERE = "got a link to another file, to itself or to nothing"
UNSTORED, TOO_LARGE = "Column 'a' of .* must store its values, got", "compressed record batches of at most 1 GB, got"
ZEROS = {"a": np.zeros(10**5), "label": np.zeros(10**5, np.int8)}
CLAIM = (8 * 10**5, 10**11)
MANY = np.arange(20_000) % 2
TARGET = {"target": 0}
# File, settings, and pattern of the message.
HOSTILE = {
    "deep lists": (text("t.jsonl", '{"a": ' + "[" * DEEP + "]" * DEEP + "}\n"), {}, TOO_DEEP),
    "deep objects": (text("t.jsonl", '{"a":' * DEEP + "1" + "}" * DEEP + "\n"), {}, TOO_DEEP),
    "deep over lines": (text("t.jsonl", '{"a":\n' * DEEP + "1" + "}" * DEEP + "\n"), {}, TOO_DEEP),
    "deep after a quote": (text("t.jsonl", '{"a\\"": "\\\\", "b": ' + "[" * DEEP + "]" * DEEP + "}\n"), {}, TOO_DEEP),
    "deep later": (
        text("t.jsonl", '{"a": 1, "label": 1}\n' * 200_000 + '{"a": ' + "[" * DEEP + "]" * DEEP + ', "label": 1}\n'),
        {},
        "Column 'a' .* number and then array",
    ),
    "a new field in each line": (
        text("t.jsonl", "".join(f'{{"{i}": 1}}\n' for i in range(70_000))),
        {},
        "at most 65,536 different fields",
    ),
    "100,000 columns": (wide(100_000), {}, TOO_MANY),
    "100,000 columns without names": (wide(100_000, names=False), TARGET, TOO_MANY),
    "a line of commas": (text("t.csv", b"," * 30_000_000 + b"\n"), TARGET, TOO_MANY),
    "a line of quoted cells": (text("t.csv", b'"",' * 5_000_000 + b"\n"), TARGET, TOO_MANY),
    "a line of 2 GB": (repeated("t.csv.gz", b"a", 2 << 30), {}, TOO_LONG),
    "a line of 2 GB in JSON": (repeated("t.jsonl.gz", b"a", 2 << 30, b'{"a": "'), {}, TOO_LONG),
    "a line of 2 GB in svmlight": (repeated("t.svm.gz", b"1", 2 << 30, b"1 1:"), {}, TOO_LONG),
    "a later line of 2 GB": (repeated("t.csv.gz", b",", 2 << 30, b"a,label\n1,2\n"), {}, TOO_LONG),
    "newlines": (repeated("t.csv.gz", b"\n", 4 << 30), {}, BLANK),
    "newlines of Windows": (repeated("t.csv.gz", b"\r\n", 4 << 30), {}, BLANK),
    "newlines in JSON": (repeated("t.jsonl.gz", b"\n", 4 << 30), {}, BLANK),
    "newlines in svmlight": (repeated("t.svm.gz", b"\n", 4 << 30), {}, BLANK),
    "newlines after a row": (repeated("t.csv.gz", b"\n", 4 << 30, b"a,label\n1,2\n"), {}, BLANK),
    "newlines after a row of JSON": (repeated("t.jsonl.gz", b"\n", 4 << 30, b'{"a": 1, "label": 1}\n'), {}, BLANK),
    "comments": (repeated("t.svm.gz", b"#:\n", 4 << 30), {}, BLANK),
    "quotes": (repeated("t.csv.gz", b'"', 4 << 30), {}, TOO_LONG),
    "quotes after a row": (repeated("t.csv.gz", b'"', 4 << 30, b"a,label\n1,2\n"), {}, TOO_LONG),
    "an open quote": (repeated("t.csv.gz", b'""\n', 1 << 30, b'a,label\n"'), {}, r"t\.csv\.gz"),
    "a long name": (text("t.csv", "a" * 200_000 + ",label\n1,2\n"), {}, NAMES),
    "a long name in quotes": (text("t.csv", '"' + "a" * 9_000 + '",label\n1,2\n'), {}, NAMES),
    "a long name in JSON": (text("t.jsonl", json.dumps({"a" * 200_000: 1, "label": 1})), {}, NAMES),
    "a long name in Parquet": (parquet({"a" * 200_000: DEEP * [1], "label": DEEP * [1]}), {}, NAMES),
    "a long label": (parquet({"a": [1, 2], "label": ["a" * 10**6, "b"]}), {}, "labels of at most .* in row 1"),
    "a long label many times": (
        parquet({"a": MANY, "label": repeated_string(20_000)}),
        {},
        "labels of at most .* row 1",
    ),
    "a long id many times": (
        parquet({"a": MANY, "id": repeated_string(20_000), "label": MANY}),
        {"ids": "id"},
        "Column 'id' of .* must hold ids of at most 16384 bytes, got 1,000,000 in row 1",
    ),
    "a long list after short ones": (one_long_list(4 * 10**7, is_first=False), {}, UNSTORED),
    "a long list before short ones": (one_long_list(4 * 10**7, is_first=True), {}, UNSTORED),
    "a buffer of 100 GB": (arrow("t.arrow", ZEROS, CLAIM, compression="zstd"), {}, TOO_LARGE),
    "a buffer of 100 GB in a stream": (arrow("t.arrows", ZEROS, CLAIM, compression="lz4"), {}, TOO_LARGE),
    "a dictionary of 100 GB": (
        arrow(
            "t.arrow",
            {"a": pa.array(["x" * 10**5, "y"]).dictionary_encode(), "label": [1, 2]},
            (10**5 + 1, 10**11),
            compression="zstd",
        ),
        {},
        "compressed dictionaries of at most 1 GB, got",
    ),
    "a bad line after many": (text("t.svm", "1 1:1\n" * 150_000 + "1 x\n"), {}, "Line 150001 of .* got '1 x'"),
    "an index of 10**18": (text("t.svm", f"1 1:1\n1 {10**18}:1\n"), {}, "Line 2 of"),
    "10**9 columns in NPZ": (npz(npy_bytes((2, 10**9))), {}, TOO_WIDE),
    "10**18 columns in NPZ": (npz(npy_bytes((2, 10**18))), {}, TOO_WIDE),
    "10**30 columns in NPZ": (npz(npy_bytes((2, 10**30))), {}, "lengths from 0 to"),
    "no rows of 10**12 columns": (npz(npy_bytes((0, 10**12)), npy_bytes((0,))), {}, TOO_WIDE),
    "10**15 rows in NPZ": (npz(npy_bytes((10**15, 2)), npy_bytes((10**15,))), {}, "cut off"),
    "columns below 0 in NPZ": (npz(npy_bytes((2, -2))), {}, "lengths from 0 to"),
    "100 axes in NPZ": (npz(npy_bytes((2,) + (1,) * 100)), {}, "at most 32 axes, got 101"),
    "Fortran order, 16 GB": (npz(npy_bytes((10**9, 2), fortran=True), npy_bytes((10**9,))), {}, "save it in C order"),
    "objects in NPZ": (npz(npy_bytes((2, 2), "|O")), {}, "Python objects"),
    "structures in NPZ": (npz(npy_bytes((2, 2), [("a", "<f8"), ("b", "<f8")])), {}, "must hold numbers or strings"),
    "labels of 2 GB": (npz(npy_bytes((2, 2)), npy_bytes((2,), "<U500000000")), {}, "strings of 1 to 16384 characters"),
    "10**18 columns in NPY": (text("t.npy", npy_bytes((2, 10**18))), TARGET, "cut off"),
    "10**30 columns in NPY": (text("t.npy", npy_bytes((2, 10**30))), TARGET, "cut off"),
    "no rows of 10**12 columns in NPY": (text("t.npy", npy_bytes((0, 10**12))), TARGET, TOO_WIDE),
    "an unknown version of NPY": (
        text("t.npy", npy_bytes((2, 4)).replace(b"NUMPY\1\0", b"NUMPY\1\1")),
        TARGET,
        r"t\.npy cannot be read as NPY: version 1\.1",
    ),
    "a header of 4 GB": (npy_with_a_long_header, TARGET, "header of 4,294,967,295 bytes"),
    "2**31 columns in IDX": (idx(2, 2**31, 1), TARGET, TOO_WIDE),
    "2**62 columns in IDX": (idx(2, 2**31, 2**31), TARGET, TOO_WIDE),
    "200 axes in IDX": (text("t-images-idx3-ubyte", b"\0\0\x08\xc8" + b"\0\0\0\1" * 201), TARGET, "at most 32 axes"),
    "external storage": (hdf5(external_storage), {}, "got a dataset that refers to other files"),
    "external storage of labels": (hdf5(external_labels), {}, "got a dataset that refers to other files"),
    "a virtual dataset": (hdf5(virtual), {}, "got a dataset that refers to other files"),
    "an external link": (hdf5(external_link), {}, ELSEWHERE),
    "a soft link that leaves": (hdf5(soft_link_that_leaves), {}, ELSEWHERE),
    "a soft link to itself": (hdf5(soft_link_to_itself), {}, ELSEWHERE),
    "an empty dataset": (hdf5(empty), {}, "'X' of .* must hold an array, got an empty dataset"),
    "10**12 rows without values": (hdf5(unstored), {}, "must store its values, got 0 bytes"),
    "long labels in HDF5": (hdf5(long_labels), {}, "strings of at most 16384 characters, got 1,000,000"),
    "a heap of strings without end": (heap_without_end, {}, "heap of strings without end"),
    "10**9 columns in HDF5": (
        hdf5(lambda file, folder: file.create_dataset("X", (2, 10**9), "f8")),
        {},
        TOO_WIDE,
    ),
    "a chunk of 2 GB": (
        hdf5(lambda file, folder: file.create_dataset("X", (2**20, 1000), "i2", chunks=(2**20, 1000))),
        {},
        "chunks of at most 1 GB",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(tmp_path, limited, case):
    build, settings, words = HOSTILE[case]
    outcome = limited.read(build(tmp_path), settings)
    assert outcome["kind"] in ("ValueError", "OSError"), outcome
    assert "\n" not in outcome["said"]
    assert len(outcome["said"]) < 500 + len(str(tmp_path))
    with pytest.raises(ValueError, match=words):
        raise ValueError(outcome["said"])
    assert str(tmp_path) in outcome["said"]
    assert outcome["taken"] < 1 << 30


def soft_link_inside(file, folder):
    file["rows/of/mine"] = np.ones((2, 3))
    file["rows/of/link"] = h5py.SoftLink("mine")
    file["X"] = h5py.SoftLink("/rows/of/link")


REPEATED = {
    "a long string of a dictionary": (parquet({"a": repeated_string(20_000), "label": MANY}), {}, [20_000, 2]),
    "dates beside a long string": (
        parquet({"a": repeated_string(20_000), "label": MANY}),
        {"dates": "parts"},
        [20_000, 2],
    ),
    "a long string of a dictionary in Arrow": (
        arrow("t.arrow", {"a": repeated_string(20_000), "label": MANY}),
        {},
        [20_000, 2],
    ),
    "a long string in views": (repeated_view(3000), {}, [3000, 1]),
}


@pytest.mark.parametrize("case", REPEATED)
def test_repeated_long_strings_take_little_memory(tmp_path, limited, case):
    build, settings, shape = REPEATED[case]
    outcome = limited.read(build(tmp_path), settings)
    assert outcome.get("shape") == shape, outcome
    assert outcome["taken"] < 1 << 29


LISTS = "".join(json.dumps({"x": [0.123456789] * 100_000, "label": i}) + "\n" for i in range(4))
LEGITIMATE = {
    "a CSV file of 5,000 columns": (wide(5000), {}, [3, 5000]),
    "a Parquet file of 20,000 columns": (
        parquet({f"c{i}": [1.0, 2.0] for i in range(20_000)} | {"label": [1, 2]}),
        {},
        [2, 20_000],
    ),
    "lists in lines of some MB": (text("t.jsonl", LISTS), {}, [4, 100_000]),
    "blank lines for some MB": (
        text("t.csv", b"\n" * (9 << 20) + b"a,label\n1,2\n" + b"\n" * (9 << 20) + b"3,4\n"),
        {},
        [2, 1],
    ),
    "nested lists that are dropped": (
        text("t.jsonl", '{"a": 1, "b": ' + "[" * 60 + "]" * 60 + ', "label": 1}\n'),
        {"drop": ["b"]},
        [1, 1],
    ),
    "brackets in strings": (text("t.jsonl", json.dumps({"a": '["{' * 500, "label": 1}) + "\n"), {}, [1, 1]),
    "many strings in a line": (
        text("t.jsonl", json.dumps({"a": 1, "b": [f"{i}" for i in range(70_000)], "label": 1})),
        {"drop": ["b"]},
        [1, 1],
    ),
    "soft links within the file": (hdf5(soft_link_inside), {}, [2, 3]),
}


@pytest.mark.parametrize("case", LEGITIMATE)
def test_wide_and_odd_files_are_read(tmp_path, limited, case):
    build, settings, shape = LEGITIMATE[case]
    outcome = limited.read(build(tmp_path), settings, seconds=60)
    assert outcome.get("shape") == shape, outcome
