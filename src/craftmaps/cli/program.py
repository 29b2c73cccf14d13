"""The program: its commands and exit codes, and errors as one sentence."""

import errno
import platform
import sys
import traceback
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from craftmaps import __version__
from craftmaps.cli import interrupts
from craftmaps.cli.argument_names import with_options
from craftmaps.cli.commands.combine import combine
from craftmaps.cli.commands.data import data
from craftmaps.cli.commands.demo import demo
from craftmaps.cli.commands.evaluate import evaluate
from craftmaps.cli.commands.export import export
from craftmaps.cli.commands.inspect import inspect
from craftmaps.cli.commands.plan import plan
from craftmaps.cli.commands.predict import predict
from craftmaps.cli.commands.settle import settle
from craftmaps.cli.commands.tally import tally
from craftmaps.cli.commands.train import train

_DEBUG = "--debug"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "threadpoolctl", "pyarrow", "typer", "rich")
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


class Program(TyperGroup):
    """The group of commands.

    Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted, 143 terminated.
    """

    def main(self, args: Any = None, *others: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; without `--debug` an error is one sentence and no traceback."""
        args = sys.argv[1:] if args is None else list(args)
        # Removed here, so that it may come before or after the name of the command.
        is_debug = _DEBUG in args
        args = [argument for argument in args if argument != _DEBUG] or ["--help"]
        if not standalone_mode:
            return super().main(args, *others, standalone_mode=False, **extra)
        try:
            code = super().main(args, *others, standalone_mode=False, **extra)
            sys.stdout.flush()
        except Exception as error:
            if interrupts.was_received():
                interrupts.leave()  # the error is a consequence of the signal
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                interrupts.silence_closed_pipe()
                sys.exit(1)
            if is_debug:
                traceback.print_exception(error)
            typer.echo(f"craftmaps: {_sentence(error)}", err=True)
            code = getattr(error, "exit_code", 1)
        sys.exit(code or 0)


class Command(TyperCommand):
    """A command whose help shows arguments by their metavar, in every version of typer."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage after the name of the command."""
        pieces = ["[OPTIONS]"]
        for argument in self._arguments(ctx):
            name = argument.metavar if argument.required else f"[{argument.metavar}]"
            pieces.append(name if argument.nargs == 1 else f"{name}...")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
        arguments = self._arguments(ctx)
        records = [(argument.metavar, argument.get_help_record(ctx)[1]) for argument in arguments]
        if records:
            with formatter.section("Arguments"):
                formatter.write_dl(records)
        records = [option.get_help_record(ctx) for option in self.get_params(ctx) if option not in arguments]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])

    def _arguments(self, ctx: Any) -> list[Any]:
        """Return the parameters that are not options."""
        return [parameter for parameter in self.get_params(ctx) if parameter.param_type_name == "argument"]


def _sentence(error: Exception) -> str:
    """Return the message of an error on one line."""
    if hasattr(error, "format_message"):  # of typer: wrong usage
        # Newer versions of typer use pydantic, which puts the kind of error first.
        text = error.format_message().replace(": Value error, ", ": ", 1)  # type: ignore[attr-defined]
    elif isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename} cannot be used: {error.strerror}."
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}."
    elif isinstance(error, MemoryError):
        text = "There is not enough memory: ask for fewer --components, or for smaller --batch-rows."
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
    """Print the versions of this program and of its libraries."""
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
    """Learn polynomial-kernel models in one pass over any number of rows.

    Example: craftmaps train train.csv --test test.csv --out model.craft
    """


for command in (train, predict, evaluate, inspect, settle, tally, combine, export, plan, data, demo):
    app.command(cls=Command)(command)


def _warning(message: Any, *_: Any, **__: Any) -> str:
    """Format a warning on one line, with options in place of arguments."""
    return f"craftmaps: {' '.join(with_options(str(message)).split())}\n"


def run(arguments: list[str]) -> None:
    """Run the program with its arguments."""
    warnings.formatwarning = _warning
    try:
        app(arguments)
    finally:
        interrupts.end()
