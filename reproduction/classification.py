"""One classifier of Table 1 or Figure 7: a map of the paper at a width, or the library's own choices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from craftmaps import CraftClassifier, Polynomial
from craftmaps.datasets import Split
from reproduction import row_space
from reproduction.cells import Cell
from reproduction.costs import Cost, Rates, learning_bytes, row_space_bytes, stored_bytes
from reproduction.kernel_errors import rounded_error
from reproduction.methods import OURS, make_map, uses_exact_low_degrees

# Rows for training and width of the rows, which costs need before any data is read.
SIZES = {
    ("mnist", "customary"): (60_000, 784),
    ("usps", "customary"): (7_291, 256),
    ("pendigits", "customary"): (7_494, 16),
    ("coil100", "36 views"): (3_600, 1_024),
    ("coil100", "18 views"): (1_800, 1_024),
}
OUR_SOLUTIONS = 20  # about: of ten alphas most lose on the first of five folds
_OUR_CHOICES = 15.0  # seconds of choosing kernel and metric
CHOICES = ("kernel", "metric", "normalize")  # that the library makes by itself
_MOST_ROWS = 20_000  # whose products with each other are kept at once
_LEAST_BY_STEPS = 65_536  # features: of fewer the Gram matrix was used, and of so many it does not fit
_LEAST_UNTALLIED, _CLASSES = 4096, 10  # features of ours that are solved without a Gram matrix


def cell_of(settings: dict[str, Any], method: str, components: int, seed: int) -> Cell:
    """Return the cell of a classifier: all that its error depends on."""
    cell = {key: settings[key] for key in ("dataset", "split", "max_rows") if key in settings}
    cell |= {"method": method, "components": components, "seed": seed}
    if method == OURS:
        return cell | ours_of(settings)
    n_rows, _ = SIZES[settings["dataset"], settings.get("split", "customary")]
    selection = selection_at(0 if in_row_space(components, n_rows) else components, settings)
    return cell | {
        "up_components": settings["up_factor"] * components,
        "degree": settings["degree"],
        "coef0": settings["coef0"],
        "code_size": settings["code_size"],
        **selection,
    }


def ours_of(settings: dict[str, Any]) -> Cell:
    """Return what an experiment sets of the library's own choices: least squares, unless it names another loss."""
    names = {"our_calibration": "calibration", "our_loss": "loss"}
    return {ours: settings[name] for name, ours in names.items() if name in settings}


