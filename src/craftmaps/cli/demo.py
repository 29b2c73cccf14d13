"""`craftmaps demo`."""

from craftmaps.cli.options import Json


def demo(as_json: Json = False) -> None:
    """Compare on digits."""
