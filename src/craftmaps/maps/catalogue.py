"""The maps of this library by name, for learners, `plan` and model files.

A new map needs its own module and an entry here. A learner then takes its name, `plan` compares it and model files
hold it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from craftmaps.kernels import DotProductKernel, Polynomial
from craftmaps.maps.craft import CraftMap
from craftmaps.maps.feature_map import KernelMap, SeededMap
from craftmaps.maps.landmarks import LandmarkMap
from craftmaps.maps.maclaurin import RandomMaclaurin
from craftmaps.maps.projections import SubsampledHadamard
from craftmaps.maps.tensor_sketch import TensorSketch

_WIDEST_UP = 2**17


@dataclass(frozen=True)
class MapEntry:
    """A map under a name.

    Attributes
    ----------
    map_class : type
    parameters : mapping
        Parameters that the name stands for, beside kernel and width.
    title : str
        Name in the table of a plan.
    kernel_class : type
        The kernels that the map can estimate.
    up_factors : tuple of int
        If the map has an up-projection: its widths to compare, in units of `n_components`.
    most_components : int
        The largest width that a plan considers.
    holds_rows : bool
        Whether features depend on rows that `fit` chooses; the error must then be measured on other rows.
    """

    map_class: type[KernelMap]
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    kernel_class: type[DotProductKernel] = DotProductKernel
    up_factors: tuple[int, ...] = ()
    most_components: int = 2**14
    holds_rows: bool = False

    def make(self, kernel: Any, n_components: int, up_components: int | str | None, seed: int) -> Any:
        """Return a map, not yet fitted; `up_components` counts if it has an up-projection."""
        width = {"up_components": up_components} if self.up_factors else {}
        return self.map_class(kernel, n_components, **width, **self.parameters, random_state=seed)

    def candidates(self, kernel: Any, n_components: int, seed: int) -> Iterator[Any]:
        """Yield the maps of a width that a plan compares."""
        if not isinstance(kernel, self.kernel_class) or n_components > self.most_components:
            return
        for factor in self.up_factors or (1,):
            if factor * n_components <= _WIDEST_UP:
                yield self.make(kernel, n_components, factor * n_components, seed)
        if self.up_factors:
            yield self.make(kernel, n_components, "auto", seed)


CATALOGUE: dict[str, MapEntry] = {
    "craft": MapEntry(CraftMap, "CraftMap", up_factors=(2, 8, 32)),
    "maclaurin": MapEntry(RandomMaclaurin, "RandomMaclaurin, complex weights", {"complex_weights": True}),
    "tensorsketch": MapEntry(TensorSketch, "TensorSketch", kernel_class=Polynomial),
    "landmarks": MapEntry(LandmarkMap, "LandmarkMap", most_components=2**10, holds_rows=True),
}
MAP_NAMES = tuple(CATALOGUE)
# Maps that a model file can name.
SAVED_MAPS: dict[str, type[SeededMap]] = {
    saved.__name__: saved for saved in (*(entry.map_class for entry in CATALOGUE.values()), SubsampledHadamard)
}


def map_name(feature_map: Any) -> Any:
    """Return the name of a map, or the map itself if it has none."""
    return next((name for name, entry in CATALOGUE.items() if type(feature_map) is entry.map_class), feature_map)


def make_map(name: str, kernel: Any, n_components: int, *, up_components: int | str | None = None, seed: int) -> Any:
    """Return the map of a name, not yet fitted; `up_components` counts if it has an up-projection."""
    return CATALOGUE[name].make(kernel, n_components, up_components, seed)
