"""The program: its commands, its exit codes, and every error in one sentence."""

import platform
import sys
import traceback
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from craftmaps import __version__
from craftmaps.cli.data import data
from craftmaps.cli.demo import demo
from craftmaps.cli.evaluate import evaluate
from craftmaps.cli.inspect import inspect
from craftmaps.cli.plan import plan
from craftmaps.cli.predict import predict
from craftmaps.cli.train import train

_DEBUG = "--debug"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "safetensors", "threadpoolctl", "pyarrow", "typer", "rich")
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


class Program(TyperGroup):
    """The group of commands. Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted."""

    def main(self, args: Any = None, *others: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; without `--debug` an error is one sentence and no traceback."""
        args = sys.argv[1:] if args is None else list(args)
        # Taken out here, so that it may stand before or behind the name of the command.
        is_debug = _DEBUG in args
        args = [argument for argument in args if argument != _DEBUG]
        if not standalone_mode:
            return super().main(args, *others, standalone_mode=False, **extra)
        try:
            code = super().main(args, *others, standalone_mode=False, **extra)
        except Exception as error:
            if is_debug:
                traceback.print_exception(error)
            typer.echo(f"craftmaps: {_sentence(error)}", err=True)
            code = getattr(error, "exit_code", 1)
        sys.exit(code or 0)


def _sentence(error: Exception) -> str:
    """Return what an error says, on one line."""
    if hasattr(error, "format_message"):  # of typer: the command was not written as it should be
        # Newer versions of typer ask pydantic, which begins with the kind of error.
        text = error.format_message().replace(": Value error, ", ": ", 1)  # type: ignore[attr-defined]
    elif isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename} cannot be used: {error.strerror}."
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}."
    elif isinstance(error, MemoryError):
        text = "There is not enough memory for this: ask for fewer --components, or for smaller --batch-rows."
    else:
        text = str(error)
    text = " ".join(text.split()) or type(error).__name__
    if not isinstance(error, _EXPECTED) and not hasattr(error, "format_message"):
        text = f"A defect of craftmaps, {type(error).__name__}: {text} ({_DEBUG} shows where)"
    return text


app = typer.Typer(
    name="craftmaps",
    cls=Program,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(is_wanted: bool) -> None:
    """Print the versions of this program and of what it stands on."""
    if not is_wanted:
        return
    lines = [f"craftmaps {__version__}", f"Python {platform.python_version()}"]
    for name in _LIBRARIES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} is not installed")
    typer.echo("\n".join(lines))
    raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show versions and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="Show where an error comes from; for every command.")] = False,
) -> None:
    """Learn polynomial-kernel models in one pass over any number of rows."""


for command in (train, predict, evaluate, inspect, plan, data, demo):
    app.command()(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the program, by default with the arguments that it was called with."""
    warnings.formatwarning = lambda message, *_, **__: f"craftmaps: {message}\n"
    app(arguments)
