"""Errors about files and arguments, each in one sentence."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager


class ArgumentError(ValueError):
    """An argument of `open` or `of` does not fit the file or the frame.

    Attributes
    ----------
    argument : str
        Name of the argument, with which the message begins.
    """

    def __init__(self, message: str, argument: str = ""):
        super().__init__(message)
        self.argument = argument


@contextmanager
def errors_named(name: str) -> Iterator[None]:
    """Re-raise what libraries raise about the content of a file as one sentence with the name of the file."""
    try:
        yield
    except (EOFError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{name} is damaged or cut off: {first_line(error)}.") from None
    except MemoryError:
        raise ValueError(f"{name} cannot be read: a part of it does not fit in memory.") from None
    except OSError as error:
        if str(error).startswith(name):
            raise  # named already
        raise OSError(f"{name} cannot be read: {error.strerror or first_line(error)}.") from None
    except Exception as error:
        if not (_is_from_arrow(error) or isinstance(error, NotImplementedError)):
            raise
        raise ValueError(f"{name} cannot be read: {first_line(error)}.") from None


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, without its full stop."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".")


def _is_from_arrow(error: BaseException) -> bool:
    """Tell whether pyarrow raised an error."""
    return type(error).__module__.split(".")[0] == "pyarrow"
