"""The methods of the paper by its own names, and the library's automatic choices as a fifth."""

from typing import Any

from craftmaps import CraftMap, Polynomial, RandomMaclaurin, SubsampledHadamard, TensorSketch

PAPER_METHODS = ("RFM", "TS", "CM RFM", "CM TS")
OURS = "ours"
METHODS = (*PAPER_METHODS, OURS)
# The claim of the paper: each compact map beats the map that it is made from.
RIVALS = (("CM RFM", "RFM"), ("CM TS", "TS"))


def make_map(
    method: str, kernel: Polynomial, components: int, up_components: int, exact_low_degrees: bool, seed: int
) -> Any:
    """Return a map of the paper, not yet fitted: Hadamard blocks for every feature, rows at random for the way down.

    Parameters
    ----------
    method : one of `PAPER_METHODS`
    kernel : Polynomial
    components : int
        Output width E.
    up_components : int
        Width D of what a compact map is made from.
    exact_low_degrees : bool
        The H0/1 heuristic of the Maclaurin maps.
    seed : int
    """
    maclaurin = {"degrees": "geometric", "exact_low_degrees": exact_low_degrees, "projection": "stratified"}
    compact = {"up_components": up_components, "down": SubsampledHadamard(), "random_state": seed}
    if method == "RFM":
        return RandomMaclaurin(kernel, components, **maclaurin, random_state=seed)
    if method == "TS":
        return TensorSketch(kernel, components, random_state=seed)
    if method == "CM RFM":
        up = RandomMaclaurin(kernel, up_components, **maclaurin)
        return CraftMap(kernel, components, up=up, **compact)
    if method == "CM TS":
        return CraftMap(kernel, components, up="tensorsketch", **compact)
    raise ValueError(f"method must be one of {', '.join(PAPER_METHODS)}, got {method!r}.")


def uses_exact_low_degrees(method: str, components: int, up_components: int, n_features: int) -> bool:
    """Tell whether H0/1 fits: the constant and d exact columns, and room for random ones.

    This is why the paper's small spaces favour compact maps: they need the room in D only, not in E.
    """
    width = up_components if method.startswith("CM") else components
    return width > n_features + 1