def selection_at(components: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Return how the penalty of the paper's methods is chosen at a width: folds, and a range of powers of ten."""
    steps = [settings, *(step for step in settings["large"] if components >= step["components"])]
    return {key: steps[-1][key] for key in ("cv", "log10_alphas")}


def alphas_of(cell: Cell) -> list[float]:
    """Return the penalties to compare: powers of ten."""
    low, high = cell["log10_alphas"]
    return [10.0**power for power in range(low, high + 1)]


def map_of(cell: Cell, n_features: int) -> Any:
    """Return the map of a cell of the paper's methods."""
    sizes = cell["components"], cell["up_components"]
    exact = cell.get("exact_low_degrees", uses_exact_low_degrees(cell["method"], *sizes, n_features))
    return make_map(cell["method"], kernel_of(cell), *sizes, exact, cell["seed"])


def kernel_of(cell: Cell) -> Polynomial:
    """Return the kernel of a cell of the paper's methods."""
    return Polynomial(degree=cell["degree"], coef0=cell["coef0"])


def classifier(cell: Cell, n_features: int) -> CraftClassifier:
    """Return the classifier of a cell, not yet fitted."""
    if cell["method"] == OURS:
        given = {"calibration": cell["calibration"]} if "calibration" in cell else {}
        loss = cell.get("loss", "squared")
        return CraftClassifier(n_components=cell["components"], random_state=cell["seed"], loss=loss, **given)
    return CraftClassifier(
        kernel_of(cell),
        cell["components"],
        feature_map=map_of(cell, n_features),
        metric=None,
        normalize=True,
        code="random",
        code_size=cell["code_size"],
        alphas=alphas_of(cell),
        cv=cell["cv"],
        calibration="temperature",  # the paper has no matrix that corrects scores
        solver="iterative" if is_by_steps(cell["components"]) else "tally",
        random_state=cell["seed"],
    )


def measure_error(cell: Cell, data: Split) -> dict[str, Any]:
    """Train on all training rows and return the test error in percent, and what was chosen on the way."""
    is_in_rows = in_row_space(cell["components"], len(data.y_train))
    model = classifier(cell, data.X_train.shape[1])
    if cell["method"] == OURS:
        model.fit(data.X_train, data.y_train)
        return {"error": _percent(model.predict(data.X_test), data.y_test), **describe_choices(model)}
    sample = normalize(data.X_train[:: max(1, len(data.y_train) // 1000)][:1000].astype(np.float64))
    feature_map = map_of(cell, data.X_train.shape[1]).fit(sample)
    values = {"kernel_error": rounded_error(feature_map.transform(sample), kernel_of(cell)(sample))}
    if is_in_rows:
        Z, Z_test = (feature_map.transform(normalize(X)) for X in (data.X_train, data.X_test))
        return values | classify_rows(data, *_row_products(Z, Z_test), Z.shape[1], **row_space_settings(cell))
    model.fit(data.X_train, data.y_train)
    return values | {"error": _percent(model.predict(data.X_test), data.y_test), "alpha": chosen_alpha(model)}


def classify_rows(data: Split, K: NDArray, cross: NDArray, width: int, **settings: Any) -> dict[str, Any]:
    """Return the test error in percent and the penalty of a classifier in the space of rows."""
    choice = row_space.classify(K, data.y_train, cross, width, **settings)
    return {"error": _percent(choice.predicted, data.y_test), "alpha": choice.alpha}


def row_space_settings(cell: Cell) -> dict[str, Any]:
    """Return the paper's classifier as `row_space` wants it."""
    return {"alphas": alphas_of(cell)} | {key: cell[key] for key in ("code_size", "cv", "seed")}


def in_row_space(components: int, n_rows: int) -> bool:
    """Tell whether a cell has more features than rows, and few enough of them, to be solved accordingly."""
    return n_rows < min(components, _MOST_ROWS)


def is_by_steps(components: int) -> bool:
    """Tell whether a map of the paper has too many features for a Gram matrix."""
    return components >= _LEAST_BY_STEPS


def _row_products(Z: NDArray, Z_test: NDArray) -> tuple[NDArray, NDArray]:
    """Return the products of training rows with each other, and of test rows with them."""
    return row_space.products(Z, Z), row_space.products(Z_test, Z)


def chosen_alpha(model: CraftClassifier) -> float:
    """Return the penalty that cross-validation chose, in units of trace(G) / E."""
    results = model.cv_results_
    # Penalties that lost early have no error on the last folds.
    errors = np.where(np.isnan(results["fold_errors"]).any(axis=1), np.inf, results["mean_error"])
    return float(results["alpha"][len(errors) - 1 - int(np.argmin(errors[::-1]))])


def describe_choices(model: CraftClassifier) -> dict[str, str]:
    """Return what the library chose by itself, as text."""
    choices = model.choices_
    metric = "none" if choices.metric is None else repr(choices.metric)
    texts = repr(choices.kernel), metric, str(choices.normalize)
    return dict(zip(CHOICES, texts, strict=True))


def cost_of(cell: Cell, rates: Rates) -> Cost:
    """Return what training a cell will cost."""
    n_rows, _ = SIZES[cell["dataset"], cell.get("split", "customary")]
    n_rows = min(n_rows, cell.get("max_rows") or n_rows)
    components = cell["components"]
    seconds, choices = 1 + 3e-5 * n_rows, 0.0  # checks, hashes, predictions
    if cell["method"] == OURS:
        seconds += rates.mapping(OURS, n_rows, components, 8 * components, 7)
        n_solutions, choices = OUR_SOLUTIONS, _OUR_CHOICES
    else:
        n_solutions = cell["cv"] * len(alphas_of(cell)) + 1
        seconds += rates.mapping(cell["method"], n_rows, components, cell["up_components"], cell["degree"])
    if in_row_space(components, n_rows) and cell["method"] != OURS:
        learning, n_bytes = rates.learning_in_rows(n_rows, components, n_solutions), row_space_bytes(n_rows)
        return Cost(choices + 1.5 * seconds + learning, n_bytes)
    if is_by_steps(components) or (cell["method"] == OURS and components >= _LEAST_UNTALLIED):
        learning = rates.learning_by_steps(n_rows, components, _CLASSES, 4)
        return Cost(choices + 1.2 * seconds + learning, stored_bytes(n_rows, components))
    learning = rates.learning(n_rows, components, n_solutions)
    return Cost(choices + 1.2 * seconds + learning, learning_bytes(components))


def _percent(predicted: Any, y: Any) -> float:
    """Return the share of wrong labels in percent."""
    return round(100.0 * float(np.mean(np.asarray(predicted) != np.asarray(y))), 4)
