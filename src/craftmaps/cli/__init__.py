"""The command line: `craftmaps train`, `predict`, `evaluate` and so on, a module of `commands` each.

A command reads its options, calls the library and prints. It computes nothing.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from craftmaps.cli.program import app

__all__ = ["app", "main"]

_NEEDED = ("typer", "rich")


def main(arguments: list[str] | None = None) -> None:
    """Run the program, by default with the arguments of this process."""
    from craftmaps.cli import interrupts

    arguments = sys.argv[1:] if arguments is None else list(arguments)
    interrupts.install(arguments)  # before the imports, which take seconds
    try:
        from craftmaps.cli.program import run
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        sys.exit("craftmaps: The command line needs typer and rich: pip install typer rich pyarrow.")
    run(arguments)


def __getattr__(name: str) -> Any:
    """Import the program when it is first used."""
    if name != "app":
        raise AttributeError(f"module 'craftmaps.cli' has no attribute {name!r}")
    from craftmaps.cli.program import app

    return app
