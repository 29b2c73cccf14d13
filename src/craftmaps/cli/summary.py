"""The end of a run: a model, its errors, times and memory, or a tally, as plain values and in words."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from craftmaps.cli.description import area_text, describe, error_text, model_facts, tally_facts
from craftmaps.cli.terminal import print_facts, print_json, words

_MOST_NAMES = 5


def summarise(model: Any, path: Path, columns: Any, evaluation: Any, seconds: Mapping[str, float]) -> dict[str, Any]:
    """Return a model that was solved and written, its errors, and what it took, as plain values."""
    from craftmaps._system.memory import peak_memory
    from craftmaps.scores import held_out_error

    held_out = held_out_error(model)
    return {
        "out": str(path),
        "model": describe(model, path, columns.target),
        "cross_validation": None if held_out is None else held_out.to_plain(),
        "test": None if evaluation is None else evaluation.scores.to_plain(),
        "kinds": [{"kind": kind, "columns": n, "names": names} for kind, n, names in columns.summary()],
        "seconds": dict(seconds),
        "peak_memory": peak_memory(),
    }


def print_summary(summary: dict[str, Any], as_json: bool) -> None:
    """Print a summary, as JSON or as names and values."""
    if as_json:
        print_json(summary)
    else:
        print_facts((name, words(text)) for name, text in _facts(summary) if text)


def print_tally(described: dict[str, Any], as_json: bool) -> None:
    """Print a described tally, as JSON or as names and values."""
    if as_json:
        print_json(described)
    else:
        print_facts((name, words(text)) for name, text in tally_facts(described))


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a summary as names and values to print; those without a value are empty."""
    from craftmaps.report.html.wording import duration, memory, number

    model, test, peak = summary["model"], summary["test"] or {}, summary["peak_memory"]
    packed = ", Gram matrix packed in float32" if summary["packed"] else ""
    return [
        ("model", f"{summary['out']}, {memory(model['bytes'])}"),
        *model_facts(model),
        ("columns", _kinds(summary["kinds"])),
        ("cross-validated", error_text(summary["cross_validation"])),
        ("test", _tested(summary)),
        ("test AUC", area_text(test) if "auc" in test else ""),
        ("test log loss", number(test["log_loss"]) if "auc" in test else ""),
        ("time", ", ".join(f"{name} {duration(value)}" for name, value in summary["seconds"].items())),
        ("memory", "" if peak is None else f"{memory(peak)} at most{packed}"),
        ("tally", summary.get("tally") or ""),
        ("report", summary.get("report") or ""),
    ]


def _tested(summary: dict[str, Any]) -> str:
    """Format the error on test rows, and where they come from."""
    share = summary.get("test_share")
    return error_text(summary["test"]) + (f", a share of {share:g} held out" if share else "")


def _kinds(kinds: list[dict[str, Any]]) -> str:
    """Format the number of columns of each kind, and the first few names of columns that are not numbers."""
    told = []
    for line in kinds:
        names = [] if line["kind"] in ("number", "numbers") else line["names"]
        shown = ", ".join(names[:_MOST_NAMES]) + (
            f" and {len(names) - _MOST_NAMES:,} more" * (len(names) > _MOST_NAMES)
        )
        told.append(f"{line['columns']:,} {line['kind']}" + (f" ({shown})" if shown else ""))
    return ", ".join(told)
