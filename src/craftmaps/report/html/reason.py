"""Why a candidate was taken, in a sentence."""

from typing import Any

from craftmaps.report.html.markup import Markup, tag
from craftmaps.report.html.tables import labelled
from craftmaps.report.html.wording import count, duration, resolved

LONGEST_NAME = 120
_ORDINALS = ("", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def reason(rounds: list[dict[str, Any]], is_share: bool) -> Markup | None:
    """Say which candidate was taken, how it compares with the next best, and what the search cost.

    None if the search did not come to an end.
    """
    found = next((found for found in rounds if found["taken"] is not None), None)
    if found is None:
        return None
    lines, taken = found["candidates"], found["candidates"][found["taken"]]
    where = f" on {count(found['rows'])} rows" if found["rows"] else ""
    where += f" at E = {count(found['width'])}" if found["width"] else ""
    told = _comparison(lines, taken, where, is_share)
    return tag("p", "Taken: ", tag("strong", labelled(taken["name"], LONGEST_NAME)), ". ", *told, ". ", _cost(rounds))


def _comparison(lines: list[dict[str, Any]], taken: dict[str, Any], where: str, is_share: bool) -> list[Any]:
    """Compare the taken candidate with the best of the others."""
    what = "error" if is_share else "squared error"
    error, noise = taken["error"], taken["standard_error"] or 0.0
    others = [line for line in lines if line is not taken and line["error"] is not None]
    if error is None:
        return [f"No candidate had a finite {what}{where}"]
    own = resolved(error, noise, is_share)
    if not others:
        return [f"It was the only candidate{where}, {what} {own}"]
    best = min(others, key=lambda line: line["error"])
    name, other = tag("em", labelled(best["name"], LONGEST_NAME)), resolved(best["error"], noise, is_share)
    place = sum(line["error"] < error for line in others)
    rank = f"{_ORDINALS[place]} lowest" if place < len(_ORDINALS) else f"{place + 1}th lowest"
    among = f"Its {what} of {own} is the {rank.strip()} of {count(len(lines))} candidates{where}"
    is_close = abs(best["error"] - error) < noise
    if best["error"] == error:
        return [among, ", tied with ", name]
    if best["error"] > error:
        return [among, "; the next best is ", name, f" with {other}", ", within a standard error" if is_close else ""]
    why = "a difference within a standard error does not decide" if is_close else "the error alone does not decide"
    return [among, "; ", name, f" has {other}, but {why}"]


def _cost(rounds: list[dict[str, Any]]) -> str:
    """Return what was tried in all, and its time: threads work side by side, so the search itself took less."""
    lines = [line for found in rounds for line in found["candidates"]]
    seconds = duration(sum(line["seconds"] for line in lines))
    if len(rounds) == 1:
        return f"The times of all candidates add up to {seconds}."
    n_names = len({line["name"] for line in lines})
    return f"{count(n_names)} candidates were tried in {count(len(rounds))} rounds; their times add up to {seconds}."
