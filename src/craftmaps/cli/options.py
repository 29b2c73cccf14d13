"""What options mean: kernels, sizes of memory and names of columns as text."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_LEAST_MEMORY = 64 * 10**6
# Arguments of streams, and the options that they come from.
_NAMES = {
    "target": "--target",
    "drop": "--drop",
    "categories": "--categories",
    "weight": "--weight",
    "ids": "--id",
    "decimal": "--decimal",
    "dates": "--dates",
}
_KERNELS = "poly:DEGREE[:COEF0[:GAMMA]] or exp[:GAMMA]"


def parse_kernel(text: str, expected: str = _KERNELS) -> Any:
    """Return a kernel from text such as "poly:7:1" or "exp:0.5".

    Examples
    --------
    >>> parse_kernel("poly:7:1")
    Polynomial(degree=7)
    >>> kernel_text(parse_kernel("exp:0.5"))
    'exp:0.5'
    """
    from craftmaps.kernels import Exponential, Polynomial

    name, *numbers = text.strip().lower().split(":")
    try:
        if name == "poly" and 1 <= len(numbers) <= 3:
            return Polynomial(int(numbers[0]), *map(float, numbers[1:]))
        if name == "exp" and len(numbers) <= 1:
            return Exponential(*map(float, numbers))
    except ValueError as error:
        if str(error).startswith(("degree", "coef0", "gamma")):
            raise typer.BadParameter(str(error)) from None
    raise typer.BadParameter(f"It must be {expected}, got {text!r}.")


def parse_kernel_or_auto(text: str) -> Any:
    """Return a kernel, or "auto" as it is."""
    return "auto" if text.strip().lower() == "auto" else parse_kernel(text, f"auto, {_KERNELS}")


def kernel_text(kernel: Any) -> str:
    """Return a kernel as `parse_kernel` takes it."""
    from craftmaps.kernels import DotProductKernel, Exponential, Polynomial

    if isinstance(kernel, Polynomial):
        gamma = "" if kernel.gamma == 1 else f":{kernel.gamma:g}"
        return f"poly:{kernel.degree}:{kernel.coef0:g}{gamma}"
    if isinstance(kernel, Exponential):
        return f"exp:{kernel.gamma:g}"
    return repr(kernel) if isinstance(kernel, DotProductKernel) else "none"


def parse_memory(text: str) -> int:
    """Return a number of bytes from text such as "4GB" or "512 MB".

    Examples
    --------
    >>> parse_memory("1.5GB")
    1500000000
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT]?[bB]?)\s*", text)
    unit = match[2].upper() if match else ""
    n_bytes = float(match[1]) * _UNITS[unit if unit in _UNITS else f"{unit}B"] if match else 0.0
    if not 0 < n_bytes < math.inf or match is None:
        raise typer.BadParameter(f"It must be a size such as 4GB or 512MB, got {text!r}.")
    if n_bytes < _LEAST_MEMORY:
        hint = "" if unit else f": write {match[1]}GB"
        raise typer.BadParameter(f"It must be at least 64MB, got {text!r}, which is {n_bytes:,.0f} bytes{hint}.")
    return int(n_bytes)


def parse_target(text: str | None) -> str | int:
    """Return a target as streams take it: a name, a position, or "auto" for the one that is there by custom."""
    if text is None:
        return "auto"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def as_source(paths: Sequence[str]) -> Any:
    """Return paths as streams take them; "-" alone is standard input."""
    if "-" in paths and len(paths) > 1:
        raise typer.BadParameter(f"Standard input, '-', must come alone, got {len(paths)} paths.")
    return paths[0] if len(paths) == 1 else list(paths)


def with_options(text: str) -> str:
    """Return a sentence of streams with options in place of their arguments.

    Examples
    --------
    >>> with_options("Read it with decimal=',', or leave it out with drop=['price'].")
    "Read it with --decimal ,, or leave it out with --drop 'price'."
    """
    text = re.sub(r"\b(drop|categories)=\[(.+?)\]", r"--\1 \2", text)
    return re.sub(r"\b(decimal|dates)=(['\"])(.+?)\2", r"--\1 \3", text)


@contextmanager
def named_as_options(is_target_typed: bool = True) -> Iterator[None]:
    """Say of options what streams say of their arguments; a target that was not typed is that of the training rows."""
    try:
        yield
    except ValueError as error:
        argument, _, rest = str(error).partition(" ")
        if argument not in _NAMES:
            message = with_options(str(error))
            if message == str(error):
                raise
            raise ValueError(message) from None
        if argument == "target" and not is_target_typed:
            raise ValueError(f"The target of the training rows {rest}") from None
        raise typer.BadParameter(f"{_NAMES[argument]} {rest}") from None


def column_options(
    drop: Sequence[str] | None, categories: Sequence[str] | None, weight: str | None, decimal: str, dates: str
) -> dict[str, Any]:
    """Return what was said of columns as arguments of streams."""
    return {
        "drop": drop or [],
        "categories": categories or [],
        "weight": weight,
        "decimal": None if decimal == "." else decimal,
        "dates": None if dates == "refuse" else dates,
    }


def parse_share(text: str) -> float:
    """Return a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise typer.BadParameter(f"It must be a number above 0 and below 1, got {str(text)!r}.")
    return value


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers within bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise typer.BadParameter(f"It must be a whole number {bounds}, got {str(text)!r}.")
        return value

    return number


def real_number(is_zero_allowed: bool) -> Callable[[str], float]:
    """Return a reader of finite numbers that are not negative, with or without zero."""
    bounds = "of at least 0" if is_zero_allowed else "above 0"

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf or (value == 0 and not is_zero_allowed):
            raise typer.BadParameter(f"It must be a finite number {bounds}, got {str(text)!r}.")
        return value

    return number


def option(reader: Callable[[str], Any], metavar: str, help: str) -> Any:
    """Return an option that is read by a function of its own, which says in one sentence what is wrong."""
    return typer.Option(parser=reader, metavar=metavar, help=help)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Threads = Annotated[Any, option(whole_number(1), "N", "Threads to use; by default all cores.")]
BatchRows = Annotated[Any, option(whole_number(1), "ROWS", "Rows to read at a time.")]
Drop = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column to leave out; may be repeated.")]
Categories = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Column of names that look like numbers, such as codes; may be repeated."),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the weights of the rows, which is no feature.")
]
Decimal = Annotated[Literal[".", ","], typer.Option(help="Decimal mark of the numbers in a CSV file.")]
Dates = Annotated[
    Literal["refuse", "parts"],
    typer.Option(help="What to do with dates: parts makes year, month, day, weekday and time of them."),
]
Kernel = Annotated[Any, option(parse_kernel, "KERNEL", f"{_KERNELS}.")]
KernelOrAuto = Annotated[Any, option(parse_kernel_or_auto, "KERNEL", f"auto, which compares polynomials, {_KERNELS}.")]
Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA", help="Files, folders or globs of one format, or - for standard input.", show_default=False
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that train wrote.", show_default=False)]
