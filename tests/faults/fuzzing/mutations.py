"""Seeded mutations: of the values of headers, of arrays, of text, and of bytes."""

import bz2
import copy
import gzip
import json
import re
from typing import Any

import numpy as np

from tests.faults.fuzzing.containers import Container

# What numbers become. Most of these once ended in a signal, a timeout or gigabytes.
NUMBERS: list[Any] = [0, 1, 2, 3, 7, 8, 64, -1, 2**16, 2**20, 2**24, 2**27, 2**31 - 1, 2**31, 2**32, 2**53, 2**63]
NUMBERS += [2**64, -(2**63), 10**400, 0.5, -0.0, 1e-320, 1e-160, 1e30, 1e160, 1e308, -1e308, float("nan")]
NUMBERS += [float("inf"), float("-inf")]
OTHERS: list[Any] = [None, True, False, "", "text", "\x00", "\ud800", "x" * 10_000, [], {}, [[]], {"array": "weights"}]
OTHERS += [{"array": "no such"}, {"array": 5}, [1] * 1000, {"class": "Polynomial", "parameters": {"degree": 500}}]
WORDS = ["CraftMap", "RandomMaclaurin", "TensorSketch", "LandmarkMap", "SubsampledHadamard", "StandardScaler"]
WORDS += ["CovarianceMetric", "GradientMetric", "Polynomial", "Exponential", "MaclaurinSeries", "maclaurin"]
WORDS += ["tensorsketch", "hadamard", "stratified", "rademacher", "random", "one-vs-rest", "|O", "<U1", "<U9999999"]
WORDS += ["<i8", "<f8", "|b1", "CraftClassifier", "CraftRegressor", "gaussian", "os.system"]
TYPES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U8": 1, "BOOL": 1}
TOKENS = [b"nan", b"inf", b"-1e999", b"1e308", b"9" * 400, b"99999999999", b"-1", b"", b'"', b"\x00", b"\xff", b"\n"]
TOKENS += [b",", b":", b"[", b"{", b"'", b"x" * 5000, b"1:1 1:1", b"[" * 20_000, b'{"a":' * 5_000, b"2000000000:1"]
# Bombs: deep, wide, long, and much of one thing, which compresses well.
BOMBS = [b"[" * 1_000_000, b'{"a":' * 300_000, b"1," * 300_000, b"\n" * 20_000_000, b'"' * 20_000_000]
BOMBS += [b"x" * 200_000 + b",1", b"7" * 30_000_000, b"1 1:1\n" * 3_000_000, b"1 2147483647:1\n", b"1:1 " * 500_000]
TOKENS += [b"\xef\xbb\xbf", b"\r", b"1;2", b'""', b"null", b"true", b"1_0", b"," * 20_000, b"\n" * 100_000]


def mutated(rng: np.random.Generator, kind: str, name: str, content: bytes) -> tuple[bytes, bool]:
    """Return a mutated file, and whether its checksum is still that of the good one."""
    if kind == "run":
        return (_run(rng, content) if rng.random() < 0.7 else flipped(rng, content)), False
    if kind == "data":
        return _data(rng, name, content), False
    if rng.random() < 0.25:
        return flipped(rng, content), True
    file = Container.unpack(content)
    for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):
        _mutate_container(rng, file)
    fate = rng.random()
    if fate < 0.7:
        file.seal()
    elif fate < 0.85 and file.checksum is not None:  # as if it were a file of before
        file.checksum = None
        file.text = file.text.replace(', "checksum": "crc32"', "")
        return file.pack(), False
    return file.pack(), fate >= 0.7


def flipped(rng: np.random.Generator, content: bytes) -> bytes:
    """Change bytes at random: flip, cut off, extend, zero, repeat or remove some."""
    data = bytearray(content)
    start = int(rng.integers(0, max(1, len(data))))
    if rng.random() < 0.4:  # the beginning says the most
        start = int(rng.integers(0, max(1, min(len(data), 200))))
    stop = min(len(data), start + int(2 ** rng.uniform(0, 10)))
    what = rng.integers(0, 8)
    if what <= 2:
        for place in rng.integers(start, max(start + 1, stop), int(rng.integers(1, 9))):
            if place < len(data):
                data[place] ^= 1 << int(rng.integers(0, 8))
    elif what == 3:
        del data[start:]
    elif what == 4:
        data += rng.bytes(stop - start)
    elif what == 5:
        data[start:stop] = bytes([rng.choice([0, 255, 32, 10])]) * (stop - start)
    elif what == 6:
        data[start:start] = data[start:stop]
    else:
        del data[start:stop]
    return bytes(data)


