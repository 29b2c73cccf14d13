"""Errors and warnings about arguments of streams, worded with the options that the arguments come from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from craftmaps._system.errors import ArgumentError

_OPTIONS = {
    "target": "--target",
    "drop": "--drop",
    "categories": "--categories",
    "weight": "--weight",
    "ids": "--id",
    "decimal": "--decimal",
    "dates": "--dates",
}


@contextmanager
def named_as_options(is_target_typed: bool = True) -> Iterator[None]:
    """Re-raise errors about arguments of streams as errors about options.

    A target that was not typed is the target of the training rows.
    """
    try:
        yield
    except ValueError as error:
        refused = _refused_argument(error)
        if refused is None:
            message = with_options(str(error))
            if message == str(error):
                raise
            raise ValueError(message) from None
        argument, complaint = refused
        if argument == "target" and not is_target_typed:
            raise ValueError(f"The target of the training rows {complaint}") from None
        raise typer.BadParameter(f"{_OPTIONS[argument]} {complaint}") from None


def with_options(text: str) -> str:
    """Replace arguments of streams by options.

    Examples
    --------
    >>> with_options("Read it with decimal=',', or leave it out with drop=['price'].")
    "Read it with --decimal ,, or leave it out with --drop 'price'."
    """
    text = re.sub(r"\b(drop|categories)=\[(.+?)\]", r"--\1 \2", text)
    return re.sub(r"\b(decimal|dates)=(['\"])(.+?)\2", r"--\1 \3", text)


def _refused_argument(error: ValueError) -> tuple[str, str] | None:
    """Return the argument that was refused and the complaint, if an option sets it."""
    if isinstance(error, ArgumentError):
        argument, complaint = error.argument, error.complaint
    else:
        # Streams also raise plain errors, whose first word is the argument.
        argument, _, complaint = str(error).partition(" ")
    return (argument, complaint) if argument in _OPTIONS else None
