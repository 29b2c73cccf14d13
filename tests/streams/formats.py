"""The same rows, written in every format that streams read."""

import bz2
import gzip
import json
import struct

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

N_ROWS, WIDTH = 53, 5
NAMES = [f"x_{i}" for i in range(WIDTH)]


def example():
    """Return rows of doubles with some zeros, not exact in single precision, and their labels."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, WIDTH)) * (rng.random((N_ROWS, WIDTH)) > 0.3)
    X[0, -1] = 1 / 3  # svmlight has the full width only if the last feature occurs
    return X, rng.integers(0, 4, N_ROWS)


def table(X, y):
    return pa.table({name: X[:, i] for i, name in enumerate(NAMES)} | {"label": y})


def csv_bytes(X, y, delimiter=",", header=True):
    lines = [delimiter.join([*NAMES, "label"])] if header else []
    lines += [delimiter.join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    return "\n".join(lines).encode() + b"\n"


def json_bytes(X, y):
    rows = (
        dict(zip(NAMES, row, strict=True)) | {"label": label} for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    return "\n".join(map(json.dumps, rows)).encode()


def svmlight_bytes(X, y, first=1):
    lines = []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        lines.append(" ".join([str(label), *(f"{i + first}:{value!r}" for i, value in enumerate(row) if value)]))
    return "\n".join(lines).encode() + b"\n"


def zstd(content):
    return pa.compress(content, "zstd", asbytes=True)


def idx_bytes(array):
    types = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
    kind = types[array.dtype.str[1:]]
    header = struct.pack(f">2x2B{array.ndim}I", kind, array.ndim, *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


def _parquet(path, X, y):
    pa.parquet.write_table(table(X, y), path, row_group_size=20)


def _lists(path, X, y):
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), WIDTH)
    pa.parquet.write_table(pa.table({"x": vectors, "label": y}), path)


def _ragged_lists(path, X, y):
    pa.parquet.write_table(pa.table({"x": pa.array(X.tolist()), "label": y}), path)


def _feather(path, X, y):
    pa.feather.write_feather(table(X, y), path, chunksize=20)


def _arrow_stream(path, X, y):
    with pa.ipc.new_stream(path, table(X, y).schema) as writer:
        writer.write_table(table(X, y), max_chunksize=17)


def _npy(path, X, y):
    np.save(path, X)
    np.save(path.with_name(path.name.replace("X", "y")), y)


def _npy_with_labels_inside(path, X, y):
    np.save(path, np.column_stack([y, X]))


def _npz_in_fortran_order(path, X, y):
    np.savez(path, X=np.asfortranarray(X), y=y)


def _idx(path, X, y):
    path.write_bytes(gzip.compress(idx_bytes(X.reshape(-1, WIDTH, 1))))
    labels = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
    labels.write_bytes(gzip.compress(idx_bytes(y.astype("i4"))))


def _hdf5(path, X, y):
    import h5py

    with h5py.File(path, "w") as file:
        file["X"], file["y"] = X, y


# File name, writer, and the target if `open` does not find it by itself.
FORMATS = {
    "Parquet": ("t.parquet", _parquet, "auto"),
    "Parquet of vectors": ("v.parquet", _lists, "auto"),
    "Parquet of lists": ("l.parquet", _ragged_lists, "auto"),
    "Feather": ("t.feather", _feather, "auto"),
    "Arrow stream": ("t.arrows", _arrow_stream, "auto"),
    "CSV": ("t.csv", lambda path, X, y: path.write_bytes(csv_bytes(X, y)), "auto"),
    "CSV with a byte order mark": (
        "b.csv",
        lambda path, X, y: path.write_bytes(b"\xef\xbb\xbf" + csv_bytes(X, y)),
        "auto",
    ),
    "CSV, line ends of Windows": (
        "w.csv",
        lambda path, X, y: path.write_bytes(csv_bytes(X, y).replace(b"\n", b"\r\n")),
        "auto",
    ),
    "CSV with semicolons": ("s.csv", lambda path, X, y: path.write_bytes(csv_bytes(X, y, ";")), "auto"),
    "CSV without names": ("n.csv", lambda path, X, y: path.write_bytes(csv_bytes(X, y, header=False)), -1),
    "TSV": ("t.tsv", lambda path, X, y: path.write_bytes(csv_bytes(X, y, "\t")), "auto"),
    "CSV, gz": ("t.csv.gz", lambda path, X, y: path.write_bytes(gzip.compress(csv_bytes(X, y))), "auto"),
    "CSV, bz2": ("t.csv.bz2", lambda path, X, y: path.write_bytes(bz2.compress(csv_bytes(X, y))), "auto"),
    "CSV, zst": ("t.csv.zst", lambda path, X, y: path.write_bytes(zstd(csv_bytes(X, y))), "auto"),
    "JSON lines": ("t.jsonl", lambda path, X, y: path.write_bytes(json_bytes(X, y)), "auto"),
    "JSON lines, gz": ("t.jsonl.gz", lambda path, X, y: path.write_bytes(gzip.compress(json_bytes(X, y))), "auto"),
    "svmlight": ("t.svm", lambda path, X, y: path.write_bytes(svmlight_bytes(X, y)), "auto"),
    "svmlight from 0": ("z.svm", lambda path, X, y: path.write_bytes(svmlight_bytes(X, y, 0)), "auto"),
    "svmlight, bz2": ("t.svm.bz2", lambda path, X, y: path.write_bytes(bz2.compress(svmlight_bytes(X, y))), "auto"),
    "NPY, labels beside": ("X_train.npy", _npy, "auto"),
    "NPY, labels inside": ("inside.npy", _npy_with_labels_inside, 0),
    "NPZ": ("t.npz", lambda path, X, y: np.savez(path, X=X, y=y), "auto"),
    "NPZ, compressed, other names": (
        "c.npz",
        lambda path, X, y: np.savez_compressed(path, rows=X, digit=y),
        "digit",
    ),
    "NPZ in Fortran order": ("f.npz", _npz_in_fortran_order, "auto"),
    "IDX": ("train-images-idx3-ubyte.gz", _idx, "auto"),
    "HDF5": ("t.h5", _hdf5, "auto"),
}


def write(folder, format, X, y):
    """Write rows in a format; return the path and the target."""
    name, writer, target = FORMATS[format]
    writer(folder / name, X, y)
    return folder / name, target


def collect(stream):
    """Return all rows of a stream as a dense matrix, and their labels."""
    blocks = list(stream)
    X = np.concatenate([X if isinstance(X, np.ndarray) else X.toarray() for X, _ in blocks])
    labels = [y for _, y in blocks]
    return X, None if labels[0] is None else np.concatenate(labels)