def _mutate_container(rng: np.random.Generator, file: Container) -> None:
    """Change the header, or an array."""
    what = rng.random()
    if file.arrays and what < 0.35:
        _mutate_array(rng, file)
    elif what < 0.42:
        file.text = _odd_text(rng, file.text)
    else:
        try:
            header = json.loads(file.text)
        except (ValueError, RecursionError):
            return
        _mutate_values(rng, header)
        try:
            file.text = json.dumps(header)
        except RecursionError:
            return


def _odd_text(rng: np.random.Generator, text: str) -> str:
    """Change the text of a header in ways that no value can."""
    what = rng.integers(0, 5)
    if what == 0:
        return text.replace("{", '{"version": 2, "version": 2, ', 1)
    if what == 1:
        places = [match.end() for match in re.finditer(r": ", text)] or [0]
        place, depth = places[int(rng.integers(0, len(places)))], int(rng.choice([30, 900, 5000, 100_000]))
        return text[:place] + "[" * depth + "]" * depth + ", " + text[place:]
    if what == 2:
        places = [match.span() for match in re.finditer(r"-?\d+(\.\d+)?", text)] or [(0, 0)]
        start, stop = places[int(rng.integers(0, len(places)))]
        return text[:start] + str(rng.choice(["1e999", "-1e999", "9" * 5000, "0.", "-", "NaN"])) + text[stop:]
    place = int(rng.integers(0, len(text) + 1))
    if what == 3:
        return text[:place]
    return text[:place] + str(rng.choice(['"', "}", "]", ",", "\\ud800", "\x00", "Infinity"])) + text[place:]


def _slots(value: Any) -> list[tuple[Any, Any]]:
    """Return all (container, key) of a header."""
    found, stack = [], [value]
    while stack:
        inner = stack.pop()
        for key in list(inner) if isinstance(inner, dict) else range(len(inner)):
            found.append((inner, key))
            if isinstance(inner[key], dict | list):
                stack.append(inner[key])
    return found


