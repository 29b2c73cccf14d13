"""The command line: `craftmaps train`, `predict`, `evaluate`, `inspect`, `plan`, `data` and `demo`.

A command reads its options, calls the library and prints; nothing is computed here that the library could be asked for.
"""

import sys

__all__ = ["main"]

_NEEDED = ("typer", "rich")

try:
    from craftmaps.cli.program import app, main

    __all__ += ["app"]
except ModuleNotFoundError as error:
    if error.name not in _NEEDED:
        raise

    def main() -> None:
        """Say what is missing."""
        sys.exit("craftmaps: The command line needs typer and rich: pip install typer rich pyarrow.")
