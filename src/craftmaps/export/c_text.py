"""Numbers, arrays and names as C."""

import re
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LINE = 118


def source_part(name: str) -> str:
    """Return a part of the source."""
    return files("craftmaps.export").joinpath("c", name).read_text(encoding="utf-8")


def renamed(text: str, prefix: str) -> str:
    """Return a source whose names begin with a prefix."""
    if prefix == "craft":
        return text
    return re.sub(r"\bcraft_", f"{prefix}_", re.sub(r"\bCRAFT_", f"{prefix.upper()}_", text))


def definitions(**values: Any) -> str:
    """Return definitions of whole numbers; what ends in SEED has 64 bits."""
    values = {name: f"UINT64_C({value})" if name.endswith("SEED") else value for name, value in values.items()}
    return "\n".join(f"#define CRAFT_{name} {value}" for name, value in values.items())


def numbers(**values: float) -> str:
    """Return constants of single precision."""
    return "\n".join(f"static const float craft_{name} = {single(value)};" for name, value in values.items())


def array(name: str, values: Any, kind: str = "float") -> str:
    """Return an array of one or two dimensions, on lines that are not long."""
    content: NDArray = np.asarray(values)
    write = {"float": single, "double": lambda value: repr(float(value))}.get(kind, lambda value: str(int(value)))
    rows = [_wrapped([write(value) for value in row]) for row in content.reshape(-1, content.shape[-1])]
    body = rows[0] if content.ndim == 1 else ",\n".join(f"{{{row}}}" for row in rows)
    return f"static const {kind} craft_{name}{''.join(f'[{n}]' for n in content.shape)} = {{\n{body}}};"


def single(value: float) -> str:
    """Write a number as a constant of single precision.

    Examples
    --------
    >>> single(0.1), single(2)
    ('0.100000001f', '2.0f')
    """
    text = f"{np.float32(value):.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def quoted(text: str) -> str:
    r"""Write text as a C string: what is not a plain letter or digit as an octal number.

    Examples
    --------
    >>> print(quoted('7"'))
    "7\042"
    """
    return '"' + "".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\{b:03o}" for b in text.encode()) + '"'


def _wrapped(cells: list[str]) -> str:
    """Join cells with commas, and lines that are not long."""
    lines, line = [], ""
    for cell in cells:
        if len(line) + len(cell) > _LINE:
            lines.append(line)
            line = ""
        line += f"{cell},"
    return "\n".join([*lines, line])[:-1]
