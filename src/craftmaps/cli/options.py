"""Options: their types, and how text such as kernels and sizes of memory is parsed."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_LEAST_MEMORY = 64 * 10**6
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
    types = {"poly": (int, float, float), "exp": (float,)}.get(name, ())
    try:
        parameters = [convert(number) for convert, number in zip(types, numbers, strict=False)]
    except ValueError:
        types = ()
    if not types or len(numbers) > len(types) or (name == "poly" and not numbers):
        raise typer.BadParameter(f"It must be {expected}, got {text!r}.")
    try:
        return Polynomial(*parameters) if name == "poly" else Exponential(*parameters)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_kernel_or_auto(text: str) -> Any:
    """Return a kernel, or "auto"."""
    return "auto" if text.strip().lower() == "auto" else parse_kernel(text, f"auto, {_KERNELS}")


def kernel_text(kernel: Any) -> str:
    """Return the text that `parse_kernel` makes a kernel of."""
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
    """Return a target as streams take it: a name, a position, or "auto" if none was typed."""
    if text is None:
        return "auto"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def as_source(paths: Sequence[str]) -> Any:
    """Return paths as streams take them; "-" alone is standard input."""
    if "-" in paths and len(paths) > 1:
        raise typer.BadParameter(f"Standard input, '-', must come alone, got {len(paths)} paths.")
    return paths[0] if len(paths) == 1 else list(paths)


def column_options(
    drop: Sequence[str] | None, categories: Sequence[str] | None, weight: str | None, decimal: str, dates: str
) -> dict[str, Any]:
    """Return the options about columns as arguments of streams."""
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
    """Return a parser of whole numbers within bounds."""
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
    """Return a parser of finite numbers that are not negative, with or without zero."""
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


def option(parse: Callable[[str], Any], metavar: str, help: str) -> Any:
    """Return an option with its own parser, whose errors are one sentence."""
    return typer.Option(parser=parse, metavar=metavar, help=help)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Threads = Annotated[Any, option(whole_number(1), "N", "Threads to use; by default all cores.")]
BatchRows = Annotated[Any, option(whole_number(1), "ROWS", "Rows to read at a time.")]
BatchRowsThatFit = Annotated[
    Any, option(whole_number(1), "ROWS", "Rows to read at a time; by default as memory allows.")
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COL", help="Column to leave out; may be repeated.")]
Categories = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="Column of names that look like numbers, such as codes; may be repeated."),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the weights of the rows; it is not a feature.")
]
Decimal = Annotated[Literal[".", ","], typer.Option(help="Decimal mark of the numbers in a CSV file.")]
Dates = Annotated[
    Literal["refuse", "parts"],
    typer.Option(help="How to read dates: parts turns them into year, month, day, weekday and time."),
]
Kernel = Annotated[Any, option(parse_kernel, "KERNEL", f"{_KERNELS}.")]
KernelOrAuto = Annotated[Any, option(parse_kernel_or_auto, "KERNEL", f"auto, which compares polynomials, {_KERNELS}.")]
Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA", help="Files, folders or globs of one format, or - for standard input.", show_default=False
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that train or combine wrote.", show_default=False)]
