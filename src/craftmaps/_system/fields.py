"""Values of untrusted headers, taken out one by one with type and bounds checked.

A file's header is JSON with arrays in it. Everything that is read from one goes through `Fields`, which names a bad
value and says what was expected; the reader of the file puts its name in front.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEEDS = 2**64
MOST_ROWS = 2**53
_SHOWN = 40
# Bytes that computed matrices may take: a fixed number, and a multiple of the arrays that they come from.
_FREE_BYTES, _BYTES_PER_BYTE = 2**27, 2**11


class DamagedError(ValueError):
    """A value of a header is missing, of the wrong type, or does not fit the others."""


class Fields:
    """The named values of one object of a header.

    Parameters
    ----------
    values : object
        What the file has; anything but a dict is refused.
    name : str
        Where it stands, such as "lift.feature_map"; empty for the header itself.
    """

    def __init__(self, values: Any, name: str = ""):
        if not isinstance(values, dict):
            raise DamagedError(f"{name or 'the header'} must be an object, got {shown(values)}")
        self._values, self._name = values, name

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self):
        return iter(self._values)

    def path(self, name: str) -> str:
        """Return the full name of a value."""
        return f"{self._name}.{name}".lstrip(".")

    def refuse(self, name: str, expected: str) -> DamagedError:
        """Return the error that says what a value should be."""
        return DamagedError(f"{self.path(name)} must be {expected}, got {shown(self._values.get(name))}")

    def value(self, name: str) -> Any:
        """Return a value of any type."""
        if name not in self._values:
            raise DamagedError(f"{self.path(name)} is missing")
        return self._values[name]

    def only(self, names: Iterable[str]) -> None:
        """Refuse values of unknown names."""
        for name in self._values.keys() - set(names):
            raise DamagedError(f"{self._name or 'the header'} has an unknown value {shown(name)}")

    def object(self, name: str) -> "Fields":
        """Return an object within this one."""
        return Fields(self.value(name), self.path(name))

    def whole(self, name: str, low: int = 0, high: int = MOST_ROWS) -> int:
        """Return a whole number from low to high."""
        value = self.value(name)
        if type(value) is not int or not low <= value <= high:
            raise self.refuse(name, f"a whole number from {low} to {high}")
        return value

    def seed(self, name: str) -> int:
        """Return a seed."""
        return self.whole(name, 0, SEEDS - 1)

    def number(self, name: str, low: float = -math.inf, above: float = -math.inf) -> float:
        """Return a finite number of at least low, and above another one."""
        value = self.value(name)
        if not _is_number(value) or value < low or value <= above:
            bound = f" of at least {low:g}" if low > -math.inf else f" above {above:g}" if above > -math.inf else ""
            raise self.refuse(name, f"a finite number{bound}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return a truth value."""
        return self.one_of(name, (True, False))

    def one_of(self, name: str, choices: tuple) -> Any:
        """Return a value if it is one of the choices; True is not 1."""
        value = self.value(name)
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            raise self.refuse(name, f"one of {', '.join(map(repr, choices))}")
        return value

    def numbers(self, name: str, most: int, low: float = -math.inf) -> NDArray[np.float64]:
        """Return a list of finite numbers, at least one."""
        value = self.value(name)
        if not (isinstance(value, list) and 0 < len(value) <= most and all(map(_is_number, value))):
            raise self.refuse(name, f"a list of 1 to {most} finite numbers")
        array = np.array(value, dtype=np.float64)
        if array.min() < low:
            raise self.refuse(name, f"a list of numbers of at least {low:g}")
        return array

    def text(self, name: str) -> str:
        """Return a text."""
        if not is_text(self.value(name)):
            raise self.refuse(name, "a text")
        return self.value(name)

    def texts(self, name: str, length: int) -> list[str]:
        """Return a list of strings."""
        value = self.value(name)
        if not (isinstance(value, list) and len(value) == length and all(map(is_text, value))):
            raise self.refuse(name, f"a list of {length} strings")
        return value

    def array(self, name: str, shape: tuple[int | None, ...], dtypes: tuple = (np.float64, np.float32)) -> NDArray:
        """Return an array of a shape, None for any length, and of one of the types; floats must be finite."""
        value = self.value(name)
        if not isinstance(value, np.ndarray) or value.dtype not in dtypes or not _fits(value.shape, shape):
            sizes = " x ".join("any" if size is None else str(size) for size in shape)
            raise self.refuse(name, f"an array of {sizes} numbers as {' or '.join(np.dtype(t).name for t in dtypes)}")
        if value.dtype.kind == "f" and not is_finite(value):
            raise DamagedError(f"{self.path(name)} must consist of finite numbers, got NaN or infinity")
        return value


def refuse_costly(what: str, n_bytes: int, file_bytes: int) -> None:
    """Refuse a matrix that is far larger than the arrays of the file that it comes from."""
    if n_bytes > _FREE_BYTES + _BYTES_PER_BYTE * file_bytes:
        raise DamagedError(f"{what} would take {n_bytes} bytes, too many for arrays of {file_bytes} bytes")


def is_finite(array: NDArray[np.floating]) -> bool:
    """Tell whether all numbers are finite; a finite sum, which is quick, shows it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(array, axis=None)) or np.isfinite(array).all())


def is_text(value: Any) -> bool:
    """Tell whether a value is a string that can be written as UTF-8."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def shown(value: Any) -> str:
    """Return a value in a few words, on one line."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    if isinstance(value, list | dict | tuple):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)} values"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_SHOWN:
        return "a number of very many digits"
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _is_number(value: Any) -> bool:
    """Tell whether a value is a finite int or float."""
    if type(value) is int:
        return -(2**1000) < value < 2**1000
    return type(value) is float and math.isfinite(value)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(w is None or n == w for n, w in zip(shape, wanted, strict=True))
