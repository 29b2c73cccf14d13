"""The cells of the scoreboard, as board.toml says."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("board.toml")


class Method(NamedTuple):
    """A method at one setting; `family` are settings of one method, which a plot joins by a line."""

    name: str
    family: str
    adapter: str
    about: str
    settings: dict[str, Any]
    data: dict[str, int]
    on: dict[str, dict[str, Any]]
    packages: list[str]
    interpreter: str
    seconds: float

    def settings_on(self, data: str) -> dict[str, Any]:
        """Return the settings for a data set."""
        return self.settings | self.on.get(data, {})


class Cell(NamedTuple):
    """What is measured at once."""

    data: str
    method: Method
    seed: int


class Board(NamedTuple):
    """Limits, data sets with the scaling of their rows, and methods."""

    threads: int
    memory_gb: float
    seeds: list[int]
    scalings: dict[str, str]
    methods: dict[str, Method]

    def cells(self) -> Iterator[Cell]:
        """Yield all cells, data set by data set and seed by seed; a method's number of seeds is its own."""
        for data in self.scalings:
            for place, seed in enumerate(self.seeds):
                for method in self.methods.values():
                    if place < method.data.get(data, 0):
                        yield Cell(data, method, seed)


def read_board(path: Path = FILE) -> Board:
    """Read a configuration file."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    methods = [method for family in found["family"] for method in _methods(family, found["seconds"])]
    return Board(
        threads=found["threads"],
        memory_gb=found["memory_gb"],
        seeds=found["seeds"],
        scalings=found["scaling"],
        methods={method.name: method for method in methods},
    )


def _methods(family: dict[str, Any], seconds: float) -> Iterator[Method]:
    """Yield the methods of a family: one for each width, or the only one, which may be a variant of another."""
    for width in family.get("widths", [None]):
        suffix = family.get("variant", width)
        yield Method(
            name=family["name"] if suffix is None else f"{family['name']} {suffix}",
            family=family["name"],
            adapter=family["adapter"],
            about=family["about"],
            settings=family.get("settings", {}) | ({} if width is None else {"n_components": width}),
            data=family["data"] | family.get("data_of_width", {}).get(str(width), {}),
            on=family.get("on", {}),
            packages=family.get("packages", []),
            interpreter=family.get("interpreter", ""),
            seconds=family.get("seconds", seconds),
        )
