"""Maps rebuilt from model files.

A file is not trusted. Every value is checked for its type and against all others, and the size of all draws against
their limits, before anything is drawn: loops do not check bounds. Nothing that a file names is imported or called.

All maps are rebuilt alike: class from the catalogue, parameters, state, draw. Checks that are specific to a map are
methods of its class: `_checked_parts`, `_checked_state`, `_drawing_costs`.
"""

from collections.abc import Iterable
from typing import Any

from craftmaps._system.fields import DamagedError, Fields
from craftmaps.kernels import DotProductKernel
from craftmaps.learners.persistence.rebuilt_kernels import kernel_from_plain
from craftmaps.learners.persistence.stored_rows import rows_from_plain
from craftmaps.maps.catalogue import SAVED_MAPS
from craftmaps.maps.drawing_costs import WIDEST_MAP, WIDEST_ROWS
from craftmaps.maps.feature_map import SeededMap

# State that the format keeps beside the object `learned`: attribute of the map -> name in the file.
BESIDE_LEARNED = {"shares_": "shares", "up_": "up", "n_kept_": "n_kept_"}
_LONGEST_NAME = 40


class StateFields(Fields):
    """The state of a map, by the names of its attributes."""

    def __init__(self, part: Fields):
        self._part, self._learned = part, part.object("learned")
        values = {name: self._learned.value(name) for name in self._learned}
        beside = {name: part.value(stored) for name, stored in BESIDE_LEARNED.items() if stored in part}
        super().__init__(values | beside, part.path(""))

    def path(self, name: str) -> str:
        """Return where a value is in the file."""
        if name in BESIDE_LEARNED:
            return self._part.path(BESIDE_LEARNED[name])
        return self._learned.path(name)

    def refuse_others(self, names: Iterable[str]) -> None:
        """Refuse learned values of other names."""
        self._learned.only(set(names) - set(BESIDE_LEARNED))

    def rows(self, name: str, width: int) -> Any:
        """Return dense or CSR rows of a width."""
        return rows_from_plain(self, name, width)

    def map(self, name: str, width: int, classes: tuple[type, ...]) -> SeededMap:
        """Return a map of one of the classes for rows of a width, not yet drawn."""
        fields = self.object(name)
        fields.one_of("class", tuple(known.__name__ for known in classes))
        fields.whole("n_features_in_", width, width)
        return checked_map(fields)


def checked_map(fields: Fields) -> SeededMap:
    """Return a map that has everything but its draw."""
    map_class = SAVED_MAPS[fields.one_of("class", tuple(SAVED_MAPS))]
    width = fields.whole("n_features_in_", 1, WIDEST_ROWS)
    parameters = fields.object("parameters")
    feature_map = map_class(**_checked_parameters(map_class, parameters))
    state_fields = StateFields(fields)
    state = feature_map._checked_state(state_fields, width)
    state_fields.refuse_others(state._fields)
    feature_map._restore(width, state)
    try:
        feature_map._check_parameters()
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{fields.path('parameters')}: {str(error).rstrip('.')}") from None
    if feature_map._n_features_out > WIDEST_MAP:
        raise parameters.refuse("n_components", f"a whole number from 1 to {WIDEST_MAP}")
    for cost in feature_map._drawing_costs():
        if cost.size > cost.most:
            raise DamagedError(
                f"{cost.what} would take {cost.size} numbers, more than the {cost.most} that a file can ask for"
            )
    return feature_map


def _checked_parameters(map_class: type[SeededMap], fields: Fields) -> dict[str, Any]:
    """Return parameters of the right type; whether they work is for the map to check."""
    defaults = map_class().get_params(deep=False)
    fields.only(defaults)
    parameters = map_class._checked_parts(fields)
    for name in defaults.keys() - parameters:
        default = defaults[name]
        if name == "random_state":
            parameters[name] = fields.seed(name)
        elif isinstance(default, DotProductKernel):
            parameters[name] = kernel_from_plain(fields, name)
        elif isinstance(default, bool):
            parameters[name] = fields.flag(name)
        elif isinstance(default, int):
            parameters[name] = fields.whole(name, 1)
        else:
            parameters[name] = _checked_scalar(fields, name)
    return parameters


def _checked_scalar(fields: Fields, name: str) -> Any:
    """Return None, a truth value, a short string or a number."""
    value = fields.value(name)
    if value is None or isinstance(value, bool) or (isinstance(value, str) and len(value) <= _LONGEST_NAME):
        return value
    return fields.whole(name) if type(value) is int else fields.number(name)