def _mutate_values(rng: np.random.Generator, header: Any) -> None:
    """Change one value of a header."""
    slots = _slots(header)
    if not slots:
        return
    container, key = slots[int(rng.integers(0, len(slots)))]
    value = container[key]
    what = rng.random()
    if type(value) is int and rng.random() < 0.3:  # everywhere, so that the header agrees with itself
        new = NUMBERS[int(rng.integers(0, len(NUMBERS)))]
        for inner, name in slots:
            if type(inner[name]) is int and inner[name] == value:
                inner[name] = new
    elif what < 0.08:
        del container[key]
    elif what < 0.14 and isinstance(container, dict):
        container[f"{key}_"] = container.pop(key)
    elif what < 0.24:
        other, other_key = slots[int(rng.integers(0, len(slots)))]
        container[key] = copy.deepcopy(other[other_key])
    elif what < 0.34:
        container[key] = copy.deepcopy(OTHERS[int(rng.integers(0, len(OTHERS)))])
    elif isinstance(value, list) and value:
        _mutate_list(rng, value)
    elif isinstance(value, bool) or value is None:
        container[key] = [True, False, None, 0, 1, 5][int(rng.integers(0, 6))]
    elif isinstance(value, int | float):
        near = [value + 1, value - 1, value * 2, value // 2 if value == value and abs(value) < 1e300 else 0, -value]
        container[key] = (near + NUMBERS)[int(rng.integers(0, len(near) + len(NUMBERS)))]
    elif isinstance(value, str):
        container[key] = str(rng.choice(WORDS)) if rng.random() < 0.7 else value[::-1]


def _mutate_list(rng: np.random.Generator, values: list) -> None:
    place = int(rng.integers(0, len(values)))
    what = rng.integers(0, 6)
    if what == 0:
        del values[place]
    elif what == 1:
        values.append(copy.deepcopy(values[place]))
    elif what == 2:
        values.reverse()
    elif what == 3:
        values[place] = NUMBERS[int(rng.integers(0, len(NUMBERS)))]
    elif what == 4:
        values.extend(copy.deepcopy(values[place]) for _ in range(int(rng.choice([10, 1000]))))
    else:
        values[place] = copy.deepcopy(OTHERS[int(rng.integers(0, len(OTHERS)))])


def _mutate_array(rng: np.random.Generator, file: Container) -> None:
    """Change type, shape, numbers or the name of an array."""
    names = list(file.arrays)
    name, other = (names[i] for i in rng.integers(0, len(names), 2))
    dtype, shape, data = file.arrays[name]
    what = rng.integers(0, 8)
    if what == 0:
        file.arrays[name], file.arrays[other] = file.arrays[other], file.arrays[name]
    elif what == 1:
        file.arrays[f"{name}_"] = file.arrays.pop(name)
    elif what == 2:
        dtype = str(rng.choice(list(TYPES)))
        file.arrays[name] = (dtype, [len(data) // TYPES[dtype]], data[: len(data) // TYPES[dtype] * TYPES[dtype]])
    elif what == 3:
        file.arrays[name] = (
            dtype,
            [shape[::-1], [1, *shape], [0, 2**40], [], [-1], [2**62, 4]][rng.integers(0, 6)],
            data,
        )
    elif what == 4 and shape and shape[0]:
        row = data[: len(data) // shape[0]]
        is_longer = rng.random() < 0.5
        n_rows = shape[0] + (1 if is_longer else -1)
        file.arrays[name] = (dtype, [n_rows, *shape[1:]], data + row if is_longer else data[len(row) :])
    else:
        _mutate_numbers(rng, file, name)


def _mutate_numbers(rng: np.random.Generator, file: Container, name: str) -> None:
    """Change some numbers of an array."""
    dtype, shape, data = file.arrays[name]
    numpy_type = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}
    if dtype not in numpy_type or not data:
        file.arrays[name] = (dtype, shape, flipped(rng, data)[: len(data)].ljust(len(data), b"\0"))
        return
    numbers = np.frombuffer(data, numpy_type[dtype]).copy()
    places = rng.integers(0, numbers.size, int(rng.choice([1, 1, 3, numbers.size])))
    if numbers.dtype.kind == "f":
        value = rng.choice([np.nan, np.inf, -np.inf, 0, -1, 1e-300, 1e30, 1e38, 1e300, -1e300])
        with np.errstate(over="ignore"):
            numbers[places] = numbers.dtype.type(value)
    else:
        numbers[places] = rng.choice([0, -1, 1, 5, 2**31 - 1, -(2**31)])
    file.arrays[name] = (dtype, shape, numbers.tobytes())


def _run(rng: np.random.Generator, content: bytes) -> bytes:
    """Change the notes of a run."""
    text = content.decode()
    what = rng.random()
    if what < 0.2:
        return _odd_text(rng, text).encode("utf-8", "surrogatepass")
    if what < 0.35:
        depth = int(rng.choice([100, 5000, 200_000]))
        return [b"[" * depth + b"]" * depth, b"[]", b"5", b"null", b"\xff\xfe", b"", b'"x"', b"9" * 5000][
            rng.integers(0, 8)
        ]
    header = json.loads(text)
    for _ in range(int(rng.integers(1, 4))):
        _mutate_values(rng, header)
    return json.dumps(header).encode("utf-8", "surrogatepass")


def _data(rng: np.random.Generator, name: str, content: bytes) -> bytes:
    """Change a data file: bytes, or pieces of its text, of what is compressed too."""
    if rng.random() < 0.3:
        return flipped(rng, content)
    for magic, unpack, pack in ((b"\x1f\x8b", gzip.decompress, gzip.compress), (b"BZh", bz2.decompress, bz2.compress)):
        if content.startswith(magic):
            return pack(_data(rng, name, unpack(content)))
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.08:
            place = int(rng.integers(0, len(data) + 1))
            data[place:place] = BOMBS[int(rng.integers(0, len(BOMBS)))]
            continue
        places = [match.span() for match in re.finditer(rb"-?\d+(\.\d+)?|[a-z_]+", data[:5000])] or [(0, 1)]
        start, stop = places[int(rng.integers(0, len(places)))]
        token = TOKENS[int(rng.integers(0, len(TOKENS)))]
        what = rng.random()
        if b"\x00" in content and what < 0.7:  # sizes of a binary format
            start = int(rng.integers(0, min(len(data), 400)))
            number = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**40, 2**62, 255]))
            width = int(rng.choice([1, 2, 4, 8]))
            order = "little" if rng.random() < 0.6 else "big"
            data[start : start + width] = (number % 2 ** (8 * width)).to_bytes(width, order)
        elif what < 0.85:
            data[start:stop] = token
        else:
            lines = bytes(data).split(b"\n")
            data = bytearray(b"\n".join([*lines[:3], *lines[1:], *[lines[-1]] * int(rng.integers(0, 50))]))
    return bytes(data)
