"""The page, from the numbers of a run."""

from importlib.resources import files
from typing import Any

from craftmaps.report.charts import figures
from craftmaps.report.html.markup import Markup, join, tag
from craftmaps.report.html.search import search_section
from craftmaps.report.html.sections import classifier_sections, regressor_sections
from craftmaps.report.html.tables import grid, labelled, pairs, section, table, track
from craftmaps.report.html.wording import count, decimal, duration, interval, memory, number, percent

_MOST_ALPHAS = 12
# A second line of defence behind the escaping: a hostile label can run nothing and fetch nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(numbers: dict[str, Any]) -> str:
    """Return the page for the numbers of a run."""
    sections = classifier_sections if numbers["task"] == "classification" else regressor_sections
    body = [
        tag(
            "header",
            tag("h1", "craftmaps · ", labelled(numbers["run"]["data"])),
            tag("p", _sentence(numbers), class_="lede"),
        ),
        _error(numbers),
        _alpha(numbers),
        *(sections(numbers["test"]) if numbers["test"] else ()),
        _kernel(numbers),
        _resources(numbers),
        search_section(numbers),
        _repeat(numbers),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{numbers['run']['data']}: {numbers['run']['model']}"),
        tag("link", rel="icon", href="data:,"),
        tag("style", Markup(files("craftmaps.report.html").joinpath("style.css").read_text(encoding="utf-8"))),
    ]
    page = tag("html", tag("head", join(head, "\n")), tag("body", tag("main", join(body, "\n"))), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _sentence(numbers: dict[str, Any]) -> Markup:
    """Summarise the run in one sentence."""
    run = numbers["run"]
    classes = f", {count(run['classes'])} classes" if run["classes"] else ""
    size = f" ({count(run['rows'])} rows of {count(run['columns'])} columns{classes})"
    if run["map"] is None:
        how = "a linear model"
    else:
        how = f"E = {count(run['features'])} features of {run['kernel'] or run['map']}"
    time = f" in {duration(run['seconds'])}" if run["seconds"] is not None else ""
    return join(
        [f"{run['model']} learned ", labelled(run["data"]), size, f" with {how}{time}", *_outcome(numbers), "."]
    )


def _outcome(numbers: dict[str, Any]) -> list[Any]:
    """Return the error of the model, as the end of a sentence."""
    found = numbers["test"] or numbers["held_out"]
    if found is None:
        return []
    where = "rows left out in cross-validation"
    if numbers["test"]:
        where = "test rows, weighted" if _is_weighted(found) else "test rows"
    if "error" in found:
        return [" and errs on ", tag("strong", percent(found["error"])), f" of {count(found['rows'])} {where}"]
    best = f"R² {decimal(found['r2'])}" if found.get("r2") is not None else f"an error of {number(found['rmse'])}"
    return [" and reaches ", tag("strong", best), f" on {count(found['rows'])} {where}"]


def _error(numbers: dict[str, Any]) -> Markup:
    """Return the measured errors with their intervals."""
    test, held_out = numbers["test"], numbers["held_out"]
    facts = []
    if test and "error" in test:
        told = f"{count(test['errors'])} of {count(test['rows'])} test rows are predicted wrong"
        told += "; the error is their share of the weights" if _is_weighted(test) else ""
        facts.append(_fact("Test error", percent(test["error"]), interval(test["error_interval"]), told))
    elif test:
        told = f"on {count(test['rows'])} test rows" + (", weighted" if _is_weighted(test) else "")
        r2, rmse = interval(test["r2_interval"], decimal), interval(test["rmse_interval"], number)
        facts.append(_fact("R²", decimal(test["r2"]), r2, told))
        facts.append(_fact("Root mean squared error", number(test["rmse"]), rmse, told))
    if held_out:
        told = f"of {count(held_out['rows'])} training rows, each left out once, at the alpha that the others choose"
        if "error" in held_out:
            ends = interval(held_out["error_interval"])
            facts.append(_fact("Held-out error", percent(held_out["error"]), ends, told))
        else:
            ends = interval(held_out["rmse_interval"], number)
            if numbers["run"]["targets"] > 1:
                told += "; targets are scaled to one spread for it"
            facts.append(_fact("Held-out root mean squared error", number(held_out["rmse"]), ends, told))
    why = None if test else "There were no test rows, so the error is that of cross-validation."
    if not facts:
        why = "No error was measured: there were no test rows, and no rows were left out to choose alpha."
    return section("Error", tag("p", why) if why else None, tag("div", join(facts, "\n"), class_="facts"))


def _is_weighted(test: dict[str, Any]) -> bool:
    """Tell whether test rows had weights."""
    return "weight" in test


def _fact(name: str, value: str, ends: str, told: str) -> Markup:
    """Return a number in large type with its name, interval and explanation."""
    between = tag("div", f"95\N{NO-BREAK SPACE}% interval {ends}") if ends else None
    return tag("div", tag("h3", name), tag("p", value, class_="big"), between, tag("div", told, class_="muted"))


def _alpha(numbers: dict[str, Any]) -> Markup:
    """Return the curve that alpha was chosen from."""
    used = f"The penalty in use is alpha = {number(numbers['run']['alpha'])}, in the units of scikit-learn's Ridge."
    if numbers["alphas"] is None:
        return section("Penalty", tag("p", f"Alpha was given, or chosen before the model was saved: no curve. {used}"))
    is_classifier = numbers["task"] == "classification"
    alphas = numbers["alphas"]
    write = percent if is_classifier else number
    columns = (alphas[name] for name in ("alpha", "mean_error", "std_error", "folds"))
    rows = [[number(alpha), write(mean), write(spread), n] for alpha, mean, spread, n in zip(*columns, strict=True)]
    heads = ["alpha", "held-out error" if is_classifier else "squared error", "deviation", "folds"]
    if min(alphas["folds"]) < max(alphas["folds"]):
        used += " Alphas that were far worse than others were not tried on all folds."
    beside = tag("div", table(used, heads, rows, chosen=alphas["chosen"], is_tall=len(rows) > _MOST_ALPHAS))
    return section("Penalty", grid(figures.alpha_curve(alphas, is_classifier), beside))


def _kernel(numbers: dict[str, Any]) -> Markup:
    """Return the kernel error of the map, and its weights."""
    kernel, weights = numbers["kernel"], figures.weight_histogram(numbers["weights"])
    if "skipped" in kernel:
        return section("Kernel", grid(weights, tag("p", kernel["skipped"])))
    how = "root mean square over draws of the map" if kernel["is_random"] else "the same: landmarks are not drawn again"
    facts = [
        _fact("Measured error", percent(kernel["measured"]), "", f"of the map, on {count(kernel['rows'])} rows"),
        _fact("Predicted error", percent(kernel["predicted"]), "", how),
    ]
    told = "The relative error of inner products of features against the exact kernel, in the Frobenius norm."
    beside = tag("div", tag("p", told), tag("div", join(facts, "\n"), class_="facts"))
    pairs = figures.kernel_pairs(kernel["pairs"])
    return section("Kernel", grid(beside, pairs, figures.scree(kernel["scree"]), weights))


def _resources(numbers: dict[str, Any]) -> Markup:
    """Return the time of each phase, and the memory."""
    phases, peak = numbers["phases"], numbers["peak_memory"]
    total = sum(phases.values())
    shares = [seconds / total if total else 0.0 for seconds in phases.values()]
    rows = [
        [labelled(name), duration(seconds), percent(share), track(share)]
        for (name, seconds), share in zip(phases.items(), shares, strict=True)
    ]
    content = table(f"{duration(total)} in all.", ["phase", "time", "share", ""], rows) if rows else None
    missing = None if rows else tag("p", "The times of the phases were not recorded.")
    used = "was not recorded" if peak is None else f"was {memory(peak)}"
    return section("Time and memory", missing, content, tag("p", f"Peak memory {used}."))


def _repeat(numbers: dict[str, Any]) -> Markup:
    """Return the command that repeats the run, and the versions that it used."""
    made = {**numbers["versions"], "seed": numbers["run"]["seed"], "page written": numbers["run"]["written"]}
    return section("To repeat it", tag("pre", tag("code", numbers["command"])), pairs(made))
